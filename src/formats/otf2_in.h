/*
 * otf2_in.h - what the parts of the OTF2 reader share.
 */
#ifndef FORMATS_OTF2_IN_H
#define FORMATS_OTF2_IN_H

#include <otf2/otf2.h>

#include "formats/build.h"
#include "calls/calls.h"

/* Definitions of one kind by their number, which may be any. */
struct otf2_table {
    struct map by_ref; /* to position + 1 */
    void *items;
    size_t count, room;
};

struct otf2_region {
    uint32_t name; /* string */
    int fn;        /* of the schema; -1: no MPI function */
};

struct otf2_group {
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    OTF2_GroupFlag flags;
    uint32_t name;
    uint64_t *members;
    uint32_t count;
};

struct otf2_comm {
    uint32_t name, group, other;
    int is_inter;
    /* when all definitions were read */
    uint64_t identity; /* FORMAT_NO_COMM: MPI_COMM_SELF */
    int64_t *ranks, *others;
    size_t count, other_count;
};

struct otf2_parameter {
    uint32_t name;
};

struct otf2_location {
    uint64_t ref;
    uint32_t group;
    OTF2_LocationType type;
    int64_t rank; /* -1: none */
    unsigned thread;
};

struct otf2_process {
    uint32_t node; /* of the system tree */
    int64_t rank;
    unsigned threads;
};

/* A definition of a rank's handle. */
struct otf2_local {
    uint64_t location, number; /* number: in order of the archive */
    uint32_t name, value;      /* strings */
};

/* The outcome of a receive or collective, for the call that starts it. */
struct otf2_result {
    int is_known;
    uint32_t peer, comm, tag, root;
    uint64_t bytes, sent;
    OTF2_CollectiveOp op;
};

struct otf2_in {
    struct format_build build;
    struct format_notes *notes;
    struct mpi_effect *shapes;
    OTF2_Reader *reader;
    const char *path; /* of the archive: t.otf2, with a folder t */
    int is_own;       /* written by Orrery: calls have all arguments */
    int failed;       /* there was no memory for a definition */
    uint64_t resolution, offset;
    struct otf2_table strings; /* char * */
    struct otf2_table regions, groups, comms, parameters, processes, nodes, wins;
    struct otf2_location *locations;
    size_t location_count;
    struct otf2_local *locals; /* by location */
    size_t local_count;
    int64_t *rank_locations; /* of each rank */
    uint64_t ranks;
    struct otf2_result *results; /* of started operations of a location, in order */
    size_t result_count;
};

/* ---- tables ---- */

/* NULL: there is no such item. Adding one may move others. */
void *otf2_table_find(const struct otf2_table *, uint64_t ref, size_t size);
/* "" if it is not defined. */
const char *otf2_string(const struct otf2_in *, uint32_t ref);

/* ---- parts ---- */

/* Reads all global definitions, and derives ranks and communicators. */
int otf2_in_definitions(struct otf2_in *, const char *path, struct err *);
void otf2_in_fini(struct otf2_in *);
/* Defines what ranks share. */
void otf2_in_define(struct otf2_in *);
/* Defines the handles of a rank. */
void otf2_in_locals(struct otf2_in *, const struct otf2_location *);
/* Adds the records of a location to the current rank. */
void otf2_in_events(struct otf2_in *, const struct otf2_location *);

#endif
