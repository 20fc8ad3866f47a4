"""Faults of all commands that start processes; part of run_faults.py."""

import contextlib
import os
import pathlib
import re
import signal
import time

import harness
import watched_run
from harness import demand, wait_until
from watched_run import FLAGS, Run

# How each command runs a program that never ends, how many processes of it there are, and how it writes a trace.
COMMANDS = {
    "run": (["run", "--compute", "none", "-n", "4"], 1, "--trace"),
    "run --procs 2": (["run", "--compute", "none", "-n", "4", "--procs", "2"], 2, "--trace"),
    "emulate": (["emulate", "-n", "2"], 2, "--trace"),
    "hybrid": (["hybrid", "-n", "2"], 2, "--trace"),
    "hybrid --simulators 2": (["hybrid", "-n", "2", "--simulators", "2"], 2, "--trace"),
    "record": (["record", "-n", "2"], 2, "-o"),
}
AGAIN_S = 0.6  # a signal that comes later is not a copy of the first


class Tests(watched_run.Tests):
    # ---- merging ----

    def merging(self, name, stack):
        """A run that was ended by SIGTERM and is about to merge its trace."""
        command, programs, output = COMMANDS[name]
        gate = pathlib.Path(stack.enter_context(harness.fresh_folder()))
        harness.build(harness.TESTS / "faults" / "gate.c", self.build / "gate.so",
                      [*FLAGS, "-shared", "-fPIC"], ["cc"])
        run = stack.enter_context(Run(
            self, [output, "t.orr"], "lasting", "ring", command=command,
            environment={"LD_PRELOAD": str(self.build / "gate.so"), "ORRERY_TEST_GATE": str(gate)}))
        run.await_files("started.*", programs)
        os.kill(run.process.pid, signal.SIGTERM)
        wait_until((gate / "merging").exists, "a merge", run.errors)
        return run, gate

    def merged(self, name):
        """However long it takes, the trace is written: neither time nor copies of the signal end it."""
        with contextlib.ExitStack() as stack:
            run, gate = self.merging(name, stack)
            os.kill(run.process.pid, signal.SIGALRM)  # as if much time had passed
            (gate / "go").touch()
            status, _, err = run.finish()
            demand(status == 128 + signal.SIGTERM, f"exit status {status}", err)
            demand("merging the parts of" in err, "no note", err)
            self.demand_trace(run.path, err)

    def demand_trace(self, folder, err):
        demand(sorted(path.name for path in folder.glob("t.orr*")) == ["t.orr"], f"{list(folder.iterdir())}", err)
        done = harness.call([self.orrery, "trace", "verify", folder / "t.orr"])
        demand(done.status == 0, "the trace is damaged", done.stdout, done.stderr)

    def abandoned(self, name):
        """Another signal leaves the parts, which no command removes, and says how to merge them."""
        command, _, output = COMMANDS[name]
        with contextlib.ExitStack() as stack:
            run, gate = self.merging(name, stack)
            since = time.monotonic()
            wait_until(lambda: time.monotonic() - since > AGAIN_S, "a time that tells signals apart")
            os.kill(run.process.pid, signal.SIGTERM)
            (gate / "go").touch()
            status, _, err = run.finish()
            demand(status == 128 + signal.SIGTERM, f"exit status {status}", err)
            demand("because of another signal" in err, "no message", err)
            left = sorted(path.name for path in run.path.glob("t.orr*"))
            demand(left and all(re.fullmatch(r"t\.orr\.part-\d", part) for part in left), f"{left}", err)
            again = harness.call([self.orrery, *command, output, "t.orr", self.build / "hello"], cwd=run.path)
            demand(again.status == 2 and "is a part of an earlier run: merge it" in again.stderr,
                   f"exit status {again.status}", again.stderr)
            harness.call(["sh", "-c", re.search("orrery (trace merge .*)", err)[0].replace(
                "orrery", self.orrery, 1) + " && rm t.orr.part-*"], cwd=run.path)
            self.demand_trace(run.path, err)

    # ---- processes that die or are stopped ----

    def started(self, name, stack):
        command, programs, output = COMMANDS[name]
        run = stack.enter_context(Run(self, [output, "t.orr"], "lasting", "ring", command=command))
        run.await_start(programs)
        return run

    def died(self, name, role, message, statuses):
        """A process dies: the command says so, ends all others, and has a trace of what was done."""
        with contextlib.ExitStack() as stack:
            run = self.started(name, stack)
            pid = next(p.pid for p in run.tree if role in (p.role, comm(p.pid)))
            os.kill(pid, signal.SIGTERM if role == "mpiexec" else signal.SIGKILL)
            got, _, err = run.finish()
            demand(got in statuses, f"exit status {got}", err)
            demand(re.search(f"^orrery: error: .*{message}", err, re.M), "no message", err)
            self.demand_trace(run.path, err)

    def stopped_process(self, name):
        """A stopped process is named; the run goes on when it continues, and can be ended."""
        with contextlib.ExitStack() as stack:
            run = self.started(name, stack)
            pid = run.find("program")
            os.kill(pid, signal.SIGSTOP)
            run.await_message(f"pid {pid}) was stopped by a signal")
            os.kill(pid, signal.SIGCONT)
            os.kill(run.process.pid, signal.SIGTERM)
            status, _, err = run.finish()
        demand(status == 128 + signal.SIGTERM, f"exit status {status}", err)
        demand("was stopped by a signal" in err and "interrupted by signal 15" in err, "no message", err)


def comm(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def add_all(tests):
    for name in ("hybrid", "record"):
        for role, message, status in (("program", "a rank ended without a word: signal 9", (9,)),
                                      ("mpiexec", "(did not end by themselves|signal 15)", (3, 15, 143)),
                                      ("hydra_pmi_proxy", "a process of the launcher's .* was killed", (3,)),
                                      ("orrery-guard", "a process of Orrery's .* was killed", (3,))):
            tests.add(f"death of {role}, {name}", tests.died, name, role, message, status)
        tests.add(f"stop of a rank, {name}", tests.stopped_process, name)
    for name in COMMANDS:
        tests.add(f"merge after a signal, {name}", tests.merged, name)
        tests.add(f"merge abandoned, {name}", tests.abandoned, name)
