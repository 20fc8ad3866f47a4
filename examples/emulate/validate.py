#!/usr/bin/env python3
"""Is an emulation right? Runs programs with larger and larger factors, and compares.

  ping-pong   32-byte messages: how far the simulator falls behind
  arrivals    non-blocking sends and receives: expected and unexpected messages
  kernels     max behind and run time over factors
  slow rank   the reference network against one with a slow link at rank 0
  virtual     the same run in scaled real time and in virtual time, with declared computing

usage: validate.py ORRERY FOLDER [--quick]     FOLDER has the programs; pictures and tables go there
"""

import json
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = ("ep", "is", "cg", "ft", "lu", "bt")


class Study:
    def __init__(self, orrery, folder, quick):
        self.orrery, self.folder, self.quick = orrery, pathlib.Path(folder), quick
        self.plots = None
        if not quick:
            sys.path.insert(0, str(HERE.parent / "papers"))
            import plots
            self.plots = plots

    def choose(self, full, quick):
        return quick if self.quick else full

    def run(self, command, machine, ranks, *words):
        """The summary of a run."""
        result = self.folder / "run.json"
        subprocess.run([self.orrery, *command, "-q", "-n", str(ranks), "--platform", HERE / f"{machine}.yaml",
                        "--json", result, *map(str, words)], check=True, stdout=subprocess.DEVNULL)
        return json.loads(result.read_text())

    def emulate(self, factor, machine, ranks, program, *words, compute="measured"):
        print(f"  {program} {' '.join(map(str, words))}: factor {factor}", flush=True)
        return self.run(["emulate", "--factor", str(factor), "--compute", compute], machine, ranks, self.folder / program, *words)

    def virtual(self, machine, ranks, program, *words):
        return self.run(["run", "--compute", "none"], machine, ranks, self.folder / program, *words)

    def picture(self, kind, name, *data):
        if self.plots:
            getattr(self.plots, kind)(self.folder / name, *data)


def show(title, head, rows):
    print(f"\n{title}")
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(str(cell).rjust(width) for cell, width in zip(row, widths)))
    print(flush=True)


def ms(seconds):
    return f"{1e3 * seconds:.3f} ms"


def ping_pong(study):
    rounds = study.choose(10000, 20)
    found = {factor: study.emulate(factor, "reference", 2, "pingpong", rounds, 32)
             for factor in study.choose((1, 2, 4, 8), (1, 2))}
    show(f"Ping-pong, {rounds:,} messages of 32 bytes", ["factor", "max behind", "run time", "unexpected"],
         [[factor, ms(one["max_behind_s"]), ms(one["virtual_time_s"]), one["unexpected"]] for factor, one in found.items()])
    study.picture("lines", "pingpong.svg", {"ping-pong": [(f, 1e3 * one["max_behind_s"]) for f, one in found.items()]},
                  "factor", "max behind in ms", "x")


def arrivals(study):
    rows, series = [], {}
    for gap in (100, 3000):
        series[f"receives {gap} us apart"] = points = []
        for factor in study.choose((1, 2, 4, 8, 16, 32), (1, 2)):
            one = study.emulate(factor, "reference", 4, "arrivals", study.choose(50, 2), gap)
            rows.append([f"{gap} us", factor, one["expected"], one["unexpected"], ms(one["max_behind_s"])])
            points.append((factor, one["unexpected"]))
    show("Non-blocking sends and receives, latency 1 ms", ["between receives", "factor", "expected", "unexpected", "max behind"],
         rows)
    study.picture("lines", "arrivals.svg", series, "factor", "unexpected messages", "x")


def kernels(study):
    rows, behind, times = [], {}, {}
    for name in study.choose(KERNELS, ("is",)):
        found = {factor: study.emulate(factor, "reference", 4, name, study.choose("S", "T"))
                 for factor in study.choose((1, 2, 4, 8, 16, 32), (1, 2))}
        behind[name] = [(factor, 1e3 * one["max_behind_s"]) for factor, one in found.items()]
        times[name] = [(factor, one["virtual_time_s"]) for factor, one in found.items()]
        rows += [[name, factor, ms(one["max_behind_s"]), ms(one["virtual_time_s"])] for factor, one in found.items()]
    show("Kernels over factors", ["kernel", "factor", "max behind", "run time"], rows)
    study.picture("lines", "behind.svg", behind, "factor", "max behind in ms", "xy")
    study.picture("lines", "run-time.svg", times, "factor", "run time in s", "x")


def slow_rank(study):
    rows, slower, factor, runs = [], {}, study.choose(16, 2), study.choose(3, 1)
    for name in study.choose(KERNELS, ("ep",)):
        one, other = (statistics.median(study.emulate(factor, machine, 4, name, study.choose("S", "T"))["virtual_time_s"]
                                        for _ in range(runs)) for machine in ("reference", "slow"))
        slower[name] = 100 * (other / one - 1)
        rows.append([name, ms(one), ms(other), f"{slower[name]:+.0f} %"])
    show("A slow link at rank 0", ["kernel", "reference", "slow rank 0", "slow-down"], rows)
    study.picture("bars", "slow-rank.svg", {"slow-down": slower}, "percent")


def against_virtual(study):
    """Doubles the factor until two medians agree to 1 % and events are executed in time for this network; then the last must
    agree with virtual time."""
    runs, words = study.choose(5, 1), study.choose((20, 2000, 10000), (3, 200, 1000))
    rows, worst = [], 0
    for machine in ("reference", "slow", "busy"):
        exact, before = study.virtual(machine, 4, "declared", *words)["virtual_time_s"], None
        for factor in study.choose((4, 8, 16, 32, 64, 128, 256), (2,)):
            found = [study.emulate(factor, machine, 4, "declared", *words, compute="none") for _ in range(runs)]
            time, behind = (statistics.median(one[key] for one in found) for key in ("virtual_time_s", "max_behind_s"))
            rows.append([machine, factor, ms(behind), ms(time), ms(exact), f"{100 * (time / exact - 1):+.2f} %"])
            if before and abs(time / before - 1) < 0.01 and behind <= found[0]["tolerance_s"]:
                break
            before = time
        worst = max(worst, abs(100 * (time / exact - 1)))
    show(f"Declared computing, medians of {runs}", ["network", "factor", "max behind", "emulated", "virtual", "off by"], rows)
    if not study.quick:
        print(f"once converged, {'within' if worst <= 5 else 'NOT within'} 5 %: off by up to {worst:.2f} %")
        return worst <= 5
    return True


def main():
    words = [word for word in sys.argv[1:] if word != "--quick"]
    if len(words) != 2:
        sys.exit(__doc__)
    study = Study(*words, "--quick" in sys.argv)
    parts = [ping_pong, arrivals, kernels, slow_rank, against_virtual]
    good = True
    for number, part in enumerate(parts, 1):
        print(f"{number} of {len(parts)}: {part.__name__.replace('_', ' ')}", flush=True)
        good = part(study) is not False and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
