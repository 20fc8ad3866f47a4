/*
 * flow_fill.c - computes the rates by progressive filling of the part that changed.
 *
 * A flow here is a bundle of flows, which counts with its weight on the links it shares.
 *
 * Progressive filling raises the rates of all flows together; when a link is full, its flows stay
 * at the level reached, and the others continue to rise (Bertsekas and Gallager, "Data Networks",
 * 6.5.2). The link that stopped a flow limits it, and owns it here. An allocation is max-min fair
 * if and only if every flow has a full link on its route on which no flow is faster.
 *
 * A solve repeats the filling in order of level, but only where it differs from the last time.
 * Links are *touched* when something about their flows may differ; a flow of a touched link is
 *
 *     kept   it has its old rate, as far as is known: it takes that, or the link's level if less
 *     own    kept, and this link is what limits it: it takes the link's level
 *     free   its old limit is gone: it takes the link's level
 *     done   its new rate is known, at a level already passed
 *
 *     level of a link = (capacity - rates of the rest) / weight of open uses
 *
 * where open are the free, the own, and the kept ones whose rate is above that level. Touched links
 * wait in a heap for the smaller of their old level, if they own flows, and their new one. Then
 *
 *     the old level comes first: the link does not fill where it did. Its own flows are released:
 *         free on all their links, which are touched. Nothing they cross can fill below that level.
 *     the new level comes first: the link is full. Its open flows are done. Other links that they
 *         cross are touched if they own flows, which may now rise.
 *
 * so flows keep their rates, and links are not examined, unless a limit really moved. A key in the
 * heap may be too small, but never too large: done flows leave others more than their level, and
 * for any choice of open kept flows the formula is at most the true level (the tangent of a concave
 * function). A key is corrected when it reaches the top.
 *
 * A *slack* link, one that owns no flow, is not touched at once when a flow is released on it: most
 * of them never fill. A lower bound of its level is known without examining its flows, from the sum
 * that it keeps; it is touched when the filling comes near that bound. The sum may be approximate,
 * so it may accumulate rounding errors until the link is next touched or idle.
 *
 * Levels count as equal if they differ by less than TOLERANCE, since sums in another order differ
 * in their last bits, and an unchanged level should stop the propagation.
 */
#include <assert.h>
#include <math.h>

#include "net/flow_internal.h"

#define TOLERANCE 1e-12
#define ALARM_MARGIN 1e-6

static int is_above(double a, double b)
{
    return a > b * (1 + TOLERANCE);
}

static struct flow_use *use_of(const struct flow_hop *hop)
{
    return &hop->link->uses[hop->at];
}

/* ---- the level of a link ---- */

static double level_of(const struct flow_link *l)
{
    if (l->open == 0)
        return INFINITY;
    return l->rest > 0 && l->capacity > 0 ? l->rest / l->open : 0;
}

/* The level at which a touched link is due: its key in the heap. */
static double key_of(const struct flow_link *l)
{
    double level = level_of(l);

    return l->is_watched && l->own > 0 && l->level < level ? l->level : level;
}

static int is_kept(const struct flow_solver *s, const struct flow_link *l, const struct flow_use *u)
{
    return u->solve != s->solve && !(u->is_own && l->is_watched);
}

static void use_open(struct flow_solver *s, struct flow_link *l, struct flow_use *u)
{
    u->is_open = 1;
    l->rest += u->rate * u->weight;
    l->open += u->weight;
    s->open += u->weight;
}

static void use_close(struct flow_solver *s, struct flow_link *l, struct flow_use *u)
{
    u->is_open = 0;
    l->rest -= u->rate * u->weight;
    l->open -= u->weight;
    s->open -= u->weight;
}

/*
 * Opens and closes kept uses so that the open ones are those above the level. From the second pass
 * on, the level only rises, like Newton's method on a concave function.
 */
static void refine(struct flow_solver *s, struct flow_link *l)
{
    int may_open = 1, is_stable;
    double level = level_of(l);

    if (l->open == 0 && l->rest < -TOLERANCE * l->capacity)
        level = -1; /* overfull with all of them at their rates: open all */
    do {
        is_stable = 1;
        for (uint32_t i = 0; i < l->use_count; i++) {
            struct flow_use *u = &l->uses[i];
            int is_open = is_above(u->rate, level);

            if (is_open == u->is_open || !is_kept(s, l, u) || (is_open && !may_open))
                continue;
            if (is_open)
                use_open(s, l, u);
            else
                use_close(s, l, u);
            is_stable = 0;
        }
        level = level_of(l);
        may_open = 0;
    } while (!is_stable);
}

/* ---- touching ---- */

static void enqueue(struct flow_solver *s, struct flow_link *l)
{
    double key = key_of(l);

    if (key < INFINITY)
        flow_heap_set(&s->levels, &l->slot, flow_heap_key(key), l->order);
}

static void touch(struct flow_solver *s, struct flow_link *l)
{
    if (l->solve == s->solve)
        return;
    s->count.links++;
    s->open -= l->open;
    l->solve = s->solve;
    l->is_watched = l->own > 0;
    l->rest = l->capacity;
    l->open = 0;
    l->has_kept = 0;
    for (uint32_t i = 0; i < l->use_count; i++) {
        struct flow_use *u = &l->uses[i];
        int is_known = u->solve == s->solve;

        u->is_open = is_known ? u->is_open : u->is_own;
        l->has_kept |= !is_known && !u->is_own;
        l->open += u->is_open ? u->weight : 0;
        l->rest -= u->is_open ? 0 : u->rate * u->weight;
    }
    s->open += l->open;
    if (l->has_kept)
        refine(s, l);
    enqueue(s, l);
}

static void pend(struct flow_solver *s, struct flow_link *l)
{
    if (!l->is_pending) {
        l->is_pending = 1;
        flow_list_push(&s->pending, l);
    }
}

static void touch_pending(struct flow_solver *s)
{
    for (uint32_t i = 0; i < s->pending.len; i++) {
        struct flow_link *l = s->pending.items[i];

        l->is_pending = 0;
        touch(s, l);
    }
    s->pending.len = 0;
}

/* ---- slack links ---- */

/* A link that owns no flow may limit one now, though not below this level. */
static void alarm_set(struct flow_solver *s, struct flow_link *l)
{
    if (l->rest < s->alarm * l->open)
        s->alarm = level_of(l);
    if (!l->is_alarmed && l->rest < INFINITY) {
        l->is_alarmed = 1;
        flow_list_push(&s->alarms, l);
    }
}

/* Touches the links that may fill below a level; updates the alarm of the others. */
static void alarm_raise(struct flow_solver *s, double until)
{
    uint32_t left = 0;

    s->alarm = INFINITY;
    for (uint32_t i = 0; i < s->alarms.len; i++) {
        struct flow_link *l = s->alarms.items[i];
        double level = l->solve == s->solve ? INFINITY : level_of(l);

        if (level > until && level < INFINITY) {
            s->alarm = level < s->alarm ? level : s->alarm;
            s->alarms.items[left++] = l;
            continue;
        }
        l->is_alarmed = 0;
        if (level < INFINITY)
            touch(s, l);
    }
    s->alarms.len = left;
}

static void alarm_clear(struct flow_solver *s)
{
    for (uint32_t i = 0; i < s->alarms.len; i++)
        ((struct flow_link *)s->alarms.items[i])->is_alarmed = 0;
    s->alarms.len = 0;
    s->alarm = INFINITY;
}

/* ---- changes to flows ---- */

/* Releases the flow: no known link limits it any more. touch_pending must follow. */
static void release(struct flow_solver *s, struct flow_bundle *f)
{
    flow_list_push(&s->changed, f);
    f->next_rate = INFINITY;
    for (unsigned i = 0; i < f->hop_count; i++) {
        struct flow_link *l = f->hops[i].link;
        struct flow_use *u = use_of(&f->hops[i]);

        l->own -= u->is_own;
        u->is_own = 0;
        u->solve = s->solve;
        if (u->is_open)
            continue;
        use_open(s, l, u);
        if (l->solve == s->solve)
            enqueue(s, l);
        else if (l->own > 0)
            pend(s, l);
        else
            alarm_set(s, l);
    }
}

/* One use of a flow whose rate is now known, on a link other than the one that limits it. */
static void settle_use(struct flow_solver *s, struct flow_link *l, struct flow_use *u, double rate)
{
    l->own -= u->is_own;
    u->is_own = 0;
    if (u->is_open)
        use_close(s, l, u);
    l->rest += (u->rate - rate) * u->weight;
    if (l->own > 0 && l->solve != s->solve)
        pend(s, l);
}

/* The full link sets the flow's rate. touch_pending must follow. */
static void settle(struct flow_solver *s, struct flow_bundle *f, struct flow_link *full,
                   double rate)
{
    f->next_rate = rate;
    for (unsigned i = 0; i < f->hop_count; i++) {
        struct flow_link *l = f->hops[i].link;
        struct flow_use *u = use_of(&f->hops[i]);

        if (l == full) {
            l->own += !u->is_own;
            u->is_own = 1;
            u->is_open = 0;
        } else {
            settle_use(s, l, u, rate);
        }
        u->rate = rate;
        u->solve = s->solve;
    }
}

/* ---- changes to links ---- */

static void release_own(struct flow_solver *s, struct flow_link *l)
{
    l->is_watched = 0;
    for (uint32_t i = 0; i < l->use_count; i++) {
        if (l->uses[i].is_own)
            release(s, l->uses[i].bundle);
    }
    touch_pending(s);
    enqueue(s, l);
}

static void fill(struct flow_solver *s, struct flow_link *l, double level)
{
    for (uint32_t i = 0; i < l->use_count; i++) {
        struct flow_use *u = &l->uses[i];

        if (!u->is_open)
            continue;
        u->is_open = 0;
        if (u->solve != s->solve) {
            if (u->is_own && u->rate == level)
                continue;
            flow_list_push(&s->changed, u->bundle);
        }
        settle(s, u->bundle, l, level);
    }
    l->level = level;
    l->is_watched = 0;
    s->open -= l->open;
    l->open = 0;
    l->rest = 0;
    touch_pending(s);
}

/* Corrects the key of the first link of the heap; returns 1 if it was wrong. */
static int is_early(struct flow_solver *s, struct flow_link *l)
{
    int64_t key = flow_heap_key(key_of(l));

    if (key <= s->levels.at[0].key && l->has_kept) {
        refine(s, l);
        key = flow_heap_key(key_of(l));
    }
    if (key <= s->levels.at[0].key)
        return 0;
    if (key_of(l) < INFINITY)
        flow_heap_set(&s->levels, &l->slot, key, l->order);
    else
        flow_heap_take(&s->levels);
    return 1;
}

/* Handles the link with the lowest level. */
static void step(struct flow_solver *s)
{
    double level = s->levels.len > 0 ? flow_heap_number(s->levels.at[0].key) : s->alarm;
    struct flow_link *l;

    if (s->alarm <= level * (1 + ALARM_MARGIN)) {
        alarm_raise(s, 2 * level);
        return;
    }
    l = (struct flow_link *)s->levels.at[0].item;
    if (is_early(s, l))
        return;
    flow_heap_take(&s->levels);
    level = level_of(l);
    if (!l->is_watched || l->own == 0)
        fill(s, l, level);
    else if (is_above(level, l->level))
        release_own(s, l);
    else
        fill(s, l, is_above(l->level, level) ? level : l->level);
}

/* Flows that are still open have no limit: they end now, and leave before the next solve. */
static void close_rest(struct flow_solver *s)
{
    for (uint32_t i = 0; i < s->changed.len && s->open > 0; i++) {
        struct flow_bundle *f = s->changed.items[i];

        for (unsigned k = 0; f->next_rate == INFINITY && k < f->hop_count; k++) {
            struct flow_use *u = use_of(&f->hops[k]);

            u->rate = 0;
            use_close(s, f->hops[k].link, u);
        }
    }
    assert(s->open == 0);
}

void flow_fill(struct flow_solver *s)
{
    if (++s->solve == 0) {
        flow_link_forget(s);
        s->solve = 1;
    }
    for (uint32_t i = 0; i < s->fresh.len; i++) {
        struct flow_bundle *f = s->fresh.items[i];

        f->fresh = 0;
        release(s, f);
    }
    s->fresh.len = 0;
    touch_pending(s);
    for (uint32_t i = 0; i < s->dirty.len; i++) {
        struct flow_link *l = s->dirty.items[i];

        l->is_dirty = 0;
        touch(s, l);
    }
    s->dirty.len = 0;
    while (s->open > 0 && (s->levels.len > 0 || s->alarm < INFINITY))
        step(s);
    flow_heap_clear(&s->levels);
    alarm_clear(s);
    close_rest(s);
}
