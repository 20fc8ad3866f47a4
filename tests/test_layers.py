#!/usr/bin/env python3
"""tools/check-layers: it finds an include that goes up, between modules and between rooms of a module; a call; and what
the build does across modules.

usage: test_layers.py SOURCE_DIR

Prints TAP.
"""

import json
import os
import subprocess
import sys
import tempfile

# file, what it includes, what is said about it; None: it may
CASES = [
    ("mpi/coll/a.c", "mpi/p2p/p2p.h", None),
    ("mpi/p2p/a.c", "mpi/rank.h", None),
    ("mpi/p2p/a.c", "mpi/p2p/p2p.h", None),
    ("mpi/a.c", "base/err.h", None),
    ("mpi/p2p/a.c", "mpi/coll/coll.h", "mpi/p2p may not include mpi/coll"),
    ("mpi/a.c", "mpi/comm/comm.h", "mpi may not include mpi/comm"),
    ("mpi/comm/a.h", "mpi/topo/topo.h", "mpi/comm may not include mpi/topo"),
    ("mpi/attic/a.c", "mpi/rank.h", "unknown room 'attic'"),
    ("engine/a.c", "mpi/rank.h", "engine may not include mpi"),
    ("mpi/a.c", "vp/vp_internal.h", "is private to vp"),
]


# source files, and what is said about them; None: nothing
CALLS = [
    ({"mpi/p2p/a.c": "void low(void) {}", "mpi/coll/b.c": "void low(void); void high(void) { low(); }"}, None),
    ({"mpi/p2p/a.c": "void high(void); void low(void) { high(); }", "mpi/coll/b.c": "void high(void) {}"},
     "mpi/p2p/a.c:1: needs 'high' of mpi/coll/b.c, which is in a room above it"),
    ({"mpi/a.c": "extern int word; int low(void) { return word; }", "mpi/main/b.c": "int word = 1;"},
     "mpi/a.c:1: needs 'word' of mpi/main/b.c"),
    ({"engine/a.c": "void net_start(void); void engine_start(void) { net_start(); }", "net/b.c": "void net_start(void) {}"},
     "engine/a.c:1: needs 'net_start' of net/b.c, which is in a module that engine may not use"),
    ({"native/a.c": "void recorder_say(void) {}", "hybrid/b.c": "void recorder_say(void) {}"},
     "hybrid/b.c:1: 'recorder_say' is also defined in native/a.c"),
    ({"native/a.c": "void write(void) {}", "vp/b.c": "void write(void) {}", "base/c.c": "void write(void); void base_put(void) { write(); }"},
     None),
]

# Which target compiles a file, and what is said about it.
BUILDS = [
    ([("native/a.c", "src/native/libnative.a.p/a.c.o"), ("native/a.c", "tests/test_a.p/a.c.o")], None),
    ([("native/a.c", "src/hybrid/libguest.a.p/a.c.o")], "native/a.c:1: is compiled by module hybrid"),
    ([("native/a.c", "src/native/libone.a.p/a.c.o"), ("native/a.c", "src/native/libtwo.a.p/a.c.o")],
     "native/a.c:1: is compiled twice"),
]


def build_and_check(tool, files):
    """check-layers on files that were compiled: path, object and text of each."""
    with tempfile.TemporaryDirectory() as top:
        source, build, commands = os.path.join(top, "src"), os.path.join(top, "build"), []
        for path, made, text in files:
            name = os.path.join(source, path)
            os.makedirs(os.path.dirname(name), exist_ok=True)
            os.makedirs(os.path.dirname(os.path.join(build, made)), exist_ok=True)
            with open(name, "w", encoding="utf-8") as file:
                file.write(f"#include <stddef.h>\n{text}\n")
            subprocess.run(["cc", "-w", "-c", name, "-o", os.path.join(build, made)], check=True)
            commands.append({"directory": build, "file": name, "output": made})
        with open(os.path.join(build, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump(commands, file)
        return subprocess.run([sys.executable, tool, "--objects", build, source], text=True, capture_output=True)


def judge(run, wanted):
    return wanted in run.stdout and run.returncode == 1 if wanted else run.returncode == 0 and not run.stdout


def main():
    tool, failed = os.path.join(sys.argv[1], "tools", "check-layers"), 0
    for number, (path, target, wanted) in enumerate(CASES, 1):
        with tempfile.TemporaryDirectory() as top:
            os.makedirs(os.path.dirname(os.path.join(top, path)))
            with open(os.path.join(top, path), "w", encoding="utf-8") as file:
                file.write(f'#include "{target}"\n')
            run = subprocess.run([sys.executable, tool, top], text=True, capture_output=True)
        good = judge(run, wanted)
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {path} {'may not' if wanted else 'may'} include {target}")
        if not good:
            print(f"# {run.stdout}{run.stderr}")
    cases = [([(path, f"{number}.o", text) for number, (path, text) in enumerate(files.items())], wanted)
             for files, wanted in CALLS]
    cases += [([(path, made, "") for path, made in files], wanted) for files, wanted in BUILDS]
    for number, (files, wanted) in enumerate(cases, len(CASES) + 1):
        run = build_and_check(tool, files)
        good = judge(run, wanted)
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {' and '.join(file[0] for file in files)}: {wanted or 'fine'}")
        if not good:
            print(f"# {run.stdout}{run.stderr}")
    print(f"1..{len(CASES) + len(cases)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
