#!/usr/bin/env python3
"""tests/harness.py: a native run that dies in its own library is repeated and counted, any other failure is not.

usage: test_harness.py SOURCE_DIR

Prints TAP.
"""

import os
import pathlib
import sys

sys.path.insert(0, os.path.join(sys.argv[1], "tests"))
import harness  # noqa: E402

UCX = "[node1:4711 :0:4711]    vfs_obj.c:365  Assertion `khiter != kh_end(&obj_hash)' failed"
MPICH = "Assertion failed in file src/mpid/ch4/src/ch4_proc.c at line 42: 0"
PROGRAM = "program: check.c:12: main: Assertion `sum == 6' failed."

# what it is, what the program says each time it fails, how often it fails first; the status, runs that died, and
# whether there is no answer
CASES = [
    ("a run that succeeds", UCX, 0, 0, 0, False),
    ("UCX fails once", UCX, 1, 0, 1, False),
    ("MPICH fails twice", MPICH, 2, 0, 2, False),
    ("UCX always fails", UCX, 9, None, harness.ORACLE_TRIES, True),
    ("the program fails", PROGRAM, 9, 134, 0, False),
    ("the program fails once", PROGRAM, 1, 134, 0, False),
]


def try_case(says, failures, status, died, silent):
    with harness.fresh_folder() as folder:
        script, count = pathlib.Path(folder, "native"), pathlib.Path(folder, "count")
        harness.write_script(script, f"""#!/bin/sh
echo >>{count}
[ $(wc -l <{count}) -gt {failures} ] && exit 0
cat >&2 <<'END'
{says}
END
exit 134
""")
        oracles = harness.Oracles()
        done = oracles.call([script])
        harness.demand((done.status if done else None) == status, f"answer {done}, not {status}")
        harness.demand(oracles.died == died, f"{oracles.died} died, not {died}")
        harness.demand(bool(oracles.silent) == silent, f"no answer: {oracles.silent}")
        harness.demand(bool(oracles.report()) == (died > 0), f"report: {oracles.report()}")


def main():
    tap = harness.Tap()
    tap.run_cases([(case[0], try_case, *case[1:]) for case in CASES])
    print(f"1..{tap.number}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    harness.main(main)
