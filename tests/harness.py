"""What the test runners (run_*.py) share.

  commands   call() has a time limit, and kills the whole process group of a command that exceeds it
  programs   build() compiles a test program unless it is up to date, or another runner has compiled it
  oracles    call_native() repeats a native run that dies inside the MPI library, and counts it
  waiting    wait_until() polls a condition; no test sleeps for a fixed time
  comparing  difference() names the first line that differs, hide() what legitimately differs
  TAP        Tap runs cases on several threads and prints their results in order
"""

import argparse
import collections
import concurrent.futures
import contextlib
import hashlib
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

TESTS = pathlib.Path(__file__).resolve().parent
ROOT = TESTS.parent
SLOWEST = 12  # cases whose seconds are shown at the end
LIMIT = 600  # seconds until a command counts as hung; generous, for busy machines
COMPILERS = {".c": ["mpicc.mpich", "-std=gnu11"], ".cpp": ["mpicxx.mpich", "-std=c++17"],
             ".f": ["mpif90.mpich"], ".f90": ["mpif90.mpich"]}
STRICT = ["-Wall", "-Wextra", "-Werror"]
# What the number of processes may change in the text on standard error.
HIDDEN = [(re.compile(pattern, re.MULTILINE), instead) for pattern, instead in (
    (r"^  (synchronised|serial|compute time)  .*\n", ""),
    (r"^  warning +this computer was busy.*\n( {16}.*\n)*", ""),
    (r"^(  (wall time|peak memory|host)  ).*", r"\1..."),
    (r"^(  messages .*) \(.*/s\)$", r"\1"), (r"0x[0-9a-f]+", "0x..."),
    (r"^(  note  +)[0-9.]+ [KMG]?i?B( of static data)", r"\1...\2"))]
# ... and in the summary of --json.
HIDDEN_KEYS = {"wall_s", "startup_s", "ratio", "peak_rss_bytes", "host", "host_reason", "procs",
               "processes", "rounds", "batches", "serial", "private_bytes", "live_stack_max",
               "own_stacks", "switches", "median_slice_s", "computed_s", "left_out_s", "swapped_bytes"}
BUILDING = collections.defaultdict(threading.Lock)  # one lock per program
SHARED = os.environ.get("ORRERY_TEST_PROGRAMS")  # where runners share programs; empty: they do not
SUMMARY = re.compile(r"^  (virtual time|messages|bytes)  .*\n", re.MULTILINE)

# What the libraries below a native program write when they find themselves in disorder: UCX ("[host:pid:0:pid]
# file.c:365 Assertion ..."), and MPICH.
ORACLE_FAULT = re.compile(r"^\[\S+:\d+ *:\d+:\d+\] +\S+:\d+ +(Assertion|Fatal) |^Assertion failed in file ", re.MULTILINE)
ORACLE_TRIES = 3
# UCX shows its objects as files; when a process ends, that part of it may fail (an assertion in vfs_obj.c).
os.environ.setdefault("UCX_VFS_ENABLE", "n")

Done = collections.namedtuple("Done", "status stdout stderr")


class Failure(Exception):
    """A case that failed, and why."""


def demand(condition, message, *texts):
    """Fails with a message and the first lines of some texts, such as standard error."""
    if not condition:
        shown = [f"  {line[:300]}" for text in texts for line in text.splitlines()[:12]]
        raise Failure("\n".join([message, *shown]))


# ---- commands ----

class Groups:
    """The process groups that were started and have not ended, so that none outlives the runner."""

    def __init__(self):
        self.lock = threading.RLock()  # a signal may come while it is held
        self.running = set()
        self.closed = False

    @contextlib.contextmanager
    def start(self, command, **options):
        """A command in a session of its own, which is killed if it runs at the end of the block."""
        with self.lock:
            if self.closed:
                raise Failure("interrupted")
            process = subprocess.Popen(command, start_new_session=True, **options)
            self.running.add(process)
        try:
            yield process
        finally:
            with self.lock:
                self.running.discard(process)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def close(self):
        """Kills all, and starts no more: waiting code continues and cleans up."""
        with self.lock:
            self.closed = True
            for process in self.running:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)


GROUPS = Groups()


def call(command, limit=LIMIT, stdin=subprocess.DEVNULL, text=None, **options):
    """Runs a command to its end; text is its standard input. Output that is redirected counts as empty."""
    command = [str(word) for word in command]
    with GROUPS.start(command, stdin=stdin if text is None else subprocess.PIPE,
                      **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}) as process:
        try:
            streams = process.communicate(None if text is None else text.encode(), timeout=limit)
        except subprocess.TimeoutExpired:
            raise Failure(f"not finished after {limit} s: {' '.join(command)}") from None
    return Done(process.returncode, *((stream or b"").decode(errors="replace") for stream in streams))


class Oracles:
    """Native runs that died by a fault of their own library, which says nothing about Orrery."""

    def __init__(self):
        self.lock = threading.Lock()
        self.died = 0  # runs
        self.silent = []  # commands that died each time

    def call(self, command, limit=LIMIT, **options):
        """Like call(); a run that dies in its own library is repeated. None if it always does."""
        for _ in range(ORACLE_TRIES):
            done = call(command, limit, **options)
            if done.status == 0 or not ORACLE_FAULT.search(done.stderr):
                return done
            with self.lock:
                self.died += 1
        with self.lock:
            self.silent.append(" ".join(str(word) for word in command))
        return None

    def report(self):
        """Lines for the end of a runner's output."""
        if not self.died:
            return []
        return [f"# oracle: {self.died} native runs died in their own library and were repeated",
                *(f"# oracle: no answer in {ORACLE_TRIES} runs of {command}" for command in self.silent)]


ORACLES = Oracles()


def call_native(command, limit=LIMIT, **options):
    """A native run that a simulated one is compared with; None if its own library failed in each of some runs."""
    return ORACLES.call(command, limit, **options)


def fresh_folder():
    """A folder for a with statement, removed however that ends."""
    return tempfile.TemporaryDirectory(prefix="orrery-test-", ignore_cleanup_errors=True)


# ---- programs ----

def find_inputs(source):
    """A source, what it includes, and the headers next to it."""
    folder = source.parent
    included = re.findall(r'#include "(.*)"', source.read_text())
    return [source, *folder.glob("*.h"), *(folder / name for name in included)]


def is_stale(source, binary):
    """Whether the binary is older than what it is made from."""
    if not binary.exists():
        return True
    return max(path.stat().st_mtime for path in find_inputs(source) if path.exists()) > binary.stat().st_mtime


def compile_program(command, source, binary):
    """The binary appears when it is complete."""
    libraries = ["-lm"] if source.suffix == ".c" else []
    with tempfile.TemporaryDirectory(dir=binary.parent) as folder:  # Fortran's modules are written there, too
        new = pathlib.Path(folder) / binary.name
        done = call([*command, source, "-o", new, *libraries], cwd=folder)
        demand(done.status == 0, f"{source.name} does not compile", done.stderr)
        new.replace(binary)


def shared_name(command, source):
    """Of a compiled program in the folder that runners share: what it is made from."""
    digest = hashlib.sha256(repr([str(word) for word in command]).encode())
    for path in sorted(set(find_inputs(source))):
        if path.is_file():
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return f"{source.stem}-{digest.hexdigest()[:24]}"


def build(source, binary, flags, compiler=None):
    """Tests that run at the same time may share a program: the first one compiles it, the others wait. Runners share
    those that are made alike, in the folder SHARED."""
    with BUILDING[str(binary)]:
        if not is_stale(source, binary):
            return
        command = [*(compiler or COMPILERS[source.suffix]), *flags]
        if not SHARED or any(str(word).endswith((".o", ".so")) for word in flags):
            compile_program(command, source, binary)
            return
        folder = pathlib.Path(SHARED)
        folder.mkdir(parents=True, exist_ok=True)
        shared = folder / shared_name(command, source)
        if not shared.exists():
            compile_program(command, source, shared)
        with tempfile.TemporaryDirectory(dir=binary.parent) as temporary:
            new = pathlib.Path(temporary) / binary.name
            os.link(shared, new)  # not a copy: see write_script
            new.replace(binary)


def build_all(sources, target, flags):
    """Compiles programs into a folder, each under the name of its source."""
    target.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda source: build(source, target / source.stem, flags), sources))


def write_script(path, text):
    """A program that is written here. No process may be started meanwhile: until it executes its own program it would
    have this one open for writing, and the system refuses to execute a file that is ("text file busy")."""
    with GROUPS.lock:
        path.write_text(text)
    path.chmod(0o755)


# ---- waiting ----

def wait_until(condition, what, *details, limit=LIMIT):
    """Returns what the condition returns once that is true; fails with details() after the limit."""
    end = time.monotonic() + limit
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() >= end:
            demand(False, f"{what}: not after {limit} s", *(detail() for detail in details))
        time.sleep(0.02)


# ---- comparing ----

def hide(text, with_summary=False):
    """A run's standard error without what the number of processes may change."""
    if with_summary:
        text = SUMMARY.sub("", text)
    for pattern, instead in HIDDEN:
        text = pattern.sub(instead, text)
    return text


def read_summary(text):
    """What --json wrote, without what the number of processes may change."""
    return {key: value for key, value in json.loads(text).items() if key not in HIDDEN_KEYS}


def difference(name, first, again):
    """None, or which line of two texts differs."""
    if first == again:
        return None
    pairs = itertools.zip_longest(str(first).splitlines(), str(again).splitlines())
    for number, (x, y) in enumerate(pairs, 1):
        if x != y:
            return f"{name}, line {number}: expected {x!r:.300}\n  but got {y!r:.300}"
    return f"{name} differs in the end of its last line"


def demand_same(what, *triples):
    """Fails with all differences of (name, first, again)."""
    problems = [text for text in (difference(*triple) for triple in triples) if text]
    demand(not problems, "\n".join([what, *problems]).strip())


# ---- options and TAP ----

def options_parser(about, build_dir, jobs=2):
    """The options that most runners have."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--orrery", default="build/orrery", help="the program to test")
    parser.add_argument("--build-dir", default=build_dir, type=pathlib.Path, help="where binaries go")
    parser.add_argument("--filter", default="", help="only cases whose name matches this expression")
    parser.add_argument("--jobs", type=int, default=jobs, help="cases at a time")
    return parser


def attempt(function, *arguments):
    """What is wrong with a case, or None."""
    try:
        function(*arguments)
    except Failure as failure:
        return str(failure) or "failed"
    except OSError as error:
        return f"{type(error).__name__}: {error}"
    except Exception:  # a bug of the test is a failure of this case alone
        return traceback.format_exc()
    return None


class Tap:
    def __init__(self):
        self.number = self.failed = 0
        self.spans = []  # seconds and names

    def show(self, name, problem):
        self.number += 1
        self.failed += problem is not None
        print("ok" if problem is None else "not ok", self.number, "-", name, flush=True)
        for line in (problem or "").splitlines():
            print("#   " + line, flush=True)

    def run(self, function, items, jobs):
        """Shows all pairs of a name and a problem that function(item) yields; returns failed names."""
        failed = []

        def timed(item):
            start = time.monotonic()
            shown = list(function(item))
            if shown:
                self.spans.append((time.monotonic() - start, shown[0][0]))
            return shown

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for name, problem in itertools.chain.from_iterable(pool.map(timed, items)):
                self.show(name, problem)
                if problem is not None:
                    failed.append(name)
        return failed

    def run_cases(self, cases, jobs=1):
        """Runs cases, each a name, a function and its arguments; returns the names of those that failed."""
        return self.run(lambda case: [(case[0], attempt(*case[1:]))], cases, jobs)

    def run_chosen(self, cases, options):
        """Runs those cases whose names the option --filter matches."""
        return self.run_cases([case for case in cases if re.search(options.filter, case[0])], options.jobs)

    def end(self):
        for line in ORACLES.report():
            print(line)
        for seconds, name in sorted(self.spans, reverse=True)[:SLOWEST]:
            print(f"# {seconds:6.1f} s  {name}")
        print(f"1..{self.number}\n{self.number - self.failed} passed, {self.failed} failed")
        return 1 if self.failed else 0


def interrupt(number, _):
    GROUPS.close()
    sys.exit(128 + number)


def main(function):
    """Exits with the status that the function returns; signals end the processes it has started."""
    # a shell's background jobs ignore SIGINT, and so would the processes started here
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        sys.exit(function())
    except Failure as failure:
        sys.exit(f"error: {failure}")
