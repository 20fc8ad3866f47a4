/*
 * otf2_out.h - what the parts of the OTF2 writer share.
 *
 * How a trace becomes an archive:
 *
 *     rank           location group "MPI Rank 3", with a location for each thread, whose number is
 *                    rank + thread x ranks
 *     node           node of the system tree
 *     function       region with the paradigm MPI and a role
 *     call           ENTER, its arguments as parameters, what it did (messages, collectives,
 *                    one-sided operations), LEAVE
 *     argument       one PARAMETER_INT for each item, or a PARAMETER_STRING; a status has four:
 *                    see otf2_status_parts
 *     communicator   COMM and GROUP; 0 is MPI_COMM_WORLD, 1 MPI_COMM_SELF. The group's name
 *                    contains the identity
 *     handles        the definitions of a rank are properties of its location, as the bytes that
 *                    are in the trace
 *
 * So tools find what OTF2 can express, and the reader of this module finds the whole trace.
 */
#ifndef FORMATS_OTF2_OUT_H
#define FORMATS_OTF2_OUT_H

#include <otf2/otf2.h>

#include "formats/walk.h"

#define OTF2_OUT_MARK "ORRERY::SCHEMA"        /* property of an archive that has all arguments */
#define OTF2_OUT_PROPERTY "ORRERY::PROPERTY_" /* number follows; the value is "key=value" */
#define OTF2_OUT_GROUP \
    "members of " /* starts the name of a communicator's group; the identity follows */
#define OTF2_OUT_DEFINE \
    "orrery definition " /* starts the name of a location's property; kind and number follow */
#define OTF2_OUT_ERROR "error class" /* parameters that are not arguments */
#define OTF2_OUT_SITE "call site"
#define OTF2_OUT_LOST "records lost"

/* Suffixes of a status's name, for the names of its four parameters. */
enum {
    OTF2_STATUS_FLAGS,
    OTF2_STATUS_SOURCE,
    OTF2_STATUS_TAG,
    OTF2_STATUS_BYTES,
    OTF2_STATUS_PARTS
};
extern const char *const otf2_status_parts[OTF2_STATUS_PARTS];

/* Definitions by name: strings, regions, parameters. */
struct otf2_names {
    struct map by_hash; /* to number + 1 */
    struct otf2_name {
        char *text;
        uint32_t string; /* of regions and parameters: their name */
        uint8_t kind;    /* of a region: its role; of a parameter: its type */
        uint8_t is_mpi;
    } * items;
    uint32_t count;
};

struct otf2_win {
    uint64_t comm; /* identity */
};

struct otf2_out {
    OTF2_Archive *archive;
    OTF2_EvtWriter *events; /* of the current location */
    int64_t last;           /* time written there */
    struct otf2_names strings, regions, parameters;
    uint64_t *counts; /* events of each location, by rank and thread */
    uint32_t *threads;
    uint64_t *location_at; /* index of a rank's first count */
    uint64_t location_count;
    int64_t first, end; /* of all times */
    /* windows: of all ranks, and the current rank's */
    struct map wins; /* by identity: to number + 1 */
    struct otf2_win *win_items;
    uint32_t win_count;
    struct map local_wins; /* local number to number + 1 */
    struct map comm_wins;  /* windows so far, by communicator */
    struct otf2_pending {
        uint32_t win;
        int64_t target;
        uint64_t match;
    } * pending; /* one-sided operations that are not complete */
    size_t pending_count;
    uint64_t next_match;
    /* caches */
    uint32_t *region_of;    /* by function: number + 1 */
    uint32_t *parameter_of; /* by function x TRACE_ARGS_MAX + argument: number + 1 */
};

/* Numbers of definitions, which are created when they are first used. */
uint32_t otf2_out_string(struct otf2_out *, const char *text, size_t length);
uint32_t otf2_out_region(struct otf2_out *, const char *name, OTF2_RegionRole, int is_mpi);
uint32_t otf2_out_parameter(struct otf2_out *, const char *name, OTF2_ParameterType);
uint32_t otf2_out_comm(const struct trace *, const struct trace_local_item *);

void otf2_names_fini(struct otf2_names *);

/* The time to write, never before the one written last. */
OTF2_TimeStamp otf2_out_time(struct otf2_out *, struct walk *, int64_t ticks);

/* A call; and one that did not end, which is entered but not left. */
void otf2_out_call(struct otf2_out *, struct walk *, const struct trace_event *);
void otf2_out_open(struct otf2_out *, struct walk *, const struct trace_event *);
/* A number as a parameter. */
void otf2_out_number(struct otf2_out *, OTF2_TimeStamp, const char *name, int64_t value);

/* Writes the records of a call on a window: those after its ENTER, or before its LEAVE. */
void otf2_out_rma(struct otf2_out *, struct walk *, const struct trace_event *, int at_end,
                  OTF2_TimeStamp);
void otf2_out_rma_reset(struct otf2_out *); /* for the next rank */

/* Writes all definitions, after all events. */
int otf2_out_define(struct otf2_out *, struct trace *, struct format_notes *, struct err *);

#endif
