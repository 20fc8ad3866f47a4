#!/usr/bin/env python3
"""Generate everything that is derived from the list of MPI calls.

usage: generate.py LIST OUTDIR [--also FILE]... [--only NAME]

LIST is api/mpi_functions.txt; its format is described at its top. The files that api/README.md lists are written to
OUTDIR; with --only NAME just that one. FILE adds names to the export list, one symbol per line, '#' comments.

The whole list is read and checked before anything is written. Every mistake is reported as
'FILE:LINE: what is wrong'; then the exit status is 2.
"""

import argparse
import os
import re
import sys
import textwrap

import effects
import roles

STATES = ("impl", "todo")
FLAGS = ("anytime", "fast", "raw", "data", "wide", "polls", "quiet", "frees", "lends", "acts")
VALUED = ("comm", "fails", "needs")  # flags with a value
TOLD = ("polls", "quiet", "frees", "acts")  # flags that the simulator and the recorder ask for: mpi_fn_flags
PREFIXES = ("MPI_", "MPIX_", "MPII_", "MPIR_")
PROFILED = ("MPI_", "MPIX_")  # these also have a P name
LOCALS = ("self", "t0", "rc", "gone", "args", "seen", "more", "unnamed", "wrong")  # names the generated entries use themselves
# Objects that programs make and must free: role of the handle -> enum mpi_object.
OBJECTS = {"comm": "COMM", "group": "GROUP", "datatype": "TYPE", "op": "OP", "info": "INFO",
           "errhandler": "ERRHANDLER", "win": "WIN", "file": "FILE", "keyval": "KEYVAL"}
C_WORDS = ("void", "char", "short", "int", "long", "float", "double", "signed", "unsigned",
           "const", "volatile", "restrict", "struct", "union", "enum")
IDENT = re.compile(r"[A-Za-z_]\w*")


class ListError(Exception):
    """A mistake in an input file."""

    def __init__(self, path, line, what):
        super().__init__(f"{path}:{line}: {what}")


class Group:
    """A section of the list."""

    def __init__(self, key, title):
        self.key = key
        self.title = title
        self.notes = []
        self.calls = []

    @property
    def constant(self):
        return "MPI_FNGROUP_" + self.key.upper()


class Arg:
    """One argument: its declaration as written, and its name."""

    def __init__(self, text):
        self.text = text
        pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", text)
        if pointer:
            self.name = pointer.group(1)
            self.type = self.base = "function"
            self.array = self.constant = False
            self.indirect = True
            return
        found = re.fullmatch(r"(.*?[\s*])(\w+)((?:\s*\[\w*\])*)", text)
        if not found or found.group(2) in C_WORDS or found.group(2).startswith("MPI"):
            raise ValueError(f"argument '{text}' has no name")
        self.name = found.group(2)
        self.type = " ".join((found.group(1).strip() + found.group(3)).split())
        self.array = "[" in self.type
        self.indirect = self.array or "*" in self.type
        self.constant = self.type.startswith("const ")
        self.base = re.sub(r"\bconst\b|[*\s]|\[\w*\]", "", self.type)


class Call:
    """One entry: a function, or a variable if flagged 'data'."""

    def __init__(self, state, declaration, flags, group):
        self.state = state
        self.group = group
        self.flags = set()
        self.comm = None
        self.fails = None
        self.needs = None
        self.args = []
        self.variadic = False
        for flag in flags:
            self.add_flag(flag)
        if "data" in self.flags:
            self.parse_variable(declaration)
        else:
            self.parse_prototype(declaration)
        if not self.name.startswith(PREFIXES):
            raise ValueError(f"name '{self.name}' starts with none of " + " ".join(PREFIXES))
        self.check_flags()

    def add_flag(self, flag):
        key, equals, value = flag.partition("=")
        if key not in (VALUED if equals else FLAGS):
            raise ValueError(f"unknown flag '{flag}'")
        if key in self.flags:
            raise ValueError(f"flag '{key}' is given twice")
        self.flags.add(key)
        if key == "comm":
            self.comm = value
        elif key == "fails":
            self.fails = value
        elif key == "needs":
            self.needs = value

    def parse_variable(self, declaration):
        found = re.fullmatch(r"(.*?[\s*])(\w+)((?:\[\w*\])*)", declaration)
        if not found:
            raise ValueError(f"cannot read variable '{declaration}'")
        self.declaration = declaration
        self.name = found.group(2)

    def parse_prototype(self, declaration):
        found = re.fullmatch(r"([A-Za-z_][\w\s]*?[\s*]+)(\w+)\s*\((.*)\)", declaration)
        if not found:
            raise ValueError(f"cannot read prototype '{declaration}'")
        self.returns = found.group(1).strip()
        self.name = found.group(2)
        texts = split_args(found.group(3))
        if texts and texts[-1] == "...":
            self.variadic = True
            texts.pop()
        if texts == ["void"]:
            texts = []
        elif not texts:
            raise ValueError("empty argument list: write (void)")
        self.args = [Arg(text) for text in texts]
        names = [arg.name for arg in self.args]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"argument name '{name}' is given twice")
            if name in LOCALS:
                raise ValueError(f"argument name '{name}' is used by the generated code")

    def check_flags(self):
        """Refuse combinations that no output could honour."""
        for first, second in (("fast", "anytime"), ("fast", "raw"), ("raw", "anytime")):
            if first in self.flags and second in self.flags:
                raise ValueError(f"flags '{first}' and '{second}' exclude each other")
        if "data" in self.flags and self.flags != {"data"}:
            raise ValueError("'data' takes no other flag")
        if "data" in self.flags and self.state != "impl":
            raise ValueError("'data' must be 'impl': a program cannot load without it")
        if "fast" in self.flags and self.args:
            raise ValueError("'fast' is for functions without arguments")
        if "raw" in self.flags and self.state != "impl":
            raise ValueError("'raw' must be 'impl': drop 'raw' to generate a refusing entry")
        if "wide" in self.flags and self.flags & {"fast", "raw", "data"}:
            raise ValueError("'wide' is for functions with a generated entry and arguments")
        if self.fails is not None and not re.fullmatch(r"MPIX?_ERR_[A-Z_]+", self.fails):
            raise ValueError(f"'fails={self.fails}' names no error class")
        if self.fails is not None and (self.state != "impl" or self.flags & {"fast", "raw"}):
            raise ValueError("'fails' is for functions that are 'impl' and return an error class")
        if self.comm is not None:
            types = {arg.name: arg.type for arg in self.args}
            if types.get(self.comm) != "MPI_Comm":
                raise ValueError(f"'comm={self.comm}' names no argument of type MPI_Comm")

    @property
    def is_function(self):
        return "data" not in self.flags

    @property
    def has_profiling_name(self):
        return self.is_function and self.name.startswith(PROFILED)

    @property
    def constant(self):
        prefix, rest = self.name.split("_", 1)
        return f"{prefix}_FN_{rest.upper()}"

    @property
    def comm_index(self):
        for i, arg in enumerate(self.args):
            if arg.name == self.comm:
                return i
        return -1

    def parameters(self, first=None):
        """The parameter list of the entry, or with 'first' that of the implementation."""
        texts = [first] if first else []
        texts += [arg.text for arg in self.args]
        if self.variadic:
            texts.append("const void *more" if first else "...")
        return texts or ["void"]

    @property
    def implementation(self):
        return self.name.lower() + ("_c" if "wide" in self.flags else "")

    @property
    def exported_names(self):
        return [self.name] + (["P" + self.name] if self.has_profiling_name else [])


def split_args(text):
    """Split at the commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            raise ValueError("unbalanced parentheses")
        if char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    if depth:
        raise ValueError("unbalanced parentheses")
    parts.append(text[start:])
    parts = [" ".join(part.split()) for part in parts]
    if parts == [""]:
        return []
    if "" in parts:
        raise ValueError("empty argument")
    return parts


def read_lines(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ListError(path, 0, f"cannot read: {reason}") from None


def logical_lines(path):
    """Yield (line number, text): an indented line continues the one before it."""
    number, text = 0, None
    for i, line in enumerate(read_lines(path), 1):
        if line.startswith("#"):
            continue
        if line[:1] in (" ", "\t") and line.strip():
            if text is None:
                raise ListError(path, i, "indented line continues nothing")
            text += " " + line.strip()
            continue
        if text is not None:
            yield number, text
        number, text = i, line.strip() or None
    if text is not None:
        yield number, text


def parse_group(text):
    found = re.fullmatch(r"\[([a-z][a-z0-9]*)\]\s+(\S.*)", text)
    if not found:
        raise ValueError(f"cannot read group '{text}': expected '[key] Title'")
    return Group(found.group(1), found.group(2))


def parse_call(text, group):
    if group is None:
        raise ValueError("entry before the first [group]")
    state, _, rest = text.partition(" ")
    if state not in STATES:
        raise ValueError(f"unknown state '{state}': expected " + " or ".join(STATES))
    declaration, semicolon, flags = rest.strip().partition(";")
    if not semicolon:
        raise ValueError("no ';' after the declaration")
    return Call(state, declaration.strip(), flags.split(), group)


def read_list(path):
    """Read the list into groups, in file order; names and constants are unique."""
    groups, seen, rules, effect_rules = [], {}, roles.Rules(), effects.Rules()

    def claim(key, line):
        if key in seen:
            raise ValueError(f"'{key}' is already taken by line {seen[key]}")
        seen[key] = line

    claim("MPI_FN_COUNT", 0)
    claim("MPI_FNGROUP_COUNT", 0)
    for line, text in logical_lines(path):
        try:
            if text.startswith("["):
                groups.append(parse_group(text))
                claim(groups[-1].constant, line)
                continue
            if text.startswith(">"):
                if not groups:
                    raise ValueError("note before the first [group]")
                groups[-1].notes.append(text[1:].strip())
                continue
            if not groups and (rules.add(text) or effect_rules.add(text)):
                continue
            call = parse_call(text, groups[-1] if groups else None)
            rules.apply(call)
            effect_rules.apply(call)
            for name in call.exported_names:
                claim(name, line)
            if call.is_function:
                claim(call.constant, line)
            call.group.calls.append(call)
        except ValueError as error:
            raise ListError(path, line, error) from None
    if not any(group.calls for group in groups):
        raise ListError(path, 0, "the list is empty")
    check_wide(path, groups, seen)
    if effect_rules.unused():
        raise ListError(path, 0, f"'effect' names '{effect_rules.unused()[0]}', which is no function")
    return groups


def check_wide(path, groups, lines):
    """A 'wide' function needs the large-count form that does its work."""
    calls = {call.name: call for group in groups for call in group.calls}
    for call in calls.values():
        if "wide" not in call.flags or call.state != "impl":
            continue
        form = calls.get(call.name + "_c")
        if form is None or form.state != "impl":
            raise ListError(path, lines[call.name],
                            f"'wide' needs '{call.name}_c', and that it is 'impl'")


def read_also(path):
    names = []
    for i, line in enumerate(read_lines(path), 1):
        name = line.split("#", 1)[0].strip()
        if name and not IDENT.fullmatch(name):
            raise ListError(path, i, f"'{name}' is not a symbol")
        if name:
            names.append(name)
    return names


# ---- C text ----

def fill(head, parts, tail):
    """'head(parts)tail', broken at commas and aligned behind the parenthesis."""
    indent = " " * (len(head) + 1)
    lines, line = [], head + "("
    for i, part in enumerate(parts):
        piece = part + ("," if i + 1 < len(parts) else ")" + tail)
        if line.strip() and not line.endswith("(") and len(line) + 1 + len(piece) > 100:
            lines.append(line)
            line = indent + piece
        else:
            line += ("" if line.endswith("(") else " ") + piece
    return "\n".join(lines + [line])


def spaced(type_text):
    """A type ready for a name to follow: 'int ' but 'char *'."""
    return type_text if type_text.endswith("*") else type_text + " "


def banner(comment):
    origin = "Generated from api/mpi_functions.txt by api/generate.py: do not edit."
    return f"/* {comment}\n * {origin} */\n"


def guard(name, body):
    return f"#ifndef {name}\n#define {name}\n\n{body}\n#endif\n"


def fn_header(groups, functions):
    constants = "\n".join(f"    {call.constant}," for call in functions)
    group_constants = "\n".join(f"    {group.constant}," for group in groups)
    flags = "\n".join(f"    MPI_FNFLAG_{flag.upper()} = {1 << i}," for i, flag in enumerate(TOLD))
    body = f"""/* Every function of the list, in its order. */
enum mpi_fn {{
{constants}
    MPI_FN_COUNT
}};

/* The groups of the list. */
enum mpi_fngroup {{
{group_constants}
    MPI_FNGROUP_COUNT
}};

/* By enum mpi_fn: the name ("MPI_Send"). */
extern const char *const mpi_fn_name[MPI_FN_COUNT];

/* By enum mpi_fn: the enum mpi_fngroup it belongs to. */
extern const unsigned char mpi_fn_group[MPI_FN_COUNT];

/* By enum mpi_fn: position of the communicator whose error handler is used, or -1. */
extern const signed char mpi_fn_comm_arg[MPI_FN_COUNT];

/* By enum mpi_fn: what is to be known of it. */
enum mpi_fnflag {{
{flags}
}};
extern const unsigned char mpi_fn_flags[MPI_FN_COUNT];

/* By enum mpi_fngroup: the short name ("pt2pt"). */
extern const char *const mpi_fngroup_name[MPI_FNGROUP_COUNT];
"""
    return banner("Numbers of the MPI functions.") + guard("ORR_MPI_FN_H", body)


def fn_tables(groups, functions):
    def table(declaration, rows):
        lines = "\n".join(f"    [{key}] = {value}," for key, value in rows)
        return f"\n{declaration} = {{\n{lines}\n}};\n"

    return (banner("Tables of the MPI functions.") + '#include "mpi_fn.h"\n'
            + table("const char *const mpi_fn_name[MPI_FN_COUNT]",
                    [(call.constant, f'"{call.name}"') for call in functions])
            + table("const unsigned char mpi_fn_group[MPI_FN_COUNT]",
                    [(call.constant, call.group.constant) for call in functions])
            + table("const signed char mpi_fn_comm_arg[MPI_FN_COUNT]",
                    [(call.constant, call.comm_index) for call in functions])
            + table("const unsigned char mpi_fn_flags[MPI_FN_COUNT]",
                    [(call.constant, " | ".join(f"MPI_FNFLAG_{flag.upper()}" for flag in TOLD
                                                if flag in call.flags))
                     for call in functions if call.flags & set(TOLD)])
            + table("const char *const mpi_fngroup_name[MPI_FNGROUP_COUNT]",
                    [(group.constant, f'"{group.key}"') for group in groups]))


def is_internal(call):
    """True for the helpers that mpi.h does not declare."""
    return not call.name.startswith(PROFILED)


def impl_header(calls):
    public = '__attribute__((visibility("default"))) '
    lines = ['#include "mpi_abi.h"', "", "struct mpi_rank;", "",
             "/* Written by hand and called by the generated entries. */"]
    for call in calls:
        if (not call.is_function or call.state != "impl" or "raw" in call.flags
                or "wide" in call.flags):
            continue
        first = None if "fast" in call.flags else "struct mpi_rank *self"
        lines.append(fill(spaced(call.returns) + call.implementation,
                          call.parameters(first), ";"))
    lines += ["", "/* Exported helpers that no mpi.h declares, and those written by hand. */"]
    for call in calls:
        if call.is_function and (is_internal(call) or "raw" in call.flags):
            lines.append(fill(public + spaced(call.returns) + call.name, call.parameters(), ";"))
    lines += ["", "/* Exported variables, defined by hand. */"]
    lines += [f"{public}extern {call.declaration};" for call in calls if not call.is_function]
    return (banner("Implementations of the MPI functions.")
            + guard("ORR_MPI_IMPL_H", "\n".join(lines) + "\n"))


def objects(call):
    """What the call makes or frees: pairs of argument name and kind; and whether it frees."""
    if call.returns != "int" or "lends" in call.flags:
        return [], False
    frees = "frees" in call.flags
    found = [(arg.name, OBJECTS[arg.role]) for arg in call.args
             if arg.role in OBJECTS and arg.indirect and not arg.array
             and arg.direction == ("both" if frees else "out")]
    if not frees and any(arg.role == "request" and arg.direction == "out" for arg in call.args):
        found = []  # the handle comes when the request is complete
    return found, frees


def fetch_more(call):
    """The first argument without a name of a variadic function, as a pointer; it may be none."""
    if not call.variadic:
        return []
    return ["va_list unnamed;", f"va_start(unnamed, {call.args[-1].name});",
            "const void *more = va_arg(unnamed, const void *);", "va_end(unnamed);"]


def wrong(call):
    """A condition in C: some argument cannot be right. Empty if nothing is checked."""
    if not is_checked(call):
        return ""
    return joined(arg.wrong for arg in call.args)


def wrong_later(call):
    """The same for conditions that need the rank: they ask for a communicator, or read arrays."""
    return joined(arg.wrong_later for arg in call.args) if is_checked(call) else ""


def is_checked(call):
    return call.returns == "int" and call.group.key != "tool"


def joined(conditions):
    return " || ".join(f"({text})" if "&" in text else text for text in conditions if text)


def which_is_wrong(call):
    """A statement in C: the number of the first argument that cannot be right, or -1."""
    tests = "".join(f"{joined([arg.wrong, arg.wrong_later])} ? {i} : " for i, arg in enumerate(call.args)
                    if arg.wrong or arg.wrong_later)
    return textwrap.fill(f"int wrong = {tests}-1;", 92, subsequent_indent=" " * 8)


def words_of(call):
    """A declaration in C: the arguments as words."""
    words = ", ".join(f"(uint64_t){arg.name}" for arg in call.args) or "0"
    return textwrap.fill(f"const uint64_t args[] = {{{words}}};", 92, subsequent_indent=" " * 8)


def refusal(call):
    """Says which argument is wrong. It is apart, so that arguments are not kept on the stacks of ranks that wait."""
    if not wrong_later(call):
        return ""
    head = fill(f"REFUSAL int refuse_{call.name}", call.parameters("struct mpi_rank *self"), "")
    body = [words_of(call), which_is_wrong(call), f"return mpi_args_refused(self, {call.constant}, args, wrong);"]
    return head + "\n{\n" + "".join(f"    {line}\n" for line in body) + "}\n"


def seen_name(call):
    return "seen_" + call.name


def invocation(call, checked=False):
    """Entering, the call of the implementation, and what is done about its error. With 'checked', of arguments that
    may be wrong."""
    enter = "mpi_enter_anytime" if "anytime" in call.flags else "mpi_enter"
    names = ["self"] + [arg.name for arg in call.args] + (["more"] if call.variadic else [])
    invoke = call.implementation if call.returns == "void" else (
        f"{spaced(call.returns)}rc = {call.implementation}")
    begin = [f"struct mpi_rank *self = {enter}({call.constant});", "vtime t0 = mpi_clock(self);"]
    if checked and (wrong(call) or wrong_later(call)):
        begin.append(which_is_wrong(call))
        invoke = (f"{spaced(call.returns)}rc = wrong >= 0\n"
                  f"        ? mpi_args_refused(self, {call.constant}, args, wrong)\n"
                  f"        : {call.implementation}")
    elif wrong_later(call):
        test = textwrap.fill(f"int rc = MPI_ARGS_ARE_WRONG({wrong_later(call)})", 92, subsequent_indent=" " * 12)
        refuse = fill(f"        ? refuse_{call.name}", names, "").lstrip()
        invoke = f"{test}\n        {refuse}\n        : {call.implementation}"
    head, newline, last = invoke.rpartition("\n")
    work = [head + newline + fill(("" if newline else "    ") + last, names, ";").lstrip("" if newline else " ")]
    end = []
    if call.returns == "int":
        end = ["if (__builtin_expect(rc != MPI_SUCCESS, 0))", "    rc = mpi_error_handled(self, rc);"]
    return begin, work, end


def results_seen(call):
    """What observers learn about the handles that a successful call returns or frees."""
    made, frees = objects(call)
    early, late = [], []
    for name, kind in made:
        handle = "gone" if frees else f"MPI_HANDLE_AT({name})"
        if frees:
            early.append(f"uint64_t gone = {name} ? MPI_HANDLE_AT({name}) : 0;")
        late += [f"    mpi_observe_{'freed' if frees else 'made'}(self, {call.constant}, "
                 f"MPI_OBJECT_{kind}, {handle});"]
    if call.returns == "int":
        late += [f"    mpi_observe_new_request(self, *{arg.name});" for arg in call.args
                 if arg.role == "request" and arg.direction == "out" and not arg.array]
    if late:
        late = ["if (rc == MPI_SUCCESS) {", *late, "}"] if len(late) > 1 else ["if (rc == MPI_SUCCESS)", *late]
    return early, late


def seen_entry(call):
    """The form of an entry that observers see. It is apart, so that arguments are not kept for them on
    the stacks of ranks that wait."""
    head = fill("SEEN " + spaced(call.returns) + seen_name(call), call.parameters(), "")
    begin, work, end = invocation(call, checked=True)
    early, late = results_seen(call)
    words = words_of(call)
    rc = "rc" if call.returns == "int" else "MPI_SUCCESS"
    body = (fetch_more(call) + begin + [words] + early + [f"mpi_observe_enter(self, {call.constant}, args);"] + work + late + end
            + [f"mpi_observe_leave(self, {call.constant}, args, t0, {rc});",
               f"mpi_leave(self, {call.constant}, t0);"])
    if call.returns != "void":
        body.append("return rc;")
    return head + "\n{\n" + "".join(f"    {line}\n" for line in body) + "}\n"


def entry(call):
    """The exported function and its P name."""
    head = fill("ORR_EXPORT " + spaced(call.returns) + call.name, call.parameters(), "")
    text = ""
    if call.state == "todo":
        body = [f"mpi_unsupported({call.constant});"]
    elif "fast" in call.flags:
        body = [f"return {call.implementation}();"]
    else:
        text = refusal(call) + seen_entry(call)
        names = [arg.name for arg in call.args] + (["more"] if call.variadic else [])
        seen = f"{seen_name(call)}({', '.join(names)});"
        if call.returns == "void":
            body = ["if (MPI_CALLS_ARE_SEEN) {", "    " + seen, "    return;", "}"]
        else:
            test = f"MPI_ARGS_ARE_WRONG({wrong(call)}) || MPI_CALLS_ARE_SEEN" if wrong(call) else "MPI_CALLS_ARE_SEEN"
            body = fetch_more(call) + [f"if ({test})", "    return " + seen]
        begin, work, end = invocation(call)
        body += begin + work + end + [f"mpi_leave(self, {call.constant}, t0);"]
        if call.returns != "void":
            body.append("return rc;")
    text += head + "\n{\n" + "".join(f"    {line}\n" for line in body) + "}\n"
    if call.has_profiling_name:
        text += fill(f"extern __typeof__({call.name}) P{call.name} ORR_EXPORT\n    __attribute__",
                     [f'(alias("{call.name}"))'], ";\n")
    return text


ENTRY_FILES = 4  # compiled at the same time; meson.build lists them, too


def entries(functions):
    """The files with the entries, of about the same size."""
    head = banner("The exported entries of the MPI functions.") + """#include <stdarg.h>

#include "mpi/entry.h"
#include "mpi_fn.h"
#include "mpi_impl.h"

/* Calls that observers see, and those with a wrong argument. */
#define SEEN __attribute__((cold, noinline)) static
#define REFUSAL SEEN

#pragma GCC diagnostic ignored "-Wunused-parameter"        /* entries that only refuse */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* deprecated calls are exported too */
"""
    texts = [entry(call) for call in functions if "raw" not in call.flags]
    share = sum(map(len, texts)) / ENTRY_FILES or 1
    files, length = [[head] for _ in range(ENTRY_FILES)], 0
    for text in texts:
        files[min(int(length / share), ENTRY_FILES - 1)].append(text)
        length += len(text)
    return {f"mpi_entries_{i}.c": "\n".join(file) for i, file in enumerate(files, 1)}


def exports(calls, also):
    names = {name for call in calls for name in call.exported_names} | set(also)
    lines = "".join(f"        {name};\n" for name in sorted(names))
    return (banner("Symbols exported by the MPI library.")
            + "{\n    global:\n" + lines + "    local:\n        *;\n};\n")


def is_wrapped(call):
    """What the recorder of native runs sees: all but readings of the clock, and what is written by hand."""
    return call.is_function and not call.flags & {"fast", "raw"}


def real_name(call):
    return ("P" if call.has_profiling_name else "") + call.name


def guest_argument(arg):
    """An argument for the real MPI: its MPI_COMM_WORLD has one more process."""
    is_comm = arg.role == "comm" and "*" not in arg.type and not arg.array
    return f"native_comm_real({arg.name})" if is_comm else arg.name


def guest(call):
    """A function of `orrery hybrid` in the place of MPI's, and its P name."""
    head = fill("ORR_EXPORT " + spaced(call.returns) + call.name, call.parameters(), "")
    words = ", ".join(f"(uint64_t){arg.name}" for arg in call.args) or "0"
    words = textwrap.fill(f"const uint64_t args[] = {{{words}}};", 92, subsequent_indent=" " * 8)
    real = f"native_real.{call.name}({', '.join(guest_argument(arg) for arg in call.args)})"
    body = [words, f"struct guest_call seen GUEST_CALL = {{.call = {{.fn = {call.constant}, .args = args}}}};"]
    if wrong(call):
        body.append(textwrap.fill(f"seen.is_wrong = {wrong(call)};", 92, subsequent_indent=" " * 8))
    if call.variadic:
        body += fetch_more(call) + ["seen.call.more = more;"]
    is_int = call.returns == "int"
    plain = [f"return {real};"] if call.returns != "void" else [real + ";", "return;"]
    if not is_int:
        return head + "\n{\n" + "".join(f"    {line}\n" for line in fetch_more(call) * call.variadic + plain) + "}\n" + alias(call)
    body += ["if (!guest_enter(&seen))", "    " + plain[0]]
    for arg in call.args:
        if arg.role == "status" and arg.direction == "out":
            body.append(f"{arg.name} = guest_statuses(&seen, {arg.name});" if arg.array else
                        f"{arg.name} = native_status(&seen.call, {arg.name});")
    body += ["if (!guest_does(&seen))", f"    seen.rc = {real};", "return guest_leave(&seen);"]
    return head + "\n{\n" + "".join(f"    {line}\n" for line in body) + "}\n" + alias(call)


def alias(call):
    if not call.has_profiling_name:
        return ""
    return fill(f"extern __typeof__({call.name}) P{call.name} ORR_EXPORT\n    __attribute__",
                [f'(alias("{call.name}"))'], ";\n")


def wrapper(call):
    """A function of the recorder of native runs in the place of MPI's, and its P name."""
    head = fill("ORR_EXPORT " + spaced(call.returns) + call.name, call.parameters(), "")
    words = words_of(call)
    real = f"native_real.{call.name}({', '.join(arg.name for arg in call.args)})"
    leave = f"native_leave(&seen, {'rc' if call.returns == 'int' else 'MPI_SUCCESS'});"
    body = [words, f"struct native_call seen = {{.fn = {call.constant}, .args = args}};"]
    if call.variadic:
        body += fetch_more(call) + ["seen.more = more;"]
    plain = [real + ";", "return;"] if call.returns == "void" else [f"return {real};"]
    body += ["if (!native_enter(&seen)) {", *("    " + line for line in plain), "}"] if len(plain) > 1 else [
        "if (!native_enter(&seen))", "    " + plain[0]]
    for arg in call.args:
        if arg.role == "status" and arg.direction == "out":
            body.append(f"{arg.name} = {'native_statuses' if arg.array else 'native_status'}(&seen, {arg.name});")
    body += [f"{real};", leave] if call.returns == "void" else [
        f"{spaced(call.returns)}rc = {real};", leave, "return rc;"]
    return head + "\n{\n" + "".join(f"    {line}\n" for line in body) + "}\n" + alias(call)


def wrapped_header(functions):
    """The functions of the real MPI, by name: a struct of pointers, in the order of enum mpi_fn."""
    lines = ["#include <mpi.h>", "", '#include "mpi_fn.h"', "", "/* Exported helpers that mpi.h does not declare. */"]
    lines += [fill('__attribute__((visibility("default"))) ' + spaced(call.returns) + call.name,
                   call.parameters(), ";") for call in functions if is_internal(call)]
    lines += ["", "/* The functions of the real MPI, in the order of enum mpi_fn; NULL: it has none of that name. */",
              "struct native_functions {"]
    lines += [f"    __typeof__({call.name}) *{call.name};" for call in functions]
    lines += ["};", "", "/* By enum mpi_fn: the symbol to look for; NULL: it is not wrapped. */",
              "extern const char *const native_symbols[MPI_FN_COUNT];"]
    return banner("What the recorder of native runs wraps.") + guard("ORR_MPI_WRAPPED_H", "\n".join(lines) + "\n")


def wrappers(functions, whose, header, write):
    head = banner(f"{whose} functions in the place of MPI's.") + f"""#include <stdarg.h>

#include "{header}"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* deprecated calls are seen, too */

"""
    wrapped = [call for call in functions if is_wrapped(call)]
    rows = "".join(f'    [{call.constant}] = "{real_name(call)}",\n' for call in wrapped)
    return (head + f"const char *const native_symbols[MPI_FN_COUNT] = {{\n{rows}}};\n\n"
            + "\n".join(write(call) for call in wrapped))


def invoked(functions):
    """What a replay calls. Functions that a program needs to import are left out: it looks for them itself."""
    return [call for call in functions if "acts" in call.flags and not call.needs and call.returns == "int"]


def invoke_header():
    body = """#include <stdint.h>

#include "mpi_fn.h"

/* By enum mpi_fn: calls the function with its arguments, a word for each: an integer, a handle or a
 * pointer. NULL: it is not flagged 'acts', or what it needs is not there for all programs. */
extern int (*const mpi_invoke[MPI_FN_COUNT])(const uint64_t *words);
"""
    return banner("MPI functions called by number.") + guard("ORR_MPI_INVOKE_H", body)


def invoker(call):
    words = [f"({arg.base} *)words[{i}]" if arg.base.startswith("MPI") and arg.base.endswith("_function")
             else f"(void *)(uintptr_t)words[{i}]" if arg.indirect else f"({arg.type})words[{i}]"
             for i, arg in enumerate(call.args)]
    body = fill(f"    return {call.name}", words, ";") if words else f"    (void)words;\n    return {call.name}();"
    return f"static int invoke_{call.name}(const uint64_t *words)\n{{\n{body}\n}}\n"


def invokers(functions):
    calls = invoked(functions)
    rows = "".join(f"    [{call.constant}] = invoke_{call.name},\n" for call in calls)
    return (banner("MPI functions called by number.")
            + '#include "mpi_invoke.h"\n\n#include <mpi.h>\n\n'
            + "\n".join(invoker(call) for call in calls)
            + f"\nint (*const mpi_invoke[MPI_FN_COUNT])(const uint64_t *) = {{\n{rows}}};\n")


def needs_header(calls):
    needs = sorted({call.needs for call in calls if call.needs})
    body = ("/* Parts of the simulator that only programs with certain imports need. */\n"
            "enum mpi_need {\n"
            + "\n".join(f"    MPI_NEED_{need.upper()} = {1 << i}," for i, need in enumerate(needs))
            + "\n};\n\n/* Name and value of each, by X(name, value). */\n#define MPI_NEEDS(X) \\\n"
            + " \\\n".join(f"    X({need}, MPI_NEED_{need.upper()})" for need in needs) + "\n")
    return banner("What a program needs, by its imports.") + guard("ORR_MPI_NEEDS_H", body)


def known_header(calls):
    rows = sorted((name, call.state, call.needs) for call in calls for name in call.exported_names)
    lines = "\n".join(
        f'    {{"{name}", MPI_KNOWN_{state.upper()}, {"MPI_NEED_" + needs.upper() if needs else 0}}},'
        for name, state, needs in rows)
    body = f"""#include "mpi_needs.h"

enum mpi_known_state {{
    MPI_KNOWN_IMPL, /* works */
    MPI_KNOWN_TODO  /* exported; ends the run with a message when called */
}};

struct mpi_known {{
    const char *name;
    enum mpi_known_state state;
    unsigned needs; /* of enum mpi_need */
}};

/* Sorted by strcmp on the name. */
static const struct mpi_known mpi_known[] = {{
{lines}
}};
"""
    return (banner("What is known of each exported MPI symbol, for the command line.")
            + guard("ORR_MPI_KNOWN_H", body))


def role_header():
    def enum(name, prefix, words, comment):
        lines = "\n".join(f"    {prefix}_{word.upper()}," for word in words)
        return f"/* {comment} */\nenum {name} {{\n{lines}\n}};\n"

    body = "\n".join([
        '#include "mpi_fn.h"\n',
        f"#define MPI_ROLES {len(roles.ROLES)}\n",
        enum("mpi_role", "MPI_ROLE", roles.ROLES, "What an argument is."),
        enum("mpi_direction", "MPI_DIRECTION", roles.DIRECTIONS, "Who reads it: the call, the caller, both."),
        enum("mpi_length", "MPI_LENGTH", roles.LENGTHS,
             "How many items an array has; see api/mpi_functions.txt. NONE: it is no array."),
        """struct mpi_arg {
    const char *name;
    unsigned char role;      /* enum mpi_role */
    unsigned char direction; /* enum mpi_direction */
    unsigned char length;    /* enum mpi_length */
    unsigned char length_of; /* number of the argument that the length refers to */
    unsigned char room_of;   /* number + 1 of the argument that says for how many items there is room, or 0 */
    unsigned char pointers;  /* 0: the value itself; an array counts as one */
    unsigned char bytes;     /* of the value, or of what the pointer leads to; 0: of another type */
};

struct mpi_signature {
    const struct mpi_arg *args;
    unsigned count;
};

/* By enum mpi_role: as it is written in api/mpi_functions.txt. */
extern const char *const mpi_role_name[MPI_ROLES];

/* By enum mpi_fn: the arguments, without those of a variadic function that have no name. */
extern const struct mpi_signature mpi_fn_signature[MPI_FN_COUNT];
"""])
    return banner("Roles of the arguments of MPI functions.") + guard("ORR_MPI_ROLES_H", body)


def role_tables(functions):
    words = "".join(f'    "{word}",\n' for word in roles.ROLES)
    out = [banner("Roles of the arguments of MPI functions.") + '#include "mpi_roles.h"\n',
           f"const char *const mpi_role_name[MPI_ROLES] = {{\n{words}}};\n"]
    for call in functions:
        if not call.args:
            continue
        names = [arg.name for arg in call.args]
        rows = []
        for arg in call.args:
            kind = arg.length.kind if arg.length else "none"
            of = names.index(arg.length.argument) if arg.length and arg.length.argument else 0
            room = names.index(arg.room) + 1 if arg.room else 0
            rows.append(f'    {{"{arg.name}", MPI_ROLE_{arg.role.upper()}, '
                        f"MPI_DIRECTION_{arg.direction.upper()}, MPI_LENGTH_{kind.upper()}, {of}, {room}, "
                        f"{arg.type.count('*') + arg.type.count('[')}, {roles.SIZES.get(arg.base, 0)}}},\n")
        out.append(f"static const struct mpi_arg args_{call.name}[] = {{\n{''.join(rows)}}};\n")
    rows = "".join(f"    [{call.constant}] = {{args_{call.name}, {len(call.args)}}},\n"
                   for call in functions if call.args)
    out.append(f"const struct mpi_signature mpi_fn_signature[MPI_FN_COUNT] = {{\n{rows}}};\n")
    return "\n".join(out)


def effect_header():
    return banner("What MPI functions do.") + guard("ORR_MPI_EFFECTS_H", effects.header_body())


def effect_table(functions):
    return banner("What MPI functions do.") + '#include "mpi_effects.h"\n\n' + effects.table(functions)


def paragraph(text):
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False) + "\n"


def coverage(groups):
    """The coverage page; P names and variables are not counted."""
    rows, sections, done, total = [], [], 0, 0
    for group in groups:
        functions = [call for call in group.calls if call.is_function]
        if not functions:
            continue
        lack = [call.name for call in functions if call.state == "todo"]
        fail = [f"{call.name} ({call.fails})" for call in functions if call.fails]
        have = [call.name for call in functions if call.state == "impl" and not call.fails]
        done += len(have)
        total += len(functions)
        rows.append(f"| {group.title} | {group.key} | {len(have)} | {len(fail)} | {len(lack)} |")
        sections.append(f"## {group.title}\n")
        sections += [paragraph(note) for note in group.notes]
        for label, names in (("Supported", have), ("Always fails", fail), ("Not yet", lack)):
            if names:
                sections.append(paragraph(f"{label} ({len(names)}): " + ", ".join(names) + "."))
    return f"""# MPI coverage

{done} of {total} functions are supported. Every MPI and MPIX function also has its P name. All
{total} are exported, so a program loads whatever it imports. Calling one that is not supported yet
ends the run with a message that names it, and `orrery check` lists such imports before a run. One
that always fails raises the error class given with it through the program's error handler. This
page is generated from `api/mpi_functions.txt`; `make coverage` renews it.

| group | key | supported | always fails | not yet |
|---|---|---|---|---|
""" + "\n".join(rows) + "\n\n" + "\n".join(sections)


def write(directory, name, text):
    path = os.path.join(directory, name)
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ListError(path, 0, f"cannot write: {error.strerror}") from None


def main(argv):
    parser = argparse.ArgumentParser(description="generate the MPI entries from the list")
    parser.add_argument("list", metavar="LIST")
    parser.add_argument("outdir", metavar="OUTDIR")
    parser.add_argument("--also", metavar="FILE", action="append", default=[],
                        help="file with more names to export, one per line")
    parser.add_argument("--only", metavar="NAME", help="write only this file")
    options = parser.parse_args(argv)
    try:
        groups = read_list(options.list)
        also = [name for path in options.also for name in read_also(path)]
        calls = [call for group in groups for call in group.calls]
        functions = [call for call in calls if call.is_function]
        os.makedirs(options.outdir, exist_ok=True)
        outputs = {"mpi_fn.h": fn_header(groups, functions),
                   "mpi_fn.c": fn_tables(groups, functions),
                   "mpi_impl.h": impl_header(calls),
                   **entries(functions),
                   "mpi_exports.map": exports(calls, also),
                   "mpi_known.h": known_header(calls),
                   "mpi_needs.h": needs_header(calls),
                   "mpi_roles.h": role_header(),
                   "mpi_roles.c": role_tables(functions),
                   "mpi_effects.h": effect_header(),
                   "mpi_effects.c": effect_table(functions),
                   "mpi_wrapped.h": wrapped_header(functions),
                   "mpi_wrappers.c": wrappers(functions, "The recorder's", "native/wrap.h", wrapper),
                   "mpi_guests.c": wrappers(functions, "The hybrid simulation's", "hybrid/guest.h", guest),
                   "mpi_invoke.h": invoke_header(),
                   "mpi_invoke.c": invokers(functions),
                   "mpi-coverage.md": coverage(groups)}
        if options.only and options.only not in outputs:
            parser.error(f"--only: there is no '{options.only}'")
        for name in [options.only] if options.only else outputs:
            write(options.outdir, name, outputs[name])
    except ListError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{options.outdir}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
