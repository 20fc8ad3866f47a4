/*
 * walk.c - visits the records of a trace in the order that a format needs (see walk.h).
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "formats/walk.h"

static int visit_thread(struct walk *w, const struct walk_visitor *v, void *state, struct err *err)
{
    struct trace_cursor c;
    struct trace_event e;
    int more, rc = v->thread ? v->thread(state, w, err) : 0;
    trace_cursor_open(&c, w->trace, w->rank, w->thread, TRACE_RECORDS);
    while (rc == 0 && (more = trace_cursor_next(&c, &e, err)) != 0) {
        if (more < 0) {
            format_note(w->notes, "rank %llu: %s", (unsigned long long)w->rank, err->text);
            continue;
        }
        actions_of(&w->actions, &e);
        if (v->event)
            rc = v->event(state, w, &e, err);
    }
    trace_cursor_close(&c);
    return rc;
}

/* ---- by time ---- */

/* A thread, with its next record. */
struct lane {
    struct trace_cursor cursor;
    struct trace_event event;
    int is_over;
};

static void advance(struct walk *w, struct lane *l)
{
    struct err err;
    int more;
    while ((more = trace_cursor_next(&l->cursor, &l->event, &err)) < 0)
        format_note(w->notes, "rank %llu: %s", (unsigned long long)w->rank, err.text);
    l->is_over = !more;
}

/* Whether a call is passed a request that no call before has returned. */
static int is_too_early(const struct walk *w, const struct trace_event *e, int64_t started)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    for (unsigned i = 0; e->head == TRACE_CALL && i < e->argc; i++) {
        const struct trace_value *v = &e->args[i];
        if (fn->args[i].class != TRACE_REQUEST || !fn->args[i].is_in)
            continue;
        if (!fn->args[i].is_array && v->number > started)
            return 1;
        for (uint64_t k = 0; fn->args[i].is_array && k < v->count; k++)
            if (v->items[k] > started)
                return 1;
    }
    return 0;
}

/* The greatest number of a request that was returned; numbers are given in order. */
static int64_t last_started(const struct walk *w, const struct trace_event *e, int64_t started)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    for (unsigned i = 0; e->head == TRACE_CALL && i < e->argc; i++)
        if (fn->args[i].class == TRACE_REQUEST && !fn->args[i].is_in && e->args[i].number > started)
            started = e->args[i].number;
    return started;
}

/* The order of two records. If both took no time, one may complete what the other one starts. */
static int is_before(const struct walk *w, const struct lane *a, const struct lane *b,
                     int64_t started)
{
    if (a->event.leave != b->event.leave)
        return a->event.leave < b->event.leave;
    if (a->event.enter != b->event.enter)
        return a->event.enter < b->event.enter;
    return is_too_early(w, &b->event, started) && !is_too_early(w, &a->event, started);
}

static int visit_by_time(struct walk *w, const struct walk_visitor *v, void *state, struct err *err)
{
    struct lane *lanes = mem_zalloc((w->threads + 1) * sizeof *lanes);
    int64_t started = -1;
    int rc = 0;
    for (unsigned i = 0; i < w->threads; i++) {
        trace_cursor_open(&lanes[i].cursor, w->trace, w->rank, i, TRACE_RECORDS);
        advance(w, &lanes[i]);
    }
    while (rc == 0) {
        struct lane *next = NULL;
        for (unsigned i = 0; i < w->threads; i++)
            if (!lanes[i].is_over && (!next || is_before(w, &lanes[i], next, started)))
                next = &lanes[i];
        if (!next)
            break;
        w->thread = (unsigned)(next - lanes);
        rc = v->event(state, w, &next->event, err);
        started = last_started(w, &next->event, started);
        advance(w, next);
    }
    for (unsigned i = 0; i < w->threads; i++)
        trace_cursor_close(&lanes[i].cursor);
    mem_free(lanes);
    return rc;
}

/* ---- all ---- */

static int visit_threads(struct walk *w, const struct walk_visitor *v, void *state, struct err *err)
{
    int rc = 0;
    for (w->thread = 0; rc == 0 && w->thread < w->threads; w->thread++)
        rc = visit_thread(w, v, state, err);
    return rc;
}

static int visit_rank(struct walk *w, const struct walk_visitor *v, void *state, struct err *err)
{
    trace_local_read(&w->local, w->trace, w->rank);
    if (!v->is_by_time)
        actions_open(&w->actions, w->trace, &w->local, w->shapes, &w->members, w->rank,
                     v->wants_blocks);
    w->threads = trace_threads(w->trace, w->rank);
    w->thread = 0;
    int rc = v->begin ? v->begin(state, w, err) : 0;
    if (rc == 0)
        rc = v->is_by_time ? visit_by_time(w, v, state, err) : visit_threads(w, v, state, err);
    if (rc == 0 && v->end)
        rc = v->end(state, w, err);
    if (!v->is_by_time)
        actions_close(&w->actions);
    trace_local_fini(&w->local);
    return rc;
}

int walk_trace(struct trace *t, const struct walk_visitor *v, void *state,
               struct format_notes *notes, struct err *err)
{
    struct walk w = {.trace = t, .notes = notes};
    int rc = 0;
    w.shapes = calls_of(t->header.schema);
    members_init(&w.members, t);
    for (w.rank = 0; rc == 0 && w.rank < t->header.ranks; w.rank++)
        rc = visit_rank(&w, v, state, err);
    members_fini(&w.members);
    mem_free(w.shapes);
    return rc;
}

int64_t walk_time(const struct walk *w, int64_t ticks)
{
    return (int64_t)((uint64_t)ticks * w->trace->header.tick);
}

uint64_t walk_number(const struct trace_event *e)
{
    uint64_t number = 0;
    return trace_varint_get(e->payload, e->payload + e->bytes, &number) ? number : 0;
}

const struct trace_fn *walk_open_call(const struct walk *w, const struct trace_event *e,
                                      int64_t *enter)
{
    const struct trace_schema *schema = w->trace->header.schema;
    const uint8_t *at = e->payload, *end = at + e->bytes;
    uint64_t fn, since;
    if (!(at = trace_varint_get(at, end, &fn)) || !trace_varint_get(at, end, &since) ||
        fn >= schema->count)
        return NULL;
    *enter = e->enter - (int64_t)since;
    return &schema->fns[fn];
}

const char *walk_region(const struct walk *w, const struct trace_event *e)
{
    const struct trace_local_item *item = trace_local_find(&w->local, TRACE_DEFINE_NAME,
                                                           (int64_t)walk_number(e));
    return item ? item->text : "";
}

int walk_is_call(struct walk *w, const struct trace_event *e)
{
    if (w->thread)
        format_note(w->notes,
                    "left out: calls of further threads: messages may lack their other end");
    else if (e->head != TRACE_CALL)
        format_note(w->notes, "left out: regions, and calls that did not end");
    return !w->thread && e->head == TRACE_CALL;
}

int walk_is_message(struct walk *w, const struct action *a)
{
    if (a->is_cancelled)
        return 0; /* it is counted when it is cancelled */
    if (a->world < 0 || a->tag < 0) {
        format_note(w->notes, "left out: messages whose peer or tag is not known");
        return 0;
    }
    if (a->comm && a->comm->identity != TRACE_COMM_WORLD)
        format_note(w->notes, "messages on other communicators are written as on MPI_COMM_WORLD");
    return 1;
}

void walk_note_left_out(struct walk *w, const struct trace_event *e)
{
    if (!trace_event_is_done(e))
        format_note(w->notes, "left out: calls that failed");
    else if (e->failed)
        format_note(w->notes, "left out: errors of calls that have received something");
    else if (w->shapes[e->fn].kind == MPI_DOES_RMA || w->shapes[e->fn].kind == MPI_DOES_EPOCH)
        format_note(w->notes, "left out: %s: the format has no one-sided operations",
                    w->trace->header.schema->fns[e->fn].name);
    else if (w->actions.count == 0)
        format_note(w->notes, "left out: calls that neither communicate nor complete anything");
}

uint64_t walk_node(const struct trace *t, uint64_t rank)
{
    return t->definitions.nodes ? (uint64_t)t->definitions.nodes[rank] : 0;
}

const char *walk_node_name(const struct trace *t, uint64_t node, char *text, size_t size)
{
    for (size_t i = 0; i < t->definitions.node_name_count; i++)
        if (t->definitions.node_names[i].node == node)
            return t->definitions.node_names[i].text;
    snprintf(text, size, "node %llu", (unsigned long long)node);
    return text;
}
