#!/usr/bin/env python3
"""Tests that every call of the API list is recorded, natively and simulated, with its arguments.

Prints TAP.

  same      the programs of tests/record, which make every call: native records are those of the simulation, and
            communicators, groups, datatypes, operations, windows and files are the same
  volumes   calls and bytes of every function, in traces of both, in statistics without a trace, and converted to the
            formats of other tools; of GOAL, in which all are messages, the sum
  list      no function of the list, and no argument that a trace has, is missing in them
  fortran   all Fortran bindings of MPICH (mpif.h, use mpi, use mpi_f08) call functions that are recorded
"""

import bisect
import json
import pathlib
import re
import sys

import harness
import run_record
from harness import ROOT, TESTS, demand

sys.path.insert(0, str(ROOT / "api"))
import generate  # noqa: E402

PROGRAMS = ("messages.c", "collectives.c", "groups.c", "types.c", "windows.c", "files.c", "tools.c", "room.c")
# Programs whose calls move data, and at least how many functions have a volume.
VOLUMES = (("volumes.c", 45), ("messages.c", 10), ("windows.c", 8), ("files.c", 40))
# One program by each binding of Fortran.
FORTRAN = ("f77.f90", "f90.f90", "f08.f90")
# Results that each MPI chooses: addresses, keys, and what its tool interface offers.
OWN = re.compile(r"(\b(?:address|MPI_File_f2c\(file|errorclass|errorcode|\w*keyval|resultlen)=)-?\d+")
# What MPI_Isendrecv received: MPICH 4.0 does not say it.
UNSAID = re.compile(r"\{source \d, tag 3[23], 8 B\}")
TOOL = re.compile(r"(MPI_T_\w+|MPI_Parrived|MPI_Session_get_n\w+|MPI_Get_library_version|MPI_Get_processor_name)\(.*")
# Calls of tools.c that only the simulator survives: MPICH has no events, and counters only if it was built with them.
SIMULATED = re.compile(r"MPI_T_(enum|event_(?!get_(num|index))|source_get_[it]|pvar_(?!get_num|session))|MPIX_Comm_revoke")
# Roles of arguments that are not recorded: what they refer to has no meaning outside the process.
UNKEPT = {"buffer", "callback", "errhandler", "info", "pointer", "text", "tool"}
# Programs that make the calls of MPICH's own bindings.
BINDINGS = ("mpi/env_attr_f77.f", "mpi/env_attr_f08.f90", "mpi/env_cxx.cpp", "record/general.f90")
# ... and arguments, where the result says as much.
UNNEEDED = {"MPI_Group_range_incl": {"ranges"}, "MPI_Group_range_excl": {"ranges"}}
# Functions that no trace of tests/record contains, and why.
UNSEEN = {
    "MPI_Abort": "the trace has an unfinished call: run_record.py",
}
# A Fortran binding and its kind: mpi_send_, mpi_send_f08ts_, mpi_send_f08ts_large_.
BINDING = re.compile(r"mpi_(?P<name>[a-z0-9_]+?)(?:_f08(?:ts)?)?(?P<large>_large)?_")
# Readings of the clock are not recorded: programs make many, and nothing follows from them.
CLOCKS = {"MPI_Wtime", "MPI_Wtick", "PMPI_Wtime", "PMPI_Wtick"}
# Attributes have other types in Fortran, and so MPICH has functions of its own for them, which are recorded, too.
ATTRIBUTE = re.compile(r"MPI(_\w+_[gs]et_attr)")
OLD_ATTRIBUTE = {"MPI_Attr_get": "MPI_Comm_get_attr", "MPI_Attr_put": "MPI_Comm_set_attr"}


def listed():
    """The functions of the list that are recorded."""
    calls = [call for group in generate.read_list(ROOT / "api" / "mpi_functions.txt") for call in group.calls]
    return {call.name: call for call in calls if generate.is_wrapped(call)}


# ---- what a library calls ----

JUMP = re.compile(r"^ *([0-9a-f]+):\s+(?:\w+ )?(call|bl|j\w+|b[.\w]*)\s+([0-9a-f]+) <([^>]+)>", re.M)


def symbols(library):
    """The functions that a library exports: addresses by name."""
    done = harness.call(["nm", "-D", "--defined-only", library])
    demand(done.status == 0, f"nm failed on {library}", done.stderr)
    return {name: int(address, 16) for address, kind, name in
            re.findall(r"^([0-9a-f]+) (\w) ([^@\n]+)", done.stdout, re.M) if kind in "TWi"}


class Library:
    """Which functions of MPI each function of a library calls, from its machine code."""

    def __init__(self, path):
        self.exported = symbols(path)
        done = harness.call(["objdump", "-d", "--no-show-raw-insn", path])
        demand(done.status == 0, "objdump failed", done.stderr)
        jumps = [(int(at, 16), how, int(to, 16), name) for at, how, to, name in JUMP.findall(done.stdout)]
        # Functions that are not exported begin where they are called.
        starts = sorted(set(self.exported.values()) | {to for _, how, to, _ in jumps if how in ("call", "bl")})
        start = lambda at: starts[bisect.bisect_right(starts, at) - 1]
        self.calls = {}
        for at, _, to, name in jumps:
            name = name[:-4] if name.endswith("@plt") else ""  # of another library, or exported here
            self.calls.setdefault(start(at), set()).add((self.exported.get(name, start(to)), name))

    def reached(self, name):
        """Functions of MPI that a function calls, also through others."""
        found, todo, seen = set(), [self.exported[name]], set()
        while todo:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            for to, called in self.calls.get(at, ()):
                if re.match(r"P?MPI[XI]*_", called) and called not in self.exported:
                    found.add(called)
                else:
                    todo.append(to)
        return found


class Calls(run_record.Tests):
    folder = "record"

    def __init__(self, orrery, build):
        super().__init__(orrery, build)
        self.seen = {}  # names of arguments, by function

    def record(self, folder, ranks, *words, **options):
        """A native run is an oracle here: one that dies in its own library is repeated."""
        command = [self.orrery, "record", "-n", ranks, "-o", "n.orr", *words]
        done = harness.call_native(command, cwd=folder, **options)
        demand(done, "the native run always died in its own library")
        return done

    def note(self, ranks):
        for line in (line for lines in ranks.values() for line in lines):
            found = re.match(r"(MPI\w+)\(", line)
            if found:
                with self.lock:
                    self.seen.setdefault(found[1], set()).update(re.findall(r"[(, ](\w+)=", line))

    # ---- same ----

    def same_objects(self, name):
        # The datatypes of its variables belong to the tool interface of each MPI.
        found = self.traced(name, words=[] if name == "tools.c" else ["--objects"])
        self.note(found[1])
        native, virtual = ({rank: [TOOL.sub(r"\1", OWN.sub(r"\1...", UNSAID.sub("none", line))) for line in lines
                                   if not SIMULATED.match(line)] for rank, lines in ranks.items()} for ranks in found)
        for rank in virtual:
            harness.demand_same(f"rank {rank}", ("calls", "\n".join(virtual[rank]), "\n".join(native[rank])))

    def same_bindings(self):
        """A Fortran program makes the same calls by each binding, natively and simulated."""
        native, virtual = zip(*(self.traced(name, flags=["-cpp", "-fallow-argument-mismatch"], words=["--objects"])
                                for name in FORTRAN))
        self.note(virtual[0])
        native, virtual = ([{rank: [OWN.sub(r"\1...", line) for line in lines] for rank, lines in ranks.items()}
                            for ranks in found] for found in (native, virtual))
        for name, *found in zip(FORTRAN, native, virtual):
            for rank in virtual[0]:
                harness.demand_same(f"{name}, rank {rank}", *((kind, "\n".join(virtual[0][rank]), "\n".join(calls[rank]))
                                                             for kind, calls in zip(("native", "simulated"), found)))

    def dynamic(self):
        """Only simulated: not every MPI can spawn."""
        with harness.fresh_folder() as folder:
            self.note(self.simulate(folder, self.program("dynamic.c")))

    # ---- volumes ----

    def volumes_of(self, folder, trace):
        done = harness.call([self.orrery, "analyze", trace, "functions", "--format", "csv"], cwd=folder)
        demand(done.status == 0, f"{trace}: exit status {done.status}", done.stderr)
        rows = [line.split(",") for line in done.stdout.splitlines()]
        return {row[1]: f"{row[2]} calls, {row[3]} B" for row in rows if row[0] == "functions"}

    def volumes(self, name, least):
        """volumes.c has every form of every collective, in place, on intercommunicators and with neighbours that are
        nobody; the others have all messages, one-sided operations and accesses to files."""
        binary = self.program(name)
        head = (TESTS / self.folder / name).read_text().splitlines()[0]
        ranks, machine = re.search(r"native=(\d+)", head)[1], " ".join(re.findall(r"run=\"(.*?)\"", head)).split()
        with harness.fresh_folder() as folder:
            done = harness.call([self.orrery, "run", "-n", ranks, "-q", "--compute", "none", "--trace", "v.orr", "--stats", "v.json",
                                 *machine, binary], cwd=folder)
            demand(done.status == 0, f"simulated: exit status {done.status}", done.stderr)
            self.demand_collectives(pathlib.Path(folder) / "v.json")
            wanted = self.volumes_of(folder, "v.orr")
            moving = [name for name, what in wanted.items() if not what.endswith(" 0 B")]
            demand(len(moving) >= least, f"only {len(moving)} functions move data", *moving)
            done = harness.call([self.orrery, "run", "-n", ranks, "-q", "--compute", "none", "--trace", "p.orr", "--profile-only",
                                 *machine, binary], cwd=folder)
            demand(done.status == 0, f"simulated, --profile-only: exit status {done.status}", done.stderr)
            self.demand_volumes(wanted, self.volumes_of(folder, "p.orr"), "simulated, --profile-only")
            for options in ((), ("--profile-only",)):
                done = self.record(folder, ranks, "-q", *options, binary)
                demand(done.status == 0, f"exit status {done.status}", done.stderr)
                self.demand_volumes(wanted, self.volumes_of(folder, "n.orr"), f"native, {options}")
            self.convert(folder, "v.orr", "v.otf2")
            self.demand_volumes(wanted, self.volumes_of(folder, "v.otf2"), "OTF2")

    @staticmethod
    def demand_collectives(path):
        """--stats knows collectives in all their forms."""
        kinds = {call.name: call.effect.kind for call in listed().values()}
        wrong = [f["name"] for f in json.loads(path.read_text())["functions"]
                 if f["collective"] != (kinds.get(f["name"]) == "collective")]
        demand(not wrong, "--stats: collective or not?", *wrong)

    def plain_volumes(self):
        """Formats that know MPI_COMM_WORLD and blocking collectives alone, not MPI_IN_PLACE at a root."""
        binary = self.program("volumes.c")
        with harness.fresh_folder() as folder:
            done = harness.call([self.orrery, "run", "-n", 4, "-q", "--compute", "none", "--trace", "v.orr", binary,
                                 "plain"], cwd=folder)
            demand(done.status == 0, f"simulated: exit status {done.status}", done.stderr)
            wanted = {name: what for name, what in self.volumes_of(folder, "v.orr").items()
                      if not re.match(r"MPI_(Gather|Scatter)", name)}
            for path in ("v.ti", "v.meta"):
                self.convert(folder, "v.orr", path)
                found = self.volumes_of(folder, path)
                demand(sum(name in found for name in wanted) > 8, f"{path}: only {' '.join(found)}")
                self.demand_volumes({name: what for name, what in wanted.items() if name in found},
                                    {name: found[name] for name in wanted if name in found}, path)

    def sums(self):
        """Formats that know two or three functions for messages: what all of them send together."""
        binary = self.program("messages.c")
        with harness.fresh_folder() as folder:
            done = harness.call([self.orrery, "run", "-n", 2, "-q", "--compute", "none", "--trace", "v.orr", binary], cwd=folder)
            demand(done.status == 0, f"simulated: exit status {done.status}", done.stderr)
            sums = {}
            for path in ("v.orr", "v.goal", "v.ti", "v.otf2"):
                if path != "v.orr":
                    self.convert(folder, "v.orr", path)
                sums[path] = sum(int(what.split()[2]) for what in self.volumes_of(folder, path).values())
            demand(sums["v.orr"] > 500 and len(set(sums.values())) == 1, f"bytes: {sums}")

    def goal(self):
        """In GOAL collectives are messages: both ends of each have its size, in place and with counts that differ."""
        binary = self.program("volumes.c")
        with harness.fresh_folder() as folder:
            done = harness.call([self.orrery, "run", "-n", 4, "-q", "--compute", "none", "--trace", "v.orr", binary], cwd=folder)
            demand(done.status == 0, f"simulated: exit status {done.status}", done.stderr)
            self.convert(folder, "v.orr", "v.goal")
            sent, received, rank = {}, {}, None
            for line in (pathlib.Path(folder) / "v.goal").read_text().splitlines():
                if line.startswith("rank "):
                    rank = line.split()[1]
                found = re.match(r"l\d+: (send|recv) (\d+)b (?:to|from) (\d+) tag (\d+)", line)
                if found:
                    ends = (rank, found[3]) if found[1] == "send" else (found[3], rank)
                    (sent if found[1] == "send" else received).setdefault((*ends, found[4]), []).append(found[2])
            differ = [f"{key}: {sent.get(key)} are sent, {received.get(key)} received" for key in sorted(set(sent) | set(received))
                      if sent.get(key) != received.get(key)]
            demand(len(sent) > 400 and not differ, f"{len(sent)} messages", *differ)
            done = harness.call([self.orrery, "replay", "-q", "v.goal"], cwd=folder)
            demand(done.status == 0, f"replay: exit status {done.status}", done.stderr)

    def convert(self, folder, source, target):
        done = harness.call([self.orrery, "trace", "convert", "-q", source, target], cwd=folder)
        demand(done.status == 0, f"{target}: exit status {done.status}", done.stderr)

    @staticmethod
    def demand_volumes(wanted, found, what):
        both = sorted(set(wanted) | set(found))
        differ = [f"{name}: {found.get(name)} instead of {wanted.get(name)}" for name in both
                  if found.get(name) != wanted.get(name)]
        demand(not differ, what, *differ)

    def bindings(self, name):
        source = TESTS / name
        binary = self.build / source.name.replace(".", "_")
        harness.build(source, binary, ["-w"])
        with harness.fresh_folder() as folder:
            self.note(self.simulate(folder, binary))

    # ---- list ----

    def all_functions(self):
        missing = sorted(set(listed()) - set(self.seen) - set(UNSEEN))
        demand(not missing, f"{len(missing)} functions are in no trace", " ".join(missing))
        known = sorted(set(UNSEEN) & set(self.seen))
        demand(not known, "these are in traces after all", " ".join(known))

    def all_arguments(self):
        missing = []
        for name, call in listed().items():
            kept = {arg.name for arg in call.args if arg.role not in UNKEPT} - UNNEEDED.get(name, set())
            if name in self.seen and kept - self.seen[name]:
                missing.append(f"{name}: {', '.join(sorted(kept - self.seen[name]))}")
        demand(not missing, f"{len(missing)} functions lack arguments", "\n".join(missing))

    # ---- fortran ----

    def exports(self, library):
        return set(symbols(self.orrery.parent / library))

    def fortran(self):
        """Each binding calls the function of its name, or is known not to, and both recorders have all that they call."""
        path = harness.call(["mpif90.mpich", "-print-file-name=libmpichfort.so"]).stdout.strip()
        library, known = Library(path), {name.lower(): name for name in listed()}
        wrong, called = [], set()
        for name in library.exported:
            found = BINDING.fullmatch(name)
            if not found:
                continue
            wanted = known.get(f"mpi_{found['name']}" + ("_c" if found["large"] else ""))
            wanted = OLD_ATTRIBUTE.get(wanted, wanted)
            reached = library.reached(name)
            called |= reached
            if wanted and not reached & {wanted, "P" + wanted, ATTRIBUTE.sub(r"MPII\1", wanted)}:
                wrong.append(f"{name} calls {' '.join(sorted(reached)) or 'nothing'}")
        demand(not wrong, f"{len(wrong)} bindings do not call their function", "\n".join(wrong))
        for recorder in ("liborrery-record.so", "liborrery-mpi.so"):
            missing = called - self.exports(recorder) - CLOCKS
            demand(not missing, f"{recorder} does not see", " ".join(sorted(missing)))


def add_all(tests):
    cases = [(f"same {name}", tests.same_objects, name) for name in PROGRAMS]
    cases += [(f"volumes {name}", tests.volumes, name, least) for name, least in VOLUMES]
    cases += [("volumes of plain formats", tests.plain_volumes), ("volumes in all", tests.sums),
              ("volumes of GOAL", tests.goal),
              ("ranks that come later", tests.dynamic), ("fortran: all bindings call functions", tests.fortran),
              ("fortran: one program by each binding", tests.same_bindings)]
    return cases + [(f"bindings {name}", tests.bindings, name) for name in BINDINGS]


def main():
    options = harness.options_parser(__doc__, "build/calls-tests").parse_args()
    options.build_dir.mkdir(parents=True, exist_ok=True)
    tests = Calls(pathlib.Path(options.orrery).resolve(), options.build_dir.resolve())
    tap = harness.Tap()
    tap.run_chosen(add_all(tests), options)
    if not options.filter:  # of all traces together
        tap.run_cases([("all functions of the list", tests.all_functions), ("all arguments", tests.all_arguments)])
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
