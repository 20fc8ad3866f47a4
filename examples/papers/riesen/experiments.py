"""Riesen: the program on a real MPI, the network simulated beside it."""

import json
import math
import os
import re

import plots
import study
from study import Experiment, Result, median, number, seconds

NAME = "riesen"
TITLE = "Riesen: a hybrid MPI simulator"
SOURCE = ("R. Riesen, *A Hybrid MPI Simulator*, 2006. Their machine: the Cray XT3 Red Storm.")
KERNELS = ("ep", "is", "cg", "ft", "lu")


def measured(text):
    return {int(line.split()[0]): float(line.split()[1]) for line in text.splitlines() if re.match(r"\d+ ", line)}


def fit(points):
    """Least squares: time = constant + slope x log2(ranks). Returns constant, slope and the share of variance explained."""
    xs, ys = [math.log2(n) for n, _ in points], [t for _, t in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((a - x) ** 2 for a in xs)
    slope = sum((a - x) * (b - y) for a, b in zip(xs, ys)) / spread
    constant = y - slope * x
    rest = sum((b - constant - slope * a) ** 2 for a, b in zip(xs, ys))
    whole = sum((b - y) ** 2 for b in ys)
    return constant, slope, 1 - rest / whole if whole else 1.0


def figure7(work):
    """All to all over sizes and numbers of ranks, with its logarithmic fit."""
    result, largest, rounds = Result(), work.choose(4096, 16), work.choose(20, 2)
    program = [work.compile("alltoall.c"), str(largest), str(rounds)]
    counts = work.choose((2, 4, 8, 16, 32, 64, 128, 256), (2, 4, 8))
    simulated, modelled = {}, {}
    for ranks in counts:
        work.say(f"{ranks} ranks, simulated")
        machine = ["--platform", "infiniband-hdr", "--compute", "none"]
        simulated[ranks] = measured(work.simulate(ranks, program, *machine).text)
        modelled[ranks] = measured(work.simulate(ranks, program, *machine, "--set", "mpi.collectives=model").text)
    native = {}
    for ranks in work.choose((2, 4, 8), (2,)):
        work.say(f"{ranks} ranks, native")
        native[ranks] = measured(work.native(ranks, program).text)
    sizes = list(simulated[counts[0]])
    fits = {b: fit([(n, modelled[n][b]) for n in counts]) for b in sizes}
    result.table(["bytes", *(f"{n} ranks" for n in counts), "fit of the model", "explains"],
                 [[str(b), *(seconds(modelled[n][b]) for n in counts),
                   f"{seconds(max(fits[b][0], 0))} + {seconds(fits[b][1])} x log2(n)", f"{100 * fits[b][2]:.1f} %"] for b in sizes],
                 "A call of MPI_Alltoall by the logarithmic model of collectives")
    small = [b for b in sizes if b <= 256]
    algorithm = {b: fit([(n, simulated[n][b]) for n in counts]) for b in small}
    result.table(["bytes", *(f"{n} ranks" for n in counts), "fit", "explains"],
                 [[str(b), *(seconds(simulated[n][b]) for n in counts),
                   *([f"{seconds(max(algorithm[b][0], 0))} + {seconds(algorithm[b][1])} x log2(n)",
                      f"{100 * algorithm[b][2]:.1f} %"] if b in algorithm else ["", ""])] for b in sizes],
                 "The same by the messages of MPICH's algorithms")
    result.table(["bytes", *(f"{n} ranks" for n in native)], [[str(b), *(seconds(native[n][b]) for n in native)] for b in sizes],
                 f"Native on this computer, {os.cpu_count()} cores")
    result.plots.append(plots.lines(work.out / "figure7.svg", {
        **{f"messages of MPICH, {b} B": [(n, simulated[n][b] * 1e6) for n in counts] for b in sizes[:3]},
        **{f"-model, {b} B": [(n, modelled[n][b] * 1e6) for n in counts] for b in sizes[:3]}},
        "ranks", "us per call", log="x"))
    result.claim("a logarithmic model describes collectives", all(f[2] > 0.9 for b, f in fits.items() if b in small),
                 f"explains at least {100 * min(f[2] for b, f in fits.items() if b in small):.1f} % of what small blocks take by "
                 "the model", exact=True)
    if len(counts) > 3:
        least = min(f[2] for f in algorithm.values())
        result.claim("and the algorithm of small blocks", least > 0.9, f"at least {100 * least:.1f} %", exact=True)
    return result


def calibrated(work):
    """A machine from measurements of this computer, made once."""
    machine = work.out / "machine.yaml"
    if not machine.exists():
        work.say("measure this computer")
        if work.small:
            work.call([work.orrery, "calibrate", "--from", study.EXAMPLES / "calibrate/two-cores.csv", "-o", machine])
        else:
            work.call([work.orrery, "calibrate", "-n", 2, "-o", machine])
    return machine


def figure8(work):
    """Seven native and seven hybrid runs in turn, and the same in `orrery run`."""
    result, runs, ranks = Result(), work.choose(7, 1), 2
    machine, kind = calibrated(work), work.choose("A", "T")
    groups, rows, inside = {}, [], 0
    for name in work.choose(KERNELS, ("is", "cg")):
        program = work.kernel(name, kind, ranks)
        native, hybrid, virtual = [], [], []
        for i in range(runs):
            work.say(f"{name}, {i + 1} of {runs}")
            native.append(work.kernel_time(work.native(ranks, program).text))
            hybrid.append(work.kernel_time(work.hybrid(ranks, program, "--platform", machine).text))
            virtual.append(work.kernel_time(work.simulate(ranks, program, "--platform", machine).text))
        low, high = 0.9 * min(native), 1.1 * max(native)
        good = low <= median(hybrid) <= high
        inside += good
        groups[name] = (native, {"orrery hybrid": hybrid, "orrery run": virtual})
        rows.append([name, f"{seconds(min(native))} to {seconds(max(native))}", seconds(median(native)),
                     f"{seconds(min(hybrid))} to {seconds(max(hybrid))}", seconds(median(hybrid)), "yes" if good else "no",
                     f"{100 * (median(hybrid) / median(native) - 1):+.1f} %", seconds(median(virtual)),
                     f"{100 * (median(virtual) / median(native) - 1):+.1f} %"])
    result.table(["kernel", "native", "median", "hybrid", "median", "within", "hybrid off by", "run, median", "run off by"], rows,
                 f"Class {kind}, {ranks} ranks, {runs} runs each, in turn")
    result.plots.append(plots.boxes(work.out / "figure8.svg", groups, "seconds"))
    result.claim("simulated runs fall within the range of native ones, widened by 10 %", inside == len(groups),
                 f"{inside} of {len(groups)} kernels, by the median")
    return result


def statistics(work):
    """Who talks to whom, sizes, collectives."""
    result, ranks, kind = Result(), work.choose(16, 4), work.choose("S", "T")
    rows = []
    for name in (*KERNELS, "bt"):
        work.say(name)
        path = work.out / f"{name}-stats.json"
        work.simulate(ranks, work.kernel(name, kind, ranks), "--compute", "none", "--stats", path)
        stats = json.loads(path.read_text())
        rows.append(pattern(name, stats))
    result.table(["kernel", "messages", "bytes", "pairs", "partners of a rank", "most usual sizes", "collectives"], rows,
                 f"Class {kind} on {ranks} ranks, by `--stats`; messages of collectives are counted apart")
    result.claim("the statistics show each kernel's pattern: ep hardly communicates, is and ft exchange by collectives, lu sends most "
                 "messages", next(r for r in rows if r[0] == "ep")[1] == "0" and
                 max((int(r[1].replace(",", "")), r[0]) for r in rows)[1] in ("lu", "bt", "cg"), "", exact=not work.nas)
    return result


def pattern(name, stats):
    """A row of the table of patterns."""
    point, columns = stats["point_to_point"], stats["pairs"]["columns"]
    pairs = [dict(zip(columns, row)) for row in stats["pairs"]["rows"]]
    partners = {}
    for pair in pairs:
        partners.setdefault(pair["source"], set()).add(pair["destination"])
    sizes = sorted(stats["sizes"], key=lambda one: -one["messages"])[:3]
    collectives = ", ".join(f"{one['calls']:,} {one['name'].removeprefix('MPI_')}" for one in stats["functions"]
                            if one["collective"] and one["name"] not in ("MPI_Init", "MPI_Finalize"))
    return [name, f"{point['messages']:,}", f"{point['bytes']:,}", str(len(pairs)),
            str(max((len(to) for to in partners.values()), default=0)),
            ", ".join(f"up to {study.size(one['up_to_bytes'])}: {one['messages']:,}" for one in sizes if one["messages"]),
            collectives]


def factors(work):
    """Latency, bandwidth and collectives varied by factors, down to nothing."""
    result, kind, ranks = Result(), work.choose("W", "T"), work.choose(16, 4)
    names = work.choose(KERNELS, ("cg", "is"))
    cases = {"as it is": "net.latency_factor=1", "latency x 0.5": "net.latency_factor=0.5", "latency x 2": "net.latency_factor=2",
             "latency x 0": "net.latency_factor=0", "bandwidth x 0.5": "net.bandwidth_factor=0.5",
             "bandwidth x 2": "net.bandwidth_factor=2", "collectives x 0.5": "mpi.collective_factor=0.5",
             "collectives for nothing": "mpi.collective_factor=0"}
    times, rows = {}, []
    for name in names:
        program = work.kernel(name, kind, ranks)
        tape = work.out / f"{name}.tape"
        work.simulate(ranks, program, "--record-compute", tape)
        for case, setting in cases.items():
            work.say(f"{name}, {case}")
            run = work.simulate(ranks, program, "--compute", f"replay:{tape}", "--platform", "ethernet-1g", "--set",
                                f"mpi.collectives=model,{setting}")
            times[name, case] = work.kernel_time(run.text)
        rows.append([name, *(number(times[name, case] / times[name, "as it is"]) for case in cases)])
    result.table(["kernel", *cases], rows, f"Time of the main part, of that with the network as it is; class {kind} on {ranks} ranks, "
                 "gigabit Ethernet, collectives by the logarithmic model; computation as recorded once")
    result.claim("a faster network never makes a program slower, nor a slower one faster",
                 all(times[n, "latency x 0"] <= times[n, "latency x 0.5"] <= times[n, "as it is"] <= times[n, "latency x 2"]
                     and times[n, "bandwidth x 2"] <= times[n, "as it is"] <= times[n, "bandwidth x 0.5"] for n in names), "",
                 exact=True)
    result.claim("collectives for nothing are a lower bound",
                 all(times[n, "collectives for nothing"] <= times[n, "collectives x 0.5"] <= times[n, "as it is"] for n in names),
                 "", exact=True)
    return result


EXPERIMENTS = [
    Experiment("figure7", "Figure 7: all to all, and its logarithmic model",
               "all to all in a loop on Red Storm, over sizes and nodes, fitted by a logarithmic model.",
               "the same program in the simulator, by messages and by the model, and natively.", figure7),
    Experiment("figure8", "Figure 8: seven native and seven hybrid runs",
               "NAS benchmarks, seven runs each, in turn on the same nodes: all simulated times within the native range.",
               "our kernels on as many ranks as there are cores, native, `orrery hybrid` and `orrery run` in turn, on a machine from "
               "`orrery calibrate`.", figure8),
    Experiment("statistics", "Section 5.1: communication patterns", "counts of collectives, tables of pairs, buckets of sizes.",
               "`--stats` of each kernel.", statistics),
    Experiment("factors", "Sections 5.2 and 5.3: factors of latency, bandwidth and collectives",
               "factors for latency and bandwidth, and zero-cost collectives, described as possible.",
               "factors from 0 to 2.", factors),
]
