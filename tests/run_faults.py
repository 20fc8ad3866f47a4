#!/usr/bin/env python3
"""Tests faults at the start of a run with several processes, closed streams, limits, and signals.

Prints TAP. Whatever happens, a run must end soon, with a message and a status, and leave nothing behind:

  start     a process is killed or stopped as soon as it appears; a signal comes that early
  streams   closed standard streams, in all combinations
  limits    few descriptors, small files
  signal    one way to end, also when nobody reads the output
  shared    memory that a native MPI has left behind
"""

import itertools
import os
import pathlib
import re
import resource
import select
import signal
import subprocess
import sys
import time

import run_hosts
import run_procs
from run_procs import demand

LIMIT = run_procs.LIMIT
SUMMARY = r"orrery: error: interrupted by signal {0} \(.*\): the run is not complete\norrery: \d ranks, stopped\n"


class Tests(run_procs.Tests):
    # ---- start ----

    def await_role(self, run, role, index):
        """Until the process is there."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and run.process.poll() is None:
            for process in run_procs.descendants(run.process.pid, run.program):
                if process.role == role and index in (None, process.index):
                    return process.pid
        raise run_procs.Failure(f"there is no {role} {index}\n{run.text(run.err)}")

    def start(self, role, index, sig, ways=()):
        with run_hosts.Run(self, ["-n", "4", "--procs", "2", *ways], "lasting", "ring") as run:
            os.kill(self.await_role(run, role, index), sig)
            status, _, err = run.finish(LIMIT)
        demand(status in (2, 3), f"exit status {status}", err)
        demand(len(re.findall("^orrery: error: ", err, re.M)) == 1, "not one message", err)

    def early_signal(self, role, index):
        with run_hosts.Run(self, ["-n", "4", "--procs", "2"], "lasting", "ring") as run:
            self.await_role(run, role, index)
            os.kill(run.process.pid, signal.SIGTERM)
            status, _, err = run.finish(LIMIT)
        demand(status == 128 + signal.SIGTERM, f"exit status {status}", err)
        demand(re.fullmatch(SUMMARY.format(15) + "(  .*\n)*", err), "not one reason and summary", err)

    # ---- streams and limits ----

    def limited(self, arguments, program, *words, before=None, **options):
        result = subprocess.run([self.orrery, "run", "-q", "-n", "4", "--compute", "none", *arguments,
                                 str(self.build / program), *words], timeout=LIMIT, check=False,
                                preexec_fn=before, env=dict(os.environ, LC_ALL="C"),
                                **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})
        return result.returncode, result.stdout, (result.stderr or b"").decode()

    def streams(self, ways, closed):
        def close():
            for stream in closed:
                os.close(stream)

        status, out, err = self.limited(ways, "hello", before=close)
        if 1 in closed:
            demand(status == 3, f"exit status {status}", err)
            demand(2 in closed or "cannot write to standard output: Bad file descriptor" in err,
                   "no message", err)
        else:
            demand(status == 0 and out.count(b"hello from") == 2, f"exit status {status}", err)

    def descriptors(self, count):
        """Either it works, or it says why not."""
        status, out, err = self.limited(
            ["--procs", "2"], "hello",
            before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count)))
        if count >= 64:
            demand(status == 0, f"exit status {status}", err)
        demand((status == 0) == (out.count(b"hello from") == 2), f"{status}, {out}", err)
        demand(status == 0 or "orrery: error: " in err, f"exit status {status}, no message", err)

    def file_size(self, ways):
        path = self.build / f"limited-{'-'.join(ways)}.out"
        with open(path, "wb") as file:
            status, _, err = self.limited(
                ways, "flood", "100000", stdout=file,
                before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)))
        demand(status == 3 and path.stat().st_size == 65536, f"exit status {status}", err)
        demand("ulimit -f" in err and "standard output: File too large" in err, "no message", err)

    # ---- signals ----

    def unread(self, ways):
        """The reader of the output does not read."""
        reader, writer = os.pipe()
        with run_hosts.Run(self, ["-n", "4", *ways], "flood", "5000000", stdout=writer) as run:
            end = time.monotonic() + LIMIT
            while not is_full(writer) and time.monotonic() < end:
                time.sleep(0.05)
            os.kill(run.process.pid, signal.SIGTERM)
            status, _, err = run.finish(LIMIT)
        os.close(reader)
        os.close(writer)
        demand(status == 128 + signal.SIGTERM, f"exit status {status}", err)
        demand(re.search(SUMMARY.format(15), err), "no reason and summary", err)

    def twice(self):
        """timeout(1) sends a signal to the process and to its group."""
        with run_hosts.Run(self, ["-n", "6"], "lasting", "spin") as run:
            run.await_start(1)
            os.kill(run.process.pid, signal.SIGTERM)
            os.killpg(run.process.pid, signal.SIGTERM)
            status, out, err = run.finish(LIMIT)
        demand(status == 128 + signal.SIGTERM and out == "hello from 0\n", f"{status}, {out}", err)

    def stopped(self):
        """A run on one process waits, but says so, and can be ended."""
        with run_hosts.Run(self, ["-n", "5", "--host", "process"], "staying", "spin", "1") as run:
            zygote = run.parent(run.await_ranks(5)[1])
            os.kill(zygote, signal.SIGSTOP)
            end = time.monotonic() + LIMIT
            while "was stopped by a signal" not in run.text(run.err) and time.monotonic() < end:
                time.sleep(0.1)
            os.kill(run.process.pid, signal.SIGTERM)
            status, _, err = run.finish(LIMIT)
        demand(status == 128 + signal.SIGTERM, f"exit status {status}", err)
        demand(f"starts ranks (pid {zygote}) was stopped by a signal" in err, "no warning", err)

    # ---- shared memory ----

    def shared(self):
        """What nobody uses is removed, what somebody uses is not."""
        left, used = (pathlib.Path(f"/dev/shm/mpich_shar_tmp{os.getpid()}-{n}") for n in (1, 2))
        try:
            with run_hosts.Run(self, ["-n", "4", "--procs", "2"], "lasting", "ring") as run, \
                    open(used, "wb"):
                run.await_start(2)
                left.touch()
                os.kill(run.find("mpiexec"), signal.SIGKILL)
                run.finish(LIMIT)
                demand(used.exists() and not left.exists(), f"{used.exists()} {left.exists()}")
        finally:
            left.unlink(missing_ok=True)
            used.unlink(missing_ok=True)


def is_full(fd):
    """Has the pipe no room? To be asked of our own end, which is not used otherwise."""
    return not select.select([], [fd], [], 0)[1]


def add_all(tests):
    kill, stop = signal.SIGKILL, signal.SIGSTOP
    everyone = [("mpiexec", None), ("hydra_pmi_proxy", None), ("worker", 0), ("worker", 1),
                ("program", 0), ("program", 1)]
    for role, index in everyone:
        tests.add(f"start kill {role} {index}", tests.start, role, index, kill)
        tests.add(f"start SIGTERM with {role} {index}", tests.early_signal, role, index)
    for role, index in (everyone[0], everyone[1], everyone[3], everyone[4]):
        tests.add(f"start stop {role} {index}", tests.start, role, index, stop)
    for ways in ([], ["--host", "process"], ["--procs", "2"]):
        name = " ".join(ways) or "fibres"
        for count in (1, 2, 3):
            for closed in itertools.combinations(range(3), count):
                tests.add(f"streams {closed} closed, {name}", tests.streams, ways, closed)
        tests.add(f"signal when nobody reads, {name}", tests.unread, ways)
        if "--procs" not in ways:
            tests.add(f"limits on files, {name}", tests.file_size, ways)
    for count in (8, 12, 20, 32, 64, 101):
        tests.add(f"limits {count} descriptors", tests.descriptors, count)
    tests.add("signal twice", tests.twice)
    tests.add("signal stopped process", tests.stopped)
    tests.add("shared memory left behind", tests.shared)


if __name__ == "__main__":
    HERE = pathlib.Path(__file__).resolve().parent
    sys.exit(run_procs.main(Tests, [HERE / "procs", HERE / "hosts"], (add_all,),
                            "build/tests-faults", __doc__))
