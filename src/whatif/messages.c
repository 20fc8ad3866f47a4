/*
 * messages.c - hypotheses about messages: remove, resize or insert them.
 *
 * Both ends decide by the same facts: who sends to whom, the tag, the bytes and the communicator.
 * So a message changes at both ends or at neither. What a non-blocking receive got is in the record
 * that completes it (got.c).
 */
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "whatif/got.h"

#define PROC_NULL (-1)

struct message {
    int64_t from, to, tag, bytes, comm;
};

/* Positions of the arguments that describe a message at one end; -1: there is none. */
struct side {
    int peer, count, type;
};

static uint64_t pair_of(const struct whatif_stage *s, const struct message *m)
{
    return (uint64_t)m->from * s->rank->trace->header.ranks + (uint64_t)m->to;
}

static int is_wanted(const struct whatif_stage *s, const struct message *m)
{
    const struct whatif *what = s->what;
    if (m->from < 0 || m->to < 0 || !whatif_in(&what->from, m->from) ||
        !whatif_in(&what->to, m->to) || !whatif_in(&what->sizes, m->bytes) ||
        (what->tag >= 0 && what->tag != m->tag))
        return 0;
    if (what->facts && map_find(what->facts, pair_of(s, m)))
        return 0; /* its ends would not match */
    const struct trace_local_item *comm = trace_local_find(s->rank->locals, TRACE_DEFINE_COMM,
                                                           m->comm);
    const struct trace_comm *c = comm ? trace_definitions_comm(&s->rank->trace->definitions,
                                                               comm->identity)
                                      : NULL;
    return !what->comm || whatif_matches(what->comm, m->comm == TRACE_LOCAL_WORLD ? "MPI_COMM_WORLD"
                                                     : c && c->name               ? c->name
                                                                                  : "");
}

struct messages {
    struct whatif_stage stage;
    struct whatif_got got;
    struct map matched; /* communicators of matched probes, by message */
    struct map resized; /* bytes of receives that have another size now, by request number */
    struct trace_status *statuses; /* of the current record, with these sizes */
    size_t status_room;
};

static void close_messages(struct whatif_stage *s)
{
    struct messages *m = (struct messages *)s;
    whatif_got_fini(&m->got);
    map_fini(&m->matched);
    map_fini(&m->resized);
    mem_free(m->statuses);
}

/* ---- which messages a call sends and receives ---- */

/* The communicator of a call; that of a matched receive is its probe's. */
static int64_t comm_of(struct whatif_stage *s, const struct trace_event *e)
{
    const struct mpi_effect *does = whatif_effect(s->rank, e);
    struct map *matched = &((struct messages *)s)->matched;
    if (does->comm >= 0 && does->is_matched)
        *map_insert(matched, (uint64_t)e->args[does->message].number,
                    NULL) = (uint64_t)e->args[does->comm].number;
    if (does->comm >= 0)
        return e->args[does->comm].number;
    const uint64_t *comm = does->is_matched
                               ? map_find(matched, (uint64_t)e->args[does->message].number)
                               : NULL;
    return comm ? (int64_t)*comm : TRACE_LOCAL_WORLD;
}

static uint64_t type_size(const void *rank, int64_t type)
{
    return (uint64_t)whatif_type_size(rank, type);
}

static int sends(struct whatif_stage *s, const struct trace_event *e, struct message *m,
                 struct side *side)
{
    const struct mpi_effect *does = whatif_effect(s->rank, e);
    if (does->kind != MPI_DOES_SEND && does->kind != MPI_DOES_EXCHANGE)
        return 0;
    int64_t comm = comm_of(s, e);
    *side = (struct side){does->dest, does->send_count, does->send_type};
    *m = (struct message){.from = (int64_t)s->rank->rank,
                          .to = whatif_world_rank(s->rank, comm, e->args[does->dest].number),
                          .tag = e->args[does->send_tag].number,
                          .bytes = (int64_t)calls_message_bytes(does, e,
                                                                &(struct calls_types){type_size,
                                                                                      s->rank}),
                          .comm = comm};
    return is_wanted(s, m);
}

static int receives(struct whatif_stage *s, const struct trace_event *e, struct message *m,
                    struct side *side)
{
    const struct mpi_effect *does = whatif_effect(s->rank, e);
    if (does->kind == MPI_DOES_PROBE)
        comm_of(s, e); /* which a matched receive asks for */
    if (does->kind != MPI_DOES_RECEIVE && does->kind != MPI_DOES_EXCHANGE)
        return 0;
    *side = (struct side){does->source, does->recv_count, does->recv_type};
    *m = (struct message){.from = -1, .to = (int64_t)s->rank->rank, .comm = comm_of(s, e)};
    const struct trace_status *status = does->status >= 0 ? e->args[does->status].statuses : NULL;
    struct trace_status got;
    if (does->request >= 0) {
        if (!whatif_got_take(&((struct messages *)s)->got, s->ahead, e->args[does->request].number,
                             &got))
            return 0;
        status = &got;
    }
    if (status && status->is_set) {
        m->from = status->source, m->tag = status->tag;
        m->bytes = (int64_t)status->bytes;
    }
    return is_wanted(s, m);
}

/* ---- both ends ---- */

/* What would change, by sender and receiver: the number of sends minus that of receives, and when
 * the last one was. */
struct ends {
    struct map count, last, fn; /* fn: of the last one */
};

static void count_end(struct ends *ends, const struct whatif_stage *s, const struct message *m,
                      const struct trace_event *e, uint64_t step)
{
    uint64_t key = pair_of(s, m);
    *map_insert(&ends->count, key, NULL) += step;
    *map_insert(&ends->last, key, NULL) = (uint64_t)e->enter;
    *map_insert(&ends->fn, key, NULL) = e->fn;
}

static void count_thread(struct ends *ends, struct whatif_rank *rank, size_t number)
{
    struct whatif_stage *s = whatif_open(rank, number + 1);
    struct whatif_item item;
    struct message m;
    struct side side;
    struct err err;
    while (whatif_next(s->before, &item, &err) > 0) {
        if (item.event->head != TRACE_CALL || item.is_dropped)
            continue;
        if (sends(s, item.event, &m, &side))
            count_end(ends, s, &m, item.event, 1);
        if (receives(s, item.event, &m, &side))
            count_end(ends, s, &m, item.event, UINT64_MAX);
    }
    whatif_close(s);
}

static int check_ends(const struct whatif *what, const struct ends *ends, const struct trace *t,
                      struct err *err)
{
    size_t it = 0;
    uint64_t key, count;
    while (map_next(&ends->count, &it, &key, &count))
        if (count)
            return err_set(
                err, ERR_INPUT,
                "what-if '%s': of the messages from rank %llu to rank %llu it takes %s than "
                "%s, the last is %s at %.9f s: the trace does not say enough of both ends, and they "
                "would not match; 'repair yes' leaves such messages as they are",
                what->text, (unsigned long long)(key / t->header.ranks),
                (unsigned long long)(key % t->header.ranks),
                (int64_t)count > 0 ? "more sends" : "more receives",
                (int64_t)count > 0 ? "receives" : "sends",
                t->header.schema->fns[*map_find(&ends->fn, key)].name,
                (double)*map_find(&ends->last, key) * (double)t->header.tick / 1e12);
    return 0;
}

/* Pairs whose ends would not match stay as they are. */
static void repair(struct whatif *what, const struct ends *ends)
{
    struct map *left_out = mem_alloc(sizeof *left_out);
    size_t it = 0;
    uint64_t key, count;
    map_init(left_out);
    while (map_next(&ends->count, &it, &key, &count))
        if (count)
            map_insert(left_out, key, NULL);
    what->facts = left_out;
}

static void forget_ends(struct whatif *what)
{
    if (what->facts)
        map_fini(what->facts);
    mem_free(what->facts);
}

/* A send without its receive would hang the replay, or go to another receive. */
static int learn_ends(struct whatif *what, struct trace *t, const struct whatif_list *list,
                      size_t number, struct err *err)
{
    struct ends ends;
    map_init(&ends.count);
    map_init(&ends.last);
    map_init(&ends.fn);
    for (uint64_t rank = 0; rank < t->header.ranks; rank++) {
        struct trace_local locals;
        trace_local_read(&locals, t, rank);
        for (unsigned thread = 0; thread < trace_threads(t, rank); thread++) {
            struct whatif_rank r = whatif_rank_of(list, t, rank, thread, &locals);
            count_thread(&ends, &r, number);
        }
        trace_local_fini(&locals);
    }
    int rc = what->repairs ? 0 : check_ends(what, &ends, t, err);
    if (rc == 0 && what->repairs)
        repair(what, &ends);
    map_fini(&ends.count);
    map_fini(&ends.last);
    map_fini(&ends.fn);
    return rc;
}

/* A probe that found such a message. */
static int probes(struct whatif_stage *s, const struct trace_event *e)
{
    const struct mpi_effect *does = whatif_effect(s->rank, e);
    if (does->kind != MPI_DOES_PROBE)
        return 0;
    int64_t comm = comm_of(s, e);
    const struct trace_status *status = e->args[does->status].statuses;
    if (!status->is_set || (does->flag >= 0 && !e->args[does->flag].number))
        return 0;
    return is_wanted(s, &(struct message){status->source, (int64_t)s->rank->rank, status->tag,
                                          (int64_t)status->bytes, comm});
}

/* Removes a message. Returns 1 if the call has no other one and goes, too. Calls with two messages,
 * and persistent requests, stay, with the peer MPI_PROC_NULL. */
static int take_out(struct whatif_stage *s, struct trace_event *e, struct side side)
{
    const struct mpi_effect *does = whatif_effect(s->rank, e);
    if (does->kind != MPI_DOES_EXCHANGE && does->form != MPI_FORM_PERSISTENT)
        return 1;
    e->args[side.peer].number = PROC_NULL;
    return 0;
}

/* An MPI_Sendrecv with neither of its messages left. */
static int is_empty(const struct whatif_stage *s, const struct trace_event *e)
{
    const struct mpi_effect *does = whatif_effect(s->rank, e);
    return does->kind == MPI_DOES_EXCHANGE && e->args[does->dest].number == PROC_NULL &&
           e->args[does->source].number == PROC_NULL;
}

static int next_remove(struct whatif_stage *s, struct whatif_item *item, struct err *err)
{
    struct message m;
    struct side side;
    int more = whatif_next(s->before, item, err);
    struct trace_event *e = item->event;
    if (more <= 0 || e->head != TRACE_CALL || item->is_dropped)
        return more;
    int is_sent = sends(s, e, &m, &side), goes = is_sent && take_out(s, e, side);
    int is_received = receives(s, e, &m, &side);
    goes |= is_received && take_out(s, e, side);
    item->is_dropped = goes || is_empty(s, e) || probes(s, e);
    s->hits += (uint64_t)(is_sent + is_received);
    return more;
}

const struct whatif_kind whatif_remove_messages = {"remove messages",
                                                   .bytes = sizeof(struct messages),
                                                   .learn = learn_ends,
                                                   .forget = forget_ends,
                                                   .looks_ahead = 1,
                                                   .next = next_remove,
                                                   .close = close_messages};

/* ---- resize ---- */

static int64_t resize(struct whatif_stage *s, struct trace_event *e, struct side side, int64_t was)
{
    const struct whatif *what = s->what;
    int64_t bytes = what->bytes >= 0 ? what->bytes : (int64_t)((double)was * what->factor + 0.5);
    int partitions = whatif_effect(s->rank, e)->partitions;
    int64_t parts = partitions >= 0 && e->args[partitions].number > 0 ? e->args[partitions].number
                                                                      : 1;
    e->args[side.count].number = (bytes + parts - 1) / parts;
    e->args[side.type].number = s->rank->byte_type;
    s->hits++;
    return bytes;
}

/* The statuses of the record, to be changed; NULL: it has none. */
static struct trace_status *own_statuses(struct messages *m, struct trace_event *e)
{
    int at = whatif_effect(m->stage.rank, e)->status;
    if (at < 0)
        return NULL;
    struct trace_value *v = &e->args[at];
    size_t count = v->count ? v->count : 1;
    ARRAY_RESERVE(m->statuses, m->status_room, count, 1);
    memcpy(m->statuses, v->statuses, count * sizeof *m->statuses);
    v->statuses = m->statuses;
    return m->statuses;
}

static void set_bytes(void *messages, int64_t number, struct trace_status *status)
{
    struct messages *m = messages;
    const uint64_t *bytes = number < 0 ? NULL : map_find(&m->resized, (uint64_t)number);
    if (bytes)
        status->bytes = *bytes;
}

/* What a receive gets is in its status, or in that of the record that completes it: later
 * hypotheses select messages by it. */
static void resize_received(struct messages *m, struct trace_event *e, int64_t bytes)
{
    int request = whatif_effect(m->stage.rank, e)->request;
    struct trace_status *status;
    if (request >= 0 && e->args[request].number >= 0)
        *map_insert(&m->resized, (uint64_t)e->args[request].number, NULL) = (uint64_t)bytes;
    else if (request < 0 && (status = own_statuses(m, e)))
        status->bytes = (uint64_t)bytes;
}

static int next_resize(struct whatif_stage *s, struct whatif_item *item, struct err *err)
{
    struct message m;
    struct side side;
    int more = whatif_next(s->before, item, err);
    struct trace_event *e = item->event;
    if (more <= 0 || e->head != TRACE_CALL || item->is_dropped)
        return more;
    struct messages *own = (struct messages *)s;
    if (sends(s, e, &m, &side))
        resize(s, e, side, m.bytes);
    if (receives(s, e, &m, &side))
        resize_received(own, e, resize(s, e, side, m.bytes));
    else if (map_count(&own->resized) && own_statuses(own, e))
        whatif_visit_statuses(s->rank, e, set_bytes, own);
    return more;
}

const struct whatif_kind whatif_resize_messages = {"resize messages",
                                                   .bytes = sizeof(struct messages),
                                                   .learn = learn_ends,
                                                   .forget = forget_ends,
                                                   .looks_ahead = 1,
                                                   .next = next_resize,
                                                   .close = close_messages};

/* ---- insert ---- */

struct insert {
    struct whatif_stage stage;
    struct trace_event event; /* the new record */
    struct trace_status status;
    struct whatif_item held; /* the record that comes after it */
    uint32_t depth;          /* in the region */
    int64_t visits;
    int has_held;
};

/* A call of that name with these arguments, the others 0. */
static int make_call(struct insert *i, const char *name, int64_t peer)
{
    const struct whatif_rank *r = i->stage.rank;
    int fn = trace_schema_find(r->trace->header.schema, name);
    if (fn < 0)
        return -1;
    const struct trace_fn *f = &r->trace->header.schema->fns[fn];
    i->event = (struct trace_event){.head = TRACE_CALL, .fn = (unsigned)fn, .argc = f->count};
    for (unsigned k = 0; k < f->count; k++) {
        i->event.args[k].statuses = &i->status;
        if (f->args[k].class == TRACE_HANDLE)
            i->event.args[k].number = strcmp(f->args[k].role, "datatype") == 0 ? r->byte_type
                                                                               : TRACE_LOCAL_WORLD;
    }
    i->status = (struct trace_status){.source = (int32_t)peer,
                                      .tag = (int32_t)(i->stage.what->tag >= 0 ? i->stage.what->tag
                                                                               : 0),
                                      .bytes = (uint64_t)i->stage.what->bytes,
                                      .is_set = 1};
    const char *const names[] = {"count", "dest", "source", "tag"};
    const int64_t numbers[] = {i->stage.what->bytes, peer, peer,
                               i->stage.what->tag >= 0 ? i->stage.what->tag : 0};
    for (int k = 0; k < 4; k++) {
        struct trace_value *v = whatif_arg(r, &i->event, names[k]);
        if (v)
            v->number = numbers[k];
    }
    return 0;
}

/* Whether the message goes here: the record enters the region, or leaves it. */
static int is_here(struct insert *i, const struct trace_event *e)
{
    const struct whatif *what = i->stage.what;
    if (e->head == TRACE_REGION_ENTER && i->depth == 0 &&
        whatif_matches(what->subject, whatif_region(i->stage.rank, e))) {
        i->depth = 1;
        return !what->is_after && whatif_in(&what->visits, i->visits++);
    }
    if (e->head == TRACE_REGION_ENTER && i->depth > 0)
        i->depth++;
    if (e->head == TRACE_REGION_LEAVE && i->depth > 0 && --i->depth == 0)
        return what->is_after && whatif_in(&what->visits, i->visits++);
    return 0;
}

static int next_insert(struct whatif_stage *s, struct whatif_item *item, struct err *err)
{
    struct insert *i = (struct insert *)s;
    if (i->has_held) {
        *item = i->held;
        i->has_held = 0;
        return 1;
    }
    int more = whatif_next(s->before, item, err);
    int64_t from = s->what->from.ranges[0].first, to = s->what->to.ranges[0].first,
            me = (int64_t)s->rank->rank;
    if (more <= 0 || (me != from && me != to) || !is_here(i, item->event))
        return more;
    s->hits++;
    if (make_call(i, me == from ? "MPI_Send" : "MPI_Recv", me == from ? to : from) != 0)
        return more;
    i->held = *item;
    i->has_held = 1;
    struct whatif_item made = {.event = &i->event, .is_new = 1};
    if (s->what->is_after) { /* first the end of the region */
        i->held = made;
        return 1;
    }
    made.gap = item->gap;
    i->held.gap = 0;
    *item = made;
    return 1;
}

const struct whatif_kind whatif_insert_message = {"insert message", .bytes = sizeof(struct insert),
                                                  .next = next_insert};
