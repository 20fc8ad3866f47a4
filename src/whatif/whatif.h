/*
 * whatif.h - hypotheses: changes of a trace, applied while it is read (Böhme et al., section 1.2).
 *
 * A hypothesis is a line of words, or a map in a YAML file, whose keys and values are read as
 * words:
 *
 *     balance foo                                  every visit takes its mean over ranks
 *     scale foo by 0.5 ranks 0-3 visits 2-
 *     set foo to 2ms
 *     speed by 2 ranks 4-7                         computing is twice as fast
 *     remove messages from 0 to 1 tag 7
 *     resize messages size 1MiB- to 64KiB
 *     insert message from 0 to 3 size 1MB before foo
 *     remove collective MPI_Barrier
 *     replace collective MPI_Allreduce with MPI_Bcast
 *     nonblocking MPI_Allreduce until foo
 *
 * Hypotheses apply in order: each is a stage (whatif_kind) that reads the records of the one before
 * it. The first stage reads the trace. A stage that must know what comes later has a second copy of
 * all stages before it, which reads ahead; it needs memory only for what it keeps of the records in
 * between. To add a kind: one file and one line in parse.c.
 */
#ifndef WHATIF_WHATIF_H
#define WHATIF_WHATIF_H

#include "base/err.h"
#include "calls/calls.h"
#include "trace/local.h"

struct whatif_stage;

/* Ranks, visits or sizes: from and to, or single ones; none given: all. */
struct whatif_set {
    struct whatif_range {
        int64_t first, last;
    } * ranges;
    size_t count;
};

/* A hypothesis as it was given. A kind ignores the fields that it does not use. */
struct whatif {
    const struct whatif_kind *kind;
    char *text;        /* as given, for messages */
    char *subject;     /* a pattern of names */
    const char *names; /* of what: "region", "call site", "function"; NULL: of nothing */
    int is_site;       /* of call sites */
    int is_scaled;     /* "by" is given: */
    double factor;
    int64_t time;              /* "to", in picoseconds */
    int64_t bytes;             /* "to" or "size" of a message, -1: not given */
    int64_t tag;               /* -1: any */
    char *comm, *with, *until; /* patterns and names, or NULL */
    int repairs;               /* "repair": what would not match stays as it is */
    int is_after;              /* "after", not "before" */
    struct whatif_set ranks, nodes, visits, from, to, sizes;
    void *facts; /* learnt from the whole trace before the replay (whatif_kind.learn) */
};

struct whatif_list {
    struct whatif *items;
    size_t count;
    struct mpi_effect *shapes; /* of the functions of the trace; set by whatif_learn */
};

/* A record, and how the hypotheses have changed it. Times are in picoseconds. */
struct whatif_item {
    struct trace_event *event; /* valid until the next one */
    int64_t gap;               /* computing before it */
    int64_t duration;          /* of the call, where it is replayed as time */
    int is_dropped;            /* not to be replayed; its request counts as complete */
    int is_new;                /* it is not in the trace */
};

/* What stages know of a rank. */
struct whatif_rank {
    struct trace *trace;
    const struct trace_local *locals;
    uint64_t rank;
    unsigned thread; /* of the rank */
    const struct whatif_list *list;
    int64_t byte_type; /* local number of MPI_BYTE: see whatif_byte_type */
};

/* A kind of hypothesis. */
struct whatif_kind {
    const char *name;
    size_t bytes; /* of its state for a rank, which follows struct whatif_stage */
    /* What it must know of the whole trace, before the replay. NULL: nothing. */
    int (*learn)(struct whatif *, struct trace *, const struct whatif_list *, size_t number,
                 struct err *);
    void (*forget)(struct whatif *);
    int looks_ahead; /* it needs a second copy of the stages before it */
    /* The next record: 1, or 0 at the end, or -1 with an error. */
    int (*next)(struct whatif_stage *, struct whatif_item *, struct err *);
    void (*close)(struct whatif_stage *); /* or NULL */
};

/* A stage of a rank. */
struct whatif_stage {
    const struct whatif *what; /* NULL: the trace itself */
    struct whatif_rank *rank;
    struct whatif_stage *before; /* where records come from */
    struct whatif_stage *ahead;  /* reads records ahead; or NULL */
    uint64_t hits;               /* records that it has changed */
};

/* ---- what the replayer uses ---- */

/* Adds a hypothesis, or all of a file whose name ends in .yaml. */
int whatif_parse(struct whatif_list *, const char *text, struct err *);
/* Reads the whole trace, for kinds that need to know it. A hypothesis that would change nothing is
 * an error, which says what there is instead. */
int whatif_learn(struct whatif_list *, struct trace *, struct err *);
void whatif_fini(struct whatif_list *);

/* The records of a rank after the first `count` hypotheses. */
struct whatif_stage *whatif_open(struct whatif_rank *, size_t count);
void whatif_close(struct whatif_stage *);
static inline int whatif_next(struct whatif_stage *, struct whatif_item *, struct err *);
/* The local number of MPI_BYTE, for messages that are new or resized: that of the trace, or the
 * next one if it has none. */
int64_t whatif_byte_type(const struct trace_local *);

/* ---- what kinds use ---- */

extern const struct whatif_kind whatif_scale, whatif_set_time, whatif_balance, whatif_speed,
    whatif_remove_messages, whatif_resize_messages, whatif_insert_message, whatif_remove_collective,
    whatif_replace_collective, whatif_nonblocking;

/* A thread of a rank of a trace, to read its records before the replay. */
struct whatif_rank whatif_rank_of(const struct whatif_list *, struct trace *, uint64_t rank,
                                  unsigned thread, const struct trace_local *);
/* Returns 0 if the hypothesis changes something, else an error (hits.c). */
int whatif_find_hit(const struct whatif_list *, size_t number, struct trace *, struct err *);
/* Returns 0 if some region, call site or function has such a name, else an error that says what
 * there is. */
int whatif_check_name(const struct whatif *, const char *names, const char *pattern, struct trace *,
                      struct err *);
int whatif_trace_next(struct whatif_stage *, struct whatif_item *, struct err *);
int whatif_in(const struct whatif_set *, int64_t value);
/* Whether the hypothesis is about this rank, by its number and its node. */
int whatif_is_about(const struct whatif *, const struct trace *, uint64_t rank);
/* Bytes of an item of a datatype; 0: it is not known. */
int64_t whatif_type_size(const struct whatif_rank *, int64_t type);
/* The text matches a pattern with * and ?; NULL matches all. */
int whatif_matches(const char *pattern, const char *text);
/* The name of the region that a record enters. */
const char *whatif_region(const struct whatif_rank *, const struct trace_event *);
const char *whatif_function(const struct whatif_rank *, const struct trace_event *);
/* What a call does; a record that is no call does nothing. */
const struct mpi_effect *whatif_effect(const struct whatif_rank *, const struct trace_event *);
/* An argument by its name; NULL: there is none. */
struct trace_value *whatif_arg(const struct whatif_rank *, struct trace_event *, const char *name);
int64_t whatif_world_rank(const struct whatif_rank *, int64_t comm, int64_t peer);

static inline int whatif_next(struct whatif_stage *s, struct whatif_item *item, struct err *err)
{
    return s->what ? s->what->kind->next(s, item, err) : whatif_trace_next(s, item, err);
}

#endif
