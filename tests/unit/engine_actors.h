/*
 * Entities of an engine that follow a script, for test_engine.c.
 *
 * One test program is one translation unit that includes this header.
 */
#ifndef ENGINE_ACTORS_H
#define ENGINE_ACTORS_H

#include "engine/engine.h"
#include "engine_fini.h"
#include "tap.h"

enum { MANY = 3 * ENGINE_GROUP };

struct actor {
    struct engine_entity ent;
    int runs;
};

static struct actor actors[MANY];
static struct engine engine;
static int (*script)(uint32_t id, struct actor *);
static uint32_t order[10000];
static int ran;
/* Entities hand over to each other, for a time or for some turns; how often they did. */
static enum { NOT_HANDING, HANDING_FOR_TIME, HANDING_FOR_TURNS } handing;
static int handed;
static int mistaken; /* an entity ran whose turn it was not */
static uint32_t spares;

static int turn(uint32_t id)
{
    if (ran < 10000)
        order[ran++] = id;
    actors[id].runs++;
    return script(id, &actors[id]);
}

static int resume(void *owner, uint32_t id)
{
    (void)owner;
    for (int64_t next = id; next >= 0; next = engine_hand_over(&engine), handed += next >= 0) {
        mistaken += engine.running != (uint32_t)next || actors[next].ent.state != ENGINE_RUNNING;
        if (turn((uint32_t)next))
            return 1;
        if (!handing)
            return 0;
    }
    return 0;
}

static int wants, awaited; /* entity 0, which is out, wants its turn; how often that was awaited */
static int gives_up;       /* rather than that, if it can */

static int wanted(void *owner)
{
    (void)owner;
    if (!wants)
        return 0;
    wants = 0;
    engine_wake(&engine, 0);
    return 1;
}

static void await_wanted(void *owner)
{
    (void)owner;
    awaited++;
    wants = !gives_up || !engine_give_up(&engine);
}

static const struct engine_ops ops = {.resume = resume, .wanted = wanted, .await = await_wanted};

static vtime real_time, asked[8]; /* how far it is, and the times that were waited for */
static int paces;

/* Every look takes 10, and nothing happens before its time. */
static vtime pace(void *owner, vtime next)
{
    (void)owner;
    if (paces < 8)
        asked[paces] = next;
    paces++;
    real_time += 10;
    if (real_time == 30)
        wants = 1; /* entity 0, which is away, makes a call */
    return next <= real_time ? real_time : 0;
}

static const struct engine_ops ops_paced = {.resume = resume, .wanted = wanted, .pace = pace};
static int is_paced;

static enum engine_end run(uint64_t n, vtime lookahead, vtime idle_limit, uint64_t schedule,
                           int (*what)(uint32_t, struct actor *))
{
    struct engine_config cfg = {.base = actors,
                                .stride = sizeof actors[0],
                                .lookahead = lookahead,
                                .idle_limit = idle_limit,
                                .random = schedule != 0,
                                .seed = schedule,
                                .ops = is_paced ? &ops_paced : &ops,
                                .hand_ticks = handing == HANDING_FOR_TIME ? (uint64_t)1 << 62 : 0};

    memset(actors, 0, sizeof actors);
    ran = 0;
    script = what;
    rank_map_init(&cfg.map, RANK_MAP_BLOCK, n, 1, 0, NULL);
    rank_map_add_spares(&cfg.map, spares);
    engine_init(&engine, &cfg);
    return engine_run(&engine);
}

static void block(uint32_t id, vtime due, uint32_t wake_after)
{
    engine_block(&engine, &actors[id].ent, id, due, wake_after);
}

static void post(uint32_t src, uint32_t dst, vtime arrival, uint32_t flags)
{
    struct engine_msg *m = engine_msg_alloc(&engine, sizeof *m + 100);

    m->src = src;
    m->dst = dst;
    m->arrival = arrival;
    m->flags |= flags;
    engine_inject(&engine, m);
}

static int drain(struct actor *a)
{
    struct engine_msg *m;
    int n = 0;

    while ((m = engine_poll(&a->ent))) {
        n++;
        engine_msg_free(&engine, m);
    }
    return n;
}

#endif
