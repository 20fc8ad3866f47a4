#!/usr/bin/env python3
"""Runs the end-to-end cases of tests/e2e against an orrery program, and prints TAP.

The format of a case is described in tests/e2e/README.md. With --procs 1,2,3 each case that uses
'orrery run' is also run on two and three native processes: it must pass again, and write the same
as on one.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex

import harness
from harness import ROOT, TESTS, Failure, demand

FLAGS = [*harness.STRICT, "-O1", "-g"]
OWN_FLAGS = re.compile(r"/\* flags: (.*) \*/")  # of a program, in its first line
USES_RUN = re.compile(r'^[^#\n]*"\$ORRERY" run\b', re.MULTILINE)
STREAMS = ("exit", "stdout", "stderr", "files")

Outcome = collections.namedtuple("Outcome", STREAMS)


def call(command):
    done = harness.call(command)
    demand(done.status == 0, " ".join(map(str, command)), done.stderr)


def build(sources, target):
    """Builds every program that is older than its source."""
    target.mkdir(parents=True, exist_ok=True)

    def one(source):
        own = OWN_FLAGS.match(source.read_text())
        plain = source.stem == "non_mpi"
        harness.build(source, target / source.stem,
                      [*FLAGS, f"-I{ROOT / 'include'}", *(own[1].split() if own else [])],
                      ["gcc"] if plain else None)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(one, [s for s in sorted(sources.iterdir()) if s.suffix in harness.COMPILERS]))
    harness.build(sources / "non_mpi.c", target / "non_mpi_static", [*FLAGS, "-static"], ["gcc"])
    build_open_mpi(target)


def build_open_mpi(target):
    """A program bound to a library that looks like Open MPI's."""
    if (target / "open_mpi").exists():
        return
    (target / "fake_mpi.c").write_text(
        "int MPI_Init(int *argc, char ***argv)\n{\n    return argc && argv ? 0 : 1;\n}\n")
    (target / "fake_main.c").write_text(
        "int puts(const char *);\nint MPI_Init(int *argc, char ***argv);\n"
        "int main(int argc, char **argv)\n{\n    puts(\"started\");\n"
        "    return MPI_Init(&argc, &argv);\n}\n")
    call(["gcc", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.40", str(target / "fake_mpi.c"), "-o",
          str(target / "libmpi.so.40")])
    call(["gcc", str(target / "fake_main.c"), str(target / "libmpi.so.40"),
          f"-Wl,-rpath,{target}", "-o", str(target / "open_mpi")])


def make_wrapper(options, procs):
    """A program like orrery whose 'run' uses this many processes."""
    if procs == 1:
        return os.path.abspath(options.orrery)
    path = options.build_dir.resolve() / f"orrery-{procs}"
    real = shlex.quote(os.path.abspath(options.orrery))
    harness.write_script(path, f"#!/bin/sh\nif [ \"$1\" = run ]; then\n    shift\n"
                         f"    exec {real} run --procs {procs} \"$@\"\nfi\nexec {real} \"$@\"\n")
    return str(path)


def read_files(folder):
    """The statistics and summaries that a case has left behind."""
    files = {}
    for path in sorted(pathlib.Path(folder).iterdir()):
        if path.suffix not in (".json", ".csv", ".stats"):
            continue
        text = path.read_text(errors="replace")
        if path.suffix == ".json" and '"wall_s"' in text:
            text = json.dumps(harness.read_summary(text), indent=1)
        files[path.name] = text
    return "".join(f"{name}:\n{text}\n" for name, text in files.items())


def run(case, options, procs):
    """Runs the command of a case in a folder of its own."""
    with harness.fresh_folder() as folder:
        environment = dict(os.environ, ORRERY=options.wrappers[procs], OUT=folder,
                           PROGRAMS=os.path.abspath(options.build_dir), PRESETS=str(ROOT / "platforms"),
                           PROCS=str(procs), LC_ALL="C")
        done = harness.call(["sh", (case / "cmd").resolve()], options.timeout, cwd=folder, env=environment)
        files = read_files(folder)
    return Outcome(done.status, *(text.replace(folder, "$OUT") for text in done[1:]), files)


def check_exit(wanted, status):
    if wanted == "nonzero":
        return status != 0
    return str(status) in wanted.split("|")


def check_lines(wanted, text):
    first, _, last = wanted.partition("-")
    return int(first) <= len(text.splitlines()) <= int(last or first)


def check_line(line, status, texts):
    """True if one line of an expect file holds."""
    if line.startswith("exit "):
        return check_exit(line[5:].strip(), status)
    match = re.fullmatch(r"(not-)?(stdout|stderr)(-lines)?: ?(.*)", line)
    if not match:
        raise Failure(f"expect: cannot understand {line!r}")
    negated, stream, lines, wanted = match.groups()
    if lines:
        return check_lines(wanted, texts[stream])
    return (re.search(wanted, texts[stream], re.MULTILINE) is None) == bool(negated)


def check_expectations(case, outcome):
    texts = {"stdout": outcome.stdout, "stderr": outcome.stderr}
    lines = (case / "expect").read_text().splitlines()
    broken = [line for line in lines
              if line and not line.startswith("#") and not check_line(line, outcome.exit, texts)]
    if broken:
        shown = [f"expected {line}" for line in broken] + [f"exit status was {outcome.exit}"]
        for name, text in texts.items():
            shown += [f"{name}: {line[:300]}" for line in text.splitlines()[:12]]
        raise Failure("\n".join(shown))


def read_differs(case):
    """What the case does not compare between numbers of processes."""
    path = case / "differs"
    if not path.exists():
        return set()
    match = re.fullmatch(r"((\w+)(, \w+)*): \S.*\n", path.read_text())
    names = set(match.group(1).split(", ")) if match else {"?"}
    if names - {*STREAMS, "summary"}:
        raise Failure("differs: must be one line 'WHAT[, WHAT...]: REASON' with WHAT of "
                      + " ".join(STREAMS) + " summary")
    return names


def compare(case, first, again):
    ignored = read_differs(case)
    first, again = (o._replace(stderr=harness.hide(o.stderr, "summary" in ignored)) for o in (first, again))
    harness.demand_same("not as on one process", *(
        (name, x, y) for name, x, y in zip(STREAMS, first, again) if name not in ignored))


def attempt(case, options):
    """The results of a case, as pairs of a name and what is wrong, or None."""
    outcomes = {}

    def one(procs):
        outcome = run(case, options, procs)
        check_expectations(case, outcome)
        if procs > 1 and 1 in outcomes:
            compare(case, outcomes[1], outcome)
        outcomes[procs] = outcome

    counts = [1]
    if USES_RUN.search((case / "cmd").read_text()):
        counts += [p for p in options.procs if p != 1]
    for procs in counts:
        yield case.name + (f" on {procs} processes" if procs > 1 else ""), harness.attempt(one, procs)


def parse_counts(text):
    return [int(word) for word in text.split(",")]


def parse_options():
    parser = harness.options_parser(__doc__, "build/tests-e2e")
    parser.add_argument("--cases", default=TESTS / "e2e", type=pathlib.Path)
    parser.add_argument("--programs", default=TESTS / "mpi" / "bad", type=pathlib.Path)
    parser.add_argument("--procs", default=[1], type=parse_counts, metavar="LIST",
                        help="numbers of native processes, such as 1,2,3")
    parser.add_argument("--timeout", type=float, default=harness.LIMIT, help="seconds per case")
    return parser.parse_args()


def main():
    options = parse_options()
    build(options.programs.resolve(), options.build_dir.resolve())
    options.wrappers = {procs: make_wrapper(options, procs) for procs in {1, *options.procs}}
    cases = sorted(c for c in options.cases.iterdir() if (c / "cmd").exists()
                   and re.search(options.filter, c.name))
    tap = harness.Tap()
    tap.run(lambda case: attempt(case, options), cases, options.jobs)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
