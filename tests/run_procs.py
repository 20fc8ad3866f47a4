#!/usr/bin/env python3
"""Tests 'orrery run --procs': same results on any number of processes, and how faults end a run.

Prints TAP. The programs are those of tests/procs. Three kinds of tests:

  same      a run on one process and the same on several: output, exit status, messages, virtual
            time and statistics must agree
  faults    something happens to a process of a run, or to its output; the run must end by itself,
            with a status and a message, and leave no process behind
  usage     options and environments that do not work
"""

import itertools
import os
import re
import signal
import subprocess

import harness
import watched_run
from harness import LIMIT, demand
from watched_run import Run


class Tests(watched_run.Tests):
    # ---- faults ----

    def fault(self, role, index, sig, what, wanted, pattern, procs=3, hello=False):
        """Sends a signal to one process, or to the whole group (role "group")."""
        with Run(self, ["-q", "-n", "6", "--procs", str(procs)], "lasting", what) as run:
            run.await_start(procs)
            if what == "half":
                run.await_files("waits.*", 2)
                run.await_sleep("program", 2)  # it has sent its lines, which process 0 does not take
            if role == "group":
                os.killpg(run.process.pid, sig)
            else:
                os.kill(run.find(role, index), sig)
            status, out, err = run.finish()
            demand(status == wanted, f"exit status {status} instead of {wanted}", err)
            demand(re.search(pattern, err), f"no message {pattern!r}", err)
            ranks = {"spin": (0, 2, 4), "half": (0, 2, 4, 5)}.get(what, range(6))
            lines = "".join(f"hello from {i}\n" for i in ranks)
            demand(not hello or out == lines, "not the output so far, once", out, err)
            demand("BAD TERMINATION" not in out, "the launcher has written to the output", out)

    def much(self):
        """More output waits than fits into memory."""
        with Run(self, ["-q", "-n", "2", "--procs", "2"], "lasting", "much", "1300000") as run:
            run.await_start(2)
            os.kill(run.find("program", 0), signal.SIGKILL)
            status, out, err = run.finish()
        demand(status == 3, f"exit status {status}", err)
        demand(out == "".join(f"{i:060}\n" for i in range(1300000)), f"{len(out)} bytes", out[-200:], err)

    def reader_gone(self):
        """The reader of the output reads one line and ends."""
        with harness.GROUPS.start(["head", "-n", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as head, \
                Run(self, ["-q", "-n", "4", "--procs", "2"], "flood", "5000000", stdout=head.stdin) as run:
            head.stdin.close()
            head.stdin = None
            line, _ = head.communicate(timeout=LIMIT)
            status, _, err = run.finish()
        demand(line.startswith(b"000000 00000000 "), "not the first line", line.decode())
        demand(status == 128 + signal.SIGPIPE, f"exit status {status}", err)

    def quit(self, procs):
        """One rank calls MPI_Abort, while the others would run for ever."""
        with Run(self, ["-q", "-n", "6", "--procs", str(procs)], "ends", "quit", "0") as run:
            status, _, err = run.finish()
        demand(status == 7, f"exit status {status}", err)
        demand(re.search(r"rank 0 at virtual time .*MPI_Abort", err), "no message", err)

    # ---- usage ----

    def usage(self, arguments, wanted, pattern, environment=None, program="output"):
        with Run(self, arguments, program, environment=environment) as run:
            status, _, err = run.finish()
        demand(status == wanted, f"exit status {status} instead of {wanted}", err)
        demand(re.search(pattern, err), f"no message {pattern!r}", err)

    def elsewhere(self, words, wanted):
        """Workers that do not find what the starter shares, as on another machine."""
        with Run(self, ["-q", "-n", "6", "--procs", "2", "--launcher",
                        "env -u ORRERY_WORKERS mpiexec.mpich"], *words) as run:
            status, out, err = run.finish()
        demand(status == wanted, f"exit status {status} instead of {wanted}", err)
        demand("\001" not in out + err, "the mark of a worker is shown", out, err)
        demand(out.count("rank") == 6, "not the output", out, err)

    def clamped(self):
        outcome = self.simulate(["-n", "2", "--procs", "5"], "output")
        demand(outcome.exit == 0 and outcome.summary["procs"] == 2,
               f"{outcome.exit}, {outcome.summary['procs']} processes", outcome.stderr)

    def mincut(self, good):
        with harness.fresh_folder() as folder:
            stats = os.path.join(folder, "stats.json")
            with Run(self, ["-n", "8", "--stats", stats], "modes") as run:
                run.finish()
            if good:
                self.same([f"--procs 3 --placement mincut:{stats}"], ["-n", "8"], "modes")
            else:
                self.usage(["-n", "9", "--procs", "2", "--placement", f"mincut:{stats}"], 2,
                           r"stats\.json.*\b8 ranks|\b8 ranks.*stats\.json")

    # ---- resources ----

    def bounded(self):
        """Freed communicators use no memory in any process."""
        few, many = (self.simulate(["-n", "24", "--procs", "3", "--placement", "cyclic"], "comms",
                                   str(turns)) for turns in (50, 400))
        demand(few.exit == many.exit == 0, "it failed", few.stderr, many.stderr)
        sizes = [o.summary["peak_rss_bytes"] for o in (few, many)]
        demand(sizes[1] < sizes[0] * 1.1 + 3e6, f"memory grows: {sizes} bytes")


def add_same(tests):
    """Programs that would notice a difference, where possible on an ideal network, too."""
    ways = [f"--procs {p} --placement {how}" for p, how in
            ((2, "block"), (3, "cyclic"), (4, "block"))]
    ideal = ["--set", "net.latency=0,net.bandwidth=inf"]
    rendezvous = ["--set", "mpi.eager_limit=0"]
    watched_run.add_same(tests, ways, ([], ideal, rendezvous), "--procs 3 --schedule random:3")
    tests.add("same solver", tests.same, ways, ["-n", "24", "--set", "net.latency=1us"], "solver", "20", "3")
    tests.add("same ends segv 5 300", tests.same, ways, ["-n", "6"], "ends", "segv", "5", "300",
              status=139, hide=("virtual_time_s", "virtual_time_ps", "messages", "bytes", "stdout"))
    if tests.options.quick:
        return
    tests.add("same output of 100 MB", tests.same, ["--procs 2"], ["-n", "4"], "flood", "25000000")
    tests.add("same messages of 64 MiB", tests.same, ["--procs 2"], ["-n", "3"], "large")
    tests.add("same pairs beyond the limit", tests.same, ["--procs 3"], ["-n", "2100"], "pairs")
    tests.add("same 300,000 ranks", tests.same, ["--procs 4"], ["-n", "300000"], "hello")
    tests.add("bounded memory of communicators", tests.bounded)


def add_onesided(tests):
    """Agents that serve ranks, also their own, on networks where a message to itself is the fastest."""
    ways = ["--schedule random:5", "--procs 2 --placement cyclic --schedule random:2", "--procs 4",
            "--host process --procs 3"]
    networks = ("net.model=flow,net.intra.memory_bandwidth=100Gbps,net.topology.kind=fat-tree",
                "net.model=flow,net.topology.kind=torus,nodes.ranks=2", "net.model=packet",
                "net.model=packet,nodes.ranks=3", "net.model=loggops,mpi.collectives=model")
    for seed, network in itertools.product(range(1, 3 if tests.options.quick else 5), networks):
        tests.add(f"same onesided {seed} {network}", tests.same, ways[seed % 2::2],
                  ["-n", "8", "--compute", "none", "--set", network], "onesided", str(seed))
    for network in networks:
        tests.add(f"same onesided spawn {network}", tests.same, ways[:2],
                  ["-n", "6", "--compute", "none", "--set", network], "onesided", "2", "spawn")


def add_faults(tests):
    kill, stop = signal.SIGKILL, signal.SIGSTOP
    for index, what in ((0, "ring"), (1, "ring"), (0, "spin"), (1, "spin"), (2, "half")):
        tests.add(f"fault kill process {index}, {what}", tests.fault, "program", index, kill, what,
                  3, rf"process {index} of 3 \(pid \d+ on .*\) was killed by signal 9", hello=True)
    tests.add("fault kill worker 0", tests.fault, "worker", 0, kill, "ring", 3, "orrery: error: .*",
              hello=True)
    tests.add("fault kill worker 1", tests.fault, "worker", 1, kill, "ring", 3, "orrery: error: .*",
              hello=True)
    tests.add("fault kill launcher", tests.fault, "mpiexec", None, kill, "ring", 3,
              r"launcher died of signal 9", hello=True)
    tests.add("fault kill starter", tests.fault, "starter", None, kill, "ring", -9, "")
    for index, what in ((0, "ring"), (1, "ring"), (1, "spin")):
        tests.add(f"fault stop process {index}, {what}", tests.fault, "program", index, stop, what,
                  3, rf"process {index} of 3 \(pid \d+ on .*\) does not respond", hello=True)
    for sig, role, what in itertools.product((signal.SIGINT, signal.SIGTERM), ("starter", "group"),
                                             ("ring", "spin")):
        tests.add(f"fault {sig.name} to {role}, {what}", tests.fault, role, None, sig, what,
                  128 + sig, "", hello=True)
    for procs in (1, 3):
        tests.add(f"fault MPI_Abort of one rank, {procs} processes", tests.quit, procs)
    if not tests.options.quick:
        tests.add("fault kill process, much output", tests.much)
    tests.add("fault reader of the output gone", tests.reader_gone)


def add_usage(tests):
    two = ["-n", "4", "--procs", "2"]
    for launcher, status, pattern in (
            ("false", 3, "launcher ended with status 1"),
            ("true", 3, "launcher 'true' ended with status 0.*it started none"),
            ("/no/such", 2, "cannot start the launcher '/no/such'.*No such file"),
            ("mpiexec.mpich -n 1", 3, "launcher ended with status 255"),
            ("mpiexec.mpich 'open", 2, "quote"), ("  ", 2, "empty")):
        tests.add(f"usage --launcher {launcher!r}", tests.usage, [*two, "--launcher", launcher],
                  status, pattern)
    tests.add("usage --launcher with quotes", tests.usage,
              [*two, "--launcher", "\"mpiexec.mpich\" '-l'"], 0, "")
    for words, status in ((["ends", "exit", "6"], 0), (["ends", "codes", "0"], 11)):
        tests.add(f"usage workers elsewhere, {' '.join(words)}", tests.elsewhere, words, status)
    tests.add("usage --procs 0", tests.usage, ["-n", "4", "--procs", "0"], 2, "procs")
    tests.add("usage --procs x", tests.usage, ["-n", "4", "--procs", "x"], 2, "procs")
    tests.add("usage --procs -1", tests.usage, ["-n", "4", "--procs", "-1"], 2, "procs")
    tests.add("usage --procs auto", tests.usage, ["-n", "40", "--procs", "auto"], 0, "")
    tests.add("usage --procs auto, few ranks", tests.usage, ["-n", "4", "--procs", "auto"], 0, "")
    tests.add("usage --procs auto-", tests.usage, ["-n", "4", "--procs", "auto-"], 2, "procs")
    tests.add("usage more processes than ranks", tests.clamped)
    for how in ("junk", "mincut:", "mincut:no-such-file", "mincut:/dev/null",
                "mincut:/proc/version"):
        tests.add(f"usage --placement {how}", tests.usage, [*two, "--placement", how], 2,
                  "placement|no-such-file|/dev/null|/proc/version")
    tests.add("usage mincut of another number of ranks", tests.mincut, good=False)
    tests.add("same mincut", tests.mincut, good=True)
    for library, status in (("/no/such", 2), ("/etc/passwd", 3)):
        tests.add(f"usage ORRERY_NATIVE_MPI={library}", tests.usage, two, status, library,
                  environment={"ORRERY_NATIVE_MPI": library})


if __name__ == "__main__":
    harness.main(lambda: watched_run.run_tests(Tests, ["procs"], (add_same, add_onesided, add_faults, add_usage),
                                               "build/tests-procs", __doc__))
