#!/usr/bin/env python3
"""Tests `orrery record`: native runs, whose calls are recorded by a library inside the program.

Prints TAP.

  same      a program recorded natively has the calls, arguments and results of its simulation
  faults    programs that abort, are killed or do not finalise; full disks; programs without MPI
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading

import harness
from harness import TESTS, demand

# Programs whose calls depend only on their source: no polling, no wildcards that race.
SAME = ("p2p_modes.c", "p2p_large_count.c", "topo_cart.c", "type_layouts.c", "type_halo.c", "rma_random.c",
        "rma_types.c", "inter_coll.c", "icoll_inter.c", "op_user.c", "f77_common.f", "f90_use_mpi.f90",
        "f08_use_mpi.f90", "env_attr_f77.f", "env_attr_f08.f90", "env_cxx.cpp", "bad/traced.c",
        "bad/record_regions.c")
LINE = re.compile(r"\[(\d+)\] (?:-?\d+(?: \+ \d+)?: )?(.*)")
PICOSECONDS = {"ps": 1, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12}
# Numbers that an MPI may choose.
FREE = re.compile(r"(errorcode|keyval)=-?\d+")


class Tests:
    folder = "mpi"  # of programs

    def __init__(self, orrery, build):
        self.orrery = orrery
        self.build = build
        self.lock = threading.Lock()

    def program(self, name, *flags):
        source = TESTS / self.folder / name
        binary = self.build / source.name.replace(".", "_")
        with self.lock:  # cases that run at the same time share programs
            harness.build(source, binary, ["-w", "-g", "-I", TESTS.parent / "include", *flags])
        return binary

    def record(self, folder, ranks, *words, **options):
        """Records to n.orr in a folder."""
        return harness.call([self.orrery, "record", "-n", ranks, "-o", "n.orr", *words], cwd=folder, **options)

    def calls(self, folder, trace, *words):
        """What each rank has called: lines without times."""
        done = harness.call([self.orrery, "trace", "print", "--exact", *words, trace], cwd=folder)
        demand(done.status == 0 and not done.stderr, f"cannot print {trace}", done.stderr)
        ranks = {}
        for line in done.stdout.splitlines():
            found = LINE.match(line)
            demand(found, f"what is this line? {line}")
            ranks.setdefault(int(found[1]), []).append(FREE.sub(r"\1=...", found[2]))
        return ranks

    def communicators(self, folder, trace):
        done = harness.call([self.orrery, "trace", "info", trace], cwd=folder)
        found = re.search(r"communicators +(\d+)", done.stdout)
        demand(found, "no number of communicators", done.stdout, done.stderr)
        return int(found[1])

    def simulate(self, folder, *words):
        """Traces a run of two simulated ranks as n.orr, and returns its calls."""
        done = harness.call([self.orrery, "run", "-n", 2, "-q", "--compute", "none", "--trace", "n.orr", *words], cwd=folder)
        demand(done.status == 0, f"exit status {done.status}", done.stderr)
        self.verify(folder)
        return self.calls(folder, "n.orr")

    def verify(self, folder):
        done = harness.call([self.orrery, "trace", "verify", "n.orr"], cwd=folder)
        demand(done.status == 0, "the trace is not good", done.stdout, done.stderr)

    # ---- same ----

    def traced(self, name, options=(), flags=(), words=()):
        """What each rank has called natively, and what in the simulation."""
        binary = self.program(name, *flags)
        head = " ".join((TESTS / self.folder / name).read_text().splitlines()[:5])
        ranks = (re.search(r"native=(\d+)", head) or (0, "4"))[1]
        machine = re.findall(r"run=\"(.*?)\"", head)  # options of the simulation
        with harness.fresh_folder() as folder:
            done = self.record(folder, ranks, "-q", *options, binary)
            demand(done.status == 0, f"exit status {done.status}", done.stderr)
            demand(os.listdir(folder) == ["n.orr"], f"what is left: {os.listdir(folder)}")
            self.verify(folder)
            done = harness.call([self.orrery, "run", "-n", ranks, "-q", "--compute", "none", "--trace", "v.orr",
                                 *" ".join(machine).split(), *options, binary], cwd=folder)
            demand(done.status == 0, f"simulated: exit status {done.status}", done.stderr)
            native, virtual = (self.calls(folder, trace, *words) for trace in ("n.orr", "v.orr"))
            comms = [self.communicators(folder, trace) for trace in ("n.orr", "v.orr")]
        # A communicator is the same one at all its ranks: otherwise there would be more of them.
        demand(comms[0] == comms[1], f"communicators: {comms[0]}, simulated {comms[1]}")
        demand(sorted(native) == sorted(virtual) == list(range(int(ranks))), f"ranks {sorted(native)}")
        return native, virtual

    def same(self, name, options=(), flags=()):
        native, virtual = self.traced(name, options, flags)
        for rank in virtual:
            harness.demand_same(f"rank {rank}", ("calls", "\n".join(virtual[rank]), "\n".join(native[rank])))
        return native

    def sites(self):
        """Call sites, and functions that are instrumented."""
        lines = self.same("bad/record_sites.c", ["--call-sites"], ["-finstrument-functions", "-O0"])[0]
        demand(lines[0] == "MPI_Init(argc=1) at main (record_sites.c:20)", lines[0])
        demand(lines[1:3] == ["enter region outer", "enter region inner"], "no regions", *lines)
        demand(lines[3] == "MPI_Barrier(comm=MPI_COMM_WORLD) at inner (record_sites.c:9) < outer (record_sites.c:14) "
               "< main (record_sites.c:21)", lines[3])

    def received(self):
        """Partitioned receives, and receives with too little room. (MPICH 4.0 does not say what MPI_Isendrecv received.)"""
        binary = self.program("bad/received.c")
        with harness.fresh_folder() as folder:
            done = self.record(folder, 3, "-q", binary)
            demand(done.status == 0, f"exit status {done.status}", done.stderr)
            lines = "\n".join(self.calls(folder, "n.orr")[1])
        for wanted in (r"MPI_Wait\(request=2\) -> status=\{source 0, tag 3, 24 B\}",
                       r"MPI_Wait\(request=3\) -> status=\{source 0, tag 5, \d+ B\} failed with class 14",
                       r"MPI_Waitall\(.*\) -> array_of_statuses=\[\{source 0, tag 6, \d+ B\}, none\] failed with class 17"):
            demand(re.search(wanted, lines), f"no line like {wanted}", lines)

    # ---- statistics alone ----

    def statistics(self, folder, trace):
        """The groups of `orrery analyze`."""
        done = harness.call([self.orrery, "analyze", "--format", "json", trace], cwd=folder)
        demand(done.status == 0, f"exit status {done.status}", done.stderr)
        groups = json.loads(done.stdout)["groups"]
        functions = {row["function"]: (row["calls"], row["bytes"], row["time"])
                     for row in groups["functions"]["functions"]}
        return groups["overall"]["overall"][0], functions

    def profile(self, name):
        """Statistics without events are those of the events; a native run has the same calls and bytes."""
        binary = self.program(name)
        with harness.fresh_folder() as folder:
            for trace, options in (("all.orr", []), ("v.orr", ["--profile-only"])):
                done = harness.call([self.orrery, "run", "-n", 4, "-q", "--compute", "none", "--trace", trace,
                                     *options, binary], cwd=folder)
                demand(done.status == 0, f"exit status {done.status}", done.stderr)
            done = self.record(folder, 4, "-q", "--profile-only", binary)
            demand(done.status == 0, f"exit status {done.status}", done.stderr)
            self.verify(folder)
            events, sums, native = (self.statistics(folder, trace) for trace in ("all.orr", "v.orr", "n.orr"))
        demand(events == sums, "statistics differ", str(events), str(sums))
        counts = [{name: row[:2] for name, row in functions.items()} for _, functions in (sums, native)]
        demand(counts[0] == counts[1], "the native run differs", str(counts[0]), str(counts[1]))

    def stats(self, name):
        """--stats has the functions and messages of a simulated run, as JSON and CSV; --placement reads it."""
        binary = self.program(name)
        with harness.fresh_folder() as folder:
            done = harness.call([self.orrery, "run", "-n", 4, "-q", "--compute", "none", "--collectives", "model", "--stats", "v.json",
                                 binary], cwd=folder)
            demand(done.status == 0, f"exit status {done.status}", done.stderr)
            for suffix in ("json", "csv"):
                done = self.record(folder, 4, "-q", "--progress", "--stats", f"n.{suffix}", binary)
                demand(done.status == 0, f"exit status {done.status}", done.stderr)
                done = harness.call([self.orrery, "run", "-n", 4, "-q", "--procs", 2, "--placement", f"mincut:n.{suffix}", binary],
                                    cwd=folder)
                demand(done.status == 0, f"exit status {done.status}", done.stderr)
            native, virtual = (json.loads((pathlib.Path(folder) / f"{which}.json").read_text()) for which in "nv")
            rows = (pathlib.Path(folder) / "n.csv").read_text().splitlines()
        functions = [[(f["name"], f["collective"], f["calls"]) for f in found["functions"]] for found in (native, virtual)]
        demand(functions[0] == functions[1], "functions differ", str(functions[0]), str(functions[1]))
        for key in ("ranks", "point_to_point", "sizes", "pairs"):
            demand(native[key] == virtual[key], f"{key} differ", str(native[key]), str(virtual[key]))
        demand(native["real_time_s"] > 0 and len(native["per_rank"]) == 4, "no times", str(native))
        demand([row for row in rows if row.startswith("pair,")] == [f"pair,,{a},{b},{n},{size}," for a, b, n, size in
                                                                    virtual["pairs"]["rows"]], "other pairs", *rows)

    # ---- faults ----

    def ended(self, words, status, last):
        """A program that ends early: the trace contains what it has done."""
        with harness.fresh_folder() as folder:
            done = self.record(folder, 2, self.program("bad/record_ends.c"), *words)
            if words != ["kill"]:
                demand(done.status == status, f"exit status {done.status}", done.stderr)
            demand("records in" in done.stderr, "no note", done.stderr)
            calls = self.calls(folder, "n.orr")
        # The launcher kills the others when one has ended like this.
        ends = [lines[-1] for lines in calls.values()]
        demand(any(last in end for end in ends), f"no rank ends with {last}", *ends)

    def elsewhere(self):
        """Parts in another directory."""
        with harness.fresh_folder() as folder, harness.fresh_folder() as other:
            done = self.record(folder, 2, "--dir", other, self.program("bad/record_ends.c"), "look")
            demand(done.status == 0 and done.stdout == "2 parts\n", f"{done.status} {done.stdout}", done.stderr)
            self.verify(folder)
            demand(os.listdir(folder) == ["n.orr"] and not os.listdir(other), "something is left")

    def interrupted(self):
        """A signal to the command ends the program; the trace contains what it has done."""
        with harness.fresh_folder() as folder, harness.GROUPS.start(
                [self.orrery, "record", "-n", "2", "-o", "n.orr", self.program("bad/record_ends.c"), "stay"],
                cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            harness.wait_until((pathlib.Path(folder) / "ready").exists, "the program is there")
            process.send_signal(signal.SIGTERM)
            error = process.communicate(timeout=harness.LIMIT)[1].decode()
            demand(process.returncode == 128 + signal.SIGTERM, f"exit status {process.returncode}", error)
            demand("records in" in error, "no note", error)
            self.verify(folder)
            demand("MPI_Barrier" in self.calls(folder, "n.orr")[0][2], "not all that was written")

    def full(self, what, status, message, *words):
        """A disk that is full, in the end (if there are words) or before: what was written is whole."""
        with harness.fresh_folder() as folder:
            done = self.record(folder, 1, "--on-full", what, self.program("bad/record_full.c"), *words)
            demand(done.status == status, f"exit status {done.status}", done.stderr)
            demand(("done" in done.stdout) == (what == "continue" or bool(words)), "not as asked", done.stdout)
            demand(re.search(message, done.stderr), "no message", done.stderr)
            self.verify(folder)
            demand("MPI_Init" in self.calls(folder, "n.orr")[0][0], "nothing is left")

    def threads(self):
        """Each thread has a stream of its own."""
        with harness.fresh_folder() as folder:
            done = self.record(folder, 1, "-q", self.program("bad/record_threads.c"))
            demand(done.status == 0, f"exit status {done.status}", done.stderr)
            self.verify(folder)
            lines = self.calls(folder, "n.orr")[0]
        tags = [found[1] for found in (re.search(r"MPI_Send.*tag=(\d)", line) for line in lines) if found]
        demand(tags == ["1"] * 50 + ["2"] * 50 + ["3"] * 50 or len(set(tags[i * 50] for i in range(3))) == 3
               and all(len(set(tags[i * 50:i * 50 + 50])) == 1 for i in range(3)), f"not by threads: {tags}")

    def threads_together(self):
        """Threads that call MPI at the same time: all calls of each are there, and the trace can be replayed."""
        binary = self.build / "multiple"
        harness.build(TESTS / "hybrid" / "multiple.c", binary, ["-w", "-pthread"])
        with harness.fresh_folder() as folder:
            done = self.record(folder, 2, "-q", binary)
            demand(done.status == 0, f"exit status {done.status}", done.stderr)
            self.verify(folder)
            calls = self.calls(folder, "n.orr")
            replayed = harness.call([self.orrery, "replay", "-q", "n.orr"], cwd=folder)
        for rank in range(2):
            for call in ("MPI_Send", "MPI_Recv"):
                tags = re.findall(rf"{call}\(.*?tag=(\d)", "\n".join(calls[rank]))
                demand(sorted(tags) == sorted("012" * 20), f"{call} of rank {rank}: {tags}")
                demand(all(len(set(tags[i:i + 20])) == 1 for i in (0, 20, 40)), f"not by threads: {tags}")
        demand(replayed.status == 0, f"exit status {replayed.status} of the replay", replayed.stderr)

    def sessions(self):
        """Communicators of sessions have their members, and the trace can be replayed."""
        with harness.fresh_folder() as folder:
            done = self.record(folder, 3, "-q", self.program("env_session.c"))
            demand(done.status == 0, f"exit status {done.status}", done.stderr)
            self.verify(folder)
            objects = harness.call([self.orrery, "trace", "print", "--objects", "n.orr"], cwd=folder).stdout
            replayed = harness.call([self.orrery, "replay", "-q", "n.orr"], cwd=folder)
        for rank in range(3):
            demand(f"[{rank}] comm 2: rank {rank} of 3: 0, 1, 2\n" in objects, f"members at rank {rank}", objects)
        demand(replayed.status == 0, f"exit status {replayed.status} of the replay", replayed.stderr)

    def spawned(self):
        """The trace contains simulated ranks that were spawned."""
        with harness.fresh_folder() as folder:
            calls = self.simulate(folder, self.program("bad/record_spawn.c"))
        demand(sorted(calls) == [0, 1, 2, 3], f"ranks {sorted(calls)}")
        demand("source=0, tag=7, comm=comm 2) -> status={source 2, tag 7, 4 B}" in "\n".join(calls[0]),
               "the child's rank", *calls[0])

    def spawned_natively(self):
        """An MPI that can spawn has all ranks in the trace; of one that cannot all that came before is there, and a hint."""
        with harness.fresh_folder() as folder:
            done = self.record(folder, 2, self.program("bad/record_spawn.c"))
            self.verify(folder)
            calls = self.calls(folder, "n.orr")
        if done.status == 0:
            demand(sorted(calls) == [0, 1, 2, 3], f"ranks {sorted(calls)}")
            return
        demand("MPI_Comm_spawn), which not every MPI can do" in done.stderr, "no hint", done.stderr)
        # The first rank to spawn ends the job: the other one may not have got that far.
        demand(any(lines[-1].startswith("MPI_Comm_rank(") for lines in calls.values()), "what came before", str(calls))

    def clocks(self):
        """Rank 1 has its own clock: its time namespace is 5000 s ahead."""
        apart = ["unshare", "-T", "--monotonic", "5000"]
        if not shutil.which("unshare") or harness.call([*apart, "true"]).status:
            return  # not allowed here
        with harness.fresh_folder() as folder:
            script = pathlib.Path(folder) / "start"
            harness.write_script(script, f'#!/bin/sh\n[ "$PMI_RANK" = 1 ] && exec {" ".join(apart)} "$@"\nexec "$@"\n')
            done = self.record(folder, 2, "-q", script, self.program("bad/record_clocks.c"))
            demand(done.status == 0, f"exit status {done.status}", done.stderr)
            self.verify(folder)
            info = harness.call([self.orrery, "trace", "info", "n.orr"], cwd=folder)
            found = re.search(r"clocks +2, compared to within ([0-9.]+) (\w+)", info.stdout)
            demand(found, "clocks", info.stdout)
            error = float(found[1]) * PICOSECONDS[found[2]] * 1.01  # it is rounded
            done = harness.call([self.orrery, "trace", "print", "--exact", "n.orr"], cwd=folder)
        spans = {0: [], 1: []}
        for rank, enter, time in re.findall(r"\[(\d)\] (\d+) \+ (\d+): MPI_Barrier", done.stdout):
            spans[int(rank)].append((int(enter), int(enter) + int(time)))
        demand(len(spans[0]) == len(spans[1]) == 20, "not all barriers", done.stdout)
        for one, other in zip(spans[0], spans[1]):  # no rank leaves a barrier before all have entered it
            demand(one[0] <= other[1] + error and other[0] <= one[1] + error, f"{one} and {other}, {error}")

    def no_mpi(self, words, message):
        with harness.fresh_folder() as folder:
            done = self.record(folder, 2, *words)
            demand(done.status == 2, f"exit status {done.status}", done.stderr)
            demand(re.search(message, done.stderr), f"no message: {message}", done.stderr)
            demand(not os.listdir(folder), f"what is left: {os.listdir(folder)}")


def add_all(tests):
    cases = [(f"same {name}", tests.same, name) for name in SAME]
    cases += [
        ("sites of calls, and functions", tests.sites),
        ("what was received", tests.received),
        ("sites of calls in Fortran", tests.same, "f08_use_mpi.f90", ["--call-sites"]),
        ("faults MPI_Abort", tests.ended, ["abort"], 5, "unfinished call"),
        ("faults killed", tests.ended, ["kill"], 0, "MPI_Comm_rank"),
        ("faults _exit", tests.ended, ["leave"], 0, "MPI_Barrier"),
        ("faults no MPI_Finalize", tests.ended, ["exit"], 0, "MPI_Barrier"),
        ("faults interrupted", tests.interrupted),
        ("faults full disk, continue", tests.full, "continue", 0, r"File too large: 10000\d records are lost"),
        ("faults full disk, stop", tests.full, "stop", 1, "ending the program, as --on-full stop requests"),
        ("faults full disk at the end, continue", tests.full, "continue", 0,
         r"File too large: \d+ records are lost", "end"),
        ("faults full disk at the end, stop", tests.full, "stop", 1,
         "ends with status 1, as --on-full stop requests", "end"),
        ("profile of messages", tests.profile, "p2p_modes.c"),
        ("profile of RMA", tests.profile, "rma_random.c"),
        ("stats", tests.stats, "p2p_modes.c"),
        ("directory of parts", tests.elsewhere),
        ("threads", tests.threads),
        ("threads at the same time", tests.threads_together),
        ("sessions", tests.sessions),
        ("spawned ranks", tests.spawned),
        ("spawned ranks natively", tests.spawned_natively),
        ("clocks", tests.clocks),
        ("faults no MPI program", tests.no_mpi, ["true"], "no process of 'true' has called MPI_Init"),
        ("faults no launcher", tests.no_mpi, ["--launcher", "./nowhere", "true"], "cannot start './nowhere'"),
        ("faults no program", tests.no_mpi, [], "no program given"),
    ]
    return cases


def main():
    options = harness.options_parser(__doc__, "build/record-tests").parse_args()
    options.build_dir.mkdir(parents=True, exist_ok=True)
    tests = Tests(pathlib.Path(options.orrery).resolve(), options.build_dir.resolve())
    tap = harness.Tap()
    tap.run_chosen(add_all(tests), options)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
