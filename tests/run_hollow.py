#!/usr/bin/env python3
"""Tests messages without payload: nothing but the content of buffers may differ. Prints TAP.

Programs of tests/mpi are compiled with CHECK evaluated but ignored, and with functions in front of MPI's
that, if the variable HOLLOW is set, pass a hollow buffer for every buffer. Each runs in three ways:

  real      as it is
  hollow    with orrery_hollow() for its buffers
  none      with 'orrery run --payload none'

Virtual time, messages, bytes, statistics and the trace must be the same. Programs take turns in running with
fibres and processes as hosts, on one native process and on two. Other cases:

  algorithms  random collectives with every algorithm, with messages that are eager and that are not
  checked     without payload the data is missing: CHECK as it is ends the program
  memory      blocks of 64 MiB with every algorithm, and 1 MiB of 65,536 ranks, need little memory
"""

import json
import os
import pathlib
import re
import sys
import threading

import harness
import run_coll
from harness import TESTS, demand

sys.path.insert(0, str(TESTS.parent / "api"))
import generate  # noqa: E402

# Buffers that the program itself reads or writes, or that are not of messages.
OTHERS = re.compile(r"MPI_(File_|T_|Buffer_|Pack|Unpack|Free_mem|Win_(attach|detach)|Reduce_local|Get_address|Register)")
SHIM_START = """#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
extern void *orrery_hollow(void) __attribute__((weak));
static void *hollow(const void *p)
{
    if (!p || p == MPI_IN_PLACE || !getenv("HOLLOW"))
        return (void *)p;
    return (char *)orrery_hollow() + ((uintptr_t)p & 0xffffff);
}
"""
PROGRAMS = ("coll_random", "icoll_random", "pcoll_random", "ncoll_random", "icoll_inter", "inter_coll", "icoll_misc",
            "icoll_time", "p2p_isendrecv", "coll_model", "op_user", "fuzz_p2p", "p2p_modes", "p2p_misc",
            "p2p_partitioned", "p2p_probe", "p2p_many", "p2p_completion", "p2p_costs", "dec_gossip", "net_flow",
            "net_flow_coll", "type_halo", "type_darray", "topo_cart", "topo_dist_graph", "comm_create", "rma_random",
            "rma_request", "rma_pscw", "rma_types", "rma_errors")
WAYS = (("--host", "fibre"), ("--host", "process"), ("--host", "fibre", "--procs", "2"),
        ("--host", "process", "--procs", "2"))


def shim():
    """Functions in front of MPI's that replace buffers."""
    text = [SHIM_START]
    for group in generate.read_list(TESTS.parent / "api" / "mpi_functions.txt"):
        for call in group.calls:
            buffers = [arg for arg in call.args if arg.role == "buffer" or (arg.name == "base" and "create" in call.name)]
            if not buffers or not call.has_profiling_name or OTHERS.match(call.name) or call.state != "impl":
                continue
            values = (f"hollow({arg.name})" if arg in buffers else arg.name for arg in call.args)
            text.append(f"{call.returns} {call.name}({', '.join(call.parameters())})\n"
                        f"{{\n    return P{call.name}({', '.join(values)});\n}}\n")
    return "\n".join(text)


def header(source):
    """Arguments, options and number of ranks of a program, from its 'test:' line."""
    text = "\n".join(source.read_text().splitlines()[:5])
    found = dict(re.findall(r'(\w+)=("[^"]*"|\S+)', text))
    return {key: value.strip('"') for key, value in found.items()}


def environment(payload):
    return {**os.environ, **({"HOLLOW": "1"} if payload == "hollow" else {})}


class Tests:
    def __init__(self, options):
        self.orrery = os.path.abspath(options.orrery)
        self.folder = options.build_dir.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lock = threading.Lock()
        source, self.shim, text = self.folder / "shim.c", self.folder / "shim.o", shim()
        if not source.exists() or source.read_text() != text:
            source.write_text(text)
        harness.build(source, self.shim, ["-O1", "-w", "-c"])

    def program(self, name, *flags):
        binary = self.folder / "-".join((name, *(flag.strip("-") for flag in flags)))
        with self.lock:
            harness.build(TESTS / "mpi" / f"{name}.c", binary, ["-O1", "-w", *flags, str(self.shim)])
        return binary

    def run(self, name, payload, options, folder, words=()):
        """Summary, statistics and trace of a run."""
        folder = pathlib.Path(folder) / payload
        folder.mkdir()
        command = [self.orrery, "run", "-q", "--compute", "none", *options,
                   "--json", folder / "summary", "--stats", folder / "stats.csv", "--trace", folder / "trace.orr",
                   *(["--payload", "none"] if payload == "none" else []),
                   "--", self.program(name, "-DCHECK_IS_LAX"), *words]
        done = harness.call(command, env=environment(payload))
        demand(done.status == 0, f"{payload}: exit status {done.status}", done.stderr)
        events = harness.call([self.orrery, "trace", "print", "--exact", folder / "trace.orr"])
        summary = harness.read_summary((folder / "summary").read_text())
        return json.dumps(summary, indent=1), (folder / "stats.csv").read_text(), events.stdout

    def compare(self, name, options, words=()):
        with harness.fresh_folder() as folder:
            real = self.run(name, "real", options, folder, words)
            for payload in ("hollow", "none"):
                other = self.run(name, payload, options, folder, words)
                harness.demand_same(payload, *zip(("summary", "statistics", "trace"), real, other))

    def same(self, name, way):
        has = header(TESTS / "mpi" / f"{name}.c")
        n = max((int(n) for n in has.get("n", "1,2,5").split(",")), key=lambda n: n if n <= 8 else -n)
        self.compare(name, ["-n", n, *way, *has.get("run", "").split()], has.get("args", "").split())

    def algorithms(self, settings, eager):
        self.compare("coll_random", ["-n", "7", "--set", f"nodes.ranks=3,mpi.eager_limit={eager},{settings}"])

    def checked(self, payload):
        done = harness.call([self.orrery, "run", "-n", "4", "-q", *(["--payload", "none"] if payload == "none" else []),
                             self.program("coll_random")], env=environment(payload))
        demand(done.status == 1 and "check failed" in done.stderr, f"exit status {done.status}", done.stderr)

    def large(self, ranks, data, most, settings, *words):
        """A run that gets only so much memory, some of which is for programs and libraries."""
        binary = self.folder / "large"
        with self.lock:
            harness.build(TESTS / "hollow" / "large.c", binary, ["-O1", "-w"])
        with harness.fresh_folder() as folder:
            summary = pathlib.Path(folder) / "summary"
            done = harness.call(["prlimit", f"--data={data}", self.orrery, "run", "-q", "-n", ranks, "--compute", "none",
                                 "--set", settings, "--json", summary, binary, *words])
            demand(done.status == 0, f"exit status {done.status}", done.stderr)
            peak = json.loads(summary.read_text())["peak_rss_bytes"]
        demand(peak < most, f"{peak} bytes of memory")


def main():
    options = harness.options_parser(__doc__, "build/hollow-tests").parse_args()
    tests = Tests(options)
    ways = [WAYS[i % len(WAYS)] for i in range(len(PROGRAMS))]
    cases = [(f"same {name} {' '.join(way)}", tests.same, name, way) for name, way in zip(PROGRAMS, ways)]
    for turn, settings in enumerate(run_coll.settings_of_turns(tests.orrery)):
        cases.append((f"algorithms, turn {turn}", tests.algorithms, settings, ("40", "64KiB")[turn % 2]))
        cases.append((f"memory, turn {turn}", tests.large, 8, 300 << 20, 50 << 20, settings, "all", 64 << 20))
    cases.append(("memory, 65,536 ranks", tests.large, 65536, 1 << 30, 300 << 20, "net.latency=1us", "allreduce", 1 << 20))
    cases += [(f"checked {payload}", tests.checked, payload) for payload in ("hollow", "none")]
    tap = harness.Tap()
    tap.run_chosen(cases, options)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
