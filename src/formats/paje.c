/*
 * paje.c - the format of Paje, which ViTE and PajeNG draw.
 *
 * The header defines the events; containers (machine, nodes, ranks, further threads), states for
 * calls and regions, and links for messages follow. Readers expect records in order of time, so all
 * lines are kept in memory and sorted.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "formats/table.h"
#include "formats/textfile.h"
#include "formats/walk.h"

/* Numbers of events in the file's own header. */
enum paje_event {
    DEFINE_CONTAINER,
    DEFINE_STATE,
    DEFINE_LINK,
    CREATE_CONTAINER,
    DESTROY_CONTAINER,
    PUSH_STATE,
    POP_STATE,
    START_LINK,
    END_LINK,
};

static const struct {
    const char *name, *fields; /* separated by commas */
} events[] = {
    [DEFINE_CONTAINER] = {"PajeDefineContainerType", "Alias string,Type string,Name string"},
    [DEFINE_STATE] = {"PajeDefineStateType", "Alias string,Type string,Name string"},
    [DEFINE_LINK] = {"PajeDefineLinkType",
                     "Alias string,Type string,StartContainerType string,EndContainerType "
                     "string,Name string"},
    [CREATE_CONTAINER] = {"PajeCreateContainer",
                          "Time date,Alias string,Type string,Container string,Name string"},
    [DESTROY_CONTAINER] = {"PajeDestroyContainer", "Time date,Name string,Type string"},
    [PUSH_STATE] = {"PajePushState", "Time date,Type string,Container string,Value string"},
    [POP_STATE] = {"PajePopState", "Time date,Type string,Container string"},
    [START_LINK] = {"PajeStartLink", "Time date,Type string,Container string,StartContainer "
                                     "string,Value string,Key string"},
    [END_LINK] = {"PajeEndLink", "Time date,Type string,Container string,EndContainer string,Value "
                                 "string,Key string"},
};

struct line {
    int64_t time;
    size_t at; /* in the text; lines of the same time stay in order */
};

struct paje {
    struct buf text;
    struct line *lines;
    size_t count;
    int64_t last;
};

static void add_line(struct paje *p, int64_t time)
{
    ARRAY_EXTEND(p->lines, p->count);
    p->lines[p->count++] = (struct line){.time = time, .at = p->text.len};
    if (time > p->last)
        p->last = time;
}

/* "5 12.000000000123 " */
static void begin(struct paje *p, enum paje_event event, int64_t time)
{
    const int64_t second = 1000000000000;
    add_line(p, time);
    buf_addf(&p->text, "%d %" PRId64 ".%012" PRId64 " ", event, time / second,
             time < 0 ? 0 : time % second);
}

/* Appends a text in quotes, without the quotes in it. */
static void add_text(struct buf *out, const char *text)
{
    buf_addc(out, '"');
    for (; *text; text++)
        buf_addc(out, *text == '"' || *text == '\n' ? '\'' : *text);
    buf_addc(out, '"');
}

static void add_container(struct buf *out, const struct walk *w)
{
    buf_addf(out, "r%" PRIu64, w->rank);
    if (w->thread)
        buf_addf(out, "t%u", w->thread);
}

/* ---- records ---- */

static void put_state(struct paje *p, struct walk *w, int64_t time, const char *name)
{
    begin(p, name ? PUSH_STATE : POP_STATE, time);
    buf_adds(&p->text, "S ");
    add_container(&p->text, w);
    if (name) {
        buf_addc(&p->text, ' ');
        add_text(&p->text, name);
    }
    buf_addc(&p->text, '\n');
}

static void put_link(struct paje *p, struct walk *w, const struct trace_event *e,
                     const struct action *a)
{
    int starts = a->kind == ACTION_SEND || a->kind == ACTION_ISEND;
    if ((!starts && a->kind != ACTION_RECV && a->kind != ACTION_IRECV_DONE) || !a->flow)
        return;
    begin(p, starts ? START_LINK : END_LINK, walk_time(w, starts ? e->enter : e->leave));
    buf_adds(&p->text, "L m ");
    add_container(&p->text, w);
    buf_addf(&p->text, " \"tag %" PRId64 ", %" PRIu64 " B\" %" PRIx64 "\n", a->tag, a->bytes,
             a->flow);
}

static int put_event(void *state, struct walk *w, const struct trace_event *e, struct err *err)
{
    struct paje *p = state;
    (void)err;
    switch (e->head) {
    case TRACE_CALL:
        put_state(p, w, walk_time(w, e->enter), w->trace->header.schema->fns[e->fn].name);
        for (size_t i = 0; i < w->actions.count; i++)
            put_link(p, w, e, &w->actions.list[i]);
        put_state(p, w, walk_time(w, e->leave), NULL);
        if (e->argc)
            format_note(w->notes, "left out: arguments of calls, except those of messages");
        break;
    case TRACE_REGION_ENTER:
        put_state(p, w, walk_time(w, e->enter), walk_region(w, e));
        break;
    case TRACE_REGION_LEAVE:
        put_state(p, w, walk_time(w, e->enter), NULL);
        break;
    case TRACE_OPEN:
        format_note(w->notes, "left out: calls that did not end");
        break;
    default:
        format_note(w->notes, "left out: records of lost or unknown records");
    }
    return 0;
}

static int put_container(void *state, struct walk *w, struct err *err)
{
    struct paje *p = state;
    (void)err;
    begin(p, CREATE_CONTAINER, 0);
    add_container(&p->text, w);
    buf_addf(&p->text, " R n%" PRIu64 " \"rank %" PRIu64, walk_node(w->trace, w->rank), w->rank);
    if (w->thread)
        buf_addf(&p->text, " thread %u", w->thread);
    buf_adds(&p->text, "\"\n");
    return 0;
}

/* ---- the file ---- */

static void put_head(struct buf *out, const struct trace *t)
{
    uint64_t nodes = t->definitions.nodes ? t->definitions.node_count : 1;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        buf_addf(out, "%%EventDef %s %zu\n", events[i].name, i);
        for (const char *at = events[i].fields, *end; *at; at = *end ? end + 1 : end) {
            end = at + strcspn(at, ",");
            buf_addf(out, "%%  %.*s\n", (int)(end - at), at);
        }
        buf_adds(out, "%EndEventDef\n");
    }
    buf_addf(out, "%d M 0 \"Machine\"\n", DEFINE_CONTAINER);
    buf_addf(out, "%d N M \"Node\"\n", DEFINE_CONTAINER);
    buf_addf(out, "%d R N \"Rank\"\n", DEFINE_CONTAINER);
    buf_addf(out, "%d S R \"Call\"\n", DEFINE_STATE);
    buf_addf(out, "%d L M R R \"Message\"\n", DEFINE_LINK);
    buf_addf(out, "%d 0 m M 0 \"machine\"\n", CREATE_CONTAINER);
    for (uint64_t node = 0; node < nodes; node++) {
        char text[32];
        buf_addf(out, "%d 0 n%" PRIu64 " N m ", CREATE_CONTAINER, node);
        add_text(out, walk_node_name(t, node, text, sizeof text));
        buf_addc(out, '\n');
    }
}

static int by_time(const void *a, const void *b)
{
    const struct line *p = a, *q = b;
    if (p->time != q->time)
        return p->time < q->time ? -1 : 1;
    return (p->at > q->at) - (p->at < q->at);
}

static int put_lines(struct paje *p, struct textfile *f, struct err *err)
{
    int rc = 0;
    if (p->count)
        qsort(p->lines, p->count, sizeof *p->lines, by_time);
    for (size_t i = 0; rc == 0 && i < p->count; i++) {
        const char *line = p->text.data + p->lines[i].at;
        buf_add(&f->text, line, strcspn(line, "\n") + 1);
        rc = textfile_flush(f, err);
    }
    return rc;
}

static int paje_write(struct trace *t, const char *path, struct format_notes *notes,
                      struct err *err)
{
    static const struct walk_visitor visitor = {.thread = put_container, .event = put_event};
    struct textfile f;
    struct paje p = {0};
    if (textfile_open(&f, path, err) != 0)
        return err->code;
    buf_init(&p.text);
    put_head(&f.text, t);
    int rc = walk_trace(t, &visitor, &p, notes, err);
    if (rc == 0) {
        begin(&p, DESTROY_CONTAINER, p.last);
        buf_adds(&p.text, "m M\n");
        rc = put_lines(&p, &f, err);
    }
    buf_fini(&p.text);
    mem_free(p.lines);
    int closed = textfile_close(&f, rc == 0, rc == 0 ? err : NULL);
    return rc != 0 ? rc : closed;
}

const struct trace_format format_paje = {
    .name = "paje",
    .suffix = ".paje",
    .about = "Paje: states and messages, for ViTE and PajeNG",
    .write = paje_write,
};
