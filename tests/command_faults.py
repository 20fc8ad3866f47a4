"""Faults of all commands that start processes; part of run_faults.py.

FAULTS is the contract of exit statuses (orrery(1)): for each command, what becomes of it when one of its processes is
killed, or stopped, or a signal ends it. Nothing may be left then: no process, no temporary file."""

import contextlib
import itertools
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
# Commands that write no trace of a program that never ends. Those that run a program of Orrery's hold it at a gate
# (faults/gate.c), and have its name instead of an option.
OTHERS = {
    "run --host process": (["run", "--compute", "none", "-n", "2", "--host", "process"], 2, None),
    "emulate --launcher": (["emulate", "-n", "2", "--launcher", "mpiexec.mpich"], 2, None),
    "emulate --factor auto": (["emulate", "-n", "2", "--factor", "auto"], 2, None),
    "replay": (["replay", "two.orr"], 1, "orrery-replay-mpi"),
    "replay --real-time": (["replay", "--real-time", "two.orr"], 2, "orrery-replay-mpi"),
    "calibrate": (["calibrate", "-n", "2"], 2, "orrery-calibrate-mpi"),
    "calibrate --verify": (["calibrate", "--verify", "ethernet-1g", "--from", "one.csv"], 1, "orrery-calibrate-mpi"),
    "sweep": (["sweep", "--set", "net.latency=1us", "run", "--compute", "none", "-n", "4"], 1, None),
    "tune": (["tune", "two.orr", "--set", "net.latency=1us..1ms", "--log", "runs.log", "-j", "1", "run",
              "--compute", "none", "-n", "2"], 1, None),
    "tune replay": (["tune", "two.orr", "--set", "net.latency=1us..1ms", "-j", "1", "replay", "two.orr"], 1,
                    "orrery-replay-mpi"),
}
# What is said of a process that is killed, and the status of the command. A rank is a process of the program; where
# that simulates, too, it belongs to Orrery. None: see Tests.killed_run.
RANK = (137, r"(a rank was killed by signal 9 \(Killed\)|rank \d: its process was ended by signal 9)")
PROGRAM = (3, r"the program was killed \(SIGKILL\)")
COMMAND = (3, r"'.*' \(pid \d+\) was killed by signal 9 \(Killed\): the run ends here")
HELPER = (3, "a process of the launcher's.* was killed")
GUARD = (3, r"a process of Orrery's \(pid \d+\) was killed")
TEAM = (3, "the launcher died of signal 9")
LAUNCHED = {"program": RANK, "mpiexec": COMMAND, "hydra_pmi_proxy": HELPER, "orrery-guard": GUARD}
POINT = (1, "exit status 137: the run was killed by signal 9")
FAULTS = {
    "run": {"program": PROGRAM},
    "run --host process": {"rank": RANK},
    "run --procs 2": {"program": (3, r"process . of 2 \(.*\) was killed by signal 9"),
                      "worker": (3, r"a worker \(pid \d+\) was killed|no process reported the end of the run"),
                      "mpiexec": TEAM, "hydra_pmi_proxy": HELPER, "orrery-guard": GUARD},
    "record": LAUNCHED,
    "hybrid": {**LAUNCHED, "worker": (3, r"a simulator \(pid \d+\) was killed"), "orrery-witness": GUARD},
    "hybrid --simulators 2": {**LAUNCHED, "mpiexec": TEAM, "orrery-witness": GUARD},
    "emulate": {"rank": RANK},
    "emulate --launcher": {"rank": RANK, "mpiexec": (3, "."), "hydra_pmi_proxy": HELPER, "orrery-guard": GUARD},
    "emulate --factor auto": {"worker": (3, "the run with factor 1 has failed: the run was killed by signal 9"),
                              "rank": (137, "the run with factor 1 has failed: .*ended by signal 9")},
    "replay": {"program": PROGRAM, "worker": COMMAND, "orrery-guard": GUARD},
    "replay --real-time": LAUNCHED,
    "calibrate": LAUNCHED,
    "calibrate --verify": {"program": PROGRAM, "worker": COMMAND, "orrery-guard": GUARD},
    "sweep": {"program": (1, "exit status 3: the program was killed"), "worker": POINT},
    "tune": {"program": None, "worker": None},
    "tune replay": {"program": None, "worker": None},
}
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
CSV = "# orrery calibration 1\nkind,where,ranks,bytes,samples,outliers,least,q1,median,q3,most,beyond_cores\n"
AGAIN_S = 0.6  # a signal that comes later is not a copy of the first


class Tests(watched_run.Tests):
    # ---- merging ----

    def merging(self, name, stack):
        """A run that was ended by SIGTERM and is about to merge its trace."""
        command, programs, output = COMMANDS[name]
        gate = pathlib.Path(stack.enter_context(harness.fresh_folder()))
        run = stack.enter_context(Run(
            self, [output, "t.orr"], "lasting", "ring", command=command,
            environment={"LD_PRELOAD": str(self.gate()), "ORRERY_TEST_GATE": str(gate)}))
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

    @contextlib.contextmanager
    def started(self, name):
        """A command whose program, or that of Orrery's, runs; its temporary files are in a folder of their own."""
        words, programs, output = {**COMMANDS, **OTHERS}[name]
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(stack.enter_context(harness.fresh_folder()))
            temporary = folder / "tmp"
            temporary.mkdir()
            environment = {"TMPDIR": str(temporary)}
            held = bool(output) and not output.startswith("-")
            if held:
                environment |= {"LD_PRELOAD": str(self.gate()), "ORRERY_TEST_GATE": str(folder),
                                "ORRERY_TEST_HOLD": output}
            words = [str(self.inputs() / word) if (self.inputs() / word).exists() else word for word in words]
            program = pathlib.Path(self.orrery).parent / output if held else "lasting"
            run = stack.enter_context(Run(
                self, [output, "t.orr"] if name in COMMANDS else [], program, *([] if held else ["ring"]), command=words,
                environment=environment, names_program=not held))
            where = folder if held else run.path
            wait_until(lambda: len(list(where.glob("started.*"))) >= programs or run.process.poll() is not None,
                       f"{programs} processes", run.errors)
            run.tree = watched_run.descendants(run.process.pid, run.program)
            run.ranks = [int(path.suffix[1:]) for path in where.glob("started.*")]
            run.temporary = temporary
            yield run

    def gate(self):
        harness.build(harness.TESTS / "faults" / "gate.c", self.build / "gate.so", [*FLAGS, "-shared", "-fPIC"], ["cc"])
        return self.build / "gate.so"

    def inputs(self):
        """A folder with a trace of two ranks, and with measurements."""
        with harness.BUILDING["inputs"]:
            folder = self.build / "inputs"
            if not (folder / "one.csv").exists():
                folder.mkdir(exist_ok=True)
                done = harness.call([self.orrery, "run", "-q", "--compute", "none", "-n", "2", "--trace",
                                     folder / "two.orr", self.build / "hello"])
                demand(done.status == 0, "no trace", done.stderr)
                (folder / "one.csv").write_text(CSV + "pingpong,inter,2,8,3,0,1e-5,1e-5,1e-5,1e-5,1e-5,0\n# end\n")
        return folder

    def victim(self, run, role):
        """A process of a run; of ranks, the last one."""
        if role == "rank":
            return max(run.ranks)
        if role == "program" and len(run.ranks) == 1:
            return run.ranks[0]
        found = [process.pid for process in run.tree if process.role == role]
        demand(found, f"there is no {role}: {run.tree}")
        return found[-1] if role == "program" else found[0]

    def nothing_left(self, name, run, err):
        """No temporary file, and of files only those that were asked for."""
        left = [path.name for path in run.temporary.rglob("*")]
        demand(not left, f"temporary files are left: {left}", err)
        names = {re.sub(r"\.\d+$", "", path.name) for path in run.path.iterdir()}
        demand(names <= {"out", "err", "started", "t.orr", "runs.log"}, f"files are left: {names}", err)
        if name in COMMANDS and "t.orr" in names:
            self.demand_trace(run.path, err)

    def died(self, name, role):
        """A process dies: the command says so, ends all others, and has a trace of what was done."""
        status, message = FAULTS[name][role]
        with self.started(name) as run:
            os.kill(self.victim(run, role), signal.SIGKILL)
            got, _, err = run.finish()
            demand(got == status, f"exit status {got} instead of {status}", err)
            demand(re.search(f"^orrery: error: .*{message}", err, re.M), f"no message '{message}'", err)
            self.nothing_left(name, run, err)

    def killed_run(self, name, role):
        """A search repeats a run that was killed; a signal then ends it."""
        with self.started(name) as run:
            victim = self.victim(run, role)
            os.kill(victim, signal.SIGKILL)
            run.await_message("it is repeated")
            os.kill(run.process.pid, signal.SIGTERM)
            status, _, err = run.finish()
            demand(status == 128 + signal.SIGTERM, f"exit status {status}", err)
            demand(re.search("^orrery: warning: .*net.latency=.* killed .*: it is repeated", err, re.M), "no message", err)
            self.nothing_left(name, run, err)

    def stopped_process(self, name):
        """A stopped process is named; the run goes on when it continues, and can be ended. One of several processes
        that simulate together is given up."""
        with self.started(name) as run:
            pid = self.victim(run, "rank")
            os.kill(pid, signal.SIGSTOP)
            if name == "run --procs 2":
                status, _, err = run.finish()
                demand(status == 3 and "does not respond, it was stopped by a signal" in err, f"exit status {status}", err)
                return
            run.await_message(f"pid {pid}) was stopped by a signal")
            os.kill(pid, signal.SIGCONT)
            os.kill(run.process.pid, signal.SIGTERM)
            status, _, err = run.finish()
            self.nothing_left(name, run, err)
        demand(status == 128 + signal.SIGTERM, f"exit status {status}", err)
        demand("was stopped by a signal" in err and "interrupted by signal 15" in err, "no message", err)

    def signalled(self, name, number):
        """A signal to the command alone ends everything."""
        with self.started(name) as run:
            os.kill(run.process.pid, number)
            status, _, err = run.finish()
            demand(status == 128 + number, f"exit status {status}", err)
            demand(len(re.findall(f"interrupted by signal {int(number)} ", err)) == 1, "not one message", err)
            self.nothing_left(name, run, err)

    def command_killed(self, name):
        """Nobody is left who could say anything, or run on."""
        with self.started(name) as run:
            os.kill(run.process.pid, signal.SIGKILL)
            status, _, err = run.finish()
            demand(status == -signal.SIGKILL, f"exit status {status}", err)

    # ---- commands that ranks start ----

    def commands(self, how, options):
        """They end with the run."""
        with Run(self, ["-n", "2", *options], "commands", how) as run:
            run.await_files("started.command", 1)
            if how != "left":
                os.kill(run.process.pid, signal.SIGTERM)
            status, _, err = run.finish()
        demand(status == (0 if how == "left" else 143), f"exit status {status}", err)
        demand(how != "left" or "what the program has started still runs" in err, "no warning", err)

    # ---- ranks that end early ----

    def unfinished(self, name, how):
        """A rank that ends without MPI_Finalize has one status, whatever the launcher makes of it."""
        words, _, _ = COMMANDS[name]
        with harness.fresh_folder() as folder:
            done = harness.call([self.orrery, *words, self.build / "leaves", how], cwd=folder)
        demand(done.status == (0 if name == "record" else 1), f"exit status {done.status}", done.stderr)
        demand("a rank ended without MPI_Finalize" in done.stderr, "no message", done.stderr)


def add_all(tests):
    for source in ("commands.c", "leaves.c"):
        harness.build(harness.TESTS / "faults" / source, tests.build / source[:-2], FLAGS)
    for name, roles in FAULTS.items():
        for role, expected in roles.items():
            tests.add(f"death of {role}, {name}", tests.died if expected else tests.killed_run, name, role)
        tests.add(f"stop of a process, {name}", tests.stopped_process, name)
        tests.add(f"death of the command, {name}", tests.command_killed, name)
    for i, name in enumerate(FAULTS):  # each gets two of them
        for number in (SIGNALS[i % 3], SIGNALS[(i + 1) % 3]):
            tests.add(f"{number.name}, {name}", tests.signalled, name, number)
    for how, options in itertools.product(("system", "popen"), (["--host", "fibre"], ["--host", "process"], ["--procs", "2"])):
        tests.add(f"commands of {how}, {' '.join(options)}", tests.commands, how, options)
    for options in (["--host", "fibre"], ["--procs", "2"]):
        tests.add(f"commands left, {' '.join(options)}", tests.commands, "left", options)
    for name, how in itertools.product(("record", "hybrid", "hybrid --simulators 2"), ("exit", "_exit")):
        tests.add(f"no MPI_Finalize, {how}, {name}", tests.unfinished, name, how)
    for name in COMMANDS:
        tests.add(f"merge after a signal, {name}", tests.merged, name)
        tests.add(f"merge abandoned, {name}", tests.abandoned, name)
