/*
 * kind.h - what a call is for, as the report colours it.
 */
#ifndef WEBREPORT_KIND_H
#define WEBREPORT_KIND_H

#include "trace/schema.h"

/* The front end has the same list, with colours (web/src/kinds.ts). */
enum webreport_kind {
    WEBREPORT_COMPUTE, /* outside of MPI */
    WEBREPORT_SEND,
    WEBREPORT_RECEIVE,
    WEBREPORT_WAIT, /* for requests, and tests of them */
    WEBREPORT_COLLECTIVE,
    WEBREPORT_BARRIER,
    WEBREPORT_ONE_SIDED,
    WEBREPORT_FILE,
    WEBREPORT_OTHER,
    WEBREPORT_KINDS,
};

/* The kind of a function of a trace; by its group in this version's list of MPI functions and by
 * its name. */
enum webreport_kind webreport_kind_of(const struct trace_fn *);

/* "send". Static. */
const char *webreport_kind_name(enum webreport_kind);

#endif
