#!/usr/bin/env python3
"""Tests of `orrery emulate`, and prints TAP. Nothing here depends on how fast the computer is.

  programs   programs of tests/mpi as processes in real time: the results are right on every network
  summary    what the summary and its JSON say
  clocks     the program's clocks are scaled, and sleeping takes scaled time
  observers  trace, statistics and report
  factor     auto and dynamic
  remote     processes that connect by TCP, as from another computer
  ends       aborts, crashes, deadlocks, a process that is killed: all ends, and the reason is told
  usage      wrong usage is named
"""

import json
import os
import pathlib
import re
import signal

import harness
import run_mpi
from harness import TESTS, demand
from watched_run import Run, Tests

# Programs of tests/mpi, by what they use.
PROGRAMS = ["comm_create.c", "comm_group.c", "coll_random.c", "dec_any_source.c", "dec_behind_wildcard.c",
            "dec_cancel.c", "dec_gossip.c", "dec_master_worker.c", "dec_probe.c", "dec_test.c", "dec_wait.c",
            "f08_use_mpi.f90", "f90_use_mpi.f90", "fuzz_p2p.c", "icoll_random.c", "inter_create.c",
            "p2p_many.c", "p2p_misc.c", "p2p_partitioned.c", "p2p_probe.c", "rma_locks.c", "rma_pscw.c",
            "rma_request.c", "rma_shared.c", "io_basic.c", "io_shared.c", "dyn_spawn.c", "dyn_names.c", "cxx_exceptions.cpp"]
# ... and those that processes which connect by TCP run, too: the number of ranks that do not.
REMOTE = {"comm_create.c": 0, "coll_random.c": 0, "dec_any_source.c": 1, "dec_cancel.c": 0, "f08_use_mpi.f90": 0,
          "fuzz_p2p.c": 0, "icoll_random.c": 1, "p2p_many.c": 0, "rma_locks.c": 0, "rma_pscw.c": 1, "io_basic.c": 0,
          "dyn_spawn.c": 0, "cxx_exceptions.cpp": 0}
# ... and those of which some ranks run another build, which has all that is private elsewhere.
TWO = ["coll_random.c", "f90_use_mpi.f90", "fuzz_p2p.c", "rma_locks.c", "io_basic.c", "cxx_exceptions.cpp"]
OTHER_BUILD = ["-no-pie", "-Wl,--no-as-needed", "-lstdc++", "-lz"]
LAUNCHER = ["--launcher", "mpiexec.mpich"]
NETWORKS = {"packet": [], "loggops": ["--platform", "ethernet-1g"], "flow": ["--platform", "torus-3d"]}


class Emulate(Tests):
    def __init__(self, options):
        super().__init__(options)
        harness.build_all(sorted((TESTS / "emulate").glob("*.c")), self.build, ["-O1", "-g", *harness.STRICT])

    def call(self, *words, status=0):
        done = harness.call([self.orrery, *map(str, words)])
        demand(status is None or done.status == status, f"{' '.join(map(str, words))}: exit status {done.status} instead of {status}",
               done.stderr, done.stdout)
        return done

    def summary(self, *words):
        with harness.fresh_folder() as folder:
            path = pathlib.Path(folder) / "run.json"
            self.call("emulate", "-q", "--json", path, *words)
            return json.loads(path.read_text())


def program(tests, p, network, *options, two=False):
    """They must not expect virtual times to be exact, as in other simulations: what depends on time may come late."""
    flags = [*run_mpi.WARNINGS[p.source.suffix], *p.flags, "-Dorrery_compute=orrery_of_others"]
    harness.build(p.source, p.binary, flags)
    with harness.fresh_folder() as folder:
        args = [arg.replace("{tmp}", folder) for arg in p.args]
        first, more = p.native, []
        if two:
            other = p.binary.with_name(p.binary.name + "_other")
            harness.build(p.source, other, [*flags, *OTHER_BUILD])
            first = p.native // 2
            more = [":", "-n", p.native - first, other, *args]
        done = tests.call("emulate", "-q", "-n", first, "--factor", 1, "--compute", "none", *network, *options, p.binary,
                          *args, *more)
    demand("check failed" not in done.stderr + done.stdout, "a check has failed", done.stderr)


def two_builds(tests, p):
    program(tests, p, [], two=True)


def summary(tests):
    found = tests.summary("-n", 2, "--factor", 2, "--compute", "none", tests.build / "exchange", 20)
    for key in ("factor", "factor_least", "factor_most", "scaled_run_time_s", "max_behind_s", "behind_trend", "expected",
                "unexpected", "late_calls", "max_late_s", "lost_s", "is_sure", "call_overhead_s", "events", "cores", "tolerance_s"):
        demand(key in found, f"no '{key}' in the summary", str(found))
    demand(found["factor_least"] == found["factor_most"] == 2, "another factor", str(found["factor"]))
    demand(found["expected"] + found["unexpected"] == found["messages"] == 40, "messages are missing", str(found))
    demand(found["scaled_run_time_s"] == found["virtual_time_s"] > 0, "no run time", str(found))
    demand(found["wall_s"] >= 2 * found["scaled_run_time_s"], "faster than the factor allows", str(found))
    sure = found["max_behind_s"] <= found["tolerance_s"] and found["lost_s"] <= found["virtual_time_s"] / 50
    demand(found["is_sure"] == sure and found["lost_s"] >= found["max_late_s"], "not what was measured", str(found))
    demand(found["network"]["packets"] > 0, "no packets", str(found))
    text = tests.call("emulate", "-n", 2, "--factor", 2, tests.build / "exchange", 20).stderr
    for line in (r"factor +2;", r"max behind +[0-9]", r"matched +[0-9]+ expected and [0-9]+ unexpected"):
        demand(re.search(line, text), f"no line '{line}'", text)


def clocks(tests):
    """The program sleeps for 0.1 s and computes 50 ms, by its own clocks, which takes 4 times as long."""
    found = tests.call("emulate", "-q", "-n", 2, "--factor", 4, tests.build / "clocks").stdout
    demand(found == "clocks agree\n" * 2, "clocks differ", found)


def polling(tests):
    """Reading the clock does not ask the simulator, which would have no time for anything else."""
    with harness.fresh_folder() as folder:
        path = pathlib.Path(folder) / "summary.json"
        text = tests.call("emulate", "-q", "-n", 2, "--factor", 1, "--json", path, tests.build / "polling").stdout
        switches = json.loads(path.read_text())["switches"]
    readings = [int(line.split()[0]) for line in text.splitlines() if line.endswith(" readings")]
    demand(len(readings) == len(text.splitlines()) == 2, "the clock went back", text)
    demand(switches < 200 and sum(readings) > switches, f"{switches} switches", text)


def observers(tests):
    with harness.fresh_folder() as folder:
        trace, stats = pathlib.Path(folder) / "run.orr", pathlib.Path(folder) / "run.csv"
        tests.call("emulate", "-q", "-n", 2, "--factor", 1, "--compute", "none", "--trace", trace, "--stats", stats,
                   tests.build / "exchange", 20)
        found = tests.call("trace", "print", trace).stdout
        demand(found.count("MPI_Recv(") == 40 and found.count("MPI_Send(") == 40, "calls are missing", found)
        demand("pair,,0,1,20," in stats.read_text(), "no pairs", stats.read_text())
        tests.call("analyze", trace, "waits")
        tests.call("emulate", "-q", "-n", 2, "--factor", 1, "--compute", "none", "--trace", trace, "--call-sites",
                   tests.build / "exchange", 20)
        found = tests.call("trace", "print", trace).stdout
        demand(len(re.findall(r"MPI_Send\(.* at ", found)) == 40, "no sites", found)


def user_operation(tests, *options):
    """A user operation that is called while the program computes makes MPI calls of its own."""
    found = tests.call("emulate", "-q", "-n", 3, "--factor", 1, "--compute", "none", *options,
                       tests.build / "user_operation").stdout
    demand(found == "the sum is 3\n" * 3, "wrong results", found)


def auto(tests):
    done = tests.call("emulate", "-n", 2, "--factor", "auto", "--compute", "none", tests.build / "exchange", 3, status=None)
    demand("factor 1: " in done.stderr and "factor 2: " in done.stderr, "does not say what it tries", done.stderr)
    demand("converged" in done.stderr, "does not say what it found", done.stderr)


def dynamic(tests):
    """Time passes as the factors say: the mean lies between them."""
    found = tests.summary("-n", 2, "--factor", "dynamic", "--compute", "none", tests.build / "phases")
    demand(found["factor_least"] <= found["factor"] * 1.001 and found["factor"] <= found["factor_most"] * 1.001,
           "the mean factor is not between the others", str(found))
    demand(found["factor_least"] < found["factor_most"], "it did not change", str(found))


def ends(tests, how, status, text, *options):
    done = tests.call("emulate", "-q", "-n", 3, "--factor", 1, *options, tests.build / "ends", how, status=status)
    demand(text in done.stderr, f"no '{text}'", done.stderr)


def killed(tests, where, *options):
    """A process dies while a message of it is in the network, and while it computes."""
    with Emulated(tests, ["-q", "-n", "3", "--factor", "1", *options], "lasting", where) as run:
        ranks = run.await_ranks(3)
        os.kill(ranks[1], signal.SIGKILL)
        status, _, errors = run.finish()
        demand(status == 128 + signal.SIGKILL, f"exit status {status}", errors)
        demand("rank 1: its process was ended by signal 9 (Killed)" in errors, "no reason", errors)


def interrupted(tests, *options):
    with Emulated(tests, ["-n", "3", "--factor", "1", *options], "lasting", "computing") as run:
        run.await_ranks(3)
        os.kill(run.process.pid, signal.SIGTERM)
        status, _, errors = run.finish()
        demand(status == 128 + signal.SIGTERM, f"exit status {status}", errors)


def abandoned(tests, *options):
    """The command is killed: no process is left."""
    with Emulated(tests, ["-n", "3", "--factor", "1", *options], "lasting", "sending") as run:
        run.await_ranks(3)
        os.kill(run.process.pid, signal.SIGKILL)
        run.finish()


def remote(tests):
    """The same messages as with shared memory; the program's clocks, output and statistics."""
    for local in (0, 1):
        words = ["-n", 2, "--factor", 4, "--compute", "none", *LAUNCHER, "--local", local]
        found = tests.summary(*words, tests.build / "exchange", 20)
        demand(found["expected"] + found["unexpected"] == found["messages"] == 40, "messages are missing", str(found))
        demand(found["wall_s"] >= 4 * found["scaled_run_time_s"] > 0, "faster than the factor allows", str(found))
        demand(found["call_overhead_s"] > 0, "no overhead", str(found))
    found = tests.call("emulate", "-q", "-n", 2, "--factor", 4, *LAUNCHER, tests.build / "clocks").stdout
    demand(found == "clocks agree\n" * 2, "clocks differ", found)
    found = tests.summary("-n", 2, "--factor", "dynamic", "--compute", "none", *LAUNCHER, tests.build / "phases")
    demand(found["factor_least"] < found["factor_most"], "the factor did not change", str(found))


def remote_shared(tests, p):
    """Memory that ranks use directly is refused, with the name of the call."""
    harness.build(p.source, p.binary, [*run_mpi.WARNINGS[p.source.suffix], *p.flags])
    done = tests.call("emulate", "-q", "-n", p.native, "--factor", 1, *LAUNCHER, p.binary, status=None)
    demand(done.status != 0 and "MPI_Win_allocate_shared" in done.stderr + done.stdout, "not refused", done.stderr, done.stdout)


def remote_large(tests):
    """Messages of megabytes, there and back."""
    tests.call("emulate", "-q", "-n", 2, "--factor", 1, "--compute", "none", *LAUNCHER, "--local", 1,
               "--platform", "infiniband-hdr", tests.build / "large", 3)


def remote_launchers(tests):
    """Launchers that start nothing."""
    for launcher, text in (("no-such-launcher", "cannot start the launcher 'no-such-launcher'"),
                           ("false", "the launcher has ended, and 0 of 2 processes have joined"),
                           ("sh -c 'echo why not; exit 1' sh", "why not")):
        done = tests.call("emulate", "-n", 2, "--launcher", launcher, tests.build / "exchange", status=2)
        demand(text in done.stderr, f"no '{text}'", done.stderr)


def remote_strangers(tests, where, addresses):
    """Connections without the key neither hold up the others nor end the run; and where it listens."""
    launcher = f"python3 -B '{TESTS}/emulate/strangers.py' {addresses}"
    found = tests.summary("-n", 2, "--factor", 1, "--compute", "none", "--launcher", launcher, *where,
                          tests.build / "exchange", 20)
    demand(found["messages"] == 40, "messages are missing", str(found))


def remote_nowhere(tests):
    for where in ("192.0.2.1", "no such"):
        done = tests.call("emulate", "-n", 2, *LAUNCHER, "--listen", where, tests.build / "exchange", 2, status=2)
        demand(f"'{where}': it is neither an interface nor an address" in done.stderr, "no reason", done.stderr)


def remote_no_random(tests):
    """Without random numbers there is no key, and no run."""
    done = harness.call([tests.build / "no_random", tests.orrery, "emulate", "-n", "2", *LAUNCHER, tests.build / "exchange", "2"])
    demand(done.status == 2 and "no random numbers" in done.stderr, f"exit status {done.status}", done.stderr)


class Emulated(Run):
    def __init__(self, tests, arguments, program, *words):
        super().__init__(tests, arguments, program, *words)
        self.command = [tests.orrery, "emulate", *arguments, str(self.program), *words]


def usage(tests):
    for words, text in ((["-n", "2"], "no program given"), (["/bin/true"], "how many ranks"),
                        (["-n", "0", "x"], "bad number of ranks"),
                        (["-n", "2", "--factor", "0.5", "x"], "must be at least 1"),
                        (["-n", "2", "--factor", "-3", "x"], "must be at least 1"),
                        (["-n", "2", "--factor", "fast", "x"], "auto or dynamic"),
                        (["-n", "2", "--factor", "nan", "x"], "auto or dynamic"),
                        (["-n", "2", "--compute", "x", "y"], "measured, none"),
                        (["-n", "2", "--local", "1", "x"], "give --launcher"),
                        (["-n", "2", "--listen", "lo", "x"], "give --launcher"),
                        (["-n", "2", "--local", "2", *LAUNCHER, "x"], "at most 1"),
                        (["-n", "2", *LAUNCHER, "./does-not-exist"], "does-not-exist"),
                        (["--join"], "--join is for processes"),
                        (["-n", "2", "--set", "net.packet.queue=0", "y"], "net.packet.queue"),
                        (["-n", "2", "./does-not-exist"], "does-not-exist")):
        done = tests.call("emulate", *words, status=2)
        demand(text in done.stderr, f"no '{text}'", done.stderr)


def add_cases(tests):
    tests.add("usage", usage, tests)
    tests.add("summary", summary, tests)
    tests.add("clocks", clocks, tests)
    tests.add("polling", polling, tests)
    tests.add("observers", observers, tests)
    tests.add("user operation", user_operation, tests)
    tests.add("factor auto", auto, tests)
    tests.add("factor dynamic", dynamic, tests)
    for how, status, text in (("abort", 7, "MPI_Abort"), ("crash", 139, "rank 1: Segmentation fault"),
                              ("deadlock", 1, "deadlock"), ("exit", 5, "")):
        tests.add(f"ends {how}", ends, tests, how, status, text)
        tests.add(f"remote ends {how}", ends, tests, how, status, text, *LAUNCHER)
    for options in ([], LAUNCHER):
        name = "remote " if options else ""
        tests.add(name + "killed in a message", killed, tests, "sending", *options)
        tests.add(name + "killed computing", killed, tests, "computing", *options)
        tests.add(name + "interrupted", interrupted, tests, *options)
        tests.add(name + "abandoned", abandoned, tests, *options)
    tests.add("remote", remote, tests)
    tests.add("remote user operation", user_operation, tests, *LAUNCHER)
    tests.add("remote large messages", remote_large, tests)
    tests.add("remote launchers", remote_launchers, tests)
    tests.add("remote strangers", remote_strangers, tests, [], "any")
    for where in ("lo", "127.0.0.1", "localhost"):
        tests.add(f"remote strangers at {where}", remote_strangers, tests, ["--listen", where], "127.0.0.1,::1")
    tests.add("remote listens nowhere", remote_nowhere, tests)
    tests.add("remote without random numbers", remote_no_random, tests)
    known = {p.source.name: p for p in run_mpi.find_programs([TESTS / "mpi"], tests.build, None)}
    for i, name in enumerate(PROGRAMS):
        for network, words in NETWORKS.items() if i % 5 == 0 else [("packet", [])]:
            tests.add(f"programs {network} {name}", program, tests, known[name], words)
    for name in TWO:
        tests.add(f"programs in two builds {name}", two_builds, tests, known[name])
    for name, local in REMOTE.items():
        tests.add(f"remote programs {name}", program, tests, known[name], [], *LAUNCHER, "--local", local)
    tests.add("remote shared memory", remote_shared, tests, known["rma_shared.c"])


def main():
    options = harness.options_parser(__doc__, "build/emulate-tests", jobs=2).parse_args()
    tests = Emulate(options)
    add_cases(tests)
    tap = harness.Tap()
    tap.run_chosen(tests.cases, options)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
