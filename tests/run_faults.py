#!/usr/bin/env python3
"""Tests faults at the start of a run with several processes, closed streams, limits, and signals.

Prints TAP. Whatever happens, a run must end soon, with a message and a status, and leave nothing behind:

  start     a process is killed or stopped as soon as it appears; a signal arrives that early
  streams   closed standard streams, in all combinations
  limits    few descriptors, small files
  signal    a run ends the same way, even if the output is not read
  shared    memory that a native MPI has left behind
  death     a process dies or is stopped, of all commands (command_faults.py)
  merge     a trace that is merged when a signal comes, by all commands (command_faults.py)
"""

import itertools
import os
import pathlib
import re
import resource
import select
import signal

import command_faults
import harness
import watched_run
from harness import demand, wait_until
from watched_run import Run

SUMMARY = r"orrery: error: interrupted by signal {0} \(.*\): the run is not complete\norrery: \d ranks, stopped\n"


class Tests(command_faults.Tests):
    # ---- start ----

    def start(self, role, index, sig, ways=()):
        with Run(self, ["-n", "4", "--procs", "2", *ways], "lasting", "ring") as run:
            os.kill(run.await_role(role, index), sig)
            status, _, err = run.finish()
        demand(status in (2, 3), f"exit status {status}", err)
        demand(len(re.findall("^orrery: error: ", err, re.M)) == 1, "not one message", err)

    def later_stop(self, index):
        """A worker is stopped while all programs run."""
        with Run(self, ["-n", "4", "--procs", "2"], "lasting", "ring") as run:
            run.await_start(2)
            os.kill(run.find("worker", index), signal.SIGSTOP)
            status, _, err = run.finish()
        demand(status == 3, f"exit status {status}", err)
        demand(re.fullmatch(r"orrery: error: a worker \(.*\) does not respond, .*\n", err), "not one message", err)

    def early_signal(self, role, index):
        with Run(self, ["-n", "4", "--procs", "2"], "lasting", "ring") as run:
            run.await_role(role, index)
            os.kill(run.process.pid, signal.SIGTERM)
            status, _, err = run.finish()
        demand(status == 128 + signal.SIGTERM, f"exit status {status}", err)
        demand(re.fullmatch(SUMMARY.format(15) + "(  .*\n)*", err), "not one reason and summary", err)

    def complaint(self):
        """A launcher that has started nobody complains when it is ended."""
        script = self.build / "complaining-launcher"
        harness.write_script(script, "#!/bin/sh\ntrap 'echo write error >&2; exit 1' TERM\n"
                             "while :; do sleep 0.1; done\n")
        with Run(self, ["-n", "4", "--procs", "2", "--launcher", str(script)], "lasting", "ring") as run:
            run.await_role("sleep", None)
            os.kill(run.process.pid, signal.SIGTERM)
            status, _, err = run.finish()
        demand(status == 128 + signal.SIGTERM, f"exit status {status}", err)
        demand(re.fullmatch(SUMMARY.format(15) + "(  .*\n)*", err), "not one reason and summary", err)

    # ---- streams and limits ----

    def limited(self, arguments, program, *words, before=None, **options):
        return harness.call([self.orrery, "run", "-q", "-n", "4", "--compute", "none", *arguments,
                             self.build / program, *words], preexec_fn=before,
                            env=dict(os.environ, LC_ALL="C"), **options)

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
            demand(status == 0 and out.count("hello from") == 2, f"exit status {status}", err)

    def descriptors(self, count):
        """It works, or says why not."""
        status, out, err = self.limited(
            ["--procs", "2"], "hello",
            before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count)))
        if count >= 64:
            demand(status == 0, f"exit status {status}", err)
        demand((status == 0) == (out.count("hello from") == 2), f"{status}, {out}", err)
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
        with Run(self, ["-n", "4", *ways], "flood", "5000000", stdout=writer) as run:
            wait_until(lambda: is_full(writer), "a full pipe", run.errors)
            os.kill(run.process.pid, signal.SIGTERM)
            status, _, err = run.finish()
        os.close(reader)
        os.close(writer)
        demand(status == 128 + signal.SIGTERM, f"exit status {status}", err)
        demand(re.search(SUMMARY.format(15), err), "no reason and summary", err)

    def twice(self):
        """timeout(1) sends a signal to the process and to its group."""
        with Run(self, ["-n", "6"], "lasting", "spin") as run:
            run.await_start(1)
            os.kill(run.process.pid, signal.SIGTERM)
            os.killpg(run.process.pid, signal.SIGTERM)
            status, out, err = run.finish()
        demand(status == 128 + signal.SIGTERM and out == "hello from 0\n", f"{status}, {out}", err)

    def stopped(self):
        """A run on one process waits, but says so, and can be ended."""
        with Run(self, ["-n", "5", "--host", "process"], "staying", "spin", "1") as run:
            zygote = run.parent(run.await_ranks(5)[1])
            os.kill(zygote, signal.SIGSTOP)
            run.await_message("was stopped by a signal")
            os.kill(run.process.pid, signal.SIGTERM)
            status, _, err = run.finish()
        demand(status == 128 + signal.SIGTERM, f"exit status {status}", err)
        demand(f"starts ranks (pid {zygote}) was stopped by a signal" in err, "no warning", err)

    # ---- shared memory ----

    def shared(self):
        """Unused memory is removed, memory in use is not."""
        left, used = (pathlib.Path(f"/dev/shm/mpich_shar_tmp{os.getpid()}-{n}") for n in (1, 2))
        try:
            with Run(self, ["-n", "4", "--procs", "2"], "lasting", "ring") as run, \
                    open(used, "wb"):
                run.await_start(2)
                left.touch()
                os.kill(run.find("mpiexec"), signal.SIGKILL)
                run.finish()
                demand(used.exists() and not left.exists(), f"{used.exists()} {left.exists()}")
        finally:
            left.unlink(missing_ok=True)
            used.unlink(missing_ok=True)


def is_full(fd):
    """Whether the pipe is full, judging by our own end, which is not used otherwise."""
    return not select.select([], [fd], [], 0)[1]


def add_all(tests):
    kill, stop = signal.SIGKILL, signal.SIGSTOP
    everyone = [("mpiexec", None), ("hydra_pmi_proxy", None), ("worker", 0), ("worker", 1),
                ("program", 0), ("program", 1)]
    for role, index in everyone:
        tests.add(f"start kill {role} {index}", tests.start, role, index, kill)
        tests.add(f"start SIGTERM with {role} {index}", tests.early_signal, role, index)
    tests.add("start SIGTERM with a launcher that complains", tests.complaint)
    for role, index in (everyone[0], everyone[1], everyone[3], everyone[4]):
        tests.add(f"start stop {role} {index}", tests.start, role, index, stop)
    for index in range(2):
        tests.add(f"stop worker {index} of a run", tests.later_stop, index)
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
    harness.main(lambda: watched_run.run_tests(Tests, ("procs", "hosts"), (add_all, command_faults.add_all),
                                               "build/tests-faults", __doc__))
