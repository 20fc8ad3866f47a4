/*
 * report.c - writes the page of a report, and its pictures (see report.h).
 */
#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "library/library.h"
#include "report/hops.h"
#include "report/links.h"
#include "report/messages.h"
#include "report/panels.h"
#include "report/pictures.h"
#include "report/routed.h"

#define MARK "<!--orrery:data-->" /* of the template */
/* The size of calls in a page; grids and messages take at most as much. */
#define CALLS_BYTES ((size_t)30 << 20)

struct page {
    struct chunks chunks;
    struct buf text; /* JSON */
    struct json json;
};

/* ---- the data ---- */

static void page_begin(struct page *p)
{
    chunks_init(&p->chunks);
    buf_init(&p->text);
    json_init(&p->json, &p->text);
    json_object_begin(&p->json);
    json_key(&p->json, "schema");
    json_uint(&p->json, REPORT_SCHEMA);
    json_key(&p->json, "generator");
    json_string(&p->json, "orrery " ORRERY_VERSION);
    json_key(&p->json, "traces");
    json_array_begin(&p->json);
}

static void page_fini(struct page *p)
{
    buf_fini(&p->text);
    chunks_fini(&p->chunks);
}

/* What the analysis reports of single messages and waits. */
struct seen {
    struct messages messages;
    struct hops hops;
    struct routed routed; /* if the machine is given */
};

static void see_message(void *context, uint32_t from, uint32_t to, int64_t sent, int64_t received)
{
    struct seen *seen = context;
    messages_add(&seen->messages, &(struct message){from, to, sent, received});
}

static void see_hop(void *context, uint32_t rank, uint32_t other, int64_t time)
{
    struct seen *seen = context;
    hops_add(&seen->hops, rank, other, time);
}

static void see_transfer(void *context, uint32_t from, uint32_t to, uint64_t bytes, int64_t sent,
                         int64_t received)
{
    struct seen *seen = context;
    routed_take(&seen->routed, from, to, bytes, sent, received);
}

/* The path leads to the rank that ends last. */
static void write_path(struct page *p, const struct timeline *t, const struct hops *hops)
{
    uint64_t last = 0;
    for (uint64_t i = 1; i < t->trace->header.ranks; i++)
        last = t->to[i] > t->to[last] ? i : last;
    if (t->calls)
        hops_write(hops, (uint32_t)last, t->begin, t->end, t->unit, &p->chunks, &p->json);
}

static void page_add(struct page *p, const struct report *r, size_t i, const struct analysis *a,
                     struct timeline *t, struct seen *seen)
{
    json_object_begin(&p->json);
    json_key(&p->json, "name");
    json_string(&p->json, r->names[i] ? r->names[i] : r->traces[i]);
    panels_write(a, t, &p->chunks, &p->json);
    json_key(&p->json, "timeline");
    json_object_begin(&p->json);
    timeline_write(t, CALLS_BYTES / r->count, GRID_CELLS / r->count, &p->chunks, &p->json);
    messages_write(&seen->messages, t->unit, &p->chunks, &p->json);
    write_path(p, t, &seen->hops);
    json_object_end(&p->json);
    links_write(a, &p->chunks, &p->json);
    json_object_end(&p->json);
}

/* ---- the page ---- */

static int read_file(const char *path, struct buf *out, struct err *err)
{
    FILE *file = fopen(path, "r");
    char some[65536];
    size_t n;
    if (!file)
        return err_set(err, ERR_SYSTEM, "cannot read '%s': %s", path, strerror(errno));
    while ((n = fread(some, 1, sizeof some, file)) > 0)
        buf_add(out, some, n);
    int failed = ferror(file);
    fclose(file);
    return failed ? err_set(err, ERR_SYSTEM, "cannot read '%s'", path) : 0;
}

/* In an element of a page a '<' of JSON, which is always in a string, could end the element. */
static void add_json(struct buf *out, const struct buf *json)
{
    const char *at = buf_str(json), *end = at + json->len, *next;
    for (; (next = memchr(at, '<', (size_t)(end - at))); at = next + 1) {
        buf_add(out, at, (size_t)(next - at));
        buf_adds(out, "\\u003c");
    }
    buf_add(out, at, (size_t)(end - at));
}

static int page_write(struct page *p, const struct report *r, struct err *err)
{
    struct buf template, out;
    json_array_end(&p->json);
    json_object_end(&p->json);
    json_fini(&p->json);
    buf_init(&template);
    buf_init(&out);
    int rc = read_file(r->template, &template, err);
    const char *mark = rc ? NULL : strstr(buf_str(&template), MARK);
    if (!rc && !mark)
        rc = err_set(err, ERR_INPUT, "'%s' is not the page of reports: it has no '%s'", r->template,
                     MARK);
    if (!rc) {
        buf_add(&out, template.data, (size_t)(mark - template.data));
        buf_adds(&out, "<script type=\"application/json\" id=\"data\">");
        add_json(&out, &p->text);
        buf_adds(&out, "</script>\n");
        buf_add(&out, buf_str(&p->chunks.text), p->chunks.text.len);
        buf_adds(&out, mark + strlen(MARK));
        rc = buf_write_file(&out, r->page, err);
    }
    buf_fini(&out);
    buf_fini(&template);
    return rc;
}

/* ---- the report ---- */

static int add_analysed(struct report *r, size_t i, struct page *page, struct trace *trace,
                        struct seen *seen, struct err *err)
{
    const struct analysis_watch watch = {seen, r->page ? see_message : NULL,
                                         r->page ? see_hop : NULL,
                                         r->machines[i] ? see_transfer : NULL};
    const struct analysis_options options = {.watch = &watch};
    struct analysis a;
    struct timeline timeline;
    int rc = analysis_run(&a, r->traces[i], &options, err);
    if (rc)
        return rc;
    r->warnings[i] = a.warning;
    if (r->machines[i])
        routed_finish(&seen->routed, &a);
    timeline_init(&timeline, trace);
    if (r->page)
        page_add(page, r, i, &a, &timeline, seen);
    if (r->pictures)
        rc = pictures_write(r->pictures, r->count > 1 ? i + 1 : 0, &a, &timeline, err);
    timeline_fini(&timeline);
    analysis_fini(&a);
    return rc;
}

/* Analyses an open trace; the machine, if given, must have its nodes. */
static int add_open(struct report *r, size_t i, struct page *page, struct trace *trace,
                    struct err *err)
{
    struct seen seen;
    int rc = r->machines[i] ? routed_init(&seen.routed, trace, r->machines[i], err) : 0;
    if (rc)
        return rc;
    messages_init(&seen.messages, MESSAGES_MOST / r->count);
    hops_init(&seen.hops, (uint32_t)trace->header.ranks, HOPS_AT_FIRST);
    rc = add_analysed(r, i, page, trace, &seen, err);
    if (rc == 0 && r->machines[i] && seen.routed.err.code)
        rc = err_set(err, ERR_INPUT, "%s", seen.routed.err.text);
    hops_fini(&seen.hops);
    messages_fini(&seen.messages);
    if (r->machines[i])
        routed_fini(&seen.routed);
    return rc;
}

static int add_trace(struct report *r, size_t i, struct page *page, struct err *err)
{
    struct trace trace;
    int rc = trace_open(&trace, r->traces[i], err);
    if (rc)
        return rc;
    rc = add_open(r, i, page, &trace, err);
    trace_close(&trace);
    return rc;
}

int report_write(struct report *r, struct err *err)
{
    struct page page;
    int rc = r->page ? library_load(LIBRARY_zlib, err) : 0;
    page_begin(&page);
    for (size_t i = 0; i < r->count && rc == 0; i++)
        rc = add_trace(r, i, &page, err);
    if (rc == 0 && r->page)
        rc = page_write(&page, r, err);
    page_fini(&page);
    return rc;
}
