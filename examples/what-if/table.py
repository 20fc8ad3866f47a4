#!/usr/bin/env python3
"""Replays traces of `arrivals` and prints how far each replay is from the program: identity, and with region foo balanced;
with completion in any order and in the recorded one.

usage: table.py ORRERY ORIGINAL.orr MODIFIED.orr       two simulated runs, replayed in the simulator
       table.py ORRERY --native PROGRAM RANKS RUNS     real runs, replayed in real time; medians of RUNS runs
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

WAITS = {"Late sender": ("late-sender", "wrong-order"), "Wait at barrier": ("wait-at-barrier",)}
BALANCE = ["--what-if", "balance foo"]
REPLAYS = ([], ["-d"], BALANCE, ["-d", *BALANCE])
LIMIT = 5  # percent


def measure(orrery, trace):
    groups = json.loads(subprocess.run([orrery, "analyze", "--format", "json", trace], check=True,
                                       capture_output=True, text=True).stdout)["groups"]
    functions = {row["function"]: row["time"] for row in groups["functions"]["functions"]}
    waits = {row["wait-state"]: row["time"] for row in groups["waits"]["waits"]}
    start = max((row["rank-max"] for row in groups["functions"]["functions"] if row["function"] == "MPI_Init"), default=0)
    values = {"Total time": groups["overall"]["overall"][0]["runtime"] - start,
              "Point-to-point": sum(time for name, time in functions.items()
                                    if any(word in name for word in ("send", "recv", "Wait")))}
    values.update({name: sum(waits.get(state, 0) for state in states) for name, states in WAITS.items()})
    return values


def replay(orrery, trace, *options):
    with tempfile.TemporaryDirectory() as folder:
        new = os.path.join(folder, "new.orr")
        subprocess.run([orrery, "replay", "-q", *options, trace, "-o", new], check=True)
        return measure(orrery, new)


def record(orrery, program, ranks, *words):
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "run.orr")
        subprocess.run([orrery, "record", "-q", "-n", ranks, "-o", trace, program, "sleep", "3", *words], check=True,
                       stdout=subprocess.DEVNULL)
        values = measure(orrery, trace)
        if not words:
            values = values, [replay(orrery, trace, "--real-time", "--busy", "sleep", *options) for options in REPLAYS]
        return values


def medians(rows):
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def native(orrery, program, ranks, runs):
    """The original and the modified program, and the four replays, one after the other in each of the runs."""
    originals, modified, replays = [], [], []
    for _ in range(int(runs)):
        was, replayed = record(orrery, program, ranks)
        originals.append(was)
        replays.append(replayed)
        modified.append(record(orrery, program, ranks, "balanced"))
    return medians(originals), medians(modified), [medians(rows) for rows in zip(*replays)]


def deviation(value, reference):
    return 100 * abs(value - reference) / reference if reference else 0.0


def print_table(was, meant, replays):
    print(f"{'':16} {'run time':^23}  {'identity':^23}  {'foo balanced':^23}")
    print(f"{'metric':16} " + "  ".join(f"{title:>11} {other:>11}" for title, other in
                                        (("original", "modified"), ("any order", "recorded"),
                                         ("any order", "recorded"))))
    for name, value in was.items():
        cells = [f"{deviation(got[name], reference[name]):.4f} %"
                 for got, reference in zip(replays, (was, was, meant, meant))]
        print(f"{name:16} {value:9.6f} s {meant[name]:9.6f} s  {cells[0]:>11} {cells[1]:>11}  "
              f"{cells[2]:>11} {cells[3]:>11}")


def main():
    orrery = sys.argv[1]
    if sys.argv[2] != "--native":
        original, modified = sys.argv[2:]
        print_table(measure(orrery, original), measure(orrery, modified),
                    [replay(orrery, original, *options) for options in REPLAYS])
        return
    was, meant, replays = native(orrery, *sys.argv[3:])
    print_table(was, meant, replays)
    any_order, recorded = (got["Total time"] for got in replays[2:])
    off = deviation(any_order, meant["Total time"])
    print(f"the balanced program is predicted to {off:.2f} %: {'within' if off <= LIMIT else 'not within'} {LIMIT} %")
    if recorded <= any_order:
        print("the recorded order does not take longer")


if __name__ == "__main__":
    main()
