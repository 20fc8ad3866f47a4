/*
 * wrap.h - what the generated wrappers call (api/generate.py: mpi_wrappers.c). Each stands in the
 * place of a function of MPI, calls the real one, and tells the recorder of it.
 */
#ifndef NATIVE_WRAP_H
#define NATIVE_WRAP_H

#include <stdint.h>

#include "mpi_wrapped.h"

#define ORR_EXPORT __attribute__((visibility("default")))

/* On the stack of a wrapper. */
struct native_call {
    enum mpi_fn fn;
    const uint64_t *args; /* as the program has given them */
    const void *more;     /* the first argument without a name, if there is one */
    int64_t enter;
    uint64_t gone;              /* the handle of an object that the call frees */
    const MPI_Status *statuses; /* what the call fills in, also if the program ignores it */
    MPI_Status own;
};

extern struct native_functions native_real;

/* 0: the call is not recorded: it is one of MPI's own, or comes before or after all that can be
 * recorded. */
int native_enter(struct native_call *);
void native_leave(struct native_call *, int rc);

/* Where the real function writes its statuses: the recorder wants them, too. */
MPI_Status *native_status(struct native_call *, MPI_Status *);
MPI_Status *native_statuses(struct native_call *, MPI_Status *);

#endif
