"""What the scripts of this example share: runs of the kernels, and what they print."""

import os
import re
import signal
import statistics
import subprocess
import sys

KERNELS = ("ep", "is", "cg", "ft", "lu")
SLACK = 0.10  # the range of native times is widened by this, up and down
LIMIT = 300  # seconds for a run, which then hangs


class Failed(Exception):
    pass


def add_options(parser, size, count):
    """The options that scripts which measure have."""
    parser.add_argument("--class", dest="size", default=size, help=f"class of the kernels (default {size})")
    parser.add_argument("--runs", type=int, default=count, help=f"runs of each kernel in each way (default {count})")
    parser.add_argument("--kernels", dest="chosen", type=lambda text: text.split(","), default=KERNELS,
                        help=f"some of {','.join(KERNELS)}, which is the default")


def call(words, tries=1):
    """The output of a command. One that hangs is killed with all that it has started; `tries` says how often."""
    words = [str(word) for word in words]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if tries > 1:
            return call(words, tries - 1)
        raise Failed(f"'{' '.join(words)}' did not end within {LIMIT} s") from None
    if process.returncode:
        raise Failed(f"'{' '.join(words)}' ended with status {process.returncode}:\n{out}{err}")
    return out


def seconds(words, tries=1):
    """The time that a kernel prints, in whatever way it is run."""
    out = call(words, tries)
    if ": verified" not in out:
        raise Failed(f"'{' '.join(map(str, words))}' is not verified:\n{out}")
    return float(re.search(r"^time ([\d.]+) s$", out, re.M)[1])


class Progress:
    """What is being done, on standard error: on a terminal in one line."""

    def __init__(self, steps):
        self.steps, self.done = steps, 0
        self.is_line = sys.stderr.isatty()

    def step(self, text):
        self.done += 1
        line = f"[{self.done}/{self.steps}] {text}"
        sys.stderr.write(f"\r\033[K{line}" if self.is_line else f"{line}\n")
        sys.stderr.flush()

    def end(self):
        if self.is_line:
            sys.stderr.write("\r\033[K")


def interleaved(modes, kernels, runs, progress):
    """Times of each kernel in each mode: {kernel: {mode: [seconds]}}. Modes take turns, so that what changes on the
    computer meanwhile changes all of them. `modes` has for each name a function of a kernel that returns a time."""
    times = {kernel: {mode: [] for mode in modes} for kernel in kernels}
    for kernel in kernels:
        for _ in range(runs):
            for mode, run in modes.items():
                value = run(kernel)
                times[kernel][mode].append(value)
                progress.step(f"{kernel}, {mode}: {value:.6f} s")
    return times


def write_csv(path, times):
    with open(path, "w", encoding="ascii") as file:
        file.write("kernel,mode,run,seconds\n")
        for kernel, modes in times.items():
            for mode, values in modes.items():
                file.writelines(f"{kernel},{mode},{i + 1},{value:.6f}\n" for i, value in enumerate(values))


def is_within(values, native):
    """Is the median within the range of native times, widened?"""
    return min(native) * (1 - SLACK) <= statistics.median(values) <= max(native) * (1 + SLACK)
