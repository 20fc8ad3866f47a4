/*
 * `orrery analyze`: what a trace says about a program.
 */
#include <string.h>

#include "analysis/tables.h"
#include "base/log.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/notes.h"

enum format { FORMAT_TEXT, FORMAT_XML, FORMAT_JSON, FORMAT_CSV };

struct request {
    enum format format;
    const char *output;
};

static const char *const formats[] = {"text", "xml", "json", "csv", NULL};

static int set_format(void *into, const char *value, struct err *err)
{
    for (int i = 0; formats[i]; i++)
        if (strcmp(value, formats[i]) == 0) {
            ((struct request *)into)->format = (enum format)i;
            return 0;
        }
    return err_set(err, ERR_INPUT, "unknown format '%s': expected text, xml, json or csv", value);
}

static int set_output(void *into, const char *value, struct err *err)
{
    ((struct request *)into)->output = value;
    return *value ? 0 : err_set(err, ERR_INPUT, "the file name is empty");
}

static const struct cli_option options[] = {
    {"format", 0, NULL, "FORMAT", "text (default), xml, json or csv", set_format},
    {"output", 'o', NULL, "FILE", "write to FILE instead of standard output", set_output},
    {0},
};

static void groups_help(struct buf *out)
{
    buf_adds(out, "\nGroups:\n");
    for (unsigned i = 0; i < ANALYSIS_GROUPS; i++)
        buf_addf(out, "  %-25s %s\n", analysis_groups[i].name, analysis_groups[i].about);
}

static const struct cli_values values[] = {{"format", formats}, {0}};

static const struct cli_usage usage = {
    .command = "analyze",
    .synopsis = "[options] trace [group...]",
    .about = "Statistics of a trace: traffic and times, MPI functions, phases between collectives, "
             "wait states and what caused them, the critical path, efficiencies. Without groups "
             "all are printed. 'orrery compare' compares two traces, or two files that "
             "'--format xml' has written. Exit status: 0, or 2 for errors.",
    .options = options,
    .more = groups_help,
    .values = values,
    .arguments = CLI_ARGUMENTS_TRACES,
    .words = analysis_groups,
    .word_count = ANALYSIS_GROUPS,
    .word_size = sizeof analysis_groups[0],
};

/* The bit of a group, or 0 with an error. */
static unsigned find_group(const char *name, struct err *err)
{
    struct nearest nearest = {.word = name};
    for (unsigned i = 0; i < ANALYSIS_GROUPS; i++) {
        if (strcmp(analysis_groups[i].name, name) == 0)
            return 1u << i;
        nearest_offer(&nearest, analysis_groups[i].name);
    }
    if (nearest.best)
        err_set(err, ERR_INPUT, "unknown group '%s': did you mean '%s'?", name, nearest.best);
    else
        err_set(err, ERR_INPUT, "unknown group '%s': 'orrery analyze --help' lists them", name);
    return 0;
}

static void write_result(const struct analysis *a, enum format format, struct buf *out)
{
    static void (*const write[])(const struct tables *, struct buf *) = {
        [FORMAT_XML] = tables_write_xml,
        [FORMAT_JSON] = tables_write_json,
        [FORMAT_CSV] = tables_write_csv,
    };
    struct tables tables;
    if (format == FORMAT_TEXT) {
        tables_text(a, out);
        return;
    }
    tables_from_analysis(&tables, a);
    write[format](&tables, out);
    tables_fini(&tables);
}

static int analyze(const struct request *q, const char *path, unsigned groups)
{
    struct analysis_options o = {.name = path, .groups = groups};
    struct analysis a;
    struct buf out;
    struct err err;
    char *temporary;
    int status = cli_native_trace(path, &temporary);
    if (status)
        return status;
    int rc = analysis_run(&a, temporary ? temporary : path, &o, &err);
    formats_forget(temporary);
    if (rc != 0)
        return cli_fail(&err);
    if (a.warning.code)
        log_warn("%s: what is whole is analysed", a.warning.text);
    if (a.lost > 0)
        log_warn("%.0f records could not be written when the trace was recorded", a.lost);
    buf_init(&out);
    write_result(&a, q->format, &out);
    if (q->output && buf_write_file(&out, q->output, &err) != 0)
        status = cli_fail(&err);
    else if (!q->output)
        status = cli_print(&out);
    buf_fini(&out);
    analysis_fini(&a);
    return status;
}

static int analyze_main(int argc, char **argv)
{
    struct request q = {0};
    const char *path = NULL;
    unsigned groups = 0, group;
    struct err err;
    int next, status;
    for (;;) { /* options may come anywhere */
        if (cli_begin(&usage, argc, argv, &q, &next, &status))
            return status;
        if (next >= argc)
            break;
        argc -= next;
        argv += next;
        if (!path)
            path = argv[0];
        else if ((group = find_group(argv[0], &err)))
            groups |= group;
        else
            return cli_fail(&err);
    }
    if (!path) {
        err_set(&err, ERR_INPUT, "no trace given, as in: orrery analyze run.orr");
        return cli_fail(&err);
    }
    return analyze(&q, path, groups);
}

const struct cli_command cli_cmd_analyze = {
    .summary = "statistics, wait states and the critical path of a trace",
    .usage = &usage,
    .main = analyze_main,
};
