/*
 * stuck.c - the report of a deadlock or livelock: who waits in which call for whom, and the cycle.
 *
 * The engine does not know what its entities wait for: ops->explain fills in a line and, where an
 * entity needs one certain other, its number. Every process collects its part; parts that follow
 * each other in one buffer are reported together:
 *
 *     struct part | its first LISTED blocked entities | edge of each entity below CYCLE_SEARCH
 *
 * An entity waits for at most one other, so following the edges from any of them ends in a cycle or
 * at one that waits for no particular entity (or has ended), and no two cycles share an entity.
 */
#include "engine/stuck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/units.h"

#define LISTED 20             /* blocked entities described one by one */
#define CYCLES_LISTED 10      /* cycles printed */
#define CYCLE_SHOWN 12        /* members of a cycle printed */
#define CYCLE_SEARCH 4000000u /* entities examined for cycles */

enum { NOBODY = -1, ENDED = -2 };

struct part {
    uint64_t blocked, done, all;
    uint64_t lines, edges;
};
struct line {
    uint32_t number;
    vtime clock;
    struct engine_wait wait;
};
struct edge {
    uint32_t number;
    int32_t on; /* the entity it waits for, NOBODY in particular, or ENDED: it has ended itself */
};

/* ---- collecting ---- */

static void explain(struct engine *e, uint32_t index, struct engine_wait *w)
{
    memset(w, 0, sizeof *w);
    w->waits_on = NOBODY;
    e->cfg.ops->explain(e->cfg.owner, index, w);
}

void engine_stuck_collect(struct engine *e, struct buf *out)
{
    size_t at = out->len;
    struct part part = {.done = e->done, .all = e->cfg.map.count + e->spawned};
    struct line line;
    struct buf edges;

    memset(&line, 0, sizeof line);
    buf_init(&edges);
    buf_add(out, &part, sizeof part);
    for (uint32_t i = 0; i < e->known; i++) {
        struct engine_entity *x = engine_entity_at(e, i);
        struct edge edge = {rank_map_number(&e->cfg.map, i), NOBODY};
        int searched = edge.number < CYCLE_SEARCH;

        if (x->state == ENGINE_DONE || x->lingers)
            edge.on = ENDED;
        else if (x->state == ENGINE_BLOCKED && (part.blocked++ < LISTED || searched)) {
            explain(e, i, &line.wait);
            edge.on = (int32_t)line.wait.waits_on;
            if (part.lines < LISTED) {
                line.number = edge.number;
                line.clock = x->clock;
                buf_add(out, &line, sizeof line);
                part.lines++;
            }
        }
        if (searched) {
            buf_add(&edges, &edge, sizeof edge);
            part.edges++;
        }
    }
    buf_add(out, edges.data, edges.len);
    buf_fini(&edges);
    memcpy(out->data + at, &part, sizeof part);
}

/* ---- reporting ---- */

struct report {
    struct line *lines; /* of all parts */
    size_t line_count;
    int32_t *on; /* by number, `known` of them */
    uint32_t known;
    uint64_t blocked, done, all;
};

static void read_parts(struct report *r, const struct buf *parts)
{
    size_t at = 0;

    while (at < parts->len) {
        struct part part;
        struct edge edge;

        memcpy(&part, parts->data + at, sizeof part);
        at += sizeof part;
        r->lines = mem_realloc(r->lines, (r->line_count + part.lines) * sizeof *r->lines);
        memcpy(r->lines + r->line_count, parts->data + at, part.lines * sizeof *r->lines);
        at += part.lines * sizeof *r->lines;
        r->line_count += part.lines;
        for (uint64_t i = 0; i < part.edges; i++, at += sizeof edge) {
            memcpy(&edge, parts->data + at, sizeof edge);
            r->on[edge.number] = edge.on;
        }
        r->blocked += part.blocked;
        r->done += part.done;
        r->all += part.all;
    }
}

static int by_number(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/* Unnamed objects, in order of appearance. */
struct things {
    const struct engine_wait *at[LISTED];
    uint32_t count;
};

/* Its number among the objects of its kind, from 1. */
static uint32_t number_of(struct things *t, const struct engine_wait *w)
{
    uint32_t number = 1;

    for (uint32_t i = 0; i < t->count; i++) {
        if (strcmp(t->at[i]->kind, w->kind) != 0)
            continue;
        if (t->at[i]->identity == w->identity)
            return number;
        number++;
    }
    t->at[t->count++] = w;
    return number;
}

static void print_things(const struct things *t)
{
    struct things so_far = {.count = 0};

    for (uint32_t i = 0; i < t->count; i++)
        log_note("  %s %u: %s", t->at[i]->kind, number_of(&so_far, t->at[i]), t->at[i]->made);
}

static void print_lines(struct report *r)
{
    struct things things = {.count = 0};
    char when[64], about[48];

    qsort(r->lines, r->line_count, sizeof *r->lines, by_number);
    for (size_t i = 0; i < r->line_count && i < LISTED; i++) {
        const struct line *l = &r->lines[i];
        int64_t on = l->wait.waits_on;

        about[0] = '\0';
        if (l->wait.kind[0])
            snprintf(about, sizeof about, ", %s %u", l->wait.kind, number_of(&things, &l->wait));
        units_format_time(when, sizeof when, l->clock);
        log_note("  rank %u at %s: %s%s", l->number, when, l->wait.text, about);
        if (on >= 0 && on < r->known && r->on[on] == ENDED)
            log_note("    (rank %lld has ended)", (long long)on);
    }
    if (r->blocked > LISTED)
        log_note("  ... and %llu more blocked ranks", (unsigned long long)(r->blocked - LISTED));
    print_things(&things);
}

static void print_cycle(const int32_t *on, int32_t start)
{
    struct buf b;
    int32_t at = start;
    uint32_t n = 0;

    buf_init(&b);
    do {
        if (n < CYCLE_SHOWN)
            buf_addf(&b, "%d -> ", at);
        at = on[at];
        n++;
    } while (at != start);
    if (n > CYCLE_SHOWN)
        buf_addf(&b, "... -> ");
    log_note("  cycle of %u: rank %s%d", n, buf_str(&b), start);
    buf_fini(&b);
}

/* seen[i]: 0, or 1 + the start of the walk that visited i. */
static void find_cycles(const struct report *r)
{
    uint32_t *seen = mem_zalloc(r->known * sizeof *seen), found = 0;

    for (uint32_t i = 0; i < r->known; i++) {
        int32_t at = (int32_t)i;

        while (at >= 0 && (uint32_t)at < r->known && seen[at] == 0) {
            seen[at] = i + 1;
            at = r->on[at];
        }
        if (at >= 0 && (uint32_t)at < r->known && seen[at] == i + 1 && found++ < CYCLES_LISTED)
            print_cycle(r->on, at);
    }
    if (found > CYCLES_LISTED)
        log_note("  ... and %u more cycles", found - CYCLES_LISTED);
    mem_free(seen);
}

void engine_stuck_report(enum engine_end end, uint32_t world, const struct buf *parts)
{
    struct report r = {.known = world < CYCLE_SEARCH ? world : CYCLE_SEARCH};

    r.on = mem_alloc(r.known * sizeof *r.on);
    for (uint32_t i = 0; i < r.known; i++)
        r.on[i] = NOBODY;
    read_parts(&r, parts);
    if (end == ENGINE_END_LIVELOCK)
        log_error("livelock: every rank only polls and no message is on its way; "
                  "see --idle-limit");
    else
        log_error("deadlock: no rank can go on and no message is on its way");
    print_lines(&r);
    find_cycles(&r);
    log_note("  %llu of %llu ranks blocked, %llu ended", (unsigned long long)r.blocked,
             (unsigned long long)r.all, (unsigned long long)r.done);
    mem_free(r.lines);
    mem_free(r.on);
}
