#!/usr/bin/env python3
"""tools/check-docs: it finds where the manual and the schema of platform files differ, and examples that are wrong.

usage: test_docs.py SOURCE_DIR ORRERY

Prints TAP.
"""

import importlib.machinery
import importlib.util
import os
import shutil
import sys
import tempfile

# what is tested, the page, a text in it and what it becomes, and what is said
CASES = [
    ("a field that there is not", "orrery-topology.7", "\n.Cm bandwidth_factor\n0 is down", "\n.Cm factor\n0 is down",
     "orrery-topology.7: 'factor' is neither a setting"),
    ("a setting that there is not", "orrery-model.7", ".Cm net.hop_latency", ".Cm net.hop_latencies",
     "orrery-model.7: 'net.hop_latencies' is neither a setting"),
    ("a word that there is not", "orrery-topology.7", ".It Cm adaptive", ".It Cm adapting",
     "orrery-topology.7: 'adapting' is neither a setting"),
    ("a setting that is missing", "orrery-settings.5", ".It Cm nodes.cpi No", ".It Cm nodes.speed No",
     "setting 'nodes.cpi' of the schema is missing"),
    ("a field that is missing", "orrery-settings.5", "net.links[+].mtu", "net.links[+].latency",
     "field 'mtu' of 'net.links' is missing"),
    ("a platform file that is wrong", "orrery-platform.5", "down: [16, 16, 4]", "down: [8, 8, 4]",
     "orrery-platform.5: an example is wrong"),
    ("a table that is too wide", "orrery.1", '"as without it"', '"as without the run it is"', "orrery.1: a table has more than 80"),
    ("a cell that is too wide", "orrery.1", "Ta as without it", "Ta as if without it", "orrery.1: wider than its column of a table"),
    ("settings of a command that are wrong", "orrery.1", "net.latency=2us", "net.latency=2um", "orrery.1: an example is wrong"),
]


def main():
    source, orrery = sys.argv[1:3]
    path = os.path.join(source, "tools", "check-docs")
    loader = importlib.machinery.SourceFileLoader("check_docs", path)
    tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_docs", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(tool)
    failed = 0
    for number, (name, page, before, after, wanted) in enumerate([("the manual as it is", "orrery.1", "", "", None), *CASES], 1):
        with tempfile.TemporaryDirectory() as folder:
            man = shutil.copytree(os.path.join(source, "docs", "man"), os.path.join(folder, "man"))
            with open(os.path.join(man, page), "r+", encoding="utf-8") as file:
                text = file.read()
                file.seek(0)
                file.write(text.replace(before, after) if before else text)
                file.truncate()
            said = (tool.check_machine_words(orrery, man) + tool.check_machine_examples(orrery, man) +
                    tool.check_tables(man))
        good = before in text and (any(wanted in line for line in said) if wanted else not said)
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        print("".join(f"# {line}\n" for line in said if not good), end="")
    print(f"1..{len(CASES) + 1}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
