#!/usr/bin/env python3
"""Tests 'orrery run --host process': the same results as with fibres, and how faults end a run.

Prints TAP. The programs are those of tests/procs and tests/hosts. Kinds of tests:

  same      a run with fibres and the same with processes: output, exit status, messages, virtual time
            and statistics must agree
  fault     something happens to a process of a run; the run must end by itself, with a status and a
            message, and leave no process behind
  loads     ranks load libraries while they run; the same natively, or refused
  input, memory, many
"""

import itertools
import os
import pathlib
import random
import re
import resource
import signal

import harness
import watched_run
from harness import demand
from watched_run import Run

HOST = ["--host", "process"]
LIBRARIES = harness.TESTS / "hosts" / "loads"


class Tests(watched_run.Tests):
    def simulate(self, arguments, program, *words):
        """Only fibres copy static data."""
        outcome = super().simulate(arguments, program, *words)
        return outcome._replace(stderr=re.sub(r"^  note .*static data(.*\n)+? +arrays on the heap.*\n",
                                              "", outcome.stderr, flags=re.MULTILINE))

    def expect(self, run, wanted, pattern, out=None):
        status, text, err = run.finish()
        demand(status == wanted, f"exit status {status} instead of {wanted}", err)
        demand(re.search(pattern, err, re.DOTALL), f"no message {pattern!r}", err)
        demand(out is None or text == out, "not the output so far, once", text, err)
        return err

    def killed(self, ways, what, victim, sig, wanted, pattern, hello=False):
        """Sends a signal to the process that runs; rank 1 spins or waits."""
        with Run(self, ["-q", "-n", "5", *HOST, *ways], "staying", what, "1") as run:
            ranks = run.await_ranks(5)
            zygote = run.parent(ranks[1])
            pid = {"rank": ranks[1], "zygote": zygote, "other": ranks[4],
                   "scheduler": run.parent(zygote), "starter": run.process.pid}.get(victim)
            if victim == "group":
                os.killpg(run.process.pid, sig)
            else:
                os.kill(pid, sig)
            out = "".join(f"hello from {i}\n" for i in range(5)) if hello else None
            self.expect(run, wanted, pattern, out)

    def fails(self, ways, how, wanted, pattern):
        """Something goes wrong in rank 2."""
        with Run(self, ["-q", "-n", "5", *HOST, *ways], "faults", how, "2") as run:
            self.expect(run, wanted, pattern)

    def same_error(self, how):
        """A fault in rank 2 that both hosts describe alike."""
        texts = []
        for host in ("fibre", "process"):
            with Run(self, ["-q", "-n", "5", "--host", host], "faults", how, "2") as run:
                status, out, err = run.finish()
                texts.append((status, out, re.sub(r"0x[0-9a-f]+", "ADDRESS", err)))
        demand(texts[0] == texts[1], "not the same", *map(str, texts))

    def kept(self, ways, how, wanted, pattern):
        """Whatever happens in rank 2, the output of the ranks before it appears once."""
        with Run(self, ["-q", "-n", "3", *ways], "faults", how, "2") as run:
            self.expect(run, wanted, pattern, "".join(f"rank {i} is here\n" for i in range(3)))

    def interrupted(self, ways):
        """Ctrl-C while rank 1 computes: the report says so, and where."""
        with Run(self, ["-q", "-n", "5", *ways], "staying", "spin", "1") as run:
            run.await_ranks(5)
            os.kill(run.process.pid, signal.SIGINT)
            self.expect(run, 130, r"rank 1 was running outside MPI at virtual time [^\n]*\n"
                                  r"    #0 [^\n]*staying\.c:\d+")

    def stalled(self, ways):
        """Rank 1 waits for a connection that no other rank can make."""
        with Run(self, ["-n", "3", *ways], "waits", "1") as run:
            run.await_message("rank 1 has been waiting in accept()")
            (run.path / "connect").touch()
            self.expect(run, 0, r"warning: rank 1 has been waiting in accept\(\) for 5 s")

    def input(self, words):
        """Rank 0 has the input, the others have none."""
        texts = []
        for host in ("fibre", "process"):
            texts.append(harness.call(
                [self.orrery, "run", "-q", "-n", "3", "--compute", "none", "--host", host,
                 self.build / "input", *words], text="one\ntwo\nthree"))
        demand(texts[0] == texts[1], "not the same", *map(str, texts))
        demand(texts[0].status == 0 and "rank 0: 13 bytes\n" in texts[0].stdout and
               "rank 2: 0 bytes\n" in texts[0].stdout, "not the input", *map(str, texts[0]))

    def thread(self, ways, how, wanted, pattern):
        """Something goes wrong in a thread of rank 2."""
        with Run(self, ["-q", "-n", "4", *HOST, *ways], "threads", how, "2") as run:
            self.expect(run, wanted, pattern)

    def thread_spins(self, sig, wanted, how, rank):
        with Run(self, ["-q", "-n", "4", *HOST], "threads", how, rank) as run:
            run.await_files("spins", 1)
            os.kill(run.process.pid, sig)
            err = self.expect(run, wanted, rf"^orrery: error: interrupted by signal {sig.value} ")
            demand(err.count("error") == 1, "other errors", err)

    def spins(self, how, ways):
        """The result is the same however threads wait for each other."""
        with Run(self, ["-q", "-n", "4", *HOST, *ways], "spins", how, "4", "4") as run:
            self.expect(run, 0, "", "4 rounds\n")

    def waits_for_stopped(self):
        """A rank waits for what another one does that may be stopped."""
        with Run(self, ["-q", "-n", "2", *HOST], "lock_of_file") as run:
            self.expect(run, 0, "", "got 42\n")

    def signalled(self, ways, threads, how, sig):
        """A signal while threads are in calls, at some of their many moments."""
        choice = random.Random(f"{ways}{how}{sig}")
        for _ in range(2 if self.options.quick else 6):
            count = choice.randrange(1, 60)
            with Run(self, ["-n", "4", *ways], "spins", how, threads, "1000000", "tell") as run:
                run.await_files("round.*", count)
                os.kill(run.process.pid, sig)
                err = self.expect(run, 128 + sig, rf"error: interrupted by signal {sig.value} ")
            demand("internal error" not in err and "Segmentation" not in err, f"after {count} rounds", err)

    def memory(self):
        """The memory of the ranks' processes counts."""
        outcome = self.simulate(["-n", "4", *HOST], "memory", "16")
        demand(outcome.exit == 0, f"exit status {outcome.exit}", outcome.stderr)
        demand(outcome.summary["processes"] == 6, f"{outcome.summary['processes']} processes")
        peak = outcome.summary["peak_rss_bytes"]
        demand(64e6 < peak < 200e6, f"{peak} bytes")

    def children(self):
        outcome = self.simulate(["-n", "2", *HOST], "children")
        lines = [f"rank {i}{text}" for text in (" starts", ": '{}' 5, signal 11", ": 4, 0, from a shell")
                 for i in range(2)]
        wanted = sorted(line.format(f"child of {line[5]}") for line in lines)
        demand(outcome.exit == 0 and sorted(outcome.stdout.splitlines()) == wanted,
               f"exit status {outcome.exit}", outcome.stdout, outcome.stderr)

    def child_calls(self, ways):
        """A child that calls MPI ends with a message; the ranks go on."""
        with Run(self, ["-q", "-n", "3", *HOST, *ways], "child_calls") as run:
            self.expect(run, 3, r"error: a process that rank 1 has forked called MPI_Send, which only the rank itself can: [^\n]*$",
                        "rank 0: 0\nrank 1: 3\nrank 2: 0\n")

    def build_loads(self):
        """The program finds the libraries in its own folder."""
        folder = self.build / "loads.run"
        folder.mkdir(exist_ok=True)
        shared, here = ["-O1", "-g", "-fPIC", "-shared"], ["-Wl,-rpath,$ORIGIN"]
        for name, flags in (("needed.c", []), ("module.c", [*here, "-Wl,--no-as-needed", folder / "libneeded.so"]), ("streams.cpp", []),
                            ("early.c", ["-nostartfiles"])):
            harness.build(LIBRARIES / name, folder / f"lib{name.partition('.')[0]}.so",
                          [*shared, f"-Wl,-soname,lib{name.partition('.')[0]}.so", *flags])
        harness.build(harness.TESTS / "hosts/loads.c", folder / "loads", ["-O1", "-g", "-Wl,-E", *here])
        return folder / "loads"

    def loads(self, how):
        """As native processes. These write to a file each, since their launcher mixes pieces of lines."""
        program = self.build_loads()
        path = program.with_name("libmodule.so")
        with harness.fresh_folder() as folder:
            native = harness.call_native(["mpiexec.mpich", "-outfile-pattern", f"{folder}/%r", "-n", "6", program, how, path])
            lines = sorted(line for rank in pathlib.Path(folder).iterdir() for line in rank.read_text().splitlines())
        texts = []
        for ways in (HOST, *(["--host", "fibre", *more] for more in ([], ["--stacks", "shared"], ["--schedule", "random:3"],
                                                                     ["--procs", "2"]))):
            done = harness.call([self.orrery, "run", "-q", "-n", "6", "--compute", "none", *ways, program, how,
                                 path])
            demand(done.status == 0 and not done.stderr, f"{ways}: exit status {done.status}", done.stderr)
            texts.append(sorted(done.stdout.splitlines()))
            demand(texts[-1] == texts[0], f"{ways}: not the same", *map(str, texts))
        demand(not native or lines == texts[0], "not as native", str(native), str(lines), str(texts[0]))

    def loads_refused(self, how, why):
        done = harness.call([self.orrery, "run", "-q", "-n", "3", "--host", "fibre", self.build_loads(), how])
        demand(done.status == 3 and done.stdout.count("refused") == 3, f"exit status {done.status}", *map(str, done))
        demand(re.search(rf"rank \d called dlopen\(\) .*{why}.*; run it with --host process", done.stderr), "no reason", done.stderr)

    def no_more_processes(self):
        """The system allows fewer than there are ranks."""
        user = 64999 if os.geteuid() == 0 else os.geteuid() # root has no limit
        limit = 40 + sum(count_tasks(name, user) for name in filter(str.isdigit, os.listdir("/proc")))
        result = harness.call(
            [self.orrery, "run", "-q", "-n", "200", *HOST, self.build / "hello"], cwd="/", user=user,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit)))
        demand(result.status == 3, f"exit status {result.status}", result.stderr)
        demand(re.search(r"error: cannot start a process for rank \d+: .*; see 'ulimit -u'",
                         result.stderr), "no message", result.stderr)


def count_tasks(pid, user):
    try:
        if os.stat(f"/proc/{pid}").st_uid == user:
            return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        pass
    return 0


def can_change_user(tests):
    """Whether the user who has a limit may read what is tested."""
    return os.geteuid() != 0 or harness.call(["test", "-x", tests.orrery], user=64999).status == 0


def add_same(tests):
    ways = ["--host process", "--host process --procs 2 --placement cyclic"]
    watched_run.add_same(tests, ways, ([], ["--set", "mpi.eager_limit=0"]), "--host process --schedule random:3")
    tests.add("memory of ranks", tests.memory)
    tests.add("children of ranks", tests.children)
    for more in ([], ["--procs", "2"]):
        tests.add(" ".join(["children that call MPI", *more]), tests.child_calls, more)
    for how in ("modules", "streams"):
        tests.add(f"loads {how}", tests.loads, how)
    tests.add("loads global", tests.loads_refused, "global", "RTLD_GLOBAL")
    tests.add("loads early", tests.loads_refused, "early", "constructors")
    for words in ([], ["raw"]):
        tests.add(f"input {' '.join(words)}", tests.input, words)
    if not tests.options.quick:
        tests.add("same output of 100 MB", tests.same, ways, ["-n", "4"], "flood", "25000000")


def add_faults(tests):
    kill = signal.SIGKILL
    died = r"rank 1: its process was ended by signal 9 \(Killed\) at virtual time "
    for ways, what in itertools.product(([], ["--procs", "2"]), ("ring", "spin")):
        name = " ".join([what, *ways])
        add = lambda victim, *rest, **more: tests.add(
            f"fault {victim} {rest[0].name}, {name}", tests.killed, ways, what, victim, *rest, **more)
        add("rank", kill, 137, died)
        busy = what == "spin" and ways # process 0 does not learn of it
        add("other", kill, 3 if busy else 137, died.replace("1", "4", 1))
        add("zygote", kill, 3, r"the process that starts ranks was killed \(signal 9\)")
        add("scheduler", kill, 3, "killed")
        add("starter", kill, -9, "")
        for sig, victim in itertools.product((signal.SIGINT, signal.SIGTERM), ("starter", "group")):
            add(victim, sig, 128 + sig, "", hello=True)
    for ways in ([], ["--procs", "2"]):
        name = " ".join(ways)
        for how, wanted, pattern in (
                ("segv", 139, r"rank 2: Segmentation fault at virtual time .*#0 main.* in faults"),
                ("overflow", 139, r"rank 2: Segmentation fault, stack overflow .*overflow"),
                ("abort", 134, r"rank 2 aborted at virtual time .* main"),
                ("kill", 137, r"rank 2: its process was ended by signal 9"),
                ("vanish", 3, r"rank 2: its process ended by itself, with status 5"),
                ("early", 3, ""), ("late", 3, "rank 2 ended without MPI_Finalize"),
                ("quit", 7, "rank 2 at virtual time .*MPI_Abort")):
            tests.add(f"fault {how} {name}", tests.fails, ways, how, wanted, pattern)
        for how, wanted, pattern in (
                ("segv", 139, r"rank 2: Segmentation fault at virtual time .* in threads"),
                ("raise", 140, "rank 2: User defined signal 2 at virtual time .* in threads"),
                ("exit", 1, "rank 2 has ended"), ("deadlock", 1, "deadlock.*rank 2 at .*MPI_Recv")):
            tests.add(f"fault thread {how} {name}", tests.thread, ways, how, wanted, pattern)
    add_reports(tests)
    for sig in (signal.SIGINT, signal.SIGTERM):
        for how, rank in (("spin", "2"), ("calls", "3")):
            tests.add(f"fault {sig.name}, thread {how}", tests.thread_spins, sig, 128 + sig, how, rank)
    for how, ways in itertools.product(("memory", "lock", "yield", "probe"), ([], ["--compute", "none"])):
        tests.add(" ".join(["threads spin,", how, *ways]), tests.spins, how, ways)
    tests.add("threads spin, one rank waits for another", tests.waits_for_stopped)
    for sig, how in itertools.product((signal.SIGINT, signal.SIGTERM), ("yield", "probe")):
        tests.add(f"fault {sig.name} in calls of threads, {how}", tests.signalled, HOST, "4", how, sig)
        tests.add(f"fault {sig.name} in calls of fibres, {how}", tests.signalled, ["--host", "fibre"], "0", how, sig)
    if can_change_user(tests):
        tests.add("fault no more processes", tests.no_more_processes)
    for how in ("segv", "overflow", "abort", "early", "late", "quit", "smash", "wild", "term", "usr"):
        tests.add(f"fault {how}, same text as a fibre", tests.same_error, how)


def add_reports(tests):
    """Faults after which little works any more."""
    hosts = (["--host", "fibre"], HOST)
    damaged = r"rank 2: Segmentation fault at .*#0 smash[^\n]*faults\.c:\d+.*the stack is damaged"
    for ways in (*hosts, [*hosts[0], "--procs", "2"], [*hosts[1], "--procs", "2"]):
        name = " ".join(ways)
        for how, wanted, pattern in (
                ("smash", 139, damaged), ("ruin", 139, damaged),
                ("wild", 139, r"#0 0x10, where there is no code\n    #1 (fail|main)[^\n]*faults\.c:\d+"),
                ("term", 143, r"rank 2: Terminated at virtual time"),
                ("usr", 138, r"rank 2: User defined signal 1 at virtual time"),
                ("alone", 7, r"rank 2 at virtual time .*MPI_Abort")):
            tests.add(f"report {how} {name}", tests.fails if how == "alone" else tests.kept, ways, how,
                      wanted, pattern)
    for ways in hosts:
        tests.add(f"report interrupted {' '.join(ways)}", tests.interrupted, ways)
        tests.add(f"report stalled {' '.join(ways)}", tests.stalled, ways)
    tests.add("report killed fibres", tests.kept, hosts[0], "kill", 3, r"was killed \(SIGKILL\)")


if __name__ == "__main__":
    harness.main(lambda: watched_run.run_tests(Tests, ("hosts", "procs"), (add_same, add_faults),
                                               "build/tests-hosts", __doc__))
