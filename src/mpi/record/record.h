/*
 * record.h - writes what the ranks of this process call to a part of a trace (--trace;
 * trace/format.h).
 *
 * An observer like any other: it has no effect on virtual time. A thread's calls are a stream of
 * records, encoded when a call returns. Calls that MPI makes through callbacks of the program are
 * part of the call that they are made in.
 */
#ifndef MPI_RECORD_RECORD_H
#define MPI_RECORD_RECORD_H

#include <stddef.h>

#include "base/err.h"
#include "base/vtime.h"

struct recorder_mpi;

/* Before the first rank runs; the part is named in the options of the run. */
int mpi_record_begin(struct err *);
/* All ranks have ended, or will not continue: writes what is left. `aborted`: when, or VTIME_NEVER.
 * Scheduler context. */
int mpi_record_end(vtime aborted, struct err *);

/* Adds a definition that ranks share. */
void mpi_record_define(unsigned kind, const void *payload, size_t bytes);
/* What the recorder asks about objects. */
extern const struct recorder_mpi mpi_record_objects;

/* Defines the links of the machine and what they carried; the first process also defines what they
 * have in common. */
void mpi_record_links(int is_first);

#endif
