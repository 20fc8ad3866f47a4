#!/usr/bin/env python3
"""Tests the Debian package: builds it from the tree, unpacks it into a folder and uses it from there.

Prints TAP. The tree is all files that git tracks or does not ignore. Needs dpkg-dev, debhelper,
pkgconf, zsh and fish.
"""

import argparse
import os
import pathlib
import pty
import re
import select
import shutil
import signal

import harness
from harness import LIMIT, ROOT, demand

LINK = re.compile(r"\]\(([^)#:]+)\)")
BUILD_LIMIT = 3600  # seconds: a whole build, perhaps on a busy computer
EXAMPLES = ("heat", "farm", "machines", "calibrate")


def call(command, cwd=None, environment=None, limit=LIMIT):
    """Runs a command that must succeed; returns standard output and standard error."""
    done = harness.call(command, limit, cwd=cwd, env=environment)
    demand(done.status == 0, f"'{command[0]}' ended with {done.status}", done.stdout[-2000:],
           done.stderr[-2000:])
    return done.stdout + done.stderr


def copy_tree(target):
    shutil.rmtree(target, ignore_errors=True)
    names = call(["git", "ls-files", "-coz", "--exclude-standard"], ROOT).split("\0")
    for name in filter(None, names):
        if not (ROOT / name).exists():
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name, follow_symlinks=False)


class Tests:
    def __init__(self, build):
        self.build = build
        self.source = build / "orrery"
        self.tree = build / "unpacked"
        self.has_web = (build.parent / "web/report.html").exists()
        self.log = ""
        self.environment = {**os.environ, "PATH": f"{self.tree / 'usr/bin'}:{os.environ['PATH']}",
                            "HOME": str(build)}

    # ---- the package ----

    def package(self):
        """dpkg-buildpackage builds a package without tests."""
        copy_tree(self.source)
        for old in self.build.glob("*.deb"):
            old.unlink()
        # debhelper sets another HOME; these let npm find its settings and its cache
        home = pathlib.Path.home()
        self.log = call(["dpkg-buildpackage", "-b", "-us", "-uc"], self.source,
                        {**os.environ, "DEB_BUILD_OPTIONS": f"parallel={os.cpu_count()} noautodbgsym noopt",
                         "npm_config_userconfig": str(home / ".npmrc"), "npm_config_cache": str(home / ".npm")}, BUILD_LIMIT)
        packages = list(self.build.glob("*.deb"))
        demand(len(packages) == 1, f"{len(packages)} packages")
        shutil.rmtree(self.tree, ignore_errors=True)
        call(["dpkg-deb", "-x", str(packages[0]), str(self.tree)])
        tests = [path for path in self.source.glob("obj-*/tests/*") if path.is_file()]
        demand(not tests, f"tests were built: {tests[:3]}")

    def make_install(self):
        """`make install` of what was built, to another prefix: it runs from there, and has the page of reports if npm is there."""
        root = self.build / "root"
        shutil.rmtree(root, ignore_errors=True)
        built = next(self.source.glob("obj-*")).name
        said = call(["make", "-C", str(self.source), "install", f"BUILD={built}", "PREFIX=/opt/orrery", f"DESTDIR={root}"],
                    environment={name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")},
                    limit=BUILD_LIMIT)
        program = root / "opt/orrery/bin/orrery"
        demand("ethernet-1g" in call([str(program), "platform", "list"]), "no presets")
        call([str(program), "run", "-q", "-n", "2", "--compute", "none", str(self.mpi_program())])
        page = (root / "opt/orrery/share/orrery/report.html").exists()
        demand(page != ("writes no pages" in said), f"the page of reports: {page}", said)

    def mpi_program(self):
        source, program = self.build / "small.c", self.build / "small"
        source.write_text("#include <mpi.h>\nint main(int argc, char **argv)\n{\n    MPI_Init(&argc, &argv);\n"
                          "    return MPI_Finalize();\n}\n")
        call(["mpicc.mpich", "-o", str(program), str(source)])
        return program

    def runs(self):
        """The unpacked program finds its library and its presets."""
        demand("ethernet-1g" in call(["orrery", "platform", "list"], environment=self.environment), "no presets")

    def pages(self):
        """Every command has a page; links between pages are not dead."""
        share = self.tree / "usr/share"
        for command in re.findall(r"^  ([a-z]+) ", call(["orrery", "help"], environment=self.environment), re.M):
            demand(command in ("help", "version") or (share / f"man/man1/orrery-{command}.1.gz").exists(),
                   f"no page of '{command}'")
        dead = [f"{page.relative_to(share)}: {link}" for page in (share / "doc/orrery").rglob("*.md")
                for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
        demand(not dead, "dead links", "\n".join(dead))

    def report(self):
        """The package contains the page of reports if npm can build it; otherwise the build says that it is
        missing."""
        page = self.tree / "usr/share/orrery/report.html"
        if "writes no pages" in self.log:
            demand(not self.has_web, "'make web' has built the page here, the package has not", self.log[-2000:])
            demand(not page.exists(), "there is a page that was not built")
            return
        demand(page.exists(), "no page, and no word of it")
        source, program = ROOT / "examples/report/front.c", self.build / "front"
        call(["mpicc.mpich", "-O2", f"-I{self.tree / 'usr/include'}", "-o", str(program), str(source), "-lm"])
        call(["orrery", "run", "-n", "4", "-q", "--compute", "none", "--report", "front.html", str(program)], self.build,
             self.environment)
        demand("critical path" in (self.build / "front.html").read_text(), "not a report")

    def pkg_config(self):
        """The header is found by pkg-config, and a program that uses it builds without Orrery's tree."""
        flags = call(["pkg-config", "--cflags", "orrery"], environment={
            **self.environment, "PKG_CONFIG_SYSROOT_DIR": str(self.tree), "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1",
            "PKG_CONFIG_PATH": ":".join(map(str, self.tree.glob("usr/lib/*/pkgconfig")))}).split()
        source = self.build / "hooks.c"
        source.write_text("#include <orrery.h>\nint main(void) { orrery_compute(1.0); return 0; }\n")
        call(["cc", *flags, "-o", str(self.build / "hooks"), str(source)])
        call([str(self.build / "hooks")])

    def example(self, name):
        """The examples work in a copy of their folder, with the orrery on PATH."""
        copy = self.build / "copy"
        if not copy.exists():
            shutil.copytree(self.tree / "usr/share/doc/orrery/examples", copy)
        environment = {**self.environment, "CPATH": str(self.tree / "usr/include")}
        for variable in ("ORRERY", "OUT", "MAKEFLAGS", "MAKELEVEL"):
            environment.pop(variable, None)
        call(["make", "-C", str(copy / name), "test"], environment=environment)

    # ---- completion ----

    def typed(self, shell, setup, keys):
        """What an interactive shell prints when keys are typed."""
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(self.build)
            os.execvpe(shell[0], shell, {**self.environment, "TERM": "dumb", "PS1": "$ ", "INPUTRC": "/dev/null"})
        shown = b""
        try:
            os.write(fd, f"{setup}\n{keys}\nexit\n".encode())
            while select.select([fd], [], [], LIMIT)[0]:
                shown += os.read(fd, 65536)
            os.killpg(pid, signal.SIGKILL)
        except OSError: # it has ended
            pass
        os.close(fd)
        os.waitpid(pid, 0)
        return shown.decode(errors="replace")

    def bash(self):
        script = self.tree / "usr/share/bash-completion/completions/orrery"
        shown = self.typed(["bash", "--norc", "--noprofile", "-i"], f"source {script}",
                           "orrery platf\tsh\t--set net.mod\tlogg\t eth\tg")
        demand("model: loggops" in shown, "not completed", shown)

    def zsh(self):
        where = self.tree / "usr/share/zsh/vendor-completions"
        shown = self.typed(["zsh", "-f", "-i"],
                           f"fpath=({where} $fpath); autoload -U compinit; compinit -u -D",
                           "orrery platf\tsh\t--set net.mode\tlogg\t eth\tg")
        demand("model: loggops" in shown, "not completed", shown)

    def fish(self):
        script = self.tree / "usr/share/fish/vendor_completions.d/orrery.fish"
        found = call(["fish", "--no-config", "-c", f"source {script}; for line in 'orrery run --pla' "
                      "'orrery run --set net.model=f' 'orrery run --host ' 'orrery platform show inf'; "
                      "complete -C $line; end"], environment=self.environment)
        words = [line.split("\t")[0] for line in found.splitlines()]
        wanted = ["--placement", "--platform", "net.model=flow", "auto", "fibre", "process", "infiniband-hdr"]
        demand([word for word in words if word in wanted] == wanted, "not what is wanted", found)

    def candidates(self):
        """The candidates for completion."""
        def ask(*words):
            return [line.split("\t")[0] for line in call(
                ["orrery", "completion", "--words", "--", *words], environment=self.environment).splitlines()]
        demand(ask("pl") == ["platform"], "not a command", str(ask("pl")))
        demand(ask("run", "--set=net.model=fl") == ["--set=net.model=flow"], "not a value")
        demand(ask("run", "--set", "net.latency=1us,net.model=fl") == ["net.latency=1us,net.model=flow"],
               "not the last of a list")
        demand(ask("sweep", "-n", "4,8", "run", "--stacks", "o") == ["own"], "not an option behind 'run'")
        demand(ask("run", "-n", "4", "./app", "--") == ["@files"], "not the program's own")
        demand(ask("run", "-n", "4", "") == ["@programs"], "not a program")
        demand("--worker" not in ask("run", "--"), "an option that is not for users")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.build_dir.mkdir(parents=True, exist_ok=True)
    tests = Tests(options.build_dir.resolve())
    shutil.rmtree(tests.build / "copy", ignore_errors=True)
    cases = [("the package is built, without tests", tests.package), ("it runs from its folder", tests.runs),
             ("pages and links", tests.pages), ("the page of reports", tests.report),
             ("pkg-config", tests.pkg_config), ("make install", tests.make_install)]
    cases += [(f"the example {name} in a copy", tests.example, name) for name in EXAMPLES]
    cases += [("completion: candidates", tests.candidates), ("completion in bash", tests.bash),
              ("completion in zsh", tests.zsh), ("completion in fish", tests.fish)]
    tap = harness.Tap()
    tap.run_cases(cases)
    return tap.end()


if __name__ == "__main__":
    harness.main(main)
