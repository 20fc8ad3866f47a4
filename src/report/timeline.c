/*
 * timeline.c - reads the trace once for what is needed first (its end, which functions are called),
 * once for the grid, and once or a few times for the calls: memory does not grow with them.
 */
#include "report/timeline.h"

#include <string.h>

#include "base/mem.h"
#include "base/vtime.h"
#include "report/call_blocks.h"

#define UNITS_MOST ((int64_t)1 << 31) /* the front end keeps times in 32 bits */
#define COARSER 8

/* Reads the next call of a thread; 0 at the end. */
static int next_call(struct trace_cursor *c, struct trace_event *e)
{
    struct err err;
    int more;
    while ((more = trace_cursor_next(c, e, &err)) != 0)
        if (more > 0 && e->head == TRACE_CALL)
            return 1;
    return 0;
}

/* ---- the first pass ---- */

static double seconds(const struct timeline *t, int64_t ticks)
{
    return (double)ticks * (double)t->trace->header.tick / (double)VTIME_S;
}

static void count_call(struct timeline *t, uint64_t rank, const enum report_kind *kinds,
                       const struct trace_event *e, int *some)
{
    double *sums = t->kinds + rank * REPORT_KINDS;
    double enter = seconds(t, e->enter), leave = seconds(t, e->leave);
    if (!t->number[e->fn]) {
        t->function[t->function_count++] = e->fn;
        t->number[e->fn] = t->function_count;
    }
    t->begin = t->calls++ == 0 || e->enter < t->begin ? e->enter : t->begin;
    t->end = e->leave > t->end ? e->leave : t->end;
    sums[kinds[e->fn]] += leave > enter ? leave - enter : 0;
    t->from[rank] = !*some || enter < t->from[rank] ? enter : t->from[rank];
    t->to[rank] = !*some || leave > t->to[rank] ? leave : t->to[rank];
    *some = 1;
}

static void count_rank(struct timeline *t, uint64_t rank, const enum report_kind *kinds)
{
    struct trace_event e;
    int some = 0;
    for (unsigned thread = 0, count = trace_threads(t->trace, rank); thread < count; thread++) {
        struct trace_cursor c;
        trace_cursor_open(&c, t->trace, rank, thread, TRACE_RECORDS);
        while (next_call(&c, &e))
            count_call(t, rank, kinds, &e, &some);
        trace_cursor_close(&c);
    }
    double *sums = t->kinds + rank * REPORT_KINDS, mpi = 0, all = t->to[rank] - t->from[rank];
    for (unsigned k = REPORT_COMPUTE + 1; k < REPORT_KINDS; k++)
        mpi += sums[k];
    sums[REPORT_COMPUTE] = all > mpi ? all - mpi : 0;
}

static enum report_kind *make_kinds(const struct trace_schema *schema)
{
    enum report_kind *kinds = mem_alloc(schema->count * sizeof *kinds);
    for (unsigned i = 0; i < schema->count; i++)
        kinds[i] = report_kind_of(&schema->fns[i]);
    return kinds;
}

void timeline_init(struct timeline *t, struct trace *trace)
{
    uint64_t ranks = trace->header.ranks;
    const struct trace_schema *schema = trace->header.schema;
    enum report_kind *kinds = make_kinds(schema);
    memset(t, 0, sizeof *t);
    t->trace = trace;
    t->number = mem_zalloc(schema->count * sizeof *t->number);
    t->function = mem_zalloc(schema->count * sizeof *t->function);
    t->kinds = mem_zalloc(ranks * REPORT_KINDS * sizeof *t->kinds);
    t->from = mem_zalloc(ranks * sizeof *t->from);
    t->to = mem_zalloc(ranks * sizeof *t->to);
    for (uint64_t rank = 0; rank < ranks; rank++)
        count_rank(t, rank, kinds);
    t->end = t->end > 0 ? t->end : 1;
    t->unit = (t->end + UNITS_MOST - 1) / UNITS_MOST;
    mem_free(kinds);
}

void timeline_fini(struct timeline *t)
{
    mem_free(t->number);
    mem_free(t->function);
    mem_free(t->kinds);
    mem_free(t->from);
    mem_free(t->to);
}

/* ---- overview ---- */

static void add_rank(struct timeline *t, struct grid *g, uint64_t rank,
                     const enum report_kind *kinds)
{
    struct trace_event e;
    int64_t from = INT64_MAX, to = 0;
    for (unsigned thread = 0, count = trace_threads(t->trace, rank); thread < count; thread++) {
        struct trace_cursor c;
        trace_cursor_open(&c, t->trace, rank, thread, TRACE_RECORDS);
        while (next_call(&c, &e)) {
            grid_add(g, kinds[e.fn], e.enter, e.leave);
            from = e.enter < from ? e.enter : from;
            to = e.leave > to ? e.leave : to;
        }
        trace_cursor_close(&c);
    }
    if (from < to)
        grid_add(g, REPORT_COMPUTE, from, to);
    grid_end_rank(g, rank);
}

void timeline_grid(struct timeline *t, int64_t end, uint64_t cells, struct grid *g)
{
    enum report_kind *kinds = make_kinds(t->trace->header.schema);
    grid_init(g, t->trace->header.ranks, t->calls, end, cells);
    for (uint64_t rank = 0; rank < t->trace->header.ranks; rank++)
        add_rank(t, g, rank, kinds);
    mem_free(kinds);
}

static void write_grids(struct timeline *t, int64_t end, uint64_t cells, struct chunks *chunks,
                        struct json *json)
{
    struct grid g;
    timeline_grid(t, end, cells, &g);
    grid_write(&g, chunks, json);
    grid_fini(&g);
}

/* ---- details ---- */

/* Whether all calls fit into that many bytes. */
static int try_calls(struct timeline *t, struct calls *c, size_t most)
{
    struct trace_event e;
    size_t before = c->chunks->text.len;
    for (uint64_t rank = 0; rank < t->trace->header.ranks; rank++) {
        for (unsigned thread = 0, n = trace_threads(t->trace, rank); thread < n; thread++) {
            struct trace_cursor cursor;
            trace_cursor_open(&cursor, t->trace, rank, thread, TRACE_RECORDS);
            calls_begin(c, rank, thread);
            while (next_call(&cursor, &e) && c->chunks->text.len - before <= most)
                calls_add(c, t->number[e.fn] - 1, e.enter, e.leave);
            trace_cursor_close(&cursor);
        }
        if (c->chunks->text.len - before > most)
            return 0;
    }
    calls_end(c);
    return c->chunks->text.len - before <= most;
}

/* The unit of time grows until all calls fit. They do at the latest when the whole time is one
 * unit, and a thread one call. */
static void write_calls(struct timeline *t, size_t most, struct chunks *chunks, struct json *json)
{
    struct chunks_mark mark = chunks_mark(chunks);
    struct calls c;
    calls_init(&c, chunks, t->unit);
    while (!try_calls(t, &c, most) && t->unit <= t->end) {
        calls_fini(&c);
        chunks_revert(chunks, mark);
        t->unit *= COARSER;
        calls_init(&c, chunks, t->unit);
    }
    json_key(json, "calls");
    json_object_begin(json);
    json_key(json, "all");
    json_uint(json, t->calls);
    json_key(json, "kept");
    json_uint(json, c.kept);
    json_key(json, "blocks");
    calls_write(&c, json);
    json_object_end(json);
    calls_fini(&c);
}

void timeline_write(struct timeline *t, size_t most, uint64_t cells, struct chunks *chunks,
                    struct json *json)
{
    write_calls(t, most, chunks, json);
    int64_t units = (t->end + t->unit - 1) / t->unit;
    json_key(json, "unit");
    json_double(json, seconds(t, t->unit));
    json_key(json, "end");
    json_int(json, units);
    json_key(json, "grids");
    if (t->calls < TIMELINE_GRID_FROM) {
        json_array_begin(json);
        json_array_end(json);
    } else {
        write_grids(t, units * t->unit, cells, chunks, json);
    }
}
