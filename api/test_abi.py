#!/usr/bin/env python3
"""Test of mpi_abi.txt and abi.py (TAP on stdout): what differs from MPICH's mpi.h does not compile, and mistakes in the file
are reported.
"""

import os
import subprocess
import sys
import tempfile

import abi
import generate
from test_generate import LIST, Tap

ABI = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mpi_abi.txt")
FLAGS = [flag for flag in subprocess.run(["mpicc.mpich", "-show"], text=True, capture_output=True,
                                         check=True).stdout.split() if flag.startswith("-I")]
# A line of the file, and one in its place that MPICH's header does not agree with.
DIFFERENT = {
    "int MPI_ANY_SOURCE = -2": "int MPI_ANY_SOURCE = -1",
    "MPI_Comm MPI_COMM_WORLD = 0x44000000": "MPI_Comm MPI_COMM_WORLD = 0x44000001",
    "void *MPI_IN_PLACE = -1": "void *MPI_IN_PLACE = 1",
    "MPI_Aint = long": "MPI_Aint = int",
    "count_lo, count_hi_and_cancelled, MPI_SOURCE, MPI_TAG": "count_lo, count_hi_and_cancelled, MPI_TAG, MPI_SOURCE",
    "void MPI_User_function(void *, void *, int *, MPI_Datatype *)":
        "void MPI_User_function(void *, void *, int, MPI_Datatype *)",
    "int MPI_CART = 2": "int MPI_CART = 1",
}
# A text, and what is said about it.
MISTAKES = {
    "int MPI_X = 1\n": ":1: an entry before the first [kind]",
    "[numbers] A\n": ":1: unknown kind 'numbers'",
    "[constants] A\nint MPI_X\n": ":2: cannot read 'int MPI_X' in [constants]",
    "[constants] A\nint MPI_X = 1\nint MPI_X = 2\n": ":3: 'MPI_X' is already taken by line 2",
    "# nothing\n": ":0: the list is empty",
}


def compiles(text, folder):
    """Does what mpi_abi_asserts.h says of this text hold of MPICH's mpi.h?"""
    path = os.path.join(folder, "abi.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    if abi.main([path, LIST, folder]) != 0:
        return False
    code = '#include <mpi.h>\n#include "mpi_abi_asserts.h"\n'
    return subprocess.run(["cc", "-std=gnu11", "-Wno-deprecated-declarations", "-fsyntax-only", *FLAGS, "-I" + folder,
                           "-x", "c", "-"], input=code, text=True, capture_output=True, check=False).returncode == 0


def said(text, folder):
    path = os.path.join(folder, "abi.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    try:
        abi.read_abi(path)
    except generate.ListError as error:
        return str(error)
    return ""


def main():
    tap = Tap()
    with open(ABI, encoding="utf-8") as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        tap.ok(compiles(text, folder), "the ABI is that of MPICH's mpi.h")
        for line, other in DIFFERENT.items():
            tap.ok(line in text and not compiles(text.replace(line, other, 1), folder), f"'{other}' is noticed")
        for mistake, what in MISTAKES.items():
            tap.ok(what in said(mistake, folder), f"reported: {what}")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
