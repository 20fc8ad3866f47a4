/*
 * walk.h - visits the records of a trace, to write it in another format: rank by rank, and within a
 * rank thread by thread or by time.
 */
#ifndef FORMATS_WALK_H
#define FORMATS_WALK_H

#include "formats/actions.h"
#include "formats/notes.h"

struct walk {
    struct trace *trace;
    struct format_notes *notes;
    struct mpi_effect *shapes;
    struct members members;
    /* of the current rank */
    uint64_t rank;
    unsigned thread, threads;
    struct trace_local local;
    struct actions actions; /* of the current call */
};

/* What a visitor does; each may be NULL. A result other than 0 ends the walk. */
struct walk_visitor {
    /* The records of all threads of a rank in the order in which they ended; there are no actions,
     * and `thread` is not called. */
    int is_by_time;
    int wants_blocks;                                       /* of the actions of collectives */
    int (*begin)(void *state, struct walk *, struct err *); /* a rank */
    int (*thread)(void *state, struct walk *, struct err *);
    int (*event)(void *state, struct walk *, const struct trace_event *, struct err *);
    int (*end)(void *state, struct walk *, struct err *); /* of a rank */
};

/* Returns 0, or the result of the visitor that ended it. */
int walk_trace(struct trace *, const struct walk_visitor *, void *state, struct format_notes *,
               struct err *);

/* Time in picoseconds. */
int64_t walk_time(const struct walk *, int64_t ticks);
/* The name of the region that a record enters, "" if it has none. */
const char *walk_region(const struct walk *, const struct trace_event *);
/* The first number in the payload of a record that is no call; 0: there is none. */
uint64_t walk_number(const struct trace_event *);
/* The function of a call that did not end, and when it was entered, in ticks; NULL: the record is
 * damaged. */
const struct trace_fn *walk_open_call(const struct walk *, const struct trace_event *,
                                      int64_t *enter);
/* For formats that have one sequence of messages and computing per rank. Whether the record is a
 * call of the first thread; others are counted as left out. */
int walk_is_call(struct walk *, const struct trace_event *);
/* Whether a message can be written there, as on MPI_COMM_WORLD; others are counted. */
int walk_is_message(struct walk *, const struct action *);
/* Counts a call that a format of messages cannot express. */
void walk_note_left_out(struct walk *, const struct trace_event *);
/* The name of a node, in `text`. */
const char *walk_node_name(const struct trace *, uint64_t node, char *text, size_t size);
/* The node of a rank; 0 for all if the trace does not tell. */
uint64_t walk_node(const struct trace *, uint64_t rank);

#endif
