"""packets.py - networks of packets: their speed and memory, and TCP on a dumbbell beside that of ns-3.

The dumbbell has flows from left to right over one slow link, whose queue is short. ns-3 (Debian: libns3-dev) gets the same links,
queues and options of TCP; dumbbell_ns3.cc is its program.
"""

import os
import statistics
import struct
import subprocess
import tempfile

import measure
from cases import HERE, Row
from measure import Failed

RANKS = 64
FAT_TREE = ("net.model=packet,net.latency=2us,net.bandwidth=25Gbps,net.hop_latency=500ns,"
            "net.topology.kind=fat-tree,net.topology.down=8x8")


# ---- speed and memory ----

def rates(bench):
    """Packets that links carry in a second: large messages through a fat tree."""
    count, size = 1 if bench.quick else 4, 1 << 20
    variants = {"TCP": "", "credits": ",net.packet.transport=message,net.packet.fabric=credit"}
    rows = []
    for name, more in variants.items():
        cost, command = bench.simulate(RANKS, "stream", count, size,
                                       options=("--payload", "none", "--set", FAT_TREE + more))
        hops = cost.summary["network"]["hops"] / 1e6
        rows.append(Row(f"packets, {RANKS} nodes, fat tree: {name}", "M packet-hops/s",
                        hops / cost.wall, hops / cost.cpu, 3, "more", command))
    return rows


def sctp(bench):
    """Real SCTP: packets from end to end, and what an association takes with both its ends."""
    count, size = 1 if bench.quick else 4, 1 << 20
    options = ("--payload", "none", "--set", FAT_TREE + ",net.packet.transport=sctp")
    cost, command = bench.simulate(RANKS, "stream", count, size, options=options)
    sent = cost.summary["network"]["delivered"] / 1e3
    rows = [Row(f"packets, {RANKS} nodes, fat tree: SCTP", "k packets/s", sent / cost.wall,
                sent / cost.cpu, 150, "more", command)]
    ranks = 256  # with fewer, what every run takes counts
    options = ("--set", "net.model=packet,net.packet.transport=sctp")
    cost, command = bench.simulate(ranks, "alltoall", 1, options=options)
    each = cost.peak_bytes / cost.summary["network"]["connections"] / 1024
    rows.append(Row(f"all pairs of {ranks} nodes at once, SCTP: peak memory by association, with its packets", "KiB", each,
                    None, None, "less", command))
    return rows


def sctp_large(bench):
    """An association between any two of 1,024 nodes."""
    ranks, bytes_each = 1024, 64
    cost, command = bench.simulate(ranks, "alltoall", 1, bytes_each, repeat=1,
                                   options=("--set", "net.model=packet,net.packet.transport=sctp"))
    pairs = ranks * (ranks - 1) // 2
    if cost.summary["network"]["connections"] != pairs:
        raise Failed(f"{cost.summary['network']['connections']:,} associations instead of {pairs:,}")
    label = f"all to all of {bytes_each} B, {ranks:,} nodes, SCTP"
    return [Row(f"{label}: peak memory", "GB", cost.peak_bytes / 1e9, None, 16, "less", command),
            Row(f"{label}: time", "s", cost.wall, cost.cpu, None, "less", command)]


# ---- the dumbbell ----

WINDOWS = 100
ACKNOWLEDGEMENT = 100  # a packet of fewer bytes has no data
PIECE = 65536
PPP = 2  # bytes that a link of ns-3 adds to a packet
NS3_MODULES = ("applications", "internet", "point-to-point", "traffic-control", "network", "core")


class Dumbbell:
    """Flows, and the slow link: rate in Mbit/s, delay in ms, queue in bytes; seconds to simulate."""

    def __init__(self, flows, rate, delay, queue, seconds):
        self.flows, self.rate, self.delay, self.queue, self.seconds = flows, rate, delay, queue, seconds

    def options(self, bench):
        """Of orrery run; the graph is in a file. The links of hosts are fast, with a tenth of the delay."""
        path = os.path.join(bench.build, f"dumbbell-{self.flows}-{self.rate}.txt")
        host = f"{10 * self.rate}Mbps {self.delay / 10}ms"
        with open(path, "w", encoding="ascii") as file:
            file.write(f"s0 s1 {self.rate}Mbps {self.delay}ms\n")
            file.writelines(f"n{i} s{i // self.flows} {host}\n" for i in range(2 * self.flows))
        return ("--payload", "none", "--set",
                f"net.model=packet,net.topology.kind=graph,net.topology.file={path},net.latency=0us,mpi.eager_limit=1MiB,"
                f"net.packet.queue={self.queue},net.packet.framing={PPP},net.packet.header=1,net.packet.send_buffer=4MiB,"
                "net.packet.receive_buffer=4MiB,net.packet.jitter=0s,net.packet.hystart=true")

    def messages(self):
        """What a flow sends: enough for all of the time."""
        return int(self.rate * 1e6 / 8 * self.seconds / PIECE / self.flows) + 1

    def simulate(self, bench, *options, repeat=None):
        """In Orrery."""
        cost, command = bench.simulate(2 * self.flows, "dumbbell", self.messages(), PIECE, repeat=repeat,
                                       options=(*self.options(bench), *options))
        return cost, command.replace(bench.build + os.sep, "")

    def ns3(self, program):
        """The command of ns-3."""
        return [program, *map(str, (self.flows, self.rate, self.delay, self.queue, self.seconds))]


def compile_ns3(bench):
    """The program for ns-3; None: there is no ns-3."""
    try:
        found = subprocess.run(["g++", "-E", "-x", "c++", "-"], input="#include <ns3/core-module.h>\n", capture_output=True,
                               text=True, check=False)
    except OSError:
        return None
    if found.returncode:
        return None
    binary = os.path.join(bench.build, "dumbbell_ns3")
    done = subprocess.run(["g++", "-O2", "-o", binary, os.path.join(HERE, "dumbbell_ns3.cc"),
                           *(f"-lns3-{name}" for name in NS3_MODULES)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"cannot compile 'dumbbell_ns3.cc': {done.stderr.strip()[-300:]}")
    return binary


def windows_of_pcap(path, flows, seconds):
    """Bytes that a port sent from left to right in each part of the time, from its capture."""
    found = [0] * WINDOWS
    with open(path, "rb") as file:
        data = file.read()
    at = 24
    while at < len(data):
        second, nano, kept, _ = struct.unpack_from("<IIII", data, at)
        packet = data[at + 16:at + 16 + kept]
        length, source = struct.unpack_from(">H", packet, 16)[0], packet[29] - 1
        window = int((second + nano / 1e9) / seconds * WINDOWS)
        if source < flows and length > ACKNOWLEDGEMENT and window < WINDOWS:
            found[window] += length + PPP
        at += 16 + kept
    return found


def shape(bench, program):
    """How the throughput of one flow develops: slow start, losses, and CUBIC after them."""
    bell = Dumbbell(1, 50, 20, 65536, 10)
    with tempfile.TemporaryDirectory(dir=bench.build) as folder:
        _, command = bell.simulate(bench, "--pcap", folder, "--pcap-at", "s0-s1", repeat=1)
        ours = windows_of_pcap(os.path.join(folder, "s0-s1.pcap"), bell.flows, bell.seconds)
        command = command.replace(os.path.basename(folder), "DIR")
    done = subprocess.run(bell.ns3(program), capture_output=True, text=True, check=False, timeout=bench.timeout)
    if done.returncode:
        raise Failed(f"'dumbbell_ns3' failed: {done.stderr.strip()[-200:]}")
    theirs = [int(word) for word in done.stdout.split()[1:]]
    full = bell.rate * 1e6 / 8 * bell.seconds / WINDOWS
    apart = [100 * abs(a - b) / full for a, b in zip(ours, theirs)]
    label = f"one flow, {bell.rate} Mbit/s, in {WINDOWS} windows"
    return [Row(f"{label}: throughput in all, against ns-3's", "%", 100 * sum(ours) / sum(theirs), command=command),
            Row(f"{label}: mean difference", "% of the rate", statistics.fmean(apart), command=command),
            Row(f"{label}: largest difference", "% of the rate", max(apart), command=command),
            Row(f"{label}: correlation", "", statistics.correlation(ours, theirs), command=command)]


def dumbbell(bench):
    """Packets per second of both, and throughput over time."""
    bell = Dumbbell(8, 1000, 1, 262144, 1 if bench.quick else 4)
    cost, command = bell.simulate(bench)
    hops = cost.summary["network"]["hops"] / 1e6
    label = f"dumbbell, {bell.flows} flows of TCP"
    rows = [Row(f"{label}: Orrery", "M packet-hops/s", hops / cost.wall, hops / cost.cpu, None, "more", command)]
    program = compile_ns3(bench)
    if not program:
        return [*rows, Row(f"{label}: ns-3", "M packet-hops/s", None, None, None, "more", "dumbbell_ns3",
                           "not installed (Debian: libns3-dev)")]
    other = measure.run_best(bell.ns3(program), bench.repeat, bench.timeout)
    done = subprocess.run(bell.ns3(program), capture_output=True, text=True, check=True, timeout=bench.timeout)
    theirs = int(done.stdout.split()[0]) / 1e6
    command = " ".join(["dumbbell_ns3", *bell.ns3(program)[1:]])
    rows += [Row(f"{label}: ns-3", "M packet-hops/s", theirs / other.wall, theirs / other.cpu, None, "more", command),
             Row(f"{label}: times ns-3's rate", "times", hops / cost.wall / (theirs / other.wall),
                 hops / cost.cpu / (theirs / other.cpu), None, "more", command)]
    return rows + shape(bench, program)


CASES = {"net-packet": rates, "net-sctp": sctp, "net-sctp-large": sctp_large, "net-dumbbell": dumbbell}
