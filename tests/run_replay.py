#!/usr/bin/env python3
"""Tests of `orrery replay`, and prints TAP.

  identity   every program of tests/mpi, recorded in the simulator and replayed on the same machine: the new
             trace is the old one, to the picosecond; also on two processes, and with models with contention
  what-if    random programs that can change themselves (tests/replay/changed.c): what a hypothesis predicts
             from the trace of the original is what the changed program does
  order      a master that takes what comes first: with a region balanced, messages come in another order
  deadlock, wild, tests, truncated
             programs whose calls depend on the order of messages (tests/replay/orders.c)
  sweep      a family of hypotheses: each point is what the replay alone gives
  native     a program recorded on the real MPI replays in the simulator and in real time
  hybrid     so does one whose network was simulated beside it
  formats    traces of other tools replay
  memory     a trace ten times as long takes no more memory
  usage      wrong usage and traces that cannot be replayed are named
"""

import os
import pathlib
import re
import shlex

import harness
import run_mpi
from harness import ROOT, TESTS, demand

# Programs whose replay is not the same, and why.
NOT_SAME = {
    "env_attr.c": "communicates in a callback", "env_attr_f08.f90": "communicates in a callback",
    "env_attr_f77.f": "communicates in a callback", "env_attr_f90.f90": "communicates in a callback",
    "env_cxx.cpp": "communicates in a callback", "env_errhandler.c": "an error handler hides errors",
    "err_lengths.c": "collectives whose lengths differ", "proc_noise.c": "needs measured computing",
}
CHANGES = {
    "scale": "scale foo by 0.5 ranks 0-2",
    "set": "set foo to 250us visits 1-",
    "balance": "balance foo",
    "speed": "speed by 2 ranks 1,3,5,7",
    "remove": "remove messages tag 7",
    "resize": "resize messages tag 7 to 1000",
    "insert": "insert message from 0 to 1 size 50000 before bar",
    "nobarrier": "remove collective MPI_Barrier",
    "nonblocking": "nonblocking MPI_Allreduce",
    "until": "nonblocking MPI_Allreduce until bar",
    "replace": "replace collective MPI_Allreduce with MPI_Bcast",
}
SEEDS = 3
WINDOW_RANKS = 16
# A message that is sent and never received.
ONE_END = "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 3\n}\nrank 1 {\nl1: calc 100\n}\n"


class Replay:
    def __init__(self, options):
        self.options = options
        self.orrery = str(pathlib.Path(options.orrery).resolve())
        self.folder = options.build_dir.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        flags = ["-O1", "-w", "-pthread", f"-I{ROOT / 'include'}"]
        harness.build_all([TESTS / "replay/changed.c", TESTS / "replay/orders.c", TESTS / "replay/spawns.c",
                           TESTS / "replay/threads.c", TESTS / "hybrid/exchange.c",
                           ROOT / "examples/what-if/arrivals.c", ROOT / "bench/halo2d.c"], self.folder, flags)

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


def what_if(replay, change, seed):
    with harness.fresh_folder() as folder:
        old, new, meant = (os.path.join(folder, name) for name in ("old.orr", "new.orr", "meant.orr"))
        ranks = 4 + seed
        replay.record(old, ranks, replay.folder / "changed", seed)
        replay.record(meant, ranks, replay.folder / "changed", seed, change)
        replay.call("replay", "-q", "-w", CHANGES[change], old, "-o", new)
        demand(replay.times(old) != replay.times(meant), "the change changes nothing")
        demand_equal(f"not what '{CHANGES[change]}' does in the program", replay.times(meant), replay.times(new))
        demand("good" in replay.call("trace", "verify", new).stdout, "the new trace is not good")


def network(replay, seed):
    """Another machine: the replay on it is what the program does there."""
    with harness.fresh_folder() as folder:
        old, new, meant = (os.path.join(folder, name) for name in ("old.orr", "new.orr", "meant.orr"))
        ranks = 4 + seed
        replay.record(old, ranks, replay.folder / "changed", seed)
        for machine in (["--platform", "infiniband-hdr"], ["--platform", "torus-3d"],
                        ["--set", "net.model=packet,net.latency=2us,net.bandwidth=10Gbps"]):
            replay.record(meant, ranks, replay.folder / "changed", seed, options=machine)
            replay.call("replay", "-q", *machine, old, "-o", new)
            demand(replay.times(old) != replay.times(meant), f"{machine} changes nothing")
            demand_equal(f"not what the program does on {machine}", replay.times(meant), replay.times(new))


def together(replay):
    """Several, in order, from a file."""
    with harness.fresh_folder() as folder:
        old, new, meant = (os.path.join(folder, name) for name in ("old.orr", "new.orr", "meant.orr"))
        what = os.path.join(folder, "what.yaml")
        pathlib.Path(what).write_text("what-if:\n- scale: foo\n  by: 50%\n  ranks: 0-2\n- remove messages tag 7\n"
                                      "- remove collective: MPI_Barrier\n")
        replay.record(old, 5, replay.folder / "changed", 2)
        replay.record(meant, 5, replay.folder / "changed", 2, "scale", "remove", "nobarrier")
        replay.call("replay", "-q", "-w", what, old, "-o", new)
        demand_equal("not what the program does", replay.times(meant), replay.times(new))
        # a message that was resized has its new size for what follows, at both ends; so has one that is new
        replay.record(meant, 5, replay.folder / "changed", 2, "remove")
        replay.call("replay", "-q", "-w", "insert message from 0 to 1 size 50000 before bar", "-w",
                    "resize messages tag 7 to 123", "-w", "remove messages size 123,50000", old, "-o", new)
        demand_equal("not what the program does", replay.times(meant), replay.times(new))
        replay.call("replay", "-q", "-w", "nonblocking MPI_Recv", "-w", "remove messages tag 7", old, "-o", new,
                    status=2)


def nodes(replay):
    """What is computed on a node, and on which node a rank is."""
    with harness.fresh_folder() as folder:
        old, new, meant = (os.path.join(folder, name) for name in ("old.orr", "new.orr", "meant.orr"))
        machine = ["--set", "nodes.ranks=2,net.latency=70us"]
        replay.record(old, 6, replay.folder / "changed", 3, options=machine)
        replay.call("replay", "-q", "-w", "speed by 2 nodes 1", old, "-o", new)
        replay.call("replay", "-q", "-w", "speed by 2 ranks 2,3", old, "-o", meant)
        demand(replay.times(new) != replay.times(old), "nothing is faster")
        demand_equal("not the ranks of the node", replay.times(meant), replay.times(new))
        # ranks elsewhere: the rest of the machine stays that of the recording
        cyclic = ["--set", "nodes.placement=cyclic"]
        replay.record(meant, 6, replay.folder / "changed", 3, options=[*machine, *cyclic])
        replay.call("replay", "-q", *cyclic, old, "-o", new)
        demand(replay.times(new) != replay.times(old), "ranks have not moved")
        demand_equal("not what ranks do there", replay.times(meant), replay.times(new))
        table = os.path.join(folder, "table.csv")
        replay.call("sweep", "-q", "--set", "net.latency=70us,500us", "-o", table, "replay", old)
        times = pathlib.Path(table).read_text().splitlines()
        demand(len(times) == 3 and f"{replay.runtime(old):.6g}"[:7] in times[1], "another machine", "\n".join(times))


def order(replay):
    with harness.fresh_folder() as folder:
        old, new, meant, strict = (os.path.join(folder, f"{name}.orr") for name in ("old", "new", "meant", "strict"))
        replay.record(old, 5, replay.folder / "arrivals")
        replay.record(meant, 5, replay.folder / "arrivals", "balanced")
        done = replay.call("replay", "-w", "balance foo", old, "-o", new)
        demand_equal("not what the balanced program does", replay.times(meant), replay.times(new))
        demand(re.search(r"otherwise than recorded: [1-9]\d* remapped", done.stderr), "no word of remapping", done.stderr)
        replay.call("replay", "-q", "-d", "-w", "balance foo", old, "-o", strict)
        demand(replay.runtime(strict) > 1.05 * replay.runtime(new), "the recorded order does not take longer")
        replay.call("replay", "-q", "-d", old, "-o", strict)
        demand_equal("a deterministic identity differs", replay.times(old), replay.times(strict))


def deadlock(replay):
    """Rank 0 answers whoever asks first. If that is another one than in the recording, the answer goes to a rank that
    waits to ask: nobody goes on, unless the recorded order is kept."""
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        change = ["-w", "scale foo by 5 ranks 1"]
        replay.record(old, 3, replay.folder / "orders", "answers")
        done = replay.call("replay", *change, old, "-o", new, status=1)
        for text in ("deadlock: no rank can continue", "rank 0 at", "MPI_Ssend waits to send to rank 1",
                     "came in another order than in the recording", "--deterministic keeps the recorded order"):
            demand(text in done.stderr, f"no word of '{text}'", done.stderr)
        replay.call("replay", "-q", "-d", *change, old, "-o", new)
        # in real time nobody can know that no message is on its way: all ranks wait for long
        real = ["--real-time", "--busy", "sleep"]
        slow = ["-w", "scale foo by 500 ranks 1"]
        done = replay.call("replay", *real, "--idle-limit", "2s", *slow, old, "-o", new, status=1)
        for text in ("deadlock: all ranks have waited in MPI for 2 s", "rank 0 at", "waits in MPI_Ssend, dest 1, tag 1",
                     "--deterministic keeps the recorded order"):
            demand(text in done.stderr, f"no word of '{text}'", done.stderr)
        demand(sorted(os.listdir(folder)) == ["new.orr", "old.orr"], f"left behind: {os.listdir(folder)}")
        replay.call("replay", "-q", *real, "-d", *slow, old, "-o", new)
        # a deadlock that has nothing to do with that comes without the advice
        one_end = os.path.join(folder, "one-end.goal")
        pathlib.Path(one_end).write_text(ONE_END.replace("send 8b to 1 tag 3", "recv 8b from 1 tag 3"))
        done = replay.call("replay", one_end, "-o", new, status=1)
        demand("deadlock" in done.stderr and "--deterministic" not in done.stderr, "the wrong advice", done.stderr)


def received(replay, trace):
    """What rank 0 received from whom, in order."""
    return re.findall(r"^\[0\].*?(MPI_\w+)\(.*?-> (?:status|array_of_statuses)=(.*)", replay.text(trace), re.M)


def wild(replay):
    """Receives and probes from anyone get what comes first, or what they had got."""
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        change = ["-w", "scale foo by 5 ranks 1"]
        replay.record(old, 3, replay.folder / "orders", "wild")
        done = replay.call("replay", *change, old, "-o", new)
        demand("6 remapped" in done.stderr, "not all messages change places", done.stderr)
        demand([call for call, _ in received(replay, new)] == [call for call, _ in received(replay, old)], "other calls")
        demand("-> status={source 2, tag 0" in replay.text(new).split("MPI_Recv")[1], "not the first message")
        replay.call("replay", "-q", "-d", *change, old, "-o", new)
        demand(received(replay, new) == received(replay, old), "another order", received(replay, new))
        # any order of more than two
        replay.record(old, 6, replay.folder / "orders", "wild")
        for change in ("scale foo by 0", "set foo to 3ms", "scale foo by 5 ranks 1", "scale foo by 0.1 ranks 3-5"):
            replay.call("replay", "-q", "-w", change, old, "-o", new)
            sources = [re.findall(r"source (\d)", status) for _, status in received(replay, new)]
            probes, receives = sources[-10::2], sources[-9::2]
            demand(probes == receives and sorted(receives) == sorted(sources[:5]), "not what the probes found", sources)
        change = ["-w", "scale foo by 5 ranks 1"]
        # each start of a persistent receive is one of its own
        replay.record(old, 3, replay.folder / "orders", "persistent", options=["--set", "mpi.request_cost=1us"])
        done = replay.call("replay", *change, old, "-o", new)
        demand("8 remapped" in done.stderr, "not all messages change places", done.stderr)
        replay.call("replay", "-q", "-d", *change, old, "-o", new)
        demand(received(replay, new) == received(replay, old), "another order", received(replay, new))
        replay.call("replay", "-q", "-d", old, "-o", new)
        demand_equal("a deterministic identity differs", replay.text(old), replay.text(new))


def tests_again(replay):
    """A test that had failed succeeds earlier, and those after it go; one that had succeeded becomes a wait."""
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        tests = lambda trace: re.findall(r"^\[0\].*?MPI_Test\(.*?flag=(\d)", replay.text(trace), re.M)
        replay.record(old, 2, replay.folder / "orders", "polls")
        demand(tests(old) == ["0"] * 10 + ["1"], "the program does not test as expected", tests(old))
        done = replay.call("replay", "-w", "scale foo by 0.5", old, "-o", new)
        demand(tests(new) == ["0"] * 5 + ["1"], "the rest of the tests is not left out", tests(new))
        demand("1 moved forward, 0 forced, 5 calls left out" in done.stderr, "not counted", done.stderr)
        done = replay.call("replay", "-w", "scale foo by 3", old, "-o", new)
        demand(tests(new) == ["0"] * 10 + ["1"], "the last test does not wait", tests(new))
        demand("0 moved forward, 1 forced, 0 calls left out" in done.stderr, "not counted", done.stderr)
        replay.call("replay", "-q", "-d", "-w", "scale foo by 0.5", old, "-o", new)
        demand(tests(new) == tests(old), "not as recorded", tests(new))


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
        demand(gone > 4, f"children do not compute less: {gone} ms")


def compare(replay):
    """The answer: what the original took and the replay takes, of all ranks, by wait state and by region."""
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        replay.record(old, 5, replay.folder / "arrivals")
        done = replay.call("replay", "-q", "--compare", "-w", "scale foo by 0.5", "-w",
                           "insert message from 1 to 2 size 8 before bar", old, "-o", new)
        rows = dict(re.findall(r"^ *(\S.*?)  +\S+ \S+  +\S+ \S+  +(\S+ %|new)$", done.stdout, re.M))
        demand(rows.get("foo, computing") == "-50.00 %" and rows.get("bar, computing") == "+0.00 %",
               "not the right regions", done.stdout)
        for row in ("total time", "point-to-point", "collective", "late-sender", "wait-at-barrier", "computing", "in MPI",
                    "foo, critical path", "outside regions, in MPI"):
            demand(row in rows, f"no row '{row}'", done.stdout)


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


def repair(replay):
    """Of a message with one end nothing changes, if asked; the others do."""
    with harness.fresh_folder() as folder:
        trace, new = os.path.join(folder, "ends.goal"), os.path.join(folder, "new.orr")
        pathlib.Path(trace).write_text(
            "num_ranks 3\nrank 0 {\nl1: send 8b to 1 tag 3\nl2: send 8b to 2 tag 3\n}\n"
            "rank 1 {\nl1: calc 100\n}\nrank 2 {\nl1: recv 8b from 0 tag 3\n}\n")
        replay.call("replay", "-q", "-w", "remove messages", trace, "-o", new, status=2)
        replay.call("replay", "-q", "-w", "remove messages repair yes", trace, "-o", new)
        text = replay.text(new)
        demand("dest=1" in text and "dest=2" not in text and "source=0" not in text, "not the right ones", text)


def sweep(replay):
    with harness.fresh_folder() as folder:
        old, table = os.path.join(folder, "old.orr"), os.path.join(folder, "table.csv")
        replay.record(old, 5, replay.folder / "arrivals")
        replay.call("sweep", "-q", "-w", "nothing", "-w", "balance foo", "-w", "scale foo by 0.5 ranks 1,3", "-o",
                    table, "replay", old)
        times = pathlib.Path(table).read_text().splitlines()
        demand(len(times) == 4 and "balance foo" in times[2], "not three points", "\n".join(times))
        for change, line in (("nothing", times[1]), ("balance foo", times[2])):
            new = os.path.join(folder, "new.orr")
            replay.call("replay", "-q", *(["-w", change] if change != "nothing" else []), old, "-o", new)
            demand(f"{replay.runtime(new):.6g}"[:7] in line, f"another time: {change}", line)
        for words, text in ((["-w", "nothing", "run", "-n", "2", "x"], "about traces"), (["replay"], "no trace given"),
                            (["replay", "/nowhere.orr"], "/nowhere.orr"), (["replay", old, "--compare"], "one replay")):
            done = replay.call("sweep", *words, status=2)
            demand(text in done.stderr, f"{words}: no word of '{text}'", done.stderr)


def native(replay):
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        replay.call("record", "-q", "-n", 2, "-o", old, replay.folder / "arrivals", 2)
        calls = lambda trace: sorted(re.findall(r"^\[\d+\].*?: (MPI_\w+)", replay.text(trace), re.M))
        for how in ([], ["--real-time", "--busy", "sleep"]):
            replay.call("replay", "-q", *how, old, "-o", new)
            demand(calls(old) == calls(new), f"other calls {how}")


def hybrid(replay):
    """A trace of `orrery hybrid` is one in virtual time, as that of a simulated run. Which of two messages that arrive at
    the same time is received first depends on the real run, so the recorded order is kept."""
    with harness.fresh_folder() as folder:
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        for options in ([], ["--set", "net.model=loggops,net.gap=1us"]):
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
        old, new = os.path.join(folder, "old.orr"), os.path.join(folder, "new.orr")
        replay.record(old, 2, replay.folder / "changed", 1)
        profile = os.path.join(folder, "profile.orr")
        replay.record(profile, 2, replay.folder / "changed", 1, options=["--profile-only"])
        one_end = os.path.join(folder, "one-end.goal")
        pathlib.Path(one_end).write_text(ONE_END)
        for words, text in (
                ([], "no trace given"), (["/nowhere.orr"], "/nowhere.orr"), ([old, old], "one trace at a time"),
                ([profile], "no calls to replay"), ([old, "-o", "/nowhere/x.orr"], "/nowhere"),
                ([old, "-w", "frob x"], "expected one of: scale"), ([old, "-w", "scale foo"], "'by'"),
                ([old, "-w", "scale foo by x"], "'by'"), ([old, "-w", "scale"], "of what"),
                ([old, "-w", "speed by 0"], "above 0"), ([old, "-w", "scale foo by 2 frob 3"], "unknown word 'frob'"),
                ([old, "-w", "balance nowhere"], "no region 'nowhere', but 'foo', 'bar'"),
                ([old, "-w", "scale fooo by 2"], "no region 'fooo': did you mean 'foo'?"),
                ([old, "-w", "set foo to 2ms visits 99"], "nothing in the trace matches"),
                ([old, "-w", "scale foo by 2 ranks 2-"], "nothing in the trace matches"),
                ([old, "-w", "scale foo by 2 nodes 7"], "nothing in the trace matches"),
                ([old, "-w", "speed by 2 ranks 9"], "nothing in the trace matches"),
                ([old, "-w", "scale site x by 2"], "no call site 'x'"),
                ([old, "-w", "remove messages tag 77"], "nothing in the trace matches"),
                ([old, "-w", "resize messages size 1GB- to 5"], "nothing in the trace matches"),
                ([old, "-w", "remove messages", "-w", "remove messages"], "nothing in the trace matches"),
                ([old, "-w", "insert message from 0 to 1 size 5 before fop"], "did you mean 'foo'?"),
                ([old, "-w", "insert message from 0-1 to 1 size 5 before foo"], "one sender"),
                ([old, "-w", "remove collective MPI_Barier"], "did you mean 'MPI_Barrier'?"),
                ([old, "-w", "remove collective MPI_Alltoall"], "nothing in the trace matches"),
                ([old, "-w", "nonblocking MPI_Allreduce until fop"], "did you mean 'foo'?"),
                ([old, "-w", "nonblocking MPI_Allreduce ranks 0"], "all its ranks must call alike"),
                ([old, "-w", "nonblocking MPI_Finalize"], "no non-blocking form"),
                ([old, "-w", "remove collective MPI_Barrier ranks 0"], "unknown word 'ranks'"),
                ([old, "-w", "scale foo by 2 tag 7"], "unknown word 'tag'"),
                ([old, "-w", "replace collective MPI_Barrier with MPI_Send"], "not a blocking collective"),
                ([old, "-w", "replace collective MPI_Barrier with MPI_Init"], "not a collective"),
                ([one_end, "-w", "remove messages"], "more sends than receives"),
                ([old, "-w", "insert message from 0 to 1 size 5"], "expected: insert"),
                ([old, "-w", "nowhere.yaml"], "nowhere.yaml"), ([old, "--busy", "x"], "spin, sleep"),
                ([old, "-w", "replace collective MPI_Barrier with MPI_Frobnicate"], "no function 'MPI_Frobnicate'"),
                ([old, "-p", "nowhere"], "nowhere")):
            done = replay.call("replay", *words, *([] if "-o" in words else ["-o", new]), status=2)
            demand(text in done.stderr, f"{words}: no word of '{text}'", done.stderr)
            left = [name for name in os.listdir(folder) if ".part-" in name]
            demand(not left, f"{words}: left behind: {left}")


def cases(replay, options):
    yield "usage", usage, replay
    yield "order", order, replay
    yield "memory", memory, replay
    yield "nodes", nodes, replay
    yield "deadlock", deadlock, replay
    yield "wild", wild, replay
    yield "tests", tests_again, replay
    yield "truncated", truncated, replay
    yield "spawns", spawns, replay
    yield "compare", compare, replay
    yield "threads", threads, replay
    yield "machines", machines, replay
    yield "together", together, replay
    yield "sweep", sweep, replay
    yield "repair", repair, replay
    yield "native", native, replay
    yield "hybrid", hybrid, replay
    yield "formats", formats, replay
    for change in CHANGES:
        for seed in range(1, 1 + SEEDS):
            yield f"what-if {change}, seed {seed}", what_if, replay, change, seed
    for seed in range(1, 1 + SEEDS):
        yield f"what-if another machine, seed {seed}", network, replay, seed
    for program in run_mpi.find_programs([TESTS / "mpi"], replay.folder, None):
        if program.host == "threads" and "thread" in program.name and "-pthread" in program.flags:
            yield f"threads {program.name}", threads_program, replay, program
        if program.name not in NOT_SAME and program.host not in ("process", "threads"):
            yield f"identity {program.name}", identity, replay, program


def main():
    options = harness.options_parser(__doc__, "build/replay-tests").parse_args()
    replay = Replay(options)
    tap = harness.Tap()
    tap.run_cases([case for case in cases(replay, options) if re.search(options.filter, case[0])], options.jobs)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
