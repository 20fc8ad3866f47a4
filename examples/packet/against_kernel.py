#!/usr/bin/env python3
"""Is the simulated TCP as fast as that of the kernel? Times of patterns on a small cluster and in the simulator.

usage: against_kernel.py ORRERY PATTERNS OUT [--simulated]

The cluster is made on this computer (tests/cluster.py of the source tree: network namespaces, links shaped by tc and
delayed by a relay) and needs root. MPICH runs there over the TCP of Linux with CUBIC. The simulator runs the same program on
links of the same rate and delay. OUT gets a table (packet.txt) and a picture (packet.svg). With --simulated only the
simulator runs, and prints its times: they are the same on every computer.
"""

import argparse
import contextlib
import pathlib
import statistics
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent.parent / "tests"
RATE, DELAY = "20Mbps", 5  # of a link, in ms: a message crosses two
BUFFER = 208  # KiB: what Linux allows programs to ask for
RANKS = 4
LIMIT = 120  # seconds for a run
# Name, words of the program, ranks.
CASES = (("goodput", ("stream", "1000000"), 2), ("ping-pong 1 kB", ("pingpong", "1000"), 2),
         ("ping-pong 100 kB", ("pingpong", "100000"), 2), ("halo 50 kB", ("halo", "50000"), RANKS),
         ("all-to-all 100 kB", ("alltoall", "100000"), RANKS))
# What the cluster is: Ethernet frames without preamble and gap, queues of 1 MiB, and no rendezvous.
SETTINGS = (f"net.model=packet,net.bandwidth={RATE},net.hop_latency={2 * DELAY}ms,net.latency=30us,net.packet.framing=14,"
            f"net.packet.queue=1MiB,net.packet.send_buffer={BUFFER}KiB,net.packet.receive_buffer={BUFFER}KiB,"
            "mpi.eager_limit=1GiB")


def say(text):
    print(text, file=sys.stderr, flush=True)


def simulate(options, words, ranks):
    done = subprocess.run([options.orrery, "run", "-q", "-n", str(ranks), "--compute", "none", "--set", SETTINGS,
                           options.patterns, *words], capture_output=True, text=True, timeout=LIMIT, check=False)
    if done.returncode:
        sys.exit(f"the simulation of {words[0]} failed: {done.stderr.strip()}")
    return [float(line) for line in done.stdout.split()]


# ---- the cluster ----

@contextlib.contextmanager
def preferred(made):
    """Others on this computer shall not disturb: sessions of the cluster's processes get the highest priority."""
    over = threading.Event()

    def prefer():
        known = set()
        while not over.wait(0.02):
            for pid in [pid for holder in (made.switch, *made.nodes) for pid in holder.processes() if pid not in known]:
                known.add(pid)
                with contextlib.suppress(OSError):
                    pathlib.Path(f"/proc/{pid}/autogroup").write_text("-20")
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
                     environment={"UCX_RNDV_THRESH": "inf", "UCX_TCP_SNDBUF": f"{BUFFER}k", "UCX_TCP_RCVBUF": f"{BUFFER}k",
                                  "LD_PRELOAD": f"{library} {made.folder / 'finalize.so'}"})
    if done.status:
        sys.exit(f"{words[0]} failed on the cluster: {done.stderr.strip()}")
    return [float(line) for line in done.stdout.split()]


def measure_all(options):
    if not (TESTS / "cluster.py").exists():
        sys.exit("the cluster is only in the source tree (tests/cluster.py)")
    sys.path.insert(0, str(TESTS))
    import cluster
    why = cluster.why_not()
    if why:
        sys.exit(f"no cluster can be made: {why}")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", HERE / "sleepy.c", "-o", options.out / "sleepy.so", "-ldl"], check=True)
    with cluster.Cluster(RANKS, rate=RATE, delay=f"{DELAY}ms") as made, preferred(made):
        for node in made.nodes:
            made.call(["sh", "-c", "echo cubic >/proc/sys/net/ipv4/tcp_congestion_control"], node=node)
        for name, words, ranks in CASES:
            say(f"{name}: on the cluster")
            yield measure(made, options, words, ranks)


# ---- results ----

def table(rows):
    lines = [f"{'':18s} {'kernel':>10s} {'spread':>17s} {'simulated':>10s} {'error':>7s}"]
    for name, real, simulated in rows:
        middle = statistics.median(real)
        lines.append(f"{name:18s} {middle * 1e3:7.1f} ms {min(real) * 1e3:7.1f}..{max(real) * 1e3:.1f} ms "
                     f"{simulated * 1e3:7.1f} ms {100 * (simulated / middle - 1):+6.1f}%")
    return "\n".join(lines) + "\n"


def picture(rows):
    """Bars relative to the median on the cluster; whiskers are its spread."""
    left, top, height, group = 60, 50, 240, 120
    width = left + group * len(rows) + 20
    most = max(1.3, *(max(*real, simulated) / statistics.median(real) for _, real, simulated in rows))

    def y(value):
        return top + height * (1 - value / most)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top + height + 60}" font-family="sans-serif" '
             'font-size="12">', f'<rect width="{width}" height="{top + height + 60}" fill="white"/>',
             f'<text x="{left}" y="20">Time relative to TCP of the kernel ({RATE}, {4 * DELAY} ms round trip)</text>',
             f'<rect x="{left}" y="28" width="10" height="10" fill="#8aa9d6"/><text x="{left + 14}" y="37">kernel</text>',
             f'<rect x="{left + 80}" y="28" width="10" height="10" fill="#d9773f"/>'
             f'<text x="{left + 94}" y="37">simulated</text>']
    for tick in (0, 0.5, 0.9, 1, 1.1):
        parts.append(f'<line x1="{left}" x2="{width - 20}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#ccc"/>'
                     f'<text x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for i, (name, real, simulated) in enumerate(rows):
        x, middle = left + group * i + 20, statistics.median(real)
        for offset, value, colour in ((0, 1, "#8aa9d6"), (40, simulated / middle, "#d9773f")):
            parts.append(f'<rect x="{x + offset}" y="{y(value):.1f}" width="34" height="{y(0) - y(value):.1f}" '
                         f'fill="{colour}"/>')
        parts.append(f'<line x1="{x + 17}" x2="{x + 17}" y1="{y(min(real) / middle):.1f}" y2="{y(max(real) / middle):.1f}" '
                     'stroke="#345"/>')
        parts.append(f'<text x="{x + 37}" y="{y(0) + 18:.1f}" text-anchor="middle">{name}</text>')
    return "\n".join([*parts, "</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("orrery")
    parser.add_argument("patterns")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--simulated", action="store_true", help="only simulate, and print the times")
    options = parser.parse_args()
    options.patterns = str(pathlib.Path(options.patterns).resolve())
    options.out.mkdir(parents=True, exist_ok=True)
    simulated = [statistics.median(simulate(options, words, ranks)) for _, words, ranks in CASES]
    if options.simulated:
        for (name, _, _), time in zip(CASES, simulated):
            print(f"{name}: {time:.9f} s")
        return
    rows = [(case[0], real, time) for case, real, time in zip(CASES, measure_all(options), simulated)]
    (options.out / "packet.txt").write_text(table(rows))
    (options.out / "packet.svg").write_text(picture(rows))
    print(table(rows), end="")
    say(f"{options.out / 'packet.txt'} and {options.out / 'packet.svg'} are written")


if __name__ == "__main__":
    main()
