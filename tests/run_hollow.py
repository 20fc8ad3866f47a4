#!/usr/bin/env python3
"""Tests messages without payload: nothing but the content of buffers may differ. Prints TAP.

Programs of tests/mpi are compiled with CHECK evaluated but ignored, and with functions in front of MPI's
that, if the variable HOLLOW is set, pass a hollow buffer for every buffer. Each runs in three ways:

  real      as it is
  hollow    with orrery_hollow() for its buffers
  none      with 'orrery run --payload none'

Virtual time, messages, bytes, statistics and the trace must be the same. Programs take turns in running with
fibres and processes as hosts, on one native process and on two. Other cases:

  checked   without payload the data is missing: CHECK as it is ends the program
  memory    large messages of many ranks need little memory
"""

import json
import os
import pathlib
import re
import sys

import harness
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
PROGRAMS = ("coll_random", "coll_linear", "icoll_random", "pcoll_random", "ncoll_random", "icoll_inter", "inter_coll",
            "icoll_misc", "icoll_time", "coll_model", "op_user", "op_predefined", "fuzz_p2p",
            "p2p_isendrecv", "p2p_modes", "p2p_misc", "p2p_partitioned", "p2p_probe", "p2p_many", "p2p_order",
            "p2p_completion", "p2p_costs", "dec_gossip", "net_flow", "net_flow_coll", "type_halo", "type_layouts",
            "type_darray", "topo_cart", "topo_dist_graph", "comm_create", "rma_random", "rma_request", "rma_pscw",
            "rma_types", "rma_errors")
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


class Tests:
    def __init__(self, options):
        self.orrery = os.path.abspath(options.orrery)
        self.folder = options.build_dir.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.shim = self.folder / "shim.c"
        text = shim()
        if not self.shim.exists() or self.shim.read_text() != text:
            self.shim.write_text(text)

    def program(self, name, *flags):
        binary = self.folder / "-".join((name, *(flag.strip("-") for flag in flags)))
        harness.build(TESTS / "mpi" / f"{name}.c", binary, ["-O1", "-w", *flags, str(self.shim)])
        return binary

    def run(self, name, way, payload, folder):
        """Summary, statistics and trace of a run."""
        has = header(TESTS / "mpi" / f"{name}.c")
        n = max((int(n) for n in has.get("n", "1,2,5").split(",")), key=lambda n: n if n <= 8 else -n)
        folder = pathlib.Path(folder) / payload
        folder.mkdir()
        command = [self.orrery, "run", "-n", n, "-q", "--compute", "none", *way, *has.get("run", "").split(),
                   "--json", folder / "summary", "--stats", folder / "stats.csv", "--trace", folder / "trace.orr",
                   *(["--payload", "none"] if payload == "none" else []),
                   "--", self.program(name, "-DCHECK_IS_LAX"), *has.get("args", "").split()]
        done = harness.call(command, env={**os.environ, **({"HOLLOW": "1"} if payload == "hollow" else {})})
        demand(done.status == 0, f"{payload}: exit status {done.status}", done.stderr)
        events = harness.call([self.orrery, "trace", "print", "--exact", folder / "trace.orr"])
        summary = harness.read_summary((folder / "summary").read_text())
        return json.dumps(summary, indent=1), (folder / "stats.csv").read_text(), events.stdout

    def same(self, name, way):
        with harness.fresh_folder() as folder:
            real = self.run(name, way, "real", folder)
            for payload in ("hollow", "none"):
                other = self.run(name, way, payload, folder)
                harness.demand_same(payload, *zip(("summary", "statistics", "trace"), real, other))

    def checked(self, payload):
        environment = {**os.environ, **({"HOLLOW": "1"} if payload == "hollow" else {})}
        done = harness.call([self.orrery, "run", "-n", "4", "-q", *(["--payload", "none"] if payload == "none" else []),
                             self.program("coll_random")], env=environment)
        demand(done.status == 1 and "check failed" in done.stderr, f"exit status {done.status}", done.stderr)


def main():
    options = harness.options_parser(__doc__, "build/hollow-tests").parse_args()
    tests = Tests(options)
    ways = [WAYS[i % len(WAYS)] for i in range(len(PROGRAMS))]
    cases = [(f"same {name} {' '.join(way)}", tests.same, name, way) for name, way in zip(PROGRAMS, ways)]
    cases += [(f"checked {payload}", tests.checked, payload) for payload in ("hollow", "none")]
    tap = harness.Tap()
    tap.run_cases([case for case in cases if re.search(options.filter, case[0])], options.jobs)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
