#!/usr/bin/env python3
"""Tests 'orrery run --procs': same results on any number of processes, and how faults end a run.

Prints TAP. The programs are those of tests/procs. Three kinds of tests:

  same      a run on one process and the same on several: output, exit status, messages, virtual
            time and statistics must agree
  faults    something happens to a process of a run, or to its output; the run must end by itself,
            with a status and a message, and leave no process behind
  usage     options and surroundings that do not work
"""

import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import run_e2e

FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-stringop-overflow", "-O1", "-g"]
LIMIT = 600  # seconds until a run counts as hung; generous, for busy machines
GONE = 120  # seconds until no process may be left

Failure = run_e2e.Failure
Outcome = collections.namedtuple("Outcome", "exit stdout stderr stats summary")
Process = collections.namedtuple("Process", "pid start role index")


def demand(condition, message, *texts):
    if not condition:
        shown = [f"  {line[:300]}" for text in texts for line in text.splitlines()[:12]]
        raise Failure("\n".join([message, *shown]))


# ---- processes ----

def read_stat(pid):
    """Parent, state and start time of a process, or None."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[1]), fields[0], int(fields[19])


def is_there(process):
    stat = read_stat(process.pid)
    return stat is not None and stat[2] == process.start and stat[1] not in "ZX"


def describe(pid, program):
    """What a process of a run is for, and its number among its kind."""
    folder = pathlib.Path(f"/proc/{pid}")
    words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
    environment = dict(item.partition("=")[::2] for item in
                       (folder / "environ").read_bytes().decode(errors="replace").split("\0"))
    index = int(environment.get("PMI_RANK", -1))
    if os.path.realpath(folder / "exe") == str(program):
        return "program", index
    name = os.path.basename(words[0]).split(".")[0]
    return ("worker" if name == "orrery" else name), index


def descendants(root, program):
    children = collections.defaultdict(list)
    for name in filter(str.isdigit, os.listdir("/proc")):
        stat = read_stat(name)
        if stat:
            children[stat[0]].append((int(name), stat[2]))
    found, pending = [], [root]
    while pending:
        for pid, start in children[pending.pop()]:
            try:
                found.append(Process(pid, start, *describe(pid, program)))
            except (OSError, ValueError):
                continue  # it is just ending
            pending.append(pid)
    return found


class Run:
    """A run that is under way, in a folder of its own."""

    def __init__(self, tests, arguments, program, *words, environment=None, stdout=None):
        self.folder = tempfile.TemporaryDirectory(prefix="orrery-procs-")
        self.program = tests.build / program
        self.path = pathlib.Path(self.folder.name)
        self.out, self.err = (open(self.path / name, "w+b") for name in ("out", "err"))
        self.tree = []
        self.process = subprocess.Popen(
            [tests.orrery, "run", "--compute", "none", *arguments, str(self.program), *words],
            cwd=self.path, stdin=subprocess.DEVNULL, stdout=stdout or self.out, stderr=self.err,
            env=dict(os.environ, LC_ALL="C", **(environment or {})), start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Ends what a failed test has left."""
        for process in [p for p in self.tree if is_there(p)]:
            os.kill(process.pid, signal.SIGKILL)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.out.close()
        self.err.close()
        self.folder.cleanup()

    def text(self, file):
        file.seek(0)
        return file.read().decode(errors="replace")

    def await_start(self, programs):
        """Until each process of the program has made its file."""
        end = time.monotonic() + LIMIT
        while len(list(self.path.glob("started.*"))) < programs:
            demand(self.process.poll() is None and time.monotonic() < end, "the run did not start",
                   self.text(self.err))
            time.sleep(0.02)
        self.tree = descendants(self.process.pid, self.program)
        count = sum(p.role == "program" for p in self.tree)
        demand(count == programs, f"{count} processes of the program instead of {programs}: "
               f"{self.tree}")

    def find(self, role, index=None):
        if role == "starter":
            return self.process.pid
        for process in self.tree:
            if process.role == role and index in (None, process.index):
                return process.pid
        raise Failure(f"there is no {role} {index}: {self.tree}")

    def finish(self, limit=LIMIT):
        """Exit status, output and errors; nothing may be left of the run."""
        try:
            status = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise Failure(f"not finished after {limit} s\n{self.text(self.err)}") from None
        end = time.monotonic() + GONE
        while any(map(is_there, self.tree)) and time.monotonic() < end:
            time.sleep(0.05)
        left = [p for p in self.tree if is_there(p)]
        demand(not left, f"still running: {left}", self.text(self.err))
        return status, self.text(self.out), self.text(self.err)


class Tests:
    def __init__(self, options):
        self.options = options
        self.orrery = os.path.abspath(options.orrery)
        self.build = options.build_dir.resolve()
        self.cases = []

    def compile(self, sources):
        self.build.mkdir(parents=True, exist_ok=True)

        def one(source):
            binary = self.build / source.stem
            if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
                run_e2e.call(["mpicc.mpich", *FLAGS, str(source), "-o", str(binary)])

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(one, sorted(sources.glob("*.c"))))

    def add(self, name, function, *arguments, **words):
        self.cases.append((name, lambda: function(*arguments, **words)))

    # ---- same ----

    def simulate(self, arguments, program, *words):
        with Run(self, [*arguments, "--stats", "stats.csv", "--json", "run.json"], program,
                 *words) as run:
            status, out, err = run.finish()
            stats, summary = (path.read_text() if path.exists() else ""
                              for path in (run.path / "stats.csv", run.path / "run.json"))
            demand(summary, f"no summary, exit status {status}", err)
        return Outcome(status, out, err, stats, json.loads(summary))

    def same(self, ways, arguments, program, *words, status=0, hide=()):
        first = self.simulate(arguments, program, *words)
        demand(first.exit == status, f"exit status {first.exit} on one process", first.stderr)
        for way in ways:
            again = self.simulate([*shlex.split(way), *arguments], program, *words)
            problems = [run_e2e.show_difference(name, x, y) for name, x, y in
                        zip(Outcome._fields, comparable(first, hide), comparable(again, hide))
                        if x != y]
            demand(not problems, "\n".join([way, *problems]))

    # ---- faults ----

    def fault(self, role, index, sig, what, wanted, pattern, procs=3, hello=False):
        """Sends a signal to one process, or to the whole group (role "group")."""
        with Run(self, ["-q", "-n", "6", "--procs", str(procs)], "lasting", what) as run:
            run.await_start(procs)
            time.sleep(0.2)
            if role == "group":
                os.killpg(run.process.pid, sig)
            else:
                os.kill(run.find(role, index), sig)
            status, out, err = run.finish()
            demand(status == wanted, f"exit status {status} instead of {wanted}", err)
            demand(re.search(pattern, err), f"no message {pattern!r}", err)
            lines = "".join(f"hello from {i}\n" for i in range(0, 6, 2 if what == "spin" else 1))
            demand(not hello or out == lines, "not the output so far, once", out, err)
            demand("BAD TERMINATION" not in out, "the launcher has written to the output", out)

    def reader_gone(self):
        """The reader of the output takes one line and goes away."""
        head = subprocess.Popen(["head", "-n", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                start_new_session=True)
        with Run(self, ["-q", "-n", "4", "--procs", "2"], "flood", "5000000",
                 stdout=head.stdin) as run:
            head.stdin.close()
            head.stdin = None
            line, _ = head.communicate(timeout=LIMIT)
            status, _, err = run.finish()
        demand(line.startswith(b"000000 00000000 "), "not the first line", line.decode())
        demand(status == 128 + signal.SIGPIPE, f"exit status {status}", err)

    def quit(self, procs):
        """One rank calls MPI_Abort, and the others would go on for ever."""
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
                        "env -u ORRERY_TEAM mpiexec.mpich"], *words) as run:
            status, out, err = run.finish()
        demand(status == wanted, f"exit status {status} instead of {wanted}", err)
        demand("\001" not in out + err, "the mark of a worker is shown", out, err)
        demand(out.count("rank") == 6, "not the output", out, err)

    def clamped(self):
        outcome = self.simulate(["-n", "2", "--procs", "5"], "output")
        demand(outcome.exit == 0 and outcome.summary["procs"] == 2,
               f"{outcome.exit}, {outcome.summary['procs']} processes", outcome.stderr)

    def mincut(self, good):
        with tempfile.TemporaryDirectory(prefix="orrery-procs-") as folder:
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
        """Communicators that were freed take no memory, in no process."""
        few, many = (self.simulate(["-n", "24", "--procs", "3", "--placement", "cyclic"], "comms",
                                   str(turns)) for turns in (50, 400))
        demand(few.exit == many.exit == 0, "it failed", few.stderr, many.stderr)
        sizes = [o.summary["peak_rss_bytes"] for o in (few, many)]
        demand(sizes[1] < sizes[0] * 1.1 + 3e6, f"memory grows: {sizes} bytes")


def comparable(outcome, hidden):
    """What must not depend on the number of processes."""
    summary = {key: value for key, value in outcome.summary.items()
               if key not in run_e2e.HIDDEN_KEYS and key not in hidden}
    ignored = {"summary"} if hidden else set()
    if "stdout" in hidden:  # the others stop wherever they are
        outcome = outcome._replace(stdout="", stats=outcome.stats.split("\n")[0])
    return outcome._replace(stderr=run_e2e.hide(outcome.stderr, ignored), summary=summary)


def add_same(tests):
    """Programs that would notice a difference, where possible on an ideal network, too."""
    ways = [f"--procs {p} --placement {how}" for p, how in
            ((2, "block"), (3, "cyclic"), (4, "block"))]
    ideal = ["--set", "net.latency=0,net.bandwidth=inf"]
    rendezvous = ["--set", "mpi.eager_limit=0"]
    for program, settings in itertools.product(
            (["handles"], ["modes"], ["ties", "3"], ["output"], ["comms", "12"]),
            ([], ideal, rendezvous)):
        name = " ".join([*program, *settings[1:]])
        tests.add(f"same {name}", tests.same, ways, ["-n", "8", *settings], *program)
    tests.add("same output --labels", tests.same, ways, ["-n", "8", "--labels"], "output")
    tests.add("same ties random", tests.same, ["--procs 3 --schedule random:3"], ["-n", "13"],
              "ties")
    for words, status in ((["abort", "5", "300"], 7), (["ties", "3"], 20), (["exit", "5"], 3),
                          (["codes", "0"], 11), (["codes", "1"], 10), (["fatal", "5"], 6),
                          (["deadlock", "4"], 1), (["livelock", "0"], 1)):
        tests.add(f"same ends {' '.join(words)}", tests.same, ways,
                  ["-n", "6", "--idle-limit", "10ms"], "ends", *words, status=status)
    tests.add("same ends segv 5 300", tests.same, ways, ["-n", "6"], "ends", "segv", "5", "300",
              status=139, hide=("virtual_time_s", "virtual_time_ps", "messages", "bytes", "stdout"))
    if tests.options.quick:
        return
    tests.add("same output of 100 MB", tests.same, ["--procs 2"], ["-n", "4"], "flood", "25000000")
    tests.add("same messages of 64 MiB", tests.same, ["--procs 2"], ["-n", "3"], "large")
    tests.add("same pairs beyond the limit", tests.same, ["--procs 3"], ["-n", "2100"], "pairs")
    tests.add("same 300,000 ranks", tests.same, ["--procs 4"], ["-n", "300000"], "hello")
    tests.add("bounded memory of communicators", tests.bounded)


def add_faults(tests):
    kill, stop = signal.SIGKILL, signal.SIGSTOP
    for index, what in ((0, "ring"), (1, "ring"), (0, "spin"), (1, "spin"), (2, "half")):
        tests.add(f"fault kill process {index}, {what}", tests.fault, "program", index, kill, what,
                  3, rf"process {index} of 3 \(pid \d+ on .*\) was killed by signal 9")
    tests.add("fault kill worker 0", tests.fault, "worker", 0, kill, "ring", 3, "orrery: error: .*")
    tests.add("fault kill worker 1", tests.fault, "worker", 1, kill, "ring", 3, "orrery: error: .*")
    tests.add("fault kill launcher", tests.fault, "mpiexec", None, kill, "ring", 3,
              r"launcher died of signal 9")
    tests.add("fault kill starter", tests.fault, "starter", None, kill, "ring", -9, "")
    for index, what in ((0, "ring"), (1, "ring"), (1, "spin")):
        tests.add(f"fault stop process {index}, {what}", tests.fault, "program", index, stop, what,
                  3, rf"process {index} of 3 \(pid \d+ on .*\) does not respond")
    for sig, role, what in itertools.product((signal.SIGINT, signal.SIGTERM), ("starter", "group"),
                                             ("ring", "spin")):
        tests.add(f"fault {sig.name} to {role}, {what}", tests.fault, role, None, sig, what,
                  128 + sig, "", hello=True)
    for procs in (1, 3):
        tests.add(f"fault MPI_Abort of one rank, {procs} processes", tests.quit, procs)
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


def parse_options(about, build_dir):
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--orrery", default="build/orrery", help="the program to test")
    parser.add_argument("--build-dir", default=build_dir, type=pathlib.Path)
    parser.add_argument("--filter", help="only tests whose name matches this expression")
    parser.add_argument("--quick", action="store_true", help="leave out what is large")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def attempt(case):
    name, function = case
    try:
        function()
    except Failure as failure:
        return name, str(failure)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return name, f"{type(error).__name__}: {error}"
    return name, None


def main(kind, folders, adders, build_dir, about):
    """Runs the tests of a class with programs from some folders; also for run_hosts.py."""
    options = parse_options(about, build_dir)
    # where SIGINT is ignored (in a shell's background job), what is started would ignore it, too
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tests = kind(options)
    for folder in folders:
        tests.compile(folder)
    for add in adders:
        add(tests)
    cases = [c for c in tests.cases if not options.filter or re.search(options.filter, c[0])]
    passed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, (name, problem) in enumerate(pool.map(attempt, cases), 1):
            passed += problem is None
            print(("ok" if problem is None else "not ok"), number, "-", name, flush=True)
            for line in (problem or "").splitlines():
                print("#   " + line, flush=True)
    print(f"1..{len(cases)}")
    print(f"{passed} passed, {len(cases) - passed} failed")
    return 0 if passed == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main(Tests, [pathlib.Path(__file__).resolve().parent / "procs"],
                  (add_same, add_faults, add_usage), "build/tests-procs", __doc__))
