"""Riesen: the program on a real MPI, the network simulated beside it."""

import json
import math
import os
import re
import sys

import plots
import study
from study import Experiment, Result, median, number, seconds

NAME = "riesen"
TITLE = "Riesen: a hybrid MPI simulator"
SOURCE = ("R. Riesen, *A Hybrid MPI Simulator*, 2006. Their machine: the Cray XT3 Red Storm.")
sys.path.insert(0, str(study.EXAMPLES / "hybrid"))
import patterns  # noqa: E402  (of the example that validates hybrid runs)
import picture  # noqa: E402
import runs  # noqa: E402


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
        machine = ["--platform", "infiniband-hdr", "--set", "nodes.ranks=1", "--compute", "none"]
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
    algorithm = {b: fit([(n, simulated[n][b]) for n in counts]) for b in small if b <= 64}
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
        result.claim("and the algorithm of blocks that are so small that latency dominates", least > 0.9,
                     f"up to 64 bytes at least {100 * least:.1f} %", exact=True)
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


class Said:
    """Progress of the example's runs, as the study says it."""

    def __init__(self, work):
        self.work = work

    def step(self, text):
        self.work.say(text)


def figure8(work):
    """Seven native and seven hybrid runs in turn, and the same in `orrery run`."""
    result, ranks = Result(), 2
    machine, kind, count = calibrated(work), work.choose("A", "T"), work.choose(7, 1)
    chosen = work.choose(runs.KERNELS, ("is", "cg"))

    def timed(call, *options):
        return lambda kernel: work.kernel_time(call(ranks, work.kernel(kernel, kind, ranks), *options).text)
    modes = {"native": timed(work.native), "hybrid": timed(work.hybrid, "--platform", machine),
             "run": timed(work.simulate, "--platform", machine)}
    times = runs.interleaved(modes, chosen, count, Said(work))
    runs.write_csv(work.out / "figure8.csv", times)
    rows = []
    for name, of in times.items():
        native = of["native"]
        rows.append([name, f"{seconds(min(native))} to {seconds(max(native))}", *(
            cell for mode in ("native", "hybrid", "run") for cell in (
                [seconds(median(of[mode]))] if mode == "native" else
                [seconds(median(of[mode])), f"{100 * (median(of[mode]) / median(native) - 1):+.1f} %",
                 "yes" if runs.is_within(of[mode], native) else "no"]))])
    result.table(["kernel", "native", "median", "hybrid, median", "off by", "within", "run, median", "off by", "within"], rows,
                 f"Class {kind}, {ranks} ranks, {count} runs each, in turn")
    (work.out / "figure8.svg").write_text(picture.agreement(times))
    result.plots.append("figure8.svg")
    for mode in ("hybrid", "run"):
        good = sum(runs.is_within(of[mode], of["native"]) for of in times.values())
        result.claim(f"{mode}: simulated runs fall within the range of native ones, widened by 10 %", good == len(times),
                     f"{good} of {len(times)} kernels, by the median")
    return result


def statistics(work):
    """Who talks to whom, sizes, collectives."""
    result, ranks, kind = Result(), work.choose(16, 4), work.choose("S", "T")
    found = {}
    for name in patterns.KERNELS:
        work.say(name)
        path = work.out / f"{name}-stats.json"
        work.simulate(ranks, work.kernel(name, kind, ranks), "--compute", "none", "--stats", path)
        found[name] = json.loads(path.read_text())
    told = {name: [line.strip() for line in patterns.describe(name, stats)][1:] for name, stats in found.items()}
    result.table(["kernel", *(line.split(":")[0] for line in told["ep"])],
                 [[name, *(line.split(": ", 1)[1] for line in lines)] for name, lines in told.items()],
                 f"Class {kind} on {ranks} ranks, by `--stats`")
    (work.out / "patterns.svg").write_text(picture.matrices([(name, ranks, patterns.pairs_of(stats))
                                                              for name, stats in found.items()]))
    result.plots.append("patterns.svg")
    share = {name: stats["point_to_point"]["messages"] / (stats["point_to_point"]["messages"] + stats["collective"]["messages"])
             for name, stats in found.items()}
    result.claim("the statistics show each kernel's pattern: ep, is and ft communicate by collectives, lu and bt by messages of "
                 "their own, cg by both", max(share[name] for name in ("ep", "is", "ft")) < 0.05 and 0.05 < share["cg"] < 0.95
                 and min(share["lu"], share["bt"]) > 0.95, "share of own messages: " +
                 ", ".join(f"{name} {100 * part:.0f} %" for name, part in share.items()), exact=not work.nas)
    return result


def factors(work):
    """Latency, bandwidth and collectives varied by factors, down to nothing."""
    result, kind, ranks = Result(), work.choose("W", "T"), work.choose(16, 4)
    names = work.choose(runs.KERNELS, ("cg", "is"))
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
                                f"net.model=constant,mpi.collectives=model,{setting}")
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
