/*
 * collectives.c - hypotheses about collectives and blocking calls: remove or replace a collective,
 * or make a call non-blocking and wait for it where its result is used.
 *
 * All ranks of a communicator call its collectives in the same order, so a pattern of names and the
 * number of the visit select the same calls on every rank.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "whatif/whatif.h"

struct visits {
    struct whatif_stage stage;
    struct map seen; /* calls so far, by communicator */
};

static void close_visits(struct whatif_stage *s)
{
    map_fini(&((struct visits *)s)->seen);
}

static int is_collective(const struct whatif_rank *r, const struct trace_event *e)
{
    return whatif_effect(r, e)->kind == MPI_DOES_COLLECTIVE;
}

static int is_named(const struct whatif_stage *s, struct trace_event *e)
{
    const struct whatif *what = s->what;
    if (e->head != TRACE_CALL || !whatif_matches(what->subject, whatif_function(s->rank, e)))
        return 0;
    const struct trace_value *comm = whatif_arg(s->rank, e, "comm");
    const struct trace_local_item *item = comm ? trace_local_find(s->rank->locals,
                                                                  TRACE_DEFINE_COMM, comm->number)
                                               : NULL;
    const struct trace_comm *c = item ? trace_definitions_comm(&s->rank->trace->definitions,
                                                               item->identity)
                                      : NULL;
    return !what->comm ||
           whatif_matches(what->comm, !comm                               ? ""
                                      : comm->number == TRACE_LOCAL_WORLD ? "MPI_COMM_WORLD"
                                      : c && c->name                      ? c->name
                                                                          : "");
}

/* Whether the hypothesis is about this call. Counts the visit. */
static int is_wanted(struct visits *v, struct trace_event *e)
{
    if (!is_named(&v->stage, e))
        return 0;
    const struct trace_value *comm = whatif_arg(v->stage.rank, e, "comm");
    uint64_t *seen = map_insert(&v->seen, comm ? (uint64_t)comm->number : UINT64_MAX, NULL);
    int is_meant = whatif_in(&v->stage.what->visits, (int64_t)(*seen)++);
    v->stage.hits += (uint64_t)is_meant;
    return is_meant;
}

/* ---- remove ---- */

static int next_remove(struct whatif_stage *s, struct whatif_item *item, struct err *err)
{
    int more = whatif_next(s->before, item, err);
    if (more > 0 && !item->is_dropped && is_collective(s->rank, item->event) &&
        is_wanted((struct visits *)s, item->event))
        item->is_dropped = 1;
    return more;
}

const struct whatif_kind whatif_remove_collective = {"remove collective",
                                                     .bytes = sizeof(struct visits),
                                                     .next = next_remove, .close = close_visits};

/* ---- replace ---- */

struct replace {
    struct visits visits;
    struct trace_event event;
    int fn;
};

/* The bytes of a collective, as far as one number describes them: the same on all ranks, whoever
 * gives them. */
static int64_t bytes_of(const struct whatif_rank *r, const struct trace_event *e)
{
    const struct mpi_effect *does = whatif_effect(r, e);
    int is_received = does->send_count < 0 ||
                      (calls_is_in_place(e, does->send_buf) && !does->reduces);
    int count = is_received ? does->recv_count : does->send_count,
        type = is_received ? does->recv_type : does->send_type;
    return count < 0 || type < 0
               ? 0
               : e->args[count].number * whatif_type_size(r, e->args[type].number);
}

/* The operation of a collective, for bytes: those of MPI are not defined on them, and all commute,
 * as does the one that a replay takes in place of none. */
static int64_t op_for_bytes(const struct whatif_rank *r, const struct trace_value *op)
{
    const struct trace_local_item *item = op ? trace_local_find(r->locals, TRACE_DEFINE_OP,
                                                                op->number)
                                             : NULL;
    return item && !item->text[0] ? op->number : -1;
}

/* The arguments of the new call: those of the old one with the same names; else bytes, and root 0.
 * */
static void fill(const struct whatif_rank *r, struct trace_event *to, struct trace_event *from,
                 int64_t bytes)
{
    const struct trace_fn *fn = &r->trace->header.schema->fns[to->fn];
    to->argc = fn->count;
    for (unsigned i = 0; i < fn->count; i++) {
        const struct trace_value *old = whatif_arg(r, from, fn->args[i].name);
        struct trace_value *v = &to->args[i];
        *v = (struct trace_value){.number = fn->args[i].class == TRACE_HANDLE ? -1 : 0};
        if (old && bytes < 0)
            *v = *old;
        else if (strcmp(fn->args[i].role, "comm") == 0 || strcmp(fn->args[i].role, "root") == 0)
            *v = old ? *old : *v;
        else if (strcmp(fn->args[i].role, "op") == 0)
            v->number = op_for_bytes(r, old);
        else if (strcmp(fn->args[i].role, "count") == 0)
            v->number = bytes;
        else if (strcmp(fn->args[i].role, "datatype") == 0)
            v->number = r->byte_type;
    }
}

/* The replacement must be a collective, too. */
static int learn_replace(struct whatif *what, struct trace *t, const struct whatif_list *list,
                         size_t number, struct err *err)
{
    (void)number;
    int fn = trace_schema_find(t->header.schema, what->with);
    if (fn < 0)
        return whatif_check_name(what, "function", what->with, t, err);
    const struct mpi_effect *does = &list->shapes[fn];
    if (does->kind != MPI_DOES_COLLECTIVE)
        return err_set(err, ERR_INPUT, "what-if '%s': '%s' is not a collective", what->text,
                       what->with);
    if (does->form != MPI_FORM_BLOCKING || does->makes || does->frees || does->send_counts >= 0 ||
        does->recv_counts >= 0)
        return err_set(err, ERR_INPUT,
                       "what-if '%s': '%s' is not a blocking collective with one count", what->text,
                       what->with);
    return 0;
}

static int next_replace(struct whatif_stage *s, struct whatif_item *item, struct err *err)
{
    struct replace *p = (struct replace *)s;
    int more = whatif_next(s->before, item, err);
    if (more <= 0 || item->is_dropped || !is_collective(s->rank, item->event) ||
        !is_wanted(&p->visits, item->event))
        return more;
    p->event = *item->event;
    p->event.fn = (unsigned)trace_schema_find(s->rank->trace->header.schema, s->what->with);
    fill(s->rank, &p->event, item->event,
         s->what->bytes >= 0 ? s->what->bytes : bytes_of(s->rank, item->event));
    item->event = &p->event;
    return 1;
}

const struct whatif_kind whatif_replace_collective = {"replace collective",
                                                      .bytes = sizeof(struct replace),
                                                      .learn = learn_replace, .next = next_replace,
                                                      .close = close_visits};

/* ---- nonblocking ---- */

#define PENDING_MOST 64

struct nonblocking {
    struct visits visits;
    struct trace_event begins, waits;
    struct trace_status statuses[PENDING_MOST];
    int64_t pending[PENDING_MOST]; /* requests to wait for */
    unsigned count;
    int64_t next; /* number of a new request, beyond those of the trace */
    struct whatif_item held;
    int has_held;
};

#define FIRST_REQUEST ((int64_t)1 << 40)
#define REQUESTS_OF_STAGE ((int64_t)1 << 32)

/* "MPI_Allreduce": "MPI_Iallreduce"; -1: it has no such form. */
static int find_form(const struct trace_schema *schema, const struct mpi_effect *shapes,
                     unsigned fn)
{
    return shapes[fn].form == MPI_FORM_BLOCKING
               ? calls_find_form(schema, shapes, fn, MPI_FORM_NONBLOCKING)
               : -1;
}

/* Where results are used: when the region is entered, or by the next call that is not made
 * non-blocking itself. */
static int is_use(struct nonblocking *n, struct trace_event *e)
{
    const struct whatif_stage *s = &n->visits.stage;
    if (s->what->until && e->head == TRACE_REGION_ENTER)
        return whatif_matches(s->what->until, whatif_region(s->rank, e));
    if (e->head != TRACE_CALL)
        return 0;
    return !s->what->until ? !is_named(s, e) : whatif_effect(s->rank, e)->kind == MPI_DOES_FINALIZE;
}

static void make_wait(struct nonblocking *n)
{
    const struct whatif_rank *r = n->visits.stage.rank;
    int fn = trace_schema_find(r->trace->header.schema, "MPI_Waitall");
    n->waits = (struct trace_event){.head = TRACE_CALL,
                                    .fn = (unsigned)fn,
                                    .argc = r->trace->header.schema->fns[fn].count};
    for (unsigned i = 0; i < n->waits.argc; i++) {
        const struct trace_arg *arg = &r->trace->header.schema->fns[fn].args[i];
        struct trace_value *v = &n->waits.args[i];
        *v = (struct trace_value){.number = n->count, .count = n->count};
        if (arg->class == TRACE_REQUEST)
            v->items = n->pending;
        else if (arg->class == TRACE_STATUS)
            v->statuses = n->statuses;
    }
    n->count = 0;
}

static int next_nonblocking(struct whatif_stage *s, struct whatif_item *item, struct err *err)
{
    struct nonblocking *n = (struct nonblocking *)s;
    int more = 1;
    if (n->has_held)
        *item = n->held;
    else
        more = whatif_next(s->before, item, err);
    n->has_held = 0;
    if (more <= 0 || item->is_dropped)
        return more;
    if (n->count && (is_use(n, item->event) || n->count == PENDING_MOST)) {
        n->held = *item;
        n->has_held = 1;
        make_wait(n);
        *item = (struct whatif_item){.event = &n->waits, .gap = item->gap, .is_new = 1};
        n->held.gap = 0;
        return 1;
    }
    int form = item->event->head == TRACE_CALL ? find_form(s->rank->trace->header.schema,
                                                           s->rank->list->shapes, item->event->fn)
                                               : -1;
    if (form < 0 || !whatif_is_about(s->what, s->rank->trace, s->rank->rank) ||
        !is_wanted(&n->visits, item->event))
        return more;
    n->begins = *item->event;
    n->begins.fn = (unsigned)form;
    fill(s->rank, &n->begins, item->event, -1);
    struct trace_value *request = whatif_arg(s->rank, &n->begins, "request");
    n->pending[n->count++] = request->number = FIRST_REQUEST +
                                               (s->what - s->rank->list->items) *
                                                   REQUESTS_OF_STAGE +
                                               n->next++;
    const struct trace_value *status = whatif_arg(s->rank, item->event, "status");
    n->statuses[n->count - 1] = status ? *status->statuses : (struct trace_status){0};
    item->event = &n->begins;
    item->duration = 0;
    return 1;
}

/* All ranks of a collective must call the same form of it. */
static int learn_nonblocking(struct whatif *what, struct trace *t, const struct whatif_list *list,
                             size_t number, struct err *err)
{
    const struct trace_schema *schema = t->header.schema;
    int fn = trace_schema_find(schema, what->subject);
    (void)number;
    if (fn >= 0 && find_form(schema, list->shapes, (unsigned)fn) < 0)
        return err_set(err, ERR_INPUT, "what-if '%s': '%s' has no non-blocking form", what->text,
                       what->subject);
    if (what->until && whatif_check_name(what, "region", what->until, t, err) != 0)
        return err->code;
    for (unsigned i = 0; (what->ranks.count || what->nodes.count) && i < schema->count; i++) {
        const char *name = schema->fns[i].name;
        if (whatif_matches(what->subject, name) && list->shapes[i].kind == MPI_DOES_COLLECTIVE)
            return err_set(err, ERR_INPUT,
                           "what-if '%s': %s is a collective, which all its ranks must call alike: "
                           "leave out 'ranks' and 'nodes'",
                           what->text, name);
    }
    return 0;
}

const struct whatif_kind whatif_nonblocking = {"nonblocking", .bytes = sizeof(struct nonblocking),
                                               .learn = learn_nonblocking, .next = next_nonblocking,
                                               .close = close_visits};
