"""What the evaluations of all papers share: running commands, measuring them, and keeping what came of it.

An experiment is a function that gets a Study and returns a Result. It runs commands through the study, so that the page
can show them; tables, plots and claims are added to the result. A claim is a sentence of the paper, tried on our numbers. A
claim that does not depend on the speed of this computer is *exact*: a test fails if it does not hold.
"""

import dataclasses
import json
import os
import pathlib
import platform
import re
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent
TREE = EXAMPLES.parent
LIMIT = 3600  # seconds, for hangs alone


class Failure(Exception):
    """An experiment that cannot go on, in words for the user."""


class Missing(Exception):
    """An experiment that cannot be made on this computer, and why."""


@dataclasses.dataclass
class Experiment:
    """A figure or table of a paper. theirs: what they ran and reported; ours: what we run; run: a function of a Study."""

    name: str
    title: str
    theirs: str
    ours: str
    run: object


@dataclasses.dataclass
class Run:
    """One run of a command."""

    words: list
    seconds: float  # on the wall
    processor: float  # of all its processes, in seconds
    memory: int  # of its largest process, in bytes
    text: str
    status: int
    summary: dict  # of `orrery run --json`, if asked for


@dataclasses.dataclass
class Result:
    """What an experiment has found."""

    tables: list = dataclasses.field(default_factory=list)
    plots: list = dataclasses.field(default_factory=list)
    claims: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)

    def table(self, head, rows, caption=""):
        self.tables.append({"caption": caption, "head": list(head), "rows": [[str(cell) for cell in row] for row in rows]})

    def claim(self, text, holds, found="", exact=False):
        self.claims.append({"text": text, "holds": bool(holds), "found": found, "exact": exact})

    def note(self, text):
        self.notes.append(text)


def number(value, digits=3):
    """A number as people write it: three significant digits, and no exponent where it can be avoided."""
    if value == 0:
        return "0"
    if abs(value) >= 10 ** digits:
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    return text if "e" not in text else f"{value:.{digits - 1}e}"


def seconds(value):
    """A duration with its unit."""
    for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")):
        if value >= scale:
            return f"{number(value / scale)} {unit}"
    return f"{number(value * 1e12)} ps" if value >= 1e-12 else "0 s" if value == 0 else "less than 1 ps"


def size(value):
    """A number of bytes with its unit."""
    for scale, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= scale:
            return f"{number(value / scale)} {unit}"
    return f"{value} B"


class Study:
    """One paper's evaluation: where it runs, how large, and what it has run so far."""

    def __init__(self, paper, options):
        self.paper = paper
        self.folder = HERE / paper
        self.orrery = options.orrery
        self.out = pathlib.Path(options.out) / paper
        self.small = options.small
        self.nas = pathlib.Path(options.nas) if options.nas else None
        self.commands = []
        self.title = ""
        self.out.mkdir(parents=True, exist_ok=True)

    def choose(self, full, small):
        return small if self.small else full

    def say(self, text):
        print(f"  {self.title}: {text}", flush=True)

    def compile(self, source, *flags, compiler="mpicc.mpich"):
        """The executable of a source file of this paper, or of another folder of the examples."""
        source = self.folder / source
        if not source.exists():
            raise Failure(f"{source} does not exist")
        binary = self.out / source.stem
        if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
            include = TREE / "include"
            self.call([compiler, "-O2", "-o", str(binary), str(source), *([f"-I{include}"] if include.exists() else []),
                       *flags, "-lm"], shown=False)
        return str(binary)

    def kernel(self, name, kind, ranks):
        """The command of a NAS-like kernel: ours, or the real one from a folder that the user has named."""
        if not self.nas:
            return [self.compile(f"../../kernels/{name}.c"), kind]
        for path in (f"{name}.{kind}.x", f"{name}.{kind}.{ranks}", f"bin/{name}.{kind}.x", f"bin/{name}.{kind}.{ranks}"):
            if (self.nas / path).exists():
                return [str(self.nas / path)]
        raise Failure(f"{self.nas} has no {name} of class {kind} for {ranks} ranks")

    @staticmethod
    def kernel_time(text):
        """The time that a kernel, ours or a real one, prints for its main part, in seconds."""
        found = re.search(r"^time ([0-9.]+) s|Time in seconds\s*=\s*([0-9.]+)", text, re.M)
        if not found:
            raise Failure(f"no time in the output of a kernel:\n{text}")
        return float(found[1] or found[2])

    def call(self, words, shown=True, environment=None, allow_failure=False):
        """Runs a command, measures it, and returns what it printed."""
        words = [str(word) for word in words]
        if shown:
            self.commands.append(words)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        process = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT,
                                 env={**os.environ, **(environment or {})}, check=False)
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - start
        if process.returncode and not allow_failure:
            raise Failure(f"{shlex.join(words)} ended with status {process.returncode}:\n{process.stderr}{process.stdout}")
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Run(words, wall, processor, 0, process.stdout, process.returncode, {})

    def simulate(self, ranks, program, *options, **also):
        """`orrery run`, with its summary."""
        return self.summarised("run", ranks, program, *options, **also)

    def hybrid(self, ranks, program, *options, **also):
        """`orrery hybrid`, with its summary."""
        return self.summarised("hybrid", ranks, program, *options, **also)

    def emulate(self, ranks, program, *options, **also):
        """`orrery emulate`, with its summary."""
        return self.summarised("emulate", ranks, program, *options, **also)

    def summarised(self, command, ranks, program, *options, **also):
        path = self.out / "summary.json"
        run = self.call([self.orrery, command, "-q", "-n", ranks, "--json", path, *options, *program], **also)
        run.summary = json.loads(path.read_text())
        run.memory = run.summary.get("peak_rss_bytes", 0)
        return run

    def native(self, ranks, program, **also):
        return self.call(["mpiexec.mpich", "-n", ranks, *program], **also)

    def analysis(self, trace):
        """The groups of `orrery analyze`, by name."""
        return json.loads(self.call([self.orrery, "analyze", "--format", "json", trace], shown=False).text)["groups"]

    def shown_commands(self, most=12):
        """The commands, without folders of this computer; of those that differ in numbers alone, the first."""
        seen, lines = set(), []
        for words in self.commands:
            words = [re.sub(r"(^|:)/\S*/", r"\1", word) for word in words]
            line = shlex.join(word for word in words)
            kind = re.sub(r"[0-9][0-9.]*", "#", line)
            if kind not in seen:
                seen.add(kind)
                lines.append(line)
        return lines[:most] + ([f"... and {len(lines) - most} of other kinds"] if len(lines) > most else [])


def machine():
    """This computer in a line."""
    model = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{os.cpu_count()} cores of {model}, {pages / (1 << 30):.0f} GiB, Linux {platform.release().split('-')[0]}"


def commit():
    """The commit of the source tree, if there is one."""
    if not shutil.which("git") or not (TREE / ".git").exists():
        return "of no commit"
    got = subprocess.run(["git", "-C", TREE, "log", "-1", "--format=%h"], capture_output=True, text=True, check=False)
    return got.stdout.strip() or "of no commit"


def median(values):
    return statistics.median(values)


def warn(text):
    print(f"papers: warning: {text}", file=sys.stderr)


PIPE = subprocess.PIPE


def test_cluster():
    """The module that makes clusters of namespaces, or None if there is none here."""
    return None if why_no_cluster() else _cluster()


def _cluster():
    folder = str(TREE / "tests")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import cluster
    return cluster


def why_no_cluster():
    """Why there can be no cluster of namespaces, or an empty text."""
    if not (TREE / "tests" / "cluster.py").exists():
        return "it is made by a tool of the source tree"
    return _cluster().why_not() or ""


class load:
    """So many processes that compute, for as long as a block lasts."""

    def __init__(self, count):
        self.count, self.processes = count, []

    def __enter__(self):
        for _ in range(self.count):
            self.processes.append(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
        time.sleep(0.2)

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
