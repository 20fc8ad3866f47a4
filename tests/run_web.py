#!/usr/bin/env python3
"""Tests the front end of reports: types, unit tests, and pages in a real Chromium. Prints TAP.

It tests what `make web` has built in the build folder; if there is nothing, for instance because
npm's registry cannot be reached, it says so. --keep FOLDER keeps pages and screenshots there.
--picture FILE.png only takes a picture of the report of examples/report, such as docs/report.png.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import sys

import harness
from harness import ROOT, TESTS, demand

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
TAP_LINE = re.compile(r"^(not )?ok \d+ - (.*)$")


class Runner:
    def __init__(self, build, folder):
        self.build = build
        self.web = build / "web"
        self.folder = folder
        self.passed = self.failed = 0

    def result(self, good, name, why=""):
        self.passed += good
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.passed + self.failed} - {name}")
        if not good:
            print("".join(f"  {line}\n" for line in why.splitlines()[:30]), end="", flush=True)

    def check(self, name, *command):
        done = harness.call(command, cwd=self.web)
        self.result(done.status == 0, name, done.stdout + done.stderr)
        return done.status == 0

    def tap(self, *command):
        """The results of a command that prints TAP itself."""
        done = harness.call(command, cwd=self.web)
        lines = done.stdout.splitlines()
        found = 0
        for i, line in enumerate(lines):
            match = TAP_LINE.match(line)
            if match:
                found += 1
                self.result(not match[1], match[2], "\n".join(lines[i + 1:i + 25]))
            elif line.startswith("# ") and "frames" in line:
                print(line)
        if not found or "1.." not in done.stdout:
            self.result(False, f"{command[1]} comes to its end", done.stdout[-1500:] + done.stderr[-1500:])

    # ---- the front end by itself ----

    def types(self):
        """The compiler in strict mode; packages are in the build folder, sources are not."""
        packages = self.web / "node_modules"
        config = {"extends": str(ROOT / "web/tsconfig.json"), "include": [str(ROOT / "web/src"), str(ROOT / "web/test")],
                  "compilerOptions": {"typeRoots": [str(packages / "@types")], "baseUrl": str(packages), "paths": {"*": ["*"]}}}
        (self.web / "tsconfig.json").write_text(json.dumps(config))
        self.check("types are right", "node", packages / "typescript/bin/tsc", "-p", "tsconfig.json")

    def units(self):
        tests = self.web / "tests"
        shutil.rmtree(tests, ignore_errors=True)
        if self.check("unit tests are bundled", "node", ROOT / "web/test/units.mjs", tests):
            self.tap("node", "--test", "--test-reporter=tap", *sorted(tests.glob("*.mjs")))

    # ---- installation ----

    def install(self):
        """The page is installed next to the presets, and without npm the build says what is missing."""
        prefix = self.folder / "prefix"
        done = harness.call([ROOT / "web/install.sh", "share/orrery"], env={
            **os.environ, "MESON_BUILD_ROOT": str(self.build), "MESON_INSTALL_DESTDIR_PREFIX": str(prefix)})
        self.result((prefix / "share/orrery/report.html").exists(), "the page is installed", done.stderr)
        programs = self.folder / "programs"
        programs.mkdir(exist_ok=True)
        for name in ("sh", "mkdir", "dirname"):
            link = programs / name
            link.unlink(missing_ok=True)
            link.symlink_to(shutil.which(name))
        done = harness.call([ROOT / "web/build.sh", self.folder / "nothing"], env={"PATH": str(programs)})
        self.result(done.status == 0 and "needs node and npm" in done.stderr and "all else works" in done.stderr,
                    "without npm it says what is missing, and goes on", done.stderr)

    # ---- pages ----

    def run(self, *command):
        done = harness.call([self.build / "orrery", *command], cwd=self.folder)
        demand(done.status == 0, f"'orrery {command[0]}' ended with {done.status}", done.stderr)

    def pages(self):
        """one.html of a run in one step, two.html of two machines, large.html of many calls."""
        harness.build(TESTS / "web/halo.c", self.folder / "halo", ["-O2", *harness.STRICT])
        self.run("run", "-n", "16", "-q", "--set", "net.model=flow,net.topology.kind=torus,net.topology.dims=4x4", "--report",
                 "one.html", "./halo", "40")
        self.run("run", "-n", "16", "-q", "--platform", "infiniband-hdr", "--trace", "b.orr", "./halo", "40")
        self.run("run", "-n", "2048", "-q", "--compute", "none", "--trace", "large.orr", "./halo", "90")
        self.run("run", "-n", "16", "-q", "--trace", "a.orr", "./halo", "40")
        self.run("report", "a.orr", "b.orr", "--name", "Ethernet", "--name", "InfiniBand", "-o", "two.html")
        self.run("report", "large.orr", "-o", "large.html")
        for name in ("one", "two", "large"):
            text = (self.folder / f"{name}.html").read_text()
            loads = re.findall(r'(?:src|href)\s*=\s*["\']?(?:https?:)?//[^"\'> ]*|@import|url\((?!["\']?data:)[^)]*\)', text)
            self.result(not loads, f"{name}.html names nothing to load", "\n".join(loads))
            self.result("Content-Security-Policy" in text and "default-src 'none'" in text, f"{name}.html forbids to load anything")
            self.result(len(text) < 60e6, f"{name}.html has {len(text)} bytes")

    def picture(self, path):
        """The top of a report, for the documentation."""
        chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
        demand(chromium, "no Chromium")
        for command in (["make", "-s", "-C", ROOT / "examples/report", "demo", f"ORRERY={self.build / 'orrery'}",
                         f"OUT={self.folder}"],
                        ["node", ROOT / "web/test/picture.mjs", chromium, self.folder / "front.html", path]):
            done = harness.call(command, cwd=self.web)
            demand(done.status == 0, f"'{command[0]}' ended with {done.status}", done.stderr)

    def browser(self):
        chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
        if not chromium:
            print("# no Chromium: pages were not looked at; 'make check' installs it on Debian")
            return
        try:
            self.pages()
        except harness.Failure as failure:
            self.result(False, "pages are made", str(failure))
            return
        self.tap("node", ROOT / "web/test/browser.mjs", chromium, self.folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", default="build", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--picture", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build_dir.resolve()
    if not (build / "web/report.html").exists():
        print("# the front end was not built (make web): it is not tested\n0 passed, 0 failed")
        return 0
    with harness.fresh_folder() as temporary:
        folder = options.keep.resolve() if options.keep else pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        runner = Runner(build, folder)
        if options.picture:
            runner.picture(options.picture.resolve())
            return 0
        runner.types()
        runner.units()
        runner.install()
        runner.browser()
    print(f"{runner.passed} passed, {runner.failed} failed")
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
