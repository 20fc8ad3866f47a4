/*
 * chrome.c - the trace event format of Chrome and Perfetto: JSON, read by ui.perfetto.dev and
 * chrome://tracing.
 *
 * Nodes are processes and ranks are threads. A call is a complete event ("X") with its arguments, a
 * region a pair of begin and end ("B", "E"), a message a flow ("s", "f") from the call that sends
 * it to the call that receives it. Times are microseconds. Numbers of processes and threads begin
 * with 1, as 0 is the idle thread there.
 */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "formats/table.h"
#include "formats/textfile.h"
#include "formats/walk.h"

#define ITEMS_SHOWN 16
#define NANOSECOND 1000 /* picoseconds */

struct chrome {
    struct textfile file;
    int has_events;
};

/* ---- JSON ---- */

/* Picoseconds as microseconds. */
static void add_time(struct buf *out, const char *key, int64_t t)
{
    buf_addf(out, ",\"%s\":%s%" PRId64 ".%06" PRId64, key, t < 0 ? "-" : "",
             (t < 0 ? -t : t) / 1000000, (t < 0 ? -t : t) % 1000000);
}

static struct buf *begin(struct chrome *c, char phase, uint64_t process, uint64_t thread)
{
    struct buf *out = &c->file.text;
    buf_adds(out, c->has_events ? ",\n" : "\n");
    c->has_events = 1;
    buf_addf(out, "{\"ph\":\"%c\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64, phase, process + 1,
             thread + 1);
    return out;
}

/* ---- arguments ---- */

static void add_handle(struct buf *out, const struct walk *w, const struct trace_arg *arg,
                       int64_t number)
{
    enum trace_head kind = trace_local_kind(arg->role);
    const struct trace_local_item *item = kind ? trace_local_find(&w->local, kind, number) : NULL;
    if (number < 0)
        buf_adds(out, "null");
    else if (item && *item->text)
        json_quote(out, item->text);
    else
        buf_addf(out, "%" PRId64, number);
}

static void add_status(struct buf *out, const struct trace_status *s)
{
    if (!s->is_set)
        buf_adds(out, "null");
    else
        buf_addf(out, "{\"source\":%d,\"tag\":%d,\"bytes\":%" PRIu64 "%s}", s->source, s->tag,
                 s->bytes, s->is_cancelled ? ",\"cancelled\":true" : "");
}

static void add_item(struct buf *out, const struct walk *w, const struct trace_arg *arg,
                     int64_t number)
{
    if (arg->class == TRACE_HANDLE)
        add_handle(out, w, arg, number);
    else
        buf_addf(out, "%" PRId64, number);
}

static void add_value(struct buf *out, const struct walk *w, const struct trace_arg *arg,
                      const struct trace_value *v)
{
    if (arg->class == TRACE_TEXT) {
        char *text = mem_alloc(v->count + 1);
        memcpy(text, v->text, v->count);
        text[v->count] = '\0';
        json_quote(out, text);
        mem_free(text);
    } else if (!arg->is_array) {
        if (arg->class == TRACE_STATUS)
            add_status(out, v->statuses);
        else
            add_item(out, w, arg, v->number);
    } else {
        buf_addc(out, '[');
        for (uint64_t i = 0; i < v->count && i < ITEMS_SHOWN; i++) {
            buf_adds(out, i ? "," : "");
            if (arg->class == TRACE_STATUS)
                add_status(out, &v->statuses[i]);
            else
                add_item(out, w, arg, v->items[i]);
        }
        buf_adds(out, v->count > ITEMS_SHOWN ? ",\"...\"]" : "]");
    }
}

static void add_args(struct buf *out, const struct walk *w, const struct trace_event *e)
{
    const struct trace_fn *fn = &w->trace->header.schema->fns[e->fn];
    const char *site = e->site ? trace_definitions_site(&w->trace->definitions, e->site) : NULL;
    buf_adds(out, ",\"args\":{");
    for (unsigned i = 0; i < e->argc; i++) {
        buf_adds(out, i ? "," : "");
        json_quote(out, fn->args[i].name);
        buf_addc(out, ':');
        add_value(out, w, &fn->args[i], &e->args[i]);
        if (fn->args[i].is_array && e->args[i].count > ITEMS_SHOWN)
            format_note(w->notes, "arrays are shown up to item %d", ITEMS_SHOWN);
    }
    if (e->failed)
        buf_addf(out, "%s\"error class\":%d", e->argc ? "," : "", e->failed);
    if (site) {
        buf_addf(out, "%s\"call site\":", e->argc || e->failed ? "," : "");
        json_quote(out, site);
    }
    buf_adds(out, "}");
}

/* ---- records ---- */

static void add_flow(struct chrome *c, const struct walk *w, const struct trace_event *e,
                     const struct action *a, uint64_t thread)
{
    int starts = a->kind == ACTION_SEND || a->kind == ACTION_ISEND;
    int64_t enter = walk_time(w, e->enter), leave = walk_time(w, e->leave), at = enter;
    if ((!starts && a->kind != ACTION_RECV && a->kind != ACTION_IRECV_DONE) || !a->flow)
        return;
    if (!starts) /* within the call: an event at its end would belong to the next */
        at = leave - enter > NANOSECOND ? leave - NANOSECOND : enter;
    struct buf *out = begin(c, starts ? 's' : 'f', walk_node(w->trace, w->rank), thread);
    add_time(out, "ts", at);
    buf_addf(out, ",\"id\":\"%" PRIx64 "\",\"name\":\"message\",\"cat\":\"message\"%s", a->flow,
             starts ? "" : ",\"bp\":\"e\"");
    buf_addf(out, ",\"args\":{\"bytes\":%" PRIu64 ",\"tag\":%" PRId64 "}}", a->bytes, a->tag);
}

static uint64_t thread_number(const struct walk *w)
{
    return w->thread * w->trace->header.ranks + w->rank;
}

static int name_thread(void *state, struct walk *w, struct err *err)
{
    struct chrome *c = state;
    struct buf *out = begin(c, 'M', walk_node(w->trace, w->rank), thread_number(w));
    buf_addf(out, ",\"name\":\"thread_name\",\"args\":{\"name\":\"rank %" PRIu64, w->rank);
    if (w->thread)
        buf_addf(out, " thread %u", w->thread);
    buf_adds(out, "\"}}");
    out = begin(c, 'M', walk_node(w->trace, w->rank), thread_number(w));
    buf_addf(out, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu64 "}}",
             w->rank);
    return textfile_flush(&c->file, err);
}

static void put_call(struct chrome *c, struct walk *w, const struct trace_event *e)
{
    uint64_t thread = thread_number(w);
    struct buf *out = begin(c, 'X', walk_node(w->trace, w->rank), thread);
    add_time(out, "ts", walk_time(w, e->enter));
    add_time(out, "dur", walk_time(w, e->leave - e->enter));
    buf_adds(out, ",\"cat\":\"mpi\",\"name\":");
    json_quote(out, w->trace->header.schema->fns[e->fn].name);
    add_args(out, w, e);
    buf_addc(out, '}');
    for (size_t i = 0; i < w->actions.count; i++)
        add_flow(c, w, e, &w->actions.list[i], thread);
}

static void put_open(struct chrome *c, struct walk *w, const struct trace_event *e)
{
    int64_t enter;
    const struct trace_fn *f = walk_open_call(w, e, &enter);
    if (!f)
        return;
    struct buf *out = begin(c, 'B', walk_node(w->trace, w->rank), thread_number(w));
    add_time(out, "ts", walk_time(w, enter));
    buf_adds(out, ",\"cat\":\"mpi\",\"name\":");
    json_quote(out, f->name);
    buf_addc(out, '}');
}

static int put_event(void *state, struct walk *w, const struct trace_event *e, struct err *err)
{
    struct chrome *c = state;
    struct buf *out;
    switch (e->head) {
    case TRACE_CALL:
        put_call(c, w, e);
        break;
    case TRACE_REGION_ENTER:
        out = begin(c, 'B', walk_node(w->trace, w->rank), thread_number(w));
        add_time(out, "ts", walk_time(w, e->enter));
        buf_adds(out, ",\"cat\":\"region\",\"name\":");
        json_quote(out, walk_region(w, e));
        buf_addc(out, '}');
        break;
    case TRACE_REGION_LEAVE:
        out = begin(c, 'E', walk_node(w->trace, w->rank), thread_number(w));
        add_time(out, "ts", walk_time(w, e->enter));
        buf_addc(out, '}');
        break;
    case TRACE_OPEN:
        put_open(c, w, e);
        break;
    case TRACE_LOST:
        format_note(w->notes, "records that were lost while recording are not shown");
        break;
    default:
        format_note(w->notes, "left out: records of an unknown kind");
    }
    return textfile_flush(&c->file, err);
}

static void name_processes(struct chrome *c, const struct trace *t)
{
    uint64_t nodes = t->definitions.nodes ? t->definitions.node_count : 1;
    for (uint64_t node = 0; node < nodes; node++) {
        char text[32];
        struct buf *out = begin(c, 'M', node, 0);
        buf_adds(out, ",\"name\":\"process_name\",\"args\":{\"name\":");
        json_quote(out, walk_node_name(t, node, text, sizeof text));
        buf_adds(out, "}}");
    }
}

static int chrome_write(struct trace *t, const char *path, struct format_notes *notes,
                        struct err *err)
{
    static const struct walk_visitor visitor = {.thread = name_thread, .event = put_event};
    struct chrome c = {0};
    if (textfile_open(&c.file, path, err) != 0)
        return err->code;
    buf_adds(&c.file.text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    name_processes(&c, t);
    int rc = walk_trace(t, &visitor, &c, notes, err);
    buf_adds(&c.file.text, "\n]");
    for (size_t i = 0; i < t->header.property_count; i++) {
        buf_adds(&c.file.text, i ? ",\n" : ",\n\"otherData\":{");
        json_quote(&c.file.text, t->header.properties[i].key);
        buf_addc(&c.file.text, ':');
        json_quote(&c.file.text, t->header.properties[i].value);
    }
    buf_adds(&c.file.text, t->header.property_count ? "}}\n" : "}\n");
    int closed = textfile_close(&c.file, rc == 0, rc == 0 ? err : NULL);
    return rc != 0 ? rc : closed;
}

const struct trace_format format_chrome = {
    .name = "chrome",
    .suffix = ".json",
    .about = "JSON of Chrome and Perfetto: a timeline in a browser",
    .write = chrome_write,
};
