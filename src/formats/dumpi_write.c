/*
 * dumpi_write.c - a trace as DUMPI (dumpi.h), version 8.1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "formats/dumpi_out.h"
#include "mpi_roles.h"

#define NANOSECONDS INT64_C(1000000000)
#define SECONDS_MOST 65535

/* ---- the file ---- */

static uint64_t position(const struct dumpi_out *o)
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
    dumpi_put(&o->file.text, 2, (uint64_t)seconds);
    dumpi_put(&o->file.text, 4, (uint64_t)(ns % NANOSECONDS));
}

static void put_head(struct dumpi_out *o, struct walk *w, unsigned number, int64_t enter,
                     int64_t leave)
{
    dumpi_put(&o->file.text, 2, number);
    dumpi_put(&o->file.text, 1, DUMPI_THREAD | DUMPI_WALL | DUMPI_STATUSES);
    dumpi_put(&o->file.text, 2, w->thread);
    put_time(o, w, enter);
    put_time(o, w, leave);
}

/* Whether a call can be written. */
static int is_known(struct dumpi_out *o, struct walk *w, const struct trace_event *e)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    if (!trace_event_is_done(e)) {
        format_note(w->notes, "calls that failed are left out");
        return 0;
    }
    if (e->site)
        format_note(w->notes, "left out: call sites");
    for (unsigned i = 0; i < e->argc; i++)
        if (fn->args[i].class == TRACE_BUFFER && e->args[i].number)
            format_note(w->notes, "left out: whether a buffer is NULL or MPI_IN_PLACE");
    if (o->by_fn[e->fn] < 0)
        format_note(w->notes, "left out: %s: DUMPI does not know it", fn->name);
    else if (dumpi_uses_lost(o, w, e))
        format_note(w->notes, "left out: %s: it uses an object whose creation is left out",
                    fn->name);
    else
        return 1;
    dumpi_lose(o, w, e);
    return 0;
}

static void put_call(struct dumpi_out *o, struct walk *w, const struct trace_event *e)
{
    int number = o->by_fn[e->fn];
    if (!is_known(o, w, e))
        return;
    const struct dumpi_layout *l = &o->layouts[number];
    const struct trace_local_item *comm = dumpi_comm_of(w, e);
    int root = w->shapes[e->fn].root;
    int at_root = root >= 0 && comm && e->args[root].number == comm->rank;
    o->counts[number]++;
    const struct mpi_effect *s = &w->shapes[e->fn];
    int makes_request = s->form == MPI_FORM_NONBLOCKING || s->form == MPI_FORM_PERSISTENT;
    if (makes_request && s->comm >= 0 && e->args[s->request].number >= 0)
        *map_insert(&o->request_comms, (uint64_t)e->args[s->request].number,
                    NULL) = (uint64_t)e->args[s->comm].number;
    put_head(o, w, (unsigned)number, e->enter, e->leave);
    for (unsigned i = 0; i < l->count; i++)
        if (!l->fields[i].at_root || at_root)
            dumpi_put_field(o, w, e, &l->fields[i]);
}

/* Leaves the innermost region of the thread; 0: there is none. */
static uint64_t leave_region(struct dumpi_out *o, const struct walk *w)
{
    size_t i = o->open_count;
    while (i > 0 && o->open[i - 1].thread != w->thread)
        i--;
    if (i == 0)
        return 0;
    uint64_t address = o->open[i - 1].address;
    memmove(&o->open[i - 1], &o->open[i], (o->open_count-- - i) * sizeof *o->open);
    return address;
}

/* Regions are functions of the program, whose addresses are the numbers of their names. */
static void put_region(struct dumpi_out *o, struct walk *w, const struct trace_event *e)
{
    uint64_t address;
    if (e->head == TRACE_REGION_ENTER) {
        address = walk_number(e) + 1;
        map_insert(&o->regions, address, NULL);
        ARRAY_EXTEND(o->open, o->open_count);
        o->open[o->open_count++] = (struct dumpi_open){address, w->thread};
    } else if ((address = leave_region(o, w)) == 0) {
        format_note(w->notes, "left out: regions that were left but not entered");
        return;
    }
    put_head(o, w, e->head == TRACE_REGION_ENTER ? DUMPI_FUNCTION_ENTER : DUMPI_FUNCTION_EXIT,
             e->enter, e->enter);
    dumpi_put(&o->file.text, 8, address);
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
    dumpi_put(&o->file.text, 8, DUMPI_MAGIC);
    dumpi_put(&o->file.text, 8, 0); /* seconds that are added to times */
    return 0;
}

static void put_tables(struct dumpi_out *o, struct walk *w, uint64_t *at)
{
    struct buf *out = &o->file.text;
    uint64_t key;
    size_t it = 0;
    dumpi_put(out, 4, 0); /* pairs of keys and values */
    at[2] = position(o);
    dumpi_put(out, 4, 0);
    at[0] = position(o);
    dumpi_put(out, 4, DUMPI_FIRST_TYPE + o->type_count);
    for (unsigned i = 0; i < DUMPI_FIRST_TYPE; i++)
        dumpi_put(out, 4, dumpi_type_size(i));
    for (unsigned i = 0; i < o->type_count; i++)
        dumpi_put(out, 4, o->sizes[i]);
    at[1] = position(o);
    dumpi_put(out, 4, map_count(&o->regions));
    while (map_next(&o->regions, &it, &key, NULL)) {
        const struct trace_local_item *item = trace_local_find(&w->local, TRACE_DEFINE_NAME,
                                                               (int64_t)key - 1);
        dumpi_put(out, 8, key);
        dumpi_put_string(out, item ? item->text : "");
    }
}

static int end_rank(void *state, struct walk *w, struct err *err)
{
    struct dumpi_out *o = state;
    struct buf *out = &o->file.text;
    /* sizes, addresses, counters, header, body, footer, keyval */
    uint64_t at[7] = {[4] = 8};
    char name[64];
    dumpi_put(out, 2, DUMPI_END_OF_STREAM);
    at[3] = position(o);
    dumpi_put(out, 1, 8);
    dumpi_put(out, 1, 1);
    dumpi_put(out, 1, 0);
    dumpi_put(out, 8, 0);
    dumpi_put_string(out,
                     walk_node_name(w->trace, walk_node(w->trace, w->rank), name, sizeof name));
    dumpi_put_string(out, "orrery");
    dumpi_put(out, 8, 0); /* no mesh */
    at[5] = position(o);
    dumpi_put(out, 8, DUMPI_FOOTER_MAGIC);
    for (unsigned i = 0; i < dumpi_functions(); i++)
        dumpi_put(out, 4, o->counts[i]), o->counts[dumpi_functions()] += o->counts[i];
    dumpi_put(out, 4, o->counts[dumpi_functions()]);
    for (unsigned i = 0; i <= dumpi_functions(); i++)
        dumpi_put(out, 4, 0);
    put_tables(o, w, at);
    dumpi_put(out, 8, DUMPI_MAGIC);
    for (unsigned i = 0; i < 7; i++)
        dumpi_put(out, 8, at[i]);
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
    static const struct walk_visitor visitor = {.is_by_time = 1,
                                                .begin = begin_rank,
                                                .event = put_event,
                                                .end = end_rank};
    struct dumpi_out o = {0};
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
