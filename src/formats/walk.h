/*
 * Going through a trace to write it in another format: rank by rank, thread by thread, record by
 * record.
 */
#ifndef FORMATS_WALK_H
#define FORMATS_WALK_H

#include "formats/actions.h"
#include "formats/notes.h"

struct walk {
    struct trace *trace;
    struct format_notes *notes;
    struct call_shape *shapes;
    struct members members;
    /* of the rank that is visited */
    uint64_t rank;
    unsigned thread, threads;
    struct trace_local local;
    struct actions actions; /* of the call that is visited */
};

/* What is done; any may be NULL. Not 0 ends the walk. */
struct walk_visitor {
    int (*begin)(void *state, struct walk *, struct err *); /* a rank */
    int (*thread)(void *state, struct walk *, struct err *);
    int (*event)(void *state, struct walk *, const struct trace_event *, struct err *);
    int (*end)(void *state, struct walk *, struct err *); /* of a rank */
};

/* 0, or what a visitor returned. */
int walk_trace(struct trace *, const struct walk_visitor *, void *state, struct format_notes *,
               struct err *);

/* Time in picoseconds. */
int64_t walk_time(const struct walk *, int64_t ticks);
/* The name of the region that a record enters, "" if it has none. */
const char *walk_region(const struct walk *, const struct trace_event *);
/* The number that begins the payload of another record; 0: there is none. */
uint64_t walk_number(const struct trace_event *);
/* Notes a call of which a format of messages has nothing. */
void walk_note_left_out(struct walk *, const struct trace_event *);
/* The name of a node, in `text`. */
const char *walk_node_name(const struct trace *, uint64_t node, char *text, size_t size);
/* The node of a rank; all are on node 0 if the trace does not say. */
uint64_t walk_node(const struct trace *, uint64_t rank);

#endif
