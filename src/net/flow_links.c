/*
 * flow_links.c - which flow uses which link, and which bundle shares it.
 *
 * A link has state from its first use on. When its last flow leaves, the link becomes idle but is
 * kept, since programs use the same links again and again. When more links are idle than IDLE_MIN
 * and than are in use, the one that has been idle longest is freed. A rate limit is a private link
 * of one bundle, so that limits need no special rules; it is freed with its bundle.
 *
 * Links are found by their number in a table of pages, which takes memory only where links were
 * used.
 *
 * Invariants: link->uses[hop->at] and hop point at each other; own is the number of uses with
 * is_own; a link is in the idle list exactly if no flow uses it; outside a solve `rest` is
 * approximately the capacity left by its uses.
 */
#include <assert.h>

#include "base/log.h"
#include "net/flow_internal.h"

#define IDLE_MIN 4096
#define FIRST_USES 4
#define PRIVATE ((uint64_t)1 << 32) /* private links have numbers from here on */
#define SLACK 1e-6 /* fraction of its capacity: a link with more to spare is not full */

/* ---- the table ---- */

static void *page_new(void)
{
    void *page = mem_map(FLOW_LINK_PAGE * sizeof(void *), 0);

    if (!page)
        log_fatal("out of memory: cannot map the links of flows");
    return page;
}

static void page_free(void *page)
{
    if (page)
        mem_unmap(page, FLOW_LINK_PAGE * sizeof(void *));
}

void flow_link_init(struct flow_solver *s)
{
    s->links = page_new();
}

static struct flow_link **slot_of(struct flow_solver *s, uint32_t id)
{
    struct flow_link ***page = &s->links[id / FLOW_LINK_PAGE];

    if (__builtin_expect(!*page, 0))
        *page = page_new();
    return &(*page)[id % FLOW_LINK_PAGE];
}

static struct flow_link *look_up(const struct flow_solver *s, uint32_t id)
{
    struct flow_link **page = s->links[id / FLOW_LINK_PAGE];

    return page ? page[id % FLOW_LINK_PAGE] : NULL;
}

struct flow_link *flow_link_find(struct flow_solver *s, uint32_t id)
{
    return look_up(s, id);
}

uint32_t flow_link_load(const struct flow_solver *s, uint32_t id)
{
    const struct flow_link *l = look_up(s, id);

    return l ? l->load : 0;
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
        *slot_of(s, (uint32_t)l->order) = NULL;
        link_free(s, l);
    }
}

struct flow_link *flow_link_enter(struct flow_solver *s, uint32_t id)
{
    struct flow_link **slot = slot_of(s, id), *l = *slot;

    if (!l) {
        l = *slot = link_new(s, s->capacity(s->owner, id));
        l->order = id;
    } else if (l->load == 0) {
        idle_remove(s, l);
    }
    s->count.in_use += l->load++ == 0;
    return l;
}

void flow_link_leave(struct flow_solver *s, struct flow_link *l)
{
    l->sole = NULL;
    if (--l->load > 0)
        return;
    s->count.in_use--;
    idle_add(s, l);
    idle_trim(s);
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

void flow_link_use(struct flow_solver *s, struct flow_bundle *b, unsigned hop, struct flow_link *l)
{
    if (l->use_count == l->use_cap)
        uses_grow(s, l);
    b->hops[hop] = (struct flow_hop){.link = l, .at = l->use_count};
    l->uses[l->use_count++] = (struct flow_use){.bundle = b, .hop = (uint16_t)hop};
}

void flow_link_use_private(struct flow_solver *s, struct flow_bundle *b, unsigned hop)
{
    struct flow_link *l = link_new(s, b->limit);

    l->order = b->order + PRIVATE;
    flow_link_use(s, b, hop, l);
    l->uses[0].weight = 1;
}

static int is_private(const struct flow_link *l)
{
    return l->order >= PRIVATE;
}

void flow_link_weigh(struct flow_solver *s, struct flow_bundle *b, int more)
{
    for (uint32_t i = 0; i < b->hop_count; i++) {
        struct flow_link *l = b->hops[i].link;

        if (is_private(l))
            continue;
        l->uses[b->hops[i].at].weight += (uint32_t)more;
        l->rest -= more * b->rate;
        if (!b->fresh && (l->own > 0 || l->rest < SLACK * l->capacity))
            flow_link_dirty(s, l);
    }
}

/* The last use moves into the gap. */
static void use_remove(struct flow_link *l, uint32_t at)
{
    struct flow_use *last = &l->uses[--l->use_count], *u = &l->uses[at];

    l->own -= u->is_own;
    l->rest = l->use_count > 0 ? l->rest + u->rate * u->weight : l->capacity;
    if (at < l->use_count) {
        *u = *last;
        u->bundle->hops[u->hop].at = at;
    }
}

void flow_link_unuse(struct flow_solver *s, struct flow_bundle *b)
{
    for (uint32_t i = 0; i < b->hop_count; i++) {
        struct flow_link *l = b->hops[i].link;

        use_remove(l, b->hops[i].at);
        if (is_private(l))
            link_free(s, l);
        else if (l->own > 0)
            flow_link_dirty(s, l);
    }
}

void flow_link_forget(struct flow_solver *s)
{
    for (uint32_t i = 0; i < FLOW_LINK_PAGE; i++)
        for (uint32_t k = 0; s->links[i] && k < FLOW_LINK_PAGE; k++)
            if (s->links[i][k])
                s->links[i][k]->solve = 0;
    for (uint32_t i = 0; i < s->ends.len; i++) {
        struct flow_bundle *b = flow_bundle_of(s->ends.at[i].item);

        for (unsigned k = 0; k < b->hop_count; k++) {
            b->hops[k].link->solve = 0; /* it may be private */
            b->hops[k].link->uses[b->hops[k].at].solve = 0;
        }
    }
}

/* Frees all links; without flows all of them are idle. */
void flow_link_fini(struct flow_solver *s)
{
    while (s->oldest) {
        struct flow_link *l = s->oldest;

        idle_remove(s, l);
        link_free(s, l);
    }
    for (uint32_t i = 0; i < FLOW_LINK_PAGE; i++)
        page_free(s->links[i]);
    page_free(s->links);
}
