/*
 * regions.c - adds up the time that ranks spend in each region (see regions.h).
 */
#include "cli/regions.h"

#include <string.h>

#include "base/array.h"
#include "trace/local.h"

/* ---- names ---- */

static size_t index_of(const struct cli_regions *r, const char *name)
{
    size_t i = 0;
    while (i < r->count && strcmp(r->items[i].name, name) != 0)
        i++;
    return i;
}

const struct cli_region *cli_regions_find(const struct cli_regions *r, const char *name)
{
    size_t i = index_of(r, name);
    return i < r->count ? &r->items[i] : NULL;
}

static size_t add_name(struct cli_regions *r, const char *name)
{
    size_t i = index_of(r, name);
    if (i < r->count)
        return i;
    ARRAY_EXTEND(r->items, r->count);
    r->items[r->count++] = (struct cli_region){.name = mem_strdup(name)};
    return i;
}

void cli_regions_fini(struct cli_regions *r)
{
    for (size_t i = 0; i < r->count; i++)
        mem_free(r->items[i].name);
    mem_free(r->items);
    *r = (struct cli_regions){0};
}

/* ---- records ---- */

/* Where a thread of a rank is. */
struct walk {
    struct cli_regions *regions;
    int64_t tick; /* in picoseconds */
    const struct trace_local *locals;
    size_t *numbers; /* of names, by local number: index + 1; 0: not looked up yet */
    size_t *inside;  /* the regions that were entered, the outermost first */
    size_t depth;
    int64_t last; /* when the last record ended */
};

static size_t region_of(struct walk *w, const struct trace_event *e)
{
    uint64_t number;
    const struct trace_table *names = &w->locals->tables[TRACE_DEFINE_NAME];
    if (!trace_varint_get(e->payload, e->payload + e->bytes, &number) || number >= names->count)
        return 0;
    if (!w->numbers[number])
        w->numbers[number] = 1 + add_name(w->regions, names->items[number].kind
                                                          ? names->items[number].text
                                                          : "");
    return w->numbers[number] - 1;
}

/* When a call was entered, in ticks; -1: the record is none. */
static int64_t entered_at(const struct trace_event *e)
{
    uint64_t fn, time;
    const uint8_t *end = e->payload + e->bytes, *at;
    if (e->head == TRACE_CALL)
        return e->enter;
    if (e->head != TRACE_OPEN || !(at = trace_varint_get(e->payload, end, &fn)) ||
        !trace_varint_get(at, end, &time) || time > (uint64_t)e->leave)
        return -1;
    return e->leave - (int64_t)time;
}

static void take(struct walk *w, const struct trace_event *e)
{
    struct cli_region *here = &w->regions->items[w->depth ? w->inside[w->depth - 1] : 0];
    int64_t entered = entered_at(e), leave = e->leave * w->tick,
            enter = entered < 0 ? leave : entered * w->tick;
    here->compute += enter > w->last ? enter - w->last : 0;
    here->mpi += leave - enter;
    w->last = leave > w->last || w->last == INT64_MAX ? leave : w->last;
    if (e->head == TRACE_REGION_ENTER) {
        size_t entered = region_of(w, e);
        ARRAY_EXTEND(w->inside, w->depth);
        w->inside[w->depth++] = entered;
        w->regions->items[entered].visits++;
    } else if (e->head == TRACE_REGION_LEAVE && w->depth > 0) {
        w->depth--;
    }
}

/* When the first call of a thread was entered, in ticks; INT64_MAX: it has made none. */
static int64_t first_call(struct trace *t, uint64_t rank, unsigned thread)
{
    struct trace_cursor c;
    struct trace_event e;
    struct err err;
    int64_t entered = -1;
    int more;
    trace_cursor_open(&c, t, rank, thread, TRACE_RECORDS);
    while (entered < 0 && (more = trace_cursor_next(&c, &e, &err)) != 0)
        entered = more > 0 ? entered_at(&e) : -1;
    trace_cursor_close(&c);
    return entered < 0 ? INT64_MAX : entered;
}

/* When the first rank calls MPI: all ranks compute from there on. */
static int64_t begin_of(struct trace *t)
{
    int64_t begin = INT64_MAX;
    for (uint64_t rank = 0; rank < t->header.ranks; rank++)
        for (unsigned thread = 0; thread < trace_threads(t, rank); thread++) {
            int64_t entered = first_call(t, rank, thread);
            begin = entered < begin ? entered : begin;
        }
    return begin == INT64_MAX ? 0 : begin;
}

static void read_rank(struct cli_regions *r, struct trace *t, uint64_t rank, int64_t begin)
{
    struct trace_local locals;
    trace_local_read(&locals, t, rank);
    struct walk w = {.regions = r, .tick = (int64_t)t->header.tick, .locals = &locals};
    w.numbers = mem_zalloc((locals.tables[TRACE_DEFINE_NAME].count + 1) * sizeof *w.numbers);
    for (unsigned thread = 0; thread < trace_threads(t, rank); thread++) {
        struct trace_cursor c;
        struct trace_event e;
        struct err err;
        int more;
        w.depth = 0;
        /* Nobody knows when a further thread began. */
        w.last = thread ? INT64_MAX : begin * w.tick;
        r->is_threaded |= thread > 0;
        trace_cursor_open(&c, t, rank, thread, TRACE_RECORDS);
        while ((more = trace_cursor_next(&c, &e, &err)) != 0)
            if (more > 0)
                take(&w, &e);
        trace_cursor_close(&c);
    }
    mem_free(w.numbers);
    mem_free(w.inside);
    trace_local_fini(&locals);
}

int cli_regions_read(struct cli_regions *r, const char *path, struct err *err)
{
    struct trace t;
    *r = (struct cli_regions){0};
    int rc = trace_open(&t, path, err);
    if (rc)
        return rc;
    add_name(r, "");
    int64_t begin = begin_of(&t);
    for (uint64_t rank = 0; rank < t.header.ranks; rank++)
        read_rank(r, &t, rank, begin);
    trace_close(&t);
    return 0;
}
