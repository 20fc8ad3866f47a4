/*
 * dumpi_fields.c - numbers, handles and arguments of calls, as DUMPI writes them.
 *
 * DUMPI's number of a handle is the local number + the number of DUMPI's own constants.
 */
#include <string.h>

#include "base/array.h"
#include "formats/dumpi_out.h"
#include "mpi_roles.h"

/* ---- numbers ---- */

void dumpi_put(struct buf *out, unsigned bytes, uint64_t value)
{
    uint8_t text[8];
    for (unsigned i = 0; i < bytes; i++)
        text[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
    buf_add(out, text, bytes);
}

void dumpi_put_string(struct buf *out, const char *text)
{
    size_t length = strlen(text) > 65535 ? 65535 : strlen(text);
    dumpi_put(out, 2, length);
    buf_add(out, text, length);
}

/* ---- handles ---- */

static uint64_t type_number(struct dumpi_out *o, struct walk *w, int64_t number)
{
    const struct trace_local_item *item = trace_local_find(&w->local, TRACE_DEFINE_TYPE, number);
    int is_new;
    if (number < 0)
        return 1;
    uint64_t *known = map_insert(&o->types, (uint64_t)number, &is_new);
    if (!is_new)
        return *known;
    *known = dumpi_type_number(item ? item->text : "");
    if (*known < DUMPI_FIRST_TYPE)
        return *known;
    if (item && *item->text)
        format_note(w->notes, "left out: names of datatypes that DUMPI does not know");
    ARRAY_EXTEND(o->sizes, o->type_count);
    o->sizes[o->type_count] = item ? (uint32_t)item->size : 0;
    return *known = DUMPI_FIRST_TYPE + o->type_count++;
}

static uint64_t op_number(struct dumpi_out *o, struct walk *w, int64_t number)
{
    const struct trace_local_item *item = trace_local_find(&w->local, TRACE_DEFINE_OP, number);
    int is_new;
    if (number < 0)
        return 14; /* MPI_OP_NULL */
    uint64_t *known = map_insert(&o->ops, (uint64_t)number, &is_new);
    if (is_new) {
        *known = dumpi_op_number(item ? item->text : "");
        if (*known >= DUMPI_FIRST_OP)
            *known = o->next_op++;
    }
    return *known;
}

static uint64_t handle_number(struct dumpi_out *o, struct walk *w, const struct dumpi_field *f,
                              int64_t number)
{
    switch (f->role) {
    case MPI_ROLE_DATATYPE:
        return type_number(o, w, number);
    case MPI_ROLE_OP:
        return op_number(o, w, number);
    case MPI_ROLE_COMM: /* 1 null, 2 world, 3 self, then the program's */
        return number < 0 ? 1 : (uint64_t)number + 2;
    case MPI_ROLE_GROUP: /* 1 null, 2 empty */
        return number < 0 ? 1 : (uint64_t)number + 3;
    case MPI_ROLE_REQUEST:
        return number < 0 || dumpi_is_lost_request(o, number) ? 1 : (uint64_t)number + 2;
    default: /* windows, files: 0 null */
        return (uint64_t)(number + 1);
    }
}

/* ---- fields ---- */

static void put_item(struct dumpi_out *o, struct walk *w, const struct dumpi_field *f,
                     const struct trace_arg *arg, int64_t value)
{
    uint64_t number = arg->class == TRACE_HANDLE || arg->class == TRACE_REQUEST
                          ? handle_number(o, w, f, value)
                          : (uint64_t)dumpi_value_out(f, value);
    int64_t back = (int64_t)(number << (64 - 8 * f->width)) >> (64 - 8 * f->width);
    if (f->width < 8 && number >> 8 * f->width != 0 && back != (int64_t)number)
        format_note(w->notes, "numbers that do not fit into %u bytes are cut off", f->width);
    dumpi_put(&o->file.text, f->width, number);
}

/* The request that status k of a call belongs to; -1: none, or not known. */
static int64_t request_of(struct walk *w, const struct trace_event *e, uint64_t k)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    const struct mpi_effect *s = &w->shapes[e->fn];
    if (s->request < 0)
        return -1;
    const struct trace_value *requests = &e->args[s->request];
    if (!fn->args[s->request].is_array)
        return requests->number;
    if (s->index >= 0 && fn->args[s->index].is_array)
        k = k < e->args[s->index].count ? (uint64_t)e->args[s->index].items[k] : UINT64_MAX;
    else if (s->index >= 0)
        k = (uint64_t)e->args[s->index].number;
    return k < requests->count ? requests->items[k] : -1;
}

static void put_status(struct dumpi_out *o, struct walk *w, const struct trace_event *e, uint64_t k,
                       const struct trace_status *s)
{
    struct buf *out = &o->file.text;
    int at = w->shapes[e->fn].comm;
    int64_t request = request_of(w, e, k), source = -1;
    const uint64_t *comm = request >= 0 ? map_find(&o->request_comms, (uint64_t)request) : NULL;
    if (s->is_set && !s->is_cancelled) {
        int64_t number = at >= 0 ? e->args[at].number : comm ? (int64_t)*comm : TRACE_LOCAL_WORLD;
        source = members_peer(&w->members, trace_local_find(&w->local, TRACE_DEFINE_COMM, number),
                              w->rank, s->source);
    }
    dumpi_put(out, 4, s->is_set ? s->bytes : 0);
    dumpi_put(out, 4, (uint64_t)source);
    dumpi_put(out, 1, s->is_cancelled);
    dumpi_put(out, 1, 0);
    dumpi_put(out, 4, (uint64_t)(int64_t)(s->is_set ? s->tag : -1));
}

static void put_statuses(struct dumpi_out *o, struct walk *w, const struct trace_event *e,
                         const struct trace_arg *arg, const struct trace_value *v)
{
    uint64_t count = arg->is_array ? v->count : v->statuses->is_set;
    dumpi_put(&o->file.text, 4, count);
    for (uint64_t i = 0; i < count; i++)
        put_status(o, w, e, i, &v->statuses[i]);
}

const struct trace_local_item *dumpi_comm_of(struct walk *w, const struct trace_event *e)
{
    int comm = w->shapes[e->fn].comm;
    return comm < 0 ? NULL : trace_local_find(&w->local, TRACE_DEFINE_COMM, e->args[comm].number);
}

/* Arguments that the trace does not record are written as null or empty. */
static void put_nothing(struct dumpi_out *o, const struct trace_event *e, const struct trace_fn *fn,
                        const struct dumpi_field *f)
{
    int argc = calls_arg(fn, "argc");
    struct buf *out = &o->file.text;
    if (f->primitive == DUMPI_TEXTS && argc >= 0 && e->args[argc].number > 0 &&
        e->args[argc].number < 65536) {
        dumpi_put(out, 4, (uint64_t)e->args[argc].number);
        for (int64_t i = 0; i < e->args[argc].number; i++)
            dumpi_put(out, 4, 0);
    } else if (f->primitive == DUMPI_INT) {
        dumpi_put(out, f->width, f->role == MPI_ROLE_ERRHANDLER); /* null is 1 */
    } else {
        dumpi_put(out, 4, 0);
    }
}

void dumpi_put_field(struct dumpi_out *o, struct walk *w, const struct trace_event *e,
                     const struct dumpi_field *f)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    const struct trace_local_item *comm = dumpi_comm_of(w, e);
    const struct mpi_effect *s = &w->shapes[e->fn];
    int at = calls_meant(s, e, f->arg); /* DUMPI does not know MPI_IN_PLACE */
    const struct trace_arg *arg = at >= 0 ? &fn->args[at] : NULL;
    const struct trace_value *v = at >= 0 ? &e->args[at] : NULL;
    struct buf *out = &o->file.text;
    switch (f->primitive) {
    case DUMPI_COMM_RANK:
        dumpi_put(out, 4, comm && comm->rank >= 0 ? (uint64_t)comm->rank : 0);
        return;
    case DUMPI_COMM_SIZE:
        dumpi_put(out, 4, members_count(&w->members, comm));
        return;
    case DUMPI_LENGTH:
        dumpi_put(out, 4, v ? v->count : 0);
        return;
    default:
        break;
    }
    if (!arg || f->primitive == DUMPI_ROWS || f->primitive == DUMPI_TEXTS ||
        f->primitive == DUMPI_TEXTS_OF) {
        put_nothing(o, e, fn, f);
    } else if (f->primitive == DUMPI_STATUS) {
        put_statuses(o, w, e, arg, v);
    } else if (f->primitive == DUMPI_TEXT) {
        dumpi_put(out, 4, v->count);
        buf_add(out, v->text, v->count);
    } else if (f->primitive == DUMPI_ARRAY) {
        dumpi_put(out, 4, v->count);
        for (uint64_t i = 0; i < v->count; i++)
            put_item(o, w, f, arg, v->items[i]);
    } else if (f->arg >= 0 && f->arg == s->send_count && comm && comm->rank >= 0) {
        put_item(o, w, f, arg, calls_send_count(s, e, (uint64_t)comm->rank));
    } else {
        put_item(o, w, f, arg, v->number);
    }
}
