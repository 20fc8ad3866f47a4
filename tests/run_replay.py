#!/usr/bin/env python3
"""Tests of `orrery replay` of a trace as it is, and prints TAP. What changes it: run_what_if.py.

  identity   every program of tests/mpi, recorded in the simulator and replayed on the same machine: the new
             trace is the old one, to the picosecond; also on two processes, and with models with contention
  truncated  so are messages that do not fit into their buffers (tests/replay/orders.c)
  unfinished so is a program that ends without MPI_Finalize
  spawns     ranks that come later
  threads    threads of a rank go on while others wait
  native     a program recorded on the real MPI replays in the simulator and in real time
  hybrid     so does one whose network was simulated beside it
  formats    traces of other tools replay
  memory     a trace ten times as long takes no more memory
  usage      wrong usage and traces that cannot be replayed are named
"""

import os
import pathlib
import re

import harness
import run_mpi
from harness import ROOT, TESTS, demand

PROGRAMS = ("tests/replay/changed.c", "tests/replay/orders.c", "tests/replay/spawns.c", "tests/replay/threads.c",
            "tests/replay/unfinished.c", "tests/hybrid/exchange.c", "examples/what-if/arrivals.c", "bench/halo2d.c")
# Programs whose replay is not the same, and why.
NOT_SAME = {
    "env_attr.c": "communicates in a callback", "env_attr_f08.f90": "communicates in a callback",
    "env_attr_f77.f": "communicates in a callback", "env_attr_f90.f90": "communicates in a callback",
    "env_cxx.cpp": "communicates in a callback", "env_errhandler.c": "an error handler hides errors",
    "err_lengths.c": "collectives whose lengths differ", "proc_noise.c": "needs measured computing",
}
WINDOW_RANKS = 16


class Replay:
    def __init__(self, options, programs):
        self.orrery = str(pathlib.Path(options.orrery).resolve())
        self.folder = options.build_dir.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        harness.build_all([ROOT / name for name in programs], self.folder,
                          ["-O1", "-w", "-pthread", f"-I{ROOT / 'include'}"])

    def call(self, *words, status=0):
        done = harness.call([self.orrery, *map(str, words)])
        demand(done.status == status, f"{' '.join(map(str, words))}: exit status {done.status} instead of {status}",
               done.stderr, done.stdout)
        return done

    def record(self, trace, ranks, *program, options=()):
        self.call("run", "-q", "-n", ranks, "--compute", "none", *options, "--trace", trace, *program)

    def text(self, trace, exact=True):
        return self.call("trace", "print", *(["--exact"] if exact else []), trace).stdout

    def times(self, trace):
        """Every record without its arguments: they differ where requests were remapped."""
        return re.sub(r"(MPI_\w+)\(.*", r"\1", self.text(trace))

    def runtime(self, trace):
        found = re.search(r'"runtime": ([0-9.e+-]+)', self.call("analyze", "--format", "json", trace).stdout)
        demand(found, "no run time in the analysis")
        return float(found[1])

    def refuses(self, folder, wrong):
        """Wrong usage, each with what is said of it; nothing is left behind."""
        for words, text in wrong:
            done = self.call("replay", *words, *([] if "-o" in words else ["-o", os.path.join(folder, "new.orr")]), status=2)
            demand(text in done.stderr, f"{words}: no word of '{text}'", done.stderr)
            demand("MPI_Abort" not in done.stderr, f"{words}: more than the reason", done.stderr)
            left = [name for name in os.listdir(folder) if ".part-" in name]
            demand(not left, f"{words}: left behind: {left}")


def demand_equal(what, first, again):
    demand(first == again, what, harness.difference("records", first, again) if first != again else "")


def identity(replay, program):
    harness.build(program.source, program.binary, [*run_mpi.WARNINGS[program.source.suffix], *program.flags])
    with harness.fresh_folder() as folder:
        work, old, new = (os.path.join(folder, name) for name in ("work", "old.orr", "new.orr"))
        os.mkdir(work)
        args = [arg.replace("{tmp}", work) for arg in program.args]
        replay.record(old, program.native, program.binary, *args,
                      options=["--host", "fibre", *program.options])
        replay.call("replay", "-q", old, "-o", new)
        demand_equal("the replay differs", replay.text(old), replay.text(new))


def machines(replay):
    """Other machines, and several processes."""
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        for options in (["--platform", "torus-3d"], ["--set", "net.model=flow"],
                        ["--set", "net.model=loggops,net.gap=1us"], ["--set", "net.model=packet"], ["--collectives", "model"]):
            replay.record(old, 12, replay.folder / "changed", 5, options=options)
            extra = options if options[0] == "--collectives" else []
            replay.call("replay", "-q", *extra, old, "-o", new)
            demand_equal(f"the replay differs: {options}", replay.text(old), replay.text(new))
        replay.record(old, 12, replay.folder / "changed", 5)
        replay.call("replay", "-q", "--procs", 2, old, "-o", new)
        demand_equal("the replay on 2 processes differs", replay.text(old), replay.text(new))


def unfinished(replay):
    """A program that ends without MPI_Finalize, as do ranks of one that was killed."""
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        replay.call("run", "-q", "-n", 3, "--compute", "none", "--trace", old, replay.folder / "unfinished", status=1)
        told = replay.call("replay", old, "-o", new).stderr
        demand("3 ranks end without MPI_Finalize" in told, "the replay does not say it", told)
        demand_equal("the replay differs", replay.text(old), replay.text(new))


def truncated(replay):
    """Messages that did not fit into their buffers are messages, too."""
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        replay.record(old, 3, replay.folder / "orders", "truncated")
        replay.call("replay", "-q", old, "-o", new)
        demand_equal("the replay differs", replay.text(old), replay.text(new))
        replay.call("record", "-q", "-n", 3, "-o", old, replay.folder / "orders", "truncated")
        replay.call("replay", "-q", "--real-time", "--busy", "sleep", old, "-o", new)
        demand(replay.text(new).count("failed with class 14") == 4, "the messages fit", replay.text(new))


def spawns(replay):
    """Ranks that come later are other replayers. Natively not every MPI can start some."""
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        replay.record(old, 2, replay.folder / "spawns")
        for options in ([], ["--procs", 2], ["-d"]):
            replay.call("replay", "-q", *options, old, "-o", new)
            demand_equal(f"the replay differs: {options}", replay.text(old), replay.text(new))
        replay.call("replay", "-q", "-w", "scale foo by 0 ranks 2-", "-w", "remove messages tag 1", old, "-o", new)
        text = replay.text(new)
        demand(text.count("MPI_Sendrecv") == 6 and text.count("MPI_Comm_spawn") == 3, "not the right calls", text)
        gone = (replay.runtime(old) - replay.runtime(new)) * 1e3
        demand(3.9 < gone < 4.1, f"children do not compute less: {gone} ms")


def threads(replay):
    """Threads of a rank: each goes on while others wait. With a lock of their own they may ask in another order, so
    calls are compared, not their times."""
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        calls = lambda trace: sorted(re.findall(r"^\[\d+\].*?: (MPI_\w+)", replay.text(trace), re.M))
        for words in ([], ["probe"]):
            replay.record(old, 3, replay.folder / "threads", *words)
            for options in ([], ["-d"], ["--procs", 2]):
                replay.call("replay", "-q", *options, old, "-o", new)
                demand(calls(old) == calls(new), f"other calls: {words} {options}")
                demand("good" in replay.call("trace", "verify", new).stdout, "the new trace is not good")
                ratio = replay.runtime(new) / replay.runtime(old)
                demand(0.9 < ratio < 1.1, f"{words} {options}: {ratio} times as long")
            replay.call("replay", "-q", "-w", "speed by 2", old, "-o", new)
            ratio = replay.runtime(new) / replay.runtime(old)
            demand(0.4 < ratio < 0.8, f"computing twice as fast: {ratio} times as long")
            replay.call("record", "-q", "-n", 3, "-o", old, replay.folder / "threads", *words)
            for how in ([], ["--real-time", "--busy", "sleep"]):
                replay.call("replay", "-q", *how, old, "-o", new)
                demand(calls(old) == calls(new), f"other calls: {words} {how}")


def threads_program(replay, program):
    """The programs of tests/mpi with threads; what they do depends on the order of these."""
    harness.build(program.source, program.binary, [*run_mpi.WARNINGS[program.source.suffix], *program.flags])
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        replay.record(old, program.native, program.binary, *program.args, options=["--host", "process", *program.options])
        replay.call("replay", "-q", old, "-o", new)
        count = lambda trace: len(re.findall(r": MPI_", replay.text(trace)))
        demand(count(old) == count(new), "calls are missing")
        other, back = os.path.join(folder, "other.meta"), os.path.join(folder, "back.orr")
        replay.call("trace", "convert", old, other)
        told = replay.call("trace", "convert", other, back).stderr
        demand("not started" not in told and "not known" not in told, "DUMPI's records are in another order", told)
        demand("good" in replay.call("trace", "verify", back).stdout, "the trace of DUMPI is not good")
        replay.call("replay", "-q", back, "-o", new)
        demand(count(back) == count(new), "calls of DUMPI's trace are missing")


def native(replay):
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        replay.call("record", "-q", "-n", 2, "-o", old, replay.folder / "arrivals", 2)
        calls = lambda trace: sorted(re.findall(r"^\[\d+\].*?: (MPI_\w+)", replay.text(trace), re.M))
        stats, found = os.path.join(folder, "stats.csv"), []
        for how in ([], ["--real-time", "--busy", "sleep"]):
            replay.call("replay", "-q", *how, "--stats", stats, old, "-o", new)
            demand(calls(old) == calls(new), f"other calls {how}")
            found.append(re.findall(r"^(?:function,MPI_(?:Irecv|Ssend|Waitany).*,|messages,point_to_point.*)(?=,|$)", pathlib.Path(stats).read_text(), re.M))
        demand(len(found[0]) == 4 and found[0] == found[1], "other statistics in real time", str(found))


def hybrid(replay):
    """A trace of `orrery hybrid` is one in virtual time, as that of a simulated run. Which of two messages that arrive at
    the same time is received first depends on the real run, so the recorded order is kept. And messages that wait for each
    other may have entered the network late."""
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        for options in (["--set", "net.model=constant"], ["--set", "net.model=hops,net.topology.kind=torus"]):
            replay.call("hybrid", "-q", "-n", 4, "--compute", "none", *options, "--trace", old, replay.folder / "exchange")
            replay.call("replay", "-q", "-d", old, "-o", new)
            demand_equal(f"the replay differs: {options}", replay.text(old), replay.text(new))


def formats(replay):
    """What other formats can say of a program, replays."""
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        replay.record(old, 4, replay.folder / "arrivals")
        for name in ("x.otf2", "x.meta", "x.ti", "x.goal"):
            other = os.path.join(folder, name)
            replay.call("trace", "convert", old, other)
            replay.call("replay", "-q", other, "-o", new)
            ratio = replay.runtime(new) / replay.runtime(old)
            demand(0.9 < ratio < 1.1, f"{name}: {ratio} times as long")


def peak(replay, trace, output):
    """MiB of the replayer, which the command starts in this way."""
    program = pathlib.Path(replay.orrery).parent / "orrery-replay-mpi"
    text = replay.call("run", "-n", WINDOW_RANKS, "--compute", "none", "--host", "fibre", program, trace, "--output",
                       output).stderr
    found = re.search(r"peak memory +([0-9.]+) MiB", text)
    demand(found, "no peak memory in the summary", text)
    return float(found[1])


def memory(replay):
    """Memory is that of the windows on the trace, whatever its length: ten times the records are 18 MiB more."""
    with harness.fresh_folder() as folder:
        peaks = []
        for steps in (1000, 10000):
            trace = os.path.join(folder, "old.orr")
            replay.record(trace, WINDOW_RANKS, replay.folder / "halo2d", steps)
            peaks.append(peak(replay, trace, os.path.join(folder, "new.orr")))
        demand(peaks[1] < peaks[0] + 6, f"{peaks[0]} MiB, and {peaks[1]} MiB for ten times the records")


def usage(replay):
    with harness.fresh_folder() as folder:
        old, profile = os.path.join(folder, "old.orr"), os.path.join(folder, "profile.orr")
        replay.record(old, 2, replay.folder / "changed", 1)
        replay.record(profile, 2, replay.folder / "changed", 1, options=["--profile-only"])
        replay.refuses(folder, (
                ([], "no trace given"), (["/nowhere.orr"], "/nowhere.orr"), ([old, old], "one trace at a time"),
                ([profile], "no calls to replay"), ([old, "-o", "/nowhere/x.orr"], "/nowhere"),
                ([old, "--busy", "x"], "spin, sleep"), ([old, "-p", "nowhere"], "nowhere")))


def cases(replay):
    yield "usage", usage, replay
    yield "memory", memory, replay
    yield "truncated", truncated, replay
    yield "unfinished", unfinished, replay
    yield "spawns", spawns, replay
    yield "threads", threads, replay
    yield "machines", machines, replay
    yield "native", native, replay
    yield "hybrid", hybrid, replay
    yield "formats", formats, replay
    for program in run_mpi.find_programs([TESTS / "mpi"], replay.folder, None):
        if program.host == "threads" and "thread" in program.name and "-pthread" in program.flags:
            yield f"threads {program.name}", threads_program, replay, program
        if program.name not in NOT_SAME and program.host not in ("process", "threads"):
            yield f"identity {program.name}", identity, replay, program


def run(doc, folder, programs, cases):
    """The main function of the runners of replays."""
    options = harness.options_parser(doc, folder).parse_args()
    tap = harness.Tap()
    tap.run_chosen(cases(Replay(options, programs)), options)
    return tap.end()


def main():
    return run(__doc__, "build/replay-tests", PROGRAMS, cases)


if __name__ == "__main__":
    harness.main(main)
