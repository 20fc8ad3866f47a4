"""Engelmann and Lauer: MPI programs at extreme scale in a lightweight simulation."""

import os
import re

import plots
import study
from study import Experiment, Missing, Result, median, number, seconds

NAME = "engelmann"
TITLE = "Engelmann & Lauer: lightweight simulation at extreme scale"
SOURCE = ("C. Engelmann, F. Lauer, *Facilitating Co-Design for Extreme-Scale Systems Through Lightweight Simulation*, 2010. "
          "Their machine: four nodes with two cores of 2.13 GHz and 2 GB each, and a head node, on gigabit Ethernet.")
NETWORKS = (("0us", "inf"), ("10us", "inf"), ("100us", "inf"), ("0us", "1Gbps"), ("50us", "1Gbps"))
LATENCY = {"0us": 0.0, "10us": 10e-6, "50us": 50e-6, "100us": 100e-6}


def setting(latency, bandwidth, *others):
    return ["--set", ",".join([f"net.model=constant,net.latency={latency},net.bandwidth={bandwidth},mpi.eager_limit=1GiB", *others])]


def label(network):
    return f"{network[0]}/{network[1]}"


# Figure 4


def read_latencies(text):
    return {int(line.split()[0]): float(line.split()[1]) for line in text.splitlines() if re.match(r"\d+ ", line)}


def medians(runs):
    return {bytes_: median(run[bytes_] for run in runs) for bytes_ in runs[0]}


def closed_form(network, bytes_):
    return LATENCY[network[0]] + (0 if network[1] == "inf" else bytes_ * 8 / 1e9)


# The native link of Figure 4 as a virtual network. Theirs was close to 50us/1Gbps; ours has the latency of two kernels on one
# computer.
NATIVE = ("10us", "1Gbps")


def on_cluster(work, program, runs):
    """The same on two nodes of a cluster of namespaces whose links have 1 Gbit/s, or None."""
    cluster = study.test_cluster()
    if not cluster:
        return None
    with cluster.Cluster(nodes=2, rate="1Gbps") as nodes:
        got = []
        for i in range(runs):
            work.say(f"cluster, {i + 1} of {runs}")
            words = [*nodes.mpiexec(2), *program]
            got.append(read_latencies(nodes.call(words, stdout=study.PIPE).stdout))
        return got


def compare_far(result, model, native):
    """Does the virtual network model the link? Both by size; only if long messages were measured, too."""
    off = {bytes_: native[bytes_] / model[bytes_] for bytes_ in native}
    short = [ratio for bytes_, ratio in off.items() if bytes_ <= 256]
    long = [ratio for bytes_, ratio in off.items() if bytes_ >= 1 << 16]
    if not long:
        return
    result.claim("a virtual network with the latency and bandwidth of the native one closely models it",
                 all(0.5 < ratio < 2 for ratio in short) and all(0.75 < ratio < 1.33 for ratio in long),
                 f"theirs 50us/1Gbps, ours {label(NATIVE)}: native is {number(min(short))} to {number(max(short))} times the model "
                 f"up to 256 bytes, and {number(min(long))} to {number(max(long))} times from 64 KiB; in between down to "
                 f"{number(min(off.values()))}, since the token bucket that shapes the link lets short bursts pass")


def figure4(work):
    result, largest, rounds, runs = Result(), work.choose(1 << 20, 1 << 12), work.choose(100, 3), work.choose(10, 2)
    program = [work.compile("latency.c"), str(largest), str(rounds)]
    series, exact = {}, {}
    for network in (*NETWORKS, NATIVE):
        work.say(label(network))
        got = [read_latencies(work.simulate(2, program, *setting(*network)).text) for _ in range(runs)]
        series[label(network)] = medians(got)
        exact[network] = read_latencies(work.simulate(2, program, *setting(*network), "--compute", "none").text)
    work.say("native, shared memory")
    native = [read_latencies(work.native(2, program).text) for _ in range(runs)]
    series["native, shared memory"] = medians(native)
    far = on_cluster(work, program, runs)
    if far:
        series["native, shaped link 1Gbps"] = medians(far)
    sizes = list(series[label(NETWORKS[0])])
    result.table(["bytes", *series], [[f"{bytes_:,}", *(seconds(values[bytes_]) for values in series.values())]
                                      for bytes_ in sizes], f"One-way latency, medians of {runs} runs")
    result.plots.append(plots.lines(work.out / "figure4.svg", {
        ("-" if name.startswith("native") else "") + name: [(max(b, 0.5), v * 1e6) for b, v in values.items()]
        for name, values in series.items()}, "message size in bytes", "one-way latency in us", log="xy"))
    clock = exact[NETWORKS[0]][0]  # reading the clock takes time, too
    worst = max(abs(value - clock - closed_form(network, bytes_)) for network, values in exact.items()
                for bytes_, value in values.items())
    result.claim("without computation, every virtual latency is latency + size / bandwidth", worst < 1e-11,
                 f"largest deviation {seconds(worst)}, after the {seconds(clock * 2 * rounds)} that reading the clock takes",
                 exact=True)
    over = max(series[label(n)][b] - closed_form(n, b) for n in exact for b in sizes)
    result.claim("the virtual network is not influenced by the native latency", over < 20e-6,
                 f"the program's own computing and MPI calls add at most {seconds(over)}")
    if far:
        compare_far(result, series[label(NATIVE)], medians(far))
    else:
        result.note(f"No cluster of namespaces here ({study.why_no_cluster()}): native is shared memory alone.")
    return result


# Figure 5


def figure5(work):
    result, program = Result(), [work.compile("hello.c")]
    counts = [4 ** k for k in range(1, work.choose(11, 5))]
    largest = 27_000_000
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if not work.small and memory > 14 << 30:
        counts.append(largest)
    runs, rows, times, simulator, memories = work.choose(3, 1), [], {}, {1: [], 2: []}, {1: [], 2: []}
    complete = True
    for ranks in counts:
        cells = []
        for procs in (1, 2):
            work.say(f"{ranks:,} ranks, {procs} process{'es' * (procs > 1)}")
            got = [work.simulate(ranks, program, "--procs", procs) for _ in range(1 if ranks > 1 << 20 else runs)]
            complete &= all(run.text.count("\n") == ranks for run in got)
            best = min(got, key=lambda run: run.seconds)
            times.setdefault(procs, []).append((ranks, median(run.summary["virtual_time_s"] for run in got)))
            simulator[procs].append((ranks, best.seconds))
            memories[procs].append(best.memory)
            cells += [seconds(times[procs][-1][1]), seconds(best.seconds), study.size(best.memory)]
        rows.append([f"{ranks:,}", *cells])
    result.table(["ranks", "simulated, 1 process", "simulator", "memory", "simulated, 2 processes", "simulator", "memory"],
                 rows, f"Best of {runs} runs; the largest once")
    result.plots.append(plots.lines(work.out / "figure5.svg", {
        "simulated time": times[1], "simulator, 1 process": simulator[1], "simulator, 2 processes": simulator[2]},
        "ranks", "seconds", log="xy"))
    result.claim("every rank prints its line", complete, f"up to {counts[-1]:,} ranks", exact=True)
    result.claim("hello scales to 1,048,576 ranks", counts[-1] >= 1 << 20, f"here to {counts[-1]:,} on one computer",
                 exact=not work.small)
    spread = [time for _, time in times[1]]
    result.claim("simulated time remains about constant over the number of ranks", max(spread) < 100 * max(min(spread), 1e-6),
                 f"{seconds(min(spread))} to {seconds(max(spread))}")
    result.claim("the simulator's time grows with the number of ranks", simulator[1][-1][1] > simulator[1][0][1],
                 f"{seconds(simulator[1][0][1])} to {seconds(simulator[1][-1][1])}")
    return result


# Figures 6 and 7


def figure6(work):
    result, total = Result(), work.choose(1 << 28, 1 << 16)
    binary = work.compile("../../pi/pi.c")
    counts = [2 ** k for k in range(0, work.choose(15, 6), work.choose(1, 2))]
    cases = {(speed, procs): [] for speed in (1, 2) for procs in (1, 2)}
    wall = {key: [] for key in cases}
    for ranks in counts:
        for (speed, procs), points in cases.items():
            work.say(f"{ranks:,} ranks, speed {speed}, {procs} process{'es' * (procs > 1)}")
            runs = [work.simulate(ranks, [binary, str(total // ranks)], *setting("50us", "1Gbps", f"nodes.speed={speed}"),
                                  "--procs", min(procs, ranks)) for _ in range(work.choose(3, 1))]
            points.append((ranks, min(run.summary["virtual_time_s"] for run in runs)))
            wall[speed, procs].append((ranks, min(run.seconds for run in runs)))
    rows = [[f"{ranks:,}", *(seconds(values[key][i][1]) for key in cases for values in (cases, wall))]
            for i, ranks in enumerate(counts)]
    result.table(["ranks", *(f"{what}, {speed}x, {procs} process{'es' * (procs > 1)}" for speed, procs in cases
                             for what in ("simulated", "simulator"))], rows, f"{total:,} samples in all; the best of {work.choose(3, 1)} runs")
    result.plots.append(plots.lines(work.out / "figure6.svg", {
        "simulated, 1x": cases[1, 1], "simulated, 2x": cases[2, 1], "-simulator, 1 process": wall[1, 1],
        "-simulator, 2 processes": wall[1, 2]}, "ranks", "seconds", log="xy"))
    linear = [(r, t) for r, t in cases[1, 1] if t * r and t > 20e-3]
    ideal = linear[0][1] if linear else 0
    result.claim("simulated time scales linearly while computation dominates",
                 linear and all(0.8 < t * r / ideal < 1.25 for r, t in linear),
                 f"up to {linear[-1][0]:,} ranks" if linear else "")
    one = dict(cases[1, 1])
    overhead = dict(wall[1, 1])[1] / one[1] - 1
    result.claim("overhead is 0% while there are no more ranks than cores", overhead < 0.05, f"1 rank: {100 * overhead:.1f}%")
    flat = [t for r, t in wall[1, 1] if r <= 1024]
    result.claim("the simulator's time then remains constant", max(flat) < 1.3 * min(flat),
                 f"1 process, up to 1,024 ranks: {seconds(min(flat))} to {seconds(max(flat))}")
    ratio = [dict(cases[2, 1])[r] / t for r, t in cases[1, 1] if t > 20e-3]
    result.claim("a processor that is twice as fast halves simulated time", ratio and all(0.45 < x < 0.56 for x in ratio),
                 f"{min(ratio):.3f} to {max(ratio):.3f}" if ratio else "")
    return result


def why_uneven(work, program, ranks):
    """Ranks with the same work, as they are measured: what keeps them from ideal scaling on a network that costs nothing."""
    trace = work.out / "heat.orr"
    work.simulate(ranks, program, *setting("0us", "inf"), "--trace", trace)
    found = work.analysis(trace)["efficiency"]["efficiency"][0]
    return (f"of a further run, load balance {100 * found['load-balance']:.0f} %, serialisation {100 * found['serialisation']:.0f} %, "
            f"transfer {100 * found['transfer']:.0f} %: ranks with the same work are not measured to compute equally long, and "
            "neighbours wait for the slowest")


def figure7(work):
    result, cells, iterations = Result(), work.choose(1 << 24, 1 << 12), work.choose(20, 10)
    binary = work.compile("../../heat/heat1d.c")
    counts = [2 ** k for k in range(0, work.choose(14, 6), work.choose(1, 2))]
    networks = (("0us", "inf"), ("50us", "1Gbps"))
    simulated, wall = {n: [] for n in networks}, {n: [] for n in networks}
    for ranks in counts:
        for network in networks:
            work.say(f"{ranks:,} ranks, {label(network)}")
            runs = [work.simulate(ranks, [binary, str(cells), str(iterations)], *setting(*network))
                    for _ in range(work.choose(3, 1))]
            simulated[network].append((ranks, min(run.summary["virtual_time_s"] for run in runs)))
            wall[network].append((ranks, min(run.seconds for run in runs)))
    result.table(["ranks", *(f"{what}, {label(n)}" for n in networks for what in ("simulated", "simulator"))],
                 [[f"{ranks:,}", *(seconds(values[n][i][1]) for n in networks for values in (simulated, wall))]
                  for i, ranks in enumerate(counts)], f"{cells:,} cells, {iterations} iterations; the best of {work.choose(3, 1)} runs")
    result.plots.append(plots.lines(work.out / "figure7.svg", {
        **{f"simulated, {label(n)}": simulated[n] for n in networks},
        **{f"-simulator, {label(n)}": wall[n] for n in networks}}, "ranks", "seconds", log="xy"))
    free, real = (dict(simulated[n]) for n in networks)
    theirs = [r for r in counts if 2 <= r <= 1024]
    bad = [r for r in theirs if not 0.7 < free[r] * r / (2 * free[2]) < 1.4] if 2 in free else []
    result.claim("with 0us/inf simulated time scales linearly from 2 to 1,024 ranks", not bad,
                 f"at 1,024 ranks {number(free[1024] * 1024 / (2 * free[2]))} times the ideal; " +
                 why_uneven(work, [binary, str(cells), str(iterations)], 1024) if 1024 in free else "")
    floor = iterations * 50e-6
    result.claim("with 50us/1Gbps the network limits scaling: no run is shorter than its messages' latency",
                 all(real[r] >= floor for r in counts if r > 1), f"{iterations} exchanges take {seconds(floor)}", exact=True)
    result.claim("with 50us/1Gbps scaling ends", real[counts[-1]] > 0.5 * min(real.values()) and
                 real[counts[-1]] / real[counts[1]] > free[counts[-1]] / free[counts[1]],
                 f"{seconds(min(real.values()))} at best; with 0us/inf {seconds(min(free.values()))}")
    return result


# Section IV


def section4(work):
    """A program measured while the computer is loaded, and charged as by another frequency."""
    result, total, runs = Result(), work.choose(1 << 27, 1 << 16), work.choose(5, 1)
    program = [work.compile("../../pi/pi.c"), str(total)]
    work.say("alone")
    alone = [work.simulate(1, program).summary["virtual_time_s"] for _ in range(runs)]
    cores = os.cpu_count() or 1
    loaded = []
    for i in range(runs):
        work.say(f"with {2 * cores} busy processes beside it, {i + 1} of {runs}")
        with study.load(2 * cores):
            loaded.append(work.simulate(1, program).summary["virtual_time_s"])
    factor = 2.5
    slower = [work.simulate(1, program, "--set", f"nodes.speed={1 / factor}").summary["virtual_time_s"] for _ in range(runs)]
    base = median(alone)
    result.table(["", "simulated", "of alone"],
                 [["alone", seconds(base), "1"],
                  [f"beside {2 * cores} busy processes", seconds(median(loaded)), number(median(loaded) / base)],
                  [f"as a processor {factor} times slower", seconds(median(slower)), number(median(slower) / base)]],
                 f"Monte Carlo pi on 1 rank, medians of {runs}")
    result.claim("a loaded computer changes the prediction little", abs(median(loaded) / base - 1) < 0.25,
                 f"{100 * (median(loaded) / base - 1):+.1f}%: time on the processor is charged, not time on the wall")
    result.claim("the scaling factor is applied to measured time", abs(median(slower) / base / factor - 1) < 0.1,
                 f"{median(slower) / base:.3f} for {factor}")
    result.note("The frequency of this computer's processor cannot be set, so a prediction from one frequency for another "
                "cannot be checked here against a real run.")
    return result


EXPERIMENTS = [
    Experiment("figure4", "Figure 4: one-way latency, native and virtual",
               "ping-pong between two nodes, ten measurements, for five virtual networks from 0us/inf to 50us/1Gbps: the virtual "
               "latency is not influenced by the native one, and 50us/1Gbps closely models their gigabit Ethernet.",
               "the same five networks; native is shared memory, and a link between two nodes in network namespaces that is "
               "shaped to 1 Gbit/s.", figure4),
    Experiment("figure5", "Figure 5: hello, up to millions of ranks",
               "4 to 1,048,576 ranks on four nodes: simulated time below 100 us to about 1 ms, simulator time with the number of "
               "ranks.", "4 to 1,048,576 ranks, and 27 million where memory allows, on one computer.", figure5),
    Experiment("figure6", "Figure 6: Monte Carlo pi, strong scaling",
               "1 to 16,384 ranks with 50us/1Gbps, on eight cores: linear scaling of simulated time with 0% overhead, simulator "
               "time constant beyond the number of cores; with a processor twice as fast half the time.",
               "1 to 16,384 ranks on 1 and 2 processes.", figure6),
    Experiment("figure7", "Figure 7: one-dimensional heat equation, strong scaling",
               "linear scaling for 2 to 1,024 ranks with 0us/inf; with 50us/1Gbps the network limits it.",
               "1 to 8,192 ranks, both networks.", figure7),
    Experiment("section4", "Section IV: the processor model",
               "time on the processor between MPI calls, times a factor; frequency and load of the real computer are the "
               "sources of error.", "one program, alone, beside busy processes, and with a factor.", section4),
]
