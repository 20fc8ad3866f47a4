#!/usr/bin/env python3
"""Tests several programs in one run, and prints TAP.

  native     MPMD as mpiexec has it: the same output
  same       two programs behave as one that does what both do: output, exit status, virtual time to the
             picosecond, messages and statistics, on every kind of network, with both hosts, one to four
             processes, placements and schedules
  ends       crashes, aborts, deadlocks and exit statuses in one of the programs
  file       --app
  trace      traces name all programs, are the same on any number of processes, and can be replayed
  emulate    'orrery emulate', with processes here and by a launcher
  record     'orrery record', 'orrery hybrid', 'orrery sweep' and 'orrery check' with several programs
  usage      wrong usage is named
"""

import json
import pathlib
import re

import harness
from harness import TESTS, demand, demand_same

OCEAN, AIR, STEPS = 5, 3, 6
NETWORKS = {
    "constant": ["--set", "net.model=constant"],
    "loggops": ["--set", "net.model=loggops,net.gap=1us"],
    "flow": ["--platform", "fat-tree-1k", "--set", "nodes.ranks=2"],
    "torus": ["--platform", "torus-3d"],
    "packet": ["--set", "net.model=packet"],
    "ideal": ["--set", "net.model=constant,net.latency=0,net.bandwidth=inf"],
}
WAYS = (["--procs", "1"], ["--procs", "4", "--schedule", "random:5"], ["--procs", "3", "--placement", "cyclic"],
        ["--host", "process"])


class Programs:
    def __init__(self, options):
        self.orrery = str(pathlib.Path(options.orrery).resolve())
        self.folder = options.build_dir.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        source = TESTS / "programs" / "coupled.c"
        for name, flags in (("ocean", ["-DROLE=0"]), ("air", ["-DROLE=1"]), ("both", [])):
            harness.build(source, self.folder / name, [*harness.STRICT, "-Wno-stringop-overflow", "-O1", *flags])

    def two(self, *arguments):
        """The words of two programs, after -n and options."""
        words = [STEPS, *arguments]
        return [self.folder / "ocean", *words, ":", "-n", AIR, self.folder / "air", *words]

    def one(self, *arguments):
        return [self.folder / "both", OCEAN, STEPS, *arguments]

    def ring(self, name):
        """Built by a compiler, with or without fixed addresses."""
        source, *flags = name.split()
        binary = self.folder / name.replace(" ", "").replace(".", "-") / "ring"
        binary.parent.mkdir(exist_ok=True)
        harness.build(TESTS / "programs" / source, binary, ["-O1", *flags])
        return binary

    def leaks(self, name, flags):
        binary = self.folder / name / "leaks"
        binary.parent.mkdir(exist_ok=True)
        harness.build(TESTS / "programs" / "leaks.c", binary, [*harness.STRICT, "-g", *flags])
        return binary

    def call(self, *words, status=0, **options):
        done = harness.call([self.orrery, *words], **options)
        demand(done.status == status, f"{' '.join(map(str, words))}: exit status {done.status} instead of {status}",
               done.stderr, done.stdout)
        return done

    def run(self, folder, ranks, words, options=(), status=0):
        """A run's output, its summary, and its statistics."""
        summary, stats = pathlib.Path(folder) / "summary.json", pathlib.Path(folder) / "stats.csv"
        done = self.call("run", "-q", "-n", ranks, "--compute", "none", "--json", summary, "--stats", stats, *options,
                         *words, status=status)
        return done, json.loads(summary.read_text()), stats.read_text()


def native(p):
    done = harness.call_native(["mpiexec.mpich", "-n", OCEAN, *p.two()])
    if done is None:
        return
    demand(done.status == 0, f"exit status {done.status}", done.stderr)
    simulated = p.call("run", "-q", "-n", OCEAN, *p.two())
    demand_same("", ("output", "\n".join(sorted(done.stdout.splitlines())),
                     "\n".join(sorted(simulated.stdout.splitlines()))))


def same(p, network, way):
    with harness.fresh_folder() as folder:
        alone, summary, stats = p.run(folder, OCEAN + AIR, p.one(), NETWORKS[network])
        done, again, stats_again = p.run(folder, OCEAN, p.two(), [*NETWORKS[network], *way])
    keys = ("ranks", "virtual_time_ps", "messages", "bytes", "one_sided", "exit_status", "cause")
    demand_same(" ".join(way), ("output", alone.stdout, done.stdout), ("errors", alone.stderr, done.stderr),
                *((key, summary[key], again[key]) for key in keys), ("statistics", stats, stats_again))
    found = [(program["ranks"], pathlib.Path(program["command"][0]).name) for program in again["programs"]]
    demand(found == [(OCEAN, "ocean"), (AIR, "air")], f"programs are {found}")


def ends(p, how, status, text):
    with harness.fresh_folder() as folder:
        alone, summary, _ = p.run(folder, OCEAN + AIR, p.one(how), status=status)
        done, again, _ = p.run(folder, OCEAN, p.two(how), status=status)
    demand(text in done.stderr, f"no '{text}'", done.stderr)
    demand_same("", *((key, summary[key], again[key]) for key in ("cause", "exit_status")))
    if how == "crash":  # its backtrace has addresses and names; how far others have come until then depends on processes
        where = [re.search(text + r" at [^(]*", each.stderr) for each in (alone, done)]
        demand_same("", ("crash", *(each and each[0] for each in where)))
    else:
        demand_same("", ("errors", alone.stderr, done.stderr),
                    ("time", summary["virtual_time_ps"], again["virtual_time_ps"]))


def file(p):
    with harness.fresh_folder() as folder:
        apps = pathlib.Path(folder) / "apps"
        words = p.two()
        at = words.index(":")
        quoted = [" ".join(f"'{word}'" for word in part) for part in (words[:at], words[at + 1:])]
        apps.write_text(f"# a coupled run\n-n {OCEAN} {quoted[0]}\n\n  {quoted[1]}\n")
        line = p.call("run", "-q", "-n", OCEAN, "--compute", "none", *words).stdout
        demand_same("", ("output", line, p.call("run", "-q", "--app", apps, "--compute", "none").stdout))
        apps.write_text(f"-n {OCEAN} {quoted[0]} : {quoted[1]}\n")
        demand_same("in a line", ("output", line, p.call("run", "-q", "--app", apps, "--compute", "none").stdout))
        table = p.call("sweep", "-q", "--set", "net.latency=1us,2us", "run", "--compute", "none", "--app", apps).stdout
        demand_same("sweep", ("table", *(hide_wall(text) for text in (table, p.call(
            "sweep", "-q", "--set", "net.latency=1us,2us", "run", "--compute", "none", "-n", OCEAN, *words).stdout))))
        for text, message in (("# nothing\n", "has no program"), ("-n 2 'x", "line 1"),
                              (f"{quoted[0]}\n", "how many ranks"), ("-n 2 --quiet x\n", "'--quiet'")):
            apps.write_text(text)
            done = p.call("run", "--app", apps, status=2)
            demand(message in done.stderr, f"no '{message}'", done.stderr)
        demand("cannot read" in p.call("run", "--app", f"{folder}/none", status=2).stderr, "no message")
        apps.write_text(f"-n {OCEAN} {quoted[0]}\n")
        for more in (["-n", 2], [p.folder / "air"]):
            demand("leave out" in p.call("run", "--app", apps, *more, status=2).stderr, "no message")


def hide_wall(table):
    return "\n".join(line.rsplit(None, 2)[0] for line in table.splitlines())


def describe(p, trace):
    text = p.call("trace", "info", trace).stdout
    return next(line.split(None, 1)[1] for line in text.splitlines() if line.startswith("program "))


def trace(p):
    names = f"-n {OCEAN} {p.folder}/ocean {STEPS} : -n {AIR} {p.folder}/air {STEPS}"
    with harness.fresh_folder() as folder:
        files = [pathlib.Path(folder) / f"{i}.orr" for i in range(3)]
        for name, way in zip(files, ([], ["--procs", "4", "--placement", "cyclic"], ["--host", "process"])):
            p.call("run", "-q", "-n", OCEAN, "--compute", "none", "--trace", name, *way, *p.two())
        demand(describe(p, files[0]) == names, f"the trace says {describe(p, files[0])}")
        for name in files[1:]:
            demand(name.read_bytes() == files[0].read_bytes(), f"{name.name} differs from {files[0].name}")
        p.call("trace", "verify", files[0])
        single = pathlib.Path(folder) / "single.orr"
        p.call("run", "-q", "-n", OCEAN + AIR, "--compute", "none", "--trace", single, *p.one())
        for at in (0, 1):
            times = [p.call("replay", file, "--procs", at + 1, "--json", "-", cwd=folder).stdout for file in (files[0], single)]
            demand(len({json.loads(text)["virtual_time_ps"] for text in times}) == 1, "replays differ", *times)


def record(p):
    names = f"-n {OCEAN} {p.folder}/ocean {STEPS} : -n {AIR} {p.folder}/air {STEPS}"
    with harness.fresh_folder() as folder:
        name = pathlib.Path(folder) / "native.orr"
        done = p.call("record", "-q", "-n", OCEAN, "-o", name, *p.two())
        alone = p.call("run", "-q", "-n", OCEAN + AIR, "--compute", "none", *p.one())
        demand(sorted(done.stdout.splitlines()) == sorted(alone.stdout.splitlines()), "output", done.stdout, alone.stdout)
        demand(describe(p, name) == names, f"the trace says {describe(p, name)}")
        p.call("replay", name, cwd=folder)


def hybrid(p, simulators):
    with harness.fresh_folder() as folder:
        name, summary = (pathlib.Path(folder) / name for name in ("hybrid.orr", "summary.json"))
        words = ["--compute", "none", "--order", "virtual", "--json", summary, "--simulators", simulators, "--trace", name]
        done = p.call("hybrid", "-q", "-n", OCEAN, *words, *p.two())
        found = json.loads(summary.read_text())
        _, alone, _ = p.run(folder, OCEAN + AIR, p.one())
        demand(found["ranks"] == OCEAN + AIR and len(done.stdout.splitlines()) == OCEAN + AIR, "ranks", done.stdout)
        demand(found["messages"] == alone["messages"], f"{found['messages']} messages, not {alone['messages']}")
        demand("ocean" in describe(p, name) and "air" in describe(p, name), "not both are in the trace")


def emulate(p, *how):
    """The same output, if it does not depend on time; the trace and the summary have both."""
    with harness.fresh_folder() as folder:
        name, summary = (pathlib.Path(folder) / name for name in ("emulated.orr", "summary.json"))
        done = p.call("emulate", "-q", "-n", OCEAN, "--factor", 1, "--compute", "none", "--trace", name, "--json", summary, *how,
                      *p.two())
        alone = p.call("run", "-q", "-n", OCEAN + AIR, "--compute", "none", *p.one())
        demand(sorted(done.stdout.splitlines()) == sorted(alone.stdout.splitlines()), "output", done.stdout, alone.stdout)
        found = json.loads(summary.read_text())["programs"]
        demand([one["ranks"] for one in found] == [OCEAN, AIR], "other programs", str(found))
        demand("ocean" in describe(p, name) and "air" in describe(p, name), "not both are in the trace")
        p.call("trace", "verify", name)


def emulate_ends(p, how, status, text):
    done = p.call("emulate", "-q", "-n", OCEAN, "--factor", 1, "--compute", "none", *p.two(how), status=status)
    demand(text in done.stderr, f"no '{text}'", done.stderr)
    if how == "crash":
        demand(f" in {p.folder}/air" in done.stderr, "the backtrace does not name the program", done.stderr)


def emulate_languages(p, order, *how):
    """Programs with other libraries, so all that is private is elsewhere; also two of one name."""
    words = []
    for number, name in enumerate(order):
        words += [*([":", "-n", 2] if words else []), p.ring(name), f"argument{number}"]
    done = p.call("emulate", "-q", "-n", 2, "--factor", 1, "--compute", "none", *how, *words)
    alone = p.call("run", "-q", "-n", 2, "--compute", "none", *words)
    lines = sorted(alone.stdout.splitlines())
    demand(len(lines) == 2 * len(order) and all(f"argument{i}" in alone.stdout for i in range(len(order))), "no lines", *lines)
    demand(sorted(done.stdout.splitlines()) == lines, "output", done.stdout, alone.stdout)


def emulate_leaks(p):
    """Lines of the simulator's program are not those of another one, even if that has its name."""
    words = ["emulate", "-q", "-n", 2, "--factor", 1, "--check-leaks"]
    leak = p.leaks("first", []), p.leaks("second", ["-DLEAKS"])
    done = p.call(*words, leak[0], ":", "-n", 2, leak[1], status=1)
    demand(f" in {leak[1]}" in done.stderr and "leaks.c:" not in done.stderr, "not where it was made", done.stderr)
    done = p.call(*words, leak[1], ":", "-n", 2, leak[0], status=1)
    demand("(leaks.c:18)" in done.stderr, "not where it was made", done.stderr)


def check(p):
    text = p.call("check", p.folder / "ocean", p.folder / "air").stdout
    demand(text.count("yes, it can be simulated") == 2, "not two verdicts", text)
    done = p.call("check", p.folder / "ocean", "/bin/true", status=1)
    demand("no: it" in done.stdout, "no verdict", done.stdout)


def usage(p):
    ocean, air = p.folder / "ocean", p.folder / "air"
    for words, text in (((ocean, STEPS, ":"), "no program given"), ((":", "-n", 2, air), "no program given"),
                        ((ocean, STEPS, ":", air, STEPS), "how many ranks of"),
                        ((ocean, STEPS, ":", "-n", "x", air), "--ranks"),
                        ((ocean, STEPS, ":", "-n", 2, "--labels", air), "'--labels'"),
                        ((ocean, STEPS, ":", "-n", 2, "./missing"), "./missing"),
                        ((ocean, STEPS, ":", "-n", 2, "/bin/true"), "cannot simulate '/bin/true'"),
                        ((ocean, *[word for _ in range(64) for word in (":", "-n", 1, air)]), "too many programs")):
        for command in ("run", "record", "hybrid", "emulate") if "simulate" not in text else ("run",):
            done = p.call(command, "-n", 2, *words, status=2)
            demand(text in done.stderr, f"{command}: no '{text}'", done.stderr)
    done = p.call("run", "-n", 2, "--placement", "mincut:x", *p.two(), status=2)
    demand("mincut" in done.stderr, "no message", done.stderr)
    done = p.call("emulate", "-n", OCEAN, "--launcher", "mpiexec.mpich", "--local", OCEAN + 1, *p.two(), status=2)
    demand(f"ranks of the first one can be on this computer if --launcher is given, here {OCEAN}" in done.stderr, "no message",
           done.stderr)


def cases(p):
    yield "native", native, p
    for network in NETWORKS:
        for way in WAYS if network in ("constant", "flow") else WAYS[1:2]:
            yield f"same {network} {' '.join(way)}", same, p, network, way
    for how, status, text in (("crash", 139, "Segmentation fault"), ("abort", 5, "MPI_Abort"),
                              ("deadlock", 1, "deadlock"), ("exit", 3, "")):
        yield f"ends {how}", ends, p, how, status, text
        yield f"emulate ends {how}", emulate_ends, p, how, status, text
    yield "emulate here", emulate, p
    yield "emulate launcher", emulate, p, "--launcher", "mpiexec.mpich"
    yield "emulate launcher and here", emulate, p, "--launcher", "mpiexec.mpich", "--local", 2
    yield "emulate languages", emulate_languages, p, ("ring.cpp", "ring.f90", "ring.cpp -no-pie")
    yield "emulate languages of a launcher", emulate_languages, p, ("ring.f90", "ring.cpp"), "--launcher", "mpiexec.mpich"
    yield "emulate leaks", emulate_leaks, p
    yield "file", file, p
    yield "trace", trace, p
    yield "record", record, p
    yield "record hybrid 1", hybrid, p, 1
    yield "record hybrid 2", hybrid, p, 2
    yield "record check", check, p
    yield "usage", usage, p


def main():
    options = harness.options_parser(__doc__, "build/programs-tests").parse_args()
    tap = harness.Tap()
    tap.run_chosen(cases(Programs(options)), options)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
