#!/usr/bin/env python3
"""Prints how long a program runs natively, while it is recorded, and in replays of that recording: in real time on the
real MPI, and in the simulator. All are the time between MPI_Init and MPI_Finalize, and medians of some runs in turn.

With BUSY "sleep" the program and the replay in real time sleep to compute: for more ranks than cores.

usage: overhead.py ORRERY PROGRAM [RUNS [RANKS [BUSY [PLATFORM]]]]
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile


def span(orrery, trace):
    """Seconds between MPI_Init and MPI_Finalize."""
    text = subprocess.run([orrery, "trace", "print", "--exact", trace], check=True, capture_output=True, text=True).stdout
    starts = [int(enter) + int(time) for enter, time in re.findall(r"^\[\d+\] (\d+) \+ (\d+): MPI_Init", text, re.M)]
    ends = [int(enter) for enter in re.findall(r"^\[\d+\] (\d+) \+ \d+: MPI_Finalize", text, re.M)]
    return (max(ends) - min(starts)) * 1e-12


def main():
    orrery, program = sys.argv[1:3]
    runs, ranks, busy, platform = (sys.argv[3:] + ["5", "2", "spin", "ethernet-1g"][len(sys.argv) - 3:])[:4]
    words = [program, "sleep", "3"] if busy == "sleep" else [program]
    seconds = {"original": [], "traced": [], "replayed, real time": [], "replayed, model": []}
    with tempfile.TemporaryDirectory() as folder:
        trace, new = os.path.join(folder, "trace.orr"), os.path.join(folder, "new.orr")
        for _ in range(int(runs)):
            done = subprocess.run(["mpiexec.mpich", "-n", ranks, *words], check=True, capture_output=True, text=True)
            seconds["original"].append(float(re.search(r"([\d.]+) s", done.stdout).group(1)))
            subprocess.run([orrery, "record", "-q", "-n", ranks, "-o", trace, *words], check=True, capture_output=True)
            seconds["traced"].append(span(orrery, trace))
            for name, options in (("replayed, real time", ["--real-time", "--busy", busy]),
                                  ("replayed, model", ["--platform", platform])):
                subprocess.run([orrery, "replay", "-q", *options, trace, "-o", new], check=True)
                seconds[name].append(span(orrery, new))
    reference = statistics.median(seconds["original"])
    print(f"{ranks} ranks, median of {runs} runs: time, against the original, replays against their recording")
    for name, values in seconds.items():
        median = statistics.median(values)
        ratio = statistics.median(value / traced for value, traced in zip(values, seconds["traced"]))
        recording = f"{100 * (ratio - 1):+8.2f} %" if "replayed" in name else ""
        print(f"  {name:20} {median:9.6f} s  {100 * (median / reference - 1):+8.2f} %  {recording}")


if __name__ == "__main__":
    main()
