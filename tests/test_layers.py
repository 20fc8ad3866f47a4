#!/usr/bin/env python3
"""tools/check-layers: it finds an include that goes up, between modules and between rooms of a module; and a call.

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
]


def build_and_check(tool, files):
    """check-layers on files that were compiled."""
    with tempfile.TemporaryDirectory() as top:
        source, build, commands = os.path.join(top, "src"), os.path.join(top, "build"), []
        os.makedirs(build)
        for number, (path, text) in enumerate(files.items()):
            name, made = os.path.join(source, path), f"{number}.o"
            os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "w", encoding="utf-8") as file:
                file.write(f"#include <stddef.h>\n{text}\n")
            subprocess.run(["cc", "-c", name, "-o", os.path.join(build, made)], check=True)
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
    for number, (files, wanted) in enumerate(CALLS, len(CASES) + 1):
        run = build_and_check(tool, files)
        good = judge(run, wanted)
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {' and '.join(files)}: {'a call goes up' if wanted else 'fine'}")
        if not good:
            print(f"# {run.stdout}{run.stderr}")
    print(f"1..{len(CASES) + len(CALLS)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
