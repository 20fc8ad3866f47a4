#!/usr/bin/env python3
"""Is the simulated TCP as fast as that of the kernel? Times of patterns on a small cluster and in the simulator.

usage: against_kernel.py ORRERY PATTERNS OUT [--simulated] [--kernel FILE]

The cluster is made on this computer (tests/cluster.py of the source tree: network namespaces, links shaped by tc and
delayed by a relay) and needs root. MPICH runs there over the TCP of Linux with CUBIC (sleepy.c). The simulator runs the same program on
links of the same rate and delay. OUT gets a table (packet.txt) and a picture (packet.svg). With --simulated only the
simulator runs, and prints its times: they are the same on every computer. FILE keeps the times of the cluster: if it is there, none is made.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent.parent / "tests"
# Rate of a link, its delay in ms (a message crosses two, and a round trip four), and KiB of the queue at each port of the switch.
NETWORKS = (("20Mbps", 5, 1024), ("20Mbps", 5, 32), ("100Mbps", 2, 1024), ("100Mbps", 2, 64), ("500Mbps", 1, 1024))
BUFFER = 4  # MiB: what Linux lets a socket have as it needs it
RANKS = 4
OVERHEAD = 100e-6  # seconds of software in a message; it is measured if there is a cluster
LIMIT = 120  # seconds for a run
# Name, words of the program, ranks.
CASES = (("goodput", ("stream", "1000000"), 2), ("ping-pong 1 kB", ("pingpong", "1000"), 2),
         ("ping-pong 100 kB", ("pingpong", "100000"), 2), ("halo 50 kB", ("halo", "50000"), RANKS),
         ("all-to-all 100 kB", ("alltoall", "100000"), RANKS))


def settings(rate, delay, queue, overhead):
    """What the cluster is: Ethernet frames without preamble and gap, and no rendezvous."""
    return (f"net.model=packet,net.bandwidth={rate},net.hop_latency={2 * delay}ms,net.latency={overhead * 1e6:.0f}us,net.packet.framing=14,"
            f"net.packet.queue={queue}KiB,net.packet.send_buffer={BUFFER}MiB,net.packet.receive_buffer={BUFFER}MiB,"
            "mpi.eager_limit=1GiB")


def say(text):
    print(text, file=sys.stderr, flush=True)


def simulate(options, network, overhead, words, ranks):
    done = subprocess.run([options.orrery, "run", "-q", "-n", str(ranks), "--compute", "none", "--set", settings(*network, overhead),
                           options.patterns, *words], capture_output=True, text=True, timeout=LIMIT, check=False)
    if done.returncode:
        sys.exit(f"the simulation of {words[0]} failed: {done.stderr.strip()}")
    return [float(line) for line in done.stdout.split()]


# ---- the cluster ----

def prefer_threads(pid):
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setscheduler(int(thread), os.SCHED_RR, os.sched_param(1))


@contextlib.contextmanager
def preferred(made):
    """Others on this computer shall not disturb: processes of the cluster go before all that are not of the real-time class, as the
    devices of a real network do."""
    over = threading.Event()

    def prefer():
        known = set()
        while not over.wait(0.02):
            for pid in [pid for holder in (made.switch, *made.nodes) for pid in holder.processes() if pid not in known]:
                known.add(pid)
                with contextlib.suppress(OSError):
                    prefer_threads(pid)
    thread = threading.Thread(target=prefer)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def measure(made, options, words, ranks):
    """MPICH sends all at once, as the simulation does, and its ranks sleep while they wait: there are few processors."""
    library = options.out / "sleepy.so"
    done = made.call([*made.mpiexec(ranks), options.patterns, *words], limit=LIMIT,
                     environment={"UCX_RNDV_THRESH": "inf", "LD_PRELOAD": f"{library} {made.folder / 'finalize.so'}"})
    if done.status:
        sys.exit(f"{words[0]} failed on the cluster: {done.stderr.strip()}")
    return [float(line) for line in done.stdout.split()]


def overhead_of(made, options, network):
    """What an empty message takes beside the delay of its links: MPICH, the kernel, and the relays of the cluster."""
    trip = min(measure(made, options, ("pingpong", "1"), 2)) / 20
    return max(0, trip - 2e-3 * network[1])


def in_turn(made, options, network, case):
    name, words, ranks = case
    say(f"{title(network)}, {name}: on the cluster")
    return measure(made, options, words, ranks)


def measure_all(options):
    """Of each network: the overhead of a message, and the times of all cases."""
    if not (TESTS / "cluster.py").exists():
        sys.exit("the cluster is only in the source tree (tests/cluster.py)")
    sys.path.insert(0, str(TESTS))
    import cluster
    why = cluster.why_not()
    if why:
        say(f"skipped: no cluster can be made: {why}")
        sys.exit(0)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", HERE / "sleepy.c", "-o", options.out / "sleepy.so", "-ldl"], check=True)
    with cluster.Cluster(RANKS) as made, preferred(made):
        for node in made.nodes:  # a connection shall not begin with what the kernel remembers of earlier ones
            cluster.demand(made.call(["sh", "-c", "echo 1 >/proc/sys/net/ipv4/tcp_no_metrics_save"], node=node).status == 0,
                           "cannot set tcp_no_metrics_save")
        for network in NETWORKS:
            rate, delay, queue = network
            made.queue = queue << 10
            made.shape(None, f"{delay}ms")  # so that all ports get the queue
            made.shape(rate, f"{delay}ms")
            yield network, overhead_of(made, options, network), [in_turn(made, options, network, case) for case in CASES]


def known(options):
    if not options.kernel or not options.kernel.exists():
        measured = list(measure_all(options))
        if options.kernel:
            options.kernel.write_text(json.dumps(measured))
        return measured
    return json.loads(options.kernel.read_text())


# ---- results ----

def title(network):
    rate, delay, queue = network
    return f"{rate}, {delay} ms, {queue} KiB"


def table(results):
    lines = []
    for network, rows in results:
        lines.append(f"{title(network):26s} {'kernel':>10s} {'spread':>18s} {'simulated':>11s} {'error':>7s}")
        for name, real, simulated in rows:
            middle = statistics.median(real)
            spread = f"{min(real) * 1e3:.1f}..{max(real) * 1e3:.1f} ms"
            lines.append(f"  {name:24s} {middle * 1e3:7.1f} ms {spread:>18s} {simulated * 1e3:8.1f} ms "
                         f"{100 * (simulated / middle - 1):+6.1f}%")
    return "\n".join(lines) + "\n"


def draw_group(parts, rows, left, y):
    """Bars relative to the median on the cluster; whiskers are its spread."""
    for i, (name, real, simulated) in enumerate(rows):
        x, middle = left + 74 * i + 8, statistics.median(real)
        for offset, value, colour in ((0, 1, "#8aa9d6"), (28, simulated / middle, "#d9773f")):
            parts.append(f'<rect x="{x + offset}" y="{y(value):.1f}" width="24" height="{y(0) - y(value):.1f}" '
                         f'fill="{colour}"/>')
        parts.append(f'<line x1="{x + 12}" x2="{x + 12}" y1="{y(min(real) / middle):.1f}" y2="{y(max(real) / middle):.1f}" '
                     'stroke="#345"/>')
        for line, word in enumerate(name.rsplit(" ", 2) if " " in name else [name]):
            parts.append(f'<text x="{x + 26}" y="{y(0) + 14 + 12 * line:.1f}" text-anchor="middle">{word}</text>')


def picture(results):
    left, top, height, group = 60, 50, 240, 74 * len(CASES) + 30
    width, bottom = left + group * len(results), top + height + 70
    most = max(1.3, *(max(*real, simulated) / statistics.median(real) for _, rows in results for _, real, simulated in rows))

    def y(value):
        return top + height * (1 - value / most)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom}" font-family="sans-serif" '
             'font-size="10">', f'<rect width="{width}" height="{bottom}" fill="white"/>',
             f'<text x="{left}" y="20" font-size="12">Time relative to TCP of the kernel</text>',
             f'<rect x="{left}" y="28" width="10" height="10" fill="#8aa9d6"/><text x="{left + 14}" y="37">kernel</text>',
             f'<rect x="{left + 80}" y="28" width="10" height="10" fill="#d9773f"/>'
             f'<text x="{left + 94}" y="37">simulated</text>']
    for tick in (0, 0.5, 0.9, 1, 1.1):
        parts.append(f'<line x1="{left}" x2="{width - 20}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#ccc"/>'
                     f'<text x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for i, (network, rows) in enumerate(results):
        draw_group(parts, rows, left + group * i, y)
        parts.append(f'<text x="{left + group * i + group / 2 - 15}" y="{bottom - 8}" text-anchor="middle" font-size="12">'
                     f'{title(network)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("orrery")
    parser.add_argument("patterns")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--simulated", action="store_true", help="only simulate, and print the times")
    parser.add_argument("--kernel", type=pathlib.Path, help="keeps the times of the cluster")
    options = parser.parse_args()
    options.patterns = str(pathlib.Path(options.patterns).resolve())
    options.out.mkdir(parents=True, exist_ok=True)

    def simulated(network, overhead, case):
        return statistics.median(simulate(options, network, overhead, *case[1:]))
    if options.simulated:
        for network in NETWORKS:
            for case in CASES:
                print(f"{title(network)}, {case[0]}: {simulated(network, OVERHEAD, case):.9f} s")
        return
    results = []
    for network, overhead, times in known(options):
        say(f"{title(network)}: {overhead * 1e6:.0f} us of software in a message")
        results.append((network, [(case[0], real, simulated(network, overhead, case)) for case, real in zip(CASES, times)]))
    (options.out / "packet.txt").write_text(table(results))
    (options.out / "packet.svg").write_text(picture(results))
    print(table(results), end="")
    say(f"{options.out / 'packet.txt'} and {options.out / 'packet.svg'} are written")


if __name__ == "__main__":
    main()
