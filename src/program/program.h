/*
 * program.h - can this program be simulated? Inspects the file and the libraries it needs, without
 * executing anything. Used by `orrery check` and `orrery run`.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PROGRAM_PATH_MAX 4096

/* A list of owned strings. */
struct program_names {
    char **items;
    size_t count;
};

/* How a program declares compute time, besides measured time. */
enum program_declares {
    PROGRAM_DECLARES_TIME = 1,  /* orrery_compute */
    PROGRAM_DECLARES_FLOPS = 2, /* orrery_flops */
};

/* The findings. program_fini releases owned strings and lists. */
struct program {
    char path[PROGRAM_PATH_MAX]; /* as it will be executed */
    char mpi[64];                /* library by which MPI was recognised, "" if none */
    const char *mpi_kind;        /* "MPICH ABI", "Open MPI", "other MPICH", NULL */
    const char *language;        /* "C", "C++", "Fortran", NULL: not read so far */
    uint64_t private_bytes;      /* writable data of program and libraries, per rank */
    size_t libraries;            /* inspected, besides language runtimes and MPI */
    int static_program, threads;
    /* Why ranks must be processes ("the program uses OpenMP"), or NULL. */
    const char *process_reason;
    const char *process_wish;         /* why they should be, if that many processes fit, or NULL */
    char wish[96];                    /* its text */
    int stacks;                       /* it creates stacks (makecontext) */
    int asan;                         /* it was built with AddressSanitizer */
    unsigned needs;                   /* bits of enum mpi_need: what it and its libraries import */
    unsigned declares;                /* bits of enum program_declares: it imports these */
    struct program_names unsupported; /* MPI calls of the program that Orrery lacks */
    struct program_names warnings;    /* sentences */
    int refused;                      /* why.text continues "it ..." */
    struct err why;
};

/*
 * Finds `given` (as a shell would: with a slash it is a path, else PATH is searched) and inspects
 * it. Returns 0 with the findings, among them `refused`; ERR_SYSTEM or ERR_INPUT if there is no
 * such file or it cannot be read. Call program_fini in either case.
 */
int program_inspect(struct program *, const char *given, struct err *);
void program_fini(struct program *);

/* Is the file an ELF object of this machine? */
int program_is_elf(const char *path);

#endif
