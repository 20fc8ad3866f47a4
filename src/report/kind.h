/*
 * kind.h - what a call is for, as the report colours it.
 */
#ifndef REPORT_KIND_H
#define REPORT_KIND_H

#include "trace/schema.h"

/* The front end has the same list, with colours (web/src/kinds.ts). */
enum report_kind {
    REPORT_COMPUTE, /* outside of MPI */
    REPORT_SEND,
    REPORT_RECEIVE,
    REPORT_WAIT, /* for requests, and tests of them */
    REPORT_COLLECTIVE,
    REPORT_BARRIER,
    REPORT_ONE_SIDED,
    REPORT_FILE,
    REPORT_OTHER,
    REPORT_KINDS,
};

/* The kind of a function of a trace. */
enum report_kind report_kind_of(const struct trace_fn *);

/* "send". Static. */
const char *report_kind_name(enum report_kind);

#endif
