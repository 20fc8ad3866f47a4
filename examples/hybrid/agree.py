#!/usr/bin/env python3
"""Runs the kernels natively, in `orrery hybrid` and in `orrery run`, in turns, on a platform that was measured on this
computer, and says whether the three agree.

usage: agree.py ORRERY KERNELS OUT [--class C] [--runs N] [--kernels A,B] [--ranks N] [--platform FILE]

KERNELS is the folder of the programs, OUT that of the results: agree.txt, agree.csv, agree.svg and the platform."""

import argparse
import os
import pathlib
import statistics
import sys

import picture
import runs

WIDTH = 24


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("orrery")
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    runs.add_options(parser, "A", 7)
    parser.add_argument("--ranks", type=int, default=os.cpu_count(), help="default: as many as cores")
    parser.add_argument("--platform", help="a platform file (default: this computer is calibrated)")
    parser.add_argument("--mpiexec", default="mpiexec.mpich")
    return parser.parse_args()


def modes_of(options, platform):
    """A function for each way to run a kernel."""
    def program(kernel):
        return options.kernels / kernel, options.size

    def native(kernel):
        return runs.seconds([options.mpiexec, "-n", options.ranks, *program(kernel)])

    def simulated(command):
        return lambda kernel: runs.seconds([options.orrery, command, "-q", "-n", options.ranks, "--platform", platform,
                                            *program(kernel)])
    return {"native": native, "hybrid": simulated("hybrid"), "run": simulated("run")}


def cell(values):
    return f"{statistics.median(values):.4f} ({min(values):.4f}..{max(values):.4f})"


def table(times, options):
    modes = list(next(iter(times.values())))
    yield f"{options.ranks} ranks, class {options.size}, {options.runs} runs: median (least..most) in seconds"
    yield f"{'kernel':8}" + "".join(f"{mode:>{WIDTH + 4}}" for mode in modes) + "   within native, widened by 10 %?"
    for kernel, values in times.items():
        verdicts = ", ".join(f"{mode} {'yes' if runs.is_within(values[mode], values['native']) else 'NO'}"
                             for mode in modes[1:])
        yield f"{kernel:8}" + "".join(f"{cell(values[mode]):>{WIDTH + 4}}" for mode in modes) + f"   {verdicts}"
    for mode in modes[1:]:
        good = sum(runs.is_within(values[mode], values["native"]) for values in times.values())
        yield f"{mode}: {good} of {len(times)} kernels agree with native runs"


def main():
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    platform = options.platform or options.out / "here.yaml"
    if not options.platform:
        print("calibrating: about a minute", file=sys.stderr)
        runs.call([options.orrery, "calibrate", "-n", max(2, options.ranks), "-o", platform])
    progress = runs.Progress(len(options.chosen) * options.runs * 3)
    times = runs.interleaved(modes_of(options, platform), options.chosen, options.runs, progress)
    progress.end()
    runs.write_csv(options.out / "agree.csv", times)
    text = "\n".join(table(times, options)) + "\n"
    (options.out / "agree.txt").write_text(text, encoding="ascii")
    (options.out / "agree.svg").write_text(picture.agreement(times), encoding="ascii")
    print(text, end="")
    print(f"picture: {options.out / 'agree.svg'}")


if __name__ == "__main__":
    try:
        main()
    except runs.Failed as failure:
        sys.exit(f"agree.py: error: {failure}")
