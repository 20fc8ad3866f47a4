/*
 * goal_write.c - writes a trace as a schedule (goal.h): the computing between calls, and the
 * messages, one after the other. Nothing depends on a nonblocking message until the rank waits for
 * it.
 */
#include <inttypes.h>
#include <string.h>

#include "base/rng.h"
#include "formats/goal.h"
#include "formats/table.h"
#include "formats/textfile.h"
#include "formats/walk.h"

#define COLL_TAGS (UINT32_C(1) << 30) /* from here on: of collectives */

struct goal {
    struct textfile file;
    struct goal_out out;
    int64_t last;           /* end of the last call */
    struct map started;     /* operations: to their label */
    struct map collectives; /* so far, by communicator */
};

/* ---- operations ---- */

static uint64_t add(struct goal_out *o)
{
    return ++o->next;
}

static void need(struct goal_out *o, uint64_t label)
{
    if (o->last)
        buf_addf(o->text, "l%" PRIu64 " requires l%" PRIu64 "\n", label, o->last);
}

/* An operation that computes; the same as in goal.h. */
static uint64_t put_calc(struct goal_out *o, int64_t nanoseconds)
{
    uint64_t label = add(o);
    buf_addf(o->text, "l%" PRIu64 ": calc %" PRId64 "\n", label, nanoseconds);
    need(o, label);
    return label;
}

uint64_t goal_send(struct goal_out *o, uint64_t to, uint64_t bytes, uint64_t tag)
{
    uint64_t label = add(o);
    buf_addf(o->text, "l%" PRIu64 ": send %" PRIu64 "b to %" PRIu64 " tag %" PRIu64 "\n", label,
             bytes, to, tag);
    need(o, label);
    return label;
}

uint64_t goal_recv(struct goal_out *o, uint64_t from, uint64_t bytes, uint64_t tag)
{
    uint64_t label = add(o);
    buf_addf(o->text, "l%" PRIu64 ": recv %" PRIu64 "b from %" PRIu64 " tag %" PRIu64 "\n", label,
             bytes, from, tag);
    need(o, label);
    return label;
}

/* `last` is a single label: to depend on two operations, write one that depends on both. */
void goal_wait(struct goal_out *o, uint64_t label)
{
    if (!o->last || label == o->last) {
        o->last = label;
        return;
    }
    uint64_t both = put_calc(o, 0);
    buf_addf(o->text, "l%" PRIu64 " requires l%" PRIu64 "\n", both, label);
    o->last = both;
}

/* ---- records ---- */

static void collective(struct goal *g, struct walk *w, const struct trace_event *e,
                       const struct action *a)
{
    const char *name = w->trace->header.schema->fns[e->fn].name;
    uint64_t identity = a->comm ? a->comm->identity : 0, state;
    if (identity >> 63)
        return; /* a communicator of one rank */
    state = identity * RNG_SPLITMIX_STEP ^ ++*map_insert(&g->collectives, identity, NULL);
    uint64_t tag = COLL_TAGS | (rng_splitmix(&state) & (COLL_TAGS - 1));
    if (goal_collective(&g->out, a, &w->members, w->rank, tag))
        format_note(w->notes, "collectives are written as messages");
    else
        format_note(w->notes, "left out: %s: there are only messages", name);
}

static void put_action(struct goal *g, struct walk *w, const struct trace_event *e,
                       const struct action *a)
{
    uint64_t *label;
    switch (a->kind) {
    case ACTION_SEND:
    case ACTION_RECV:
        if (walk_is_message(w, a))
            g->out.last = a->kind == ACTION_SEND
                              ? goal_send(&g->out, (uint64_t)a->world, a->bytes, (uint64_t)a->tag)
                              : goal_recv(&g->out, (uint64_t)a->world, a->bytes, (uint64_t)a->tag);
        break;
    case ACTION_ISEND:
    case ACTION_IRECV:
        if (walk_is_message(w, a))
            *map_insert(&g->started, (uint64_t)a->request,
                        NULL) = a->kind == ACTION_ISEND ? goal_send(&g->out, (uint64_t)a->world,
                                                                    a->bytes, (uint64_t)a->tag)
                                                        : goal_recv(&g->out, (uint64_t)a->world,
                                                                    a->bytes, (uint64_t)a->tag);
        break;
    case ACTION_ISEND_DONE:
    case ACTION_IRECV_DONE:
        label = map_find(&g->started, (uint64_t)a->request);
        if (label)
            goal_wait(&g->out, *label);
        map_remove(&g->started, (uint64_t)a->request);
        break;
    case ACTION_COLL:
        collective(g, w, e, a);
        break;
    case ACTION_ICOLL_DONE:
        format_note(w->notes, "nonblocking collectives happen when they are completed");
        collective(g, w, e, a);
        break;
    case ACTION_TESTED:
        format_note(w->notes, "left out: tests that found nothing");
        break;
    case ACTION_CANCELLED:
        format_note(w->notes, "left out: cancelled messages");
        break;
    default:
        break;
    }
}

static int put_event(void *state, struct walk *w, const struct trace_event *e, struct err *err)
{
    struct goal *g = state;
    if (!walk_is_call(w, e))
        return 0;
    int64_t gap = (walk_time(w, e->enter) - g->last + 500) / 1000;
    if (gap > 0)
        g->out.last = put_calc(&g->out, gap);
    g->last = walk_time(w, e->leave);
    walk_note_left_out(w, e);
    for (size_t i = 0; i < w->actions.count; i++)
        put_action(g, w, e, &w->actions.list[i]);
    return textfile_flush(&g->file, err);
}

static int begin_rank(void *state, struct walk *w, struct err *err)
{
    struct goal *g = state;
    (void)err;
    map_init(&g->started);
    map_init(&g->collectives);
    g->out.next = g->out.last = 0;
    g->last = 0;
    buf_addf(&g->file.text, "\nrank %" PRIu64 " {\n", w->rank);
    return 0;
}

static int end_rank(void *state, struct walk *w, struct err *err)
{
    struct goal *g = state;
    (void)w, (void)err;
    map_fini(&g->started);
    map_fini(&g->collectives);
    if (!g->out.next) /* LogGOPSim expects an operation for each rank */
        put_calc(&g->out, 0);
    buf_adds(&g->file.text, "}\n");
    return 0;
}

int goal_write(struct trace *t, const char *path, struct format_notes *notes, struct err *err)
{
    static const struct walk_visitor visitor = {.wants_blocks = 1,
                                                .begin = begin_rank,
                                                .event = put_event,
                                                .end = end_rank};
    struct goal g = {0};
    if (textfile_open(&g.file, path, err) != 0)
        return err->code;
    g.out.text = &g.file.text;
    buf_addf(&g.file.text, "num_ranks %" PRIu64 "\n", t->header.ranks);
    int rc = walk_trace(t, &visitor, &g, notes, err);
    int closed = textfile_close(&g.file, rc == 0, rc == 0 ? err : NULL);
    return rc != 0 ? rc : closed;
}
