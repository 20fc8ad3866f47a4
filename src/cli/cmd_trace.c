/*
 * cmd_trace.c - `orrery trace`: describes, prints, checks, cuts, merges and converts traces.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/actions.h"
#include "cli/cli.h"
#include "cli/namer.h"
#include "cli/notes.h"
#include "cli/outputs.h"
#include "cli/shared.h"
#include "formats/formats.h"
#include "trace/copy.h"
#include "trace/merge.h"
#include "trace/text.h"
#include "trace/verify.h"

#define FLUSH_AT ((size_t)1 << 16) /* bytes of text */

struct request {
    struct trace_cut cut;
    const char *output;
    const struct trace_format *to; /* NULL: chosen by the suffix */
    int exact, objects;
    struct cli_given traces;
};

/* ---- options ---- */

static int set_ranks(void *into, const char *value, struct err *err)
{
    struct trace_cut *cut = &((struct request *)into)->cut;
    const char *dash = strchr(value, '-');
    char first[32];
    snprintf(first, sizeof first, "%.*s", dash ? (int)(dash - value) : (int)strlen(value), value);
    if (units_parse_count(first, &cut->first, err) != 0 ||
        units_parse_count(dash ? dash + 1 : first, &cut->last, err) != 0)
        return err->code;
    return cut->first <= cut->last ? 0 : err_set(err, ERR_INPUT, "'%s' has no ranks", value);
}

static int set_from(void *into, const char *value, struct err *err)
{
    return units_parse_time(value, &((struct request *)into)->cut.from, err);
}

static int set_to(void *into, const char *value, struct err *err)
{
    return units_parse_time(value, &((struct request *)into)->cut.to, err);
}

static int set_exact(void *into, const char *value, struct err *err)
{
    (void)value, (void)err;
    ((struct request *)into)->exact = 1;
    return 0;
}

static int set_objects(void *into, const char *value, struct err *err)
{
    (void)value, (void)err;
    ((struct request *)into)->objects = 1;
    return 0;
}

static int set_output(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->output, value, err);
}

static int set_format(void *into, const char *value, struct err *err)
{
    return formats_find(value, &((struct request *)into)->to, err);
}

static const struct cli_option options[] = {
    {"ranks", 0, NULL, "A-B", "print, cut: only ranks A to B, or only rank A", set_ranks},
    {"from", 0, NULL, "TIME", "print, cut: only what ends at TIME or later", set_from},
    {"to", 0, NULL, "TIME", "print, cut: only what begins at TIME or before", set_to},
    {"exact", 0, NULL, NULL, "print: times in picoseconds, not rounded", set_exact},
    {"objects", 0, NULL, NULL,
     "print: first what communicators, groups, datatypes, operations, windows and files are",
     set_objects},
    {CLI_NAMED_OUTPUT, "FILE", "cut, merge: the trace to write", set_output},
    {CLI_NAMED_FORMAT, "FORMAT", "convert: the format to write (default: chosen by the suffix)",
     set_format},
    {CLI_SHARED_QUIET, cli_shared_quiet},
    {0},
};

/* ---- actions ---- */

/* Returns 0, or an exit status after reporting that there is no trace. */
static int need_traces(const struct request *q)
{
    struct err err;
    if (!q->traces.count)
        err_set(&err, ERR_INPUT, "no trace given, as in: orrery trace info run.orr");
    else if (q->cut.from > q->cut.to)
        err_set(&err, ERR_INPUT, "nothing is both after --from and before --to");
    else
        return 0;
    return cli_fail(&err);
}

static int open_trace(struct trace *t, const char *path)
{
    struct err err;
    struct format_notes notes;
    format_notes_init(&notes);
    int rc = formats_open(t, path, &notes, &err);
    cli_say_notes(path, &notes);
    if (rc != 0)
        return cli_fail(&err);
    if (t->missing.code)
        log_warn("%s: what follows is missing", t->missing.text);
    else if (!t->is_complete)
        log_warn("'%s' has no end: it is a part, or writing it was interrupted", path);
    return 0;
}

/* Whether the trace has the first of the ranks that are wanted; otherwise closes it. */
static int check_ranks(const struct request *q, struct trace *t)
{
    struct err err;
    if (q->cut.first < t->header.ranks)
        return 0;
    err_set(&err, ERR_INPUT, "the trace has %llu ranks, and none from %llu on",
            (unsigned long long)t->header.ranks, (unsigned long long)q->cut.first);
    trace_close(t);
    return cli_fail(&err);
}

/* The latest end of a call, from the last block of each rank. */
static int64_t last_time(struct trace *t)
{
    int64_t latest = 0;
    for (size_t i = 0; i < t->piece_count; i++) {
        const struct trace_piece_ref *ref = &t->pieces[i];
        if (i + 1 < t->piece_count && t->pieces[i + 1].rank == ref->rank &&
            t->pieces[i + 1].thread == ref->thread)
            continue;
        struct trace_cursor c;
        struct trace_event e;
        struct err err;
        trace_cursor_open(&c, t, ref->rank, ref->thread, TRACE_RECORDS);
        c.next = c.end ? c.end - 1 : 0;
        while (trace_cursor_next(&c, &e, &err) > 0)
            latest = e.leave > latest ? e.leave : latest;
        trace_cursor_close(&c);
    }
    return latest;
}

static int info(void *request)
{
    struct request *q = request;
    if (need_traces(q))
        return EXIT_USAGE;
    for (size_t i = 0; i < q->traces.count; i++) {
        struct trace t;
        struct buf out;
        char text[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
        if (open_trace(&t, q->traces.names[i]))
            return EXIT_USAGE;
        buf_init(&out);
        buf_addf(&out, "trace           %s\n", q->traces.names[i]);
        for (size_t k = 0; k < t.header.property_count; k++)
            buf_addf(&out, "%-15s %s\n", t.header.properties[k].key, t.header.properties[k].value);
        buf_addf(&out, "ranks           %s", units_format_count(text, sizeof text, t.header.ranks));
        if (t.definitions.nodes)
            buf_addf(&out, " on %s node%s",
                     units_format_count(text, sizeof text, t.definitions.node_count),
                     t.definitions.node_count == 1 ? "" : "s");
        buf_addf(&out, "\ncommunicators   %zu besides MPI_COMM_WORLD and MPI_COMM_SELF\n",
                 t.definitions.comm_count);
        buf_addf(&out, "records         %s", units_format_count(text, sizeof text, t.records));
        buf_addf(&out, " in %s", units_format_bytes(size, sizeof size, t.file.size));
        if (t.records)
            buf_addf(&out, ", %.2f bytes each", (double)t.file.size / (double)t.records);
        int64_t last = (int64_t)((uint64_t)last_time(&t) * t.header.tick);
        buf_addf(&out, "\nends at         %s\n", units_format_time(text, sizeof text, last));
        int status = cli_print(&out);
        buf_fini(&out);
        trace_close(&t);
        if (status)
            return status;
    }
    return EXIT_DONE;
}

static int print_rank(struct trace *t, const struct request *q, uint64_t rank, struct buf *out)
{
    struct trace_local local;
    struct trace_event e;
    struct err err;
    int more, status = EXIT_DONE;
    trace_local_read(&local, t, rank);
    if (q->objects)
        trace_text_objects(out, t, &local, rank);
    for (unsigned thread = 0, threads = trace_threads(t, rank); thread < threads && !status;
         thread++) {
        struct trace_cursor c;
        trace_cursor_open(&c, t, rank, thread, TRACE_RECORDS);
        while (!status && (more = trace_cursor_next(&c, &e, &err)) != 0) {
            if (more < 0) {
                log_warn("rank %llu: %s", (unsigned long long)rank, err.text);
                continue;
            }
            if (!trace_cut_keeps(t, &q->cut, &e))
                continue;
            trace_text_event(out, t, &local, rank, q->exact, &e);
            if (out->len >= FLUSH_AT) {
                status = cli_print(out);
                buf_clear(out);
            }
        }
        trace_cursor_close(&c);
    }
    trace_local_fini(&local);
    return status;
}

static int print(void *request)
{
    struct request *q = request;
    if (need_traces(q))
        return EXIT_USAGE;
    struct buf out;
    int status = EXIT_DONE;
    buf_init(&out);
    for (size_t i = 0; i < q->traces.count && !status; i++) {
        struct trace t;
        status = open_trace(&t, q->traces.names[i]);
        if (status || (status = check_ranks(q, &t)) != 0)
            break;
        for (uint64_t rank = q->cut.first; rank <= q->cut.last && rank < t.header.ranks && !status;
             rank++)
            status = print_rank(&t, q, rank, &out);
        if (t.is_complete && t.missing.code)
            log_warn("%s: its records are missing", t.missing.text);
        trace_close(&t);
    }
    if (!status)
        status = cli_print(&out);
    buf_fini(&out);
    return status;
}

static int verify(void *request)
{
    struct request *q = request;
    if (need_traces(q))
        return EXIT_USAGE;
    struct buf out;
    int status = EXIT_DONE;
    buf_init(&out);
    for (size_t i = 0; i < q->traces.count; i++) {
        struct trace t;
        struct err err;
        struct buf faults;
        char text[UNITS_TEXT_MAX];
        struct format_notes notes;
        format_notes_init(&notes);
        int rc = formats_open(&t, q->traces.names[i], &notes, &err);
        cli_say_notes(q->traces.names[i], &notes);
        if (rc != 0) {
            status = cli_fail(&err);
            continue;
        }
        buf_init(&faults);
        if (trace_verify(&t, &faults) == 0)
            buf_addf(&out, "%s: good: %s records\n", q->traces.names[i],
                     units_format_count(text, sizeof text, t.records));
        else if (status == EXIT_DONE)
            status = EXIT_FINDING;
        for (char *line = faults.data, *end; line && *line; line = end + 1) {
            end = strchr(line, '\n');
            buf_addf(&out, "%s: %.*s\n", q->traces.names[i], (int)(end - line), line);
        }
        buf_fini(&faults);
        trace_close(&t);
    }
    int rc = cli_print(&out);
    buf_fini(&out);
    return status ? status : rc;
}

/* Returns 0, or an exit status after reporting that there is no output. */
static int need_output(const struct request *q, const char *action)
{
    struct err err;
    if (q->output)
        return cli_outputs_check_trace("--output", q->output, &err) ? cli_fail(&err) : 0;
    err_set(&err, ERR_INPUT, "'%s' needs the name of the trace to write, as in: -o new.orr",
            action);
    return cli_fail(&err);
}

static int cut(void *request)
{
    struct request *q = request;
    if (need_traces(q))
        return EXIT_USAGE;
    struct trace t;
    struct err err;
    if (need_output(q, "cut"))
        return EXIT_USAGE;
    if (q->traces.count != 1) {
        err_set(&err, ERR_INPUT, "'cut' takes one trace, not %zu", q->traces.count);
        return cli_fail(&err);
    }
    if (open_trace(&t, q->traces.names[0]) || check_ranks(q, &t))
        return EXIT_USAGE;
    int rc = trace_copy(&t, &q->cut, q->output, &err);
    trace_close(&t);
    return rc ? cli_fail(&err) : EXIT_DONE;
}

static int merge(void *request)
{
    struct request *q = request;
    if (need_traces(q))
        return EXIT_USAGE;
    struct err err, missing;
    if (need_output(q, "merge"))
        return EXIT_USAGE;
    struct cli_namer namer;
    cli_namer_init(&namer);
    int rc = trace_merge_named(q->traces.names, q->traces.count, q->output, &namer.namer, NULL,
                               &missing, &err);
    cli_namer_fini(&namer);
    if (rc != 0)
        return cli_fail(&err);
    if (missing.code)
        log_warn("%s: what follows is missing", missing.text);
    return EXIT_DONE;
}

static int convert(void *request)
{
    struct request *q = request;
    struct format_notes notes;
    struct err err;
    if (q->traces.count != 2) {
        err_set(&err, ERR_INPUT,
                "'convert' takes the trace to read and the one to write, as in: orrery trace convert "
                "run.orr run.otf2");
        return cli_fail(&err);
    }
    if (cli_is_stdout(q->traces.names[1])) {
        err_set(&err, ERR_INPUT, "'convert' cannot write to standard output: give a file");
        return cli_fail(&err);
    }
    format_notes_init(&notes);
    int rc = formats_convert(q->traces.names[0], q->traces.names[1], q->to, &notes, &err);
    cli_say_notes(q->traces.names[1], &notes);
    return rc == 0 ? EXIT_DONE : cli_fail(&err);
}

/* ---- the table of actions ---- */

static const struct cli_action actions[] = {
    {{"info", "describe traces: program, ranks, times and size"}, info},
    {{"print", "the records as text, rank by rank"}, print},
    {{"verify", "whether traces are complete, undamaged and in order"}, verify},
    {{"cut", "a part of a trace: some ranks or an interval of time"}, cut},
    {{"merge", "one trace from the parts that a killed run has left"}, merge},
    {{"convert", "a trace in the format of another tool, or from it"}, convert},
};

static void actions_help(struct buf *out)
{
    const struct trace_format *f;
    cli_actions_help(actions, sizeof actions / sizeof actions[0], out);
    buf_adds(out, "\nFormats:\n");
    for (size_t i = 0; (f = formats_at(i)); i++)
        buf_addf(out, "  %-8s %-8s %-7s %s\n", f->name, f->suffix,
                 !f->read    ? "write"
                 : !f->write ? "read"
                             : "both",
                 f->about);
}

static const struct cli_usage usage = {
    .command = "trace",
    .synopsis = "info|print|verify|cut|merge|convert [options] trace...",
    .about =
        "Traces of programs (files that end in .orr): the MPI calls of every rank, with times and "
        "arguments. Traces of other tools can be read, too (see Formats). Of a trace that was cut off, "
        "the intact part is read. Exit status: 0; 1 if 'verify' found faults; 2 for errors.",
    .options = options,
    .more = actions_help,
    CLI_WORDS(actions),
};

static int trace_main(int argc, char **argv)
{
    struct request q = {.cut = {0, UINT64_MAX, INT64_MIN, INT64_MAX}};
    return cli_actions_main(&usage, argc, argv, &q, &q.traces);
}

const struct cli_command cli_cmd_trace = {
    .summary = "describe, print, check, cut, merge and convert traces",
    .usage = &usage,
    .main = trace_main,
};
