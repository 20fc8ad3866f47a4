/*
 * leaks.h - finds what a program leaves behind when it ends (--check-leaks): objects that it
 * created and did not free, and messages that it sent and did not receive.
 *
 * An observer (observer.h) sees the objects that programs create and free, and where. Messages and
 * requests need none to be found: those left at the end are the leaks.
 */
#ifndef MPI_LEAKS_H
#define MPI_LEAKS_H

#include "base/buf.h"
#include "base/json.h"
#include "mpi/observer.h"

/* Attaches the observer of objects. */
void mpi_leaks_init(void);

/* ---- the end of the run ---- */
/* Adds the leaks of the ranks of this process. Process context. */
void mpi_leaks_collect(struct buf *out);
/* The function, file and line of a call site (main/backtrace.h). */
typedef const char *mpi_leaks_describe(const char *site, char *out, size_t n);
/* Process 0: merges the leaks of all processes. Returns the number of distinct leaks. */
uint32_t mpi_leaks_merge(const struct buf *parts, mpi_leaks_describe *);
/* Prints them on standard error, one line each; writes them as the member "leaks". */
void mpi_leaks_print(void);
void mpi_leaks_json(struct json *);

#endif
