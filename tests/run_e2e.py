#!/usr/bin/env python3
"""Runs the end-to-end cases of tests/e2e against an orrery program, and prints TAP.

The format of a case is described in tests/e2e/README.md. With --procs 1,2,3 each case that uses
'orrery run' is also run on two and three native processes: its demands must hold again, and what it
writes must be the same as on one.
"""

import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile

COMPILERS = {".c": ["mpicc.mpich", "-std=gnu11"], ".cpp": ["mpicxx.mpich", "-std=c++17"],
             ".f90": ["mpif90.mpich"]}
FLAGS = ["-Wall", "-Wextra", "-Werror", "-O1", "-g"]
ROOT = pathlib.Path(__file__).resolve().parent.parent
OWN_FLAGS = re.compile(r"/\* flags: (.*) \*/")  # of a program, in its first line
USES_RUN = re.compile(r'^[^#\n]*"\$ORRERY" run\b', re.MULTILINE)
# What the number of processes may change in the text on standard error.
HIDDEN = [(re.compile(pattern, re.MULTILINE), instead) for pattern, instead in (
    (r"^  (synchronised|serial|compute time)  .*\n", ""),
    (r"^  warning +this computer was busy.*\n( {16}.*\n)*", ""), (r"^(  (wall time|peak memory|host)  ).*", r"\1..."),
    (r"^(  messages .*) \(.*/s\)$", r"\1"), (r"0x[0-9a-f]+", "0x..."),
    (r"^(  note  +)[0-9.]+ [KMG]?i?B( of static data)", r"\1...\2"))]
# ... and in the summary of --json.
HIDDEN_KEYS = {"wall_s", "startup_s", "ratio", "peak_rss_bytes", "host", "host_reason", "procs",
               "processes", "rounds", "batches", "serial", "private_bytes", "live_stack_max",
               "own_stacks", "switches", "median_slice_s", "computed_s", "left_out_s", "swapped_bytes"}
SUMMARY = re.compile(r"^  (virtual time|messages|bytes)  .*\n", re.MULTILINE)
STREAMS = ("exit", "stdout", "stderr", "files")

Outcome = collections.namedtuple("Outcome", STREAMS)


class Failure(Exception):
    """A case that failed, and why."""


def call(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {result.stderr}")


def build(sources, target):
    """Builds every program that is not newer than its source."""
    target.mkdir(parents=True, exist_ok=True)

    def one(source):
        binary = target / source.stem
        if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
            plain = source.stem == "non_mpi"
            compiler = ["gcc"] if plain else COMPILERS[source.suffix]
            flags = OWN_FLAGS.match(source.read_text())
            call([*compiler, *FLAGS, f"-I{ROOT / 'include'}",
                  *(flags[1].split() if flags else []), str(source), "-o",
                  str(binary)])

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(one, [s for s in sorted(sources.iterdir()) if s.suffix in COMPILERS]))
    if not (target / "non_mpi_static").exists():
        call(["gcc", *FLAGS, "-static", str(sources / "non_mpi.c"), "-o",
              str(target / "non_mpi_static")])
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
    path.write_text(f"#!/bin/sh\nif [ \"$1\" = run ]; then\n    shift\n"
                    f"    exec {real} run --procs {procs} \"$@\"\nfi\nexec {real} \"$@\"\n")
    path.chmod(0o755)
    return str(path)


def read_files(folder):
    """The statistics and summaries that a case has left behind."""
    files = {}
    for path in sorted(pathlib.Path(folder).iterdir()):
        if path.suffix not in (".json", ".csv", ".stats"):
            continue
        text = path.read_text(errors="replace")
        if path.suffix == ".json" and '"wall_s"' in text:
            values = json.loads(text)
            text = json.dumps({k: v for k, v in values.items() if k not in HIDDEN_KEYS}, indent=1)
        files[path.name] = text
    return "".join(f"{name}:\n{text}\n" for name, text in files.items())


def run(case, options, procs):
    """Runs the command of a case in its own session; on a time-out exactly that is ended."""
    with tempfile.TemporaryDirectory(prefix="orrery-e2e-") as folder:
        environment = dict(os.environ, ORRERY=options.wrappers[procs], OUT=folder,
                           PROGRAMS=os.path.abspath(options.build_dir), PROCS=str(procs),
                           LC_ALL="C")
        process = subprocess.Popen(["sh", str((case / "cmd").resolve())], cwd=folder,
                                   env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        try:
            out, err = process.communicate(timeout=options.timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Failure(f"not finished after {options.timeout} s") from None
        files = read_files(folder)
        texts = (t.decode(errors="replace").replace(folder, "$OUT") for t in (out, err))
    return Outcome(process.returncode, *texts, files)


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


def hide(text, ignored):
    if "summary" in ignored:
        text = SUMMARY.sub("", text)
    for pattern, instead in HIDDEN:
        text = pattern.sub(instead, text)
    return text


def show_difference(name, first, again):
    ours, theirs = str(first).splitlines(), str(again).splitlines()
    for number, (x, y) in enumerate(itertools.zip_longest(ours, theirs), 1):
        if x != y:
            return f"{name}, line {number}: {x!r:.300} on one process, {y!r:.300} here"
    return f"{name} differs in the end of its last line"


def compare(case, first, again):
    ignored = read_differs(case)
    first, again = (o._replace(stderr=hide(o.stderr, ignored)) for o in (first, again))
    problems = [show_difference(name, x, y) for name, x, y in zip(STREAMS, first, again)
                if x != y and name not in ignored]
    if problems:
        raise Failure("\n".join(problems))


def attempt(case, options):
    """What was tried with a case, as pairs of a name and what is wrong, or None."""
    counts = [1]
    if USES_RUN.search((case / "cmd").read_text()):
        counts += [p for p in options.procs if p != 1]
    results = []
    first = None
    for procs in counts:
        name = case.name + (f" on {procs} processes" if procs > 1 else "")
        try:
            outcome = run(case, options, procs)
            check_expectations(case, outcome)
            if procs == 1:
                first = outcome
            elif first:
                compare(case, first, outcome)
        except Failure as failure:
            results.append((name, str(failure)))
        else:
            results.append((name, None))
    return results


def parse_counts(text):
    return [int(word) for word in text.split(",")]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--orrery", default="build/orrery", help="the program to test")
    parser.add_argument("--cases", default=here / "e2e", type=pathlib.Path)
    parser.add_argument("--programs", default=here / "mpi" / "bad", type=pathlib.Path)
    parser.add_argument("--build-dir", default="build/tests-e2e", type=pathlib.Path)
    parser.add_argument("--procs", default=[1], type=parse_counts, metavar="LIST",
                        help="numbers of native processes, such as 1,2,3")
    parser.add_argument("--filter", help="only cases whose name matches this expression")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=600, help="seconds per case")
    return parser.parse_args()


def main():
    options = parse_options()
    build(options.programs.resolve(), options.build_dir.resolve())
    options.wrappers = {procs: make_wrapper(options, procs) for procs in {1, *options.procs}}
    cases = sorted(c for c in options.cases.iterdir() if (c / "cmd").exists()
                   and (not options.filter or re.search(options.filter, c.name)))
    number = passed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda case: attempt(case, options), cases)
        for name, problem in itertools.chain.from_iterable(results):
            number += 1
            passed += problem is None
            print(("ok" if problem is None else "not ok"), number, "-", name, flush=True)
            for line in (problem or "").splitlines():
                print("#   " + line, flush=True)
    print(f"1..{number}")
    print(f"{passed} passed, {number - passed} failed")
    return 0 if passed == number else 1


if __name__ == "__main__":
    sys.exit(main())
