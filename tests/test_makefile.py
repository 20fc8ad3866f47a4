#!/usr/bin/env python3
"""The Makefile: which targets call the package manager, and what plain `make` says if something is missing.

usage: test_makefile.py SOURCE_DIR

Prints TAP. The package manager is a script of this test's own, which notes that it was called.
"""

import os
import re
import subprocess
import sys
import tempfile

INSTALLING = {"setup", "demo", "check", "bench", "papers"}
SCRIPTS = {
    "apt-get": 'echo "$@" >>"$NOTES"\n',
    "sudo": 'exec "$@"\n',
    "dpkg-query": 'for p; do :; done; [ "$p" = libyaml-dev ] || echo "install ok installed"\n',
    "meson": "echo 'meson.build:1:1: ERROR: Dependency \"yaml-0.1\" not found'; exit 1\n",
}


def make(source, *args, **more):
    env = {**os.environ, **more}
    for name in ("MAKEFLAGS", "MAKELEVEL", "BUILD", "PREFIX"):
        env.pop(name, None)
    run = subprocess.run(["make", "-C", source, *args], env=env, text=True, capture_output=True)
    return run.returncode, run.stdout + run.stderr


def main():
    source, count, failed = sys.argv[1], 0, 0

    def ok(good, name, said=""):
        nonlocal count, failed
        count += 1
        failed += not good
        print(f"{'ok' if good else 'not ok'} {count} - {name}")
        if not good:
            print("".join(f"# {line}\n" for line in said.splitlines()), end="")

    with open(os.path.join(source, "Makefile"), encoding="utf-8") as file:
        text = file.read()
    targets = re.search(r"^\.PHONY: (.*)$", text, re.M).group(1).split()
    with tempfile.TemporaryDirectory() as folder:
        for name, script in SCRIPTS.items():
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + script)
            os.chmod(path, 0o755)
        notes = os.path.join(folder, "notes")
        more = {"PATH": folder + ":" + os.environ["PATH"], "NOTES": notes}
        build = "BUILD=" + os.path.join(folder, "build")
        for target in targets:
            ok(re.search(rf"^{target}:", text, re.M), f"{target} has a rule")
            code, said = make(source, "-n", build, target, **more)
            ok(("apt-get" in said) == (target in INSTALLING),
               f"{target} calls {'the' if target in INSTALLING else 'no'} package manager", said)
        code, said = make(source, build, **more)
        ok(code != 0 and not os.path.exists(notes), "plain make fails without a package, and installs nothing", said)
        ok("libyaml-dev" in said and "libdw-dev" not in said, "it names the package", said)
        ok("make setup" in said and '"yaml-0.1" not found' in said, "and what to do, and what Meson said", said)
        code, said = make(source, build, "setup", **more)
        with open(notes, encoding="utf-8") as file:
            ok(code == 0 and "libyaml-dev" in file.read(), "make setup installs it", said)
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
