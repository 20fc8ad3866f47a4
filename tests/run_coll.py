#!/usr/bin/env python3
"""Tests algorithms of collectives by name, under Orrery, and prints TAP.

  time     one call of an algorithm takes the time of its closed form, to the picosecond, on a network
           without contention: D(n) = latency + n / bandwidth for a message, sends do not delay each
           other
  data     the random programs of tests/mpi (blocking, non-blocking and persistent collectives) with one
           algorithm of every operation at a time, until all were used; on several processes,
           and with ranks as processes, the virtual time is the same
"""

import os
import pathlib
import re
from fractions import Fraction

import harness
from harness import TESTS, Failure, demand

LATENCY, BYTE = 100_000_000, 8_000  # ps
NET = "net.model=constant,net.latency=100us,net.bandwidth=1Gbps,mpi.eager_limit=1GiB"


def d(n):
    return LATENCY + n * BYTE


def depth(p):
    """Of the binomial tree of p ranks."""
    return max(bin(r).count("1") for r in range(p))


def digits(p):
    """Of the 4-nomial tree of p ranks."""
    return max(sum(1 for i in range(16) if r >> 2 * i & 3) for r in range(p))


def run_depth(p):
    """Of the tree of runs of reduce_binary.c."""
    if p <= 1:
        return 0
    return 1 + max(run_depth(p // 2), run_depth(p - 1 - p // 2))


def halves(n, p):
    """Messages of n/2, n/4, ... n/p."""
    k = p.bit_length() - 1
    return k * LATENCY + (n - n // p) * BYTE


N = 16_000   # bytes of a message: 1000 for each of 16 ranks
B = 500      # of a block
# operation, algorithm, ranks, ranks on a node, bytes, picoseconds
TIMES = [
    ("barrier", "dissemination", 16, 1, 0, 4 * LATENCY),
    ("barrier", "dissemination", 17, 1, 0, 5 * LATENCY),
    ("barrier", "linear", 17, 1, 0, 2 * LATENCY),
    ("barrier", "binomial", 16, 1, 0, 8 * LATENCY),
    ("barrier", "binomial", 6, 1, 0, 2 * depth(6) * LATENCY),
    ("barrier", "tournament", 16, 1, 0, 5 * LATENCY),
    ("barrier", "recursive_doubling", 16, 1, 0, 4 * LATENCY),
    ("barrier", "recursive_doubling", 31, 1, 0, 6 * LATENCY),
    ("barrier", "two_level", 16, 4, 0, 6 * LATENCY),
    ("bcast", "linear", 16, 1, N, d(N)),
    ("bcast", "binomial", 16, 1, N, 4 * d(N)),
    ("bcast", "binomial", 11, 1, N, depth(11) * d(N)),
    ("bcast", "binary", 16, 1, N, 4 * d(N)),
    ("bcast", "binary", 15, 1, N, 3 * d(N)),
    ("bcast", "knomial", 16, 1, N, 2 * d(N)),
    ("bcast", "knomial", 17, 1, N, digits(17) * d(N)),
    ("bcast", "chain", 16, 1, N, 15 * d(N)),
    ("bcast", "pipeline", 16, 1, N, 15 * d(8192)),
    ("bcast", "split_binary", 15, 1, N, 4 * d(N // 2)),
    ("bcast", "scatter_allgather", 16, 1, N, 2 * halves(N, 16)),
    ("bcast", "two_level", 16, 4, N, 4 * d(N)),
    ("gather", "linear", 16, 1, B, d(B)),
    ("gather", "binomial", 16, 1, B, halves(16 * B, 16)),
    ("scatter", "linear", 16, 1, B, d(B)),
    ("scatter", "binomial", 16, 1, B, halves(16 * B, 16)),
    ("allgather", "ring", 13, 1, B, 12 * d(B)),
    ("allgather", "recursive_doubling", 16, 1, B, halves(16 * B, 16)),
    ("allgather", "bruck", 16, 1, B, halves(16 * B, 16)),
    ("allgather", "neighbor_exchange", 14, 1, B, d(B) + 6 * d(2 * B)),
    ("allgather", "gather_bcast", 16, 1, B, halves(16 * B, 16) + 4 * d(16 * B)),
    ("allgather", "two_level", 16, 4, B, d(B) + 3 * d(4 * B) + 2 * d(16 * B)),
    ("alltoall", "spread", 16, 1, B, d(B)),
    ("alltoall", "pairwise", 16, 1, B, 15 * d(B)),
    ("alltoall", "bruck", 16, 1, B, 4 * d(8 * B)),
    ("alltoall", "ring", 11, 1, B, sum(d(k * B) for k in range(1, 11))),
    ("reduce", "linear", 16, 1, N, d(N)),
    ("reduce", "binomial", 16, 1, N, 4 * d(N)),
    ("reduce", "chain", 16, 1, N, 15 * d(N)),
    ("reduce", "pipeline", 16, 1, N, 15 * d(8192)),
    ("reduce", "binary", 16, 1, N, run_depth(16) * d(N)),
    ("reduce", "in_order_binary", 16, 1, N, (run_depth(16) + 1) * d(N)),
    ("reduce", "rabenseifner", 16, 1, N, 2 * halves(N, 16)),
    ("reduce", "two_level", 16, 4, N, 2 * d(N) + 2 * halves(N, 4)),
    ("reduce", "two_level", 16, 4, B, 4 * d(B)),
    ("allreduce", "recursive_doubling", 16, 1, N, 4 * d(N)),
    ("allreduce", "recursive_doubling", 31, 1, N, 6 * d(N)),
    ("allreduce", "rabenseifner", 16, 1, N, 2 * halves(N, 16)),
    ("allreduce", "ring", 16, 1, N, 30 * d(N // 16)),
    ("allreduce", "linear", 16, 1, N, 2 * d(N)),
    ("allreduce", "reduce_bcast", 16, 1, N, 8 * d(N)),
    ("allreduce", "two_level", 16, 4, N, 4 * d(N) + 2 * halves(N, 4)),
    ("allreduce", "two_level", 16, 4, 8, 6 * d(8)),
    ("reduce_scatter_block", "pairwise", 16, 1, B, 15 * d(B)),
    ("reduce_scatter_block", "ring", 16, 1, B, 15 * d(B)),
    ("reduce_scatter_block", "recursive_halving", 16, 1, B, halves(16 * B, 16)),
    ("reduce_scatter_block", "ordered_halving", 16, 1, B, halves(16 * B, 16)),
    ("reduce_scatter_block", "recursive_doubling", 16, 1, B, 4 * d(16 * B)),
    ("reduce_scatter_block", "reduce_scatter", 16, 1, B, 4 * d(16 * B) + halves(16 * B, 16)),
    ("scan", "linear", 16, 1, N, 15 * d(N)),
    ("scan", "recursive_doubling", 16, 1, N, 4 * d(N)),
    ("scan", "two_level", 16, 4, N, 3 * d(N) + 2 * d(N) + 2 * d(N)),
    ("exscan", "linear", 16, 1, N, 15 * d(N)),
    ("exscan", "recursive_doubling", 16, 1, N, 4 * d(N)),
]


def simulate(orrery, options, program, *args):
    """Runs a program; returns its output and virtual time in picoseconds."""
    with harness.fresh_folder() as folder:
        summary = pathlib.Path(folder) / "run.json"
        command = [orrery, "run", "-q", "--compute", "none", "--json", summary, *options, program, *args]
        done = harness.call(command)
        demand(done.status == 0, f"{' '.join(map(str, command))}: status {done.status}", done.stderr)
        text = summary.read_text()
    seconds = re.search(r'"virtual_time_s": *([-+.0-9eE]+)', text).group(1)
    return done.stdout, Fraction(seconds) * 10**12


def check_time(orrery, program, case):
    operation, algorithm, ranks, node, size, wanted = case
    settings = f"{NET},nodes.ranks={node},mpi.{operation}={algorithm}"
    _, got = simulate(orrery, ["-n", str(ranks), "--set", settings], program, operation, size)
    _, before = simulate(orrery, ["-n", str(ranks), "--set", settings], program, "none", size)
    if got - before != wanted:
        raise Failure(f"{float(got - before)} ps instead of {wanted}")


def algorithms(orrery):
    """Those of each operation, as 'orrery help collectives' lists them."""
    text = harness.call([orrery, "help", "collectives"]).stdout
    found = {}
    for line in re.sub(r",\n +", ", ", text).splitlines():
        match = re.match(r"  mpi\.(\w+) +(.*)", line)
        if match:
            found[match.group(1)] = re.sub(r" \[[0-9,]+\]", "", match.group(2)).split(", ")
    return found


def settings_of_turns(orrery):
    """Settings that together choose every algorithm, selector and the model."""
    found = algorithms(orrery)
    for turn in range(max(map(len, found.values()))):
        yield ",".join(f"mpi.{op}={names[turn % len(names)]}" for op, names in found.items())
    yield "mpi.collectives=openmpi"
    yield "mpi.collectives=model"
    yield "mpi.collectives=model,mpi.collective_factor=0"


def check_data(orrery, program, settings, ranks):
    options = ["-n", str(ranks), "--set", f"nodes.ranks=3,{settings}"]
    first = simulate(orrery, options, program)
    if first != simulate(orrery, [*options, "--schedule", "random:5"], program):
        raise Failure("differs with another schedule")
    if ranks == 7 and first != simulate(orrery, [*options, "--procs", "2"], program):
        raise Failure("differs on two processes")
    if ranks == 7 and first != simulate(orrery, [*options, "--host", "process"], program):
        raise Failure("differs with ranks as processes")


def compile_all(target):
    """The programs, by name."""
    sources = [TESTS / "coll/coll_once.c",
               *(TESTS / "mpi" / f"{name}_random.c" for name in ("coll", "icoll", "pcoll"))]
    harness.build_all(sources, target, ["-O1", "-w"])
    return {source.stem: target / source.stem for source in sources}


def cases(orrery, programs):
    for case in TIMES:
        yield (f"time of {case[0]} {case[1]}, {case[2]} ranks", check_time, orrery,
               programs["coll_once"], case)
    for turn, settings in enumerate(settings_of_turns(orrery)):
        for name in ("coll_random", "icoll_random", "pcoll_random"):
            for ranks in (7, 16) if name != "coll_random" else (7, 12, 64):
                yield (f"{name}, {ranks} ranks, turn {turn}", check_data, orrery, programs[name],
                       settings, ranks)


def main():
    args = harness.options_parser(__doc__, "build/coll-tests", os.cpu_count()).parse_args()
    orrery = str(pathlib.Path(args.orrery).resolve())
    tap = harness.Tap()
    tap.run_chosen(cases(orrery, compile_all(args.build_dir.resolve())), args)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
