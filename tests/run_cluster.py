#!/usr/bin/env python3
"""Tests on a cluster of several nodes, made on this computer (cluster.py): the cluster itself, and Orrery on it.

Prints TAP. Where no cluster can be made, for want of root or of parts of the kernel, it says so and tests nothing.

  cluster   nodes have names, addresses and shaped links; nothing of a cluster outlives it
"""

import os
import pathlib
import re
import signal
import subprocess
import uuid

import cluster
import harness
import watched_run
from harness import TESTS, demand, wait_until

TOOL = harness.ROOT / "tools" / "cluster"
LIMIT = 120  # seconds for a run of mpiexec


class Tests:
    def __init__(self, options):
        self.orrery = pathlib.Path(options.orrery).resolve()
        self.build = options.build_dir.resolve()

    # ---- cluster ----

    def look(self, made, bytes=1):
        """What two ranks on two nodes see: their nodes, and the times of a short and a long message."""
        done = made.call([*made.mpiexec(2), self.build / "link", bytes], limit=LIMIT)
        demand(done.status == 0, f"exit status {done.status}", done.stdout, done.stderr)
        times = re.search(r"short (\S+) long (\S+)", done.stdout)
        demand(times, "no times", done.stdout)
        return dict(re.findall(r"rank (\d) on (\S+)", done.stdout)), float(times[1]), float(times[2])

    def shaped(self):
        """Rate and delay are as set, and change while the cluster is up."""
        with cluster.Cluster(2, rate="16Mbps") as made:
            names, _, slow = self.look(made, 1 << 19)
            demand(names == {"0": "node0", "1": "node1"}, f"ranks on {names}")
            demand(0.13 < slow < 0.52, f"512 KiB at 16 Mbit/s took {slow} s")
            made.shape(rate="160Mbps")
            _, _, fast = self.look(made, 1 << 19)
            demand(fast < slow / 2, f"512 KiB took {slow} s at 16 Mbit/s and {fast} s at 160 Mbit/s")
            made.shape(delay="5ms")
            _, short, _ = self.look(made)
            demand(short > 20e-3, f"four times a delay of 5 ms, but {short} s")
            made.shape(node=made.nodes[1])
            _, short, _ = self.look(made)
            demand(short > 10e-3, f"two times a delay of 5 ms, but {short} s")

    def requests(self):
        """Commands on other nodes, from a node: their output and exit status; a cut link; a dead node."""
        script = ("hostname; tools/cluster on node1 'hostname; exit 7'; echo $?; "
                  "tools/cluster shape node1 --rate 1Gbps --delay 20us; echo $?; tools/cluster shape node9; echo $?; "
                  "tools/cluster shape node1 --rate 5; echo $?; tools/cluster kill node1; echo $?")
        done = harness.call([TOOL, "run", "-n", 2, "--", "sh", "-c", script], cwd=harness.ROOT, limit=LIMIT)
        demand(done.stdout == "node0\nnode1\n7\n0\n2\n2\n0\n", "not what was expected", done.stdout, done.stderr)
        demand("there is no node 'node9'" in done.stderr and "bad value '5'" in done.stderr, "no message", done.stderr)

    def clocks(self):
        """Each node may have a clock of its own."""
        with cluster.Cluster(2, has_clocks=True) as made:
            uptimes = [float(made.call(["cat", "/proc/uptime"], node=node).stdout.split()[0]) for node in made.nodes]
        demand(900 < uptimes[1] - uptimes[0] < 1100, f"{uptimes}")

    def apart(self):
        """Clusters at the same time do not meet: both have the same names and addresses."""
        with cluster.Cluster(2) as one, cluster.Cluster(2) as other:
            with one.start(["sleep", "1000"], node=one.nodes[1]):
                wait_until(lambda: ("node1", "sleep 1000 ") in one.running(), "a process on node 1")
                demand(not other.running(), f"on the other cluster: {other.running()}")
                done = other.call(["sh", "-c", "ls /proc | grep -c '^[0-9]'; cat /proc/*/comm"], node=other.nodes[1])
                demand("sleep" not in done.stdout, "processes of another cluster are visible", done.stdout)

    def removed(self, number):
        """Whatever ends the tool, nothing is left: processes, devices or files."""
        def links():
            return harness.call(["ip", "-brief", "link"]).stdout.count("\n")
        mark, before = uuid.uuid4().hex, links()
        with harness.fresh_folder() as folder:
            ready = pathlib.Path(folder) / "ready"
            command = f"tools/cluster on node1 'echo $ORRERY_CLUSTER >{ready}; sleep 1000' & sleep 1000"
            with harness.GROUPS.start([TOOL, "run", "-n", "2", "--rate", "1Gbps", "--delay", "10us", "--", "sh", "-c",
                                       command], cwd=harness.ROOT, env={**os.environ, watched_run.MARK: mark},
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
                wait_until(lambda: ready.exists() and ready.read_text(), "a process on node 1")
                files = pathlib.Path(ready.read_text().strip())
                demand(files.exists(), "it has no folder")
                demand(len(watched_run.marked(mark)) > 6, "where are its processes?")
                process.send_signal(number)
                process.wait(harness.LIMIT)
                wait_until(lambda: not watched_run.marked(mark), "an end of all processes",
                           lambda: str(watched_run.marked(mark)))
                wait_until(lambda: not files.exists(), f"an end of {files}")
        demand(links() == before, "devices are left")


def add_all(tests):
    return [("cluster shaped links", tests.shaped), ("cluster requests from nodes", tests.requests),
            ("cluster clocks", tests.clocks), ("cluster two at a time", tests.apart),
            *((f"cluster removed after {number.name}", tests.removed, number)
              for number in (signal.SIGTERM, signal.SIGKILL))]


def main():
    options = harness.options_parser(__doc__, "build/cluster-tests").parse_args()
    tap = harness.Tap()
    problem = cluster.why_not()
    if problem:
        print(f"# skipped: no cluster can be made here: {problem}")
        return tap.end()
    tests = Tests(options)
    harness.build_all(sorted(p for p in (TESTS / "cluster").glob("*.c") if p.stem not in ("relay", "finalize")), tests.build,
                      watched_run.FLAGS)
    tap.run_cases([case for case in add_all(tests) if re.search(options.filter, case[0])], options.jobs)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
