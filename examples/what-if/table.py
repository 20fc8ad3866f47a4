#!/usr/bin/env python3
"""Replays the trace of `arrivals` and prints how far each replay is from the program: identity, and with
region foo balanced; with completion in any order and in the recorded one.

usage: table.py ORRERY ORIGINAL.orr MODIFIED.orr
"""

import json
import os
import subprocess
import sys
import tempfile

WAITS = {"Late sender": ("late-sender", "wrong-order"), "Wait at barrier": ("wait-at-barrier",)}


def measure(orrery, trace):
    groups = json.loads(subprocess.run([orrery, "analyze", "--format", "json", trace], check=True,
                                       capture_output=True, text=True).stdout)["groups"]
    functions = {row["function"]: row["time"] for row in groups["functions"]["functions"]}
    waits = {row["wait-state"]: row["time"] for row in groups["waits"]["waits"]}
    values = {"Total time": groups["overall"]["overall"][0]["runtime"],
              "Point-to-point": sum(time for name, time in functions.items()
                                    if any(word in name for word in ("send", "recv", "Wait")))}
    values.update({name: sum(waits.get(state, 0) for state in states) for name, states in WAITS.items()})
    return values


def replay(orrery, trace, *options):
    with tempfile.TemporaryDirectory() as folder:
        new = os.path.join(folder, "new.orr")
        subprocess.run([orrery, "replay", "-q", *options, trace, "-o", new], check=True)
        return measure(orrery, new)


def deviation(value, reference):
    return f"{100 * abs(value - reference) / reference:.4f} %" if reference else f"{value:.6f} s"


def main():
    orrery, original, modified = sys.argv[1:]
    was, meant = measure(orrery, original), measure(orrery, modified)
    balance = ["--what-if", "balance foo"]
    columns = [(was, replay(orrery, original)), (was, replay(orrery, original, "-d")),
               (meant, replay(orrery, original, *balance)), (meant, replay(orrery, original, "-d", *balance))]
    print(f"{'':16} {'run time':^23}  {'identity':^23}  {'foo balanced':^23}")
    print(f"{'metric':16} " + "  ".join(f"{title:>11} {other:>11}" for title, other in
                                        (("original", "modified"), ("any order", "recorded"),
                                         ("any order", "recorded"))))
    for name, value in was.items():
        cells = [deviation(got[name], reference[name]) for reference, got in columns]
        print(f"{name:16} {value:9.6f} s {meant[name]:9.6f} s  {cells[0]:>11} {cells[1]:>11}  "
              f"{cells[2]:>11} {cells[3]:>11}")


if __name__ == "__main__":
    main()
