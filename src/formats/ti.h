/*
 * ti.h - the time-independent traces of SimGrid: lines "RANK ACTION ARGUMENTS", in one file, or in
 * a file for each rank; then the named file lists their names. Amounts of computing are flops;
 * Orrery writes and reads one for each nanosecond, as on a host of 1 Gflop/s. Everything is on
 * MPI_COMM_WORLD.
 */
#ifndef FORMATS_TI_H
#define FORMATS_TI_H

#include "formats/formats.h"

/* How the arguments of a collective follow its name. n: one for each rank. */
enum ti_form {
    TI_BARRIER,        /* nothing */
    TI_ROOTED,         /* count root type */
    TI_REDUCE,         /* count flops root type */
    TI_REDUCED,        /* count flops type */
    TI_EXCHANGE,       /* send receive type type */
    TI_GATHER,         /* send receive root type type */
    TI_GATHERV,        /* send receive[n] root type type */
    TI_ALLGATHERV,     /* send receive[n] type type */
    TI_SCATTERV,       /* send[n] receive root type type */
    TI_ALLTOALLV,      /* bytes send[n] bytes receive[n] type type */
    TI_REDUCE_SCATTER, /* receive[n] flops type */
};

struct ti_coll {
    const char *name, *function;
    enum ti_form form;
};

/* NULL beyond the last. */
const struct ti_coll *ti_coll_at(size_t i);

/* The name of SimGrid's number of a datatype, and its size; NULL: there is none. */
const char *ti_type_name(int number, unsigned *size);

int ti_write(struct trace *, const char *path, struct format_notes *, struct err *);

#endif
