/*
 * stage.c - the stages of a rank, from the trace to the last hypothesis; and what kinds share.
 */
#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "whatif/whatif.h"

/* ---- the first stage ---- */

struct source {
    struct whatif_stage stage;
    struct trace_cursor cursor;
    struct trace_event event;
    int64_t last; /* when the last record ended, in picoseconds */
};

int whatif_trace_next(struct whatif_stage *s, struct whatif_item *item, struct err *err)
{
    struct source *source = (struct source *)s;
    struct trace_event *e = &source->event;
    int64_t tick = (int64_t)s->rank->trace->header.tick;
    int more = trace_cursor_next(&source->cursor, e, err);
    if (more <= 0)
        return more;
    int64_t leave = e->leave * tick, enter = e->head == TRACE_CALL ? e->enter * tick : leave;
    *item = (struct whatif_item){.event = e,
                                 .gap = enter > source->last ? enter - source->last : 0,
                                 .duration = leave - enter};
    source->last = leave;
    return 1;
}

struct whatif_stage *whatif_open(struct whatif_rank *rank, size_t count)
{
    if (count == 0) {
        struct source *source = mem_zalloc(sizeof *source);
        source->stage.rank = rank;
        trace_cursor_open(&source->cursor, rank->trace, rank->rank, rank->thread, TRACE_RECORDS);
        return &source->stage;
    }
    const struct whatif *what = &rank->list->items[count - 1];
    struct whatif_stage *s = mem_zalloc(what->kind->bytes);
    s->what = what;
    s->rank = rank;
    s->before = whatif_open(rank, count - 1);
    s->ahead = what->kind->looks_ahead ? whatif_open(rank, count - 1) : NULL;
    return s;
}

void whatif_close(struct whatif_stage *s)
{
    if (!s)
        return;
    if (!s->what)
        trace_cursor_close(&((struct source *)s)->cursor);
    else if (s->what->kind->close)
        s->what->kind->close(s);
    whatif_close(s->before);
    whatif_close(s->ahead);
    mem_free(s);
}

int whatif_learn(struct whatif_list *list, struct trace *t, struct err *err)
{
    list->shapes = calls_of(t->header.schema);
    for (size_t i = 0; i < list->count; i++) {
        const struct whatif_kind *kind = list->items[i].kind;
        if (kind->learn && kind->learn(&list->items[i], t, list, i, err) != 0)
            return err->code;
        if (whatif_find_hit(list, i, t, err) != 0)
            return err->code;
    }
    return 0;
}

/* ---- what kinds share ---- */

struct whatif_rank whatif_rank_of(const struct whatif_list *list, struct trace *t, uint64_t rank,
                                  unsigned thread, const struct trace_local *locals)
{
    return (struct whatif_rank){.trace = t,
                                .locals = locals,
                                .rank = rank,
                                .thread = thread,
                                .list = list,
                                .byte_type = whatif_byte_type(locals)};
}

int whatif_in(const struct whatif_set *set, int64_t value)
{
    for (size_t i = 0; i < set->count; i++)
        if (value >= set->ranges[i].first && value <= set->ranges[i].last)
            return 1;
    return set->count == 0;
}

int whatif_is_about(const struct whatif *what, const struct trace *t, uint64_t rank)
{
    const struct trace_definitions *d = &t->definitions;
    return whatif_in(&what->ranks, (int64_t)rank) &&
           (what->nodes.count == 0 ||
            (d->nodes && rank < d->nodes_known && whatif_in(&what->nodes, d->nodes[rank])));
}

int64_t whatif_byte_type(const struct trace_local *locals)
{
    const struct trace_table *table = &locals->tables[TRACE_DEFINE_TYPE];
    for (size_t i = 0; i < table->count; i++)
        if (table->items[i].kind && strcmp(table->items[i].text, "MPI_BYTE") == 0)
            return (int64_t)i;
    return (int64_t)table->count;
}

int64_t whatif_type_size(const struct whatif_rank *r, int64_t type)
{
    const struct trace_local_item *item = trace_local_find(r->locals, TRACE_DEFINE_TYPE, type);
    return item ? (int64_t)item->size : type == r->byte_type;
}

int whatif_matches(const char *pattern, const char *text)
{
    return !pattern || fnmatch(pattern, text, 0) == 0;
}

const char *whatif_region(const struct whatif_rank *r, const struct trace_event *e)
{
    uint64_t number;
    if (e->head != TRACE_REGION_ENTER ||
        !trace_varint_get(e->payload, e->payload + e->bytes, &number))
        return "";
    const struct trace_local_item *item = trace_local_find(r->locals, TRACE_DEFINE_NAME,
                                                           (int64_t)number);
    return item ? item->text : "";
}

const char *whatif_function(const struct whatif_rank *r, const struct trace_event *e)
{
    return e->head == TRACE_CALL ? r->trace->header.schema->fns[e->fn].name : "";
}

const struct mpi_effect *whatif_effect(const struct whatif_rank *r, const struct trace_event *e)
{
    static const struct mpi_effect nothing = MPI_EFFECT_UNKNOWN;
    return e->head == TRACE_CALL ? &r->list->shapes[e->fn] : &nothing;
}

struct trace_value *whatif_arg(const struct whatif_rank *r, struct trace_event *e, const char *name)
{
    if (e->head != TRACE_CALL)
        return NULL;
    int at = calls_arg(&r->trace->header.schema->fns[e->fn], name);
    return at >= 0 && (unsigned)at < e->argc ? &e->args[at] : NULL;
}

int64_t whatif_world_rank(const struct whatif_rank *r, int64_t comm, int64_t peer)
{
    const struct trace_local_item *item = trace_local_find(r->locals, TRACE_DEFINE_COMM, comm);
    const struct trace_comm *c = item ? trace_definitions_comm(&r->trace->definitions,
                                                               item->identity)
                                      : NULL;
    if (peer < 0 || !c) /* or MPI_COMM_WORLD of the first ranks, which is not defined */
        return comm == TRACE_LOCAL_SELF ? (int64_t)r->rank : peer;
    int is_mine = item->rank >= 0 && (uint64_t)item->rank < c->size &&
                  (c->ranks ? c->ranks[item->rank] : item->rank) == (int64_t)r->rank;
    int is_other = c->kind == TRACE_COMM_INTER && is_mine;
    const int64_t *peers = is_other ? c->others : c->ranks;
    uint64_t size = is_other ? c->other_size : c->size;
    return peers && (uint64_t)peer < size ? peers[peer] : peer;
}
