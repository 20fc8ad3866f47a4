/*
 * dumpi_in.h - what the parts of the DUMPI reader share.
 */
#ifndef FORMATS_DUMPI_IN_H
#define FORMATS_DUMPI_IN_H

#include "formats/build.h"
#include "calls/calls.h"
#include "formats/dumpi.h"
#include "formats/dumpi_file.h"
#include "mpi_roles.h"

/* ---- communicators (dumpi_comms.c) ---- */

/* A communicator. */
struct dumpi_comm {
    uint64_t identity;
    int64_t *ranks; /* world ranks; NULL: not known */
    size_t count;
    int64_t *dims; /* of a Cartesian one */
    size_t ndims;
};

/* A call of one rank that creates a communicator. */
struct dumpi_creation {
    int fn; /* of the schema */
    /* The communicator it is created from: DUMPI_IS_..., or a creation of the same rank. */
    int64_t from;
    int is_null; /* the caller is not a member */
    int64_t color, key;
    int64_t *dims; /* dimensions, or those that remain */
    size_t ndims;
    int64_t comm; /* the result: an index of `comms`; -1: not known */
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
/* Adds a call of a rank that created a communicator, in the order of its calls. */
void dumpi_comms_add(struct dumpi_comms *, uint64_t rank, int64_t from, int64_t made,
                     struct dumpi_creation);
/* Finds out what all ranks created together. */
void dumpi_comms_resolve(struct dumpi_comms *, const struct trace_schema *, struct format_notes *);

/* ---- the reader (dumpi_read.c) ---- */

/* A request. */
struct dumpi_request {
    int64_t number;
    int64_t comm; /* DUMPI's number */
    int is_recv;
};

struct dumpi_in {
    struct format_build build;
    struct format_notes *notes;
    struct dumpi_layout *layouts;
    struct mpi_effect *shapes;
    struct dumpi_comms comms;
    char *folder, *prefix;
    uint64_t ranks;
    int version;
    int64_t start; /* second that is time 0 */
    /* of the current rank */
    uint64_t rank;
    struct dumpi_file file;
    size_t next_creation;
    struct map local[MPI_ROLES]; /* from DUMPI's number to the local one + 1 */
    struct map comm_of;          /* DUMPI's number of a communicator to its index in comms + 1 */
    struct map requests;         /* DUMPI's number to index + 1 */
    struct dumpi_request *request_items;
    size_t request_count;
    int64_t next_request;
    int64_t last;
    /* of the current call */
    int64_t *items;
    size_t item_count;
    struct trace_status *statuses;
    size_t status_count;
};

/* ---- records, handles and statuses (dumpi_handles.c) ---- */

/* The value of this name; NULL, or `otherwise`: there is none. */
const struct dumpi_raw *dumpi_record_value(const struct dumpi_layout *, const struct dumpi_record *,
                                           const char *name);
int64_t dumpi_record_number(const struct dumpi_layout *, const struct dumpi_record *,
                            const char *name, int64_t otherwise);
/* The communicator that a call uses, and the one that it creates; 0: none. */
int64_t dumpi_record_comm(const struct dumpi_layout *, const struct dumpi_record *);
int64_t dumpi_record_new_comm(const struct dumpi_layout *, const struct dumpi_record *);

/* A call has created a communicator with this number. */
void dumpi_make_comm(struct dumpi_in *, int64_t number);
/* The local number of a handle that is the value of a field. */
int64_t dumpi_handle(struct dumpi_in *, const struct dumpi_layout *, const struct dumpi_record *,
                     const struct dumpi_field *, const struct trace_arg *, int64_t number);
/* Status k of a call. */
struct trace_status dumpi_status_in(const struct dumpi_in *, const struct dumpi_layout *,
                                    const struct dumpi_record *, size_t k,
                                    const struct dumpi_status *);

#endif
