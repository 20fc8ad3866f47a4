#!/usr/bin/env python3
"""What would the kernels take on a slower network? Calibrates a cluster, predicts their times for another rate of its
links, then sets the links to that rate and measures.

usage: whatif.py TOOL ORRERY KERNELS OUT [--class C] [--runs N] [--kernels A,B] [--from RATE] [--to RATE]

TOOL is tools/cluster of the source tree, which makes a cluster of two nodes on this computer; it needs root. OUT gets
whatif.txt, whatif.csv, whatif.svg and the platform."""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys

import picture
import runs

MODES = ("run", "hybrid")
TRIES = 3  # a launcher that does not end is started again
UNITS = {"bps": 1, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9}
FRAME = 1514 / 1448  # bytes on the link for each of a message: TCP over Ethernet


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", type=pathlib.Path)
    parser.add_argument("orrery", type=pathlib.Path)
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    runs.add_options(parser, "W", 5)
    parser.add_argument("--from", dest="first", default="1Gbps", help="rate of the links that are calibrated")
    parser.add_argument("--to", dest="second", default="100Mbps", help="rate for which times are predicted")
    parser.add_argument("--platform", help="a platform of the cluster (default: it is calibrated)")
    return parser.parse_args()


def rate(text):
    match = re.fullmatch(r"([0-9.]+)([KMG]?bps)", text)
    if not match:
        raise runs.Failed(f"bad rate '{text}': expected a number and Kbps, Mbps or Gbps, as in 100Mbps")
    return float(match[1]) * UNITS[match[2]]


def slower(orrery, platform, first, second):
    """Settings that make a platform, measured on links of rate `first`, one with links of rate `second`. Only the time of a
    byte on the link changes, not what the software takes: it is added to all pieces of the cost, those included that
    look faster than the link because it lets a few packets pass at once."""
    text = runs.call([orrery, "platform", "show", platform])
    net = re.search(r"^net:\n(.*?)(?=^  (?:# )?intra:)", text, re.M | re.S)[1]
    more = FRAME * (1 / second - 1 / first)
    fields = re.findall(r"^  (?:bandwidth: |  - \{.*bandwidth: )(\w[\w.]*)", net, re.M)
    keys = ["net.bandwidth", *(f"net.segments[{i}].bandwidth" for i in range(len(fields) - 1))]
    settings = (f"{key}={1 / ((0 if old == 'inf' else 1 / rate(old)) + more):.0f}bps" for key, old in zip(keys, fields))
    return [word for setting in settings for word in ("--set", setting)]


class Study:
    """On the first node of the cluster."""

    def __init__(self, options):
        self.options = options
        self.launcher = os.environ["CLUSTER_MPIEXEC"]
        self.platform = options.platform or options.out / "cluster.yaml"
        self.progress = runs.Progress(len(options.chosen) * options.runs * (2 + 2 * len(MODES)))

    def calibrate(self):
        print(f"calibrating at {self.options.first}: about a minute", file=sys.stderr)
        runs.call([self.options.orrery, "calibrate", "-n", 2, "--launcher", self.launcher, "-o", self.platform], TRIES)

    def native(self, kernel):
        return runs.seconds([*self.launcher.split(), "-n", 2, self.options.kernels / kernel, self.options.size], TRIES)

    def predictions(self, settings):
        """A function for each way to predict, with changes of the calibrated platform."""
        def predict(mode):
            more = ["--launcher", self.launcher] if mode == "hybrid" else []
            return lambda kernel: runs.seconds(
                [self.options.orrery, mode, "-q", "-n", 2, "--platform", self.platform, *settings, *more,
                 self.options.kernels / kernel, self.options.size], TRIES)
        return {mode: predict(mode) for mode in MODES}

    def shape(self, text):
        runs.call([self.options.tool, "shape", "all", "--rate", text])

    def times(self, modes):
        return runs.interleaved(modes, self.options.chosen, self.options.runs, self.progress)

    def measure(self):
        """Times by rate, kernel and mode. All predictions are made before the second rate is tried."""
        options = self.options
        if not options.platform:
            self.calibrate()
        times = {options.first: self.times({"native": self.native, **self.predictions([])}),
                 options.second: self.times(self.predictions(
                     slower(options.orrery, self.platform, rate(options.first), rate(options.second))))}
        self.shape(options.second)
        truth = self.times({"native": self.native})
        self.progress.end()
        for kernel, modes in truth.items():
            times[options.second][kernel] = {**modes, **times[options.second][kernel]}
        return times


def error(values, native):
    return statistics.median(values) / statistics.median(native) - 1


def table(times, options):
    yield f"2 nodes, class {options.size}, medians of {options.runs} runs, calibrated at {options.first}"
    for at, kernels in times.items():
        yield f"\nlinks of {at}" + ("" if at == options.first else ", predicted before they were set to it")
        yield f"{'kernel':8}{'native':>12}" + "".join(f"{mode:>12}{'error':>9}" for mode in MODES)
        for kernel, modes in kernels.items():
            native = modes["native"]
            yield f"{kernel:8}{statistics.median(native):10.4f} s" + "".join(
                f"{statistics.median(modes[mode]):10.4f} s{100 * error(modes[mode], native):+8.1f}%" for mode in MODES)
        for mode in MODES:
            errors = [abs(error(modes[mode], modes["native"])) for modes in kernels.values()]
            yield (f"error of {mode}: median {100 * statistics.median(errors):.1f} %, "
                   f"worst {100 * max(errors):.1f} %")


def inside(options):
    times = Study(options).measure()
    runs.write_csv(options.out / "whatif.csv", {f"{kernel} at {at}": modes for at, kernels in times.items()
                                                for kernel, modes in kernels.items()})
    text = "\n".join(table(times, options)) + "\n"
    (options.out / "whatif.txt").write_text(text, encoding="ascii")
    (options.out / "whatif.svg").write_text(picture.agreement(times[options.second]), encoding="ascii")
    print(text, end="")


def main():
    options = parse()
    for name in ("tool", "orrery", "kernels", "out"):
        setattr(options, name, getattr(options, name).resolve())
    options.out.mkdir(parents=True, exist_ok=True)
    rate(options.first), rate(options.second)
    if "CLUSTER_MPIEXEC" in os.environ:
        return inside(options)
    command = [options.tool, "run", "-n", "2", "--rate", options.first, "--", sys.executable, "-B", *sys.argv]
    return subprocess.run([str(word) for word in command], check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main())
    except runs.Failed as failure:
        sys.exit(f"whatif.py: error: {failure}")
