#!/usr/bin/env python3
"""Tests on a cluster of several nodes, made on this computer (cluster.py): the cluster itself, and Orrery on it.

Prints TAP. Where no cluster can be made, for want of root or of parts of the kernel, it says so and tests nothing.

  cluster   nodes have names, addresses and shaped links; nothing of a cluster outlives it
  procs     'orrery run --procs' on several nodes: the results of one process; signals and dead processes end it
  emulate   processes on nodes connect to the simulator by TCP; clocks differ; lost processes, nodes and links end it
  calibrate a platform from measurements between nodes has the rate of their links
  record    a program on nodes whose clocks differ: its trace has one time
  hybrid    a program on several nodes with its network simulated: the virtual time of one computer
"""

import contextlib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import uuid

import cluster
import harness
import watched_run
from harness import TESTS, demand, wait_until

TOOL = harness.ROOT / "tools" / "cluster"
LIMIT = 300  # seconds for a command on a cluster
TRIES, TRY_LIMIT = 5, 60  # for one that may not end
# The launcher ends other processes as soon as it knows, so they may seem to be lost first.
LOST = r"rank [12] at .*: its process on 'node[12]' has died, or|rank 2: its process was ended by signal"
SLACK = 20_000_000_000  # ps: 20 ms, by which clocks may be wrong on a busy computer


class Tests:
    def __init__(self, options):
        self.orrery = pathlib.Path(options.orrery).resolve()
        self.build = options.build_dir.resolve()
        self.emulated = self.build / "emulate"

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

    # ---- several processes on several nodes ----

    def simulate(self, folder, arguments, words, made=None, launcher=None):
        """A run with its statistics and summary, on this computer alone or on nodes."""
        for name in ("stats.csv", "run.json"):
            (folder / name).unlink(missing_ok=True)
        command = [self.orrery, "run", "--compute", "none", "--stats", "stats.csv", "--json", "run.json", *arguments,
                   *(["--launcher", shlex.join(launcher)] if launcher else []), self.build / words[0], *words[1:]]
        environment = {**os.environ, "LC_ALL": "C"}
        done = (made.call(command, cwd=folder, environment=environment, limit=LIMIT) if made else
                harness.call(command, cwd=folder, env=environment, limit=LIMIT))
        demand((folder / "run.json").exists(), f"no summary, exit status {done.status}", done.stderr)
        return watched_run.Outcome(done.status, done.stdout, done.stderr, (folder / "stats.csv").read_text(),
                                   json.loads((folder / "run.json").read_text()))

    def same(self):
        """Results do not depend on where processes run: with the starter on one node, and all on others."""
        with cluster.Cluster(3) as made, harness.fresh_folder() as name:
            folder = pathlib.Path(name)
            near, far = made.mpiexec(nodes=made.nodes[:2]), made.mpiexec(nodes=made.nodes[1:])
            for words, arguments, launcher, status in (
                    (["modes"], ["--procs", "2"], near, 0), (["ties", "3"], ["--procs", "4"], [*far, "-ppn", "2"], 0),
                    (["output"], ["--procs", "2", "--labels"], far, 0),
                    (["comms", "12"], ["--procs", "3", "--placement", "cyclic"], made.mpiexec(), 0),
                    (["ends", "abort", "5", "300"], ["--procs", "2"], far, 7),
                    (["ends", "deadlock", "4"], ["--procs", "2"], far, 1)):
                more = arguments[2:] if arguments[2:] == ["--labels"] else []
                first = self.simulate(folder, ["-n", "8", *more], words)
                again = self.simulate(folder, ["-n", "8", *arguments], words, made, launcher)
                demand(first.exit == again.exit == status, f"{words}: {first.exit}, {again.exit}", again.stderr)
                hidden = ("stdout",) if status == 7 else ()
                harness.demand_same(" ".join(words), *zip(watched_run.Outcome._fields,
                                                          watched_run.comparable(first, hidden),
                                                          watched_run.comparable(again, hidden)))
                demand(not made.running(), f"{words}: still running: {made.running()}")

    def find(self, node, program):
        for pid in node.running():
            with contextlib.suppress(OSError):
                if os.path.realpath(f"/proc/{pid}/exe") == str(program):
                    return pid
        return None

    def fault(self, made, nodes, act, status, pattern):
        """Something happens to a run on two nodes; it ends by itself, and leaves nothing behind."""
        program, launcher = self.build / "lasting", shlex.join(made.mpiexec(nodes=nodes))
        with harness.fresh_folder() as folder, open(os.path.join(folder, "err"), "w+b") as err, made.start(
                [self.orrery, "run", "-q", "-n", "6", "--compute", "none", "--procs", "2", "--launcher", launcher,
                 program, "ring"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err) as process:
            def text():
                err.seek(0)
                return err.read().decode(errors="replace")
            wait_until(lambda: process.poll() is not None or all(self.find(node, program) for node in nodes) and
                       list(pathlib.Path(folder).glob("started.*")), "a start of the program", text)
            act(watched_run.descendants(process.pid, "")[0].pid)
            out = process.communicate(timeout=LIMIT)[0].decode()
            demand(process.returncode == status, f"exit status {process.returncode} instead of {status}", text())
            demand(re.search(pattern, text()), f"no message {pattern!r}", text())
            demand("mpiexec" not in out, "the launcher has written to the output", out)
            wait_until(lambda: not made.running(), "an end of all processes", lambda: str(made.running()))

    def signals(self):
        """Signals to the starter, and to processes on a node where it is not. The native MPI may notice the loss
        of a process first, and end the other with a message of its own."""
        with cluster.Cluster(3) as made:
            far, program = made.nodes[1:], self.build / "lasting"
            for number, nodes in ((signal.SIGTERM, far), (signal.SIGINT, far), (signal.SIGTERM, made.nodes[:2])):
                self.fault(made, nodes, lambda pid: os.kill(pid, number), 128 + number, "interrupted by signal")
            self.fault(made, far, lambda pid: os.kill(pid, signal.SIGKILL), -signal.SIGKILL, "")
            for node, number in ((far[1], 1), (far[0], 0)):
                self.fault(made, far, lambda _: os.kill(self.find(node, program), signal.SIGKILL), 3,
                           rf"process {number} of 2 \(pid \d+ on {node.name}\) was killed by signal 9|Abort\(")

    def dead(self, first):
        """A node dies; the other processes are on the starter's node, or on another."""
        with cluster.Cluster(3) as made:
            nodes = made.nodes[first:first + 2]
            self.fault(made, nodes, lambda _: made.kill(nodes[1]), 3, "orrery: error: |Abort")

    # ---- scaled real time ----

    def emulate(self):
        """Processes on two nodes, and one beside the simulator; clocks are 1000 s apart."""
        with cluster.Cluster(3, has_clocks=True) as made, harness.fresh_folder() as folder:
            def call(*words):
                done = made.call([self.orrery, "emulate", "-q", "--factor", "4", *words], cwd=folder, limit=LIMIT)
                demand(done.status == 0, f"exit status {done.status}", done.stderr)
                demand(not made.running(), f"still running: {made.running()}")
                return done.stdout
            far = ["--launcher", shlex.join(made.mpiexec(nodes=made.nodes[1:]))]
            call("-n", "2", "--compute", "none", *far, "--json", "run.json", self.emulated / "exchange", "20")
            found = json.loads((pathlib.Path(folder) / "run.json").read_text())
            demand(found["expected"] + found["unexpected"] == 40, "messages are missing", str(found))
            demand(found["wall_s"] >= 4 * found["scaled_run_time_s"] > 0, "clocks are not compared", str(found))
            demand(call("-n", "3", "--local", "1", *far, self.emulated / "clocks") == "clocks agree\n" * 3, "clocks differ")

    def emulate_lost(self, act, status, pattern):
        """Something happens to a node while its process has a message in the network: the program ends everywhere."""
        program = self.emulated / "lasting"
        with cluster.Cluster(3) as made, harness.fresh_folder() as folder, \
                open(os.path.join(folder, "err"), "w+b") as err, \
                made.start([self.orrery, "emulate", "-q", "-n", "3", "--local", "1", "--factor", "1", "--launcher",
                            shlex.join(made.mpiexec(nodes=made.nodes[1:])), program, "sending"], cwd=folder,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err) as process:
            def text():
                err.seek(0)
                return err.read().decode(errors="replace")
            wait_until(lambda: process.poll() is not None or (pathlib.Path(folder) / "stays").exists(),
                       "a start of the program", text)
            act(made, self.find(made.nodes[1], program))
            demand(process.wait(LIMIT) == status, f"exit status {process.returncode}", text())
            demand(re.search(pattern, text()), f"no message {pattern!r}", text())
            wait_until(lambda: not any(self.find(node, program) for node in made.nodes if node.process.poll() is None),
                       "an end of the program", lambda: str(made.running()))

    # ---- measuring and recording ----

    def calibrate(self):
        """The platform has about the rate that links were set to, two nodes, and is a valid one."""
        with cluster.Cluster(2, rate="400Mbps") as made, harness.fresh_folder() as folder:
            done = made.call([self.orrery, "calibrate", "--quick", "--samples", "4", "--ranks", "2", "--launcher",
                              shlex.join(made.mpiexec()), "-o", "mine.yaml"], cwd=folder, limit=LIMIT)
            demand(done.status == 0, f"exit status {done.status}", done.stderr)
            done = harness.call([self.orrery, "platform", "check", "./mine.yaml"], cwd=folder)
            demand(done.status == 0, "not a valid platform", done.stdout, done.stderr)
            text = (pathlib.Path(folder) / "mine.yaml").read_text()
            demand(not made.running(), f"still running: {made.running()}")
        demand(re.search(r"^# nodes +2$", text, re.MULTILINE), "not two nodes", text)
        rate = float(re.search(r"^  bandwidth: ([0-9.]+)bps", text, re.MULTILINE)[1])
        demand(2e8 < rate < 8e8, f"{rate} bit/s, but links have 400 Mbit/s")

    def example(self):
        """The example that predicts times for slower links, and then measures them: the shape of its results."""
        folder = harness.ROOT / "examples/hybrid"
        with harness.fresh_folder() as out:
            kernels = pathlib.Path(out) / "kernels"
            done = harness.call(["make", "-s", "-C", folder.parent / "kernels", f"OUT={kernels}", kernels / "ep"], limit=LIMIT)
            demand(done.status == 0, "not built", done.stdout, done.stderr)
            done = harness.call(["python3", "-B", folder / "whatif.py", TOOL, self.orrery, kernels, out, "--class", "T",
                                 "--runs", "1", "--kernels", "ep", "--platform", "ethernet-1g"], limit=LIMIT)
            demand(done.status == 0, f"exit status {done.status}", done.stdout, done.stderr)
            demand(len(re.findall(r"^ep +[0-9.]+ s +[0-9.]+ s +\S+% +[0-9.]+ s +\S+%$", done.stdout, re.MULTILINE)) == 2,
                   "not two rates", done.stdout)
            demand((pathlib.Path(out) / "whatif.csv").read_text().count("\n") == 7, "not all times")

    def hybrid_once(self, words):
        """The run on two nodes, or None: MPI_Finalize of MPICH over UCX hangs now and then, and the launcher with it."""
        with cluster.Cluster(2) as made, contextlib.suppress(subprocess.TimeoutExpired):
            with made.start([self.orrery, "hybrid", *words, "--launcher", shlex.join(made.mpiexec()),
                             self.build / "exchange"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                text = process.communicate(timeout=TRY_LIMIT)[1].decode()
            demand(process.returncode == 0, f"exit status {process.returncode}", text)
            wait_until(lambda: not made.running(), "an end of all processes", lambda: str(made.running()))
            return text
        return None

    def hybrid(self):
        """Processes on two nodes, the simulators on one or on both: the virtual time of 'orrery run'."""
        def virtual_time(text):
            return re.search(r"virtual time +(.*)", text)[1]
        words = ["-n", "4", "--compute", "none"]
        alone = harness.call([self.orrery, "run", *words, self.build / "exchange"], limit=LIMIT).stderr
        for more in ([], ["--simulators", "2"]):
            text = next(filter(None, (self.hybrid_once([*words, "--order", "virtual", *more]) for _ in range(TRIES))), None)
            demand(text, f"{more}: not finished in {TRIES} tries")
            demand(virtual_time(text) == virtual_time(alone),
                   f"{virtual_time(text)} on nodes, and {virtual_time(alone)} in 'orrery run'", text)

    def record(self):
        """Clocks of nodes are 1000 s apart; in the trace nobody leaves a barrier before all have entered it."""
        with cluster.Cluster(3, rate="1Gbps", has_clocks=True) as made, harness.fresh_folder() as folder:
            done = made.call([self.orrery, "record", "-q", "-n", "4", "--launcher", shlex.join(made.mpiexec()), "-o",
                              "n.orr", self.build / "record_clocks"], cwd=folder, limit=LIMIT)
            demand(done.status == 0, f"exit status {done.status}", done.stderr)
            info = harness.call([self.orrery, "trace", "info", "n.orr"], cwd=folder)
            demand(re.search("clocks +3, compared to within ", info.stdout), "clocks", info.stdout)
            done = harness.call([self.orrery, "trace", "print", "--exact", "n.orr"], cwd=folder)
            demand(os.listdir(folder) == ["n.orr"], f"what is left: {os.listdir(folder)}")
        spans = {}
        for rank, enter, length in re.findall(r"\[(\d)\] (\d+) \+ (\d+): MPI_Barrier", done.stdout):
            spans.setdefault(rank, []).append((int(enter), int(enter) + int(length)))
        demand(len(spans) == 4 and len(set(map(len, spans.values()))) == 1, "not all barriers", done.stdout)
        for barrier in zip(*spans.values()):
            demand(max(enter for enter, _ in barrier) <= min(leave for _, leave in barrier) + SLACK, f"{barrier}")


def add_all(tests):
    return [("cluster shaped links", tests.shaped), ("cluster requests from nodes", tests.requests),
            ("cluster clocks", tests.clocks), ("cluster two at a time", tests.apart),
            *((f"cluster removed after {number.name}", tests.removed, number)
              for number in (signal.SIGTERM, signal.SIGKILL)),
            ("procs same results", tests.same), ("procs signals", tests.signals),
            ("emulate", tests.emulate),
            ("emulate killed process", tests.emulate_lost, lambda made, pid: os.kill(pid, signal.SIGKILL),
             128 + signal.SIGKILL, "rank 1: its process was ended by signal 9"),
            ("emulate dead node", tests.emulate_lost, lambda made, pid: made.kill(made.nodes[1]), 3, LOST),
            ("emulate cut link", tests.emulate_lost, lambda made, pid: made.cut(made.nodes[1]), 3, LOST),
            ("calibrate", tests.calibrate), ("record", tests.record), ("hybrid", tests.hybrid),
            ("example of predictions", tests.example), ("procs dead node", tests.dead, 0),
            ("procs dead node, others elsewhere", tests.dead, 1)]


def main():
    options = harness.options_parser(__doc__, "build/cluster-tests").parse_args()
    tap = harness.Tap()
    problem = cluster.why_not()
    if problem:
        print(f"# skipped: no cluster can be made here: {problem}")
        return tap.end()
    tests = Tests(options)
    sources = [TESTS / "cluster" / "link.c", TESTS / "hybrid" / "exchange.c", TESTS / "mpi" / "bad" / "record_clocks.c", *(TESTS / "procs").glob("*.c")]
    harness.build_all(sources, tests.build, watched_run.FLAGS)
    harness.build_all((TESTS / "emulate").glob("*.c"), tests.emulated, watched_run.FLAGS)
    tap.run_chosen(add_all(tests), options)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
