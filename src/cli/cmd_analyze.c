/*
 * cmd_analyze.c - `orrery analyze`: what a trace says about a program.
 */
#include <string.h>

#include "analysis/tables.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/groups.h"
#include "cli/machine.h"
#include "cli/notes.h"
#include "cli/shared.h"
#include "cli/table_format.h"
#include "report/routed.h"

struct request {
    enum cli_format format;
    const char *output;
    struct cli_machine machine;
    struct platform platform; /* if `has_platform` */
    int has_platform;
};

static int set_format(void *into, const char *value, struct err *err)
{
    return cli_format_parse(value, &((struct request *)into)->format, err);
}

static int set_output(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->output, value, err);
}

static int set_platform(void *into, const char *value, struct err *err)
{
    struct request *q = into;
    q->has_platform = 1;
    return cli_options_text(&q->machine.platform, value, err);
}

static int set_setting(void *into, const char *value, struct err *err)
{
    struct request *q = into;
    (void)err;
    cli_machine_add(&q->machine, value);
    q->has_platform = 1;
    return 0;
}

static const struct cli_option options[] = {
    {CLI_SHARED_FORMAT, set_format},
    {CLI_SHARED_OUTPUT, set_output},
    {CLI_NAMED_PLATFORM, "NAME",
     "route messages through its links, for their load\n"
     "a machine, a preset or a file: the load of its links over time is found by routing the messages through its topology, "
     "for traces that do not have the load of links",
     set_platform},
    {CLI_SHARED_SET, set_setting},
    {CLI_SHARED_QUIET, cli_shared_quiet},
    {0},
};

static void groups_help(struct buf *out)
{
    buf_adds(out, "\nGroups:\n");
    for (unsigned i = 0; i < ANALYSIS_GROUPS; i++)
        buf_addf(out, "  %-25s %s\n", analysis_groups[i].name, analysis_groups[i].about);
}

static const struct cli_values values[] = {{"format", cli_formats}, {0}};

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

static void write_result(const struct analysis *a, enum cli_format format, struct buf *out)
{
    struct tables tables;
    if (format == CLI_FORMAT_TEXT) {
        tables_text(a, out);
        return;
    }
    tables_from_analysis(&tables, a);
    cli_format_write(format, &tables, out);
    tables_fini(&tables);
}

static int print_result(const struct request *q, const struct analysis *a)
{
    struct buf out;
    struct err err;
    int status = EXIT_DONE;
    if (a->warning.code)
        log_warn("%s: the intact part is analysed", a->warning.text);
    if (a->events == 0)
        log_warn("'%s' has no records", a->source);
    if (a->lost > 0)
        log_warn("%.0f records could not be written when the trace was recorded", a->lost);
    buf_init(&out);
    write_result(a, q->format, &out);
    if (q->output && buf_write_file(&out, q->output, &err) != 0)
        status = cli_fail(&err);
    else if (!q->output)
        status = cli_print(&out);
    buf_fini(&out);
    return status;
}

/* `trace` is the file to read; `routed` observes messages, or is NULL. */
static int analyze_routed(const struct request *q, const char *trace,
                          const struct analysis_options *options, struct routed *routed)
{
    struct analysis a;
    struct err err;
    struct analysis_options o = *options;
    const struct analysis_watch watch = {.context = routed, .transfer = routed_take};
    if (routed) {
        o.watch = &watch;
        o.groups |= o.groups ? 1u << ANALYSIS_PAIRS : 0; /* messages must be matched */
    }
    if (analysis_run(&a, trace, &o, &err) != 0)
        return cli_fail(&err);
    a.groups = options->groups ? options->groups : a.groups;
    if (routed) {
        routed_finish(routed, &a);
        a.groups |= 1u << ANALYSIS_LINKS;
        if (routed->err.code)
            log_warn("links: %s", routed->err.text);
    }
    int status = print_result(q, &a);
    analysis_fini(&a);
    return status;
}

static int init_routed(const struct request *q, const char *path, struct routed *routed,
                       struct err *err)
{
    struct trace t;
    if (trace_open(&t, path, err) != 0)
        return err->code;
    int rc = routed_init(routed, &t, &q->platform, err);
    trace_close(&t);
    return rc;
}

/* `path` is the name of the trace for the user. */
static int analyze_native(const struct request *q, const char *trace, const char *path,
                          unsigned groups)
{
    const struct analysis_options o = {.name = path, .groups = groups};
    struct routed routed;
    struct err err;
    if (!q->has_platform)
        return analyze_routed(q, trace, &o, NULL);
    if (init_routed(q, trace, &routed, &err) != 0)
        return cli_fail(&err);
    int status = analyze_routed(q, trace, &o, &routed);
    routed_fini(&routed);
    return status;
}

static int analyze(struct request *q, const char *path, unsigned groups)
{
    struct err err;
    char *temporary;
    if (q->has_platform && cli_machine_make(&q->machine, &q->platform, &err) != 0)
        return cli_fail(&err);
    int status = cli_trace_as_orr(path, &temporary);
    if (status == EXIT_DONE)
        status = analyze_native(q, temporary ? temporary : path, path, groups);
    formats_forget(temporary);
    if (q->has_platform)
        platform_fini(&q->platform);
    return status;
}

static int analyze_main(int argc, char **argv)
{
    static struct request q; /* too large for the stack */
    const char *path = NULL, *word;
    unsigned groups = 0, group;
    struct err err;
    int status;
    for (;;) {
        if (cli_next(&usage, &argc, &argv, &q, &word, &status))
            return status;
        if (!word)
            break;
        if (!path)
            path = word;
        else if ((group = cli_group_find(word, NULL, &err)))
            groups |= group;
        else
            return cli_fail(&err);
    }
    if (!path) {
        err_set(&err, ERR_INPUT, "no trace given, as in: orrery analyze run.orr");
        return cli_fail(&err);
    }
    status = analyze(&q, path, groups);
    cli_machine_fini(&q.machine);
    return status;
}

const struct cli_command cli_cmd_analyze = {
    .summary = "statistics, wait states and the critical path of a trace",
    .usage = &usage,
    .main = analyze_main,
};
