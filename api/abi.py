#!/usr/bin/env python3
"""Generate the headers of the ABI of the virtual MPI.

usage: abi.py ABI LIST OUTDIR

ABI is api/mpi_abi.txt, whose format is described at its top; LIST is api/mpi_functions.txt. Written to OUTDIR:
mpi_abi.h (types and constants, for all that is behind the entries) and mpi_abi_asserts.h (to be included behind MPICH's
mpi.h: compiles only if that has the same types, constants and functions).

Every mistake is reported as 'FILE:LINE: what is wrong'; then the exit status is 2.
"""

import argparse
import os
import re
import sys

import generate

KINDS = ("types", "opaque", "enums", "structs", "callbacks", "constants", "own")
FORMS = {
    "types": r"(?P<name>\w+) = (?P<value>[a-z ]+)",
    "opaque": r"(?P<name>\w+) = (?P<value>\w+)",
    "enums": r"(?P<name>\w+)",
    "structs": r"(?P<name>\w+) = (?P<value>\w+(, \w+)*)",
    "callbacks": r"(?P<type>int|void) (?P<name>\w+)\((?P<value>.+)\)",
    "constants": r"(?P<type>\w+ \**)(?P<name>\w+) = (?P<value>-?\d+|0x[0-9a-f]{8}|[A-Z]\w+)",
}
FORMS["own"] = FORMS["constants"]


class Item:
    """A line of the file."""

    def __init__(self, kind, found):
        self.kind = kind
        groups = found.groupdict()
        self.name = groups["name"]
        self.value = groups.get("value")
        self.type = (groups.get("type") or "").strip()

    def declaration(self):
        """As C code of mpi_abi.h."""
        if self.kind == "types":
            return f"typedef {self.value} {self.name};"
        if self.kind == "opaque":
            return f"typedef struct {self.value} *{self.name};"
        if self.kind == "enums":
            return f"typedef int {self.name};"
        if self.kind == "structs":
            fields = "".join(f"    int {field};\n" for field in self.fields())
            return f"typedef struct {self.name} {{\n{fields}}} {self.name};"
        if self.kind == "callbacks":
            return f"typedef {self.type} {self.name}({self.value});"
        return f"#define {self.name} {self.number()}"

    def number(self):
        if self.type == "int":
            return f"({self.value})" if self.value.startswith("-") else self.value
        return f"(({self.type}){self.value})"

    def fields(self):
        return self.value.split(", ")

    def assertions(self):
        """Conditions in C that hold behind MPICH's mpi.h, too."""
        if self.kind == "types":
            return [f"__builtin_types_compatible_p({self.name}, {self.value})"]
        if self.kind == "opaque":
            return [f"__builtin_types_compatible_p({self.name}, struct {self.value} *)"]
        if self.kind == "enums":
            return [f"sizeof({self.name}) == sizeof(int)"]
        if self.kind == "structs":
            return [f"sizeof({self.name}) == {4 * len(self.fields())}"] + [
                f"offsetof({self.name}, {field}) == {4 * i}" for i, field in enumerate(self.fields())]
        if self.kind == "callbacks":
            return [f"__builtin_types_compatible_p({self.name}, {self.type}({self.value}))"]
        if self.kind == "own" or not re.match(r"[-0-9]", self.value):
            return []
        if self.type == "int":
            return [f"{self.name} == {self.number()}"]
        same = f"__builtin_types_compatible_p(__typeof__({self.name}), {self.type})"
        if "*" not in self.type and self.value.startswith("0x"):
            return [same, f"{self.name} == {self.number()}"]
        return [same, f"MPI_ABI_ADDRESS({self.name}) == MPI_ABI_ADDRESS({self.number()})"]


class Section:
    def __init__(self, kind, title):
        self.kind = kind
        self.title = title
        self.items = []


def read_abi(path):
    sections, seen = [], {}
    for line, text in generate.logical_lines(path):
        head = re.fullmatch(r"\[(\w+)\] (\S.*)", text)
        if head:
            if head.group(1) not in KINDS:
                raise generate.ListError(path, line, f"unknown kind '{head.group(1)}': expected {', '.join(KINDS)}")
            sections.append(Section(head.group(1), head.group(2)))
            continue
        if not sections:
            raise generate.ListError(path, line, "an entry before the first [kind]")
        found = re.fullmatch(FORMS[sections[-1].kind], text)
        if not found:
            raise generate.ListError(path, line, f"cannot read '{text}' in [{sections[-1].kind}]")
        item = Item(sections[-1].kind, found)
        if item.name in seen:
            raise generate.ListError(path, line, f"'{item.name}' is already taken by line {seen[item.name]}")
        seen[item.name] = line
        sections[-1].items.append(item)
    if not seen:
        raise generate.ListError(path, 0, "the list is empty")
    return sections


def banner(comment):
    return f"/* {comment}\n * Generated from api/mpi_abi.txt by api/abi.py: do not edit. */\n"


def header(sections):
    parts = [f"/* {section.title}. */\n" + "".join(item.declaration() + "\n" for item in section.items)
             for section in sections]
    return banner("The ABI of the virtual MPI.") + generate.guard("ORR_MPI_ABI_H", "\n".join(parts))


def asserts(sections, functions):
    lines = [f"_Static_assert({condition},\n               \"api/mpi_abi.txt: {item.name}\");"
             for section in sections for item in section.items for condition in item.assertions()]
    prototypes = [generate.fill(generate.spaced(call.returns) + call.name, call.parameters(), ";")
                  for call in functions if not generate.is_internal(call)]
    body = ("""#include <stddef.h>
#include <stdint.h>

/* Clang does not take the number of an address for a constant. */
#ifdef __clang__
#define MPI_ABI_ADDRESS(pointer) 0
#else
#define MPI_ABI_ADDRESS(pointer) (intptr_t)(pointer)
#endif

""" + "\n".join(lines)
            + "\n\n/* Conflicts with the declaration there, unless that is the same. */\n" + "\n".join(prototypes) + "\n")
    return banner("What must hold of MPICH's mpi.h.") + generate.guard("ORR_MPI_ABI_ASSERTS_H", body)


def main(argv):
    parser = argparse.ArgumentParser(description="generate the headers of the ABI")
    for name in ("abi", "list", "outdir"):
        parser.add_argument(name, metavar=name.upper())
    options = parser.parse_args(argv)
    try:
        sections = read_abi(options.abi)
        calls = [call for group in generate.read_list(options.list) for call in group.calls]
        os.makedirs(options.outdir, exist_ok=True)
        generate.write(options.outdir, "mpi_abi.h", header(sections))
        generate.write(options.outdir, "mpi_abi_asserts.h",
                       asserts(sections, [call for call in calls if call.is_function]))
    except generate.ListError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
