#!/usr/bin/env python3
"""Flows of TCP that share a slow link: the kernel's, on a cluster of two nodes on this computer, and the simulator's.

usage: contended.py ORRERY FLOWS OUT [--flows N,..] [--queues PACKETS,..] [--rates MBPS,..] [--seconds S]

FLOWS is flows.c, compiled. One node sends, the other receives; the port of the switch towards the receiver has a rate and a queue of limited
length, and a relay delays what passes. Segments leave the kernel one by one (gso_max_segs 1), as in the simulator. The cluster needs root; OUT
gets a table (contended.txt) and a picture (contended.svg). Both have the rate of all flows together, Jain's index of fairness, segments that were
sent again, and timeouts.
"""

import argparse
import itertools
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import against_kernel
from against_kernel import HERE, TESTS, say

DELAY = 2  # ms from one node to the other
ALGORITHMS = (("cubic", "cubic"), ("reno", "newreno"))  # of the kernel, and of the simulator
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
        """Goodput in Mbit/s, fairness, and both counts."""
        rates = [self.bytes * 8e-6 / each for each in times]
        return (self.flows * self.bytes * 8e-6 / max(times), sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates)),
                again, timeouts)


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
    return case.result(times, *map(int, done.stdout.split()))


# ---- the simulator ----

def simulate(options, case, algorithm):
    settings = (f"net.model=packet,net.bandwidth=10Gbps,net.hop_latency={DELAY}ms,net.latency=10us,net.packet.framing=14,nodes.ranks={case.flows},"
                f"net.packet.queue={case.queue * FRAME},net.packet.send_buffer=4MiB,net.packet.receive_buffer=4MiB,mpi.eager_limit=1GiB,"
                f"net.packet.congestion={algorithm},net.links[+].from=s0,net.links[-1].to=n1,net.links[-1].both=false,"
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

def table(rows):
    lines = [f"{'':38s} {'Mbit/s':>15s} {'fairness':>13s} {'sent again':>15s} {'timeouts':>11s}",
             f"{'':38s} {'kernel':>7s} {'sim.':>7s} {'kernel':>6s} {'sim.':>6s} {'kernel':>7s} {'sim.':>7s} {'kernel':>6s} {'sim.':>4s}"]
    for case, name, real, simulated in rows:
        lines.append(f"{name:6s} {case.title()} {real[0]:7.1f} {simulated[0]:7.1f} {real[1]:6.3f} {simulated[1]:6.3f} "
                     f"{real[2]:7d} {simulated[2]:7d} {real[3]:6d} {simulated[3]:4d}")
    return "\n".join(lines) + "\n"


def picture(rows):
    """A point for each case: goodput and segments sent again, of the simulator over the kernel's."""
    size, left = 300, 60
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * (size + 2 * left)}" height="{size + 2 * left}" font-family="sans-serif" '
             'font-size="11">', '<rect width="100%" height="100%" fill="white"/>']
    for k, (what, index) in enumerate((("goodput, Mbit/s", 0), ("segments sent again, and 1", 2))):
        def at(value, index=index):
            low, high = (0, 3) if index == 0 else (0, 5)
            return size * (math.log10(max(value + (index == 2), 1)) - low) / (high - low)
        x, y = left + k * (size + 2 * left), left + size
        parts.append(f'<rect x="{x}" y="{left}" width="{size}" height="{size}" fill="none" stroke="#888"/>'
                     f'<line x1="{x}" y1="{y}" x2="{x + size}" y2="{left}" stroke="#ccc"/>'
                     f'<text x="{x + size / 2}" y="{y + 30}" text-anchor="middle">kernel: {what}</text>'
                     f'<text x="{x}" y="{left - 10}">simulated</text>')
        for _, name, real, simulated in rows:
            colour = "#8aa9d6" if name == "cubic" else "#d9773f"
            parts.append(f'<circle cx="{x + at(real[index]):.1f}" cy="{y - at(simulated[index]):.1f}" r="4" fill="{colour}"/>')
    parts.append(f'<text x="{left}" y="20">blue: cubic, orange: reno; logarithmic</text>')
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
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    options.out.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(TESTS))
    import cluster
    why = cluster.why_not()
    if why:
        say(f"skipped: no cluster can be made: {why}")
        return
    rows, cases = [], itertools.product(options.rates, options.queues, options.flows, ALGORITHMS)
    with cluster.Cluster(2) as made, against_kernel.preferred(made):
        prepare(cluster, made)
        for number, (rate, queue, flows, (real, simulated)) in enumerate(cases):
            case = Case(flows, queue, rate, options.seconds)
            say(f"{real}, {case.title()}")
            rows.append((case, real, measure(cluster, made, case, real, PORT + number), simulate(options, case, simulated)))
    (options.out / "contended.txt").write_text(table(rows))
    (options.out / "contended.svg").write_text(picture(rows))
    print(table(rows), end="")


if __name__ == "__main__":
    main()
