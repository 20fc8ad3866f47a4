"""traces.py - the cost of recording and reading traces, compared with SMPI's tracing."""

import glob
import os
import re
import shutil
import statistics
import subprocess

import measure
from cases import K64, Row, write_platforms
from measure import Failed
from networks import has_smpi


def rates(bench):
    """Records per second of one core, by a program that does nothing else."""
    program = os.path.join(os.path.dirname(bench.orrery), "bench", "trace_rates")
    part, whole = (os.path.join(bench.build, name) for name in ("rates.part", "rates.orr"))
    if not os.path.exists(program):
        raise Failed(f"'{program}' is missing: make bench builds it")
    best = {}
    for _ in range(bench.repeat):
        done = subprocess.run([program, "5000", part, whole], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise Failed(done.stderr.strip())
        for word, rate, _ in map(str.split, done.stdout.splitlines()):
            best[word] = max(best.get(word, 0), float(rate))
    return [Row("recording to memory, 1 core", "M records/s", best["memory"] / 1e6, None, 20, "more",
                "trace_rates 5000"),
            Row("reading, 1 core", "M records/s", best["read"] / 1e6, None, 30, "more",
                "trace_rates 5000")]


def records_of(bench, trace):
    """The number of records, as `orrery trace info` counts them."""
    text = subprocess.run([bench.orrery, "trace", "info", trace], capture_output=True, text=True,
                          check=True).stdout
    return int(re.search(r"^records\s+([\d,]+)", text, re.M).group(1).replace(",", ""))


def size(bench):
    """Bytes of a record when computing is measured, so that times are as random as they get."""
    trace = os.path.join(bench.build, "measured.orr")
    binary = bench.compile("halo2d")
    measure.run_once([bench.orrery, "run", "-q", "-n", "256", "--compute", "measured", "--trace", trace,
                      binary, "100"], bench.timeout)
    return [Row("a record in a file, computing measured", "B",
                os.path.getsize(trace) / records_of(bench, trace), None, 8, "less",
                "orrery run -n 256 --compute measured --trace FILE halo2d 100")]


def overhead(bench):
    """Processor time of a halo exchange with and without --trace, in turn."""
    ranks = 4096 if bench.quick else K64
    binary, trace = bench.compile("halo2d"), os.path.join(bench.build, "halo.orr")
    plain = [bench.orrery, "run", "-q", "-n", str(ranks), "--compute", "none", *measure.MACHINE, binary, "10"]
    traced = plain[:3] + ["--trace", trace] + plain[3:]
    ratios = []
    for _ in range(bench.repeat):
        without = measure.run_once(plain, bench.timeout)
        ratios.append(measure.run_once(traced, bench.timeout).cpu / without.cpu)
    return [Row(f"2D halo, {ranks:,} ranks, with --trace: more processor time", "%",
                100 * (statistics.median(ratios) - 1), None, 35, "less",
                f"orrery run -n {ranks} --compute none --trace FILE halo2d 10")]


def smpi(bench):
    """The same program in SMPI with its Paje tracing: what that costs it, and bytes per event."""
    name = "SMPI with -trace"
    if not has_smpi():
        return [Row(name, "%", None, None, None, "less", "smpirun", "not installed (Debian: libsimgrid-dev)")]
    ranks, binary = 256, bench.compile("halo2d", "smpicc", ".smpi")
    paths, trace = write_platforms(bench, ranks), os.path.join(bench.build, "smpi.trace")
    plain = ["smpirun", "-np", str(ranks), "-platform", paths["cluster.xml"], "-hostfile",
             paths["hosts.txt"], "--cfg=smpi/simulate-computation:no", "--log=root.thresh:critical"]
    without = measure.run_best([*plain, binary, "10"], bench.repeat, bench.timeout)
    traced = measure.run_best([*plain, "-trace", "-trace-file", trace, binary, "10"], bench.repeat,
                              bench.timeout)
    events = sum(re.match(rb"\d", line) is not None for line in open(trace, "rb"))
    return [Row(f"{name}, {ranks} ranks: more processor time", "%",
                100 * (traced.cpu / without.cpu - 1), None, None, "less",
                f"smpirun -np {ranks} -trace -trace-file FILE halo2d 10"),
            Row(f"{name}: an event in a file", "B", os.path.getsize(trace) / max(events, 1), None, None,
                "less", f"smpirun -np {ranks} -trace -trace-file FILE halo2d 10")]


def otf2(bench):
    """The trace of the halo as an OTF2 archive: how fast it is written, and its bytes."""
    trace = os.path.join(bench.build, "measured.orr")
    folder = os.path.join(bench.build, "otf2")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    cost = measure.run_once([bench.orrery, "trace", "convert", trace,
                             os.path.join(folder, "traces.otf2")], bench.timeout)
    records = records_of(bench, trace)
    total = sum(os.path.getsize(path) for path in glob.glob(folder + "/**", recursive=True)
                if os.path.isfile(path))
    command = "orrery trace convert FILE.orr FILE.otf2"
    return [Row("OTF2: writing", "M records/s", records / cost.wall / 1e6, records / cost.cpu / 1e6, None,
                "more", command),
            Row("OTF2: a record", "B", total / records, None, None, "less", command)]


def analysis(bench):
    """Everything that `orrery analyze` finds: time for many records, and memory for many ranks."""
    binary, many = bench.compile("halo2d"), os.path.join(bench.build, "many.orr")
    steps = 50 if bench.quick else 1000
    measure.run_once([bench.orrery, "run", "-q", "-n", "1024", "--compute", "none", *measure.MACHINE, "--trace", many, binary,
                      str(steps)], bench.timeout)
    costs = [measure.run_once([bench.orrery, "analyze", many], bench.timeout) for _ in range(bench.repeat)]
    scale = 100e6 / records_of(bench, many)
    wide = os.path.join(bench.build, "halo.orr") # of the case before
    wide_costs = [measure.run_once([bench.orrery, "analyze", wide], bench.timeout) for _ in range(bench.repeat)]
    wide_scale = 100e6 / records_of(bench, wide)
    peak = max(c.peak_bytes for c in wide_costs)
    return [Row("analysis of 100 M records of 1,024 ranks", "s", scale * min(c.wall for c in costs),
                scale * min(c.cpu for c in costs), 60, "less",
                f"orrery run -n 1024 --trace FILE halo2d {steps}; orrery analyze FILE"),
            Row("analysis of 100 M records of the halo's trace", "s", wide_scale * min(c.wall for c in wide_costs),
                wide_scale * min(c.cpu for c in wide_costs), 60, "less", "orrery analyze FILE"),
            Row("analysis of the halo's trace: memory", "MiB", peak / 2**20, None, 2048, "less",
                "orrery analyze FILE")]


def traces(bench):
    return [row for case in (rates, size, overhead, analysis, smpi, otf2) for row in case(bench)]


# As the abstract says: "more than 1 million events per second on a single processor".
LOGGOPSIM = Row("LogGOPSim, published, not measured here: more than", "M events/s", 1, None, None, "more",
                "Hoefler, Schneider, Lumsdaine: LogGOPSim, HPDC 2010: more than this, on a processor of its time")


def replay_many(bench):
    """Many ranks: the trace of the halo, replayed; and how that compares with simulating the program itself, which the
    replay cannot be faster than."""
    ranks, binary = 4096 if bench.quick else K64, bench.compile("halo2d")
    trace, new = (os.path.join(bench.build, name) for name in ("wide.orr", "new.orr"))
    measure.run_once([bench.orrery, "run", "-q", "-n", str(ranks), "--compute", "none", *measure.MACHINE, "--trace", trace, binary,
                      "10"], bench.timeout)
    records = records_of(bench, trace)
    cost = measure.run_best([bench.orrery, "replay", "-q", trace, "-o", new], 1, bench.timeout)
    plain = measure.run_best([bench.orrery, "run", "-q", "-n", str(ranks), "--compute", "none", *measure.MACHINE, binary, "10"], 1,
                             bench.timeout)
    return [Row(f"replay, {ranks:,} ranks", "M records/s", records / cost.wall / 1e6, records / cost.cpu / 1e6, None,
                "more", "orrery replay FILE"),
            Row(f"replay, {ranks:,} ranks: times as long as simulating the program", "times", cost.wall / plain.wall,
                cost.cpu / plain.cpu, None, "less", f"orrery run -n {ranks} --compute none halo2d 10"),
            Row(f"replay, {ranks:,} ranks: memory", "MiB", cost.peak_bytes / 2**20, None, None, "less",
                "orrery replay FILE")]


def replay(bench):
    """A trace replayed, by `orrery replay` and by SMPI's replay of the same one."""
    ranks, binary = 256, bench.compile("halo2d")
    trace, new, text = (os.path.join(bench.build, name) for name in ("replay.orr", "new.orr", "replay.ti"))
    measure.run_once([bench.orrery, "run", "-q", "-n", str(ranks), "--compute", "none", *measure.MACHINE, "--trace", trace, binary,
                      "20" if bench.quick else "500"], bench.timeout)
    records = records_of(bench, trace)
    cost = measure.run_best([bench.orrery, "replay", "-q", trace, "-o", new], bench.repeat, bench.timeout)
    rows = [Row(f"replay, {ranks} ranks", "M records/s", records / cost.wall / 1e6, records / cost.cpu / 1e6, 3,
                "more", "orrery replay FILE"), *replay_many(bench), LOGGOPSIM]
    if not has_smpi():
        return rows
    paths = write_platforms(bench, ranks)
    measure.run_once([bench.orrery, "trace", "convert", trace, text], bench.timeout)
    peer = measure.run_best(["smpirun", "-np", str(ranks), "-platform", paths["cluster.xml"], "-hostfile",
                             paths["hosts.txt"], "--log=root.thresh:critical", "-replay", text], 1, bench.timeout)
    command = f"smpirun -np {ranks} -replay FILE.ti"
    return [*rows, Row("SMPI's replay of the same trace", "M records/s", records / peer.wall / 1e6,
                       records / peer.cpu / 1e6, None, "more", command),
            Row("replay: times SMPI's rate", "times", peer.wall / cost.wall, peer.cpu / cost.cpu, None, "more",
                command)]


CASES = {"traces": traces, "replay": replay}
