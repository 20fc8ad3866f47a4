#!/usr/bin/env python3
"""Measure Orrery's speed and memory against its targets, and SimGrid's SMPI where installed.

Each case is repeated; the best result counts. Prints a table; with --markdown also inserts it into
a file, between its marker lines. Not a test: the exit status is 0 unless a case cannot be measured.
"""

import argparse
import json
import os
import sys

sys.dont_write_bytecode = True

import cases
import measure
import networks
import packets
import traces
from cases import LARGE_CASES, Bench, Row

CASES = {**cases.CASES, **networks.CASES, **packets.CASES, **traces.CASES}
COLUMNS = ("measured", "figure", "by CPU time", "target", "ratio", "")


def number(value):
    """Three significant digits, with thousands separated."""
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def cells(row):
    """The texts of a row, as in COLUMNS."""
    figure = f"{number(row.wall)} {row.unit}" if row.wall is not None else row.note
    cpu = f"{number(row.cpu)} {row.unit}" if row.cpu is not None else ""
    if row.target is None or row.wall is None:
        return [row.name, figure, cpu, "", "", row.verdict()]
    sign = "<" if row.better == "less" else ">="
    ratio = "" if row.wall <= 0 else f"{float(f'{row.ratio(row.wall):.2g}'):g}"
    return [row.name, figure, cpu, f"{sign} {number(row.target)} {row.unit}", ratio, row.verdict()]


def print_row(texts, command=""):
    """One line of the table on the terminal, and the command under it."""
    print(f"{texts[0]:<48} {texts[1]:>20} {texts[2]:>20} {texts[3]:>20} {texts[4]:>6}  {texts[5]}")
    if command:
        print(f"    {command}")
    sys.stdout.flush()


def machine_line(facts):
    """The computer in one line."""
    return (f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_gib']} GiB, Linux "
            f"{facts['kernel']}, {facts['date']}, load {facts['load']} at the start")


def markdown(rows, facts):
    """The table as Markdown."""
    lines = [machine_line(facts), ""]
    if facts["load"] > 1:
        lines += ["The computer was busy with other work; compare the figures by CPU time.", ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|---|---:|---:|---:|---:|---|"]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    lines += ["", "Commands:", ""]
    shown = dict.fromkeys(row.command for row in rows)
    return "\n".join(lines + ["    " + command for command in shown]) + "\n"


def replace_between(path, name, text):
    """Inserts text between the lines <!-- NAME:begin --> and <!-- NAME:end --> of a file."""
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->\n"
    with open(path, encoding="utf-8") as file:
        old = file.read()
    if old.count(begin) != 1 or old.count(end) != 1 or old.index(begin) > old.index(end):
        sys.exit(f"run.py: '{path}' lacks the lines '{begin.strip()}' and '{end.strip()}'")
    head, rest = old.split(begin)
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + begin + "\n" + text + "\n" + end + rest.split(end)[1])


def write_json(path, rows, facts):
    """All figures, for a program to read."""
    keys = ("name", "unit", "wall", "cpu", "target", "better", "command", "note")
    found = [{**{key: getattr(row, key) for key in keys}, "verdict": row.verdict()}
             for row in rows]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"machine": facts, "rows": found}, file, indent=1)
        file.write("\n")


def arguments():
    """The options of this program."""
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    every = [*CASES, *LARGE_CASES]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--orrery", default=os.path.join(top, "build", "orrery"))
    parser.add_argument("--build-dir", default=os.path.join(top, "build", "bench"))
    parser.add_argument("--only", metavar="NAME", action="append", choices=every,
                        help="run this case; may be repeated: " + ", ".join(every))
    parser.add_argument("--large", action="store_true", help="27 million ranks, and nothing else")
    parser.add_argument("--quick", action="store_true", help="shorter runs, without repetition")
    parser.add_argument("--repeat", type=int, default=3, help="default 3")
    parser.add_argument("--timeout", type=float, default=900, metavar="S",
                        help="stop a command after S seconds (default 900)")
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON")
    parser.add_argument("--markdown", metavar="FILE", help="put the table into FILE")
    return parser.parse_args()


def run_case(bench, name, function):
    """The rows of a case, and whether it could be measured; if not, the row says why."""
    try:
        return function(bench), True
    except measure.Failed as error:
        return [Row(name, "", None, note=str(error))], False


def main():
    options = arguments()
    orrery = os.path.abspath(options.orrery)
    if not os.access(orrery, os.X_OK):
        sys.exit(f"run.py: no simulator at '{orrery}': run make first, or use --orrery")
    every = {**CASES, **LARGE_CASES}
    chosen = options.only or list(LARGE_CASES if options.large else CASES)
    if options.markdown and not os.path.exists(options.markdown):
        sys.exit(f"run.py: '{options.markdown}' does not exist: a page with the lines to put the table between is needed")
    bench = Bench(orrery, os.path.abspath(options.build_dir),
                  1 if options.quick else max(1, options.repeat), options.quick, options.timeout)
    facts = measure.machine()
    print(machine_line(facts) + "\n")
    print_row(COLUMNS)
    rows, failed = [], 0
    for name in chosen:
        found, measured = run_case(bench, name, every[name])
        failed += not measured
        for row in found:
            print_row(cells(row), row.command)
        rows += found
    if options.json:
        write_json(options.json, rows, facts)
    if options.markdown:
        replace_between(options.markdown, "bench-large" if options.large else "bench",
                        markdown(rows, facts))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
