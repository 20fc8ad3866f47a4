#!/usr/bin/env python3
"""Flows of TCP that share a slow link: the kernel's, on a cluster of two nodes on this computer, and the simulator's.

usage: contended.py ORRERY FLOWS OUT [--flows N,..] [--queues PACKETS,..] [--rates MBPS,..] [--algorithms NAME,..]
       [--seconds S] [--rounds N] [--kernel FILE]

FLOWS is flows.c, compiled. One node sends, the other receives; the port of the switch towards the receiver has a rate and a queue of limited
length, and a relay delays what passes. Segments leave the kernel one by one (gso_max_segs 1), as in the simulator. The cluster needs root; OUT
gets a table (contended.txt) and a picture (contended.svg). Both have the rate of all flows together, Jain's index of fairness, segments that were
sent again, and timeouts: medians of some rounds, in which the simulator has different seeds. FILE keeps what the kernel has done: a case that is
in it is not run again, so that a change of the simulator can be judged without a cluster.
"""

import argparse
import contextlib
import itertools
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import against_kernel
from against_kernel import HERE, TESTS, say

DELAY = 2  # ms from one node to the other
ALGORITHMS = {"cubic": "cubic", "reno": "newreno", "bbr": "bbr"}  # of the kernel, and of the simulator
COLOURS = {"cubic": "#8aa9d6", "reno": "#d9773f", "bbr": "#4a9a5b"}
FRAME = 1514
MESSAGE = 65536
LIMIT = 180  # seconds for a run
PORT = 5000


class Case:
    """So many flows, a queue of so many packets, a rate in Mbit/s; how much each flow sends."""

    def __init__(self, flows, queue, rate, seconds):
        self.flows, self.queue, self.rate = flows, queue, rate
        self.messages = max(1, round(rate * 1e6 / 8 * seconds / flows / MESSAGE))
        self.bytes = self.messages * MESSAGE

    def title(self):
        return f"{self.flows:3d} flows, {self.queue:3d} packets, {self.rate:3d} Mbit/s"

    def result(self, times, again, timeouts):
        """Goodput in Mbit/s of all together, until the last has all, and of the median flow; fairness; and both counts."""
        rates = [self.bytes * 8e-6 / each for each in times]
        return (self.flows * self.bytes * 8e-6 / max(times), statistics.median(rates),
                sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates)), again, timeouts)


# ---- the kernel ----

def prepare(cluster, made):
    made.shape(None, f"{DELAY}ms", made.nodes[1])
    made.ip(made.nodes[0], "link set eth0 gso_max_segs 1")
    for node in made.nodes:
        cluster.demand(made.call(["sh", "-c", "echo 1 >/proc/sys/net/ipv4/tcp_no_metrics_save"], node=node).status == 0,
                       "cannot set tcp_no_metrics_save")


def narrow(cluster, made, case):
    burst = int(max(2 * FRAME, case.rate * 1e6 / 8 * cluster.BURST))
    cluster.do(*cluster.inside(made.switch.pid, "--net"), "tc", "qdisc", "replace", "dev", "port1", "root", "tbf",
               "rate", f"{case.rate}mbit", "burst", f"{burst}b", "limit", f"{case.queue * FRAME}b")


def measure(cluster, made, case, algorithm, port):
    narrow(cluster, made, case)
    program = [sys.executable, str(HERE / "sockets.py")]
    words = [str(port), str(case.flows), str(case.bytes)]
    with made.start([*program, "receive", *words], node=made.nodes[1], stdout=subprocess.PIPE, text=True) as receiver:
        if receiver.stdout.readline() != "ready\n":
            sys.exit("the receiver does not start")
        done = made.call([*program, "send", made.nodes[1].address, *words, algorithm], node=made.nodes[0], limit=LIMIT)
        if done.status:
            sys.exit(f"the sender failed: {done.stderr.strip()}")
        times = [float(word) for word in receiver.stdout.read().split()]
    return times, *map(int, done.stdout.split())


class Kernel:
    """What the kernel does in each case and round, measured once."""

    def __init__(self, file):
        self.file, self.cluster, self.ending, self.port = file, None, contextlib.ExitStack(), PORT
        self.known = json.loads(file.read_text()) if file and file.exists() else {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ending.close()

    def begin(self):
        sys.path.insert(0, str(TESTS))
        import cluster
        why = cluster.why_not()
        if why:
            say(f"skipped: no cluster can be made: {why}")
            sys.exit(0)
        self.made = self.ending.enter_context(cluster.Cluster(2))
        self.ending.enter_context(against_kernel.preferred(self.made))
        prepare(cluster, self.made)
        self.cluster = cluster

    def result(self, case, algorithm, number):
        key = f"{algorithm} {case.flows} {case.queue} {case.rate} {case.bytes} {number}"
        if key not in self.known:
            if not self.cluster:
                self.begin()
            self.port += 1
            say(f"{algorithm}, {case.title()}")
            self.known[key] = measure(self.cluster, self.made, case, algorithm, self.port)
            if self.file:
                self.file.write_text(json.dumps(self.known, indent=0))
        return case.result(*self.known[key])


def allowed(algorithms):
    """Those that this kernel has."""
    there = pathlib.Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text(encoding="ascii").split()
    for name in algorithms:
        if name not in there:
            say(f"skipped: this kernel has no {name}")
    return [name for name in algorithms if name in there]


# ---- the simulator ----

def simulate(options, case, algorithm, seed):
    settings = (f"net.model=packet,net.bandwidth=10Gbps,net.hop_latency={DELAY}ms,net.latency=10us,net.packet.framing=14,nodes.ranks={case.flows},"
                f"net.packet.queue={case.queue * FRAME},net.packet.send_buffer=4MiB,net.packet.receive_buffer=4MiB,mpi.eager_limit=1GiB,"
                f"net.packet.congestion={algorithm},net.packet.seed={seed},net.links[+].from=s0,net.links[-1].to=n1,net.links[-1].both=false,"
                f"net.links[-1].bandwidth={case.rate}Mbps")
    with tempfile.TemporaryDirectory() as folder:
        summary = pathlib.Path(folder) / "summary.json"
        done = subprocess.run([options.orrery, "run", "-q", "-n", str(2 * case.flows), "--compute", "none", "--json", summary, "--set",
                               settings, options.program, str(case.messages), str(MESSAGE)],
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        if done.returncode:
            sys.exit(f"the simulation of {case.title()} failed: {done.stderr.strip()}")
        network = json.loads(summary.read_text())["network"]
    return case.result([float(word) for word in done.stdout.split()], network["retransmitted"], network["timeouts"])


# ---- results ----

def ratio(real, simulated, added=0):
    return (simulated + added) / (real + added)


# What the simulator shall keep: the index of a result, its name, what is added to both so that small numbers say nothing, and the largest ratio.
LIMITS = ((1, "goodput", 0, 1.1), (3, "sent again", 10, 2), (4, "timeouts", 5, 3))


def outside(real, simulated):
    """Names of what is not as near as it shall be."""
    return [name for index, name, added, most in LIMITS
            if not 1 / most <= ratio(real[index], simulated[index], added) <= most]


def table(rows):
    lines = [f"{'':38s} {'Mbit/s, all':>15s} {'median flow':>13s} {'fairness':>13s} {'sent again':>15s} {'timeouts':>11s}",
             f"{'':38s} {'kernel':>7s} {'sim.':>7s}" + 2 * f" {'kernel':>6s} {'sim.':>6s}" + f" {'kernel':>7s} {'sim.':>7s} {'kernel':>6s} {'sim.':>4s}"]
    for case, name, real, simulated in rows:
        lines.append(f"{name:6s} {case.title()} {real[0]:7.1f} {simulated[0]:7.1f} {real[1]:6.2f} {simulated[1]:6.2f} {real[2]:6.3f} {simulated[2]:6.3f} "
                     f"{real[3]:7.0f} {simulated[3]:7.0f} {real[4]:6.0f} {simulated[4]:4.0f}  {', '.join(outside(real, simulated))}".rstrip())
    for index, what, added, most in LIMITS:
        ratios = [ratio(real[index], simulated[index], added) for _, _, real, simulated in rows]
        inside = sum(1 / most <= each <= most for each in ratios)
        lines.append(f"{what}: {inside} of {len(rows)} within a factor of {most}; the median of simulated over kernel is {statistics.median(ratios):.2f}")
    return "\n".join(lines) + "\n"


def picture(rows):
    """A point for each case: goodput and segments sent again, of the simulator over the kernel's."""
    size, left = 300, 60
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * (size + 2 * left)}" height="{size + 2 * left}" font-family="sans-serif" '
             'font-size="11">', '<rect width="100%" height="100%" fill="white"/>']
    for k, (what, index) in enumerate((("goodput of the median flow, Mbit/s", 1), ("segments sent again, and 1", 3))):
        def at(value, index=index):
            low, high = (-2, 3) if index == 1 else (0, 5)
            return size * (math.log10(max(value + (index == 3), 0.01)) - low) / (high - low)
        x, y = left + k * (size + 2 * left), left + size
        parts.append(f'<rect x="{x}" y="{left}" width="{size}" height="{size}" fill="none" stroke="#888"/>'
                     f'<line x1="{x}" y1="{y}" x2="{x + size}" y2="{left}" stroke="#ccc"/>'
                     f'<text x="{x + size / 2}" y="{y + 30}" text-anchor="middle">kernel: {what}</text>'
                     f'<text x="{x}" y="{left - 10}">simulated</text>')
        for _, name, real, simulated in rows:
            colour = COLOURS[name]
            parts.append(f'<circle cx="{x + at(real[index]):.1f}" cy="{y - at(simulated[index]):.1f}" r="4" fill="{colour}"/>')
    parts.append(f'<text x="{left}" y="20">blue: cubic, orange: reno, green: bbr; logarithmic</text>')
    return "\n".join([*parts, "</svg>\n"])


def numbers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("orrery")
    parser.add_argument("program")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--flows", type=numbers, default=[1, 2, 8, 32])
    parser.add_argument("--queues", type=numbers, default=[8, 64, 256], help="packets")
    parser.add_argument("--rates", type=numbers, default=[10, 100, 500], help="Mbit/s")
    parser.add_argument("--algorithms", type=lambda text: text.split(","), default=list(ALGORITHMS))
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kernel", type=pathlib.Path, help="keeps what the kernel has done")
    options = parser.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    options.out.mkdir(parents=True, exist_ok=True)
    cases = itertools.product(options.rates, options.queues, options.flows, allowed(options.algorithms))
    rows, rounds = [], range(1, options.rounds + 1)

    def middle(results):
        return [statistics.median(values) for values in zip(*results)]
    with Kernel(options.kernel) as kernel:
        for rate, queue, flows, name in cases:
            case = Case(flows, queue, rate, options.seconds)
            rows.append((case, name, middle(kernel.result(case, name, number) for number in rounds),
                         middle(simulate(options, case, ALGORITHMS[name], number) for number in rounds)))
    (options.out / "contended.txt").write_text(table(rows))
    (options.out / "contended.svg").write_text(picture(rows))
    print(table(rows), end="")


if __name__ == "__main__":
    main()
