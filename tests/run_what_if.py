#!/usr/bin/env python3
"""Tests of `orrery replay --what-if`, and of replays on another machine, and prints TAP.

  what-if    random programs that can change themselves (tests/replay/changed.c): what a hypothesis predicts
             from the trace of the original is what the changed program does
  order      a master that takes what comes first: with a region balanced, messages come in another order
  deadlock, wild, tests
             programs whose calls depend on the order of messages (tests/replay/orders.c)
  compare    the original beside its replay
  sweep      a family of hypotheses: each point is what the replay alone gives
  usage      wrong hypotheses are named
"""

import os
import pathlib
import re

import harness
from harness import demand
from run_replay import demand_equal, run

PROGRAMS = ("tests/replay/changed.c", "tests/replay/orders.c", "examples/what-if/arrivals.c")
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
    "reduce": "replace collective MPI_Allreduce with MPI_Reduce",
}
SEEDS = 3
# A message that is sent and never received.
ONE_END = "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 3\n}\nrank 1 {\nl1: calc 100\n}\n"


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
                            (["replay", "/nowhere.orr"], "/nowhere.orr"), (["replay", old, "--compare"], "one replay"),
                            (["-n", "2,4", "replay", old], "as many ranks as its trace")):
            done = replay.call("sweep", *words, status=2)
            demand(text in done.stderr, f"{words}: no word of '{text}'", done.stderr)


def usage(replay):
    with harness.fresh_folder() as folder:
        old, one_end = os.path.join(folder, "old.orr"), os.path.join(folder, "one-end.goal")
        replay.record(old, 2, replay.folder / "changed", 1)
        pathlib.Path(one_end).write_text(ONE_END)
        replay.refuses(folder, (
                ([old, "-w", "frob x"], "expected one of: scale"),
                ([old, "-w", "scale foo"], "'by'"),
                ([old, "-w", "scale foo by x"], "'by'"),
                ([old, "-w", "scale"], "of what"),
                ([old, "-w", "speed by 0"], "above 0"),
                ([old, "-w", "scale foo by 2 frob 3"], "unknown word 'frob'"),
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
                ([old, "-w", "replace collective MPI_Barrier with MPI_Send"], "not a collective"),
                ([old, "-w", "replace collective MPI_Barrier with MPI_Init"], "not a collective"),
                ([one_end, "-w", "remove messages"], "more sends than receives"),
                ([old, "-w", "insert message from 0 to 1 size 5"], "expected: insert"),
                ([old, "-w", "nowhere.yaml"], "nowhere.yaml"),
                ([old, "-w", "replace collective MPI_Barrier with MPI_Frobnicate"], "no function 'MPI_Frobnicate'")))
        for way in (["--procs", 2], ["--real-time"]):
            done = replay.call("replay", *way, old, "-w", "balance nowhere", "-o", os.path.join(folder, "new.orr"), status=2)
            demand(len(done.stderr.splitlines()) == 1, f"{way}: not said once", done.stderr)


def cases(replay):
    yield "usage", usage, replay
    yield "order", order, replay
    yield "nodes", nodes, replay
    yield "deadlock", deadlock, replay
    yield "wild", wild, replay
    yield "tests", tests_again, replay
    yield "compare", compare, replay
    yield "together", together, replay
    yield "sweep", sweep, replay
    yield "repair", repair, replay
    for change in CHANGES:
        for seed in range(1, 1 + SEEDS):
            yield f"what-if {change}, seed {seed}", what_if, replay, change, seed
    for seed in range(1, 1 + SEEDS):
        yield f"what-if another machine, seed {seed}", network, replay, seed


def main():
    return run(__doc__, "build/what-if-tests", PROGRAMS, cases)


if __name__ == "__main__":
    harness.main(main)
