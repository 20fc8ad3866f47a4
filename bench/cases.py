"""cases.py - what is measured: one function per case, each returns rows of the table.

A row has a figure by wall time and, where time matters, the same by processor time. Targets are
judged by both; a row that reaches its target by only one of them says so.
"""

import os
import shlex
import shutil
import statistics
import subprocess

import measure
from measure import Failed

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 2**20
K64, M1, M27 = 65536, 1048576, 27000000


class Row:
    """One line of the table. better: 'more' or 'less'; target None: for information only; bound:
    the figure is a lower bound, so that it can reach the target but not miss it."""

    def __init__(self, name, unit, wall, cpu=None, target=None, better="more", command="", note="",
                 bound=False):
        self.name, self.unit, self.wall, self.cpu = name, unit, wall, cpu
        self.target, self.better, self.command, self.note = target, better, command, note
        self.bound = bound

    def ratio(self, value):
        """How many times better than the target; 1 and above is good."""
        return value / self.target if self.better == "more" else self.target / max(value, 1e-9)

    def verdict(self):
        """Whether the target is met, and by which clock where the two disagree."""
        if self.wall is None:
            return "no result"
        if self.target is None:
            return ""
        by_wall = self.ratio(self.wall) >= 1
        by_cpu = by_wall if self.cpu is None else self.ratio(self.cpu) >= 1
        if self.bound and not (by_wall and by_cpu):
            return "not known"
        if by_wall == by_cpu:
            return "ok" if by_wall else "below"
        return "ok by wall time only" if by_wall else "ok by CPU time only"


class Bench:
    """What the cases need: the simulator, where to build, how often to repeat."""

    def __init__(self, orrery, build, repeat, quick, timeout):
        self.orrery, self.build, self.repeat = orrery, build, repeat
        self.quick, self.timeout = quick, timeout
        os.makedirs(build, exist_ok=True)

    def compile(self, name, compiler="mpicc.mpich", suffix=""):
        """Builds a program of this folder; gcc finds fault with MPI_STATUSES_IGNORE in mpi.h."""
        binary = os.path.join(self.build, name + suffix)
        source = os.path.join(HERE, name + ".c")
        command = [compiler, "-O2", "-Wno-stringop-overflow", "-o", binary, source]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise Failed(f"cannot run '{compiler}': {error.strerror}") from error
        if done.returncode != 0:
            raise Failed(f"cannot compile '{source}': {done.stderr.strip()}")
        return binary

    def simulate(self, ranks, program, *arguments, options=(), repeat=None):
        """Runs a program in the simulator. Returns its cost and the command, to be shown."""
        binary = self.compile(program)
        summary = os.path.join(self.build, "summary.json")
        options = ["-n", str(ranks), "--compute", "none", *([] if options else measure.MACHINE), *options]
        arguments = [str(a) for a in arguments]
        command = [self.orrery, "run", "-q", "--json", summary, *options, binary, *arguments]
        cost = measure.run_best(command, repeat or self.repeat, self.timeout, summary)
        return cost, " ".join(["orrery run", *options, program, *arguments])


# ---- ranks ----

def hello(bench, ranks=M1, seconds=3, megabytes=500):
    """Start and end of many ranks."""
    cost, command = bench.simulate(ranks, "hello")
    label = f"hello, {ranks:,} ranks"
    return [Row(label + ": time", "s", cost.wall, cost.cpu, seconds, "less", command),
            Row(label + ": peak memory", "MB", cost.peak_bytes / 1e6, None, megabytes, "less",
                command)]


def blocked(bench):
    """Memory of a rank that waits in a barrier."""
    small, _ = bench.simulate(K64, "barrier", repeat=1)
    large, command = bench.simulate(M1, "barrier", repeat=1)
    per_rank = (large.peak_bytes - small.peak_bytes) / (M1 - K64)
    messages = large.summary["messages"]
    return [Row("blocked rank: memory", "B", per_rank, None, 500, "less",
                command + f" (and with {K64})"),
            Row(f"barrier, {M1:,} ranks", "M messages/s", messages / large.wall / 1e6,
                messages / large.cpu / 1e6, None, "more", command)]


# ---- messages ----

def rate(bench, label, target, messages, ranks, program, *arguments, options=()):
    """Messages per second of a whole run, start included. messages: how many it must have."""
    cost, command = bench.simulate(ranks, program, *arguments, options=options)
    if cost.summary["messages"] != messages:
        raise Failed(f"'{command}' counted {cost.summary['messages']:,} messages, not {messages:,}")
    return [Row(label, "M messages/s", messages / cost.wall / 1e6, messages / cost.cpu / 1e6,
                target, "more", command)]


def ring_64k(bench):
    """Every rank sends 8 bytes in each round."""
    rounds = 50 if bench.quick else 200
    return rate(bench, f"ring, {K64:,} ranks", 8, rounds * K64, K64, "ring", rounds)


def ring_1m(bench):
    """The same with a million ranks; their start is included."""
    rounds = 5 if bench.quick else 20
    return rate(bench, f"ring, {M1:,} ranks", 5, rounds * M1, M1, "ring", rounds)


def ring_random(bench):
    """Ready ranks run in random order: neither cache nor run-ahead helps."""
    rounds = 25 if bench.quick else 100
    return rate(bench, f"ring, {K64:,} ranks, random order", None, rounds * K64, K64, "ring",
                rounds, options=("--schedule", "random:1"))


def ring_both(bench):
    """Both directions: each round blocks."""
    rows = []
    for ranks, rounds in ((K64, 25 if bench.quick else 100), (M1, 2 if bench.quick else 5)):
        rows += rate(bench, f"ring both ways, {ranks:,} ranks", None, 2 * rounds * ranks, ranks,
                     "ring", rounds, "both")
    return rows


def pingpong(bench):
    """Two ranks that wait for each other: a match and a switch per message."""
    rounds = 200000 if bench.quick else 2000000
    return rate(bench, "ping-pong, 2 ranks", None, 2 * rounds, 2, "pingpong", rounds)


def processes(bench):
    """The same with each rank a process: a switch of the system's per message."""
    rounds = 20000 if bench.quick else 200000
    cost, command = bench.simulate(2, "pingpong", rounds, options=("--host", "process"))
    per_message = 1e6 / (2 * rounds)
    return [Row("ping-pong, 2 ranks as processes: time per message", "us",
                cost.wall * per_message, cost.cpu * per_message, 4, "less", command)]


def threads(bench):
    """Threads of a rank that take turns, in the simulator and natively, in turn."""
    binary, rounds, pairs = bench.compile("threads"), "50000", 3 if bench.quick else 9
    inside = [bench.orrery, "run", "-q", "-n", "2", binary, rounds]
    native = ["mpiexec.mpich", "-n", "2", binary, rounds]
    costs = [[measure.run_once(command, bench.timeout) for command in (inside, native)] for _ in range(pairs)]
    ours, theirs = ([statistics.median(figures) for figures in zip(*((c.wall, c.cpu) for c in column))]
                    for column in zip(*costs))
    label, command = "2 ranks of 4 threads, MPI_Put, MPI_Win_flush", f"orrery run -n 2 threads {rounds}"
    return [Row(f"{label}: time of each", "us", *(1e6 * s / (8 * int(rounds)) for s in ours), None, "less", command),
            Row(f"{label}: times that of native", "times", *(a / b for a, b in zip(ours, theirs)), 3, "less",
                command, f"medians of {pairs} runs in turn")]


def hybrid(bench):
    """Calls of real processes that the simulator keeps up with: each sends and receives a message."""
    count = 100000 if bench.quick else 500000
    binary, summary = bench.compile("stream"), os.path.join(bench.build, "summary.json")
    command = [bench.orrery, "hybrid", "-q", "--json", summary, "-n", "2", "--compute", "none", binary, str(count), "8"]
    cost = measure.run_best(command, bench.repeat, bench.timeout, summary)
    if cost.summary["messages"] != 2 * count:
        raise Failed(f"'orrery hybrid' counted {cost.summary['messages']:,} messages, not {2 * count:,}")
    wall = cost.summary["wall_s"] - cost.summary["startup_s"]
    return [Row("hybrid, 2 processes: calls simulated", "M calls/s", 2 * count / wall / 1e6, None, 0.5, "more",
                f"orrery hybrid -n 2 --compute none stream {count} 8")]


def families(bench):
    """8 bytes by calls other than send and receive, and how many compared with those."""
    rounds, ranks, rows, first = 1000 if bench.quick else 10000, 64, [], None
    for what, label in (("p2p", "send and receive"), ("icoll", "MPI_Iallreduce, MPI_Wait"),
                        ("put", "MPI_Put, MPI_Win_flush"), ("file", "MPI_File_write_at")):
        cost, command = bench.simulate(ranks, "families", what, rounds)
        speed = [ranks * rounds / seconds / 1e6 for seconds in (cost.wall, cost.cpu)]
        first = first or speed
        rows.append(Row(f"{label}, {ranks} ranks", "M times/s", *speed, command=command))
        if speed is not first:
            rows.append(Row(f"{label}: of send and receive", "%",
                            *(100 * a / b for a, b in zip(speed, first)), command=command))
    return rows


def alltoall(bench):
    """1,024 receives posted, 1,024 messages to match, on each rank."""
    rounds = 1 if bench.quick else 3
    return rate(bench, "all to all, 1,024 ranks", None, rounds * 1024 * 1024, 1024, "alltoall",
                rounds)


# ---- native speed ----

def compute(bench):
    """Computation in the simulator and natively, in turn."""
    binary = bench.compile("compute")
    rounds, pairs = ("200", 3) if bench.quick else ("1000", 11)
    inside = [bench.orrery, "run", "-q", "-n", "1", binary, rounds]

    def seconds(command):
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              timeout=bench.timeout)
        if done.returncode != 0:
            raise Failed(f"'{shlex.join(command)}' failed: {done.stderr.strip()}")
        return float(done.stdout)

    ratios = []
    for i in range(pairs):
        first, second = (inside, [binary, rounds]) if i % 2 else ([binary, rounds], inside)
        one, two = seconds(first), seconds(second)
        ratios.append(one / two if i % 2 else two / one)
    excess = 100 * (statistics.median(ratios) - 1)
    return [Row("computation, 1 rank: longer than native by", "%", excess, None, 2, "less",
                f"orrery run -n 1 compute {rounds}", f"median of {pairs} alternating pairs")]


# ---- compared with SimGrid's SMPI ----

PLATFORM_HEAD = ('<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM '
                 '"https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n')

SMPI_COMMON = ["--cfg=smpi/simulate-computation:no", "--log=root.thresh:critical"]
# The program has no global data to keep apart, needs little stack, and no contention is requested;
# eager messages and binomial trees were the fastest of those tried.
SMPI_FASTEST = ["-no-privatize", "--cfg=contexts/factory:raw", "--cfg=contexts/stack-size:64",
                "--cfg=network/model:Constant", "--cfg=network/latency-factor:50e-6",
                "--cfg=smpi/async-small-thresh:65536", "--cfg=smpi/allreduce:redbcast",
                "--cfg=smpi/reduce:binomial", "--cfg=smpi/bcast:binomial_tree"]


def write_platforms(bench, hosts):
    """The machine for SMPI: a switch (25 us to it and from it), and hosts without links, which is
    what its constant network model needs."""
    paths = {name: os.path.join(bench.build, name) for name in
             ("cluster.xml", "constant.xml", "hosts.txt")}
    with open(paths["cluster.xml"], "w", encoding="ascii") as file:
        file.write(f'{PLATFORM_HEAD}  <cluster id="c" prefix="n" suffix="" radical="0-{hosts - 1}" '
                   'speed="1Gf" bw="1Gbps" lat="25us"/>\n</platform>\n')
    with open(paths["constant.xml"], "w", encoding="ascii") as file:
        file.write(f'{PLATFORM_HEAD}  <zone id="z" routing="None">\n')
        file.writelines(f'    <host id="n{i}" speed="1Gf"/>\n' for i in range(hosts))
        file.write("  </zone>\n</platform>\n")
    with open(paths["hosts.txt"], "w", encoding="ascii") as file:
        file.writelines(f"n{i}\n" for i in range(hosts))
    return paths


def smpi_rows(bench, label, platform, options, ranks, iterations, orrery):
    """Two rows for SMPI with some settings: its start, and how many times longer it takes."""
    binary = bench.compile("halo2d", "smpicc", ".smpi")
    hosts = os.path.join(bench.build, "hosts.txt")
    options = [*SMPI_COMMON, *options]
    base = ["smpirun", "-np", str(ranks), "-platform", platform, "-hostfile", hosts, *options]
    shown = " ".join(["smpirun -np", str(ranks), "-platform", os.path.basename(platform), *options,
                      "halo2d"])
    start = measure.run_best([*base, binary, "0"], 1, bench.timeout)
    rows = [Row(f"SMPI, {label}: start alone", "s", start.wall, start.cpu, None, "less",
                f"{shown} 0")]
    shown = f"{shown} {iterations}"
    try:
        whole = measure.run_best([*base, binary, str(iterations)], 1, bench.timeout)
    except measure.TooSlow as error:
        return rows + [Row(f"SMPI, {label}", "s", None, None, None, "less", shown, str(error)),
                       Row(f"faster than SMPI, {label}: at least", "times",
                           bench.timeout / orrery.wall, error.cpu / orrery.cpu, 100, "more",
                           shown, bound=True)]
    return rows + [Row(f"SMPI, {label}", "s", whole.wall, whole.cpu, None, "less", shown),
                   Row(f"faster than SMPI, {label}", "times", whole.wall / orrery.wall,
                       whole.cpu / orrery.cpu, 100, "more", shown)]


def halo(bench):
    """Halo exchange and allreduce, in Orrery and in SMPI."""
    ranks, iterations = (576, 10) if bench.quick else (4096, 10)
    start, _ = bench.simulate(ranks, "halo2d", 0)
    whole, command = bench.simulate(ranks, "halo2d", iterations)
    label = f"2D halo + allreduce, {ranks:,} ranks x {iterations}"
    rows = [Row(f"{label}: start alone", "s", start.wall, start.cpu, None, "less",
                command.rsplit(" ", 1)[0] + " 0"),
            Row(label, "s", whole.wall, whole.cpu, None, "less", command)]
    if not shutil.which("smpicc") or not shutil.which("smpirun"):
        return rows + [Row("SMPI", "s", None, None, None, "less", "smpirun",
                           "not installed (Debian: libsimgrid-dev)")]
    paths = write_platforms(bench, ranks)
    return (rows
            + smpi_rows(bench, "its defaults", paths["cluster.xml"], [], ranks, iterations, whole)
            + smpi_rows(bench, "fastest settings", paths["constant.xml"], SMPI_FASTEST, ranks,
                        iterations, whole))


# ---- several processes ----

def sharing(bench, label, target, ranks, program, *arguments):
    """How far two processes speed up one simulation, compared with two simulations side by side.

    Two one-process runs started together take as long as the machine needs for twice the work; a run
    that shares its work between two processes should take half of that."""
    binary = bench.compile(program)
    options = ["-n", str(ranks), "--compute", "none", *measure.MACHINE]
    arguments = [str(a) for a in arguments]
    single = [bench.orrery, "run", "-q", *options, binary, *arguments]
    shared = [bench.orrery, "run", "-q", "--procs", "2", *options, binary, *arguments]
    percent, used = [], []
    for _ in range(bench.repeat + 2):
        pair = measure.run_together(single, 2, bench.timeout)
        cost = measure.run_once(shared, bench.timeout)
        percent.append(100 * pair.wall / (2 * cost.wall))
        used.append(100 * pair.cpu / (2 * cost.cpu))
    return [Row(f"{label}, 2 processes: of two runs side by side", "%", statistics.median(percent),
                statistics.median(used), target, "more",
                " ".join(["orrery run --procs 2", *options, program, *arguments]),
                f"median of {bench.repeat + 2}, start included")]


def procs_ring(bench):
    """Few messages between processes, and no common step."""
    return sharing(bench, f"ring, {K64:,} ranks", 80, K64, "ring", 100 if bench.quick else 1000)


def procs_halo(bench):
    """Neighbours and an allreduce in each iteration."""
    return sharing(bench, f"2D halo + allreduce, {K64:,} ranks", 80, K64, "halo2d",
                   2 if bench.quick else 10)


def procs_pi(bench):
    """Computation."""
    return sharing(bench, "pi, 64 ranks", 95, 64, "pi", 10**9 if bench.quick else 10**10)


def procs_farm(bench):
    """Decisions: answers from any source, in one process and in several."""
    workers, tasks = 1024, 50000 if bench.quick else 400000
    one, command = bench.simulate(workers + 1, "farm", tasks)
    label = f"master and {workers:,} workers"
    rows = [Row(label, "M messages/s", one.summary["messages"] / one.wall / 1e6,
                one.summary["messages"] / one.cpu / 1e6, None, "more", command)]
    for procs, target in ((2, 3), (4, None)):
        many, command = bench.simulate(workers + 1, "farm", tasks, options=("--procs", str(procs)))
        rows.append(Row(f"{label}, {procs} processes: longer than in one", "times",
                        many.wall / one.wall, None, target, "less", command))
    return rows


def waiting(bench):
    """Four processes of which three wait: what they use, start not counted."""
    binary = bench.compile("pi")
    intervals = str(10**9 if bench.quick else 10**10)

    def cpu_and_wall(procs, count):
        cost = measure.run_once([bench.orrery, "run", "-q", "--procs", procs, "-n", "4", "--compute",
                                 "none", binary, count, "alone"], bench.timeout)
        return cost.cpu, cost.wall

    one, (four, wall), start = cpu_and_wall("1", intervals)[0], cpu_and_wall("4", intervals), \
        cpu_and_wall("4", "1")[0]
    return [Row("a waiting process: share of a core", "%", 100 * (four - one - start) / (3 * wall),
                None, 5, "less", f"orrery run --procs 4 -n 4 --compute none pi {intervals} alone",
                "three of four wait for the fourth")]


# ---- 27 million ranks ----

def need_memory(bench, program, ranks):
    """Raises Failed unless a run with that many ranks fits, judging by a million."""
    cost, _ = bench.simulate(M1, program, repeat=1)
    need, free = cost.peak_bytes / M1 * ranks, measure.memory_available()
    if need > 0.95 * free:
        raise Failed(f"refused: {ranks:,} ranks of '{program}' need about {need / 1e9:.1f} GB, "
                     f"and {free / 1e9:.1f} GB are available")


def hello_27m(bench):
    """Start and end of 27 million ranks."""
    need_memory(bench, "hello", M27)
    cost, command = bench.simulate(M27, "hello", repeat=1)
    return [Row(f"hello, {M27:,} ranks: time", "s", cost.wall, cost.cpu, None, "less", command),
            Row(f"hello, {M27:,} ranks: peak memory", "GB", cost.peak_bytes / 1e9, None, None,
                "less", command)]


def barrier_27m(bench):
    """A barrier of 27 million ranks: about 675 million messages."""
    need_memory(bench, "barrier", M27)
    cost, command = bench.simulate(M27, "barrier", repeat=1)
    return [Row(f"barrier, {M27:,} ranks: time", "s", cost.wall, cost.cpu, 300, "less", command),
            Row(f"barrier, {M27:,} ranks: peak memory", "GB", cost.peak_bytes / 1e9, None, 12,
                "less", command)]


def hello_27m_procs(bench):
    """The same, shared by two processes."""
    need_memory(bench, "hello", M27)
    cost, command = bench.simulate(M27, "hello", options=("--procs", "2"), repeat=1)
    return [Row(f"hello, {M27:,} ranks, 2 processes: time", "s", cost.wall, cost.cpu, None, "less",
                command),
            Row(f"hello, {M27:,} ranks, 2 processes: peak memory of both", "GB",
                cost.summary["peak_rss_bytes"] / 1e9, None, None, "less", command)]


CASES = {"hello": hello, "ring-64k": ring_64k, "ring-1m": ring_1m, "ring-random": ring_random,
         "ring-both": ring_both, "blocked": blocked, "compute": compute, "pingpong": pingpong,
         "processes": processes, "threads": threads, "hybrid": hybrid, "families": families, "alltoall": alltoall, "halo": halo,
         "procs-ring": procs_ring, "procs-halo": procs_halo, "procs-pi": procs_pi, "procs-farm": procs_farm, "procs-wait": waiting}
LARGE_CASES = {"hello-27m": hello_27m, "hello-27m-procs": hello_27m_procs,
               "barrier-27m": barrier_27m}
