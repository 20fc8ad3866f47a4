"""Penoff et al.: programs on a packet-level network, slowed down."""

import plots
import study
from study import Experiment, Result, median, number, seconds

NAME = "penoff"
TITLE = "Penoff et al.: MPI-NeTSim"
SOURCE = ("B. Penoff, A. Wagner, M. Tüxen, I. Rüngeler, *MPI-NeTSim: A network simulation module for MPI*, 2009. Their machine: 8 "
          "cores, up to four processes and the simulator (OMNeT++, SCTP).")
KERNELS = ("ep", "is", "cg", "ft", "lu", "bt")


# The machines of Figures 4 and 7: nodes at one switch, 1 Gbit/s and 1 ms; and rank 0 with 100 Mbit/s, and a hop of 1 ms more.
REFERENCE, SLOW = (study.EXAMPLES / "emulate" / name for name in ("reference.yaml", "slow.yaml"))


def emulate(work, factor, platform, ranks, program, *options):
    work.say(f"{' '.join(program).rsplit('/', 1)[-1]}, factor {factor}")
    return work.emulate(ranks, program, "--platform", platform, "--factor", factor, *options)


def over_factors(work, platform, ranks, program, factors):
    """By factor: the summary of a run."""
    return {factor: emulate(work, factor, platform, ranks, program).summary for factor in factors}


def converged(values, share):
    """Do the last two agree to a share of the larger?"""
    *_, before, last = values
    return abs(before - last) <= share * max(abs(before), abs(last), 1e-12)


def pingpong(work):
    result, rounds = Result(), work.choose(10000, 20)
    program = [work.compile("pingpong.c"), str(rounds), "32"]
    found = over_factors(work, REFERENCE, 2, program, work.choose((1, 2, 4, 8), (1, 2)))
    virtual = work.simulate(2, program, "--platform", REFERENCE, "--compute", "none").summary["virtual_time_s"]
    result.table(["factor", "max_behind", "run time, scaled back", "off virtual time by", "real time"],
                 [[str(factor), seconds(one["max_behind_s"]), seconds(one["virtual_time_s"]),
                   f"{100 * (one['virtual_time_s'] / virtual - 1):+.2f} %", seconds(one["wall_s"])]
                  for factor, one in found.items()], f"{rounds:,} messages of 32 bytes; in virtual time {seconds(virtual)}")
    result.plots.append(plots.lines(work.out / "pingpong.svg", {
        "max_behind": [(factor, one["max_behind_s"] * 1e3) for factor, one in found.items()]}, "slow-down factor", "ms", log="x"))
    result.claim("every message takes at least the network's latency", all(one["virtual_time_s"] >= rounds * 1e-3
                                                                       for one in found.values()), "", exact=True)
    first, last = list(found.values())[0]["max_behind_s"], list(found.values())[-1]["max_behind_s"]
    result.claim("max_behind decreases with the factor to a small value", last <= first or last < 1e-3,
                 f"{seconds(first)} to {seconds(last)}, in scaled time")
    return result


def arrivals(work):
    result, rounds, ranks = Result(), work.choose(100, 3), work.choose(4, 2)
    factors = work.choose((1, 2, 4, 8, 16, 32, 64), (1, 4))
    rows, series, ends = [], {}, {}
    for gap in (100, 3000):
        program = [work.compile("arrivals.c"), str(rounds), str(gap)]
        found = over_factors(work, REFERENCE, ranks, program, factors)
        for factor, one in found.items():
            rows.append([f"{gap} us", str(factor), f"{one['expected']:,}", f"{one['unexpected']:,}",
                         seconds(one["max_behind_s"]), seconds(one["virtual_time_s"])])
        series[f"receives {gap} us apart"] = [(factor, one["unexpected"]) for factor, one in found.items()]
        ends[gap] = list(found.values())[-1]["unexpected"]
    result.table(["between receives", "factor", "expected", "unexpected", "max_behind", "run time"], rows,
                 f"{ranks} ranks, {rounds} rounds, latency 1 ms")
    result.plots.append(plots.lines(work.out / "arrivals.svg", series, "slow-down factor", "unexpected messages", log="x"))
    if len(factors) > 2:
        last = {name: [count for _, count in points[-2:]] for name, points in series.items()}
        messages = one["expected"] + one["unexpected"]
        result.claim("the counts converge", all(abs(a - b) <= 0.05 * messages for a, b in last.values()),
                     "; ".join(f"{name}: {a:,} and {b:,} of {messages:,} with the two largest factors"
                               for name, (a, b) in last.items()))
    early, late = ends[100], ends[3000]
    result.claim("receives closer together than the latency find few unexpected messages, those further apart many", early < late,
                 f"{early:,} and {late:,}")
    return result


def kernels(work):
    """Figures 5 and 6."""
    result, kind, ranks = Result(), work.choose("S", "T"), 4
    factors = work.choose((1, 2, 4, 8, 16, 32, 64), (1, 2))
    behind, times, rows = {}, {}, []
    for name in work.choose(KERNELS, ("is",)):
        found = over_factors(work, REFERENCE, ranks, work.kernel(name, kind, ranks), factors)
        behind[name] = [(factor, max(one["max_behind_s"], 1e-7) * 1e3) for factor, one in found.items()]
        times[name] = [(factor, one["virtual_time_s"]) for factor, one in found.items()]
        for factor, one in found.items():
            rows.append([name, str(factor), seconds(one["max_behind_s"]), seconds(one["virtual_time_s"]), seconds(one["wall_s"])])
    result.table(["kernel", "factor", "max_behind", "run time, scaled back", "real time"], rows, f"Class {kind} on {ranks} ranks")
    result.plots.append(plots.lines(work.out / "figure5.svg", behind, "slow-down factor", "max_behind in ms", log="xy"))
    result.plots.append(plots.lines(work.out / "figure6.svg", times, "slow-down factor", "run time in s", log="x"))
    if len(factors) > 2:
        good = [name for name, points in times.items() if converged([time for _, time in points], 0.05)]
        result.claim("the run time of every kernel converges", len(good) == len(times), f"{len(good)} of {len(times)}, to 5 %")
        less = [name for name, points in behind.items() if points[-1][1] <= points[0][1]]
        result.claim("max_behind approaches a small value", len(less) == len(behind), f"{len(less)} of {len(behind)} kernels")
    return result


def slow_rank(work):
    """Figures 7 and 8."""
    result, kind, ranks, factor = Result(), work.choose("S", "T"), 4, work.choose(8, 2)
    runs = work.choose(3, 1)
    rows, shares = [], {}
    for name in work.choose(KERNELS, ("ep", "is")):
        program = work.kernel(name, kind, ranks)
        one, other = ([emulate(work, factor, platform, ranks, program).summary["virtual_time_s"] for _ in range(runs)]
                      for platform in (REFERENCE, SLOW))
        virtual = [work.simulate(ranks, program, "--platform", platform, "--compute", "none").summary["virtual_time_s"]
                   for platform in (REFERENCE, SLOW)]
        shares[name] = 100 * (median(other) / median(one) - 1)
        rows.append([name, seconds(median(one)), seconds(median(other)), f"{shares[name]:+.0f} %",
                     f"{100 * (virtual[1] / virtual[0] - 1):+.0f} %"])
    result.table(["kernel", "reference network", "slow rank 0", "slow-down", "slow-down in virtual time, no computation"], rows,
                 f"Class {kind} on {ranks} ranks, factor {factor}, medians of {runs}. Theirs: is 166 %, bt, lu and mg about 50 %, "
                 "cg 19 %, ep hardly any")
    result.plots.append(plots.bars(work.out / "figure8.svg", {"slow-down": shares}, "percent"))
    result.claim("ep is affected least, is most of these two", shares["ep"] < shares["is"],
                 ", ".join(f"{name} {number(value)} %" for name, value in shares.items()))
    return result


EXPERIMENTS = [
    Experiment("pingpong", "Section VI-B: ping-pong", "32-byte messages, 10,000 iterations: max_behind falls from 0.4 s to slightly "
               "above zero with a factor of up to 128, which took 86 minutes.", "the same in `orrery emulate`, and in virtual time.",
               pingpong),
    Experiment("arrivals", "Section VI-B: expected and unexpected messages", "a program with non-blocking sends and receives: for "
               "large enough factors the counts remain the same.", "four ranks that post receives less or more than the latency "
               "apart.", arrivals),
    Experiment("kernels", "Figures 5 and 6: max_behind and run time over factors", "six NAS benchmarks, class W, four processes: "
               "both converge.", "our kernels.", kernels),
    Experiment("slow-rank", "Figures 7 and 8: a slow link at rank 0", "100 Mbit/s and an extra hop of 1 ms for rank 0: is 166 % "
               "slower, bt, lu and mg about 50 %, cg 19 %, ep hardly.", "our kernels on the same two networks.", slow_rank),
]
