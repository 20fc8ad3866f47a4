/*
 * procs_medium.h - a medium for simulations on several processes: process 0 has one server with a
 * queue, through which all messages pass. How long one takes depends on it and on those before it,
 * which are in order of (time, source, submission). Some senders get a notice when theirs has been
 * served; to them it is one more message, of a source of its own.
 */
#ifndef PROCS_MEDIUM_H
#define PROCS_MEDIUM_H

#include "procs_actor.h"

struct served {
    struct engine_msg *m;
    struct engine_call call;
};

struct server {
    struct node *node;
    struct served *queue;
    uint32_t count, cap;
    vtime free_at; /* the server has done what it took */
    vtime now;     /* of the last event */
    uint64_t notices;
};

static int goes_before(const struct engine_msg *a, const struct engine_msg *b)
{
    return a->arrival < b->arrival || (a->arrival == b->arrival && a->src < b->src);
}

static void server_submit(void *owner, struct engine_msg *m, const struct engine_call *call)
{
    struct server *v = owner;
    uint32_t at = v->count;

    FAULT(v->node, m->arrival < v->now, "a message is submitted in the medium's past");
    if (v->count == v->cap) {
        v->cap = v->cap ? 2 * v->cap : 64;
        v->queue = mem_realloc(v->queue, v->cap * sizeof *v->queue);
    }
    v->count++;
    v->notices += call->cookie != 0;
    for (; at > 0 && goes_before(m, v->queue[at - 1].m); at--)
        v->queue[at] = v->queue[at - 1];
    v->queue[at] = (struct served){m, *call};
}

static vtime server_next(void *owner)
{
    const struct server *v = owner;

    if (!v->count)
        return VTIME_NEVER;
    return v->queue[0].m->arrival > v->now ? v->queue[0].m->arrival : v->now;
}

static uint64_t server_notices(void *owner)
{
    return ((struct server *)owner)->notices;
}

/* Takes the first message: from now on its departure is known. */
static int serve_first(struct server *v)
{
    struct served s = v->queue[0];
    struct engine *e = &v->node->engine;
    uint32_t src = s.m->src;

    v->now = server_next(v);
    v->free_at = (v->now > v->free_at ? v->now : v->free_at) + (vtime)s.call.load;
    memmove(v->queue, v->queue + 1, --v->count * sizeof *v->queue);
    s.m->arrival = v->free_at + e->cfg.lookahead;
    engine_emerge(e, s.m);
    if (!s.call.cookie)
        return 0;
    v->notices--;
    engine_notify(e, src, s.call.cookie, v->free_at);
    return 1;
}

static vtime server_advance(void *owner, vtime first, vtime limit)
{
    struct server *v = owner;
    vtime end = first + v->node->engine.cfg.lookahead;
    int told;

    FAULT(v->node, first != server_next(v), "the medium is told another time than its own");
    do {
        told = serve_first(v);
    } while (!told && server_next(v) <= limit && (server_next(v) == first || server_next(v) < end));
    return v->now;
}

/* A message without a number, for its source alone. */
static struct engine_msg *server_notice(void *owner, uint64_t cookie)
{
    struct node *n = owner;
    struct mail *m = (struct mail *)engine_msg_alloc(&n->engine, sizeof *m);

    m->seq = 0;
    m->value = cookie;
    m->phase = m->item = 0;
    return &m->em;
}

static struct engine_medium server_start(struct server *v, struct node *n)
{
    *v = (struct server){.node = n};
    return (struct engine_medium){v,    server_submit, server_next, server_notices, server_advance,
                                  NULL, NULL};
}

/* What was never served is in the engine's pool. */
static void server_end(struct server *v)
{
    for (uint32_t i = 0; i < v->count; i++)
        engine_msg_free(&v->node->engine, v->queue[i].m);
    mem_free(v->queue);
    *v = (struct server){0};
}

#endif
