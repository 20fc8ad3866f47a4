/*
 * program.c - inspects a program: a breadth-first walk over it and its libraries, then one verdict.
 *
 *     program --needs--> library --needs--> library ...
 *         \--needs--> MPI library        named, not entered: Orrery takes its place
 *         \--needs--> language runtime   not entered: one copy serves all ranks
 *
 * What the program itself imports counts as used. What its libraries import may never be called, so
 * there an unsupported call or a thread is only a warning.
 */
#include "program/program.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/mem.h"
#include "program/imports.h"
#include "program/elf.h"
#include "program/known.h"
#include "program/libsearch.h"

#define IMAGES_MAX 512

struct image {
    char *name, *path;
    struct program_elf elf;
};

struct walk {
    struct program *program;
    struct program_libsearch search;
    struct image *images; /* [0] is the program */
    size_t count;
    int openmp, cxx_bindings, tsan;
    int loads;                     /* the program calls dlopen */
    struct program_names threaded; /* libraries that can start threads */
};

/* ---- libraries with a special role ---- */

enum role {
    ROLE_RUNTIME, /* language runtime: shared by all ranks, not inspected */
    ROLE_MPICH,   /* MPI that Orrery replaces, or its bindings */
    ROLE_CXX,     /* MPICH's C++ classes */
    ROLE_OTHER,   /* an MPICH of another ABI */
    ROLE_OPENMPI,
    ROLE_OPENMP,
    ROLE_ASAN, /* AddressSanitizer */
    ROLE_TSAN, /* ThreadSanitizer, which needs the memory that we use */
    ROLE_LIBRARY
};

/* By the beginning of the soname; the first match is used. */
static const struct {
    const char *start;
    enum role role;
} roles[] = {
    {"libmpich.so.12", ROLE_MPICH},     {"libmpi.so.12", ROLE_MPICH},
    {"libmpichfort.so.12", ROLE_MPICH}, {"libmpifort.so.12", ROLE_MPICH},
    {"libmpichcxx.so.12", ROLE_CXX},    {"libmpicxx.so.12", ROLE_CXX},
    {"libmpich", ROLE_OTHER},           {"libmpi.so.", ROLE_OPENMPI},
    {"libmpi_", ROLE_OPENMPI},          {"libopen-rte.so", ROLE_OPENMPI},
    {"libopen-pal.so", ROLE_OPENMPI},   {"liboshmem.so", ROLE_OPENMPI},
    {"libgomp.so", ROLE_OPENMP},        {"libomp.so", ROLE_OPENMP},
    {"libiomp5.so", ROLE_OPENMP},       {"libc.so", ROLE_RUNTIME},
    {"libm.so", ROLE_RUNTIME},          {"libmvec.so", ROLE_RUNTIME},
    {"ld-linux", ROLE_RUNTIME},         {"libgcc_s.so", ROLE_RUNTIME},
    {"libstdc++.so", ROLE_RUNTIME},     {"libgfortran.so", ROLE_RUNTIME},
    {"libquadmath.so", ROLE_RUNTIME},   {"libpthread.so", ROLE_RUNTIME},
    {"libdl.so", ROLE_RUNTIME},         {"librt.so", ROLE_RUNTIME},
    {"libutil.so", ROLE_RUNTIME},       {"libresolv.so", ROLE_RUNTIME},
    {"libatomic.so", ROLE_RUNTIME},     {"libasan.so", ROLE_ASAN},
    {"libclang_rt.asan", ROLE_ASAN},    {"libtsan.so", ROLE_TSAN},
    {"libclang_rt.tsan", ROLE_TSAN},    {"libubsan.so", ROLE_RUNTIME},
};

static int starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static enum role role_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        if (starts(base, roles[i].start))
            return roles[i].role;
    }
    return ROLE_LIBRARY;
}

/* Appends a copy of text unless it is in the list already. */
static void names_add(struct program_names *names, const char *text)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], text) == 0)
            return;
    }
    ARRAY_EXTEND(names->items, names->count);
    names->items[names->count++] = mem_strdup(text);
}

static void names_fini(struct program_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        mem_free(names->items[i]);
    mem_free(names->items);
    memset(names, 0, sizeof *names);
}

__attribute__((format(printf, 2, 3))) static void warn(struct program *program, const char *fmt,
                                                       ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    names_add(&program->warnings, text);
}

/* ---- the walk ---- */

static void add_image(struct walk *walk, const char *name, const char *path,
                      const struct program_elf *elf)
{
    ARRAY_EXTEND(walk->images, walk->count);
    walk->images[walk->count++] = (struct image){.name = mem_strdup(name),
                                                 .path = mem_strdup(path),
                                                 .elf = *elf};
}

static int seen(const struct walk *walk, const char *name)
{
    for (size_t i = 0; i < walk->count; i++) {
        if (strcmp(walk->images[i].name, name) == 0)
            return 1;
    }
    return 0;
}

int program_is_elf(const char *path)
{
    struct program_elf elf;
    struct err err;
    if (program_elf_open(&elf, path, &err))
        return 0;
    program_elf_close(&elf);
    return 1;
}

static void note_mpi(struct program *program, const char *name, const char *kind)
{
    /* a foreign MPI anywhere outweighs a supported one; otherwise the first one is used */
    if (program->mpi_kind && (strcmp(kind, "MPICH ABI") == 0))
        return;
    program->mpi_kind = kind;
    snprintf(program->mpi, sizeof program->mpi, "%s", name);
}

static void open_library(struct walk *walk, const struct image *from, const char *name)
{
    char path[PROGRAM_PATH_MAX];
    const struct image *main = &walk->images[0];
    struct program_libsearch_from from_object = {from->path, from->elf.rpath, from->elf.runpath};
    struct program_libsearch_from from_main = {main->path, main->elf.rpath, main->elf.runpath};
    struct program_elf elf;
    struct err err;
    if (seen(walk, name) || walk->count >= IMAGES_MAX)
        return;
    if (!program_libsearch_find(&walk->search, name, &from_object, &from_main, program_is_elf, path,
                                sizeof path) ||
        program_elf_open(&elf, path, &err)) {
        warn(walk->program,
             "library '%s' was not found: set LD_LIBRARY_PATH if the program "
             "does not start",
             name);
        return;
    }
    add_image(walk, name, path, &elf);
    walk->program->libraries++;
}

static void visit_needed(struct walk *walk, const struct image *from, const char *name)
{
    struct program *program = walk->program;
    int is_fortran = strstr(name, "libgfortran.so") || strstr(name, "fort.so.12");
    if (is_fortran)
        program->language = "Fortran";
    else if (strstr(name, "libstdc++.so") && strcmp(program->language, "C") == 0)
        program->language = "C++";
    switch (role_of(name)) {
    case ROLE_RUNTIME:
        break;
    case ROLE_CXX:
        walk->cxx_bindings = 1;
        note_mpi(program, name, "MPICH ABI");
        break;
    case ROLE_MPICH:
        note_mpi(program, name, "MPICH ABI");
        break;
    case ROLE_OTHER:
        note_mpi(program, name, "other MPICH");
        break;
    case ROLE_OPENMPI:
        note_mpi(program, name, "Open MPI");
        break;
    case ROLE_OPENMP:
        walk->openmp = 1;
        break;
    case ROLE_ASAN:
        program->asan = 1;
        break;
    case ROLE_TSAN:
        walk->tsan = 1;
        break;
    case ROLE_LIBRARY:
        open_library(walk, from, name);
        break;
    }
}

/* The images array may move while libraries are added: `from` is a copy. */
static void walk_libraries(struct walk *walk)
{
    for (size_t i = 0; i < walk->count; i++) {
        struct image from = walk->images[i];
        const char *name;
        for (size_t n = 0; (name = program_elf_needed(&from.elf, n)) != NULL; n++)
            visit_needed(walk, &from, name);
        walk->program->private_bytes += from.elf.writable_bytes + from.elf.tls_bytes;
    }
}

/* ---- symbols ---- */

static int defined_in_library(const struct walk *walk, const char *name)
{
    struct program_elf_symbol symbol;
    for (size_t i = 0; i < walk->count; i++) {
        const struct program_elf *elf = &walk->images[i].elf;
        for (size_t s = 0; s < program_elf_symbol_count(elf); s++) {
            if (program_elf_symbol(elf, s, &symbol) && symbol.defined &&
                strcmp(symbol.name, name) == 0)
                return 1;
        }
    }
    return 0;
}

static int starts_thread(const char *name)
{
    return strcmp(name, "pthread_create") == 0 || strcmp(name, "thrd_create") == 0 ||
           starts(name, "_ZNSt6thread15_M_start_thread");
}

/* The reason names the call, so that who knows that it is never made can choose fibres. */
static void wish_process(struct program *program, const char *call)
{
    if (program->process_wish)
        return;
    snprintf(program->wish, sizeof program->wish, "%s: %s", program_imports_process(call), call);
    program->process_wish = program->wish;
}

static void visit_import(struct walk *walk, size_t image, const struct program_elf_symbol *symbol,
                         struct program_names *lacking)
{
    struct program *program = walk->program;
    const char *name;
    program->stacks |= program_imports_stacks(symbol->name);
    if (starts_thread(symbol->name)) {
        if (image == 0)
            program->threads = 1;
        else
            names_add(&walk->threaded, walk->images[image].name);
    } else if (image == 0 && strcmp(symbol->name, "dlopen") == 0) {
        walk->loads = 1;
    } else if (image == 0 && program_imports_process(symbol->name)) {
        wish_process(program, symbol->name);
    } else {
        unsigned needs;
        enum program_known known = program_known_find(symbol->name, &name, &needs);
        if (strcmp(symbol->name, "orrery_compute") == 0)
            program->declares |= PROGRAM_DECLARES_TIME;
        else if (strcmp(symbol->name, "orrery_flops") == 0)
            program->declares |= PROGRAM_DECLARES_FLOPS;
        if (known == PROGRAM_KNOWN_UNSUPPORTED ||
            (known == PROGRAM_KNOWN_MISSING && !symbol->weak && !defined_in_library(walk, name)))
            names_add(lacking, name);
        program->needs |= needs;
    }
}

/* A few names and the number of the rest, for a sentence. */
static void list_names(const struct program_names *names, char *out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < names->count && i < 5 && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", names->items[i]);
    if (names->count > 5 && used < size)
        snprintf(out + used, size - used, " and %zu more", names->count - 5);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void visit_imports(struct walk *walk)
{
    for (size_t i = 0; i < walk->count; i++) {
        struct program_names lacking = {0};
        const struct program_elf *elf = &walk->images[i].elf;
        struct program_elf_symbol symbol;
        for (size_t s = 0; s < program_elf_symbol_count(elf); s++) {
            if (program_elf_symbol(elf, s, &symbol) && !symbol.defined)
                visit_import(walk, i, &symbol, &lacking);
        }
        if (lacking.count)
            qsort(lacking.items, lacking.count, sizeof *lacking.items, by_name);
        /* the inline functions of MPICH's C++ classes import calls that may never be made */
        if (i == 0 && !walk->cxx_bindings) {
            walk->program->unsupported = lacking;
            continue;
        }
        if (lacking.count) {
            char text[256];
            list_names(&lacking, text, sizeof text);
            warn(walk->program,
                 "%s '%s' refers to MPI calls not supported yet (%s); they end "
                 "the run if they are made",
                 i ? "library" : "program", walk->images[i].name, text);
        }
        names_fini(&lacking);
    }
}

/* One sentence for all of them; if ranks are processes, their threads are unrestricted. */
static void warn_threaded(struct walk *walk)
{
    char text[256];
    if (!walk->threaded.count || walk->program->process_reason)
        return;
    list_names(&walk->threaded, text, sizeof text);
    if (walk->threaded.count == 1)
        warn(walk->program, "library '%s' can start threads; they must not call MPI", text);
    else
        warn(walk->program, "%zu libraries can start threads, which must not call MPI: %s",
             walk->threaded.count, text);
}

/* ---- the verdict ---- */

__attribute__((format(printf, 2, 3))) static void refuse(struct program *program, const char *fmt,
                                                         ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (!program->refused)
        err_set(&program->why, ERR_INPUT, "%s", text);
    program->refused = 1;
}

static void judge_file(struct program *program, const struct program_elf *elf)
{
    struct stat st;
    if (stat(program->path, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)))
        refuse(program, "has the set-user-ID or set-group-ID bit, so nothing can be loaded into "
                        "it: remove the bit with 'chmod ug-s'");
    if (elf->soname && !elf->interpreter)
        refuse(program, "is a shared library (%s): give a program", elf->soname);
    program->static_program = !elf->interpreter;
    if (program->static_program)
        refuse(program, "is linked statically, so its MPI cannot be replaced: link it without "
                        "-static");
}

static void judge(struct walk *walk)
{
    struct program *program = walk->program;
    const char *omp_threads = getenv("OMP_NUM_THREADS");
    if (!program->mpi_kind)
        refuse(program, "does not use MPI: build it with mpicc.mpich, mpicxx.mpich or "
                        "mpif90.mpich");
    else if (strcmp(program->mpi_kind, "Open MPI") == 0)
        refuse(program, "was built with Open MPI (%s): rebuild it with mpicc.mpich", program->mpi);
    else if (strcmp(program->mpi_kind, "other MPICH") == 0)
        refuse(program,
               "was built with another MPICH (%s): rebuild it with mpicc.mpich of "
               "version 3.1 or later",
               program->mpi);
    if (walk->openmp && !(omp_threads && strcmp(omp_threads, "1") == 0)) {
        program->threads = 1;
        program->process_reason = "the program uses OpenMP";
    } else if (program->threads) {
        program->process_reason = "the program starts threads";
    } else if (walk->loads) {
        program->process_reason = "the program loads libraries while it runs";
    } else if (program->asan) {
        program->process_reason = "the program was built with AddressSanitizer";
    }
    if (walk->tsan)
        refuse(program,
               "was built with ThreadSanitizer, which does not work in a process that another "
               "library has taken over: build it without -fsanitize=thread");
}

/* ---- finding the file ---- */

static int search_path(const char *name, char *out, size_t size)
{
    const char *list = getenv("PATH");
    while (list && *list) {
        size_t length = strcspn(list, ":");
        int n = length ? snprintf(out, size, "%.*s/%s", (int)length, list, name)
                       : snprintf(out, size, "./%s", name);
        struct stat st;
        if (n > 0 && (size_t)n < size && access(out, X_OK) == 0 && stat(out, &st) == 0 &&
            S_ISREG(st.st_mode))
            return 1;
        list += length + (list[length] == ':');
    }
    return 0;
}

static int find_program(const char *given, char *out, size_t size, struct err *err)
{
    if (!*given)
        return err_set(err, ERR_INPUT, "the name of the program is empty");
    if (strlen(given) >= size)
        return err_set(err, ERR_INPUT, "the name of the program is too long");
    if (strchr(given, '/')) {
        snprintf(out, size, "%s", given);
        return access(out, F_OK) == 0 ? 0
                                      : err_set(err, ERR_SYSTEM, "cannot find program '%s': %s",
                                                given, strerror(errno));
    }
    if (search_path(given, out, size))
        return 0;
    if (access(given, F_OK) == 0)
        return err_set(err, ERR_INPUT,
                       "cannot find program '%s' on PATH: write './%s' for the one here", given,
                       given);
    return err_set(err, ERR_INPUT,
                   "cannot find program '%s': it is neither on PATH nor in this directory", given);
}

int program_inspect(struct program *program, const char *given, struct err *err)
{
    struct walk walk = {.program = program};
    struct program_elf elf;
    memset(program, 0, sizeof *program);
    int rc = find_program(given, program->path, sizeof program->path, err);
    if (rc)
        return rc;
    rc = program_elf_open(&elf, program->path, &program->why);
    if (rc == ERR_SYSTEM)
        return err_set(err, ERR_SYSTEM, "program '%s' %s", given, program->why.text);
    if (rc) {
        program->refused = 1;
        return 0;
    }
    if (access(program->path, X_OK) != 0)
        refuse(program, "is not executable: make it so with 'chmod +x'");
    program->language = "C";
    judge_file(program, &elf);
    program_libsearch_init(&walk.search);
    add_image(&walk, given, program->path, &elf);
    walk_libraries(&walk);
    visit_imports(&walk);
    judge(&walk);
    warn_threaded(&walk);
    names_fini(&walk.threaded);
    for (size_t i = 0; i < walk.count; i++) {
        program_elf_close(&walk.images[i].elf);
        mem_free(walk.images[i].name);
        mem_free(walk.images[i].path);
    }
    mem_free(walk.images);
    program_libsearch_fini(&walk.search);
    return 0;
}

void program_fini(struct program *program)
{
    names_fini(&program->unsupported);
    names_fini(&program->warnings);
}
