/*
 * stuck.c - the report of a deadlock or livelock: who waits in which call for whom, and the cycle.
 *
 * The engine does not know what its entities wait for: ops->explain fills in a line and, where an
 * entity needs one certain other, its number. Every process collects its part; parts that follow
 * each other in one buffer are reported together:
 *
 *     struct part | lines of its first LISTED blocked entities | edges, below CYCLE_SEARCH
 *
 * An entity may wait for several things, and has a line for each. Cycles follow from the edges
 * (cycles.h), so they may share entities.
 */
#include "engine/stuck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/units.h"
#include "engine/cycles.h"
#include "engine/waits.h"

#define LISTED 20             /* blocked entities described one by one */
#define CYCLES_LISTED 10      /* cycles printed */
#define CYCLE_SHOWN 12        /* members of a cycle printed */
#define SITE_TEXT 256         /* bytes of the text of where an object was created */
#define CYCLE_SEARCH 4000000u /* entities examined for cycles */
#define EDGES_MOST 16000000u  /* of a process; beyond that each entity has one */

enum { ENDED = -1 };

struct part {
    uint64_t blocked, done, all;
    uint64_t lines, edges;
};
struct line {
    uint32_t number;
    uint32_t which, of; /* thing that it waits for, of so many */
    vtime clock;
    struct engine_wait wait;
};
struct edge {
    uint32_t number;
    int32_t on; /* an entity it waits for, or ENDED: it has ended itself */
};

/* ---- what an entity waits for ---- */

struct engine_wait *engine_waits_add(struct engine_waits *w)
{
    struct engine_wait *next = w->count < ENGINE_WAITS ? &w->at[w->count] : NULL;

    w->count++;
    if (next) {
        memset(next, 0, sizeof *next);
        next->waits_on = -1;
    }
    return next;
}

void engine_waits_edge(struct engine_waits *w, int64_t on)
{
    for (uint32_t i = 0; i < w->edges; i++)
        if (w->on[i] == on)
            return;
    if (on >= 0 && w->edges < ENGINE_EDGES)
        w->on[w->edges++] = (int32_t)on;
}

/* ---- collecting ---- */

static void add_lines(struct buf *out, struct part *part, uint32_t number, vtime clock,
                      const struct engine_waits *w)
{
    struct line line = {.number = number, .of = w->count, .clock = clock};

    for (; line.which < w->count && line.which < ENGINE_WAITS; line.which++) {
        line.wait = w->at[line.which];
        buf_add(out, &line, sizeof line);
        part->lines++;
    }
}

static void add_edge(struct buf *edges, struct part *part, uint32_t number, int32_t on)
{
    struct edge edge = {number, on};

    if (number >= CYCLE_SEARCH)
        return;
    buf_add(edges, &edge, sizeof edge);
    part->edges++;
}

void engine_stuck_collect(struct engine *e, struct buf *out)
{
    size_t at = out->len;
    struct part part = {.done = e->done, .all = e->cfg.map.count + e->spawned};
    struct engine_waits *w = mem_alloc(sizeof *w);
    struct buf edges;

    buf_init(&edges);
    buf_add(out, &part, sizeof part);
    for (uint32_t i = 0; i < e->known; i++) {
        struct engine_entity *x = engine_entity_at(e, i);
        uint32_t number = rank_map_number(&e->cfg.map, i);

        if (x->state == ENGINE_DONE || x->lingers) {
            add_edge(&edges, &part, number, ENDED);
        } else if (engine_is_blocked(x) && (part.blocked++ < LISTED || number < CYCLE_SEARCH)) {
            w->count = w->edges = 0;
            e->cfg.ops->explain(e->cfg.owner, i, w);
            for (uint32_t k = 0; k < w->edges && (k == 0 || part.edges < EDGES_MOST); k++)
                add_edge(&edges, &part, number, w->on[k]);
            if (part.blocked <= LISTED)
                add_lines(out, &part, number, x->clock, w);
        }
    }
    buf_add(out, edges.data, edges.len);
    buf_fini(&edges);
    mem_free(w);
    memcpy(out->data + at, &part, sizeof part);
}

/* ---- reporting ---- */

struct report {
    struct line *lines; /* of all parts */
    size_t line_count;
    uint32_t known; /* numbers below are examined for cycles */
    uint8_t *ended; /* by number */
    uint64_t *row;  /* a graph of edges (cycles.h) */
    uint32_t *on;
    uint64_t blocked, done, all;
};

static void read_lines(struct report *r, const struct part *part, const char *from)
{
    r->lines = mem_realloc(r->lines, (r->line_count + part->lines) * sizeof *r->lines);
    memcpy(r->lines + r->line_count, from, part->lines * sizeof *r->lines);
    r->line_count += part->lines;
    r->blocked += part->blocked;
    r->done += part->done;
    r->all += part->all;
}

/* First counts the edges of each entity, in the row after its own; then, when `row` says where they
 * begin, puts them there. */
static void read_edges(struct report *r, const struct part *part, const char *from)
{
    for (uint64_t i = 0; i < part->edges; i++) {
        struct edge edge;

        memcpy(&edge, from + i * sizeof edge, sizeof edge);
        if (edge.on == ENDED)
            r->ended[edge.number] = 1;
        else if ((uint32_t)edge.on >= r->known)
            continue;
        else if (r->on)
            r->on[r->row[edge.number + 1]++] = (uint32_t)edge.on;
        else
            r->row[edge.number + 2]++;
    }
}

static void read_parts(struct report *r, const struct buf *parts)
{
    for (size_t at = 0; at < parts->len;) {
        struct part part;

        memcpy(&part, parts->data + at, sizeof part);
        at += sizeof part;
        if (!r->on)
            read_lines(r, &part, parts->data + at);
        at += part.lines * sizeof *r->lines;
        read_edges(r, &part, parts->data + at);
        at += part.edges * sizeof(struct edge);
    }
}

/* All parts, and the graph. */
static void read_report(struct report *r, const struct buf *parts)
{
    r->ended = mem_zalloc(r->known);
    r->row = mem_zalloc((r->known + 2) * sizeof *r->row);
    read_parts(r, parts);
    for (uint32_t i = 2; i < r->known + 2; i++)
        r->row[i] += r->row[i - 1];
    r->on = mem_alloc((r->row[r->known + 1] + 1) * sizeof *r->on);
    read_parts(r, parts);
}

static int by_number(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->which > y->which) - (x->which < y->which);
}

/* Unnamed objects, in order of appearance. */
struct things {
    const struct engine_wait *at[LISTED * ENGINE_WAITS];
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

static void print_things(const struct things *t, engine_stuck_locate *locate)
{
    struct things *so_far = mem_zalloc(sizeof *so_far);
    char text[SITE_TEXT];

    for (uint32_t i = 0; i < t->count; i++) {
        const struct engine_wait *w = t->at[i];

        log_note("  %s %u: %s%s%s", w->kind, number_of(so_far, w), w->made,
                 w->site[0] ? ", called at " : "",
                 w->site[0] ? locate(w->site, text, sizeof text) : "");
    }
    mem_free(so_far);
}

/* "  rank 0 at 1 us: MPI_Waitall waits for a message from rank 1", and below it "    and to send to
 * rank 2". */
static void print_line(struct report *r, const struct line *l, struct things *things)
{
    int64_t on = l->wait.waits_on;
    char when[64], about[48] = "";

    if (l->wait.kind[0])
        snprintf(about, sizeof about, ", %s %u", l->wait.kind, number_of(things, &l->wait));
    units_format_time(when, sizeof when, l->clock);
    if (l->which == 0)
        log_note("  rank %u at %s: %s%s", l->number, when, l->wait.text, about);
    else
        log_note("    %s%s", l->wait.text, about);
    if (on >= 0 && on < r->known && r->ended[on])
        log_note("    (rank %lld has ended)", (long long)on);
    if (l->which + 1 == ENGINE_WAITS && l->of > ENGINE_WAITS)
        log_note("    and %u more requests", l->of - ENGINE_WAITS);
}

static void print_lines(struct report *r, engine_stuck_locate *locate)
{
    struct things *things = mem_zalloc(sizeof *things);
    uint32_t ranks = 0;

    qsort(r->lines, r->line_count, sizeof *r->lines, by_number);
    for (size_t i = 0; i < r->line_count; i++) {
        ranks += r->lines[i].which == 0;
        if (ranks <= LISTED)
            print_line(r, &r->lines[i], things);
    }
    if (r->blocked > LISTED)
        log_note("  ... and %llu more blocked ranks", (unsigned long long)(r->blocked - LISTED));
    print_things(things, locate);
    mem_free(things);
}

/* `context` counts the cycles. */
static void print_cycle(void *context, const uint32_t *members, uint32_t count)
{
    uint32_t *listed = context;
    struct buf b;

    if (++*listed > CYCLES_LISTED)
        return;
    buf_init(&b);
    for (uint32_t i = 0; i < count && i < CYCLE_SHOWN; i++)
        buf_addf(&b, "%u -> ", members[i]);
    if (count > CYCLE_SHOWN)
        buf_addf(&b, "... -> ");
    log_note("  cycle of %u: rank %s%u", count, buf_str(&b), members[0]);
    buf_fini(&b);
}

static void print_cycles(const struct report *r)
{
    struct cycles_graph graph = {r->known, r->row, r->on};
    uint32_t listed = 0;
    struct cycles_found found = cycles_find(&graph, print_cycle, &listed);

    if (found.count > CYCLES_LISTED)
        log_note("  ... and %s%llu more cycles", found.is_all ? "" : "at least ",
                 (unsigned long long)(found.count - CYCLES_LISTED));
    else if (!found.is_all)
        log_note("  ... and perhaps more cycles");
}

void engine_stuck_report(enum engine_end end, uint32_t world, const struct buf *parts,
                         engine_stuck_locate *locate)
{
    struct report r = {.known = world < CYCLE_SEARCH ? world : CYCLE_SEARCH};

    read_report(&r, parts);
    if (end == ENGINE_END_LIVELOCK)
        log_error("livelock: every rank only polls and no message is in flight; "
                  "see --idle-limit");
    else
        log_error("deadlock: no rank can continue and no message is in flight");
    print_lines(&r, locate);
    print_cycles(&r);
    log_note("  %llu of %llu ranks blocked, %llu ended", (unsigned long long)r.blocked,
             (unsigned long long)r.all, (unsigned long long)r.done);
    mem_free(r.lines);
    mem_free(r.ended);
    mem_free(r.row);
    mem_free(r.on);
}
