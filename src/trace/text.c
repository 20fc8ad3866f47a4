/*
 * text.c - records as text.
 */
#include <string.h>

#include "base/units.h"
#include "trace/text.h"

#define ITEMS_SHOWN 8

/* Values that have names in MPI, in MPICH's ABI, as the program passes them. */
static const struct {
    const char *role;
    int64_t value;
    const char *name;
} named[] = {
    {"peer", -1, "MPI_PROC_NULL"}, {"peer", -2, "MPI_ANY_SOURCE"}, {"root", -3, "MPI_ROOT"},
    {"root", -1, "MPI_PROC_NULL"}, {"tag", -1, "MPI_ANY_TAG"},
};

static void add_number(struct buf *out, const char *role, int64_t value)
{
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        if (named[i].value == value && strcmp(named[i].role, role) == 0) {
            buf_adds(out, named[i].name);
            return;
        }
    buf_addf(out, "%lld", (long long)value);
}

static void add_handle(struct buf *out, const struct trace_local *local,
                       const struct trace_arg *arg, int64_t number)
{
    enum trace_head kind = trace_local_kind(arg->role);
    const struct trace_local_item *item = kind ? trace_local_find(local, kind, number) : NULL;
    if (number < 0)
        buf_adds(out, "null");
    else if (item && *item->text)
        buf_adds(out, item->text);
    else
        buf_addf(out, "%s %lld", arg->role, (long long)number);
}

static void add_status(struct buf *out, const struct trace_status *status)
{
    if (!status->is_set)
        buf_adds(out, "none");
    else if (status->is_cancelled)
        buf_adds(out, "{cancelled}");
    else
        buf_addf(out, "{source %d, tag %d, %llu B}", status->source, status->tag,
                 (unsigned long long)status->bytes);
}

static void add_array(struct buf *out, const struct trace_local *local, const struct trace_arg *arg,
                      const struct trace_value *value)
{
    buf_addc(out, '[');
    for (uint64_t i = 0; i < value->count; i++) {
        if (i)
            buf_adds(out, ", ");
        if (i == ITEMS_SHOWN) {
            buf_addf(out, "... %llu in all", (unsigned long long)value->count);
            break;
        }
        if (arg->class == TRACE_STATUS)
            add_status(out, &value->statuses[i]);
        else if (arg->class == TRACE_HANDLE)
            add_handle(out, local, arg, value->items[i]);
        else if (arg->class == TRACE_REQUEST && value->items[i] < 0)
            buf_adds(out, "null");
        else
            add_number(out, arg->role, value->items[i]);
    }
    buf_addc(out, ']');
}

static void add_value(struct buf *out, const struct trace_local *local, const struct trace_arg *arg,
                      const struct trace_value *value)
{
    static const char *const buffers[] = {"given", "none", "MPI_IN_PLACE"};
    if (arg->is_array) {
        add_array(out, local, arg, value);
        return;
    }
    switch (arg->class) {
    case TRACE_HANDLE:
        add_handle(out, local, arg, value->number);
        break;
    case TRACE_STATUS:
        add_status(out, value->statuses);
        break;
    case TRACE_TEXT:
        buf_addf(out, "\"%.*s\"", (int)value->count, value->text);
        break;
    case TRACE_BUFFER:
        buf_adds(out, value->number >= 0 && value->number <= 2 ? buffers[value->number] : "?");
        break;
    case TRACE_REQUEST:
        if (value->number < 0)
            buf_adds(out, "null");
        else
            buf_addf(out, "%lld", (long long)value->number);
        break;
    default:
        add_number(out, arg->role, value->number);
    }
}

static void add_args(struct buf *out, const struct trace *t, const struct trace_local *local,
                     const struct trace_event *e, int results)
{
    const struct trace_fn *fn = &t->header.schema->fns[e->fn];
    int some = 0;
    for (unsigned i = 0; i < e->argc; i++) {
        const struct trace_arg *arg = &fn->args[i];
        if ((arg->is_out && !arg->is_in) != results)
            continue;
        buf_adds(out, some++ ? ", " : results ? " -> " : "");
        buf_addf(out, "%s=", arg->name);
        add_value(out, local, arg, &e->args[i]);
    }
}

static void add_profile(struct buf *out, const struct trace *t, const struct trace_event *e)
{
    uint64_t values[5] = {0};
    char text[UNITS_TEXT_MAX];
    const uint8_t *at = e->payload, *end = at + e->bytes;
    for (int i = 0; i < 5 && at; i++)
        at = trace_varint_get(at, end, &values[i]);
    buf_addf(out, ": %llu calls of %s, %s, %llu B sent, %llu B received",
             (unsigned long long)values[1],
             values[0] < t->header.schema->count ? t->header.schema->fns[values[0]].name : "?",
             units_format_time(text, sizeof text, (int64_t)(values[2] * t->header.tick)),
             (unsigned long long)values[3], (unsigned long long)values[4]);
}

static void add_other(struct buf *out, const struct trace *t, const struct trace_local *local,
                      const struct trace_event *e)
{
    static const char *const names[TRACE_CALL] = {
        [TRACE_REGION_ENTER] = "enter region", [TRACE_REGION_LEAVE] = "leave region",
        [TRACE_OPEN] = "unfinished call",      [TRACE_LOST] = "records lost",
        [TRACE_PROFILE] = "statistics",
    };
    uint64_t number = 0;
    const struct trace_local_item *item = NULL;
    trace_varint_get(e->payload, e->payload + e->bytes, &number);
    if (e->head == TRACE_REGION_ENTER)
        item = trace_local_find(local, TRACE_DEFINE_NAME, (int64_t)number);
    buf_adds(out, e->head < TRACE_CALL && names[e->head] ? names[e->head] : "unknown record");
    if (item)
        buf_addf(out, " %s", item->text);
    else if (e->head == TRACE_LOST)
        buf_addf(out, ": %llu", (unsigned long long)number);
    else if (e->head == TRACE_OPEN && number < t->header.schema->count)
        buf_addf(out, " of %s", t->header.schema->fns[number].name);
    else if (e->head == TRACE_PROFILE)
        add_profile(out, t, e);
}

static void add_time(struct buf *out, const struct trace *t, int64_t ticks, int exact)
{
    char text[UNITS_TEXT_MAX];
    int64_t time = (int64_t)((uint64_t)ticks * t->header.tick);
    if (exact)
        buf_addf(out, "%lld", (long long)time);
    else
        buf_adds(out, units_format_time(text, sizeof text, time));
}

void trace_text_event(struct buf *out, const struct trace *t, const struct trace_local *local,
                      uint64_t rank, int exact, const struct trace_event *e)
{
    const char *site = e->head == TRACE_CALL && e->site
                           ? trace_definitions_site(&t->definitions, e->site)
                           : NULL;
    buf_addf(out, "[%llu] ", (unsigned long long)rank);
    add_time(out, t, e->enter, exact);
    if (e->head != TRACE_CALL) {
        buf_adds(out, ": ");
        add_other(out, t, local, e);
        buf_addc(out, '\n');
        return;
    }
    buf_adds(out, " + ");
    add_time(out, t, (int64_t)((uint64_t)e->leave - (uint64_t)e->enter), exact);
    buf_addf(out, ": %s(", t->header.schema->fns[e->fn].name);
    add_args(out, t, local, e, 0);
    buf_addc(out, ')');
    add_args(out, t, local, e, 1);
    if (e->failed)
        buf_addf(out, " failed with class %d", e->failed);
    if (site)
        buf_addf(out, " at %s", site);
    buf_addc(out, '\n');
}

/* ---- objects ---- */

static void add_members(struct buf *out, const int64_t *members, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (i == ITEMS_SHOWN) {
            buf_adds(out, ", ...");
            break;
        }
        buf_addf(out, "%s%lld", i ? ", " : " ", members ? (long long)members[i] : (long long)i);
    }
}

static void add_comm(struct buf *out, const struct trace *t, const struct trace_local_item *item)
{
    const struct trace_comm *comm = trace_definitions_comm(&t->definitions, item->identity);
    buf_addf(out, "rank %lld of %llu", (long long)item->rank, (unsigned long long)item->size);
    if (comm) {
        buf_addc(out, ':');
        add_members(out, comm->ranks, comm->size);
    }
    if (comm && comm->kind == TRACE_COMM_INTER) {
        buf_adds(out, "; the other group:");
        add_members(out, comm->others, comm->other_size);
    }
    if (item->has_topology) {
        buf_adds(out, "; receives from");
        add_members(out, item->sources, item->source_count);
        buf_adds(out, ", sends to");
        add_members(out, item->destinations, item->destination_count);
    }
}

static void add_object(struct buf *out, const struct trace *t, const struct trace_local *local,
                       const struct trace_local_item *item)
{
    switch (item->kind) {
    case TRACE_DEFINE_COMM:
        add_comm(out, t, item);
        break;
    case TRACE_DEFINE_GROUP:
        buf_addf(out, "%llu ranks:", (unsigned long long)item->size);
        add_members(out, item->members, item->size);
        break;
    case TRACE_DEFINE_TYPE:
        buf_addf(out, "%llu B, lower bound %lld, extent %lld", (unsigned long long)item->size,
                 (long long)item->lower, (long long)item->extent);
        break;
    case TRACE_DEFINE_WIN:
        buf_addf(out, "%lld B, displacement unit %lld, ", (long long)item->size,
                 (long long)item->extent);
        add_handle(out, local, &(struct trace_arg){.role = "comm"}, item->lower);
        break;
    case TRACE_DEFINE_OP:
        buf_adds(out, item->commutes ? "commutes" : "does not commute");
        break;
    default:
        buf_adds(out, "a file");
    }
}

void trace_text_objects(struct buf *out, const struct trace *t, const struct trace_local *local,
                        uint64_t rank)
{
    static const char *const roles[] = {"comm", "group", "datatype", "op", "win", "file"};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        const struct trace_table *table = &local->tables[trace_local_kind(roles[i])];
        for (size_t number = 0; number < table->count; number++) {
            const struct trace_local_item *item = &table->items[number];
            if (!item->kind)
                continue;
            buf_addf(out, "[%llu] %s %zu", (unsigned long long)rank, roles[i], number);
            if (item->text && *item->text)
                buf_addf(out, " %s", item->text);
            buf_adds(out, ": ");
            add_object(out, t, local, item);
            buf_addc(out, '\n');
        }
    }
}
