/*
 * dumpi_in.h - what the parts of the DUMPI reader share.
 */
#ifndef FORMATS_DUMPI_IN_H
#define FORMATS_DUMPI_IN_H

#include "formats/build.h"
#include "formats/calls.h"
#include "formats/dumpi.h"

/* ---- communicators (dumpi_comms.c) ---- */

/* A communicator that several ranks have in common. */
struct dumpi_comm {
    uint64_t identity;
    int64_t *ranks; /* world ranks; NULL: not known */
    size_t count;
    int64_t *dims; /* of a Cartesian one */
    size_t ndims;
};

/* A call that makes one, of one rank. */
struct dumpi_creation {
    int fn;       /* of the schema */
    int64_t from; /* the one it is made from: DUMPI_COMM_..., or a creation of the same rank */
    int is_null;  /* the caller is no member */
    int64_t color, key;
    int64_t *dims; /* dimensions, or those that remain */
    size_t ndims;
    int64_t comm; /* the result: a position in `comms`; -1: not known */
};
enum { DUMPI_IS_WORLD = -1, DUMPI_IS_SELF = -2, DUMPI_IS_UNKNOWN = -3 };

struct dumpi_comms {
    uint64_t ranks;
    struct dumpi_rank_creations {
        struct dumpi_creation *items;
        size_t count;
        struct map latest; /* DUMPI's number of a communicator to the creation + 1 */
    } * by_rank;
    struct dumpi_comm *comms; /* 0 is MPI_COMM_WORLD */
    size_t count;
};

void dumpi_comms_init(struct dumpi_comms *, uint64_t ranks);
void dumpi_comms_fini(struct dumpi_comms *);
/* A call of a rank that made a communicator, in the order of its calls. */
void dumpi_comms_add(struct dumpi_comms *, uint64_t rank, int64_t from, int64_t made,
                     struct dumpi_creation);
/* What all ranks together made. */
void dumpi_comms_resolve(struct dumpi_comms *, const struct trace_schema *, struct format_notes *);

#endif
