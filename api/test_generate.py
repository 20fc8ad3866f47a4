#!/usr/bin/env python3
"""Self-test of generate.py (TAP on stdout): the real list against the installed MPICH, a small
list that is built and run, and lists with mistakes.

usage: test_generate.py [--cc CC] [--mpicc MPICC]
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GENERATE = os.path.join(HERE, "generate.py")
LIST = os.path.join(HERE, "mpi_functions.txt")
ENTRIES = tuple(f"mpi_entries_{i}.c" for i in range(1, 5))
OUTPUTS = (*ENTRIES, "mpi_fn.h", "mpi_fn.c", "mpi_impl.h", "mpi_exports.map",
           "mpi_known.h", "mpi_needs.h", "mpi_roles.h", "mpi_roles.c", "mpi_invoke.h",
           "mpi_invoke.c", "mpi-coverage.md")

# What the hand-written entry.h provides.
MOCK_ENTRY_H = """
#include <stdint.h>
#include "mpi_fn.h"
#define ORR_EXPORT __attribute__((visibility("default")))
typedef int64_t vtime;
struct mpi_rank;
struct mpi_rank *mpi_enter(enum mpi_fn fn);
struct mpi_rank *mpi_enter_anytime(enum mpi_fn fn);
vtime mpi_clock(struct mpi_rank *self);
void mpi_leave(struct mpi_rank *self, enum mpi_fn fn, vtime t0);
int mpi_error_handled(struct mpi_rank *self, int code);
#define MPI_HANDLE_AT(at) ((uint64_t)(uintptr_t)*(at))
enum mpi_object { MPI_OBJECT_COMM, MPI_OBJECT_GROUP, MPI_OBJECT_TYPE, MPI_OBJECT_OP, MPI_OBJECT_INFO,
                  MPI_OBJECT_ERRHANDLER, MPI_OBJECT_KEYVAL, MPI_OBJECT_WIN, MPI_OBJECT_FILE };
extern int mpi_seen;
#define MPI_CALLS_ARE_SEEN mpi_seen
void mpi_observe_enter(struct mpi_rank *, enum mpi_fn, const uint64_t *args);
void mpi_observe_leave(struct mpi_rank *, enum mpi_fn, const uint64_t *args, vtime t0, int rc);
void mpi_observe_made(struct mpi_rank *, enum mpi_fn, enum mpi_object, uint64_t handle);
void mpi_observe_freed(struct mpi_rank *, enum mpi_fn, enum mpi_object, uint64_t handle);
void mpi_observe_new_request(struct mpi_rank *, int request);
int mpi_args_refused(struct mpi_rank *, enum mpi_fn, const uint64_t *args, int which);
#define MPI_ARGS_ARE_WRONG(condition) (condition)
int mpi_arg_size(const struct mpi_rank *self, int comm);
int mpi_arg_peers(const struct mpi_rank *self, int comm);
int mpi_arg_indegree(const struct mpi_rank *self, int comm);
int mpi_arg_outdegree(const struct mpi_rank *self, int comm);
int mpi_arg_is_no_root(int comm, int root);
int mpi_arg_is_root(const struct mpi_rank *self, int comm, int root);
int mpi_arg_has_negative(const void *at, int64_t count);
#define MPI_ARG_HAS_NEGATIVE(at, count) mpi_arg_has_negative((at), (count))
_Noreturn void mpi_unsupported(enum mpi_fn fn);
"""

SMALL_LIST = """# comment
effect local: MPI*
role comm type MPI_Comm
role datatype type MPI_Datatype
role op type MPI_Op
role callback type function
role buffer name buf
role count name count
role peer name dest
role root name root
role tag name tag
role flag name flag
role text name port_name
role value name level value base disp

rooted count for MPI_Bcast

[pt2pt] Point to point
impl int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest,
                  int tag, MPI_Comm comm); comm=comm
impl int MPI_Bcast(void *buf, int count, MPI_Datatype datatype, int root,
                   MPI_Comm comm); comm=comm
todo int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest,
                   int tag, MPI_Comm comm);
[init] Start
> A note that
  goes on.
impl int MPI_Close_port(const char *port_name); fails=MPI_ERR_PORT
impl int MPI_Initialized(int *flag); anytime
impl double MPI_Wtime(void); fast
impl MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp);
impl int MPI_Pcontrol(const int level, ...);
todo void MPII_Op_set_cxx(MPI_Op op, void (*call)(void));
impl void MPII_Note(int value);
impl int MPII_Hand(int value); raw
impl int MPIR_Variable; data
"""

# Calls each entry of SMALL_LIST and logs what its bookkeeping saw.
SMALL_MAIN = """
#include "mpi/entry.h"
#include "mpi_impl.h"
#include "mpi_abi_asserts.h" /* holds of mpi_abi.h, too, and declares the functions */
__typeof__(MPI_Send) PMPI_Send;
__typeof__(MPI_Ssend) PMPI_Ssend;
#include <stdio.h>
#include <stdlib.h>
struct mpi_rank { int id; };
static struct mpi_rank rank = {7};
int MPIR_Variable = 5;
struct mpi_rank *mpi_enter(enum mpi_fn fn) { printf("enter %s\\n", mpi_fn_name[fn]); return &rank; }
struct mpi_rank *mpi_enter_anytime(enum mpi_fn fn)
{ printf("anytime %s\\n", mpi_fn_name[fn]); return &rank; }
vtime mpi_clock(struct mpi_rank *self) { return self->id * 100; }
int mpi_error_handled(struct mpi_rank *self, int code)
{
    (void)self;
    return code;
}

void mpi_leave(struct mpi_rank *self, enum mpi_fn fn, vtime t0)
{ printf("leave %d %s %d\\n", self->id, mpi_fn_name[fn], (int)t0); }
int mpi_seen;
void mpi_observe_enter(struct mpi_rank *self, enum mpi_fn fn, const uint64_t *args)
{ if (mpi_seen) printf("seen %d %s %d %d\\n", self->id, mpi_fn_name[fn], *(const int *)args[0], (int)args[4]); }
void mpi_observe_leave(struct mpi_rank *self, enum mpi_fn fn, const uint64_t *args, vtime t0, int rc)
{ if (mpi_seen) printf("seen %d %s %d %d %d\\n", self->id, mpi_fn_name[fn], (int)args[3], (int)t0, rc); }
int mpi_args_refused(struct mpi_rank *self, enum mpi_fn fn, const uint64_t *args, int which)
{
    printf("refused %d %s %d: %d\\n", self->id, mpi_fn_name[fn], which, (int)args[which]);
    return MPI_ERR_ARG;
}
_Noreturn void mpi_unsupported(enum mpi_fn fn)
{
    printf("unsupported %s in %s\\n", mpi_fn_name[fn], mpi_fngroup_name[mpi_fn_group[fn]]);
    exit(0);
}
int mpi_send(struct mpi_rank *self, const void *buf, int count, MPI_Datatype datatype, int dest,
             int tag, MPI_Comm comm)
{
    (void)datatype;
    return self->id + *(const int *)buf + count + dest + tag + (comm == MPI_COMM_SELF);
}
int mpi_bcast(struct mpi_rank *self, void *buf, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{ (void)self; (void)buf; (void)datatype; (void)comm; return count * root; }
int mpi_arg_is_no_root(int comm, int root) { (void)comm; return root > 9; }
int mpi_arg_is_root(const struct mpi_rank *self, int comm, int root) { (void)comm; return self->id == root; }
int mpi_initialized(struct mpi_rank *self, int *flag) { *flag = self->id; return 0; }
int mpi_close_port(struct mpi_rank *self, const char *port_name)
{ (void)self; (void)port_name; return MPI_ERR_PORT; }
double mpi_wtime(void) { return 2.5; }
MPI_Aint mpi_aint_add(struct mpi_rank *self, MPI_Aint base, MPI_Aint disp)
{ (void)self; return base + disp; }
int mpi_pcontrol(struct mpi_rank *self, const int level, const void *more)
{ (void)self; (void)more; return level; }
void mpii_note(struct mpi_rank *self, int value) { printf("note %d %d\\n", self->id, value); }
int MPII_Hand(int value) { return value; }
int main(void)
{
    int buf = 1000, flag = 0;
    printf("send %d\\n", MPI_Send(&buf, 1, MPI_INT, 20, 300, MPI_COMM_SELF));
    printf("psend %d\\n", PMPI_Send(&buf, 2, MPI_INT, 20, 300, MPI_COMM_WORLD));
    MPI_Initialized(&flag);
    printf("flag %d wtime %.1f\\n", flag, MPI_Wtime());
    printf("null %d\\n", MPI_Initialized(NULL) == MPI_ERR_ARG);
    printf("bcast %d\\n", MPI_Bcast(&buf, -1, MPI_INT, 8, MPI_COMM_SELF));
    printf("bcast %d\\n", MPI_Bcast(&buf, -1, MPI_INT, 7, MPI_COMM_SELF) == MPI_ERR_ARG);
    printf("bcast %d\\n", MPI_Bcast(&buf, 1, MPI_INT, 10, MPI_COMM_SELF) == MPI_ERR_ARG);
    printf("aint %lld\\n", (long long)MPI_Aint_add((MPI_Aint)1 << 40, 1));
    printf("level %d\\n", MPI_Pcontrol(3, "x", 1.5));
    MPII_Note(4);
    printf("hand %d comm %d %d\\n", MPII_Hand(9), mpi_fn_comm_arg[MPI_FN_SEND],
           mpi_fn_comm_arg[MPI_FN_SSEND]);
    mpi_seen = 1;
    printf("send %d\\n", MPI_Send(&buf, 1, MPI_INT, 20, -300, MPI_COMM_SELF));
    return PMPI_Ssend(&buf, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}
"""

SMALL_OUTPUT = """enter MPI_Send
leave 7 MPI_Send 700
send 1329
enter MPI_Send
leave 7 MPI_Send 700
psend 1329
anytime MPI_Initialized
leave 7 MPI_Initialized 700
flag 7 wtime 2.5
anytime MPI_Initialized
refused 7 MPI_Initialized 0: 0
leave 7 MPI_Initialized 700
null 1
enter MPI_Bcast
leave 7 MPI_Bcast 700
bcast -8
enter MPI_Bcast
refused 7 MPI_Bcast 1: -1
leave 7 MPI_Bcast 700
bcast 1
enter MPI_Bcast
refused 7 MPI_Bcast 3: 10
leave 7 MPI_Bcast 700
bcast 1
enter MPI_Aint_add
leave 7 MPI_Aint_add 700
aint 1099511627777
enter MPI_Pcontrol
leave 7 MPI_Pcontrol 700
level 3
enter MPII_Note
note 7 4
leave 7 MPII_Note 700
hand 9 comm 5 -1
enter MPI_Send
seen 7 MPI_Send 1000 -300
seen 7 MPI_Send 20 700 729
leave 7 MPI_Send 700
send 729
unsupported MPI_Ssend in pt2pt
"""

# Stand before each list with a mistake.
RULES = """role value name a b
role comm name c
role count name n
effect local: MPI*
length n: v

"""

# Each: what is wrong, the list, the line to be named, part of the message.
MISTAKES = (
    ("unknown role", "role king name a\n", 1, "unknown role 'king'"),
    ("role without names", "role value name\n", 1, "expected 'role ROLE type"),
    ("type with two roles", "role comm type T\nrole value type T\n", 2, "has a role already"),
    ("direction without names", "both\n", 1, "no names after 'both'"),
    ("length without names", "length n:\n", 1, "expected 'length EXPR"),
    ("unknown length", "length twice(n): w\n", 1, "cannot read length 'twice(n)'"),
    ("free without names", "free\n", 1, "no names after 'free'"),
    ("given without names", "given\n", 1, "no names after 'given'"),
    ("room without names", "room n\n", 1, "expected 'room EXPR"),
    ("room of nothing", "room x: a\nlength n: a\n[g] G\nimpl int MPI_A(int n, int a[]);\n", 4, "'room x': MPI_A has no such argument"),
    ("unless without a value", "unless a: n\n", 1, "expected 'unless ARG=VALUE"),
    ("unless of a missing argument", "unless b=1: n\n[g] G\nimpl int MPI_A(int n);\n", 3,
     "MPI_A has no such argument"),
    ("nothing after 'for'", "in a for\n", 1, "no names after 'for'"),
    ("argument without role", "[g] G\nimpl int MPI_A(int z);\n", 2, "'z' of MPI_A has no role"),
    ("array without length", "[g] G\nimpl int MPI_A(int a[]);\n", 2, "array 'a' of MPI_A has no"),
    ("length of a missing argument", "role count name v\n[g] G\nimpl int MPI_A(int v[]);\n", 3,
     "array 'v' of MPI_A has no length"),
    ("rule behind a group", "[g] G\nrole value name q\n", 2, "unknown state 'role'"),
    ("entry before a group", "impl int MPI_A(int a);\n", 1, "before the first [group]"),
    ("unknown state", "[g] G\n\nmaybe int MPI_A(int a);\n", 3, "unknown state 'maybe'"),
    ("no semicolon", "[g] G\nimpl int MPI_A(int a)\n", 2, "no ';'"),
    ("unknown flag", "[g] G\nimpl int MPI_A(int a); quick\n", 2, "unknown flag 'quick'"),
    ("flag twice", "[g] G\nimpl int MPI_A(int a); raw raw\n", 2, "'raw' is given twice"),
    ("exclusive flags", "[g] G\nimpl int MPI_A(void); fast anytime\n", 2, "exclude each other"),
    ("fast with arguments", "[g] G\nimpl int MPI_A(int a); fast\n", 2, "without arguments"),
    ("wide without a wide form", "[g] G\nimpl int MPI_A(int a); wide\n", 2, "needs 'MPI_A_c'"),
    ("wide and raw", "[g] G\nimpl int MPI_A(int a); wide raw\n", 2, "'wide' is for functions"),
    ("raw and todo", "[g] G\ntodo int MPI_A(int a); raw\n", 2, "'raw' must be 'impl'"),
    ("data and todo", "[g] G\ntodo int MPI_A; data\n", 2, "'data' must be 'impl'"),
    ("comm names no argument", "[g] G\nimpl int MPI_A(MPI_Comm c); comm=d\n", 2, "'comm=d'"),
    ("comm of another type", "[g] G\nimpl int MPI_A(int c); comm=c\n", 2, "type MPI_Comm"),
    ("fails with no class", "[g] G\nimpl int MPI_A(int a); fails=often\n", 2, "'fails=often'"),
    ("fails without a class", "[g] G\nimpl int MPI_A(int a); fails\n", 2, "flag 'fails'"),
    ("fails and todo", "[g] G\ntodo int MPI_A(int a); fails=MPI_ERR_ARG\n", 2, "'impl'"),
    ("fails and raw", "[g] G\nimpl int MPI_A(int a); raw fails=MPI_ERR_ARG\n", 2, "'fails' is"),
    ("value for a plain flag", "[g] G\nimpl int MPI_A(int a); raw=1\n", 2, "flag 'raw=1'"),
    ("note before a group", "> a note\n[g] G\n", 1, "before the first [group]"),
    ("argument without name", "[g] G\nimpl int MPI_A(MPI_Comm);\n", 2, "'MPI_Comm' has no name"),
    ("only a C type", "[g] G\nimpl int MPI_A(const int);\n", 2, "'const int' has no name"),
    ("argument twice", "[g] G\nimpl int MPI_A(int a, int a);\n", 2, "'a' is given twice"),
    ("reserved argument name", "[g] G\nimpl int MPI_A(int rc);\n", 2, "'rc' is used"),
    ("empty argument", "[g] G\nimpl int MPI_A(int a,);\n", 2, "empty argument"),
    ("empty argument list", "[g] G\nimpl int MPI_A();\n", 2, "write (void)"),
    ("unbalanced parentheses", "[g] G\nimpl int MPI_A(int (a);\n", 2, "unbalanced"),
    ("no prototype", "[g] G\nimpl MPI_A;\n", 2, "cannot read prototype"),
    ("foreign prefix", "[g] G\nimpl int MPO_A(int a);\n", 2, "'MPO_A' starts with none"),
    ("function twice", "[g] G\nimpl int MPI_A(int a);\n\ntodo int MPI_A(int a);\n", 4, "line 8"),
    ("constant twice", "[g] G\nimpl int MPI_Ab(int a);\nimpl int MPI_aB(int a);\n", 3, "line 8"),
    ("group twice", "[g] G\nimpl int MPI_A(int a);\n[g] H\n", 3, "line 7"),
    ("group without title", "[g]\nimpl int MPI_A(int a);\n", 1, "cannot read group"),
    ("stray continuation", "  int a);\n", 1, "continues nothing"),
    ("mistake in a continued entry", "[g] G\nimpl int MPI_A(int a,\n  int);\n", 2, "'int' has no"),
    ("empty list", "# nothing\n", 0, "empty"),
)


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def ok(self, good, name, detail=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        if not good:
            for line in str(detail).splitlines()[:20]:
                print("# " + line)

    def done(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120, check=False)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def write(text, *path):
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        file.write(text)


def generate(text, directory, *options):
    """Run the generator on 'text'; its path is returned with the result."""
    path = os.path.join(directory, "list.txt")
    write(text, path)
    return path, run(sys.executable, GENERATE, path, os.path.join(directory, "out"), *options)


def compiler(options, directory, out):
    """The compile command with the mock entry.h, the ABI, and MPICH's include directories (for what calls MPICH)."""
    here = os.path.dirname(os.path.abspath(__file__))
    run(sys.executable, os.path.join(here, "abi.py"), os.path.join(here, "mpi_abi.txt"), LIST, out)
    shown = shlex.split(run(options.mpicc, "-show").stdout)
    includes = [word for word in shown if word.startswith("-I")]
    os.makedirs(os.path.join(directory, "mock", "mpi"), exist_ok=True)
    write(MOCK_ENTRY_H, directory, "mock", "mpi", "entry.h")
    return [options.cc, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-fPIC", "-I", os.path.join(directory, "mock"), "-I", out,
            *includes]


def dynamic_symbols(path, *options):
    lines = run("nm", "-D", *options, path).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.strip()}


def test_real_list(tap, options, directory):
    out = os.path.join(directory, "out")
    extra = os.path.join(directory, "extra.txt")
    write("# shims\ngettimeofday\n\nsleep # another\n", extra)
    result = run(sys.executable, GENERATE, LIST, out, "--also", extra)
    tap.ok(result.returncode == 0 and not result.stdout, "the list is accepted", result.stdout)
    tap.ok(all(os.path.exists(os.path.join(out, name)) for name in OUTPUTS), "all files written")
    command = compiler(options, directory, out)
    for name in ("mpi_fn.c", *ENTRIES, "mpi_roles.c", "mpi_invoke.c"):
        result = run(*command, "-fsyntax-only", os.path.join(out, name))
        tap.ok(result.returncode == 0, f"{name} compiles without warning", result.stdout)
    sizes = [len(read(out, name)) for name in ENTRIES]
    tap.ok(max(sizes) < 1.2 * min(sizes), "files with entries take about as long to compile", str(sizes))
    for name in ("mpi_fn.h", "mpi_impl.h", "mpi_known.h", "mpi_roles.h", "mpi_invoke.h"):
        result = run(*command, "-fsyntax-only", "-Wno-unused-const-variable", "-x", "c",
                     os.path.join(out, name))
        tap.ok(result.returncode == 0, f"{name} compiles alone", result.stdout)
    mapped = set(re.findall(r"^\s+(\w+);$", read(out, "mpi_exports.map"), re.M))
    tap.ok({"gettimeofday", "sleep"} <= mapped, "names of --also are exported")
    known = re.findall(r'^    \{"(\w+)", MPI_KNOWN_', read(out, "mpi_known.h"), re.M)
    tap.ok(known == sorted(known) and set(known) == mapped - {"gettimeofday", "sleep"},
           "mpi_known.h is sorted and has the exported names")
    test_against_library(tap, options, mapped, command, out)


def test_against_library(tap, options, mapped, command, out):
    """Compare with what the installed MPICH exports and its language bindings import."""
    libraries = {name: run(options.cc, f"-print-file-name=lib{name}.so.12").stdout.strip()
                 for name in ("mpich", "mpichfort", "mpichcxx")}
    exported = dynamic_symbols(libraries["mpich"], "--defined-only")
    wanted = {name for name in exported if re.match(r"P?MPIX?_", name)}
    tap.ok(len(wanted) > 1000 and wanted <= mapped, "every P?MPI symbol of libmpich is mapped",
           f"{len(wanted)} wanted, missing: {sorted(wanted - mapped)}")
    imported = set()
    for name in ("mpichfort", "mpichcxx"):
        imported |= dynamic_symbols(libraries[name], "--undefined-only")
    wanted = imported & exported
    tap.ok(len(wanted) > 100 and wanted <= mapped, "every import of the bindings is mapped",
           f"{len(wanted)} wanted, missing: {sorted(wanted - mapped)}")
    library = os.path.join(out, "entries.so")
    result = run(*command, "-shared", *(os.path.join(out, name) for name in ENTRIES), "-o", library,
                 "-Wl,--version-script=" + os.path.join(out, "mpi_exports.map"))
    built = dynamic_symbols(library, "--defined-only")
    wanted = {name for name in exported if re.match(r"P?MPIX?_.*[a-z]", name)}
    tap.ok(result.returncode == 0 and wanted <= built and built <= mapped,
           "a library of the entries exports every function, and nothing else",
           result.stdout + f"missing: {sorted(wanted - built)} extra: {sorted(built - mapped)}")


def test_small_list(tap, options, directory):
    _, result = generate(SMALL_LIST, directory)
    tap.ok(result.returncode == 0, "a small list is accepted", result.stdout)
    out = os.path.join(directory, "out")
    main, program = os.path.join(directory, "main.c"), os.path.join(directory, "main")
    write(SMALL_MAIN, main)
    result = run(*compiler(options, directory, out), main, os.path.join(out, "mpi_fn.c"),
                 *(os.path.join(out, name) for name in ENTRIES), "-o", program)
    tap.ok(result.returncode == 0, "its entries build", result.stdout)
    if result.returncode == 0:
        output = run(program).stdout
        tap.ok(output == SMALL_OUTPUT, "its entries call, count and refuse as listed", output)
    page = read(out, "mpi-coverage.md")
    tap.ok("8 of 11 functions are supported" in page
           and "| Point to point | pt2pt | 2 | 0 | 1 |" in page
           and "| Start | init | 6 | 1 | 1 |" in page
           and "Always fails (1): MPI_Close_port (MPI_ERR_PORT)." in page
           and "A note that goes on." in page
           and "Not yet (1): MPI_Ssend." in page, "the coverage page counts them", page)
    os.remove(os.path.join(out, "mpi_fn.h"))
    write("", os.path.join(out, "mpi-coverage.md"))
    generate(SMALL_LIST, directory, "--only", "mpi-coverage.md")
    tap.ok(read(out, "mpi-coverage.md") == page and "mpi_fn.h" not in os.listdir(out),
           "--only writes one file")


def test_mistakes(tap, directory):
    for name, text, line, message in MISTAKES:
        path, result = generate(RULES + text, directory)
        line += RULES.count("\n") if line else 0
        good = (result.returncode == 2 and result.stdout.startswith(f"{path}:{line}: ")
                and message in result.stdout and result.stdout.count("\n") == 1)
        tap.ok(good, f"refused: {name}", f"exit {result.returncode}: {result.stdout}")
    tap.ok(not os.path.exists(os.path.join(directory, "out")), "a refused list writes nothing")
    extra = os.path.join(directory, "extra.txt")
    write("good\nnot a symbol\n", extra)
    _, result = generate(SMALL_LIST, directory, "--also", extra)
    tap.ok(result.returncode == 2 and result.stdout.startswith(f"{extra}:2: "),
           "refused: bad name in --also", result.stdout)
    result = run(sys.executable, GENERATE, os.path.join(directory, "absent"), directory)
    tap.ok(result.returncode == 2 and "cannot read" in result.stdout, "refused: no such list",
           result.stdout)


def main():
    parser = argparse.ArgumentParser(description="self-test of generate.py")
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    parser.add_argument("--mpicc", default="mpicc.mpich")
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as directory:
        test_real_list(tap, options, directory)
    with tempfile.TemporaryDirectory() as directory:
        test_small_list(tap, options, directory)
    with tempfile.TemporaryDirectory() as directory:
        test_mistakes(tap, directory)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
