#!/usr/bin/env python3
"""The recipes of CONTRIBUTING.md ("How to add") are complete: what they list for a new variant, every variant has.

usage: test_recipes.py SOURCE_DIR ORRERY

A recipe is an item of CONTRIBUTING.md that names files. RECIPES has, for each, how to find the variants that exist, and
what each must have in which file. The files of the item and of the recipe are the same, or one of the two is wrong.
Prints TAP.
"""

import glob
import os
import re
import subprocess
import sys

NO_PAGE = ("help", "version")  # commands that orrery.1 describes


class Tree:
    """The files of the source, some of them changed (a test of the test)."""

    def __init__(self, root, orrery, changes=None):
        self.root = root
        self.orrery = orrery
        self.texts = dict(changes or {})
        self.helps = {}

    def read(self, path):
        if path not in self.texts:
            try:
                with open(os.path.join(self.root, path), encoding="utf-8") as file:
                    self.texts[path] = file.read()
            except FileNotFoundError:
                self.texts[path] = ""
        return self.texts[path]

    def files(self, pattern):
        found = glob.glob(os.path.join(self.root, pattern), recursive=True)
        return sorted(os.path.relpath(path, self.root) for path in found)

    def help(self, *words):
        if words not in self.helps:
            self.helps[words] = subprocess.run([self.orrery, *words], capture_output=True, text=True, check=True).stdout
        return self.helps[words]


# ---- the variants that exist: name, symbol, file ----

def tabled(tree, struct, table, pattern, name_of=".name = "):
    """The symbols of this struct that files define, whether the table has them or not."""
    found = []
    for path in tree.files(pattern):
        for symbol, body in re.findall(rf"^const struct {struct} (\w+) = (\{{.*?\}});", tree.read(path), re.M | re.S):
            name = re.search(rf'{re.escape(name_of)}"([^"]+)"', body).group(1)
            reads = bool(re.search(r"\.read = ", body))
            found.append({"name": name, "symbol": symbol, "file": os.path.basename(path), "path": path, "reads": reads})
    if not set(re.findall(r"&(\w+)", tree.read(table))) & {variant["symbol"] for variant in found}:
        raise ValueError(f"{table}: no variant found")
    return found


def collectives(tree):
    found = []
    sources = {path: tree.read(path) for path in tree.files("src/mpi/coll/*.c")}
    listed = tree.read("src/mpi/coll/coll_list.h").split("MPI_COLL_ALGORITHMS(X)", 1)[1]
    for operation, name in re.findall(r"^ +X\((\w+), (\w+), ", listed, re.M):
        symbol = f"coll_{operation}_{name}"
        path = next((path for path, text in sources.items() if re.search(rf"^int {symbol}\(", text, re.M)), "")
        found.append({"name": name, "operation": operation, "symbol": symbol, "path": path, "file": os.path.basename(path)})
    return found


def hypotheses(tree):
    table = re.search(r"kinds\[\] = \{(.*?)^\};", tree.read("src/whatif/parse.c"), re.M | re.S).group(1)
    found = []
    for first, second, symbol in re.findall(r'\{"(\w+)", (NULL|"\w+"), &(\w+),', table):
        words = first if second == "NULL" else f"{first} {second[1:-1]}"
        path = next((path for path in tree.files("src/whatif/*.c") if re.search(rf"^const struct whatif_kind {symbol} =",
                                                                                tree.read(path), re.M)), "")
        found.append({"name": words, "symbol": symbol, "path": path, "file": os.path.basename(path)})
    return found


def commands(tree):
    return [{"name": name, "symbol": f"cli_cmd_{name}", "file": f"cmd_{name}.c", "path": f"src/cli/cmd_{name}.c"}
            for name in (re.search(r"cmd_(\w+)\.c", path).group(1) for path in tree.files("src/cli/cmd_*.c"))]


def functions(tree):
    entries = re.findall(r"^impl .*?\b(MPIX?_\w+)\((?:[^;]|\n)*?\);(.*)", tree.read("api/mpi_functions.txt"), re.M)
    return [{"name": name} for name, flags in entries if not {"raw", "data"} & set(flags.split())]


# ---- what each must have ----

def text(pattern, only=lambda variant: True):
    """The file has this text for a variant: a regular expression, with fields of the variant in braces."""
    def check(tree, path, variant):
        filled = re.sub(r"\{(\w+)\}", lambda found: re.escape(variant[found.group(1)]), pattern)
        return not only(variant) or re.search(filled, tree.read(path), re.M) is not None
    return check


def defined(tree, path, variant):
    """The file of the variant is one of those that the path with its placeholder stands for."""
    return os.path.dirname(variant["path"]) == os.path.dirname(path)


def has_cost(tree, _, variant):
    return variant["path"] and "Cost" in tree.read(variant["path"]).split("*/", 1)[0]


def case_of(option):
    """Some case of tests/e2e runs this."""
    def check(tree, _, variant):
        wanted = re.compile(option.replace("{name}", re.escape(variant["name"])))
        return any(wanted.search(tree.read(path)) for path in tree.files("tests/e2e/*/cmd"))
    return check


def in_help(*words):
    def check(tree, _, variant):
        return re.search(rf"(?<![\w-]){re.escape(variant['name'])}(?![\w-])", tree.help(*words)) is not None
    return check


def is_read(variant):
    return variant["reads"] and variant["name"] != "orr"  # of which there is fuzz_trace


def has_page(variant):
    return variant["name"] not in NO_PAGE


IN_TABLE = text(r"&{symbol}\b")
DECLARED = text(r"\b{symbol}\b")
BUILT = text(r"'{file}'")
IN_SCHEMA = text(r'"{name}"')
# recipe -> its variants, and what each has in which file
RECIPES = {
    "a network model": (lambda tree: tabled(tree, "net_ops", "src/net/net.c", "src/net/**/*.c"), {
        "src/net/<file>.c": lambda tree, path, variant: variant["path"].startswith("src/net/"),
        "src/net/net.c": IN_TABLE,
        "src/net/net_internal.h": DECLARED,
        "src/net/meson.build": text(r"'(packet/)?{file}'"),
        "docs/man/orrery-model.7": text(r"^\.(It )?Cm {name}\b"),
        "platforms/schema.json": IN_SCHEMA,
        "tests/run_random.py": text(r"net\.model={name}\b", lambda variant: variant["name"] != "constant"),
    }),
    "a topology": (lambda tree: tabled(tree, "topo_ops", "src/net/topology/topology.c", "src/net/topology/*.c"), {
        "src/net/topology/<file>.c": defined,
        "src/net/topology/topology.c": IN_TABLE,
        "src/net/topology/topology_internal.h": DECLARED,
        "src/net/meson.build": text(r"'topology/{file}'"),
        "docs/man/orrery-topology.7": text(r"^\.Ss (\S+, )*{name}(,|$)"),
        "platforms/schema.json": IN_SCHEMA,
    }),
    "a routing": (lambda tree: tabled(tree, "topo_routing_ops", "src/net/topology/routing.c", "src/net/topology/*.c"), {
        "src/net/topology/<file>.c": defined,
        "src/net/topology/routing.c": IN_TABLE,
        "src/net/topology/topology_internal.h": DECLARED,
        "src/net/meson.build": text(r"'topology/{file}'"),
        "docs/man/orrery-topology.7": text(r"^\.It Cm {name}$"),
        "platforms/schema.json": IN_SCHEMA,
    }),
    "a congestion control": (lambda tree: tabled(tree, "tcp_congestion_ops", "src/net/packet/congestion.c", "src/net/packet/*.c"), {
        "src/net/packet/<file>.c": defined,
        "src/net/packet/congestion.c": IN_TABLE,
        "src/net/packet/tcp.h": DECLARED,
        "src/net/meson.build": text(r"'packet/{file}'"),
        "src/platform/config.c": text(r'"congestion control of TCP: .*\b{name}\b'),
        "docs/man/orrery-model.7": text(r"^\.It Cm (\S+ , )*{name}\b"),
        "platforms/schema.json": IN_SCHEMA,
        "tests/unit/test_net_congestion.c": text(r"\b{name}\b"),
    }),
    "a rate control": (lambda tree: tabled(tree, "message_control_ops", "src/net/packet/message.c", "src/net/packet/*.c"), {
        "src/net/packet/<file>.c": defined,
        "src/net/packet/message.c": IN_TABLE,
        "src/net/packet/message.h": DECLARED,
        "src/net/meson.build": text(r"'packet/{file}'"),
        "src/platform/config.c": text(r'"transport message: .*\b{name}\b'),
        "docs/man/orrery-model.7": text(r"^\.It Cm {name}\b"),
        "platforms/schema.json": IN_SCHEMA,
        "tests/unit/test_net_congestion.c": text(r"\b{name}\b"),
    }),
    "a collective algorithm": (collectives, {
        "src/mpi/coll/<file>.c": lambda *args: defined(*args) and has_cost(*args),
        "src/mpi/coll/coll_list.h": text(r"X\({operation}, {name}, "),
        "src/mpi/meson.build": text(r"'coll/{file}'"),
        "orrery help collectives": in_help("help", "collectives"),
    }),
    "a processor model": (lambda tree: tabled(tree, "processor_ops", "src/processor/processor.c", "src/processor/*.c"), {
        "src/processor/<file>.c": defined,
        "src/processor/processor.c": IN_TABLE,
        "src/processor/processor_internal.h": DECLARED,
        "src/processor/meson.build": BUILT,
        "src/cli/run_options.c": text(r'"{name}"'),
        "docs/man/orrery-run.1": text(r"^\.Cm {name}\b"),
    }),
    "a host of ranks": (lambda tree: [host for host in tabled(tree, "vp_host", "src/vp/host.c", "src/vp/*.c")
                                      if host["name"] != "remote"], {  # no choice of users: a process elsewhere
        "src/vp/<file>.c": defined,
        "src/vp/host.c": IN_TABLE,
        "src/vp/host.h": DECLARED,
        "src/vp/meson.build": BUILT,
        "src/run/run.h": text(r'X\(\w+, "{name}", '),
        "docs/man/orrery-run.1": text(r"^\.It Cm {name}$"),
    }),
    "a trace format": (lambda tree: tabled(tree, "trace_format", "src/formats/formats.c", "src/formats/*.c"), {
        "src/formats/<file>.c": defined,
        "src/formats/formats.c": IN_TABLE,
        "src/formats/table.h": DECLARED,
        "src/formats/meson.build": BUILT,
        "docs/man/orrery-trace.1": text(r"^\.It Cm {name}$"),
        "tests/prop/prop_formats.c": text(r'"{name}"|try_{name}\b', is_read),
        "tests/fuzz/fuzz_<name>.c": lambda tree, _, variant: not is_read(variant) or tree.read(f"tests/fuzz/fuzz_{variant['name']}.c"),
        "tests/fuzz/corpus/<name>": lambda tree, _, variant: not is_read(variant) or tree.files(f"tests/fuzz/corpus/{variant['name']}/*"),
        "tests/meson.build": text(r"'{name}': formats_dep", is_read),
        "tests/e2e": lambda tree, path, variant: variant["reads"] or case_of(r"trace_{name}|\.{name}\b|-f {name}\b")(tree, path, variant)
                     or tree.files(f"tests/e2e/trace_{variant['name']}/cmd"),
    }),
    "a hypothesis": (hypotheses, {
        "src/whatif/<file>.c": defined,
        "src/whatif/parse.c": IN_TABLE,
        "src/whatif/whatif.h": DECLARED,
        "src/whatif/meson.build": BUILT,
        "docs/man/orrery-replay.1": text(r"^\.It Cm {name}\b"),
        "tests/run_what_if.py": text(r'": "{name} '),
        "tests/fuzz/corpus/whatif": lambda tree, _, variant: any(
            tree.read(path).startswith(variant["name"]) for path in tree.files("tests/fuzz/corpus/whatif/*")),
    }),
    "an MPI function": (functions, {
        "api/mpi_functions.txt": text(r" {name}\("),
        "docs/mpi-coverage.md": text(r"{name}\b"),
    }),
    "a command": (commands, {
        "src/cli/cmd_<name>.c": text(r""),
        "src/cli/main.c": IN_TABLE,
        "src/cli/cli.h": DECLARED,
        "src/cli/meson.build": BUILT,
        "docs/man/orrery-<name>.1": lambda tree, _, variant: not has_page(variant) or tree.read(f"docs/man/orrery-{variant['name']}.1"),
        "docs/man/orrery.1": text(r"^\.It (Cm {name}\b|Xr orrery-{name} 1)"),
        "docs/meson.build": text(r"'man/orrery-{name}\.1'", has_page),
        "README.md": text(r"orrery-{name}\(1\)", has_page),
        "tests/e2e": lambda tree, path, variant: case_of(r"ORRERY\"? +(help +)?{name}\b")(tree, path, variant)
                     or tree.read(f"tests/run_{variant['name']}.py"),
    }),
}
# a text of a file, what it becomes, and what is said
CASES = [
    ("a table without a variant", "src/net/net.c", "&net_hops_ops, ", "", "a network model 'hops' lacks something in src/net/net.c"),
    ("a page without an item", "docs/man/orrery-trace.1", ".It Cm paje\n", "", "a trace format 'paje' lacks something in docs/man/orrery-trace.1"),
    ("an algorithm without a cost", "src/mpi/coll/bcast_linear.c", "Cost:", "Price:", "'linear' lacks something in src/mpi/coll/<file>.c"),
    ("a hypothesis without a test", "tests/run_what_if.py", '"balance foo"', '"scale foo by 2"', "'balance' lacks something in tests/run_what_if.py"),
    ("a recipe without a file", "CONTRIBUTING.md", "`src/formats/table.h`", "", "a trace format: 'src/formats/table.h' is not named"),
    ("a recipe with a file of no test", "CONTRIBUTING.md", "`src/formats/table.h`", "`src/formats/table.h`, `src/formats/build.h`",
     "a trace format: no variant is tested for 'src/formats/build.h'"),
]


def items(tree):
    """The recipes of CONTRIBUTING.md: name -> files and commands that it names."""
    part = re.search(r"^## How to add\n(.*?)^## ", tree.read("CONTRIBUTING.md"), re.M | re.S).group(1)
    found = re.findall(r"^- \*\*(.*?)\*\*(.*?)(?=^- \*\*|\Z)", part.split("\n\n`tools/check-docs`")[0], re.M | re.S)
    return {name: {span for span in re.findall(r"`([^`]+)`", body)
                   if (re.search(r"/|^README", span) or span.startswith("orrery help ")) and not span.endswith("/README.md")} for name, body in found}


def check(tree):
    said, named = [], items(tree)
    for name, (variants, files) in RECIPES.items():
        listed = named.get(name, set())
        said += [f"CONTRIBUTING.md: {name}: '{path}' is not named" for path in files if path not in listed]
        said += [f"CONTRIBUTING.md: {name}: no variant is tested for '{path}'" for path in sorted(listed - set(files))]
        found = variants(tree)
        if not found:
            said.append(f"{name}: no variants found")
        said += [f"{name} '{variant['name']}' lacks something in {path}" for variant in found
                 for path, is_there in files.items() if not is_there(tree, path, variant)]
    return said


def main():
    source, orrery = sys.argv[1:3]
    failed = 0
    for number, (name, path, before, after, wanted) in enumerate([("the tree as it is", "README.md", "", "", None), *CASES], 1):
        content = Tree(source, orrery).read(path)
        said = check(Tree(source, orrery, {path: content.replace(before, after)} if before else {}))
        good = before in content and (any(wanted in line for line in said) if wanted else not said)
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        print("".join(f"# {line}\n" for line in said if not good), end="")
    print(f"1..{len(CASES) + 1}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
