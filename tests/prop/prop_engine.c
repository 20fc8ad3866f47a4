/*
 * The engine against naive bookkeeping: entities block with random due times, send to each other
 * with at least the lookahead, and decide when they may.
 *
 * Checked at every step: a decision is safe exactly when the rules say so; with lookahead 0 the
 * smallest (due, id) of all blocked entities is granted alone; safe_until never decreases; no
 * message arrives before it; messages of one source come in the order they were sent; the heap is
 * a heap and knows every entity's place. What happens must not depend on the schedule.
 *
 * Half of the runs have a medium between the entities: one server with a queue, which lets a
 * message go when its turn has come and it was served. Nothing may be submitted in the server's
 * past. Some senders want a notice of that, which brings back the number of their message.
 */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "engine/engine.h"
#include "engine/medium.h"
#include "engine_fini.h"
#include "tap.h"

enum { ENTITIES_MAX = 60, STEPS = 40 };

struct note {
    struct engine_msg em;
    uint64_t number; /* per source, rising */
};

struct actor {
    struct engine_entity ent;
    struct rng rng; /* its own choices: the same with every schedule */
    int steps;
    vtime due;     /* while blocked; VTIME_NEVER: none */
    vtime decided; /* the last time it has decided about, -1: none yet */
    uint64_t sent, last[ENTITIES_MAX];
    uint8_t asked[2 * STEPS + 3]; /* by number: a notice is to come */
    uint64_t hash;                /* of all it has decided */
    int count;                    /* messages known, by arrival */
    struct {
        vtime arrival;
        uint32_t src;
    } known[ENTITIES_MAX * STEPS * 2];
};

static struct actor *actors;
static struct engine engine;
static uint32_t entities;
static vtime lookahead, seen_safe;
static int faults;

#define FAULT(cond, text) ((cond) ? (faults++ < 5 ? diag("%s", text) : (void)0) : (void)0)

static void heap_check(void)
{
    uint32_t due = 0;

    for (uint32_t i = 0; i < engine.decisions.len; i++) {
        const struct engine_due *d = &engine.decisions.at[i],
                                *up = &engine.decisions.at[i ? (i - 1) / 2 : 0];
        FAULT(actors[d->id].ent.heap_pos != i + 1, "an entity's place in the heap is wrong");
        FAULT(actors[d->id].due != d->due, "a due time is not the entity's");
        FAULT(up->due > d->due || (up->due == d->due && up->id > d->id), "not a heap");
    }
    for (uint32_t i = 0; i < entities; i++)
        due += actors[i].ent.state == ENGINE_BLOCKED && actors[i].due != VTIME_NEVER;
    FAULT(due != engine.decisions.len, "the heap misses an entity");
}

/* ---- the medium: a server with a queue ---- */

enum { QUEUE_MAX = ENTITIES_MAX * STEPS * 2 };

static struct {
    int on;
    struct engine_msg *queue[QUEUE_MAX];
    struct engine_call call[QUEUE_MAX];
    int count;     /* waiting, in order of (time, source, submission) */
    vtime free_at; /* the server has done what it took */
    vtime now;     /* of the last event */
    uint64_t notices;
} server;

static void submit(void *owner, struct engine_msg *m, const struct engine_call *call)
{
    int at = server.count++;

    (void)owner;
    FAULT(m->arrival < server.now, "a message is submitted in the medium's past");
    server.notices += call->cookie != 0;
    for (; at > 0; at--) {
        struct engine_msg *before = server.queue[at - 1];

        if (before->arrival < m->arrival ||
            (before->arrival == m->arrival && before->src <= m->src))
            break;
        server.queue[at] = before;
        server.call[at] = server.call[at - 1];
    }
    server.queue[at] = m;
    server.call[at] = *call;
}

static vtime leaves(const struct engine_msg *m, uint64_t load)
{
    return (m->arrival > server.free_at ? m->arrival : server.free_at) + (vtime)load;
}

/* Its events are the departures. A message that is submitted before the first of them may go
 * first. */
static vtime next_event(void *owner)
{
    (void)owner;
    return server.count
               ? server.queue[0]->arrival > server.now ? server.queue[0]->arrival : server.now
               : VTIME_NEVER;
}

static uint64_t count_notices(void *owner)
{
    (void)owner;
    return server.notices;
}

/* Takes the first message: from now on its departure is known. */
static int serve_first(void)
{
    struct engine_msg *m = server.queue[0];
    struct engine_call call = server.call[0];
    uint32_t src = m->src;

    server.now = next_event(NULL);
    server.free_at = leaves(m, call.load);
    server.count--;
    memmove(server.queue, server.queue + 1, (size_t)server.count * sizeof *server.queue);
    memmove(server.call, server.call + 1, (size_t)server.count * sizeof *server.call);
    m->arrival = server.free_at + lookahead;
    engine_emerge(&engine, m);
    if (!call.cookie)
        return 0;
    server.notices--;
    engine_notify(&engine, src, call.cookie, server.free_at);
    return 1;
}

static vtime advance(void *owner, vtime first, vtime limit)
{
    int told;

    (void)owner;
    FAULT(first != next_event(NULL), "the medium is told another time than its own");
    do {
        told = serve_first();
    } while (!told && server.count && next_event(NULL) <= limit &&
             (next_event(NULL) == first || next_event(NULL) < first + lookahead));
    return server.now;
}

static const struct engine_medium medium = {NULL,    submit, next_event, count_notices,
                                            advance, NULL,   NULL};

static struct engine_msg *notice(void *owner, uint64_t cookie)
{
    struct note *n = (struct note *)engine_msg_alloc(&engine, sizeof *n);

    (void)owner;
    n->number = cookie;
    return &n->em;
}

static void submit_note(struct actor *a, struct note *n, vtime when)
{
    struct engine_call call = {.load = 1 + rng_below(&a->rng, 5)};

    if (rng_below(&a->rng, 4) == 0) {
        call.cookie = n->number;
        a->asked[n->number] = 1;
    }
    n->em.arrival = when;
    engine_submit(&engine, &n->em, &call);
}

static void post(struct actor *a, uint32_t id, vtime when)
{
    struct note *n = (struct note *)engine_msg_alloc(&engine, sizeof *n);

    n->em.src = id;
    n->em.dst = (uint32_t)rng_below(&a->rng, entities);
    if (server.on) {
        n->number = ++a->sent;
        submit_note(a, n, when);
        return;
    }
    n->em.arrival = when + lookahead + (vtime)rng_below(&a->rng, 50);
    n->number = ++a->sent;
    FAULT(n->em.arrival < engine.safe_until, "a message comes before safe_until");
    engine_inject(&engine, &n->em);
}

static void read_inbox(struct actor *a, uint32_t id)
{
    struct engine_msg *m;

    while ((m = engine_poll(&a->ent))) {
        struct note *n = (struct note *)m;
        FAULT(lookahead > 0 ? m->arrival <= a->decided : m->arrival < a->decided,
              "a message comes before what has been decided");
        if (m->flags & ENGINE_MSG_URGENT) {
            FAULT(m->src != id || !a->asked[n->number], "a notice that nobody has asked for");
            a->asked[n->number] = 0;
        }
        FAULT(!server.on && n->number <= a->last[m->src],
              "messages of one source are out of order");
        a->last[m->src] = n->number;
        a->known[a->count].arrival = m->arrival;
        a->known[a->count++].src = m->src;
        engine_msg_free(&engine, m);
    }
}

/* What the entity sees at its due time: the number of messages that have arrived by then. */
static void decide(struct actor *a, vtime due)
{
    uint64_t here = 0;

    for (int i = 0; i < a->count; i++)
        if (lookahead > 0 ? a->known[i].arrival <= due : a->known[i].arrival < due)
            here += 1 + a->known[i].src * 131u;
    a->hash = (a->hash ^ here ^ (uint64_t)due) * 0x100000001b3u;
    a->decided = due;
}

/* With lookahead 0: the one that is granted is the first of all that are blocked. */
static void grant_check(uint32_t id, vtime due)
{
    if (lookahead > 0)
        return;
    for (uint32_t i = 0; i < entities; i++)
        if (i != id && actors[i].ent.state == ENGINE_BLOCKED)
            FAULT(actors[i].due < due || (actors[i].due == due && i < id),
                  "not the smallest (due, id) was granted");
}

static int resume(void *owner, uint32_t id)
{
    struct actor *a = &actors[id];
    int fresh = a->steps == 0;

    (void)owner;
    FAULT(engine.safe_until < seen_safe, "safe_until went back");
    seen_safe = engine.safe_until;
    heap_check();
    read_inbox(a, id);
    if (!fresh) {
        if (a->ent.wake == ENGINE_WAKE_DECIDE)
            grant_check(id, a->due);
        if (!engine_is_safe(&engine, id, a->due)) {
            FAULT(a->ent.wake == ENGINE_WAKE_DECIDE, "woken to decide what is not safe");
            engine_block(&engine, &a->ent, id, a->due, 1);
            return 0;
        }
        a->ent.clock = a->due;
        decide(a, a->due);
    }
    if (a->steps++ == STEPS)
        return 1;
    for (uint64_t i = rng_below(&a->rng, 3); i > 0; i--)
        post(a, id, a->ent.clock);
    a->due = a->ent.clock + (vtime)rng_below(&a->rng, 40);
    engine_block(&engine, &a->ent, id, a->due, 1);
    return 0;
}

static const struct engine_ops ops = {.resume = resume, .notice = notice};

/* Runs it; the combined hash of what all have seen. */
static uint64_t run(uint64_t seed, uint64_t schedule)
{
    struct engine_config cfg = {.base = actors,
                                .stride = sizeof *actors,
                                .lookahead = lookahead,
                                .random = schedule != 0,
                                .seed = schedule,
                                .medium = server.on ? &medium : NULL,
                                .ops = &ops};
    uint64_t hash = 0;

    memset(actors, 0, ENTITIES_MAX * sizeof *actors);
    for (uint32_t i = 0; i < entities; i++)
        rng_seed(&actors[i].rng, seed * 1000 + i), actors[i].decided = -1;
    seen_safe = 0;
    server.count = 0;
    server.free_at = server.now = 0;
    server.notices = 0;
    rank_map_init(&cfg.map, RANK_MAP_BLOCK, entities, 1, 0, NULL);
    engine_init(&engine, &cfg);
    FAULT(engine_run(&engine) != ENGINE_END_DONE, "did not come to its end");
    FAULT(engine.done != entities, "not every entity ran to its end");
    FAULT(engine.decisions.len != 0, "something is left in the heap");
    for (uint32_t i = 0; i < entities; i++)
        hash = hash * 31 + actors[i].hash + (uint64_t)actors[i].ent.clock;
    engine_fini(&engine);
    return hash;
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    int differ = 0;

    plan_auto();
    actors = calloc(ENTITIES_MAX, sizeof *actors);
    diag("seeds %llu to %llu", (unsigned long long)first, (unsigned long long)first + 39);
    for (uint64_t seed = first; seed < first + 40; seed++) {
        uint64_t want;
        entities = 1 + (uint32_t)(seed * 7 % ENTITIES_MAX);
        lookahead = (vtime)(seed % 4) * 10;
        server.on = seed / 4 % 2;
        want = run(seed, 0);
        for (uint64_t schedule = 1; schedule <= 3; schedule++)
            differ += run(seed, seed * 10 + schedule) != want;
    }
    is_int(faults, 0, "every step keeps the rules");
    is_int(differ, 0, "no schedule changes what is decided");
    free(actors);
    return done_testing();
}
