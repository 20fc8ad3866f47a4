"""Böhme et al.: replay of traces with non-blocking communication, under a hypothesis."""

import importlib.util
import os
import subprocess

import study
from study import Experiment, Result, median, seconds

NAME = "boehme"
TITLE = "Böhme et al.: simulated replay of non-blocking communication"
SOURCE = ("D. Böhme, M.-A. Hermanns, M. Geimer, F. Wolf, *Performance Simulation of Non-Blocking Communication in Message-Passing "
          "Applications*, 2009. Their machines: Blue Gene/P and a cluster of Power6 nodes.")
WHATIF = study.EXAMPLES / "what-if"


def tools():
    """The example's own code that measures and replays."""
    spec = importlib.util.spec_from_file_location("table", WHATIF / "table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def breakdown(work, trace):
    """Run time, and per rank the mean times in point-to-point calls and collectives, in seconds."""
    groups = work.analysis(trace)
    overall = groups["overall"]["overall"][0]
    functions = {row["function"]: row["time"] for row in groups["functions"]["functions"]}
    ranks = len(groups["ranks"]["ranks"])
    point = sum(t for f, t in functions.items() if any(w in f for w in ("send", "recv", "Send", "Recv", "Wait", "Test")))
    whole = sum(t for f, t in functions.items() if any(w in f for w in ("reduce", "cast", "arrier", "gather", "lltoall")))
    return overall["runtime"], point / ranks, whole / ranks


def percent(value, reference):
    return f"{100 * abs(value - reference) / reference:.2f} %"


def table1(work):
    result, rows, exact = Result(), [], True
    for ranks in work.choose((256, 1024), (4, 9)):
        work.say(f"{ranks} ranks, simulated")
        program = work.kernel("bt", work.choose("A", "T"), ranks)
        machine = ["--platform", "ethernet-1g", "--set", "net.model=constant,net.latency=2us,net.bandwidth=10Gbps"]
        tape, trace, again = (work.out / name for name in ("bt.tape", "bt.orr", "bt-again.orr"))
        original = work.simulate(ranks, program, *machine, "--record-compute", tape)
        traced = work.simulate(ranks, program, *machine, "--compute", f"replay:{tape}", "--trace", trace)
        work.call([work.orrery, "replay", "-q", trace, "-o", again])
        before, after = breakdown(work, trace), breakdown(work, again)
        first, second = original.summary["virtual_time_s"], traced.summary["virtual_time_s"]
        exact &= first == second and before == after
        rows.append([f"{ranks}, simulated", f"{100 * (before[1] + before[2]) / before[0]:.0f} %", seconds(first), seconds(second),
                     seconds(after[0]), percent(second, first), percent(after[0], before[0]), seconds(after[1]),
                     seconds(after[2])])
    rows.append(native_row(work, work.choose("W", "T")))
    result.table(["ranks", "in MPI", "original", "traced", "replayed", "traced off by", "replayed off by",
                  "point-to-point, replayed", "collectives, replayed"], rows,
                 "Their table: 256 ranks 46.56 s, 47.23 s, 46.82 s, 1.44 %, 0.56 %; 1024 ranks 14.93 s, 16.57 s, 15.67 s, 10.98 %, "
                 "4.96 %. Times of point-to-point calls and collectives are means over ranks.")
    result.claim("identity replay reproduces the run", exact, "exactly: traced, replayed, and each part of it, to the picosecond",
                 exact=True)
    return result


def native_row(work, kind):
    """The same on the real MPI of this computer, replayed in real time; medians."""
    runs, ranks = work.choose(5, 1), 4
    program = work.kernel("bt", kind, ranks)
    original, traced, replayed, last = [], [], [], None
    for i in range(runs):
        work.say(f"{ranks} ranks, native, {i + 1} of {runs}")
        trace, again = work.out / "bt-native.orr", work.out / "bt-native-again.orr"
        original.append(work.kernel_time(work.native(ranks, program).text))
        traced.append(work.kernel_time(work.call([work.orrery, "record", "-q", "-n", ranks, "-o", trace, *program]).text))
        work.call([work.orrery, "replay", "-q", "--real-time", trace, "-o", again])
        before, last = breakdown(work, trace), breakdown(work, again)
        replayed.append(last[0] / before[0] * traced[-1])
    first, second, third = median(original), median(traced), median(replayed)
    return [f"{ranks}, native, {os.cpu_count()} cores", f"{100 * (last[1] + last[2]) / last[0]:.0f} %", seconds(first),
            seconds(second), seconds(third), percent(second, first), percent(third, first), seconds(last[1]), seconds(last[2])]


def rows_of(was, meant, replays):
    """The rows of Table 2; what a replay should be is the original, or the modified program."""
    rows = []
    for name, value in was.items():
        cells = []
        for got, reference in zip(replays, (was, was, meant, meant)):
            cells.append(f"{100 * abs(got[name] - reference[name]) / reference[name]:.4f} %" if reference[name] else "-")
        rows.append([name, seconds(value), seconds(meant[name]), *cells])
    return rows


HEAD = ["metric", "original", "modified", "identity, any order", "identity, recorded order", "balanced, any order",
        "balanced, recorded order"]


def table2(work):
    result, table = Result(), tools()
    binary = work.compile("../../what-if/arrivals.c")
    original, modified = work.out / "original.orr", work.out / "modified.orr"
    work.say("simulated")
    work.simulate(5, [binary], "--compute", "none", "--trace", original)
    work.simulate(5, [binary, "balanced"], "--compute", "none", "--trace", modified)
    was, meant = (table.measure(work.orrery, str(path)) for path in (original, modified))
    replays = [table.replay(work.orrery, str(original), *options) for options in table.REPLAYS]
    for options in table.REPLAYS:
        work.commands.append([work.orrery, "replay", "-q", *options, "original.orr", "-o", "new.orr"])
    result.table(HEAD, rows_of(was, meant, replays), "Simulated. Their table: total 34.82 s and 31.65 s; deviations 0.0003 %, "
                 "0.0003 %, 0.0689 %, 8.14 %")
    result.claim("identity replay is right in both modes", all(replays[0][m] == was[m] == replays[1][m] for m in was), "exactly",
                 exact=True)
    result.claim("with foo balanced, replay in any order predicts the modified program", replays[2] == meant, "exactly",
                 exact=True)
    worse = replays[3]["Total time"] / meant["Total time"] - 1
    result.claim("replay in the recorded order introduces larger waiting times", worse > 0, f"total time {100 * worse:.2f} % more",
                 exact=True)
    if not work.small:
        work.say("native")
        was, meant, replays = table.native(work.orrery, binary, "5", 5)
        work.commands.append(["make", "-C", "examples/what-if", "real"])
        result.table(HEAD, rows_of(was, meant, replays), "Native, replayed in real time; medians of 5 runs")
        off = abs(replays[2]["Total time"] / meant["Total time"] - 1)
        result.claim("natively, the balanced program is predicted within 5 %", off < 0.05, f"{100 * off:.2f} %")
        more = replays[3]["Total time"] / replays[2]["Total time"] - 1
        result.claim("natively, the recorded order takes longer", more > 0, f"{100 * more:.2f} %")
    return result


EXPERIMENTS = [
    Experiment("table1", "Table 1: identity replay of a multi-partition solver",
               "NAS bt on 256 and 1024 processes: the run time of the original, while traced, and replayed.",
               "our bt in the simulator, where the three can be compared exactly (computation as recorded once), and natively on "
               "4 ranks, replayed in real time.", table1),
    Experiment("table2", "Table 2: a master with MPI_Waitany, balanced",
               "a master and workers whose regions foo and bar are imbalanced, four processes; balancing foo reverses the order of "
               "arrival. Only replay that retains non-determinism predicts the modified program.",
               "the same pattern, a master and four workers, simulated and native (examples/what-if).", table2),
]
