/*
 * hops.h - the critical path, for the timeline: on which rank it is when.
 *
 * Whenever a rank has waited for another one, its path continues that of the other: a *hop*. The
 * hops of the program's path are known at the end, going back from the rank that ends last. Going
 * back, the paths of all ranks soon meet, so few of all hops are still in use; the others are
 * dropped when there are many.
 */
#ifndef REPORT_HOPS_H
#define REPORT_HOPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "report/chunk.h"

#define HOPS_AT_FIRST ((size_t)1 << 20) /* stored before any are dropped */
#define HOPS_MOST ((size_t)16 << 20)    /* with more, the path is not known */
#define HOPS_STEPS_MOST ((size_t)1 << 18)

struct hop {
    int64_t time;
    uint32_t rank, other;
    uint32_t before; /* the hop on which the path of `other` then was, + 1; 0: none */
};

struct hops {
    struct hop *items;
    size_t count, room, most; /* more than `most` are not kept without dropping some */
    uint32_t *last;           /* by rank: its last hop, + 1 */
    uint32_t ranks;
    int is_lost;
};

/* A part of the path: a rank, and from when until when, in ticks. */
struct hops_step {
    uint32_t rank;
    int64_t from, to;
};

void hops_init(struct hops *, uint32_t ranks, size_t most);
void hops_fini(struct hops *);
/* Adds a hop; in order of time, or nearly. */
void hops_add(struct hops *, uint32_t rank, uint32_t other, int64_t time);

/* The path that leads to `rank` at `end`, in order of time; the caller frees it. NULL if there were
 * too many hops. */
struct hops_step *hops_path(const struct hops *, uint32_t rank, int64_t begin, int64_t end,
                            size_t *count);

/* Writes the member "path" of an open object, if the path is known: a chunk of three columns of
 * varints, each after a varint with its number of bytes: rank; time since the end of the step
 * before; time of the step. `unit` is in ticks. */
void hops_write(const struct hops *, uint32_t rank, int64_t begin, int64_t end, int64_t unit,
                struct chunks *, struct json *);

#endif
