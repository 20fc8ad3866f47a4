#!/usr/bin/env python3
"""Runs the evaluations of the papers that Orrery builds on, and writes the page that compares.

usage: evaluate.py [options] [PAPER[:EXPERIMENT] ...]       without names: all

  --orrery FILE   the simulator (default: orrery)
  --out DIR       where programs, numbers and plots go
  --docs DIR      also write DIR/papers.md and its plots, from all that has been run so far
  --small         small sizes and few repetitions, for tests: exit status 1 if an exact claim does not hold
  --nas DIR       real NAS Parallel Benchmarks, built with mpicc.mpich, instead of the kernels of examples/
  --list          the names
"""

import argparse
import dataclasses
import datetime
import importlib
import json
import pathlib
import shutil
import sys
import time

import study

PAPERS = ("engelmann", "riesen", "penoff", "boehme", "zhang")


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--orrery", default="orrery")
    parser.add_argument("--out", default=study.HERE / "out")
    parser.add_argument("--docs")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--nas")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        return options
    options.orrery = shutil.which(options.orrery) or sys.exit(f"papers: cannot run '{options.orrery}'")
    if options.nas and not pathlib.Path(options.nas).is_dir():
        sys.exit(f"papers: '{options.nas}' is not a folder with NAS Parallel Benchmarks")
    return options


def wanted(papers, names):
    """By paper, the names of experiments to run; an empty list for all of them."""
    if not names:
        return {paper.NAME: [] for paper in papers}
    chosen = {}
    for name in names:
        paper, _, one = name.partition(":")
        known = next((entry for entry in papers if entry.NAME == paper), None)
        if not known:
            sys.exit(f"papers: '{paper}' is none of {', '.join(PAPERS)}")
        if one and one not in [experiment.name for experiment in known.EXPERIMENTS]:
            sys.exit(f"papers: {paper} has no '{one}', but {', '.join(entry.name for entry in known.EXPERIMENTS)}")
        chosen.setdefault(paper, []).extend([one] if one else [])
    return chosen


def run_one(paper, experiment, options):
    work = study.Study(paper.NAME, options)
    work.title = f"{paper.NAME} {experiment.name}"
    found = {"name": experiment.name, "title": experiment.title, "theirs": experiment.theirs, "ours": experiment.ours,
             "machine": study.machine(), "commit": study.commit(), "date": datetime.date.today().isoformat()}
    start = time.monotonic()
    try:
        found.update(dataclasses.asdict(experiment.run(work)))
    except study.Missing as missing:
        found["missing"] = str(missing)
        work.say(f"not here: {missing}")
    found["commands"] = work.shown_commands()
    work.say(f"done in {time.monotonic() - start:.0f} s")
    return found


def keep(path, experiments, new):
    """Adds what was found to what is known of this paper, in the order of its experiments."""
    known = {one["name"]: one for one in json.loads(path.read_text())} if path.exists() else {}
    known.update({one["name"]: one for one in new})
    path.write_text(json.dumps([known[one.name] for one in experiments if one.name in known], indent=1) + "\n")


def report(paper, found, small):
    """Prints the claims, of small runs the exact ones alone; returns how many of these do not hold."""
    wrong = 0
    for one in found:
        for claim in one.get("claims", []):
            if small and not claim["exact"]:
                continue
            wrong += claim["exact"] and not claim["holds"]
            print(f"  {'ok ' if claim['holds'] else 'NO '} {paper.NAME} {one['name']}: {claim['text']}"
                  + (f" ({claim['found']})" if claim["found"] else ""))
    return wrong


def main():
    options = read_options()
    papers = [importlib.import_module(f"{name}.experiments") for name in PAPERS]
    if options.list:
        for paper in papers:
            for experiment in paper.EXPERIMENTS:
                print(f"{paper.NAME}:{experiment.name:12} {experiment.title}")
        return 0
    wrong = 0
    for paper in papers:
        names = wanted(papers, options.names).get(paper.NAME)
        if names is None:
            continue
        print(f"{paper.TITLE}", flush=True)
        chosen = [one for one in paper.EXPERIMENTS if not names or one.name in names]
        found = []
        for experiment in chosen:
            found.append(run_one(paper, experiment, options))
            keep(pathlib.Path(options.out) / paper.NAME / "found.json", paper.EXPERIMENTS, found)
        wrong += report(paper, found, options.small)
    if options.docs:
        import page
        page.write(pathlib.Path(options.out), pathlib.Path(options.docs), papers)
        print(f"wrote {options.docs}/papers.md")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except study.Failure as failure:
        sys.exit(f"papers: {failure}")
