/*
 * calls.h - what the calls of a program or a trace do: which messages they send and receive, which
 * requests they complete, who waits for whom, and how many bytes they move. It stands once, in
 * api/mpi_functions.txt; the generated mpi_effects.h has a `struct mpi_effect` for each function,
 * with the numbers of its arguments. For records of a trace, calls_of translates these numbers to
 * positions in `struct trace_event`.
 *
 * Functions that this version does not know are local.
 */
#ifndef CALLS_CALLS_H
#define CALLS_CALLS_H

#include "mpi_effects.h"
#include "trace/decode.h"

/* ---- functions of a trace ---- */

/* One for each function of the schema, by its number there; positions are those in its events. Free
 * it with mem_free. */
struct mpi_effect *calls_of(const struct trace_schema *);

/* The position in events of the argument of this name, or -1. */
int calls_arg(const struct trace_fn *, const char *name);

/* The function of a schema with the same effect in another form (enum mpi_form), with counts of the
 * same width; -1: there is none. */
int calls_find_form(const struct trace_schema *, const struct mpi_effect *shapes, unsigned fn,
                    unsigned form);

/* Whether it returns a request: its operation is complete when that is. */
static inline int calls_makes_request(const struct mpi_effect *s)
{
    return s->form == MPI_FORM_NONBLOCKING || s->form == MPI_FORM_PERSISTENT;
}
/* Where requests are passed to it, or -1. */
static inline int calls_request(const struct mpi_effect *s)
{
    return calls_makes_request(s) ? -1 : s->request;
}
/* Where it returns one, or -1. */
static inline int calls_new_request(const struct mpi_effect *s)
{
    return calls_makes_request(s) ? s->request : -1;
}
/* Where a matched probe returns a message, or -1; where its message is passed to a receive. */
static inline int calls_new_message(const struct mpi_effect *s)
{
    return s->kind == MPI_DOES_PROBE ? s->message : -1;
}
static inline int calls_message(const struct mpi_effect *s)
{
    return s->kind == MPI_DOES_RECEIVE ? s->message : -1;
}
/* Whether it receives a message, at once or later. */
static inline int calls_receives(const struct mpi_effect *s)
{
    return s->kind == MPI_DOES_RECEIVE || s->kind == MPI_DOES_EXCHANGE;
}

/* Whether it communicates and returns when that is done: it may wait for other ranks. */
int calls_blocks(const struct mpi_effect *);
/* Whether it makes, or frees, an object of this role (enum mpi_role). */
static inline int calls_makes(const struct mpi_effect *s, unsigned role)
{
    return s->makes == role + 1;
}
static inline int calls_frees(const struct mpi_effect *s, unsigned role)
{
    return s->frees == role + 1;
}
/* Whether the argument at this position of an event is MPI_IN_PLACE. */
static inline int calls_is_in_place(const struct trace_event *e, int at)
{
    return at >= 0 && e->args[at].number == TRACE_BUFFER_IN_PLACE;
}

/* The position of what tells the same as the argument at `at`: with MPI_IN_PLACE, counts, datatypes
 * and displacements of the sending side are ignored, and those of the receiving side stand for
 * them. */
int calls_meant(const struct mpi_effect *, const struct trace_event *, int at);
/* The count that a rank of the communicator sends with: that of the argument which is meant, or,
 * in place, its own item of those of the receiving side; -1: there is none. */
int64_t calls_send_count(const struct mpi_effect *, const struct trace_event *, uint64_t rank);

/* ---- requests ---- */

/* The requests that were passed to a call. */
size_t calls_given(const struct mpi_effect *, const struct trace_event *);
int64_t calls_given_request(const struct mpi_effect *, const struct trace_event *, size_t i);
/* Those of them that the call has completed, with their statuses. */
size_t calls_completed(const struct mpi_effect *, const struct trace_event *);
int64_t calls_completed_request(const struct mpi_effect *, const struct trace_event *, size_t i);
const struct trace_status *calls_completed_status(const struct mpi_effect *,
                                                  const struct trace_event *, size_t i);
/* The partitions that a call marks as ready. */
uint64_t calls_ready_parts(const struct mpi_effect *, const struct trace_event *);
/* Whether the call is a test that found nothing complete. */
int calls_is_failed_test(const struct mpi_effect *, const struct trace_event *);

/* ---- volumes ---- */

/* Where a call is made: what its volume depends on beside counts and datatypes. */
struct calls_place {
    uint64_t size;    /* members of the rank's own group */
    uint64_t peers;   /* ranks that it may send to: members, the other group, or neighbours */
    uint64_t sources; /* ranks that it may receive from, likewise */
    uint64_t rank;
    int64_t root; /* as it was passed: MPI_ROOT, MPI_PROC_NULL or a rank */
    uint8_t is_inter;
    uint8_t sends_in_place, receives_in_place; /* a buffer is MPI_IN_PLACE */
    /* Of neighbourhood collectives: who they are; -1: nobody. NULL: there are no neighbours. */
    const int64_t *to, *from;
    uint64_t to_count, from_count;
};
#define CALLS_ROOT (-3)      /* MPI_ROOT */
#define CALLS_PROC_NULL (-1) /* MPI_PROC_NULL */

/* How the arguments of a call tell a volume: `times` times a count, the sum of an array of counts,
 * or one item of it. */
struct calls_share {
    uint8_t what;        /* enum mpi_volume, but never MPI_VOLUME_BLOCKS */
    uint8_t is_received; /* by the arguments of the receiving side */
    uint8_t is_without;  /* the sum of a list without `item` */
    uint64_t times;
    uint64_t item;
};

/* Sets the neighbours of a place: it exchanges nothing with those that are nobody. */
void calls_neighbours(struct calls_place *, const int64_t *to, uint64_t to_count,
                      const int64_t *from, uint64_t from_count);

/* What the rank passes to the call, and what it gets. Each byte counts once, whatever the number of
 * ranks that get it. */
struct calls_share calls_gives(const struct mpi_effect *, const struct calls_place *);
struct calls_share calls_gets(const struct mpi_effect *, const struct calls_place *);
/* How often that is sent and received by a linear algorithm, in which a rank sends to itself, too.
 * On all ranks together, as much is received as is sent. */
uint64_t calls_copies_sent(const struct mpi_effect *, const struct calls_place *);
uint64_t calls_copies_received(const struct mpi_effect *, const struct calls_place *);

/* Whether item i of an array of counts belongs to a share, which is a list or an item of one. */
int calls_is_counted(const struct calls_place *, struct calls_share, uint64_t i);

/* Sizes of datatypes, by their numbers in events. */
struct calls_types {
    uint64_t (*size)(const void *context, int64_t type);
    const void *context;
};
/* The bytes of a share, and of the message that a call sends, of all its partitions. */
uint64_t calls_share_bytes(const struct mpi_effect *, const struct trace_event *,
                           const struct calls_place *, struct calls_share,
                           const struct calls_types *);
/* The bytes of item i of a share that is a list. */
uint64_t calls_item_bytes(const struct mpi_effect *, const struct trace_event *, struct calls_share,
                          uint64_t i, const struct calls_types *);
uint64_t calls_message_bytes(const struct mpi_effect *, const struct trace_event *,
                             const struct calls_types *);

#endif
