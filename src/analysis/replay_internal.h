/*
 * replay_internal.h - the state of the second pass.
 */
#ifndef ANALYSIS_REPLAY_INTERNAL_H
#define ANALYSIS_REPLAY_INTERNAL_H

#include "analysis/calls.h"
#include "analysis/delays.h"
#include "analysis/handles.h"
#include "analysis/pairs.h"
#include "analysis/path.h"
#include "analysis/places.h"
#include "analysis/replay.h"
#include "base/heap.h"
#include "base/pool.h"

#define ANY_SOURCE (-2) /* of MPICH's ABI, as in traces */
#define ANY_TAG (-1)
#define LANE_NEAR 8

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
    int64_t sent, ideal;
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
    int64_t sent, ideal; /* of its message */
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
    const struct call_shape *shape; /* persistent: what it starts */
    /* persistent */
    int64_t comm, source, root;
    int64_t dest; /* -1: none; world rank */
    int32_t send_tag, recv_tag;
    uint64_t bytes;
    /* an open collective */
    uint32_t coll_comm, coll_rank;
    uint64_t coll_seq;
    uint8_t is_persistent, in_collective, is_root, is_cancelled;
};

struct waiter {
    struct blocked *blocked;
    uint32_t member; /* rank in the communicator */
    uint32_t local;  /* number of the communicator at that rank */
};

/* One call of a collective by all members. */
struct instance {
    uint32_t entered;
    uint32_t open; /* members that have not completed a request of it */
    uint8_t class, root_is_in, is_used;
    int64_t ideal;
    int64_t first_leave;
    struct waiter *waiters;
    uint32_t waiter_count, waiter_room;
    /* scans */
    struct scan_member {
        uint8_t is_in;
        int64_t ideal;
    } * members;
    uint32_t ready; /* members 0 to ready - 1 have all entered */
};

struct comm_state {
    struct instance *ring; /* of instances `first` and following */
    size_t count, room;
    uint64_t first;
    uint32_t size; /* members that the trace has */
};

/* What a rank knows of a communicator, by local number. */
struct comm_mine {
    uint64_t seq; /* collectives so far */
    struct delay_snapshot *then;
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
    int64_t ideal;
    struct path_end path;
    struct delay_sums sums;
    struct delay_snapshot *world; /* of the last collective of all with all */
    /* of the rank */
    struct handles handles;
    struct map requests; /* by number, to struct request */
    struct comm_mine *comms;
    uint32_t comm_count;
    int64_t in_flight; /* messages to it that were sent and not received */
    struct receive *oldest, *newest;
    uint32_t wild; /* receives whose source or tag is not known yet */
    struct near {
        uint32_t to, number, generation;
    } near[LANE_NEAR]; /* cached pairs that it sends to */
    uint8_t near_next; /* the one to replace next */
    uint8_t has_more, is_over;
    int64_t waits[ANALYSIS_WAIT_KINDS];
    double delay_cost;
};

struct due {
    int64_t time;
    uint32_t bump, lane;
};
HEAP_STRUCT(due_heap, struct due);

struct replay {
    struct trace trace;
    struct handles_book book;
    struct call_shape *shapes;
    struct lane *lanes;
    uint8_t *is_there; /* by lane: it has records. Outside of lanes, as others ask often */
    uint32_t lane_count, ranks;
    struct due_heap due;
    uint32_t soon[4];  /* lanes below the top of it that were prefetched (replay_ahead.c) */
    uint64_t progress; /* records taken */
    int64_t begin;
    struct pool pool;
    struct map channels; /* by hash */
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
static inline const struct near *replay_near(const struct replay *r, const struct lane *l,
                                             uint32_t to)
{
    for (const struct near *near = l->near; near < l->near + LANE_NEAR; near++)
        if (near->to == to && near->generation == r->pairs.generation)
            return near;
    return NULL;
}

/* ---- replay_wait.c ---- */

/* The current call of the lane, as one that waits; valid until it is released. */
struct blocked *replay_block(struct replay *, struct lane *);
void replay_unblock(struct replay *, struct blocked *);
/* The call waited until `time`, when `cause` did what it waited for; snapshots as in delays.h. */
void replay_wait(struct replay *, struct blocked *, enum analysis_wait, int64_t time,
                 struct lane *cause, const struct delay_snapshot *then,
                 const struct delay_snapshot *cause_then);
/* Counts time as a wait state without a cause. */
void replay_count(struct replay *, const struct blocked *, enum analysis_wait, int64_t ticks);

/* ---- replay_ahead.c ---- */

/* Prefetches what the turns after this one need. */
void replay_ahead(struct replay *);

/* ---- replay_channel.c ---- */

/* The channel with these properties; NULL, or a new one, if there is none. */
struct channel *channel_find(const struct replay *, uint32_t comm, uint32_t from, uint32_t to,
                             int32_t tag);
struct channel *channel_get(struct replay *, uint32_t comm, uint32_t from, uint32_t to,
                            int32_t tag);
/* Prefetches memory for a search. */
void channel_prefetch(const struct replay *, uint32_t comm, uint32_t from, uint32_t to,
                      int32_t tag);
/* Frees the channel if it is empty: programs may use a tag only once. */
void channel_release(struct replay *, struct channel *);
/* Counts what is left in channels, and frees them. */
void channels_fini(struct replay *);

/* ---- replay_match.c ---- */

struct send {
    uint32_t comm, to;
    int32_t tag;
    uint64_t bytes;
    int waits;               /* the sender may wait in this call for the receiver */
    struct request *request; /* NULL: a blocking call */
};
void match_send(struct replay *, struct lane *, const struct send *);
/* The lane probes for a message, which stays in its channel. */
void match_peek(struct replay *, struct lane *, uint32_t comm, uint32_t from, int32_t tag);
/* Matches a receive whose source and tag are known. `now`: the lane that is posting it, or NULL. */
void match_enter_channel(struct replay *, struct receive *, struct lane *now);
/* The call that ends at `leave` receives the message; `l`: the lane that is in it, or NULL. */
void match_deliver(struct replay *, struct lane *l, struct receive *, int64_t leave);
/* Frees a receive that is matched and complete. */
void match_free_receive(struct replay *, struct receive *);

/* ---- replay_order.c ---- */

/* Posts a receive; source and tag may be wildcards. */
struct receive *match_post(struct replay *, struct lane *, uint32_t comm, int64_t source,
                           int64_t tag);
/* The current call of the lane completes the receive. `waits` is 0 for tests. */
void match_complete(struct replay *, struct lane *, struct receive *, const struct trace_status *,
                    int waits);
/* No call completes the receive. It takes its message if that is known and it was not
 * cancelled. */
void match_forget(struct replay *, struct receive *, int is_cancelled);
/* The rank has no more calls: its open receives with wildcards have received nothing. */
void match_end(struct replay *, struct lane *);

/* ---- replay_coll.c ---- */

/* The lane enters a collective; with a request, the call does not wait for it. */
void coll_enter(struct replay *, struct lane *, const struct call_shape *, int64_t comm,
                int64_t root, struct request *);
/* The current call of the lane completes the request's collective. */
void coll_complete(struct replay *, struct lane *, struct request *, int waits);
void coll_fini(struct replay *);

/* ---- replay_calls.c ---- */

/* Processes the lane's event, a call that it has entered. */
void replay_call(struct replay *, struct lane *);

#endif
