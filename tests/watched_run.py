"""Runs of Orrery that tests inspect and disturb while they run, and tests made of them.

All processes of a run have a mark in their environment, by which they are found in any case.
"""

import collections
import contextlib
import itertools
import json
import os
import pathlib
import shlex
import signal
import subprocess
import uuid

import harness
from harness import LIMIT, Failure, demand, wait_until

FLAGS = [*harness.STRICT, "-Wno-stringop-overflow", "-O1", "-g"]
GONE = 120  # seconds until no process may be left
MARK = "ORRERY_TEST_MARK"

# How runs of the program `ends` end, and their exit status.
ENDS = ((["abort", "5", "300"], 7), (["ties", "3"], 20), (["exit", "5"], 3), (["codes", "0"], 11),
        (["codes", "1"], 10), (["fatal", "5"], 6), (["deadlock", "4"], 1), (["livelock", "0"], 1))

Outcome = collections.namedtuple("Outcome", "exit stdout stderr stats summary")
Process = collections.namedtuple("Process", "pid start role index")


# ---- processes ----

def read_stat(pid):
    """Parent, state and start time of a process, or None."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[1]), fields[0], int(fields[19])


def marked(mark):
    """Processes whose environment has the mark; those that have ended do not count."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = pathlib.Path(f"/proc/{name}/environ").read_bytes()
        except OSError:
            continue
        stat = read_stat(name)
        if wanted in environment.split(b"\0") and stat and stat[1] not in "ZX":
            found.append(int(name))
    return found


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
    own = (folder / "comm").read_text().strip()  # a guard or a witness calls itself so
    return (own if own.startswith("orrery-") else "worker" if name == "orrery" else name), index


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


def is_there(process):
    stat = read_stat(process.pid)
    return stat is not None and stat[2] == process.start and stat[1] not in "ZX"


class Run:
    """A running run, in its own folder."""

    def __init__(self, tests, arguments, program, *words, command=("run", "--compute", "none"), environment=None,
                 stdout=None, names_program=True):
        self.program = tests.build / program
        self.command = [tests.orrery, *command, *arguments, *([str(self.program)] if names_program else []), *words]
        self.mark = uuid.uuid4().hex
        self.environment = dict(os.environ, LC_ALL="C", **{MARK: self.mark}, **(environment or {}))
        self.stdout = stdout
        self.tree = []

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.path = pathlib.Path(stack.enter_context(harness.fresh_folder()))
            self.out, self.err = (stack.enter_context(open(self.path / name, "w+b"))
                                  for name in ("out", "err"))
            self.process = stack.enter_context(harness.GROUPS.start(
                self.command, cwd=self.path, stdin=subprocess.DEVNULL, stdout=self.stdout or self.out,
                stderr=self.err, env=self.environment))
            stack.callback(self.kill_marked)
            self.ending = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.ending.close()

    def kill_marked(self):
        """What a failed test has left behind."""
        for pid in marked(self.mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def text(self, file):
        file.seek(0)
        return file.read().decode(errors="replace")

    def errors(self):
        return self.text(self.err)

    def await_files(self, pattern, count):
        """Waits until ranks have created this many files."""
        def enough():
            demand(self.process.poll() is None, "the run has ended early", self.errors())
            return len(list(self.path.glob(pattern))) >= count
        wait_until(enough, f"{count} files {pattern}", self.errors)

    def await_start(self, programs):
        """Waits until each process of the program has created its file."""
        self.await_files("started.*", programs)
        self.tree = descendants(self.process.pid, self.program)
        count = sum(p.role == "program" for p in self.tree)
        demand(count == programs, f"{count} processes of the program instead of {programs}: {self.tree}")

    def await_ranks(self, count):
        """Waits until each rank has created its file, and one has reached the point where it stays. Returns the
        process of each."""
        self.await_files("rank.*", count)
        self.await_files("stays", 1)
        return [int((self.path / f"rank.{i}").read_text()) for i in range(count)]

    def await_role(self, role, index):
        """Waits for the process to appear, without pausing: the test needs it while it starts."""
        while self.process.poll() is None:
            for process in descendants(self.process.pid, self.program):
                if process.role == role and index in (None, process.index):
                    return process.pid
        raise Failure(f"there is no {role} {index}\n{self.errors()}")

    def await_sleep(self, role, index):
        """Waits until a process sleeps."""
        pid = self.find(role, index)
        wait_until(lambda: (read_stat(pid) or "  ")[1] in "SZX", f"{role} {index} asleep", self.errors)

    def await_message(self, text):
        wait_until(lambda: text in self.errors() or self.process.poll() is not None, f"message '{text}'",
                   self.errors)

    def parent(self, pid):
        return read_stat(pid)[0]

    def find(self, role, index=None):
        if role == "starter":
            return self.process.pid
        for process in self.tree:
            if process.role == role and index in (None, process.index):
                return process.pid
        raise Failure(f"there is no {role} {index}: {self.tree}")

    def finish(self):
        """Exit status, output and errors; no process of the run may be left."""
        try:
            status = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise Failure(f"not finished after {LIMIT} s\n{self.errors()}") from None
        wait_until(lambda: not any(map(is_there, self.tree)) and not marked(self.mark), "an end of all processes",
                   lambda: f"still running: {self.tree} {marked(self.mark)}", self.errors, limit=GONE)
        return status, self.text(self.out), self.errors()


# ---- tests made of runs ----

class Tests:
    def __init__(self, options):
        self.options = options
        self.orrery = os.path.abspath(options.orrery)
        self.build = options.build_dir.resolve()
        self.cases = []

    def add(self, name, function, *arguments, **words):
        self.cases.append((name, lambda: function(*arguments, **words)))

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
            harness.demand_same(way, *zip(Outcome._fields, comparable(first, hide), comparable(again, hide)))


def add_same(tests, ways, settings, random_way):
    """Programs that would notice a difference between ways to run them."""
    for program, more in itertools.product(
            (["handles"], ["modes"], ["ties", "3"], ["output"], ["comms", "12"]), settings):
        name = " ".join([*program, *more[1:]])
        tests.add(f"same {name}", tests.same, ways, ["-n", "8", *more], *program)
    tests.add("same output --labels", tests.same, ways, ["-n", "8", "--labels"], "output")
    tests.add("same ties random", tests.same, [random_way], ["-n", "13"], "ties")
    for words, status in ENDS:
        tests.add(f"same ends {' '.join(words)}", tests.same, ways,
                  ["-n", "6", "--idle-limit", "10ms"], "ends", *words, status=status)


def comparable(outcome, hidden):
    """What must not depend on the number of processes."""
    summary = {key: value for key, value in outcome.summary.items()
               if key not in harness.HIDDEN_KEYS and key not in hidden}
    if "stdout" in hidden:  # the others stop wherever they are
        outcome = outcome._replace(stdout="", stats=outcome.stats.split("\n")[0])
    return outcome._replace(stderr=harness.hide(outcome.stderr, with_summary=bool(hidden)), summary=summary)


def run_tests(kind, folders, adders, build_dir, about):
    """Runs the tests of a class with the programs of some folders of tests/."""
    parser = harness.options_parser(about, build_dir)
    parser.add_argument("--quick", action="store_true", help="leave out what is large")
    options = parser.parse_args()
    tests = kind(options)
    for folder in folders:
        harness.build_all(sorted((harness.TESTS / folder).glob("*.c")), tests.build, FLAGS)
    for add in adders:
        add(tests)
    tap = harness.Tap()
    tap.run_chosen(tests.cases, options)
    return tap.end()
