/*
 * procs_actor.h - the entities of procs_program.h: their state, and the messages and items they
 * exchange.
 */
#ifndef PROCS_ACTOR_H
#define PROCS_ACTOR_H

#include "base/mem.h"
#include "engine/medium.h"
#include "procs_link.h"
#include "tap.h"

enum {
    ENTITIES = 24,
    NOTICES = 32 /* as a source */,
    ITEMS = 1000,
    TAG_NOTE = PROCS_NOTE + 3,
    TAG_ITEM = PROCS_ITEM + 1
};

struct scenario {
    uint64_t seed;
    uint32_t entities;
    int steps;
    vtime lookahead, jitter, idle_limit;
    uint32_t abort_in, hang_in, poll_in; /* one of so many steps or ends; 0: never */
    uint32_t item_in, big_in, note_in;
    int has_medium;
    uint32_t notice_in; /* one of so many messages, with a medium */
};

struct mail {
    struct engine_msg em;
    uint64_t seq; /* of this pair */
    uint64_t value;
    uint32_t phase; /* 0: for "any"; else of an exchange */
    uint32_t item;  /* 0: none */
    uint8_t fill[]; /* up to em.size */
};

struct known {
    vtime arrival;
    uint64_t seq, value;
    uint32_t src, phase, item;
};

enum op { OP_NEXT = 0, OP_ANY, OP_EXCHANGE, OP_POSTED, OP_ITEM, OP_YIELD, OP_STUCK, OP_POLLING };
enum outcome { GOES_ON, SUSPENDED, ENDED };

struct actor {
    struct engine_entity ent;
    struct rng rng;
    uint64_t hash;
    enum op op, after_item;
    int step;
    uint32_t phase;
    vtime limit;        /* OP_ANY */
    vtime posted;       /* time of a posted "any", or -1 */
    vtime posted_limit; /* when that gives up; once decided, when it was */
    uint64_t posted_hash;
    vtime due;           /* what it blocked with */
    uint32_t item, told; /* awaited; last heard of */
    uint64_t sent[ENTITIES], got[ENTITIES];
    struct known *known;
    uint32_t count, cap;
};

/* One process. */
struct node {
    const struct scenario *s;
    struct engine engine;
    struct procs procs;
    struct engine_peers peers; /* the procs', looked at on the way */
    struct port port;
    int alone; /* no peers at all */
    struct actor *actors;
    uint8_t has_item[ITEMS];
    uint32_t waiting;
    uint64_t trace;   /* of all common quiescences */
    uint64_t settled; /* their number */
    uint64_t twos;    /* of those, with more that has happened since */
    uint64_t items_got, big_got;
    vtime seen_safe;
    int faults;
    const char *fault; /* the first */
    enum engine_end end;
};

#define FAULT(n, cond, text) \
    ((cond) ? ((n)->fault = (n)->fault ? (n)->fault : (text), (void)(n)->faults++) : (void)0)

static uint64_t mixed(uint64_t h, uint64_t x)
{
    uint64_t s = h * 0x100000001b3u ^ x;

    return rng_splitmix(&s);
}

static void observe(struct actor *a, int what, uint64_t x, uint64_t y)
{
    a->hash = mixed(mixed(mixed(mixed(a->hash, (uint64_t)what), x), y), (uint64_t)a->ent.clock);
}

static int one_in(struct actor *a, uint32_t n)
{
    return n && rng_below(&a->rng, n) == 0;
}

static uint32_t number_of(const struct node *n, uint32_t id)
{
    return rank_map_number(&n->engine.cfg.map, id);
}

/* ---- messages ---- */

static size_t random_size(struct node *n, struct actor *a)
{
    if (one_in(a, n->s->big_in))
        return 60000 + rng_below(&a->rng, 200000);
    return rng_below(&a->rng, 10) ? rng_below(&a->rng, 90) : rng_below(&a->rng, 5000);
}

static void submit(struct node *n, struct actor *a, struct mail *m, vtime when)
{
    struct engine_call call = {.load = 1 + rng_below(&a->rng, (uint64_t)n->s->jitter)};

    if (one_in(a, n->s->notice_in))
        call.cookie = m->value | 1;
    m->em.arrival = when;
    engine_submit(&n->engine, &m->em, &call);
}

static void post(struct node *n, struct actor *a, uint32_t id, uint32_t dst, vtime when,
                 uint32_t phase, uint32_t item)
{
    size_t fill = random_size(n, a);
    struct mail *m = (struct mail *)engine_msg_alloc(&n->engine, sizeof *m + fill);

    m->em.src = number_of(n, id);
    m->em.dst = dst;
    m->em.flags = one_in(a, 4) ? ENGINE_MSG_URGENT : 0;
    m->seq = ++a->sent[dst];
    m->value = rng_next(&a->rng);
    m->phase = phase;
    m->item = item;
    memset(m->fill, (int)(m->value & 255), fill);
    if (n->s->has_medium) {
        submit(n, a, m, when);
        return;
    }
    m->em.arrival = when + n->s->lookahead + (vtime)rng_below(&a->rng, (uint64_t)n->s->jitter);
    FAULT(n, m->em.arrival < n->engine.safe_until, "a message is sent into what is safe");
    engine_inject(&n->engine, &m->em);
}

static void drain(struct node *n, struct actor *a, uint32_t id)
{
    struct engine_msg *em;

    while ((em = engine_poll(&a->ent))) {
        struct mail *m = (struct mail *)em;
        size_t fill = em->size - sizeof *m;

        FAULT(n, em->dst != number_of(n, id), "a message came to somebody else");
        if (m->seq == 0) /* a notice */
            em->src = NOTICES;
        else /* a medium orders them by time */
            FAULT(n, !n->s->has_medium && m->seq != ++a->got[em->src],
                  "messages of one source: out of order or lost");
        for (size_t i = 0; i < fill; i++)
            FAULT(n, m->fill[i] != (m->value & 255), "a message is damaged");
        n->big_got += fill > 65536;
        if (a->count == a->cap) {
            a->cap = a->cap ? 2 * a->cap : 16;
            a->known = mem_realloc(a->known, a->cap * sizeof *a->known);
        }
        a->known[a->count++] = (struct known){em->arrival, m->seq,   m->value,
                                              em->src,     m->phase, m->item};
        engine_msg_free(&n->engine, em);
    }
}

static struct known take(struct actor *a, uint32_t at)
{
    struct known k = a->known[at];

    a->count--;
    memmove(a->known + at, a->known + at + 1, (a->count - at) * sizeof k);
    return k;
}

/* Of the first message of each source, the first to arrive; ties by source. -1: there is none. */
static int first_of_any(const struct actor *a)
{
    uint64_t seen = 0;
    int best = -1;

    for (uint32_t i = 0; i < a->count; i++) {
        const struct known *k = &a->known[i], *b = &a->known[best < 0 ? 0 : best];

        if (k->phase || (seen >> k->src & 1))
            continue;
        seen |= (uint64_t)1 << k->src;
        if (best < 0 || k->arrival < b->arrival || (k->arrival == b->arrival && k->src < b->src))
            best = (int)i;
    }
    return best;
}

static int find_phase(const struct actor *a, uint32_t src, uint32_t phase)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (a->known[i].src == src && a->known[i].phase == phase)
            return (int)i;
    return -1;
}

/* ---- items ---- */

static void learn(struct node *n, uint32_t item)
{
    FAULT(n, n->has_item[item], "an item came twice");
    n->has_item[item] = 1;
    n->items_got++;
    for (uint32_t i = 0; i < n->engine.next_new && n->waiting; i++)
        if (n->actors[i].op == OP_ITEM && n->actors[i].item == item)
            engine_wake(&n->engine, i);
}

static void note(void *owner, uint32_t from, int tag, const void *data, size_t bytes)
{
    struct node *n = owner;
    uint32_t words[2];

    FAULT(n, bytes != sizeof words, "a note or item has another size");
    memcpy(words, data, sizeof words);
    FAULT(n, words[1] != ~words[0], "a note or item is damaged");
    if (tag == TAG_ITEM)
        learn(n, words[0]);
    else
        FAULT(n, tag != TAG_NOTE || words[0] != from, "a note is not what was sent");
}

static void *two_words(uint32_t x)
{
    uint32_t *w = proc_link_alloc(8);

    w[0] = x;
    w[1] = ~x;
    return w;
}

static void make_item(struct node *n, struct actor *a, uint32_t id)
{
    uint32_t item = 1 + number_of(n, id) + (uint32_t)a->step * ENTITIES;

    if (item >= ITEMS)
        return;
    learn(n, item);
    for (uint32_t q = 0; !n->alone && q < n->port.net->procs; q++)
        if (q != n->port.proc)
            procs_item(&n->procs, q, TAG_ITEM, two_words(item), 8);
    a->told = item;
}

#endif
