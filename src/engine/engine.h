/*
 * engine.h - virtual time, messages between entities, decisions, quiescence.
 *
 * The engine knows entities (ranks, agents), not processes or MPI. An entity runs ahead on its own
 * clock until it blocks. Messages carry their arrival time, so only a *decision* (a question whose
 * answer depends on time: which source was first? has it arrived yet?) needs any ordering between
 * entities.
 *
 * Invariants
 *  1. An entity's inbox holds the messages of each source in the order they were sent.
 *  2. At quiescence (no entity ready) every message ever injected is in an inbox or consumed.
 *  3. Every message injected from now on has arrival >= safe_until. So a decision due before
 *     safe_until sees all messages that can matter, and may be taken at once, anywhere. There are
 *     two exceptions. Messages that no decision ever looks at may arrive earlier
 *     (mpi/coll/coll_model.c). And what an entity sends itself may take less than the lookahead if
 *     the entity orders it (net_least_delay): it is injected at once, and not sent before a time
 *     for which the entity has decided.
 *  4. safe_until never decreases. With lookahead L > 0 it becomes (smallest due time + L) at each
 *     quiescence; with L = 0 one entity at a time is granted its own due time.
 *  5. Hence results do not depend on the order in which ready entities are run.
 *  6. The medium advances only at quiescence, and only up to the first due decision: whatever is
 *     submitted later is submitted at a later time. Nothing is handed to it in its past, by
 *     whatever acts for an entity: its program, an agent, a strand. So all that comes out of it
 *     does so with the whole lookahead, also what an entity sends itself; notices alone do not.
 *     Decisions are taken up to the medium's next event plus the lookahead, or without the
 *     lookahead while notices are pending.
 *  7. A notice may come at any time after the call that requests it. So an entity that has made
 *     such a call decides nothing due after the time of that call before the next quiescence.
 *  8. An entity with several threads may be blocked while one of its threads still runs: it is
 *     *busy*. What it emits before it is woken, it emits at `reached` or later. Nothing waits for a
 *     busy entity, but while there is one, there is no deadlock. Or it may keep running while
 *     others have the turn: it is *out*, and there is no quiescence before it is back.
 *  9. An entity may wait for something outside the simulation: it is *away*, and may be woken at
 *     any moment (engine_wake), to continue at its clock. So its clock counts as one more decision,
 *     which is not taken: whatever is safe before it happens. While one is away, there is no
 *     deadlock, unless all of them are surely *led*, and the owner gives up (engine_give_up).
 * 10. Events may wait for real time (ops->pace): then nothing due after the time that it has
 *     reached happens, and the clocks of entities that are away do not matter: they continue at
 *     that time or later. What comes too late nevertheless enters the medium late.
 *
 * A simulation may be distributed over several processes, each with an engine for some of the
 * entities (rank_map.h). Messages to entities elsewhere are handed to the peers. Quiescence is then
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

/*
 * What an entity does. state.h has the one function that changes it, and state.c the table of what
 * may follow what:
 *
 *                 its first turn                           it ends
 *     NEW ---------------------------------> RUNNING ---------------------> DONE
 *      |                                     ^ ^ | |
 *      | spawn message                 turn  | | | |  engine_block*
 *      +------------> SPAWNED ---------------+ | | +-------------> BLOCKED  BUSY  AWAY
 *                          first turn          | |                 LED  SURELY_LED
 *                                              | | engine_yield           |
 *                                        turn  | v                        |
 *                                            READY <----------------------+
 *                                              ^       arrival, decision, engine_wake
 *                                              |
 *              RUNNING --- engine_go_out ---> OUT   (engine_wake)
 */
enum engine_state {
    ENGINE_NEW = 0, /* not started; all-zero memory is a new entity */
    ENGINE_SPAWNED, /* a spare that is ready, but whose first turn only the scheduler can give */
    ENGINE_READY,
    ENGINE_RUNNING,
    ENGINE_OUT, /* it runs without its turn (engine_go_out) */
    ENGINE_DONE,
    ENGINE_BLOCKED,    /* it waits for a message or decision, as in all states that follow */
    ENGINE_BUSY,       /* blocked, but it may emit something (engine_block_busy) */
    ENGINE_AWAY,       /* blocked, until something outside may wake it (engine_block_away) */
    ENGINE_LED,        /* away, and others seem to cause what wakes it (engine_block_led) */
    ENGINE_SURELY_LED, /* away, and others surely cause what wakes it */
    ENGINE_STATES
};

/* A message as the engine sees it; the owner's fields and the payload follow. */
struct engine_msg {
    struct engine_msg *next; /* link in the inbox; free for the owner once taken */
    vtime arrival;
    uint32_t src, dst;   /* world numbers */
    uint64_t size : 48;  /* bytes of the whole allocation, header included */
    uint64_t flags : 16; /* ENGINE_MSG_* */
};
#define ENGINE_MSG_URGENT 1u /* the receiver must act on it at once (a protocol step) */
#define ENGINE_MSG_DUE 2u    /* a decision of the receiver: it wakes only when this arrives */
#define ENGINE_MSG_MEDIUM 4u /* it goes to the medium */
#define ENGINE_MSG_SPAWN 8u  /* the receiver, a spare (rank_map.h), starts when this arrives */

/* In engine_entity.wake_after: of all messages that are not urgent, only those from the source with
 * the world number in the other bits wake the entity. */
#define ENGINE_FROM ((uint32_t)1 << 31)

/* An entity; the first member of the owner's per-rank structure; 32 bytes. */
struct engine_entity {
    vtime clock;
    struct engine_msg *inbox; /* tail of a circular list; NULL when empty */
    uint32_t heap_pos;        /* position in the heap of decisions + 1; 0: none is due */
    uint32_t wake_after; /* arrivals needed before waking makes sense, or ENGINE_FROM | source */
    uint8_t state;       /* enum engine_state; changed in state.h only */
    uint8_t wake;        /* enum engine_wake of the last wake */
    uint8_t lingers;     /* it has ended, but still serves others (engine_linger) */
    uint8_t asking;      /* it is in engine.asking */
    uint32_t owner_word; /* free for the owner */
};

enum engine_wake {
    ENGINE_WAKE_ARRIVAL = 0, /* a message has arrived: look at the inbox */
    ENGINE_WAKE_DECIDE,      /* the due decision is safe now */
    ENGINE_WAKE_LOOK,        /* nothing else can happen: look whether you can cause something */
    ENGINE_WAKE_EXPLAIN,     /* deadlock: describe what you wait for, then suspend again */
};

struct engine_waits; /* waits.h */

struct engine_ops {
    /* Callbacks; entities are identified by their index in this process. */
    /* Runs the entity until it, or the last of those that took over the turn (engine_hand_over),
     * suspends or ends; scheduler context. Returns 1 when it ended. */
    int (*resume)(void *owner, uint32_t id);
    /* May be NULL. Called when nothing is ready: wakes an entity that has something to do
     * nevertheless, and returns whether there was one. In the context that asks for the next
     * entity. */
    int (*wanted)(void *owner);
    /* NULL if no entity goes out or away. Called when nothing can be done here and some entities
     * are: returns when one of them may want a turn, or after a while; scheduler context. */
    void (*await)(void *owner);
    /* NULL if there are never offers. Answers those outside that need not wait; scheduler
     * context. */
    void (*let_go)(void *owner);
    /* NULL: virtual time passes as fast as it can. Otherwise called when no entity is ready: `next`
     * is when the next event or decision is due. If that is later than the time that has been
     * reached, sleeps until it is not, or an entity wants a turn, or for a while, and returns 0:
     * look again. Otherwise returns the time that has been reached; scheduler context. */
    vtime (*pace)(void *owner, vtime next);
    /* Called in scheduler context for a blocked entity when a deadlock is reported. */
    void (*explain)(void *owner, uint32_t id, struct engine_waits *out);
    /* Makes the notice for a call with this cookie; the engine fills in source, destination and
     * arrival. NULL if nobody requests notices. */
    struct engine_msg *(*notice)(void *owner, uint64_t cookie);
};

struct engine_call; /* medium.h */
struct engine_medium;

struct engine_due {
    vtime due;
    uint32_t id; /* index in the heap of decisions, world number in a status */
};
HEAP_STRUCT(engine_decisions, struct engine_due);

/* What happens although entities are away. */
enum engine_forced {
    ENGINE_FORCED_NOTHING,
    ENGINE_FORCED_DECISION, /* the first decision is taken (engine_force) */
    ENGINE_FORCED_OFFERS,   /* those outside need not wait for an answer (ops->let_go) */
    ENGINE_FORCED_LOOK,     /* busy entities look (engine_look) */
    ENGINE_FORCED_END       /* if all wait for each other, the run ends (engine_give_up) */
};

/* The status of a quiescent process, or of all of them together. */
struct engine_status {
    struct engine_due first; /* the first due decision; VTIME_NEVER: none */
    struct engine_due abort; /* the earliest abort; VTIME_NEVER: none */
    vtime medium;            /* its next event; VTIME_NEVER: none */
    uint64_t notices;        /* pending in the medium */
    uint64_t carried;        /* messages in the medium */
    uint64_t offers;         /* how many outside need not wait for their answer */
    vtime last_progress;
    uint64_t done;       /* entities that have ended */
    uint64_t spawned;    /* entities that were spares */
    uint64_t progressed; /* something succeeded since the last common quiescence */
    uint64_t busy;       /* entities that are busy */
    uint64_t away;       /* entities that are away */
    uint64_t led;        /* entities that are away and surely led */
    vtime away_clock;    /* smallest clock of entities that are away and not led */
    uint64_t forced;     /* of all: enum engine_forced */
    vtime idle_since;    /* of all: since when nothing has succeeded; see struct engine */
};

/* Makes `into` the status of both. */
void engine_status_merge(struct engine_status *into, const struct engine_status *from);

struct engine;
/* For the process that collects the status of all: fills in what follows from earlier ones, before
 * the status goes to the others. */
void engine_status_complete(const struct engine *, struct engine_status *all);
/* For the same process: does the step that follows from the status of all leave the process with
 * status `mine` unchanged? Then that process may skip the step, as long as it learns how far others
 * have come (engine_learn) when it next hears from them. */
int engine_status_skips(const struct engine *, const struct engine_status *all,
                        const struct engine_status *part);
/* For the same process: does nothing follow from the status of all, since entities are away? Then
 * there is no step before a process reports something else. */
int engine_status_waits(const struct engine *, const struct engine_status *all);

/* The other processes of the simulation. All functions but `send` are called in scheduler
 * context. */
struct engine_peers {
    void *owner;
    /* Takes a message for an entity elsewhere or, with a call, for the medium of that process. */
    void (*send)(void *owner, struct engine_msg *, const struct engine_call *, uint32_t proc);
    /* Sends what is queued, and hands what has arrived to engine_deliver. */
    void (*poll)(void *owner);
    /* Nothing is ready here. Waits until all processes are quiescent and no message is in flight
     * (returns 1 with the status of all), or until there may be something to do here (returns 0).
     * Takes over `progressed`, which is reset. */
    int (*settle)(void *owner, const struct engine_status *mine, struct engine_status *all);
};

struct engine_config {
    struct rank_map map;                /* entities of this process and of others; kept by value */
    const struct engine_peers *peers;   /* NULL: there are none */
    const struct engine_medium *medium; /* NULL: there is none, or it is elsewhere */
    void *base;       /* array of owner structures, each starting with a struct engine_entity */
    size_t stride;    /* size of one; a multiple of 64 keeps entities apart in the cache */
    vtime lookahead;  /* smallest time between an emission and its arrival */
    vtime idle_limit; /* virtual time of polling without progress that counts as a livelock */
    int random;       /* run ready entities in random order */
    uint64_t seed;    /* of that random order */
    /* How long entities hand the turn to each other before the scheduler gets it (base/ticks.h); 0:
     * for a few turns, and while others are ready. */
    uint64_t hand_ticks;
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

/* Ready entities that are put off until the turn of their group (ready.c). */
#define ENGINE_GROUP 256
struct engine_group {
    uint64_t set[ENGINE_GROUP / 64];
};
struct engine_later {
    struct engine_group *groups;
    uint64_t group_cap;
    uint32_t *queue; /* ring of the groups whose set is not empty */
    uint64_t head, tail, queue_cap;
};

struct engine {
    struct engine_config cfg;
    struct pool msgs;
    vtime safe_until;  /* decisions due before this may be taken */
    vtime reached;     /* nothing may be emitted before this any more */
    vtime medium_at;   /* the last event that the medium has handled, where it is */
    uint64_t carried;  /* messages in the medium, where it is */
    uint64_t offers;   /* kept by the owner: how many outside need not wait for their answer */
    uint64_t busy;     /* number of busy entities */
    uint64_t out;      /* number of entities that are out */
    uint64_t away;     /* number of entities that are away */
    int is_forced;     /* engine_force: what comes too late for the medium enters it late */
    uint64_t forced;   /* how often decisions were forced */
    uint64_t late;     /* messages that entered the medium late */
    vtime late_most;   /* the most by which one of them was late */
    vtime granted_due; /* lookahead 0: `granted` may take one decision due at or before this */
    uint32_t granted;
    uint32_t *ready;     /* ring of ids, the next one at ready_head; a bag with a random schedule */
    uint64_t ready_head; /* counts up; index modulo ready_cap */
    uint64_t ready_tail;
    uint64_t ready_cap; /* a power of two */
    uint32_t group;     /* entities of this group join the ring when they become ready */
    uint32_t stay;      /* turns since `group` became the present one */
    struct engine_later later;
    uint64_t next_new; /* entities below this have been started */
    uint32_t running;  /* whose turn it is */
    uint32_t turns;    /* since the last call of `idle` */
    /* engine_hand_over leaves these for the scheduler: the entity to start, or -1, and how the run
     * ends (enum engine_end), or ENGINE_END_GOES_ON. */
    int64_t chosen;
    int verdict;
    uint64_t hand_until; /* when the scheduler wants the turn, in ticks */
    uint32_t held_back;  /* resumes since the last new entity started */
    uint64_t done;
    uint64_t spawned; /* spares that have been started */
    uint64_t known;   /* entities that have been started have indices below this */
    uint64_t injected;
    vtime last_progress; /* latest arrival injected or success reported */
    int progressed;      /* something succeeded since the last quiescence */
    vtime idle_since;    /* smallest due time at the first quiescence after the last success */
    uint64_t rounds;     /* quiescences passed */
    int stop;
    int unsent;         /* 1: the peers hold messages; 2: and should send them soon */
    uint64_t next_poll; /* when the peers want to be polled next, in ticks (base/ticks.h) */
    struct engine_due
        abort; /* the smallest (time, world number) of the entities that aborted the run */
    struct engine_status all;          /* of all processes at the last common quiescence */
    struct engine_decisions decisions; /* by due time, then index */
    struct engine_due
        *asking; /* calls since the last quiescence that request a notice: when, by whom */
    uint32_t asking_len, asking_cap;
    struct rng rng;
    void (*idle)(void *owner); /* called now and then in scheduler context (progress, output) */
    int idle_often;            /* set by the owner: call it after every turn */
};

/* In place. Costs O(1): entities are not touched until they start or get a message. */
void engine_init(struct engine *, const struct engine_config *);

/* Runs until every entity is done, or none can continue. */
enum engine_end engine_run(struct engine *);

/*
 * The running entity counts as ended, but continues to serve others: the run is over when all
 * others have ended, whatever it waits for. Its context; does not switch.
 */
void engine_linger(struct engine *, struct engine_entity *);

/* Makes engine_run return ENGINE_END_STOPPED at the next switch. Any context. */
void engine_stop(struct engine *);

/*
 * The entity (by index) aborts the run at its time `when`. engine_run returns ENGINE_END_ABORTED
 * once nothing due before that can happen any more; until then all other entities continue, and the
 * caller blocks. Returns 1 if this is the earliest abort so far (smallest time, then id).
 */
int engine_abort(struct engine *, uint32_t id, vtime when);
/* An entity of another process (world number) aborts the run at that time. */
void engine_abort_elsewhere(struct engine *, struct engine_due);

/* Which process has which entity. */
static inline const struct rank_map *engine_map(const struct engine *e)
{
    return &e->cfg.map;
}

static inline struct engine_entity *engine_entity_at(const struct engine *e, uint32_t id)
{
    return (struct engine_entity *)((char *)e->cfg.base + (size_t)id * e->cfg.stride);
}

/* ---- queries ---- */

/* Entities that have started or received a message have indices below this. */
static inline uint64_t engine_known(const struct engine *e)
{
    return e->known;
}

/* Entities started so far; spares among them. */
static inline uint64_t engine_started(const struct engine *e)
{
    return e->next_new + e->spawned;
}

static inline uint64_t engine_spares_started(const struct engine *e)
{
    return e->spawned;
}

/* Is the entity not a spare, and has not run yet? Then its memory is untouched. */
static inline int engine_is_untouched(const struct engine *e, uint32_t id)
{
    return id >= e->next_new && id < e->cfg.map.count;
}

/* Does it wait for a message or a decision, whatever else it does? */
static inline int engine_is_blocked(const struct engine_entity *x)
{
    return x->state >= ENGINE_BLOCKED;
}

/* Is it blocked, but may emit something (invariant 8)? */
static inline int engine_is_busy(const struct engine_entity *x)
{
    return x->state == ENGINE_BUSY;
}

/* Is it blocked until something outside wakes it (invariant 9)? */
static inline int engine_is_away(const struct engine_entity *x)
{
    return x->state >= ENGINE_AWAY;
}

/* Has it been started? Its memory may be touched before, by messages. */
static inline int engine_is_started(const struct engine_entity *x)
{
    return x->state != ENGINE_NEW;
}

/* The index of the entity that has the turn, or had it last. */
static inline uint32_t engine_running(const struct engine *e)
{
    return e->running;
}

/* The first abort (time, world number) of this process (engine_abort), and of all of them at their
 * last common quiescence. The time is VTIME_NEVER if there was none. */
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

/* 1: the peers hold messages; 2: and should send them soon; 0: they hold none. */
static inline int engine_unsent(const struct engine *e)
{
    return e->unsent;
}

/* Makes the peers send what they hold at the next switch. */
static inline void engine_send_soon(struct engine *e)
{
    e->unsent = 2;
}

/* The function that the scheduler calls now and then, for progress and output. */
static inline void engine_set_idle(struct engine *e, void (*idle)(void *owner))
{
    e->idle = idle;
}

/* Whether to call it after every turn. */
static inline void engine_idle_often(struct engine *e, int often)
{
    e->idle_often = often;
}

/* A message of `size` bytes including headers, from the pool; owned by the caller until
 * injected. */
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
/* Prefetches the memory that a message of this size will get. */
static inline void engine_msg_prefetch(struct engine *e, size_t size)
{
    pool_prefetch(&e->msgs, size);
}

/* Hands a message to its destination, in any process, which then owns it. The caller sets arrival,
 * src and dst. */
void engine_inject(struct engine *, struct engine_msg *);
/* Hands on a message from another process: to an entity of this process or, with its call, to the
 * medium. Wakes the destination if it is blocked and enough messages have arrived, or once a
 * decision that the message brings is safe. */
void engine_deliver(struct engine *, struct engine_msg *, const struct engine_call *);
/* The safe_until and reached of another process, whose messages are about to be delivered and which
 * has taken part in steps that this one skipped. Scheduler context. */
void engine_learn(struct engine *, vtime safe_until, vtime reached);
/* Hands a message to the medium at time m->arrival. */
void engine_submit(struct engine *, struct engine_msg *, const struct engine_call *);
/* A message leaves the medium: for engine_medium only, in `submit`, `advance` and `wait`. */
void engine_emerge(struct engine *, struct engine_msg *);
/* From t on, the sender (world number) of the call with this cookie need not wait any longer. For
 * engine_medium only, as above. */
void engine_notify(struct engine *, uint32_t sender, uint64_t cookie, vtime t);

/* The receiver of a message that will emerge soon, for prefetching, or NULL. */
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
 * Marks the running entity as blocked; the caller suspends it at once. `due` is the time at which
 * its decision is due, or VTIME_NEVER; `wake_after` (at least 1) is the number of arrivals needed
 * before waking it makes sense, or ENGINE_FROM and the source from which one is needed. When it
 * runs again, entity->wake says why. Spurious wakes are possible.
 */
void engine_block(struct engine *, struct engine_entity *, uint32_t id, vtime due,
                  uint32_t wake_after);

/*
 * engine_block for an entity that may emit something that nobody waits for, such as one with a
 * running thread. When nothing else is due, the entity is woken to look.
 */
void engine_block_busy(struct engine *, struct engine_entity *, uint32_t id, vtime due,
                       uint32_t wake_after);

/* engine_block for an entity that waits for something outside, which ops->wanted notices. */
void engine_block_away(struct engine *, struct engine_entity *, uint32_t id, vtime due,
                       uint32_t wake_after);
/* engine_block_away for an entity whose wait can only end by what another entity does: its clock is
 * no bound for others. is_sure: this is no guess. */
void engine_block_led(struct engine *, struct engine_entity *, uint32_t id, vtime due, int is_sure);
/* All that are away wait for each other: lets go those that need not wait for their answer; returns
 * whether there were any. Scheduler context. */
int engine_let_go(struct engine *);
/* Lets the first decision be taken although entities are away: for the owner that knows that they
 * wait for it. What they do then may come too late for it. Scheduler context; returns whether there
 * was one. */
int engine_force(struct engine *);
/* Wakes busy entities to look, although others are away; returns whether there was one. */
int engine_look(struct engine *);
/* Nothing has come from outside for long: it is a deadlock if nothing is due, and all entities that
 * are away are surely led; returns whether it is. In ops->await, after which the run ends. */
int engine_give_up(struct engine *);

/* From now on, what comes too late for the medium enters it late. */
static inline void engine_let_late(struct engine *e)
{
    e->is_forced = 1;
}

/*
 * The running entity continues without the turn, which the caller passes on at once: others run,
 * but nothing is decided before the entity is back. It requests the turn by ops->wanted, which
 * calls engine_wake.
 */
void engine_go_out(struct engine *, struct engine_entity *);

/* Wakes an entity of this process, without a message, if it is blocked or out. */
void engine_wake(struct engine *, uint32_t id);

/* Of the hostile build: with a random schedule, should the running entity yield? */
int engine_may_yield(struct engine *);

/* The running entity lets others, and the peers, go first; the caller suspends it at once. */
void engine_yield(struct engine *, struct engine_entity *, uint32_t id);

/*
 * The running entity has blocked or yielded: returns the entity that has the turn now, which may be
 * the same one and has run before, or -1 if the scheduler must continue. For entities that can
 * switch without the scheduler.
 */
int64_t engine_hand_over(struct engine *);

/* For an entity that is `asking`: were all its calls made after `due`? */
int engine_asked_after(const struct engine *, uint32_t id, vtime due);

/*
 * May the entity decide now what is due at `due`? A grant (lookahead 0) is good for one decision
 * only: what that one causes may affect the next, even at the same time.
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

/* How many entities run next: 0 if none is ready. */
static inline uint64_t engine_ready(const struct engine *e)
{
    return e->ready_tail - e->ready_head;
}

/* The k-th of them, in the order in which they run if nothing else happens. */
static inline uint32_t engine_peek_ready(const struct engine *e, uint64_t k)
{
    return e->ready[(e->ready_head + k) & (e->ready_cap - 1)];
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
