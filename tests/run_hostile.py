#!/usr/bin/env python3
"""Compares the hostile build (-Dhostile=true) with the usual one, and lets allocations fail, and prints TAP.

  same    programs of tests/mpi and random programs of tests/random: virtual time, output, statistics and the bytes of the
          trace are the same in both builds, with some seeds of the hostile build's schedule and yields, with several
          processes, and with ranks as processes
  fails   the K-th allocation fails, for one K after the other: the run ends with a message and a status of its own, or has
          done without that memory
"""

import os
import pathlib
import re
import shlex

import harness
import watched_run
from harness import demand

MPI = harness.TESTS / "mpi"
RANDOM = harness.TESTS / "random" / "random.c"
AREAS = "mxcdngurofjp"  # letters of tests/random/random.c
TWO, PROCESS = ["--procs", "2"], ["--host", "process"]
FLOW, PACKET = ["--set", "net.model=flow"], ["--set", "net.model=packet"]
TORUS = ["--set", "net.model=hops,net.topology.kind=torus,net.topology.dims=4x4x2"]
SEEDS = (["--schedule", "random:7"], ["--schedule", "fifo"])

# Programs of tests/mpi: ranks, the machine, and how the hostile build runs them.
PROGRAMS = (
    ("p2p_order", 5, [], [[], TWO]),
    ("p2p_probe", 4, [], [[]]),
    ("p2p_modes", 4, FLOW, [[], TWO]),
    ("fuzz_p2p 7 12", 5, [], [[], TWO, PROCESS, *SEEDS]),
    ("dec_gossip", 8, [], [[], TWO, *SEEDS]),
    ("dec_gossip_zero", 5, [], [[]]),
    ("coll_random", 7, [], [[], TWO]),
    ("comm_create", 16, [], [[], TWO]),
    ("icoll_misc", 5, [], [[]]),
    ("rma_random", 4, FLOW, [[]]),
    ("topo_dist_graph", 5, TORUS, [[]]),
    ("dyn_spawn", 2, [], [[]]),
)
# Random programs: the seed, ranks, the machine.
RANDOMS = ((1, 5, []), (2, 4, TORUS), (3, 6, FLOW), (4, 4, PACKET), (5, 9, []), (7, 3, ["--set", "mpi.eager_limit=0"]))
RANDOM_WAYS = ([], TWO, SEEDS[0])

CHECKED = 40  # allocations of the kind that may fail, at most; runs end before
ALL = (1, 2, 5, 20, 60, 150, 400, 900)  # of all allocations
REPORT = re.compile(r"^orrery: (internal )?error: .*(memory|allocate|cannot|reserve)", re.M)


class Tests:
    def __init__(self, options):
        self.options = options
        self.usual = os.path.abspath(options.orrery)
        self.hostile = os.path.abspath(options.hostile)
        self.folder = options.build_dir.resolve()
        sources = [RANDOM, *(MPI / (words.split()[0] + ".c") for words, *_ in PROGRAMS)]
        harness.build_all(sources, self.folder, watched_run.FLAGS)

    def command(self, orrery, ranks, machine, words, way=()):
        return [orrery, "run", "-n", str(ranks), "--compute", "none", *machine, *way, "--stats", "stats.csv", "--json",
                "run.json", "--trace", "t.orr", *map(str, words)]

    def simulate(self, command):
        with harness.fresh_folder() as name:
            folder = pathlib.Path(name)
            done = harness.call(command, cwd=folder)
            demand(done.status == 0, f"exit status {done.status}: {shlex.join(command)}", done.stderr, done.stdout)
            return {"output": done.stdout, "messages": harness.hide(done.stderr),
                    "statistics": (folder / "stats.csv").read_text(),
                    "summary": harness.read_summary((folder / "run.json").read_text()),
                    "trace": (folder / "t.orr").read_bytes()}

    def same(self, ranks, machine, words, ways):
        first = self.simulate(self.command(self.usual, ranks, machine, words))
        for way in ways:
            command = self.command(self.hostile, ranks, machine, words, way)
            again = self.simulate(command)
            problem = harness.attempt(harness.demand_same, "", *((key, first[key], again[key]) for key in first
                                                               if key != "trace"))
            demand(not problem, f"{problem}\nrun it: {shlex.join(command)}")
            demand(first["trace"] == again["trace"], f"the trace differs: {shlex.join(command)}")

    def ends_well(self, text, words, options):
        """A run in which that allocation fails. Returns whether it said so."""
        command = [self.hostile, "run", "-n", "3", "--compute", "none", "-q", *options, *map(str, words)]
        with harness.fresh_folder() as name:
            done = harness.call(command, cwd=name, env={**os.environ, "ORRERY_FAIL_ALLOCATION": text})
        what = f"ORRERY_FAIL_ALLOCATION={text} {shlex.join(command)}"
        demand(done.status in (0, 2, 3), f"exit status {done.status}: {what}", done.stderr)
        demand("Assertion" not in done.stderr, f"an assertion: {what}", done.stderr)
        demand(done.status == 0 or REPORT.search(done.stderr), f"no message: {what}", done.stderr)
        return done.status != 0

    def fails_checked(self, words, options):
        """Ends when several in a row have not failed: there are no more."""
        silent = failed = 0
        for k in range(1, CHECKED):
            is_failed = self.ends_well(str(k), words, options)
            failed += is_failed
            silent = 0 if is_failed else silent + 1
            if silent == 4:
                break
        demand(failed, "no allocation failed")

    def fails_any(self, words, options):
        for k in ALL:
            self.ends_well(f"all:{k}", words, options)

    def cases(self):
        for words, ranks, machine, ways in PROGRAMS:
            name, *more = words.split()
            yield (f"same {words}, {ranks} ranks {' '.join(machine)}", self.same, ranks, machine,
                   [self.folder / name, *more], ways)
        for seed, ranks, machine in RANDOMS:
            yield (f"same random {seed}, {ranks} ranks {' '.join(machine)}", self.same, ranks, machine,
                   [self.folder / "random", seed, 8, AREAS], RANDOM_WAYS)
        words = [self.folder / "fuzz_p2p", 7, 12]
        for options in ([], FLOW, ["--trace", "t.orr"]):
            yield f"fails, one that may {' '.join(options)}", self.fails_checked, words, options
        yield "fails, any", self.fails_any, words, []


def main():
    parser = harness.options_parser(__doc__, "build/hostile-tests")
    parser.add_argument("--hostile", default="build/hostile/orrery", help="the hostile build")
    options = parser.parse_args()
    tests = Tests(options)
    tap = harness.Tap()
    tap.run_chosen(tests.cases(), options)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
