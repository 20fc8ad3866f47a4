/*
 * causes_internal.h - the state of the second pass.
 */
#ifndef ANALYSIS_CAUSES_INTERNAL_H
#define ANALYSIS_CAUSES_INTERNAL_H

#include "calls/calls.h"
#include "analysis/delays.h"
#include "analysis/handles.h"
#include "analysis/pairs.h"
#include "analysis/path.h"
#include "analysis/places.h"
#include "analysis/causes.h"
#include "base/heap.h"
#include "base/pool.h"

#define ANY_SOURCE (-2) /* of MPICH's ABI, as in traces */
#define ANY_TAG (-1)
#define LANE_NEAR 8
#define NO_ROOT INT64_MIN           /* of a collective: other than MPI_PROC_NULL */
#define COMM_PARTITIONED (1u << 31) /* added to a number of their own: partitioned messages */

/* The time that a rank has reached on an ideal network, whose calls cost nothing. */
struct ideal {
    int64_t all;   /* file accesses cost nothing either */
    int64_t files; /* file accesses cost what they did */
};

/* It depends on something that happened at these times. */
static inline void ideal_reach(struct ideal *i, struct ideal of)
{
    i->all = i->all < of.all ? of.all : i->all;
    i->files = i->files < of.files ? of.files : i->files;
}

/* A call in which a lane waits for something. It is kept as long as something refers to it. */
struct blocked {
    uint32_t lane, refs;
    int64_t enter, leave;
    int64_t until; /* it has waited up to here */
    uint32_t place;
    uint32_t receives;  /* that it waits for, whose messages have not been sent yet */
    int64_t posted;     /* when the last receive for its own messages was posted meanwhile */
    uint8_t is_current; /* the lane is in it */
    /* it waits for messages or members, not only, perhaps, for receivers of its messages */
    uint8_t must_wait;
};

/* A message that no receive was posted for. */
struct message {
    struct message *next;
    uint32_t from;
    uint32_t pair, generation;
    int64_t sent;
    struct ideal ideal;
    uint64_t bytes;
    struct blocked *sender;  /* the call in which the sender waits until it is received */
    struct request *request; /* of the sender */
};

/* A receive. It is freed when it is matched and complete. */
struct receive {
    struct receive *next;            /* in its channel */
    struct receive *before, *behind; /* in the order of its rank, if wildcards are open */
    uint32_t rank, comm;
    int32_t source, tag; /* wildcards until they are known */
    int64_t posted;
    int64_t sent; /* of its message */
    struct ideal ideal;
    uint64_t bytes;
    uint32_t pair, generation;
    struct blocked *waiter; /* the call that completes it, if its message had not been sent */
    uint8_t is_wild, is_listed, is_queued, is_matched, is_done;
};

/* Messages, or receives, of one source, destination, communicator and tag; never both. */
struct channel {
    struct channel *chain; /* of the same hash */
    uint64_t hash;
    uint32_t comm, from, to;
    int32_t tag;
    struct message *first, *last;
    struct receive *first_receive, *last_receive;
};

/* A request, or a message handle of MPI_Mprobe. */
struct request {
    struct message *message; /* while no receive has been posted for it */
    struct receive *receive;
    const struct mpi_effect *shape; /* persistent: what it starts */
    /* persistent */
    int64_t comm, source, root;
    int64_t dest; /* -1: none; world rank */
    int32_t send_tag, recv_tag;
    uint64_t bytes;
    /* partitioned */
    uint64_t parts, parts_ready;
    uint32_t channel; /* stands for the communicator in its channel; 0: not partitioned */
    /* an open collective */
    uint32_t coll_comm, coll_rank;
    uint64_t coll_seq;
    struct hood *hood; /* of a neighbourhood, or NULL */
    uint8_t is_persistent, in_collective, is_root, is_idle, is_cancelled, is_file;
};

struct waiter {
    struct blocked *blocked;
    uint32_t member; /* rank in the communicator */
    uint32_t local;  /* number of the communicator at that rank */
};

/* One call of a collective by all members. */
struct instance {
    uint32_t entered;
    uint32_t arrived;    /* members that have entered it and take part */
    uint32_t needs;      /* of them, all to one: members that take part */
    uint32_t open;       /* members that have not completed a request of it */
    uint8_t class, kind; /* enum mpi_class, enum analysis_wait */
    uint8_t root_is_in, is_used;
    uint8_t may_end_early; /* a member may need only some of the others */
    struct ideal ideal;
    int64_t first_leave; /* of its blocking calls */
    int64_t first_end;   /* of these, and of calls that have completed a request of it */
    /* The last member that has entered, if calls may end early. */
    struct {
        int64_t time;
        uint32_t lane, local;
        struct path_end path;
    } latest;
    struct waiter *waiters;
    uint32_t waiter_count, waiter_room;
    /* scans */
    struct scan_member {
        uint8_t is_in;
        struct ideal ideal;
    } * members;
    uint32_t ready; /* members 0 to ready - 1 have all entered */
};

struct comm_state {
    struct instance *ring; /* of instances `first` and following */
    size_t count, room;
    uint64_t first;
    uint32_t size; /* members that the trace has */
    uint32_t own;  /* of an intercommunicator: those in the first of its groups */
    /* of a window, or NULL */
    struct one_sided {
        struct map epochs; /* by origin << 32 | target, to struct epoch */
        struct map locks;  /* by target, to struct lock */
    } * one_sided;
};

/* A rank's neighbourhood in a communicator. Its collectives are matched by their number, as those
 * of all members, but only with those of neighbours, which may be many calls ahead or behind. */
struct hood {
    uint32_t rank, local; /* number of the communicator at that rank */
    uint32_t sources;     /* that the trace has; a neighbour in two directions counts twice */
    uint32_t destination_count;
    struct hood **destinations; /* found in the first call of the rank; NULL: none there */
    /* the sums of the rank when it last entered a call, and when it last had all it needed */
    struct delay_snapshot *told, *had;
    uint64_t entered; /* calls of the rank so far */
    uint64_t first;   /* number of the oldest one in the ring */
    size_t count, room;
    struct hood_call {
        uint32_t arrived; /* sources that have entered it */
        uint8_t is_open;  /* the rank has not completed its request */
        struct ideal ideal;
        struct blocked *waiter; /* the call of the rank that waits for the other sources */
    } * ring;
};

/* What a rank knows of a communicator, window or file (coll_win, coll_file). */
struct comm_mine {
    uint64_t seq; /* collectives so far */
    struct delay_snapshot *then;
    struct hood *hood;     /* NULL: no neighbourhood collective so far */
    uint64_t opened;       /* files of the communicator */
    struct request *split; /* a file: its collective that has begun and not ended */
    struct win_mine *win;  /* NULL: no epochs so far but fences */
};

/* What a rank knows of a window. */
struct win_mine {
    const struct handles_group *access, *exposure; /* of open epochs, or NULL */
    int64_t accessed;  /* when its last operation of the access epoch ended */
    struct map locked; /* targets, to 1 if the lock is exclusive */
    uint8_t is_all_locked;
};

/* An origin and a target of a window, in post/start/complete/wait. Both count: the n-th exposure
 * of the target to the origin belongs to the n-th access of the origin. */
struct epoch {
    uint64_t posts, starts, completes;
    struct ideal posted, completed;
    struct delay_snapshot *origin_then, *target_then; /* when they last knew of each other */
    struct blocked *origin;                           /* that waits for the next post */
    struct blocked *target;                           /* that waits for the next complete */
};

/* The lock of a target of a window: calls that wait for it, or have got it lately, in the order in
 * which they end. */
struct lock_call {
    int64_t leave;
    struct blocked *blocked;
};
HEAP_STRUCT(lock_heap, struct lock_call);
struct lock {
    struct lock_heap exclusive, shared;
    uint32_t epochs; /* begun and not ended */
};

/* A thread of a rank. Lane r is the first thread of rank r, and has the state of the rank. */
struct lane {
    struct trace_cursor cursor;
    struct trace_event event; /* the next one */
    uint32_t rank;
    /* the call that it is in */
    int64_t enter, leave, waited;
    int64_t path_from; /* its path covers the call from here on */
    uint32_t place;
    uint32_t awaiting; /* events that have not happened yet */
    uint64_t bumped;
    struct blocked *blocked;
    struct {
        uint32_t comm, from;
        int32_t tag;
        uint8_t is_on;
    } peeks;
    uint32_t *regions;
    uint32_t region_count, region_room;
    struct ideal ideal;
    struct path_end path;
    struct delay_sums sums;
    struct delay_snapshot *world; /* of the last collective of all with all */
    /* of the rank */
    struct handles handles;
    struct map requests;    /* by number, to struct request */
    struct map partitioned; /* requests made so far, by kind (below), peer and direction */
    struct comm_mine *comms;
    uint32_t comm_count;
    int64_t in_flight; /* messages to it that were sent and not received */
    struct receive *oldest, *newest;
    uint32_t wild; /* receives whose source or tag is not known yet */
    struct near {
        uint32_t to, number, generation;
    } near[LANE_NEAR]; /* cached pairs that it sends to */
    uint8_t near_next; /* the one to replace next */
    /* collectives that its call waits for, and which may end before all members have entered */
    struct meeting {
        uint64_t seq;
        uint32_t comm, local;
    } * meetings;
    uint32_t meeting_count, meeting_room;
    uint32_t settled; /* of what it awaits, such collectives, which it needs no longer */
    uint8_t settles;  /* its next turn is at the end of its call, which has some */
    uint8_t has_more, is_over, is_begun;
    uint8_t is_file; /* its call accesses a file */
    int64_t waits[ANALYSIS_WAIT_KINDS];
    double delay_cost;
};

struct due {
    int64_t time;
    uint32_t bump, lane;
};
HEAP_STRUCT(due_heap, struct due);

struct causes {
    struct trace trace;
    struct handles_book book;
    struct mpi_effect *shapes;
    struct lane *lanes;
    uint8_t *is_there; /* by lane: it has records. Outside of lanes, as others ask often */
    uint32_t lane_count, ranks;
    struct due_heap due;
    uint32_t soon[4];  /* lanes below the top of it that were prefetched (causes_ahead.c) */
    uint64_t progress; /* records taken */
    int64_t begin;
    struct pool pool;
    struct map channels;    /* by hash */
    struct map partitioned; /* kinds of messages: numbers from 1 on, by communicator and tag */
    struct comm_state *comms;
    size_t comm_count;
    struct places places;
    struct path path;
    struct delays delays;
    struct pairs pairs;
    int64_t (*place_waits)[ANALYSIS_WAIT_KINDS];
    uint32_t place_count;
    uint64_t wait_counts[ANALYSIS_WAIT_KINDS];
    uint64_t unmatched_sends, unmatched_receives;
    unsigned groups;
    int has_path, has_delays;
    const struct analysis_watch *watch; /* or NULL */
    struct err warning;
};

/* The cached pair of the lane and `to`, or NULL. */
static inline const struct near *causes_near(const struct causes *r, const struct lane *l,
                                             uint32_t to)
{
    for (const struct near *near = l->near; near < l->near + LANE_NEAR; near++)
        if (near->to == to && near->generation == r->pairs.generation)
            return near;
    return NULL;
}

/* ---- causes_wait.c ---- */

/* The current call of the lane, as one that waits; valid until it is released. */
struct blocked *causes_block(struct causes *, struct lane *);
void causes_unblock(struct causes *, struct blocked *);
/* The call waited until `time`, when `cause` did what it waited for; snapshots as in delays.h. */
void causes_wait(struct causes *, struct blocked *, enum analysis_wait, int64_t time,
                 struct lane *cause, const struct delay_snapshot *then,
                 const struct delay_snapshot *cause_then);
/* The time since which two ranks are compared: that of the last message from one to the other, when
 * these snapshots were taken, or of the last collective of all with all if that was later. */
void causes_last_sync(const struct lane *a, struct delay_snapshot *a_pair, const struct lane *b,
                      struct delay_snapshot *b_pair, const struct delay_snapshot **a_then,
                      const struct delay_snapshot **b_then);
/* causes_wait with two wait states: `first` up to the time `first_until`, then the other. */
void causes_wait_parts(struct causes *, struct blocked *, enum analysis_wait first,
                       int64_t first_until, enum analysis_wait, int64_t time, struct lane *cause,
                       const struct delay_snapshot *then, const struct delay_snapshot *cause_then);
/* causes_wait for a cause that may have gone on since: this was its path at that time. */
void causes_wait_earlier(struct causes *, struct blocked *, enum analysis_wait, int64_t time,
                         struct lane *cause, struct path_end *path,
                         const struct delay_snapshot *then,
                         const struct delay_snapshot *cause_then);
/* Counts time as a wait state without a cause. */
void causes_count(struct causes *, const struct blocked *, enum analysis_wait, int64_t ticks);

/* ---- causes_ahead.c ---- */

/* Prefetches what the turns after this one need. */
void causes_ahead(struct causes *);

/* ---- causes_channel.c ---- */

/* The channel with these properties; NULL, or a new one, if there is none. */
struct channel *channel_find(const struct causes *, uint32_t comm, uint32_t from, uint32_t to,
                             int32_t tag);
struct channel *channel_get(struct causes *, uint32_t comm, uint32_t from, uint32_t to,
                            int32_t tag);
/* Prefetches memory for a search. */
void channel_prefetch(const struct causes *, uint32_t comm, uint32_t from, uint32_t to,
                      int32_t tag);
/* Frees the channel if it is empty: programs may use a tag only once. */
void channel_release(struct causes *, struct channel *);
/* Counts what is left in channels, and frees them. */
void channels_fini(struct causes *);

/* ---- causes_match.c ---- */

struct send {
    uint32_t comm, to;
    int32_t tag;
    uint64_t bytes;
    int waits;               /* the sender may wait in this call for the receiver */
    struct request *request; /* NULL: a blocking call */
};
void match_send(struct causes *, struct lane *, const struct send *);
/* The lane probes for a message, which stays in its channel. */
void match_peek(struct causes *, struct lane *, uint32_t comm, uint32_t from, int32_t tag);
/* Matches a receive whose source and tag are known. `now`: the lane that is posting it, or NULL. */
void match_enter_channel(struct causes *, struct receive *, struct lane *now);
/* The call that ends at `leave` receives the message; `l`: the lane that is in it, or NULL. */
void match_deliver(struct causes *, struct lane *l, struct receive *, int64_t leave);
/* Frees a receive that is matched and complete. */
void match_free_receive(struct causes *, struct receive *);

/* ---- causes_order.c ---- */

/* Posts a receive; source and tag may be wildcards. */
struct receive *match_post(struct causes *, struct lane *, uint32_t comm, int64_t source,
                           int64_t tag);
/* The current call of the lane completes the receive. `waits` is 0 for tests. */
void match_complete(struct causes *, struct lane *, struct receive *, const struct trace_status *,
                    int waits);
/* No call completes the receive. It takes its message if that is known and it was not
 * cancelled. */
void match_forget(struct causes *, struct receive *, int is_cancelled);
/* The rank has no more calls: its open receives with wildcards have received nothing. */
void match_end(struct causes *, struct lane *);

/* ---- causes_coll.c ---- */

/* The lane enters a collective; with a request, the call does not wait for it. */
void coll_enter(struct causes *, struct lane *, const struct mpi_effect *, int64_t comm,
                int64_t root, struct request *);
/* coll_enter for a call of all ranks of a window, and of a file. */
void coll_enter_win(struct causes *, struct lane *, const struct mpi_effect *, int64_t win);
void coll_enter_file(struct causes *, struct lane *, const struct mpi_effect *, int64_t file,
                     struct request *);
/* The lane enters MPI_Finalize. */
void coll_finalize(struct causes *, struct lane *, const struct mpi_effect *);
/* The current call of the lane completes the request's collective. */
void coll_complete(struct causes *, struct lane *, struct request *, int waits);
/* The call of the lane ends now: returns in how many collectives it has waited for some of the
 * members, and others have not entered. */
uint32_t coll_settle(struct causes *, struct lane *);
void coll_fini(struct causes *);

/* What all ranks have of a communicator, window or file, by its number in the book. */
struct comm_state *coll_state(struct causes *, uint32_t comm);
/* What the rank knows of its communicator with this local number. */
struct comm_mine *coll_mine(struct lane *home, int64_t local);
/* The numbers of its windows and files come after those of its communicators. */
static inline int64_t coll_win(const struct handles *h, int64_t win)
{
    return 2 + (int64_t)h->mine_count + win;
}
static inline int64_t coll_file(const struct handles *h, int64_t file)
{
    return 2 + (int64_t)h->mine_count + h->win_count + file;
}

/* ---- causes_hood.c ---- */

/* coll_enter and coll_complete for neighbourhood collectives. */
void hood_enter(struct causes *, struct lane *, struct handles_mine, int64_t local,
                struct request *);
void hood_complete(struct causes *, struct lane *, struct request *, int waits);
void hood_free(struct causes *, struct hood *); /* or NULL */

/* ---- causes_epoch.c ---- */

/* A call that orders one-sided operations, and an operation. */
void epoch_call(struct causes *, struct lane *, const struct mpi_effect *);
void epoch_access(struct causes *, struct lane *, const struct mpi_effect *);
void epoch_free(struct win_mine *); /* or NULL */
/* What all ranks have of a window. */
struct one_sided *one_sided_get(struct causes *, uint32_t win);
void one_sided_free(struct causes *, struct one_sided *); /* or NULL */

/* ---- causes_lock.c ---- */

/* The lane locks, or unlocks, a target of a window: a rank of the world. */
void lock_begin(struct causes *, struct lane *, uint32_t win, uint32_t target, int is_exclusive);
void lock_end(struct causes *, struct lane *, uint32_t win, uint32_t target, int is_exclusive);
void lock_free(struct causes *, struct lock *);

/* ---- causes_calls.c ---- */

/* Processes the lane's event, a call that it has entered. */
void causes_call(struct causes *, struct lane *);

#endif
