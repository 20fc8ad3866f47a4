#!/usr/bin/env python3
"""Runs random MPI programs (tests/random) in many ways that must not differ, and prints TAP.

A seed decides on the program, the number of ranks and the machine. The program is run once on one process, with fibres
and in the usual schedule, and recorded; then with other schedules, hosts and numbers of processes:

  same     virtual time, output, statistics and the bytes of the trace are the same in all of them
  trace    the trace is good and can be replayed; the replay on the same machine is the trace again, to the picosecond,
           unless there is contention and Orrery says that calls on files had no part in it
  native   some programs also run under the real MPI, with the same sum of all that was received

In some programs a rank aborts the run: it must end at the same point in all ways; the trace is not replayed.

If a case fails, commands to run it again follow. `make check-random` runs new seeds until SECONDS have passed.
"""

import functools
import json
import os
import pathlib
import random
import shlex
import time

import harness
import watched_run
from harness import demand

PROGRAMS = [harness.TESTS / "random" / name for name in ("random.c", "plain.c")]
ABORTED = 7  # the exit status of those that abort
AREAS = "mxcdngurofjp"  # letters of tests/random/random.c
# Network models, each with machines of some sizes.
MACHINES = (
    [],
    ["--set", "net.latency=0,net.bandwidth=inf"],
    ["--set", "net.model=loggops,net.gap=1us,mpi.eager_limit=4KiB"],
    ["--platform", "infiniband-hdr"],
    ["--set", "net.model=hops,net.topology.kind=torus,net.topology.dims=4x4x2"],
    ["--platform", "torus-3d", "--set", "net.model=hops"],
    ["--set", "net.model=flow"],
    ["--platform", "fat-tree-1k"],
    ["--platform", "torus-3d"],
    ["--set", "net.model=packet"],
    ["--set", "net.model=packet,net.topology.kind=torus,net.topology.dims=4x4x2,net.bandwidth=10Gbps"],
)
PRESETS = ("infiniband-hdr", "fat-tree-1k", "torus-3d")  # whose model is flow, unless another one is set
FREE = ["--collectives", "model", "--set", "mpi.collective_factor=0"]
SETTINGS = ([], [], [], ["--set", "mpi.eager_limit=0"], ["--collectives", "model"], FREE, ["--collectives", "openmpi"])


class Case:
    """What a seed stands for."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.seed = seed
        self.ranks = draw.choice((2, 3, 4, 5, 6, 8, 9, 12))
        self.actions = draw.choice((4, 8, 12, 20))
        self.areas = draw.choice((AREAS, AREAS, AREAS, AREAS + "s", "mxdr", "cdngu", "do", "ds", "df", "dmpj"))
        self.program = draw.choice(PROGRAMS).stem
        self.machine = [*draw.choice(MACHINES), *draw.choice(SETTINGS),
                        "--set", f"nodes.ranks={draw.choice((1, 1, 2, 4))}"]
        schedule = ["--schedule", f"random:{draw.randrange(1, 10**6)}"]
        procs, placement = draw.choice(("2", "3", "4")), draw.choice(("block", "cyclic"))
        several = ["--procs", procs, "--placement", placement]
        on_processes = draw.choice((["--host", "process"], ["--host", "process", *schedule]))
        self.ways = [schedule, several, draw.choice((on_processes, [*several, *schedule], ["--host", "process", *several]))]
        if "s" in self.areas:  # ranks that share memory are in one process
            self.ways = [schedule, on_processes]
        self.abort = [str(draw.randrange(self.actions)), str(draw.randrange(self.ranks))] if draw.randrange(8) == 0 else []

    def has_contention(self):
        return any("flow" in word or "packet" in word or "loggops" in word or word in PRESETS for word in self.machine)

    def words(self):
        return [str(self.seed), str(self.actions), self.areas, *self.abort]


class Tests:
    def __init__(self, options):
        self.options = options
        self.orrery = os.path.abspath(options.orrery)
        self.folder = options.build_dir.resolve()
        harness.build_all(PROGRAMS, self.folder, watched_run.FLAGS)

    def call(self, folder, command, wanted=0, **options):
        done = harness.call(command, cwd=folder, **options)
        demand(done.status == wanted, f"exit status {done.status} instead of {wanted}: {shlex.join(map(str, command))}",
               done.stderr, done.stdout)
        return done

    def command(self, case, way, trace="t.orr"):
        """A run, to be pasted."""
        return [self.orrery, "run", "-n", str(case.ranks), "--compute", "none", *case.machine, *way, "--stats", "stats.csv",
                "--json", "run.json", "--trace", trace, str(self.folder / case.program), *case.words()]

    def simulate(self, case, way):
        with harness.fresh_folder() as name:
            folder = pathlib.Path(name)
            done = self.call(folder, self.command(case, way), wanted=ABORTED if case.abort else 0)
            left = [path.name for path in folder.iterdir() if path.name not in ("stats.csv", "run.json", "t.orr")
                    and not (case.abort and path.suffix == ".dat")]  # open files stay
            demand(not left, f"left behind: {left}")
            return {"output": done.stdout, "messages": harness.hide(done.stderr),
                    "statistics": (folder / "stats.csv").read_text(),
                    "summary": harness.read_summary((folder / "run.json").read_text()),
                    "trace": (folder / "t.orr").read_bytes()}

    def compare(self, case, first, way):
        again = self.simulate(case, way)
        harness.demand_same("", *((name, first[name], again[name]) for name in first if name != "trace"))
        if first["trace"] != again["trace"]:
            demand(False, "the trace differs", self.trace_difference(first["trace"], again["trace"]))

    def trace_difference(self, *traces):
        """The first record that differs, with its time in ticks."""
        with harness.fresh_folder() as name:
            texts = []
            for number, trace in enumerate(traces):
                path = pathlib.Path(name) / f"{number}.orr"
                path.write_bytes(trace)
                texts.append(self.call(name, [self.orrery, "trace", "print", "--exact", path]).stdout)
        return harness.difference("trace print --exact", *texts) or "in its definitions or its layout"

    def replay(self, case, first):
        with harness.fresh_folder() as name:
            path = pathlib.Path(name) / "t.orr"
            path.write_bytes(first["trace"])
            self.call(name, [self.orrery, "trace", "verify", path])
            self.call(name, [self.orrery, "replay", "-q", *case.machine, path, "-o", "new.orr", "--json", "replay.json"])
            texts = [self.call(name, [self.orrery, "trace", "print", "--exact", trace]).stdout for trace in (path, "new.orr")]
            timed = json.loads((pathlib.Path(name) / "replay.json").read_text())["timed"]
            demand(bool(timed) == ("MPI_File_open" in texts[0] or "MPI_Publish_name" in texts[0]), f"'timed' is {timed}")
            demand(texts[0] == texts[1] or (timed and case.has_contention()), "the replay differs",
                   harness.difference("trace print --exact", *texts) or "")

    def native(self, case, first):
        command = ["mpiexec.mpich", "-n", str(case.ranks), str(self.folder / case.program), *case.words()]
        with harness.fresh_folder() as name:
            done = harness.call_native(["sh", "-c", 'cd "$0" && exec "$@"', name, *command])
        if not done:
            return  # the real MPI has died of its own faults, which says nothing about Orrery
        demand(done.status == 0, f"natively: exit status {done.status}: {shlex.join(command)}", done.stderr)
        sums = [line for line in first["output"].splitlines(True) if not line.startswith("virtual:")]
        harness.demand_same("not the native sum", ("output", done.stdout, "".join(sums)))

    def steps(self, case, first, with_native):
        """Names, functions and arguments of what is demanded of a case."""
        for way in case.ways:
            yield f"same, {' '.join(way)}", self.command(case, way), self.compare, case, first, way
        if case.abort:
            return
        yield "replay", self.command(case, []), self.replay, case, first
        if with_native:
            yield "native", self.command(case, []), self.native, case, first

    def run(self, case, with_native):
        """The name of the seed and what is wrong with it, or None."""
        name = f"seed {case.seed}, {case.ranks} ranks, {' '.join(case.machine)}"
        plain = self.command(case, [])
        problem, first = None, {}
        problem = harness.attempt(lambda: first.update(self.simulate(case, [])))
        if problem:
            return name, f"{problem}\nrun it: {shlex.join(plain)}"
        for step, command, function, *arguments in self.steps(case, first, with_native):
            problem = harness.attempt(function, *arguments)
            if problem:
                return name, (f"{step}: {problem}\nrun it: {shlex.join(plain)}\n" +
                              (f"  and: {shlex.join(command)}\n" if command != plain else "") +
                              f"or all: python3 tests/run_random.py --seeds {case.seed}")
        return name, None


def parse(text):
    """"7", "3-9" or "1,4,8-12"."""
    ranges = [part.partition("-") for part in text.split(",")]
    return [seed for first, _, last in ranges for seed in range(int(first), int(last or first) + 1)]


def seeds(options):
    """Those that were asked for; with --seconds new ones until the time is over."""
    if options.seconds is None:
        yield from parse(options.seeds)
        return
    end, seed = time.monotonic() + options.seconds, int(options.start)
    while time.monotonic() < end:
        yield seed
        seed += 1


def main():
    parser = harness.options_parser(__doc__, "build/random-tests")
    parser.add_argument("--seeds", default="1-14,50160", help="which, as in 1,4,8-12")
    parser.add_argument("--seconds", type=float, help="instead: seeds from --start on, until this time has passed")
    parser.add_argument("--start", default=str(int(time.time())), help="the first seed with --seconds")
    parser.add_argument("--native", type=int, default=4, help="every N-th seed also natively; 0: none")
    options = parser.parse_args()
    tests = Tests(options)
    tap = harness.Tap()
    chosen = (Case(seed) for seed in seeds(options))
    run = functools.partial(run_one, tests, options)
    if options.seconds is None:
        tap.run(run, chosen, options.jobs)
    else: # results are shown as they come
        print(f"# seeds from {options.start} on", flush=True)
        while batch := [case for case, _ in zip(chosen, range(options.jobs))]:
            tap.run(run, batch, options.jobs)
    return tap.end()


def run_one(tests, options, case):
    with_native = options.native and case.seed % options.native == 0
    name, problem = tests.run(case, with_native)
    return [(name, problem)]


if __name__ == "__main__":
    harness.main(main)
