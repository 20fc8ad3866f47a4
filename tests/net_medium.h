/*
 * A network with contention as the medium of an engine whose ranks do nothing: messages are
 * submitted, and what comes out is in their inboxes.
 *
 * One test program is one translation unit that includes this header.
 */
#ifndef NET_MEDIUM_H
#define NET_MEDIUM_H

#include <string.h>

#include "engine_fini.h"
#include "net/net.h"
#include "tap.h"

enum { RANKS_MOST = 64, PROGRAM = 1, AGENT };

struct note {
    struct engine_msg em;
    uint64_t cookie; /* of a notice; 0: a message */
};

static struct net net;
static struct err err;
static uint32_t ranks;
static struct platform machine;
static struct engine engine;
static struct engine_medium medium;
static struct engine_entity entities[RANKS_MOST];

static struct engine_msg *notice(void *owner, uint64_t cookie)
{
    struct note *n = (struct note *)engine_msg_alloc(&engine, sizeof *n);

    (void)owner;
    n->cookie = cookie;
    return &n->em;
}

static const struct engine_ops ops = {.notice = notice};

static void set_up(const char *settings, uint32_t count)
{
    struct engine_config cfg = {.base = entities, .stride = sizeof *entities, .ops = &ops};

    ranks = count;
    platform_init(&machine);
    memset(entities, 0, sizeof entities);
    is_int(platform_set(&machine, settings, NULL, &err) || net_init(&net, &machine, ranks, &err), 0,
           settings);
    rank_map_init(&cfg.map, RANK_MAP_BLOCK, ranks, 1, 0, NULL);
    engine_init(&engine, &cfg);
    net.ops->medium(&net, &engine, &medium);
    engine.cfg.medium = &medium;
}

__attribute__((unused)) static void tear_down(void)
{
    for (uint32_t i = 0; i < ranks; i++)
        ok(!entities[i].inbox, "nothing else came to rank %u", i);
    engine_fini(&engine);
    net_fini(&net);
    platform_fini(&machine);
    memset(&machine, 0, sizeof machine);
}

__attribute__((unused)) static void submit(uint32_t src, uint32_t dst, uint64_t bytes, vtime t,
                                           uint64_t order, uint64_t cookie)
{
    struct note *n = (struct note *)engine_msg_alloc(&engine, sizeof *n);

    n->em.src = src;
    n->em.dst = dst;
    n->em.arrival = t;
    n->cookie = 0;
    medium.submit(medium.owner, &n->em,
                  &(struct engine_call){.load = bytes, .order = order, .cookie = cookie});
}

static void advance_all(void)
{
    for (vtime t; (t = medium.next(medium.owner)) != VTIME_NEVER;)
        medium.advance(medium.owner, t, t);
}

/* The next message of a rank's inbox, or notice: its time, or -1. */
static vtime take(uint32_t rank, uint64_t *cookie)
{
    struct note *n = (struct note *)engine_poll(&entities[rank]);
    vtime t = n ? n->em.arrival : -1;

    *cookie = n ? n->cookie : 0;
    if (n)
        engine_msg_free(&engine, &n->em);
    return t;
}

__attribute__((unused)) static void is_next(uint32_t rank, vtime t, uint64_t cookie,
                                            const char *what)
{
    uint64_t got;

    is_int(take(rank, &got), t, what);
    is_int((long long)got, (long long)cookie, "its cookie");
}

/* Settings that are refused, each with a part of the message, beside those of `common`. */
__attribute__((unused)) static void are_refused(const char *common, const char *const (*wrong)[2],
                                                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char settings[400];

        snprintf(settings, sizeof settings, "%s,%s", common, wrong[i][0]);
        platform_init(&machine);
        ok(platform_set(&machine, settings, NULL, &err) == 0 &&
               net_init(&net, &machine, 2, &err) == ERR_INPUT && strstr(err.text, wrong[i][1]),
           "%s: %s", wrong[i][0], err.text);
        platform_fini(&machine);
    }
}

#endif
