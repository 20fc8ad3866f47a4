/*
 * engine.h - virtual time, messages between entities, decisions, quiescence.
 *
 * The engine knows entities (a rank, an agent), not processes and not MPI. An entity runs ahead on
 * its own clock until it blocks. Messages carry their arrival time, so nothing but a *decision* (a
 * question whose answer depends on time: which source was first, has it arrived yet) needs any
 * ordering between entities.
 *
 * Invariants
 *  1. An entity's inbox holds the messages of each source in the order they were sent.
 *  2. At quiescence (no entity ready) every message ever injected is in an inbox or consumed.
 *  3. Every message injected from now on has arrival >= safe_until. So a decision due before
 *     safe_until sees all messages that can matter, and may be taken at once, anywhere. Messages
 *     that no decision ever looks at may arrive earlier (mpi/coll/coll_model.c).
 *  4. safe_until never decreases. With lookahead L > 0 it becomes (smallest due time + L) at each
 *     quiescence; with L = 0 one entity at a time is granted its own due time.
 *  5. Hence results do not depend on the order in which ready entities are run.
 *  6. The medium moves at quiescence only, and up to the first decision that is due: whatever is
 *     submitted later, is submitted at a later time. Decisions are taken up to the medium's next event
 *     plus the lookahead, or without it while there are notices.
 *  7. A notice may come at any time after the call that asks for it. So an entity that has made such a
 *     call decides nothing beyond its time before the next quiescence.
 *  8. An entity of several threads may be blocked while one of them still runs: it is *busy*. What it
 *     emits before it is woken, it emits at `reached` or later. Nothing waits for it, but there is no
 *     deadlock while there is one. Or it may run on while others have the turn: it is *out*, and there is no
 *     quiescence before it is back.
 *
 * A simulation may be spread over several processes, each with an engine that has some of the
 * entities (rank_map.h). Messages to entities elsewhere are handed to the peers; quiescence is then
 * that of all processes, and every engine draws the same conclusions from the same merged status.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/vtime.h"
#include "engine/rank_map.h"

enum engine_state {
    ENGINE_NEW = 0, /* not started; all-zero memory is a new entity */
    ENGINE_READY,
    ENGINE_RUNNING,
    ENGINE_BLOCKED,
    ENGINE_DONE,
};

/* What a message looks like to the engine; the owner's fields and the payload follow. */
struct engine_msg {
    struct engine_msg *next; /* inbox link, the owner's once taken */
    vtime arrival;
    uint32_t src, dst;   /* world numbers */
    uint64_t size : 48;  /* bytes of the whole allocation, header included */
    uint64_t flags : 16; /* ENGINE_MSG_* */
};
#define ENGINE_MSG_URGENT 1u /* the receiver must act on it at once (a protocol step) */
#define ENGINE_MSG_DUE 2u    /* a decision of the receiver: it wakes only when this arrives */
#define ENGINE_MSG_MEDIUM 4u /* on its way to the medium */
#define ENGINE_MSG_SPAWN 8u  /* the receiver, a spare (rank_map.h), starts when this arrives */

/* Lies at the start of the owner's per-rank structure; 32 bytes. */
struct engine_entity {
    vtime clock;
    struct engine_msg *inbox; /* tail of a circular list; NULL when empty */
    uint32_t heap_pos;        /* position among decisions + 1, 0 when none is due */
    uint32_t wake_after;      /* arrivals still to come before a wake makes sense */
    uint8_t state;            /* enum engine_state */
    uint8_t wake;             /* enum engine_wake of the last wake */
    uint8_t lingers;          /* it has ended, but still serves others (engine_linger) */
    uint8_t fresh : 1;        /* a spare that only the scheduler can give its first turn */
    uint8_t busy : 1;         /* blocked, but not all of it (engine_block_busy) */
    uint8_t asking : 1;       /* it stands in engine.asking */
    uint8_t out : 1;          /* it runs without its turn (engine_go_out) */
    uint32_t owner_word;      /* free for the owner */
};

enum engine_wake {
    ENGINE_WAKE_ARRIVAL = 0, /* look at the inbox */
    ENGINE_WAKE_DECIDE,      /* the due decision is safe now */
    ENGINE_WAKE_EXPLAIN,     /* deadlock: describe what you wait for, suspend again */
};

/* One blocked entity's account of itself, filled by ops->explain. */
struct engine_wait {
    char text[224]; /* "MPI_Recv from rank 3, tag 7, MPI_COMM_WORLD" */
    /* Something the wait is about that has no name of its own. The report numbers such things in the
     * order of their appearance, and describes each once. */
    char kind[16];     /* "communicator"; "": there is nothing */
    char made[144];    /* how it came to be */
    uint64_t identity; /* equal for the same thing, in all processes */
    int64_t waits_on;  /* the world number of the one entity it needs, or -1 if several or any */
};

struct engine_ops {
    /* Entities are named by their index in this process. */
    /* Runs the entity until it, or the last one of those that went on in its place
     * (engine_hand_over), suspends or ends; scheduler context. Returns 1 when it ended. */
    int (*resume)(void *owner, uint32_t id);
    /* May be NULL. Nothing is ready: wakes an entity that has something to do all the same, and
     * returns whether there was one. In the context of whoever asks for the next entity. */
    int (*wanted)(void *owner);
    /* NULL if no entity goes out. Nothing is ready, and some entities are out: returns when one of them may
     * want its turn back, or after a while; scheduler context. */
    void (*await)(void *owner);
    /* Called in scheduler context for a blocked entity when a deadlock is reported. */
    void (*explain)(void *owner, uint32_t id, struct engine_wait *out);
    /* A new message that tells its receiver what has become of its call with this cookie: the source,
     * destination and arrival are filled in by the engine. NULL where nobody wants a notice. */
    struct engine_msg *(*notice)(void *owner, uint64_t cookie);
};

/*
 * How a message is submitted to the medium. It goes with the message to the process that has the medium.
 */
struct engine_call {
    uint64_t load;   /* how many bytes it counts there, whatever it carries */
    uint64_t cookie; /* what the notice is to bring back to the sender; 0: no notice */
    uint64_t order;  /* messages of one number between the same two entities do not overtake each
                      * other; those of one sender and number are submitted in an order that does not
                      * depend on the schedule. 0: it has no order to keep */
};

/*
 * What lies between entities, if messages share it: a network with contention. It is one entity
 * more, whose every step (its events) is a decision. It exists on process 0 only. A message that is
 * submitted at time t (its `arrival`) comes out by engine_emerge, at a time after its last event plus
 * the lookahead; a notice (engine_notify) comes out at the time of an event, without any.
 */
struct engine_medium {
    void *owner;
    /* Takes a message; any context. */
    void (*submit)(void *owner, struct engine_msg *, const struct engine_call *);
    /* When its next event is; VTIME_NEVER: nothing is under way. */
    vtime (*next)(void *owner);
    /* How many notices are under way. */
    uint64_t (*notices)(void *owner);
    /* All messages that are submitted before or at `limit` are known, and those caused by what comes
     * out now are submitted after it does. Handles all events up to `limit` that are due at `first` (its
     * next event) or less than the lookahead later; none later than one that let a notice out. */
    void (*advance)(void *owner, vtime first, vtime limit);
    /* NULL: the medium is part of the simulation, and moves by `advance` alone. Otherwise it has a clock
     * of its own, to which others contribute in real time, and the functions above but `submit` are not
     * used: scheduler context, nobody is ready. Sleeps until something has come out or its clock has
     * reached `due`. Returns a time before which nothing comes out any more; VTIME_NEVER: nothing does
     * at all. One process only. */
    vtime (*wait)(void *owner, vtime due);
};

struct engine_due {
    vtime due;
    uint32_t id; /* index among decisions, world number in a status */
};
HEAP_STRUCT(engine_decisions, struct engine_due);

/* What a quiescent process, or all of them together, say of themselves. */
struct engine_status {
    struct engine_due first; /* the decision that is due first; VTIME_NEVER: none */
    struct engine_due abort; /* the earliest abort; VTIME_NEVER: none */
    vtime medium;            /* its next event; VTIME_NEVER: none */
    uint64_t notices;        /* that are in the medium */
    vtime last_progress;
    uint64_t done;       /* entities that have ended */
    uint64_t spawned;    /* entities that were spares */
    uint64_t progressed; /* something succeeded since the last common quiescence */
    uint64_t busy;       /* entities that are busy */
    vtime idle_since;    /* of all: since when nothing has succeeded; see struct engine */
};

/* Makes `into` the status of both. */
void engine_status_merge(struct engine_status *into, const struct engine_status *from);

struct engine;
/* For the process that collects the status of all, before it tells the others: fills in what follows from
 * earlier ones. */
void engine_status_complete(const struct engine *, struct engine_status *all);
/* The same process asks: does the step that follows from the status of all leave the process with this
 * status as it is? Then that may stay out of it, as long as it learns how far others have come
 * (engine_learn) when it hears of them. */
int engine_status_skips(const struct engine *, const struct engine_status *all,
                        const struct engine_status *part);

/* The other processes of the simulation. All functions but `send` are called in scheduler context. */
struct engine_peers {
    void *owner;
    /* Takes a message for an entity elsewhere; or with a call for the medium. */
    void (*send)(void *owner, struct engine_msg *, const struct engine_call *);
    /* Sends what is waiting to be sent, hands what has come to engine_deliver. */
    void (*poll)(void *owner);
    /* Nothing is ready here. Returns 1 with the status of all when all processes are quiescent and no
     * message is under way; 0 when there may be something to do here. Waits for either. Takes over
     * `progressed`, which starts anew. */
    int (*settle)(void *owner, const struct engine_status *mine, struct engine_status *all);
};

struct engine_config {
    struct rank_map map;                /* entities of this process and of others; kept by value */
    const struct engine_peers *peers;   /* NULL: there are none */
    const struct engine_medium *medium; /* NULL: there is none, or it is elsewhere */
    void *base;          /* array of owner structures, each starting with a struct engine_entity */
    size_t stride;       /* size of one; a multiple of 64 keeps entities apart in the cache */
    vtime lookahead;     /* smallest time between an emission and its arrival */
    vtime idle_limit;    /* virtual time of polling without progress that counts as a livelock */
    int random;          /* run ready entities in random order ... */
    uint64_t seed;       /* ... drawn from this seed */
    uint64_t hand_ticks; /* for so long (base/ticks.h) entities hand over to each other */
    const struct engine_ops *ops;
    void *owner;
};

enum engine_end {
    ENGINE_END_DONE = 0,
    ENGINE_END_DEADLOCK,
    ENGINE_END_LIVELOCK,
    ENGINE_END_STOPPED,
    ENGINE_END_ABORTED,
    ENGINE_END_GOES_ON, /* never returned by engine_run */
};

struct engine {
    struct engine_config cfg;
    struct pool msgs;
    vtime safe_until;  /* decisions due before this may be taken */
    vtime reached;     /* nothing may be emitted before this any more */
    uint64_t busy;     /* entities that are */
    uint64_t out;      /* the same */
    vtime granted_due; /* lookahead 0: `granted` may take one decision due at or before this */
    uint32_t granted;
    uint32_t *ready;     /* ring of ids, oldest at ready_head; a bag with a random schedule */
    uint64_t ready_head; /* counts up; index modulo ready_cap */
    uint64_t ready_tail;
    uint64_t ready_cap; /* a power of two */
    uint64_t next_new;  /* entities below this have been started */
    uint32_t running;   /* whose turn it is */
    int64_t chosen; /* found by engine_hand_over for the scheduler: the entity to start, or -1 ... */
    int verdict;    /* ... or how the run ends: an enum engine_end; else ENGINE_END_GOES_ON */
    uint64_t hand_until; /* in ticks, when the scheduler wants its turn */
    uint32_t held_back;  /* resumes since the last one was */
    uint64_t done;
    uint64_t spawned; /* spares that have been started */
    uint64_t known;   /* those that have been started have indices below this */
    uint64_t injected;
    vtime last_progress; /* latest arrival injected or success reported */
    int progressed;      /* something succeeded since the last quiescence */
    vtime idle_since;    /* smallest due time at the first quiescence after the last success */
    uint64_t rounds;     /* quiescences passed */
    int stop;
    int unsent;         /* the peers hold messages: 1, that should be sent soon: 2 */
    uint64_t next_poll; /* when the peers want to be polled next, in ticks (base/ticks.h) */
    struct engine_due
        abort; /* the smallest (time, world number) of all entities that ended the run */
    struct engine_status all;          /* of all processes at the last common quiescence */
    struct engine_decisions decisions; /* by due time, then index */
    struct engine_due
        *asking; /* calls since the last quiescence that ask for a notice: when, by whom */
    uint32_t asking_len, asking_cap;
    struct rng rng;
    void (*idle)(void *owner); /* called now and then in scheduler context (progress, output) */
    int idle_often;            /* set by the owner: call it after every turn */
};

/* In place. Costs O(1): entities are not touched until they start or get a message. */
void engine_init(struct engine *, const struct engine_config *);
void engine_fini(struct engine *);

/* Runs until every entity is done, or nothing can go on. */
enum engine_end engine_run(struct engine *);

/*
 * The running entity ends, as far as the run is concerned, but goes on to serve others: the run is over
 * when all others have ended, too, whatever it waits for. Its context; does not switch.
 */
void engine_linger(struct engine *, struct engine_entity *);

/* Makes engine_run return ENGINE_END_STOPPED at the next switch. Any context. */
void engine_stop(struct engine *);

/*
 * The entity (by index) ends the run at its time `when`. engine_run returns ENGINE_END_ABORTED once nothing
 * that is due before can happen any more; until then all entities go on, the caller too: it blocks.
 * Returns 1 if this is the earliest abort so far (smallest time, then id).
 */
int engine_abort(struct engine *, uint32_t id, vtime when);
/* An entity of another process ends the run then (world number). */
void engine_abort_elsewhere(struct engine *, struct engine_due);

static inline struct engine_entity *engine_entity_at(const struct engine *e, uint32_t id)
{
    return (struct engine_entity *)((char *)e->cfg.base + (size_t)id * e->cfg.stride);
}

/* ---- what others ask of it ---- */

/* Entities that have started or got a message have indices below this. */
static inline uint64_t engine_known(const struct engine *e)
{
    return e->known;
}

/* Entities that were started so far; of them spares. */
static inline uint64_t engine_started(const struct engine *e)
{
    return e->next_new + e->spawned;
}

static inline uint64_t engine_spares_started(const struct engine *e)
{
    return e->spawned;
}

/* Has the entity not run yet, and is it not a spare? Then its memory has not been used. */
static inline int engine_is_untouched(const struct engine *e, uint32_t id)
{
    return id >= e->next_new && id < e->cfg.map.count;
}

/* The index of the entity whose turn it is, or was last. */
static inline uint32_t engine_running(const struct engine *e)
{
    return e->running;
}

/* The first (time, world number) that ended the run (engine_abort): of this process, and of all of them at
 * their last common quiescence. The time is VTIME_NEVER if none did. */
static inline struct engine_due engine_ended_by(const struct engine *e)
{
    return e->abort;
}

static inline struct engine_due engine_ended_by_any(const struct engine *e)
{
    return e->all.abort;
}

/* Nothing may be emitted before this any more. */
static inline vtime engine_reached(const struct engine *e)
{
    return e->reached;
}

/* Quiescences so far. */
static inline uint64_t engine_rounds(const struct engine *e)
{
    return e->rounds;
}

/* Do the peers hold messages: 1, that should be sent soon: 2? */
static inline int engine_unsent(const struct engine *e)
{
    return e->unsent;
}

/* What the peers hold is sent at the next switch. */
static inline void engine_send_soon(struct engine *e)
{
    e->unsent = 2;
}

/* The function that the scheduler calls now and then, for progress and output. */
static inline void engine_set_idle(struct engine *e, void (*idle)(void *owner))
{
    e->idle = idle;
}

/* Shall it be called after every turn? */
static inline void engine_idle_often(struct engine *e, int often)
{
    e->idle_often = often;
}

/* A message of `size` bytes in all, from the pool; owned by the caller until injected. */
static inline struct engine_msg *engine_msg_alloc(struct engine *e, size_t size)
{
    struct engine_msg *m = pool_alloc(&e->msgs, size);

    m->size = size;
    m->flags = 0;
    return m;
}
static inline void engine_msg_free(struct engine *e, struct engine_msg *m)
{
    pool_free(&e->msgs, m, m->size);
}

/* Hands a message to its destination, which owns it from then on, wherever it is. Sets nothing:
 * arrival, src and dst are the caller's. */
void engine_inject(struct engine *, struct engine_msg *);
/* The same for a message that came from another process to an entity of this one, or with its call to
 * the medium. Wakes the destination if it is blocked and enough has come, or when a decision that it
 * brings is safe. */
void engine_deliver(struct engine *, struct engine_msg *, const struct engine_call *);
/* Another process, from which messages are about to be delivered, has taken part in steps that this one has
 * stayed out of: its safe_until and reached. Scheduler context. */
void engine_learn(struct engine *, vtime safe_until, vtime reached);
/* Hands a message to the medium at time m->arrival. */
void engine_submit(struct engine *, struct engine_msg *, const struct engine_call *);
/* A message leaves the medium: for engine_medium only, in `submit`, `advance` and `wait`. */
void engine_emerge(struct engine *, struct engine_msg *);
/* The sender (world number) of a call with this cookie need not wait any longer, from t on: the same. */
void engine_notify(struct engine *, uint32_t sender, uint64_t cookie, vtime t);

/* The receiver of a message that will soon emerge, for prefetching, or NULL. */
static inline struct engine_entity *engine_receiver(const struct engine *e,
                                                    const struct engine_msg *m)
{
    if (!rank_map_is_here(&e->cfg.map, m->dst))
        return NULL;
    return engine_entity_at(e, rank_map_index(&e->cfg.map, m->dst));
}

/* Takes the oldest message out of the inbox, or NULL. */
static inline struct engine_msg *engine_poll(struct engine_entity *x)
{
    struct engine_msg *tail = x->inbox, *m;

    if (!tail)
        return NULL;
    m = tail->next;
    if (m == tail)
        x->inbox = NULL;
    else
        tail->next = m->next;
    return m;
}

/*
 * Marks the running entity as blocked; the caller suspends it at once. `due` is the time at which a
 * decision of it is due, or VTIME_NEVER; `wake_after` (at least 1) the number of arrivals needed
 * before waking is of use. When it runs again, entity->wake says why. Spurious wakes are possible.
 */
void engine_block(struct engine *, struct engine_entity *, uint32_t id, vtime due,
                  uint32_t wake_after);

/*
 * The same for an entity that is not blocked as a whole: a thread of it runs and may emit something,
 * which nobody waits for. When nothing else is due, it is woken to look. Its first act after any wake is
 * engine_unbusy.
 */
void engine_block_busy(struct engine *, struct engine_entity *, uint32_t id, vtime due,
                       uint32_t wake_after);
void engine_unbusy(struct engine *, struct engine_entity *);

/*
 * The running entity goes on without its turn, which the caller passes on at once: others run, but nothing
 * is decided before the entity is back. It asks for its turn by ops->wanted, which calls engine_wake.
 */
void engine_go_out(struct engine *, struct engine_entity *);

/* Wakes an entity of this process if it is blocked, for no message, or out. */
void engine_wake(struct engine *, uint32_t id);

/* The running entity lets others, and the peers, go first; the caller suspends it at once. */
void engine_yield(struct engine *, struct engine_entity *, uint32_t id);

/*
 * The running entity has blocked or yielded: returns the entity whose turn it is now, the caller perhaps,
 * which has run before; or -1: the scheduler is to go on. For entities that can switch without it.
 */
int64_t engine_hand_over(struct engine *);

/* The entity is `asking`: were all its calls made at a time after `due`? */
int engine_asked_after(const struct engine *, uint32_t id, vtime due);

/*
 * May the entity decide now what is due at `due`? A grant (lookahead 0) is good for one decision:
 * what that one sets off may matter for the next, even at the same time.
 */
static inline int engine_is_safe(struct engine *e, uint32_t id, vtime due)
{
    if (due < e->safe_until)
        return !engine_entity_at(e, id)->asking || engine_asked_after(e, id, due);
    if (id != e->granted || due > e->granted_due)
        return 0;
    e->granted_due = -1;
    return 1;
}

/* The k-th entity to be run after the present one if nothing else happens, or -1 if not known. */
static inline int64_t engine_peek_ready(const struct engine *e, uint64_t k)
{
    uint64_t at = e->ready_head + k;

    return at < e->ready_tail ? (int64_t)e->ready[at & (e->ready_cap - 1)] : -1;
}

/* Tells the livelock detection that something succeeded at `when`. */
static inline void engine_progress(struct engine *e, vtime when)
{
    e->progressed = 1;
    if (when > e->last_progress)
        e->last_progress = when;
}

/* Smallest clock of all entities that are not done: no later output can carry an earlier time.
 * O(entities). */
vtime engine_lower_bound(const struct engine *);

#endif
