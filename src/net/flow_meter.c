/*
 * flow_meter.c - what links carry over time, for those who watch a run.
 *
 * A flow that leaves its bundle adds to each of its links, bin by bin, what it moved in that
 * bundle. The bundle's clock of bytes served says how much that is at any time, if its past is
 * known at the edges of bins:
 *
 *     served  |          ...x---x---x         x: points of the history, at edges; between two the
 *             |    x--x..                     rate was constant, or (...) they are in one bin
 *
 * So a change of the rate costs nothing per flow, and a bundle whose rate never changed has no
 * history. Bins may become wider meanwhile: edges of wide bins are edges of narrow ones.
 *
 * Bytes are counted as whole numbers, rounded down at every edge, so that a flow adds exactly its
 * bytes to each of its links.
 */
#include <assert.h>
#include <math.h>

#include "net/flow_internal.h"

#define SOME 32 /* links that are counted at a time */

static struct flow_metered *metered(struct flow *f)
{
    return (struct flow_metered *)(f->legs + f->leg_count);
}

static struct flow_history *history(struct flow_bundle *b)
{
    return (struct flow_history *)(b->hops + b->hop_count);
}

/* ---- bundles ---- */

void flow_meter_begin(struct flow_bundle *b)
{
    *history(b) = (struct flow_history){0};
}

void flow_meter_forget(struct flow_bundle *b)
{
    mem_free(history(b)->points);
}

static void add_point(struct flow_bundle *b, vtime t)
{
    struct flow_history *h = history(b);

    if (h->count > 0 && h->points[h->count - 1].t >= t)
        return;
    ARRAY_RESERVE(h->points, h->room, h->count + 1, 4);
    h->points[h->count++] = (struct flow_point){t, flow_bundle_served(b, t)};
}

/* The rate has been constant since b->since: the first and the last edge since then. */
void flow_meter_turn(struct flow_solver *s, struct flow_bundle *b)
{
    vtime width = (vtime)s->meter->width;
    vtime first = (b->since + width - 1) / width * width, last = s->now / width * width;

    if (first > last)
        return;
    add_point(b, first);
    add_point(b, last);
}

/* The last point at or before an edge that lies before the last change of the rate. */
static const struct flow_point *point_before(const struct flow_history *h, vtime t)
{
    uint32_t low = 0, high = h->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (h->points[middle].t <= t)
            low = middle + 1;
        else
            high = middle;
    }
    assert(low > 0);
    return h->points + low - 1;
}

/* What a bundle had served each flow at an edge, or now. */
static double served_then(struct flow_bundle *b, vtime edge)
{
    const struct flow_history *h = history(b);
    const struct flow_point *p;

    if (edge >= b->since)
        return flow_bundle_served(b, edge);
    p = point_before(h, edge);
    if (p->t == edge)
        return p->served;
    return p->served +
           (p[1].served - p->served) * ((double)(edge - p->t) / (double)(p[1].t - p->t));
}

/* ---- flows ---- */

void flow_meter_start(struct flow_solver *s, struct flow *f, uint64_t bytes)
{
    *metered(f) = (struct flow_metered){.bytes = bytes, .start = s->now};
}

void flow_meter_join(struct flow_solver *s, struct flow *f, double left)
{
    struct flow_metered *m = metered(f);

    m->joined = s->now;
    m->before = (double)m->bytes - left;
    m->at_join = flow_bundle_served(f->bundle, s->now);
}

/* By the end of the bin that ends at `edge`, or is cut short there, it has moved so many bytes. */
static void count(struct flow_solver *s, struct flow *f, vtime edge, double moved)
{
    struct flow_metered *m = metered(f);
    uint64_t whole = moved >= (double)m->bytes ? m->bytes : moved > 0 ? (uint64_t)moved : 0;
    uint64_t t = (uint64_t)(edge > m->start ? edge - 1 : m->start), more = whole - m->counted;
    uint32_t links[SOME], known = 0;

    if (whole <= m->counted)
        return;
    m->counted = whole;
    for (uint32_t i = 0; i < f->leg_count; i++) {
        if (f->legs[i].link->order < s->metered)
            links[known++] = (uint32_t)f->legs[i].link->order;
        if (known == SOME || i + 1 == f->leg_count) {
            bins_add_all(s->meter, links, known, t, t, more);
            known = 0;
        }
    }
}

void flow_meter_quit(struct flow_solver *s, struct flow *f)
{
    struct flow_metered *m = metered(f);

    for (vtime at = m->joined; at < s->now;) {
        vtime width = (vtime)s->meter->width, edge = (at / width + 1) * width;

        at = edge < s->now ? edge : s->now;
        count(s, f, at, m->before + served_then(f->bundle, at) - m->at_join);
    }
}

void flow_meter_end(struct flow_solver *s, struct flow *f)
{
    count(s, f, s->now, INFINITY);
}
