#!/usr/bin/env python3
"""tools/check-layers: it finds an include that goes up, between modules and between rooms of a module.

usage: test_layers.py SOURCE_DIR

Prints TAP.
"""

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


def main():
    tool, failed = os.path.join(sys.argv[1], "tools", "check-layers"), 0
    for number, (path, target, wanted) in enumerate(CASES, 1):
        with tempfile.TemporaryDirectory() as top:
            os.makedirs(os.path.dirname(os.path.join(top, path)))
            with open(os.path.join(top, path), "w", encoding="utf-8") as file:
                file.write(f'#include "{target}"\n')
            run = subprocess.run([sys.executable, tool, top], text=True, capture_output=True)
        good = wanted in run.stdout and run.returncode == 1 if wanted else run.returncode == 0 and not run.stdout
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {path} {'may not' if wanted else 'may'} include {target}")
        if not good:
            print(f"# {run.stdout}{run.stderr}")
    print(f"1..{len(CASES)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
