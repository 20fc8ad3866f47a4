/*
 * leaks.h - what a program leaves behind when it ends (--check-leaks): objects that it has made and not
 * freed, and messages that it has sent and not received.
 *
 * An observer (observer.h) of what programs make and free. Requests and messages need none: those that are
 * left in the end are the leaks.
 */
#ifndef MPI_LEAKS_H
#define MPI_LEAKS_H

#include "base/buf.h"
#include "base/json.h"
#include "mpi/observer.h"

/* Attaches the observer of objects. */
void mpi_leaks_init(void);

/* ---- the end of the run ---- */
/* Adds what the ranks of this process have left. Process context. */
void mpi_leaks_collect(struct buf *out);
/* Process 0: sums up what all processes collected. Returns the number of different leaks. */
uint32_t mpi_leaks_merge(const struct buf *parts);
/* Says them on standard error, one line each; writes them as the member "leaks". */
void mpi_leaks_say(void);
void mpi_leaks_json(struct json *);

#endif
