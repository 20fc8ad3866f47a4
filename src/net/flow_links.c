/*
 * flow_links.c - which flow uses which link.
 *
 * A link has state from its first use on. When its last flow leaves it becomes idle and waits for
 * the next one, since programs use the same links again and again; when more are idle than IDLE_MIN
 * and the number in use, the one that has been idle longest goes. A rate limit is a private link of
 * one flow, so that limits need no rules of their own; it goes with its flow.
 *
 * Invariants: link->uses[hop->at] and hop point at each other; own is the number of uses with
 * is_own; a link is in the idle list exactly if no flow uses it.
 */
#include <assert.h>

#include "net/flow_internal.h"

#define IDLE_MIN 4096
#define FIRST_USES 4

struct flow_link *flow_link_find(struct flow_solver *s, uint32_t id)
{
    uint64_t *val = map_find(&s->links, id);

    return val ? (struct flow_link *)(uintptr_t)*val : NULL;
}

uint32_t flow_link_load(const struct flow_solver *s, uint32_t id)
{
    uint64_t *val = map_find(&s->links, id);

    return val ? ((struct flow_link *)(uintptr_t)*val)->use_count : 0;
}

static struct flow_link *link_new(struct flow_solver *s, double capacity)
{
    struct flow_link *l = pool_alloc(&s->link_pool, FLOW_LINK_SIZE);

    assert(capacity >= 0);
    *l = (struct flow_link){.capacity = capacity, .rest = capacity};
    return l;
}

static void link_free(struct flow_solver *s, struct flow_link *l)
{
    if (l->uses)
        pool_free(&s->pool, l->uses, l->use_cap * sizeof *l->uses);
    pool_free(&s->link_pool, l, FLOW_LINK_SIZE);
}

/* ---- idle links ---- */

static void idle_add(struct flow_solver *s, struct flow_link *l)
{
    l->newer = NULL;
    l->older = s->newest;
    *(s->newest ? &s->newest->newer : &s->oldest) = l;
    s->newest = l;
    s->idle++;
}

static void idle_remove(struct flow_solver *s, struct flow_link *l)
{
    *(l->older ? &l->older->newer : &s->oldest) = l->newer;
    *(l->newer ? &l->newer->older : &s->newest) = l->older;
    s->idle--;
}

static void idle_trim(struct flow_solver *s)
{
    while (s->idle > IDLE_MIN && s->idle > s->count.in_use && !s->oldest->is_dirty) {
        struct flow_link *l = s->oldest;

        idle_remove(s, l);
        map_remove(&s->links, l->order);
        link_free(s, l);
    }
}

/* ---- uses ---- */

static void uses_grow(struct flow_solver *s, struct flow_link *l)
{
    uint32_t cap = l->use_cap ? 2 * l->use_cap : FIRST_USES;
    struct flow_use *uses = pool_alloc(&s->pool, cap * sizeof *uses);

    if (l->uses) {
        memcpy(uses, l->uses, l->use_count * sizeof *uses);
        pool_free(&s->pool, l->uses, l->use_cap * sizeof *uses);
    }
    l->uses = uses;
    l->use_cap = cap;
}

static void use_add(struct flow_solver *s, struct flow_link *l, struct flow *f, unsigned hop)
{
    if (l->use_count == l->use_cap)
        uses_grow(s, l);
    s->count.in_use += l->use_count == 0;
    f->hops[hop] = (struct flow_hop){.link = l, .at = l->use_count};
    l->uses[l->use_count++] = (struct flow_use){.flow = f, .hop = (uint16_t)hop};
}

void flow_link_use(struct flow_solver *s, struct flow *f, unsigned hop, uint32_t id)
{
    struct flow_link *l = flow_link_find(s, id);

    if (!l) {
        l = link_new(s, s->capacity(s->owner, id));
        l->order = id;
        *map_insert(&s->links, id, NULL) = (uint64_t)(uintptr_t)l;
    } else if (l->use_count == 0) {
        idle_remove(s, l);
    }
    use_add(s, l, f, hop);
}

void flow_link_use_private(struct flow_solver *s, struct flow *f, unsigned hop, double capacity)
{
    struct flow_link *l = link_new(s, capacity);

    l->order = f->order + ((uint64_t)1 << 32);
    use_add(s, l, f, hop);
}

/* The last use moves into the gap. */
static void use_remove(struct flow_link *l, uint32_t at)
{
    struct flow_use *last = &l->uses[--l->use_count];

    l->own -= l->uses[at].is_own;
    l->rest = l->use_count > 0 ? l->rest + l->uses[at].rate : l->capacity;
    if (at < l->use_count) {
        l->uses[at] = *last;
        last->flow->hops[last->hop].at = at;
    }
}

void flow_link_leave(struct flow_solver *s, struct flow *f)
{
    for (unsigned i = 0; i < f->hop_count; i++) {
        struct flow_link *l = f->hops[i].link;

        use_remove(l, f->hops[i].at);
        if (l->own > 0)
            flow_link_dirty(s, l);
        if (l->use_count > 0)
            continue;
        s->count.in_use--;
        if (l->order > UINT32_MAX)
            link_free(s, l);
        else
            idle_add(s, l);
    }
    idle_trim(s);
}

void flow_link_forget(struct flow_solver *s)
{
    size_t it = 0;
    uint64_t val;

    while (map_next(&s->links, &it, NULL, &val))
        ((struct flow_link *)(uintptr_t)val)->solve = 0;
    for (uint32_t i = 0; i < s->ends.len; i++) {
        struct flow *f = flow_of(s->ends.entries[i].item);

        for (unsigned k = 0; k < f->hop_count; k++) {
            f->hops[k].link->solve = 0; /* it may be private */
            f->hops[k].link->uses[f->hops[k].at].solve = 0;
        }
    }
}

/* Small blocks go with the pool; only large ones are on their own. */
void flow_link_fini(struct flow_solver *s)
{
    size_t it = 0;
    uint64_t val;

    while (map_next(&s->links, &it, NULL, &val))
        link_free(s, (struct flow_link *)(uintptr_t)val);
    map_fini(&s->links);
}
