/*
 * regions.c - see regions.h.
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

static void take(struct walk *w, const struct trace_event *e, int64_t tick)
{
    struct cli_region *here = &w->regions->items[w->depth ? w->inside[w->depth - 1] : 0];
    int64_t leave = e->leave * tick, enter = e->head == TRACE_CALL ? e->enter * tick : leave;
    here->compute += enter > w->last ? enter - w->last : 0;
    here->mpi += leave - enter;
    w->last = leave;
    if (e->head == TRACE_REGION_ENTER) {
        size_t entered = region_of(w, e);
        ARRAY_EXTEND(w->inside, w->depth);
        w->inside[w->depth++] = entered;
        w->regions->items[entered].visits++;
    } else if (e->head == TRACE_REGION_LEAVE && w->depth > 0) {
        w->depth--;
    }
}

static void read_rank(struct cli_regions *r, struct trace *t, uint64_t rank)
{
    struct trace_local locals;
    trace_local_read(&locals, t, rank);
    struct walk w = {.regions = r, .locals = &locals};
    w.numbers = mem_zalloc((locals.tables[TRACE_DEFINE_NAME].count + 1) * sizeof *w.numbers);
    for (unsigned thread = 0; thread < trace_threads(t, rank); thread++) {
        struct trace_cursor c;
        struct trace_event e;
        struct err err;
        int more;
        w.depth = 0;
        w.last = INT64_MAX; /* what comes before the first record is nothing */
        trace_cursor_open(&c, t, rank, thread, TRACE_RECORDS);
        while ((more = trace_cursor_next(&c, &e, &err)) != 0)
            if (more > 0)
                take(&w, &e, (int64_t)t->header.tick);
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
    for (uint64_t rank = 0; rank < t.header.ranks; rank++)
        read_rank(r, &t, rank);
    trace_close(&t);
    return 0;
}
