#!/usr/bin/env python3
"""Tests of `orrery tune` and of what it rests on, and prints TAP.

  recover    latency and bandwidth of a network are found to 5%, from a trace with 2% noise and a wrong start
  determine  it says how well latency, overhead, gap, bandwidth and eager limit of LogGOPS are determined
  rank       of five machines on which the program takes the same time, only one of which is right, the
             comparison finds that one
  replayed   the same from a trace that is replayed, in place of a program
  resume     a search that was interrupted goes on from its log, and finds the same
  usage      wrong usage says what is wrong
"""

import json
import pathlib
import re
import signal
import subprocess

import harness
from harness import TESTS, demand

TRUTH = {"net.latency": 7e-6, "net.bandwidth": 5e9}
LOGGOPS = ("net.model=loggops,net.latency=3us,net.bandwidth=8Gbps,net.gap=600ns,mpi.send_overhead=400ns,"
           "mpi.recv_overhead=400ns,mpi.eager_limit=8KiB")
UNITS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12}


class Tune:
    def __init__(self, options):
        self.orrery = str(pathlib.Path(options.orrery).resolve())
        self.folder = options.build_dir.resolve()
        build = pathlib.Path(self.orrery).parent
        self.noise = str(build / "tests" / "trace_noise")
        done = harness.call(["ninja", "-C", str(build), "tests/trace_noise"])
        demand(done.status == 0, "cannot build trace_noise", done.stdout)
        harness.build_all([TESTS.parent / "examples/papers/zhang/mixed.c"], self.folder, ["-O1", "-w"])
        self.program = [str(self.folder / "mixed"), "3"]

    def call(self, *words, status=0):
        done = harness.call([self.orrery, *map(str, words)])
        demand(done.status == status, f"exit status {done.status} instead of {status}", done.stderr, done.stdout)
        return done

    def trace(self, name, settings, ranks=4):
        path = self.folder / f"{name}.orr"
        self.call("run", "-q", "-n", ranks, "--compute", "none", "--set", settings, "--trace", path, *self.program)
        return path

    def noisy(self, name, settings):
        path = self.folder / f"{name}-noisy.orr"
        done = harness.call([self.noise, str(self.trace(name, settings)), str(path), "2", "1"])
        demand(done.status == 0, "no noise", done.stderr)
        return path

    def behind(self):
        return ["run", "-n", "4", "--compute", "none", *self.program]


def read_values(text):
    """The settings that were found, in SI units."""
    found = {}
    for item in re.search(r"^use it with: --set (.*)$", text, re.M).group(1).split(","):
        key, value = item.split("=")
        number, unit = re.match(r"([-+0-9.e]+)(\w*)", value).groups()
        found[key] = float(number) * UNITS.get(unit, 1)
    return found


def recover(tune):
    reference = tune.noisy("recover", "net.latency=7us,net.bandwidth=5Gbps")
    done = tune.call("tune", reference, "--set", "net.latency=500ns..500us", "--set",
                     "net.bandwidth=100Mbps..500Gbps", "--start", "net.latency=100us,net.bandwidth=200Mbps",
                     "-o", tune.folder / "found.yaml", *tune.behind())
    found = read_values(done.stdout)
    for key, value in TRUTH.items():
        demand(abs(found[key] / value - 1) < 0.05, f"{key}: {found[key]} instead of {value}", done.stdout)
    demand(len(re.findall(r"^  net\.\w+ .* within ", done.stdout, re.M)) == 2, "not determined", done.stdout)
    tune.call("platform", "check", tune.folder / "found.yaml")


def determine(tune):
    reference = tune.noisy("determine", LOGGOPS)
    bounds = ["net.latency=1us..100us", "net.bandwidth=1Gbps..500Gbps", "net.gap=100ns..20us",
              "mpi.send_overhead=50ns..10us", "mpi.eager_limit=512B..1MiB"]
    sets = [word for bound in bounds for word in ("--set", bound)]
    done = tune.call("tune", reference, *sets, "--set", "net.model=loggops", "--set", "mpi.recv_overhead=400ns",
                     *tune.behind())
    for bound in bounds:
        key = bound.split("=")[0]
        demand(re.search(rf"^  {re.escape(key)} +\S+ +(within|poorly determined|not determined)", done.stdout, re.M),
               f"nothing is said of {key}", done.stdout)
    found = read_values(done.stdout)
    demand(abs(found["net.bandwidth"] / 8e9 - 1) < 0.05, "the bandwidth is wrong", done.stdout)


def total(tune, trace):
    text = tune.call("analyze", trace, "--format", "json", "overall").stdout
    return json.loads(text), float(re.search(r'"runtime"[^0-9]*([-+0-9.e]+)', text).group(1))


def error(tune, reference, trace):
    text = tune.call("compare", reference, trace, "--format", "json").stdout
    means = [float(mean) for mean in re.findall(r'"mean": *([-+0-9.e]+)', text)]
    demand(means, "no errors", text)
    return sum(means) / len(means)


def same_time(tune, name, settings, wanted):
    """A trace with settings and a factor of all bandwidths with which the program takes as long."""
    low, high = 1e-3, 1e3
    for _ in range(14):
        factor = (low * high) ** 0.5
        trace = tune.trace(name, f"{settings},net.bandwidth_factor={factor:.6g}")
        took = total(tune, trace)[1]
        if abs(took / wanted - 1) < 0.02:
            break
        low, high = (factor, high) if took > wanted else (low, factor)
    demand(abs(took / wanted - 1) < 0.05, f"{name}: {took} s instead of {wanted} s")
    return trace


def rank(tune):
    nominal = LOGGOPS
    reference = tune.noisy("rank", nominal)
    wanted = total(tune, reference)[1]
    variations = {"latency": nominal.replace("latency=3us", "latency=5us"),
                  "gap": nominal.replace("gap=600ns", "gap=1200ns"),
                  "overhead": nominal.replace("send_overhead=400ns", "send_overhead=900ns"),
                  "eager": nominal.replace("eager_limit=8KiB", "eager_limit=256B")}
    right = error(tune, reference, tune.trace("rank-nominal", nominal))
    for name, settings in variations.items():
        wrong = error(tune, reference, same_time(tune, f"rank-{name}", settings, wanted))
        demand(right < wrong, f"the {name} is wrong and has error {wrong}; the right machine has {right}")


def replayed(tune):
    """A trace in place of the program, recorded on another machine."""
    reference = tune.trace("replay-reference", "net.latency=7us,net.bandwidth=5Gbps")
    other = tune.trace("replay-other", "net.latency=60us,net.bandwidth=1Gbps")
    found = read_values(tune.call("tune", reference, "--set", "net.latency=1us..100us", "--set",
                                  "net.bandwidth=1Gbps..20Gbps", "--evaluations", "150", "replay", other).stdout)
    for key, value in TRUTH.items():
        demand(abs(found[key] / value - 1) < 0.05, f"{key} is {found[key]}, not {value}")
    left = [path.name for path in tune.folder.iterdir() if ".part-" in path.name]
    demand(not left, f"left behind: {left}")


def resume(tune):
    reference, log = tune.trace("resume", "net.latency=7us,net.bandwidth=5Gbps"), tune.folder / "resume.log"
    words = ["tune", reference, "--set", "net.latency=1us..100us", "--evaluations", "40", *tune.behind()]
    log.unlink(missing_ok=True)
    whole = tune.call(*words).stdout
    with_log = [*words[:2], "--log", log, *words[2:]]
    with harness.GROUPS.start([tune.orrery, *map(str, with_log)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as child:
        harness.wait_until(lambda: child.poll() is not None or log.exists() and log.read_text().count("\n") > 8,
                           "evaluations in the log")
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=harness.LIMIT)
        demand(child.returncode in (130, 0), f"exit status {child.returncode}", out)
    before = log.read_text().count("\n")
    again = tune.call(*with_log).stdout
    demand(read_values(again) == read_values(whole), "another result", whole, again)
    demand(log.read_text().count("\n") >= before, "the log has shrunk")
    again = tune.call(*with_log)
    demand("all in the log" in again.stdout, "runs were repeated", again.stdout)
    other = tune.call(*[word if word != "net.latency=1us..100us" else "net.latency=1us..90us" for word in with_log],
                      status=2)
    demand("not the log of this search" in other.stderr, "another log is taken", other.stderr)


def usage(tune):
    reference = tune.trace("usage", "net.latency=7us")
    for words, text in (
            ([], "no reference given"),
            ([reference], "expected 'run'"),
            ([reference, *tune.behind()], "nothing to search"),
            ([reference, "--set", "net.latency=1us..1", *tune.behind()], "same unit"),
            ([reference, "--set", "net.latency=2us..1us", *tune.behind()], "not below"),
            ([reference, "--set", "net.hop_latency=1us..2us", *tune.behind()], "net.hop_latency"),
            ([reference, "--set", "net.latncy=1us..2us", *tune.behind()], "net.latency"),
            (["/nowhere.orr", "--set", "net.latency=1us..2us", *tune.behind()], "/nowhere.orr"),
            ([reference, "--set", "net.latency=1us..2us", "run", "-n", "4"], "no program"),
            ([reference, "--set", "net.latency=1us..2us", "run", "--json", "x", "-n", "4", "p"], "same file"),
            ([reference, "--set", "net.latency=1us..2us", "--groups", "x", *tune.behind()], "unknown group")):
        done = tune.call("tune", *words, status=2)
        demand(text in done.stderr, f"no word of '{text}'", done.stderr)


def main():
    options = harness.options_parser(__doc__, "build/tune-tests", 1).parse_args()
    tune = Tune(options)
    tap = harness.Tap()
    tap.run_chosen([(function.__name__, function, tune)
                    for function in (usage, recover, determine, rank, replayed, resume)], options)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
