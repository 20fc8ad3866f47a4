#!/usr/bin/env python3
"""Make one object of libusrsctp.a whose environment is ours.

usage: sctp_prelink.py SYMBOLS ARCHIVE OBJECT HEADER LD OBJCOPY NM

SYMBOLS says which functions of the system we replace, and which names stay visible (sctp_symbols.txt).
HEADER gets SCTP_BASE_SIZE, the size of the variable that holds all state of a stack.
"""

import subprocess
import sys


def read(path):
    """The names that we replace, and those that are kept."""
    names = {"ours": [], "kept": []}
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split("#")[0].split()
            if len(words) == 2 and words[1] in names:
                names[words[1]].append(words[0])
            elif words:
                raise SystemExit(f"{path}: '{line.strip()}': neither ours nor kept")
    return names["ours"], names["kept"]


def main(symbols, archive, made, header, ld, objcopy, nm):
    ours, kept = read(symbols)
    subprocess.run([ld, "-r", *(f"--wrap={name}" for name in ours), "--whole-archive", archive, "-o", made],
                   check=True)
    subprocess.run([objcopy, "--strip-debug", *(f"--keep-global-symbol={name}" for name in kept),
                    *(f"--redefine-sym=__wrap_{name}=sctp_own_{name}" for name in ours), made], check=True)
    sizes = {}
    listing = subprocess.run([nm, "-P", "-g", "--defined-only", made], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    for line in listing.splitlines():
        words = line.split()
        sizes[words[0]] = int(words[3], 16) if len(words) > 3 else 0
    missing = [name for name in kept if name not in sizes]
    if missing:
        raise SystemExit(f"{archive} has no {', '.join(missing)}")
    with open(header, "w", encoding="ascii") as file:
        file.write(f"#define SCTP_BASE_SIZE {sizes['system_base_info']}\n")


main(*sys.argv[1:])
