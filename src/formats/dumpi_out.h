/*
 * dumpi_out.h - what the files that write DUMPI share.
 */
#ifndef FORMATS_DUMPI_OUT_H
#define FORMATS_DUMPI_OUT_H

#include "formats/dumpi.h"
#include "formats/textfile.h"
#include "formats/walk.h"

struct dumpi_out {
    struct textfile file;
    uint64_t written; /* bytes that are no longer in memory */
    char *prefix;
    struct dumpi_layout *layouts;
    int *by_fn;       /* DUMPI's number of a function of the schema, or -1 */
    uint32_t *counts; /* calls of each, of this rank */
    struct map types; /* local number to DUMPI's */
    uint32_t *sizes;  /* of the program's own */
    uint32_t type_count;
    uint32_t next_op;
    struct map ops;
    struct map regions;       /* local number of the name + 1, to nothing */
    struct map lost;          /* what calls have made that are left out (dumpi_lost.c) */
    struct map request_comms; /* communicators of requests */
    struct dumpi_open {       /* a region, the innermost last */
        uint64_t address;
        unsigned thread;
    } * open;
    size_t open_count;
};

/* Appends a big-endian number of this many bytes; a text of at most 65535 bytes, after its
 * length. */
void dumpi_put(struct buf *, unsigned bytes, uint64_t value);
void dumpi_put_string(struct buf *, const char *text);

/* Notes what a call makes that is left out, so that calls which use it are left out, too. */
void dumpi_lose(struct dumpi_out *, const struct walk *, const struct trace_event *);
int dumpi_is_lost_request(const struct dumpi_out *, int64_t number);
/* Whether a call uses an object that is lost. */
int dumpi_uses_lost(const struct dumpi_out *, const struct walk *, const struct trace_event *);

/* The communicator that a call uses; NULL: none, or not known. */
const struct trace_local_item *dumpi_comm_of(struct walk *, const struct trace_event *);
/* Appends a field of a call. */
void dumpi_put_field(struct dumpi_out *, struct walk *, const struct trace_event *,
                     const struct dumpi_field *);

#endif
