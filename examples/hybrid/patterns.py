#!/usr/bin/env python3
"""Studies the communication of the kernels in the statistics of runs: who talks to whom, sizes of messages, collectives.

usage: patterns.py ORRERY KERNELS OUT [--class C] [--ranks N] [--hybrid N]

With --hybrid N the statistics are those of `orrery hybrid` on N ranks, else of `orrery run`. OUT gets patterns.txt and
patterns.svg."""

import argparse
import json
import pathlib
import sys

import picture
import runs

KERNELS = (*runs.KERNELS, "bt")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("orrery")
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--class", dest="size", default="S", help="class of the kernels (default S)")
    parser.add_argument("--ranks", type=int, default=16, help="a power of two, and for bt a square (default 16)")
    parser.add_argument("--hybrid", action="store_true", help="take the statistics of native runs with a simulated network")
    return parser.parse_args()


def is_square(n):
    return round(n ** 0.5) ** 2 == n


def statistics_of(options, kernel):
    file = options.out / f"{kernel}-stats.json"
    runs.call([options.orrery, "hybrid" if options.hybrid else "run", "-q", "--compute", "none", "-n", options.ranks,
               "--stats", file, options.kernels / kernel, options.size])
    return json.loads(file.read_text())


def human(amount):
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.3g} {unit}"
        amount /= 1024
    return f"{amount:.3g} GiB"


def sizes_of(stats):
    """The sizes with most messages, until they are 90 % of all."""
    entries = sorted(stats["sizes"], key=lambda entry: -entry["messages"])
    left, shown = 0.9 * sum(entry["messages"] for entry in entries), []
    for entry in entries:
        if left <= 0:
            break
        shown.append(entry["up_to_bytes"])
        left -= entry["messages"]
    return ", ".join(human(size) for size in sorted(shown)) or "none"


def pairs_of(stats):
    return {(source, destination): size for source, destination, _, size in stats["pairs"]["rows"]}


def describe(kernel, stats):
    ranks, pairs = stats["ranks"], pairs_of(stats)
    partners = [len({b for a, b in pairs if a == rank}) for rank in range(ranks)]
    collectives = [f"{f['name'][4:]} {f['calls'] // ranks}" for f in stats["functions"]
                   if f["collective"] and f["calls"] >= ranks]
    yield f"{kernel}"
    for name, kind in (("by the program", "point_to_point"), ("in collectives", "collective")):
        count, size = stats[kind]["messages"], stats[kind]["bytes"]
        yield (f"  messages {name}: {count / ranks:.0f} per rank" +
               (f", {human(size / count)} on average" if count else ""))
    yield f"  most have up to: {sizes_of(stats)}"
    yield f"  partners of a rank: {min(partners)} to {max(partners)} of {ranks - 1}"
    yield f"  collectives per rank: {', '.join(collectives) or 'none'}"


def main():
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    kernels = [kernel for kernel in KERNELS if kernel != "bt" or is_square(options.ranks)]
    found = {kernel: statistics_of(options, kernel) for kernel in kernels}
    text = f"class {options.size} on {options.ranks} ranks\n" + "".join(
        f"{line}\n" for kernel, stats in found.items() for line in describe(kernel, stats))
    (options.out / "patterns.txt").write_text(text, encoding="ascii")
    (options.out / "patterns.svg").write_text(picture.matrices(
        [(kernel, options.ranks, pairs_of(stats)) for kernel, stats in found.items()]), encoding="ascii")
    print(text, end="")
    print(f"picture: {options.out / 'patterns.svg'}")


if __name__ == "__main__":
    try:
        main()
    except runs.Failed as failure:
        sys.exit(f"patterns.py: error: {failure}")
