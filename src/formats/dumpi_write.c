/*
 * dumpi_write.c - a trace as DUMPI (dumpi.h), version 8.1.
 *
 * DUMPI's number of a handle is the local number + the number of DUMPI's own constants.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "formats/dumpi.h"
#include "formats/textfile.h"
#include "formats/walk.h"
#include "mpi_roles.h"

#define NANOSECONDS INT64_C(1000000000)
#define SECONDS_MOST 65535

struct dumpi_out {
    struct textfile file;
    uint64_t written; /* bytes that are no longer in memory */
    char *prefix;
    struct dumpi_layout *layouts;
    int *by_fn;       /* DUMPI's number of a function of the schema, or -1 */
    uint32_t *counts; /* calls of each, of this rank */
    struct map types; /* local number to DUMPI's */
    uint32_t *sizes;  /* of the program's own */
    uint32_t type_count;
    uint32_t next_op;
    struct map ops;
    struct map regions;       /* local number of the name + 1, to nothing */
    struct map lost;          /* requests of calls that DUMPI does not know */
    struct map request_comms; /* communicators of requests */
    uint64_t *open;           /* regions */
    size_t open_count;
};

/* ---- numbers ---- */

static void put(struct buf *out, unsigned bytes, uint64_t value)
{
    uint8_t text[8];
    for (unsigned i = 0; i < bytes; i++)
        text[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
    buf_add(out, text, bytes);
}

static void put_string(struct buf *out, const char *text)
{
    size_t length = strlen(text) > 65535 ? 65535 : strlen(text);
    put(out, 2, length);
    buf_add(out, text, length);
}

static uint64_t place(const struct dumpi_out *o)
{
    return o->written + o->file.text.len;
}

static int flush(struct dumpi_out *o, struct err *err)
{
    size_t before = o->file.text.len;
    int rc = textfile_flush(&o->file, err);
    o->written += before - o->file.text.len;
    return rc;
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
        return number < 0 || map_find(&o->lost, (uint64_t)number) ? 1 : (uint64_t)number + 2;
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
    put(&o->file.text, f->width, number);
}

/* The request that status k of a call belongs to; -1: none, or not known. */
static int64_t request_of(struct walk *w, const struct trace_event *e, uint64_t k)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    const struct call_shape *s = &w->shapes[e->fn];
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
    put(out, 4, s->is_set ? s->bytes : 0);
    put(out, 4, (uint64_t)source);
    put(out, 1, s->is_cancelled);
    put(out, 1, 0);
    put(out, 4, (uint64_t)(int64_t)(s->is_set ? s->tag : -1));
}

static void put_statuses(struct dumpi_out *o, struct walk *w, const struct trace_event *e,
                         const struct trace_arg *arg, const struct trace_value *v)
{
    uint64_t count = arg->is_array ? v->count : v->statuses->is_set;
    put(&o->file.text, 4, count);
    for (uint64_t i = 0; i < count; i++)
        put_status(o, w, e, i, &v->statuses[i]);
}

static const struct trace_local_item *comm_of(struct walk *w, const struct trace_event *e)
{
    int comm = w->shapes[e->fn].comm;
    return comm < 0 ? NULL : trace_local_find(&w->local, TRACE_DEFINE_COMM, e->args[comm].number);
}

/* Arguments that the trace does not record are written as null or empty. */
static void put_nothing(struct dumpi_out *o, const struct trace_event *e, const struct trace_fn *fn,
                        const struct dumpi_field *f)
{
    int argc = call_arg(fn, "argc");
    struct buf *out = &o->file.text;
    if (f->primitive == DUMPI_TEXTS && argc >= 0 && e->args[argc].number > 0 &&
        e->args[argc].number < 65536) {
        put(out, 4, (uint64_t)e->args[argc].number);
        for (int64_t i = 0; i < e->args[argc].number; i++)
            put(out, 4, 0);
    } else if (f->primitive == DUMPI_INT) {
        put(out, f->width, f->role == MPI_ROLE_ERRHANDLER); /* null is 1 */
    } else {
        put(out, 4, 0);
    }
}

static void put_field(struct dumpi_out *o, struct walk *w, const struct trace_event *e,
                      const struct dumpi_field *f)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    const struct trace_local_item *comm = comm_of(w, e);
    const struct trace_arg *arg = f->arg >= 0 ? &fn->args[f->arg] : NULL;
    const struct trace_value *v = f->arg >= 0 ? &e->args[f->arg] : NULL;
    struct buf *out = &o->file.text;
    switch (f->primitive) {
    case DUMPI_COMM_RANK:
        put(out, 4, comm && comm->rank >= 0 ? (uint64_t)comm->rank : 0);
        return;
    case DUMPI_COMM_SIZE:
        put(out, 4, members_count(&w->members, comm));
        return;
    case DUMPI_LENGTH:
        put(out, 4, v ? v->count : 0);
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
        put(out, 4, v->count);
        buf_add(out, v->text, v->count);
    } else if (f->primitive == DUMPI_ARRAY) {
        put(out, 4, v->count);
        for (uint64_t i = 0; i < v->count; i++)
            put_item(o, w, f, arg, v->items[i]);
    } else {
        put_item(o, w, f, arg, v->number);
    }
}

/* ---- records ---- */

static void put_time(struct dumpi_out *o, struct walk *w, int64_t ticks)
{
    int64_t ps = walk_time(w, ticks), ns = (ps + 500) / 1000, seconds = ns / NANOSECONDS;
    if (ps < 0)
        ns = seconds = 0;
    if (ps % 1000)
        format_note(w->notes, "times are rounded to nanoseconds");
    if (seconds > SECONDS_MOST) {
        format_note(w->notes, "times beyond 65535 seconds are written as 65535 seconds");
        seconds = SECONDS_MOST;
    }
    put(&o->file.text, 2, (uint64_t)seconds);
    put(&o->file.text, 4, (uint64_t)(ns % NANOSECONDS));
}

static void put_head(struct dumpi_out *o, struct walk *w, unsigned number, int64_t enter,
                     int64_t leave)
{
    put(&o->file.text, 2, number);
    put(&o->file.text, 1, DUMPI_THREAD | DUMPI_WALL | DUMPI_STATUSES);
    put(&o->file.text, 2, w->thread);
    put_time(o, w, enter);
    put_time(o, w, leave);
}

/* Whether a call can be written. */
static int is_known(struct dumpi_out *o, struct walk *w, const struct trace_event *e)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    const struct call_shape *s = &w->shapes[e->fn];
    if (!trace_event_is_done(e)) {
        format_note(w->notes, "calls that failed are left out");
        return 0;
    }
    if (e->site)
        format_note(w->notes, "left out: call sites");
    for (unsigned i = 0; i < e->argc; i++)
        if (fn->args[i].class == TRACE_PLACE && e->args[i].number)
            format_note(w->notes, "left out: whether a buffer is NULL or MPI_IN_PLACE");
    if (o->by_fn[e->fn] >= 0)
        return 1;
    format_note(w->notes, "left out: %s: DUMPI does not know it", fn->name);
    if (s->is_immediate && e->args[s->request].number >= 0)
        map_insert(&o->lost, (uint64_t)e->args[s->request].number, NULL);
    return 0;
}

static void put_call(struct dumpi_out *o, struct walk *w, const struct trace_event *e)
{
    int number = o->by_fn[e->fn];
    if (!is_known(o, w, e))
        return;
    const struct dumpi_layout *l = &o->layouts[number];
    const struct trace_local_item *comm = comm_of(w, e);
    int root = w->shapes[e->fn].root;
    int at_root = root >= 0 && comm && e->args[root].number == comm->rank;
    o->counts[number]++;
    const struct call_shape *s = &w->shapes[e->fn];
    if (s->is_immediate && s->comm >= 0 && e->args[s->request].number >= 0)
        *map_insert(&o->request_comms, (uint64_t)e->args[s->request].number,
                    NULL) = (uint64_t)e->args[s->comm].number;
    put_head(o, w, (unsigned)number, e->enter, e->leave);
    for (unsigned i = 0; i < l->count; i++)
        if (!l->fields[i].at_root || at_root)
            put_field(o, w, e, &l->fields[i]);
}

/* Regions are functions of the program, whose addresses are the numbers of their names. */
static void put_region(struct dumpi_out *o, struct walk *w, const struct trace_event *e)
{
    uint64_t address;
    if (e->head == TRACE_REGION_ENTER) {
        address = walk_number(e) + 1;
        map_insert(&o->regions, address, NULL);
        ARRAY_EXTEND(o->open, o->open_count);
        o->open[o->open_count++] = address;
    } else if (o->open_count) {
        address = o->open[--o->open_count];
    } else {
        format_note(w->notes, "left out: regions that were left but not entered");
        return;
    }
    put_head(o, w, e->head == TRACE_REGION_ENTER ? DUMPI_FUNCTION_ENTER : DUMPI_FUNCTION_EXIT,
             e->enter, e->enter);
    put(&o->file.text, 8, address);
}

static int put_event(void *state, struct walk *w, const struct trace_event *e, struct err *err)
{
    struct dumpi_out *o = state;
    if (e->head == TRACE_CALL)
        put_call(o, w, e);
    else if (e->head == TRACE_REGION_ENTER || e->head == TRACE_REGION_LEAVE)
        put_region(o, w, e);
    else
        format_note(w->notes, "left out: calls that did not end, and records of lost records");
    return flush(o, err);
}

/* ---- files ---- */

static int begin_rank(void *state, struct walk *w, struct err *err)
{
    struct dumpi_out *o = state;
    size_t length = strlen(o->prefix) + 32;
    char *path = mem_alloc(length);
    snprintf(path, length, "%s-%04" PRIu64 ".bin", o->prefix, w->rank);
    int rc = textfile_open(&o->file, path, err);
    mem_free(path);
    if (rc != 0)
        return rc;
    o->written = o->type_count = 0;
    o->next_op = DUMPI_FIRST_OP;
    o->open_count = 0;
    map_init(&o->types);
    map_init(&o->ops);
    map_init(&o->regions);
    map_init(&o->lost);
    map_init(&o->request_comms);
    memset(o->counts, 0, (dumpi_functions() + 1) * sizeof *o->counts);
    put(&o->file.text, 8, DUMPI_MAGIC);
    put(&o->file.text, 8, 0); /* seconds that are added to times */
    return 0;
}

static void put_tables(struct dumpi_out *o, struct walk *w, uint64_t *at)
{
    struct buf *out = &o->file.text;
    uint64_t key;
    size_t it = 0;
    put(out, 4, 0); /* pairs of keys and values */
    at[2] = place(o);
    put(out, 4, 0);
    at[0] = place(o);
    put(out, 4, DUMPI_FIRST_TYPE + o->type_count);
    for (unsigned i = 0; i < DUMPI_FIRST_TYPE; i++)
        put(out, 4, dumpi_type_size(i));
    for (unsigned i = 0; i < o->type_count; i++)
        put(out, 4, o->sizes[i]);
    at[1] = place(o);
    put(out, 4, map_count(&o->regions));
    while (map_next(&o->regions, &it, &key, NULL)) {
        const struct trace_local_item *item = trace_local_find(&w->local, TRACE_DEFINE_NAME,
                                                               (int64_t)key - 1);
        put(out, 8, key);
        put_string(out, item ? item->text : "");
    }
}

static int end_rank(void *state, struct walk *w, struct err *err)
{
    struct dumpi_out *o = state;
    struct buf *out = &o->file.text;
    /* sizes, addresses, counters, header, body, footer, keyval */
    uint64_t at[7] = {[4] = 8};
    char name[64];
    put(out, 2, DUMPI_END_OF_STREAM);
    at[3] = place(o);
    put(out, 1, 8);
    put(out, 1, 1);
    put(out, 1, 0);
    put(out, 8, 0);
    put_string(out, walk_node_name(w->trace, walk_node(w->trace, w->rank), name, sizeof name));
    put_string(out, "orrery");
    put(out, 8, 0); /* no mesh */
    at[5] = place(o);
    put(out, 8, DUMPI_FOOTER_MAGIC);
    for (unsigned i = 0; i < dumpi_functions(); i++)
        put(out, 4, o->counts[i]), o->counts[dumpi_functions()] += o->counts[i];
    put(out, 4, o->counts[dumpi_functions()]);
    for (unsigned i = 0; i <= dumpi_functions(); i++)
        put(out, 4, 0);
    put_tables(o, w, at);
    put(out, 8, DUMPI_MAGIC);
    for (unsigned i = 0; i < 7; i++)
        put(out, 8, at[i]);
    map_fini(&o->types);
    map_fini(&o->ops);
    map_fini(&o->regions);
    map_fini(&o->lost);
    map_fini(&o->request_comms);
    return textfile_close(&o->file, 1, err);
}

static int put_meta(struct dumpi_out *o, const struct trace *t, const char *path, struct err *err)
{
    const char *slash = strrchr(o->prefix, '/');
    char name[64];
    struct buf out;
    buf_init(&out);
    buf_addf(&out,
             "hostname=%s\nnumprocs=%" PRIu64 "\nusername=orrery\nstartime=0\nfileprefix=%s\n",
             walk_node_name(t, 0, name, sizeof name), t->header.ranks,
             slash ? slash + 1 : o->prefix);
    buf_adds(&out, "version=8\nsubversion=1\nsubsubversion=0\n");
    int rc = buf_write_file(&out, path, err);
    buf_fini(&out);
    return rc;
}

static int have_same_args(const struct trace_fn *a, const struct trace_fn *b)
{
    for (unsigned i = 0; i < a->count && i < b->count; i++)
        if (strcmp(a->args[i].name, b->args[i].name) != 0)
            return 0;
    return a->count == b->count;
}

/* Finds DUMPI's numbers of functions; large-count forms are written as the plain ones. */
static void number_functions(struct dumpi_out *o, const struct trace_schema *schema)
{
    o->by_fn = mem_alloc((schema->count + 1) * sizeof *o->by_fn);
    for (unsigned i = 0; i < schema->count; i++)
        o->by_fn[i] = -1;
    for (unsigned n = 0; n < dumpi_functions(); n++)
        if (o->layouts[n].fn >= 0 && o->by_fn[o->layouts[n].fn] < 0)
            o->by_fn[o->layouts[n].fn] = (int)n;
    for (unsigned i = 0; i < schema->count; i++) {
        char base[64];
        size_t length = strlen(schema->fns[i].name);
        if (length < 3 || length >= sizeof base ||
            strcmp(schema->fns[i].name + length - 2, "_c") != 0)
            continue;
        snprintf(base, sizeof base, "%.*s", (int)length - 2, schema->fns[i].name);
        int fn = trace_schema_find(schema, base);
        if (fn >= 0 && have_same_args(&schema->fns[fn], &schema->fns[i]))
            o->by_fn[i] = o->by_fn[fn];
    }
}

int dumpi_write(struct trace *t, const char *path, struct format_notes *notes, struct err *err)
{
    static const struct walk_visitor visitor = {.begin = begin_rank,
                                                .event = put_event,
                                                .end = end_rank};
    struct dumpi_out o = {.file = {.fd = -1}};
    size_t length = strlen(path);
    o.prefix = mem_strdup(path);
    if (length > 5 && strcmp(path + length - 5, ".meta") == 0)
        o.prefix[length - 5] = '\0';
    o.layouts = dumpi_layouts_make(t->header.schema);
    o.counts = mem_zalloc((dumpi_functions() + 1) * sizeof *o.counts);
    number_functions(&o, t->header.schema);
    int rc = walk_trace(t, &visitor, &o, notes, err);
    if (rc == 0)
        rc = put_meta(&o, t, path, err);
    else if (o.file.path)
        textfile_close(&o.file, 0, NULL);
    mem_free(o.prefix);
    mem_free(o.layouts);
    mem_free(o.counts);
    mem_free(o.by_fn);
    mem_free(o.sizes);
    mem_free(o.open);
    return rc;
}
