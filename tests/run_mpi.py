#!/usr/bin/env python3
"""Runs the MPI conformance programs natively and under Orrery, and prints TAP.

The first five lines of a program say how to run it, if the defaults (n=1,2,5 native=4 output=same
schedules=40 measured=yes host=both) do not fit:

    test: n=1,2,5 native=4 args="..." output=same|sorted|free schedules=40 measured=yes|no
          host=both|fibre|process|threads

  n          rank counts to simulate; native is added to them
  native     ranks of the run under the real MPI
  args       arguments; {tmp} becomes a fresh folder for every run
  output     how the output compares with the native run; lines that start with "virtual:" never do
  schedules  random schedules to try, with the largest n that is not above 5
  measured   also run with measured computing time
  run        more options for 'orrery run'
  host       fibre or process: runs on that host only; threads: a process, whose virtual time is its
             own each time, so that only its output counts
  flags      more options for the compiler
  check      no: the program makes mistakes that --check finds
  lines      an expression that must match every whole line of a simulated run, for programs whose lines
             a real MPI may tear apart

For every n the run is repeated with --check, which must find nothing: output, virtual time, counts
and statistics must be the same to the last digit. The same is required of every random schedule.
Runs with MANY ranks and more, for which the simulator stores stacks differently, get a few
schedules of their own. With --procs, runs on several native processes must give the same, too, and
so must ranks that are processes.
"""

import collections
import json
import os
import pathlib
import re
import shlex
import shutil

import harness
from harness import demand

# MPICH declares MPI_STATUSES_IGNORE so that gcc 12 takes it for an empty array.
C_WARNINGS = [*harness.STRICT, "-Wno-stringop-overflow"]
WARNINGS = {".c": C_WARNINGS, ".cpp": C_WARNINGS, ".f": ["-w"], ".f90": ["-w"]}
MANY = 257  # more than the ranks that have their own stacks
JSON_KEYS = ("ranks", "virtual_time_s", "wall_s", "peak_rss_bytes", "messages", "bytes", "host",
             "procs")
# Programs with more than the simplest communication, for the rarer distributions of ranks.
TALKATIVE = re.compile(r"coll_|comm_|dec_|dyn_|fuzz_|io_|op_user|p2p_|rma_(?!shared)|topo_|"
                       r"lang_(stdio|exit)|err_|f08_")
# Programs in which a rank's program, its agent and its strands send to the same ranks: on a network with
# contention nothing may depend on which of them the schedule lets be first.
CONTENDED = re.compile(r"icoll_(inter|random)|rma_(random|request)")
NO_FINDINGS = ',\n  "findings": []'  # what --check adds to statistics
FLOW = ("--compute", "none", "-q", "--set", "net.model=flow")
SPREAD = (("--procs", "3", "--placement", "cyclic"), ("--procs", "4", "--schedule", "random:7"))

Program = collections.namedtuple("Program", "name source binary flags n native args output "
                                 "schedules measured options lines host check")
Outcome = collections.namedtuple("Outcome", "status stdout stderr summary stats")


def read_header(source):
    text = "\n".join(source.read_text().splitlines()[:5])
    words = []
    for line in re.findall(r"test:(.*)", text):
        words += shlex.split(line.replace("*/", ""))
    fields = dict(word.split("=", 1) for word in words)
    known = {"n", "native", "args", "output", "schedules", "measured", "run", "lines", "host",
             "flags", "check"}
    if set(fields) - known:
        raise SystemExit(f"{source}: unknown field {sorted(set(fields) - known)}")
    return fields


def find_programs(folders, build, pattern):
    sources = []
    for folder in (pathlib.Path(f).resolve() for f in folders):
        found = sorted(folder.iterdir()) if folder.is_dir() else [folder]
        sources += [s for s in found if s.suffix in harness.COMPILERS]
    programs = []
    for index, source in enumerate(sources):
        if pattern and not re.search(pattern, source.name):
            continue
        fields = read_header(source)
        native = int(fields.get("native", 4))
        counts = sorted({int(n) for n in fields.get("n", "1,2,5").split(",")} | {native})
        programs.append(Program(
            name=source.name, source=source, binary=build / source.name.replace(".", "_"),
            flags=["-g", "-O1" if index % 2 == 0 else "-O2",
                   *shlex.split(fields.get("flags", ""))], n=counts, native=native,
            args=shlex.split(fields.get("args", "")), output=fields.get("output", "same"),
            schedules=int(fields.get("schedules", 40)),
            measured=fields.get("measured", "yes") == "yes",
            options=shlex.split(fields.get("run", "")), lines=fields.get("lines"),
            host=fields.get("host", "both"), check=fields.get("check", "yes") == "yes"))
    return programs


class Runner:
    def __init__(self, options):
        self.options = options
        self.orrery = os.path.abspath(options.orrery)
        self.native_output = {}

    def compile(self, program):
        harness.build(program.source, program.binary, [*WARNINGS[program.source.suffix], *program.flags])

    def native(self, program):
        """Runs natively, once per binary; a file next to it stores the output."""
        kept = program.binary.with_suffix(f".native{program.native}")
        if kept.exists() and kept.stat().st_mtime > program.binary.stat().st_mtime:
            self.native_output[program.name] = kept.read_text()
            return
        with harness.fresh_folder() as folder:
            args = [a.replace("{tmp}", folder) for a in program.args]
            done = harness.call_native(
                ["mpiexec.mpich", "-n", program.native, program.binary, *args], self.options.timeout)
        if not done:
            return  # the report of oracles says so; there is nothing to compare with
        status, out, err = done
        demand(status == 0, f"native run: exit status {status}", err)
        demand(out, "native run: no output")
        self.native_output[program.name] = out
        kept.write_text(out)

    def simulate(self, program, n, extra=("--compute", "none")):
        with harness.fresh_folder() as folder:
            work = os.path.join(folder, "work")
            os.mkdir(work)
            summary, stats = os.path.join(folder, "run.json"), os.path.join(folder, "stats.json")
            args = [a.replace("{tmp}", work) for a in program.args]
            status, out, err = harness.call(
                [self.orrery, "run", "-n", n, *self.host_of(program), *extra,
                 *program.options,
                 *shlex.split(self.options.run_args),
                 "--json", summary, "--stats", stats, program.binary, *args],
                self.options.timeout)
            demand(status == 0, f"n={n} {' '.join(extra)}: exit status {status}", err)
            demand(os.path.exists(summary), f"n={n}: --json wrote nothing", err)
            demand(os.path.exists(stats), f"n={n}: --stats wrote nothing", err)
            with open(summary) as file:
                values = json.load(file)
            with open(stats) as file:
                text = file.read()
        missing = [key for key in JSON_KEYS if key not in values]
        demand(not missing, f"n={n}: --json lacks {missing}")
        demand(values["ranks"] == n, f"n={n}: --json says {values['ranks']} ranks")
        return Outcome(status, out, err, values, text)

    @staticmethod
    def host_of(program):
        """Tests name the host; other tests check what Orrery would choose."""
        return ("--host", "process" if program.host in ("process", "threads") else "fibre")

    def compare(self, first, again, what):
        keys = ("virtual_time_ps", "messages", "bytes")
        harness.demand_same(what, ("output", first.stdout, again.stdout),
                            *((key, first.summary[key], again.summary[key]) for key in keys),
                            ("statistics", first.stats, again.stats))

    def simulated(self, program, n):
        first = self.simulate(program, n)
        self.compare_native(program, n, first.stdout)
        torn = [line for line in first.stdout.splitlines()
                if program.lines and not re.fullmatch(program.lines, line)]
        demand(not torn, f"n={n}: unexpected line {torn[:1]}")
        again = self.simulate(program, n, ("--compute", "none", *(["--check"] if program.check else [])))
        again = again._replace(stats=again.stats.replace(NO_FINDINGS, ""))
        if program.host != "threads":
            self.compare(first, again, f"n={n} repeated")

    def compare_native(self, program, n, out):
        if n != program.native or program.name not in self.native_output:
            return
        expected, got = (
            [line for line in text.splitlines() if not line.startswith("virtual:")]
            for text in (self.native_output[program.name], out))
        if program.output == "sorted":
            expected.sort()
            got.sort()
        if program.output != "free":
            harness.demand_same(f"n={n}: not the native output",
                                ("output", "\n".join(expected), "\n".join(got)))

    def measured(self, program):
        outcome = self.simulate(program, program.native, ("--compute", "measured"))
        self.compare_native(program, program.native, outcome.stdout)

    def scheduled(self, program, n, seeds):
        first = self.simulate(program, n)
        for seed in seeds:
            extra = ("--compute", "none", "--schedule", f"random:{seed}")
            self.compare(first, self.simulate(program, n, extra), f"n={n} random:{seed}")

    def spread(self, program, n, ways):
        """Runs on several native processes; standard error belongs to the program, too."""
        first = self.simulate(program, n, ("--compute", "none", "-q"))
        for way in ways:
            what = f"n={n} {' '.join(way)}"
            again = self.simulate(program, n, ("--compute", "none", "-q", *way))
            self.compare(first, again, what)
            harness.demand_same(what, ("standard error", first.stderr, again.stderr))
            demand(again.summary["procs"] == min(int(way[1]), n),
                   f"{what}: {again.summary['procs']} processes")

    def contended(self, program, n):
        first = self.simulate(program, n, FLOW)
        for way in (("--schedule", "random:1"), ("--schedule", "random:2"), ("--procs", "2")):
            self.compare(first, self.simulate(program, n, (*FLOW, *way)), f"n={n} flow {' '.join(way)}")

    def hosted(self, program, n, ways):
        """Ranks as processes give the same as fibres."""
        first = self.simulate(program, n, ("--compute", "none", "-q"))
        for way in ways:
            again = self.simulate(program, n, ("--compute", "none", "-q", "--host", "process", *way))
            self.compare(first, again, f"n={n} process {' '.join(way)}")
            demand(again.summary["host"] == "process", f"n={n}: not on the process host")

    def host_cases(self, program):
        few = max([n for n in program.n if n <= 5] or [min(program.n)])
        ways = [()]
        if TALKATIVE.match(program.name) and few > 1:
            ways += [("--procs", "2"), ("--schedule", "random:1")]
        yield f"process host {program.name} n={few}", self.hosted, program, few, ways

    def spread_cases(self, program):
        counts = [n for n in program.n if n > 1]
        largest = max(counts)
        few = max([n for n in counts if n <= 5 and n != largest] or [largest])
        for n in sorted({few, largest}):
            yield f"processes {program.name} n={n}", self.spread, program, n, (("--procs", "2"),)
        if TALKATIVE.match(program.name):
            n = max([n for n in counts if n < MANY])
            yield f"processes {program.name} n={n} spread", self.spread, program, n, SPREAD

    def cases(self, programs):
        """All cases, as (name, function, program, ...), in the order in which they must start."""
        options = self.options
        listed = [(f"compile {p.name}", self.compile, p) for p in programs]
        yield listed
        if not options.no_native:
            yield [(f"native {p.name} n={p.native}", self.native, p) for p in programs]
        if options.native_only:
            return
        listed = [(f"run {p.name} n={n}", self.simulated, p, n) for p in programs for n in p.n]
        listed += [(f"measured {p.name}", self.measured, p) for p in programs if p.measured]
        for p in programs:
            if p.host == "threads":
                continue
            total = p.schedules
            if options.schedules is not None:
                total = min(total, options.schedules)
            few = max([n for n in p.n if n <= 5] or [min(p.n)])
            for n in [few] + [n for n in p.n if n >= MANY]:
                seeds = range(1, (total if n == few else min(total, 3)) + 1)
                if seeds:
                    listed.append((f"schedules {p.name} n={n} x{len(seeds)}", self.scheduled, p, n, seeds))
        listed += [(f"contended {p.name} n=5", self.contended, p, 5) for p in programs
                   if CONTENDED.match(p.name)]
        if options.procs:
            listed += [case for p in programs if p.host != "threads" and max(p.n) > 1
                       for case in self.spread_cases(p)]
            listed += [case for p in programs if p.host == "both" for case in self.host_cases(p)]
        yield listed


def parse_options():
    parser = harness.options_parser(__doc__, "build/tests-mpi")
    parser.add_argument("--programs", nargs="+", default=["tests/mpi"], help="folders or sources")
    parser.add_argument("--no-native", action="store_true", help="do not run under mpiexec.mpich")
    parser.add_argument("--native-only", action="store_true", help="do not run under Orrery")
    parser.add_argument("--schedules", type=int, help="at most this many random schedules each")
    parser.add_argument("--procs", action="store_true",
                        help="also run on several processes, and with ranks as processes")
    parser.add_argument("--run-args", default="", help="more options for every 'orrery run'")
    parser.add_argument("--timeout", type=float, default=harness.LIMIT, help="seconds per run")
    return parser.parse_args()


def main():
    options = parse_options()
    if not options.no_native and not shutil.which("mpiexec.mpich"):
        raise SystemExit("mpiexec.mpich not found: install mpich, or give --no-native")
    options.build_dir.mkdir(parents=True, exist_ok=True)
    runner = Runner(options)
    programs = find_programs(options.programs, options.build_dir.resolve(), options.filter)
    tap = harness.Tap()
    broken = set()
    for stage in runner.cases(programs):
        failed = tap.run_cases([case for case in stage if case[2].name not in broken], options.jobs)
        broken |= {name.split()[1] for name in failed if name.startswith("compile ")}
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
