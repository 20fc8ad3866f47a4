#!/usr/bin/env python3
"""The Makefile: which targets call the package manager, what plain `make` says if something is missing, and in which order
`make install` does what.

usage: test_makefile.py SOURCE_DIR

Prints TAP. The package manager is a script of this test's own, which notes that it was called. So are Meson, Ninja and npm:
tests/run_install.py installs with the real ones.
"""

import os
import re
import shutil
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


NOTE = 'echo "$(basename "$0") $@${DESTDIR:+ to $DESTDIR}" >>"$NOTES"\n'
TOOLS = {
    # It knows its prefix, and has configured the build.
    "meson": 'if [ "$1" = introspect ]; then echo \'[{"name": "prefix", "value": "/usr/local"}]\'; exit; fi\n' + NOTE,
    "ninja": NOTE,
    "npm": NOTE,
    "node": NOTE + 'echo page >report.html\n',
}
NOBODY = 65534


def make(source, *args, user=None, **more):
    env = {**os.environ, **more}
    for name in ("MAKEFLAGS", "MAKELEVEL", "BUILD", "PREFIX", "DESTDIR"):
        env.pop(name, None)
    run = subprocess.run(["make", "-C", source, *args], env=env, text=True, capture_output=True, user=user)
    return run.returncode, run.stdout + run.stderr


def write_scripts(folder, scripts):
    for name, script in scripts.items():
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(path, 0o755)


def test_install(source, ok):
    """A plain `make` was there before: BUILD is configured."""
    with tempfile.TemporaryDirectory() as folder:
        build, notes = os.path.join(folder, "build"), os.path.join(folder, "notes")
        os.mkdir(build)
        with open(os.path.join(build, "build.ninja"), "w", encoding="utf-8"):
            pass
        write_scripts(folder, TOOLS)

        def install(*args, user=None, path=folder + ":" + os.environ["PATH"]):
            if os.path.exists(notes):
                os.remove(notes)
            code, said = make(source, f"BUILD={build}", *args, "install", user=user, PATH=path, NOTES=notes)
            if not os.path.exists(notes):
                return code, said, []
            with open(notes, encoding="utf-8") as file:
                return code, said, [re.sub(rf"{source}/|{build}", "", line) for line in file.read().splitlines()]

        end = ["ninja -C  product", "meson install -C  --no-rebuild"]
        code, said, done = install()
        ok(code == 0 and done[0].startswith("npm ci") and done[1:] == ["node web/build.mjs report.html", *end],
           "make install builds the page of reports first", said + "\n".join(done))
        code, said, done = install("PREFIX=/opt/x", "DESTDIR=/d")
        ok(code == 0 and [line.removesuffix(" to /d") for line in done[-3:]] == ["meson configure  -Dprefix=/opt/x", *end] and
           done[-1].endswith(" to /d"), "it honours PREFIX and DESTDIR",
           said + "\n".join(done))
        few = os.path.join(folder, "few")  # a system without npm
        os.mkdir(few)
        for name in ("sh", "python3", "make", "cmp", "cp", "mkdir", "dirname", "basename", "stat"):
            os.symlink(shutil.which(name), os.path.join(few, name))
        write_scripts(few, {name: TOOLS[name] for name in ("meson", "ninja")})
        code, said, done = install(path=few)
        ok(code == 0 and done == end and "writes no pages" in said, "without npm it says what is missing, and installs all else",
           said + "\n".join(done))
        if os.getuid() == 0:
            os.chmod(folder, 0o755)
        else:
            os.chmod(build, 0o555)
        code, said, done = install(user=NOBODY if os.getuid() == 0 else None)
        ok(code != 0 and not done and "cannot write to" in said, "who cannot write to the build is told so", said)
        os.chmod(build, 0o755)


def test_optimised(source, ok):
    """Link-time optimisation: in what users get, not in a developer's own build, where it delays every change."""
    with open(os.path.join(source, "meson.build"), encoding="utf-8") as file:
        ok("'b_lto=false'" in file.read(), "meson setup leaves out link-time optimisation")
    with open(os.path.join(source, "debian/rules"), encoding="utf-8") as file:
        ok("-Db_lto=" in file.read(), "the Debian package decides about it")
    with tempfile.TemporaryDirectory() as folder:
        notes = os.path.join(folder, "notes")
        write_scripts(folder, {"meson": NOTE})
        code, said = make(source, "BUILD=" + os.path.join(folder, "build"), "configure", "SETUP=-Db_lto=false -Dx=y",
                          PATH=folder + ":" + os.environ["PATH"], NOTES=notes)
        with open(notes, encoding="utf-8") as file:
            done = file.read()
        ok(code == 0 and done.rstrip().endswith("-Db_lto=true -Db_lto=false -Dx=y"), "make turns it on; SETUP has the last word",
           said + done)


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
        write_scripts(folder, SCRIPTS)
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
    test_install(source, ok)
    test_optimised(source, ok)
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
