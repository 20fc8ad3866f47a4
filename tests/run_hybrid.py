#!/usr/bin/env python3
"""Tests of `orrery hybrid`, and prints TAP.

  programs   programs of tests/mpi on the real MPI, their network simulated: the same output as natively
  simulators the same virtual time with several simulators
  trace      a trace, statistics by pairs of ranks; a recorder that is slow changes no virtual time
  times      a program without computing takes the virtual time that it takes in `orrery run`
  promises   random programs take the same time as in `orrery run`, in every model, with any number of simulators
  order      which message a receive from any source gets, in real and in virtual order
  cancel     which receives are cancelled, in real and in virtual order
  arguments  handles and buffers that the program passes to calls and functions
  threads    what threads may do beside calls of MPI, and threads that call MPI at the same time
  clocks     what the program reads on its clocks is virtual, and sleeping takes no real time
  streams    input, output and exit status are those of the program
  ends       a program that aborts, crashes, or never initialises MPI ends everything
  usage      wrong usage is named
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import harness
import run_mpi
import watched_run
from harness import TESTS, demand

# Programs of tests/mpi, by what they use.
PROGRAMS = ["comm_create.c", "comm_group.c", "coll_random.c", "dec_any_source.c", "dec_behind_wildcard.c", "dec_gossip.c",
            "dec_master_worker.c", "dec_probe.c", "dec_test.c", "dec_wait.c", "dec_cancel.c", "dyn_names.c",
            "f08_use_mpi.f90", "f77_common.f", "f90_use_mpi.f90", "fuzz_p2p.c", "net_sctp_comm.c", "icoll_random.c",
            "inter_create.c", "env_attr.c", "env_cxx.cpp", "env_errhandler.c", "env_session.c", "err_classes.c",
            "err_coll.c", "err_null.c", "err_p2p.c", "err_request.c", "icoll_misc.c", "p2p_completion.c", "p2p_many.c",
            "p2p_misc.c", "p2p_partitioned.c", "p2p_probe.c", "rma_locks.c", "rma_pscw.c", "rma_request.c", "rma_shared.c",
            "topo_graph.c", "cxx_exceptions.cpp", "host_threads.c", "host_thread_barrier.c"]
# Without contention, where no message is late.
MACHINES = [("ethernet-1g", ["--set", "net.model=constant"]), ("torus-3d", ["--set", "net.model=hops"]),
            ("infiniband-hdr", ["--set", "net.model=constant", "--collectives", "model"])]


# Every model, so that tests cost little time: a message takes as long as few of them.
QUICK = "net.latency=5us,mpi.test_cost=5us,mpi.clock_cost=1us"
MODELS = {"constant": "net.model=constant", "loggops": "net.model=loggops,net.gap=1us", "hops": "net.model=hops",
          "flow": "net.model=flow", "tcp": "net.model=packet", "credit": "net.model=packet,net.packet.fabric=credit",
          "pfc": "net.model=packet,net.packet.fabric=pfc",
          "sctp": "net.model=packet,net.packet.transport=sctp"}


class Hybrid:
    def __init__(self, options):
        self.options = options
        self.orrery = str(pathlib.Path(options.orrery).resolve())
        self.folder = options.build_dir.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        harness.build_all(sorted((TESTS / "hybrid").glob("*.c")), self.folder, ["-O1", "-w"])

    def call(self, *words, status=0):
        done = harness.call([self.orrery, *map(str, words)])
        demand(done.status == status, f"{' '.join(map(str, words))}: exit status {done.status} instead of {status}",
               done.stderr, done.stdout)
        return done


def program(hybrid, p):
    harness.build(p.source, p.binary, [*run_mpi.WARNINGS[p.source.suffix], *p.flags])
    with harness.fresh_folder() as folder:
        args = [arg.replace("{tmp}", folder) for arg in p.args]
        done = hybrid.call("hybrid", "-q", "-n", p.native, p.binary, *args)
    demand("check failed" not in done.stderr + done.stdout, "a check has failed", done.stderr)


def virtual_time(text):
    found = re.search(r"virtual time +(.*)", text)
    demand(found, "no virtual time in the summary", text)
    return found[1]


def times(hybrid, name, options):
    words = ["-n", 4, "--compute", "none", "--platform", name, *options]
    beside = hybrid.call("hybrid", "--order", "virtual", *words, hybrid.folder / "exchange").stderr
    alone = hybrid.call("run", *words, hybrid.folder / "exchange").stderr
    demand(virtual_time(beside) == virtual_time(alone),
           f"{virtual_time(beside)}, and {virtual_time(alone)} in 'orrery run'")


def promises(hybrid, program, seed, model, count):
    """The manual's two promises: without computing, times are those of 'orrery run'; simulators do not change them.
    If decisions were forced, which is warned of, they are about the same. Communicators are not created: there the real
    MPI waits for others, and the simulated one does not."""
    words = ["-n", 3, "--compute", "none", "--set", f"{MODELS[model]},{QUICK}"]
    program = [hybrid.folder / program, seed, 6, "mxcnur"]
    with harness.fresh_folder() as folder:
        summary, wanted = pathlib.Path(folder) / "summary", pathlib.Path(folder) / "wanted"
        alone = hybrid.call("run", *words, "--json", wanted, *program)
        beside = hybrid.call("hybrid", "--order", "virtual", "--simulators", count, *words, "--json", summary, *program)
        found = json.loads(summary.read_text())
        wanted = json.loads(wanted.read_text())["virtual_time_s"]
    demand(found["compute"] == "none", f"computing counts as {found['compute']}")
    same = found["virtual_time_s"] == wanted and beside.stdout == alone.stdout
    warned = "decisions were forced" in beside.stderr
    demand(warned == (found["forced_decisions"] > 0), "forced, and not warned of, or the other way round", beside.stderr)
    demand(same or (warned and abs(found["virtual_time_s"] / wanted - 1) < 0.01),
           f"{found['virtual_time_s']} s, and {wanted} s in 'orrery run'", beside.stderr, beside.stdout, alone.stdout)


def eager(hybrid, model):
    """Messages that the simulated MPI sends at once, and the real one would not: no decision is forced."""
    words = ["-n", 4, "--compute", "none", "--set", f"{MODELS[model]},{QUICK}"]
    beside = hybrid.call("hybrid", *words, hybrid.folder / "eager")
    alone = hybrid.call("run", *words, hybrid.folder / "eager")
    demand(virtual_time(beside.stderr) == virtual_time(alone.stderr) and beside.stdout == alone.stdout,
           f"{virtual_time(beside.stderr)}, and {virtual_time(alone.stderr)} in 'orrery run'", beside.stderr, beside.stdout)
    demand("0 decisions forced" in beside.stderr and "warning" not in beside.stderr, "forced", beside.stderr)


def adapters(hybrid):
    """Messages wait for each other, and decisions may be forced: what is late is said, and changes little."""
    times = {}
    with harness.fresh_folder() as folder:
        for command, extra in (("hybrid", ["--order", "virtual"]), ("run", [])):
            summary = pathlib.Path(folder) / command
            done = hybrid.call(command, "-n", 4, "--compute", "none", *extra,
                               "--json", summary, hybrid.folder / "exchange")
            times[command] = json.loads(summary.read_text())["virtual_time_s"]
            if extra:
                demand(re.search(r"reordering +within .*: \d+ messages? entered", done.stderr), "no window", done.stderr)
    demand(abs(times["hybrid"] / times["run"] - 1) < 0.05, str(times))


def contention(hybrid, simulators):
    """Decisions may be forced: what is late must not disturb the network."""
    done = hybrid.call("hybrid", "-n", 4, "--compute", "none", "--platform", "torus-3d", "--simulators", simulators,
                       hybrid.folder / "exchange")
    demand("500" in re.search(r"messages +(.*)", done.stderr)[1], "not all messages", done.stderr)
    demand(re.search(r"reordering +within .*: \d+ messages? entered", done.stderr), "no window", done.stderr)


def simulators(hybrid):
    words = ["-n", 4, "--compute", "none", "--set", "net.model=constant"]
    alone = hybrid.call("run", *words, hybrid.folder / "exchange").stderr
    for count in (2, 3):
        beside = hybrid.call("hybrid", "--order", "virtual", "--simulators", count, *words,
                             hybrid.folder / "exchange").stderr
        demand(virtual_time(beside) == virtual_time(alone),
               f"{count} simulators: {virtual_time(beside)}, and {virtual_time(alone)} in 'orrery run'")


def order(hybrid, which, first, inversions):
    """Rank 1 is first in real time, rank 2 in virtual time; 9 of the 10 ways to receive are from any source. Rank 2 waits for
    rank 1 outside MPI, where a network of messages that wait for each other would not go on without it."""
    with harness.fresh_folder() as folder:
        summary = pathlib.Path(folder) / "summary"
        out = hybrid.call("hybrid", "-n", 3, "--compute", "none", "--set", "net.model=constant", "--order", which, "--json",
                          summary, hybrid.folder / "order", folder, which).stdout
        found = json.loads(summary.read_text())
    demand(len(out.splitlines()) == 10 and all(line.endswith(f" {first}") for line in out.splitlines()),
           f"not all are from rank {first}", out)
    demand(found["inversions"] == inversions, f"{found['inversions']} inversions instead of {inversions}")


def cancel(hybrid, which, outcomes):
    """A receive has its message if that has come in virtual time or, in real order, in real time."""
    with harness.fresh_folder() as folder:
        out = hybrid.call("hybrid", "-q", "-n", 3, "--compute", "none", "--order", which, hybrid.folder / "cancel",
                          folder).stdout
    expected = ["sent, after 0 s", "sent, after 2 s", "persistent, after 0 s", "persistent, after 2 s",
                "not sent, after 0 s", "long, after 2 s", "long, after 0 s"]
    found = [line.split(": ") for line in out.splitlines()]
    demand([name for name, _ in found] == expected, "not all receives", out)
    for (name, outcome), right in zip(found, outcomes):
        demand(right in ("any", outcome), f"{name}: {outcome}", out)


def held(hybrid, which, count):
    """A long message does not hold up its sender, whose receiver waits for a decision, or for its process."""
    out = hybrid.call("hybrid", "-q", "-n", 3, "--compute", "none", "--order", which, "--simulators", count,
                      hybrid.folder / "held").stdout
    demand(out == "1 of 300000 from 1\n2 of 150000 from 1\n", "not the messages", out)


def guessed(hybrid, which, count, name="guessed"):
    out = hybrid.call("hybrid", "-q", "-n", 4, "--compute", "none", "--order", which, "--simulators", count,
                      hybrid.folder / name).stdout
    demand(out == "done\n", "not the messages", out)


def arguments(hybrid, name, which, last):
    """What calls are given, and refuse, is the same for the program and its stand-ins."""
    done = hybrid.call("hybrid", "-q", "-n", 3, "--order", which, hybrid.folder / name)
    demand(done.stdout == last + "\n" and "check failed" not in done.stderr, "not as natively", done.stdout, done.stderr)


def threads(hybrid):
    """Below MPI_THREAD_MULTIPLE threads may read clocks and sleep beside calls, but not call MPI at the same time."""
    done = hybrid.call("hybrid", "-q", "-n", 2, "--compute", "none", hybrid.folder / "threads")
    demand(done.stdout == "serialized, short\n" and "check failed" not in done.stderr, "not as it was", done.stdout,
           done.stderr)
    done = harness.call([hybrid.orrery, "hybrid", "-q", "-n", "2", str(hybrid.folder / "threads"), "both"])
    demand(done.status != 0 and "two threads of a process call MPI at the same time" in done.stderr, "no message",
           done.stderr)


def multiple(hybrid, which):
    """Threads that call MPI at the same time: one takes 2 ms, three do not take 6."""
    words = ["-n", 2, "--compute", "none"]
    done = hybrid.call("hybrid", "--order", which, *words, hybrid.folder / "multiple")
    demand(done.stdout == "multiple\n" and "check failed" not in done.stderr, "not as natively", done.stdout, done.stderr)
    demand(2 <= float(virtual_time(done.stderr).removesuffix(" ms")) < 6, virtual_time(done.stderr))
    done = hybrid.call("hybrid", "-q", "--order", which, *words, "--set", "net.latency=50ms", "--simulators", 2,
                       hybrid.folder / "multiple", "more")
    demand(done.stdout == "multiple\n" and "check failed" not in done.stderr, "not as natively", done.stdout, done.stderr)


def threads_traced(hybrid):
    """The trace has the calls of each thread."""
    with harness.fresh_folder() as folder:
        trace = pathlib.Path(folder) / "run.orr"
        hybrid.call("hybrid", "-q", "-n", 2, "--trace", trace, hybrid.folder / "multiple")
        found = hybrid.call("trace", "print", trace).stdout
        demand(found.count("MPI_Recv(") == found.count("MPI_Send(") == 120, "not all calls", found)
        hybrid.call("trace", "verify", trace)
        hybrid.call("replay", "-q", "--output", pathlib.Path(folder) / "again.orr", trace)


def until(hybrid):
    """Reading a clock takes time, so that loops end; as much as in 'orrery run'."""
    words = ["-n", 3, "--compute", "none"]
    beside = virtual_time(hybrid.call("hybrid", "--order", "virtual", *words, hybrid.folder / "until").stderr)
    alone = virtual_time(hybrid.call("run", *words, hybrid.folder / "until").stderr)
    demand(beside == alone, f"{beside}, and {alone} in 'orrery run'")


def speed(hybrid):
    """Half a second of computing takes a quarter on a processor that is twice as fast; sleeping does not change."""
    for factor, computed in ((1, 0.5), (2, 0.25)):
        out = hybrid.call("hybrid", "-q", "-n", 2, "--compute", "processor", "--set", f"nodes.speed={factor}",
                          hybrid.folder / "speed").stdout
        found = re.search(r"^computed ([0-9.]+) s, slept ([0-9.]+) s$", out, re.M)
        demand(found and abs(float(found[1]) / computed - 1) < 0.2, f"not {computed} s", out)
        demand(float(found[2]) == 2, "a sleep of other than 2 s", out)


def clocks(hybrid):
    """An hour of sleep, and 2 x 0.4 s of latency."""
    out = hybrid.call("hybrid", "-q", "-n", 2, "--compute", "none", "--set", "net.latency=400ms",
                      hybrid.folder / "clocks").stdout
    demand(re.search(r"^slept 3600\.0 s, answer after 0\.8 s, date and clock agree$", out, re.M), "wrong clocks", out)


def trace(hybrid):
    with harness.fresh_folder() as folder:
        trace = pathlib.Path(folder) / "run.orr"
        hybrid.call("hybrid", "-q", "-n", 4, "--trace", trace, hybrid.folder / "exchange")
        found = hybrid.call("trace", "print", trace).stdout
        demand(found.count("MPI_Allreduce(") == 80 and found.count("MPI_Isend(") == 80, "calls are missing", found)
        for name in ("MPI_Test_cancelled", "MPI_Comm_set_errhandler"):
            demand(f"{name}(" not in found, "the trace has calls that the program did not make", found)
        demand("count=400000" in found and "count=1073741824" not in found, "wrong counts of receives", found)
        info = hybrid.call("trace", "info", trace).stdout
        demand(re.search(rf"program +{re.escape(str(hybrid.folder / 'exchange'))}$", info, re.M), "another program", info)
        hybrid.call("hybrid", "-q", "-n", 4, "--trace", trace, "--profile-only", hybrid.folder / "exchange")
        found = hybrid.call("analyze", "--format", "csv", trace).stdout
        demand(re.search(r"MPI_Isend,.*\b80\b", found), "no statistics of a function", found)


def slow_trace(hybrid):
    """A trace, and one whose recorder sleeps 1 ms at every call: virtual time is that without a trace."""
    words = ["-n", 4, "--compute", "none", "--order", "virtual", "--set", "net.model=constant"]
    without = virtual_time(hybrid.call("hybrid", *words, hybrid.folder / "exchange").stderr)
    with harness.fresh_folder() as folder:
        for delay in ("0", "1000"):
            trace = pathlib.Path(folder) / f"{delay}.orr"
            done = harness.call([hybrid.orrery, "hybrid", *map(str, words), "--trace", str(trace),
                                 str(hybrid.folder / "exchange")], env={**os.environ, "ORRERY_TRACE_DELAY": delay})
            demand(done.status == 0, f"exit status {done.status}", done.stderr)
            demand(virtual_time(done.stderr) == without, f"{virtual_time(done.stderr)}, and {without} without a trace")


def pairs(hybrid):
    """How much each rank has sent to each other one."""
    with harness.fresh_folder() as folder:
        stats = pathlib.Path(folder) / "stats.json"
        hybrid.call("hybrid", "-q", "-n", 4, "--stats", stats, hybrid.folder / "exchange")
        found = {tuple(row[:2]) for row in json.loads(stats.read_text())["pairs"]["rows"]}
    for rank in range(4):
        demand((rank, (rank + 1) % 4) in found, f"no pair from rank {rank}", str(found))


def streams(hybrid, count):
    """Input, output and exit status are the program's."""
    done = harness.call([hybrid.orrery, "hybrid", "-q", "-n", "2", "--simulators", str(count), str(hybrid.folder / "streams")],
                        text="input\n")
    demand(done.status == 3, f"exit status {done.status}", done.stderr)
    found = sorted(done.stdout.splitlines()), sorted(done.stderr.splitlines())
    demand(found == (["0 output after the end", "1 output after the end", "input"],
                     ["0 after the end", "0 before the end", "1 after the end", "1 before the end"]), "not all", str(found))


def lookup(hybrid):
    """A program that finds the functions of its MPI by dlsym, and is not linked with it."""
    done = hybrid.call("hybrid", "-n", 2, hybrid.folder / "lookup")
    demand(sorted(done.stdout.splitlines()) == [f"{rank} of 2, nothing, next" for rank in range(2)], "not the wrappers",
           done.stdout)
    demand(re.search(r"messages +2 ", done.stderr), "no messages of the barrier", done.stderr)


def ends(hybrid, program, status, text, count=1):
    done = harness.call([hybrid.orrery, "hybrid", "-q", "-n", "3", "--simulators", str(count), *map(str, program)])
    demand(done.status == status, f"exit status {done.status}", done.stderr)
    demand(text in done.stderr, f"no '{text}'", done.stderr)


def summary(hybrid, count):
    """A run that fails has a summary, too: whoever ends first does not end the one that writes it."""
    for name in ("abort", "deadlock"):
        with harness.fresh_folder() as folder:
            path = pathlib.Path(folder) / "summary"
            harness.call([hybrid.orrery, "hybrid", "-n", "3", "--simulators", str(count), "--json", str(path),
                          str(hybrid.folder / "ends"), name])
            demand(path.exists() and json.loads(path.read_text())["exit_status"] != 0, f"no summary of '{name}'")


def interrupted(hybrid, count):
    """A signal to this process alone ends everything, and is reported."""
    words = [hybrid.orrery, "hybrid", "-q", "-n", "2", "--simulators", str(count), str(hybrid.folder / "ends"), "wait"]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as child:
        ids = [int(child.stdout.readline()) for _ in range(2)]
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=120)
    demand(child.returncode == 128 + signal.SIGINT, f"exit status {child.returncode}", errors)
    demand(re.findall("interrupted by signal (.*):", errors) == ["2 (Interrupt)"], "not one message with its name", errors)
    demand(not any(pathlib.Path(f"/proc/{id}").exists() for id in ids), "a rank is left", errors)


def terminated(hybrid):
    """A signal to the simulator, not to this process."""
    words = [hybrid.orrery, "hybrid", "-q", "-n", "2", str(hybrid.folder / "ends"), "wait"]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as child:
        for _ in range(2):
            child.stdout.readline()
        simulator, = (p.pid for p in watched_run.descendants(child.pid, "") if (p.role, p.index) == ("worker", 2))
        os.kill(simulator, signal.SIGTERM)
        _, errors = child.communicate(timeout=120)
    demand(child.returncode == 128 + signal.SIGTERM, f"exit status {child.returncode}", errors)
    demand(re.findall("interrupted by signal (.*):", errors) == ["15 (Terminated)"], "not one message", errors)


def absent(hybrid, count):
    """Simulators that cannot start, since their library is damaged: the program does not wait for them."""
    build = pathlib.Path(hybrid.orrery).parent
    with harness.fresh_folder() as folder:
        for name in ("orrery", "orrery-hybrid-mpi", "liborrery-hybrid.so"):
            shutil.copy(build / name, folder)
        (pathlib.Path(folder) / "liborrery-mpi.so").touch()
        done = harness.call([f"{folder}/orrery", "hybrid", "-q", "-n", "2", "--simulators", str(count),
                             str(hybrid.folder / "ends"), "well"])
    demand(done.status == 3, f"exit status {done.status}", done.stderr)
    demand("before" in done.stderr and "orrery: error: " in done.stderr, "no message", done.stderr)


def notes(hybrid):
    """What the command checks before it starts anything is said once."""
    done = hybrid.call("hybrid", "-n", 2, "--platform", "torus-3d", "--set", "net.model=packet", hybrid.folder / "clocks")
    demand(done.stderr.count("note: net.model packet does not use") == 1, "not one note", done.stderr)


def usage(hybrid):
    for words, text in ((["hybrid", "-n", "2"], "no program given"), (["hybrid", "/bin/true"], "how many ranks"),
                        (["hybrid", "-n", "0", "x"], "bad number of ranks"),
                        (["hybrid", "-n", "2", "--compute", "x", "y"], "auto, wall, processor, none"),
                        (["hybrid", "-n", "2", "--order", "x", "y"], "real, virtual"),
                        (["hybrid", "-n", "2", "--platform", "x", hybrid.folder / "clocks"], "unknown platform")):
        done = hybrid.call(*words, status=2)
        demand(text in done.stderr, f"no '{text}'", done.stderr)
    for program, text in (("./missing", "cannot find program './missing'"), (TESTS / "hybrid" / "ends.c", "Permission denied")):
        done = hybrid.call("hybrid", "-n", 2, program, status=2)
        demand(text in done.stderr, f"no '{text}'", done.stderr)


def cases(hybrid, options):
    yield "usage", usage, hybrid
    yield "usage notes", notes, hybrid
    for name, extra in MACHINES:
        yield f"times {name}", times, hybrid, name, extra
    yield "simulators", simulators, hybrid
    for seed, model in enumerate(MODELS, 1):
        yield f"promises {model}", promises, hybrid, ("random", "plain")[seed % 2], seed, model, 1 + seed // 2 % 2
    for model in ("tcp", "sctp"):
        yield f"promises eager {model}", eager, hybrid, model
    yield "adapters", adapters, hybrid
    yield "contention", contention, hybrid, 1
    yield "contention with simulators", contention, hybrid, 2
    yield "order real", order, hybrid, "real", 1, 9
    yield "order virtual", order, hybrid, "virtual", 2, 0
    received, cancelled = "received", "cancelled"
    yield "cancel real", cancel, hybrid, "real", [received, received, received, received, cancelled, received, "any"]
    yield "cancel virtual", cancel, hybrid, "virtual", [cancelled, received, cancelled, received, cancelled, received,
                                                        cancelled]
    for which in ("real", "virtual"):
        for count in (1, 2):
            yield f"held {which} {count}", held, hybrid, which, count
            yield f"guessed {which} {count}", guessed, hybrid, which, count
            yield f"matched {which} {count}", guessed, hybrid, which, count, "matched"
        yield f"arguments handles {which}", arguments, hybrid, "handles", which, "done"
        yield f"arguments duplicates {which}", arguments, hybrid, "duplicates", which, "done"
        yield f"arguments refused {which}", arguments, hybrid, "refused", which, "refused"
        yield f"arguments undone {which}", arguments, hybrid, "undone", which, "done"
        yield f"threads multiple {which}", multiple, hybrid, which
    yield "threads", threads, hybrid
    yield "threads traced", threads_traced, hybrid
    yield "until", until, hybrid
    yield "speed", speed, hybrid
    yield "clocks", clocks, hybrid
    yield "trace", trace, hybrid
    yield "trace slow", slow_trace, hybrid
    yield "trace pairs", pairs, hybrid
    yield "streams lookup", lookup, hybrid
    yield "streams 1", streams, hybrid, 1
    yield "streams 2", streams, hybrid, 2
    ending = hybrid.folder / "ends"
    for count in (1, 2):
        for name, status, text in (("abort", 7, "MPI_Abort with code 7"), ("crash", 139, ""), ("assert", 134, ""),
                                   ("divide", 136, ""), ("exit", 3, ""), ("deadlock", 1, "error: deadlock"),
                                   ("any", 1, "MPI_Recv waits for a message from any source, tag 0"),
                                   ("all", 1, "MPI_Waitall waits for a message from any source, tag 0"),
                                   ("slow", 0, ""),
                                   ("early", 2, "ended without MPI_Init")):
            yield f"ends {name} {count}", ends, hybrid, [ending, name], status, text, count
        yield f"ends other {count}", ends, hybrid, ["/bin/true"], 2, "ended without MPI_Init", count
        yield f"ends summary {count}", summary, hybrid, count
        yield f"ends interrupted {count}", interrupted, hybrid, count
        yield f"ends absent {count}", absent, hybrid, count
    yield "ends terminated", terminated, hybrid
    yield "ends script", ends, hybrid, ["sh", "-c", f"{ending}.missing; true"], 2, "ended without MPI_Init"
    yield "script", ends, hybrid, ["sh", "-c", f"true; {ending} well"], 0, ""
    known = {p.source.name: p for p in run_mpi.find_programs([TESTS / "mpi"], hybrid.folder, None)}
    for name in PROGRAMS:
        yield f"programs {name}", program, hybrid, known[name]


def main():
    options = harness.options_parser(__doc__, "build/hybrid-tests", jobs=1).parse_args()
    hybrid = Hybrid(options)
    tap = harness.Tap()
    tap.run_chosen(cases(hybrid, options), options)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
