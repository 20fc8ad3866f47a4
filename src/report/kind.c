/*
 * kind.c - kinds of calls.
 */
#include "report/kind.h"

#include "mpi_effects.h"

static const char *const names[REPORT_KINDS] = {
    [REPORT_COMPUTE] = "compute",       [REPORT_SEND] = "send",
    [REPORT_RECEIVE] = "receive",       [REPORT_WAIT] = "wait",
    [REPORT_COLLECTIVE] = "collective", [REPORT_BARRIER] = "barrier",
    [REPORT_ONE_SIDED] = "one-sided",   [REPORT_FILE] = "file",
    [REPORT_OTHER] = "other",
};

enum report_kind report_kind_of(const struct trace_fn *fn)
{
    const struct mpi_effect *s = fn->number >= 0 ? &mpi_fn_effect[fn->number] : NULL;
    switch (s ? s->kind : MPI_DOES_LOCAL) {
    case MPI_DOES_SEND:
    case MPI_DOES_START:
        return REPORT_SEND;
    case MPI_DOES_RECEIVE:
    case MPI_DOES_EXCHANGE: /* as that is what it waits for */
    case MPI_DOES_PROBE:
        return REPORT_RECEIVE;
    case MPI_DOES_PARTITION:
        return s->form == MPI_FORM_POLLING ? REPORT_WAIT : REPORT_SEND;
    case MPI_DOES_COMPLETE:
    case MPI_DOES_INQUIRE:
    case MPI_DOES_DRAIN:
        return REPORT_WAIT;
    case MPI_DOES_COLLECTIVE:
        return s->class == MPI_CLASS_BARRIER  ? REPORT_BARRIER
               : s->makes == MPI_ROLE_WIN + 1 ? REPORT_ONE_SIDED
                                              : REPORT_COLLECTIVE;
    case MPI_DOES_RMA:
    case MPI_DOES_EPOCH:
        return REPORT_ONE_SIDED;
    case MPI_DOES_FILE:
        return REPORT_FILE;
    default:
        return REPORT_OTHER;
    }
}

const char *report_kind_name(enum report_kind kind)
{
    return names[kind];
}
