#!/usr/bin/env python3
"""Runs the end-to-end cases of tests/e2e against an orrery program, and prints TAP.

The format of a case is described in tests/e2e/README.md.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

COMPILERS = {".c": ["mpicc.mpich", "-std=gnu11"], ".cpp": ["mpicxx.mpich", "-std=c++17"]}
FLAGS = ["-Wall", "-Wextra", "-Werror", "-O1", "-g"]


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
            call([*compiler, *FLAGS, str(source), "-o", str(binary)])

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


def run(case, options):
    """Runs the command of a case in its own session; on a time-out exactly that is ended."""
    with tempfile.TemporaryDirectory(prefix="orrery-e2e-") as folder:
        environment = dict(os.environ, ORRERY=os.path.abspath(options.orrery), OUT=folder,
                           PROGRAMS=os.path.abspath(options.build_dir), LC_ALL="C")
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
    return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")


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


def attempt(case, options):
    """The name of a case and what is wrong with it, or None."""
    try:
        status, out, err = run(case, options)
        texts = {"stdout": out, "stderr": err}
        lines = (case / "expect").read_text().splitlines()
        broken = [line for line in lines
                  if line and not line.startswith("#") and not check_line(line, status, texts)]
        if broken:
            shown = [f"expected {line}" for line in broken] + [f"exit status was {status}"]
            for name, text in texts.items():
                shown += [f"{name}: {line[:300]}" for line in text.splitlines()[:12]]
            raise Failure("\n".join(shown))
    except Failure as failure:
        return case.name, str(failure)
    return case.name, None


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--orrery", default="build/orrery", help="the program to test")
    parser.add_argument("--cases", default=here / "e2e", type=pathlib.Path)
    parser.add_argument("--programs", default=here / "mpi" / "bad", type=pathlib.Path)
    parser.add_argument("--build-dir", default="build/tests-e2e", type=pathlib.Path)
    parser.add_argument("--filter", help="only cases whose name matches this expression")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60, help="seconds per case")
    return parser.parse_args()


def main():
    options = parse_options()
    build(options.programs.resolve(), options.build_dir.resolve())
    cases = sorted(c for c in options.cases.iterdir() if (c / "cmd").exists()
                   and (not options.filter or re.search(options.filter, c.name)))
    number = passed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, problem in pool.map(lambda case: attempt(case, options), cases):
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
