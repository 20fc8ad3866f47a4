/*
 * cmd_report.c - `orrery report`: a page that shows one trace, or two side by side.
 */
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/machine.h"
#include "cli/notes.h"
#include "cli/outputs.h"
#include "cli/shared.h"
#include "cli/webpage.h"

struct request {
    struct report report;
    size_t named, placed;
    const char *platforms[REPORT_TRACES_MOST];
    struct cli_machine changes; /* the settings, without a platform */
};

/* ---- options ---- */

static int set_output(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->report.page, value, err);
}

static int set_pictures(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->report.pictures, value, err);
}

static int set_name(void *into, const char *value, struct err *err)
{
    struct request *q = into;
    if (q->named == REPORT_TRACES_MOST)
        return err_set(err, ERR_INPUT, "there are at most %d traces to name", REPORT_TRACES_MOST);
    q->report.names[q->named++] = value;
    return 0;
}

static int set_platform(void *into, const char *value, struct err *err)
{
    struct request *q = into;
    if (q->placed == REPORT_TRACES_MOST)
        return err_set(err, ERR_INPUT, "there are at most %d traces", REPORT_TRACES_MOST);
    q->platforms[q->placed++] = value;
    return 0;
}

static int set_settings(void *into, const char *value, struct err *err)
{
    (void)err;
    cli_machine_add(&((struct request *)into)->changes, value);
    return 0;
}

static const struct cli_option options[] = {
    {CLI_NAMED_OUTPUT, "FILE", "the page to write (FILE.html)", set_output},
    {"svg", 0, NULL, "DIR", "write pictures of all panels to a folder", set_pictures},
    {"name", 0, NULL, "TEXT",
     "what to call a trace; once for each\n"
     "what to call a trace in the report, instead of its file name; given twice, the second is for the second trace",
     set_name},
    {CLI_NAMED_PLATFORM, "NAME",
     "route messages through its links, for their load\n"
     "a machine, a preset or a file that ends in .yaml: the load of links is found by routing the messages through its topology, "
     "for traces that do not have it; if given once, it is the machine of all traces",
     set_platform},
    {CLI_SHARED_SET, set_settings},
    {CLI_SHARED_QUIET, cli_shared_quiet},
    {0},
};

static const struct cli_usage usage = {
    .command = "report",
    .synopsis = "[options] trace [trace] -o FILE.html",
    .about =
        "Shows a trace as a page that any browser can open, without a network: what the program spent its "
        "time on, how well it ran in parallel, who sent to whom, who waited for whom, and a "
        "timeline to zoom into. Two traces are shown side by side: of two machines, of two versions, "
        "or of a real run and a simulated one.",
    .options = options,
};

/* ---- the command ---- */

static int parse(struct request *q, int argc, char **argv, int *status)
{
    const char *word;
    struct err err;
    for (;;) {
        if (cli_next(&usage, &argc, &argv, q, &word, status))
            return 1;
        if (!word)
            break;
        if (q->report.count == REPORT_TRACES_MOST) {
            err_set(&err, ERR_INPUT, "a report shows one trace or two, but '%s' is another one",
                    word);
            *status = cli_fail(&err);
            return 1;
        }
        q->report.traces[q->report.count++] = word;
    }
    return 0;
}

static int check(struct request *q, char *template, size_t size, struct err *err)
{
    const struct cli_output outputs[] = {{"--output", q->report.page}};
    if (q->report.count == 0)
        return err_set(err, ERR_INPUT, "no trace given, as in: orrery report run.orr -o run.html");
    if (!q->report.page && !q->report.pictures)
        return err_set(err, ERR_INPUT,
                       "no output given: use -o FILE.html, or --svg DIR for pictures");
    if (q->named > q->report.count)
        return err_set(err, ERR_INPUT, "--name was given %zu times, but there is one trace",
                       q->named);
    if (q->placed > q->report.count)
        return err_set(err, ERR_INPUT, "--platform was given %zu times, but there is one trace",
                       q->placed);
    int rc = cli_outputs_check(outputs, 1, err);
    if (rc == 0 && q->report.page)
        rc = cli_webpage_find(template, size, err);
    q->report.template = template;
    return rc;
}

/* Makes the machines that were given; on failure there is none. Settings alone change the default
 * one. */
static int make_machines(struct request *q, struct platform *machines, struct err *err)
{
    if (!q->placed && q->changes.set_count)
        q->platforms[q->placed++] = NULL;
    for (size_t i = 0; i < q->placed; i++) {
        q->changes.platform = q->platforms[i];
        int rc = cli_machine_make(&q->changes, &machines[i], err);
        if (rc) {
            while (i > 0)
                platform_fini(&machines[--i]);
            return rc;
        }
    }
    for (size_t i = 0; i < q->report.count && q->placed; i++)
        q->report.machines[i] = &machines[i < q->placed ? i : 0];
    return 0;
}

/* Writes the report, after converting traces of other tools. */
static int write_report(struct request *q)
{
    char *temporary[REPORT_TRACES_MOST] = {0};
    int status = EXIT_DONE;
    for (size_t i = 0; i < q->report.count && status == EXIT_DONE; i++) {
        const char *path = q->report.traces[i];
        status = cli_trace_as_orr(path, &temporary[i]);
        if (!temporary[i])
            continue;
        q->report.traces[i] = temporary[i];
        if (!q->report.names[i])
            q->report.names[i] = path;
    }
    if (status == EXIT_DONE)
        status = cli_webpage_write(&q->report);
    for (size_t i = 0; i < q->report.count; i++)
        formats_forget(temporary[i]);
    return status;
}

static int report_main(int argc, char **argv)
{
    static struct platform machines[REPORT_TRACES_MOST]; /* too large for the stack */
    struct request q = {0};
    struct err err;
    char template[PATH_MAX];
    int status = EXIT_DONE;
    if (parse(&q, argc, argv, &status))
        return status;
    if (check(&q, template, sizeof template, &err) || make_machines(&q, machines, &err))
        return cli_fail(&err);
    status = write_report(&q);
    for (size_t i = 0; i < q.placed; i++)
        platform_fini(&machines[i]);
    cli_machine_fini(&q.changes);
    return status;
}

const struct cli_command cli_cmd_report = {
    .summary = "show one trace or two as an HTML page",
    .usage = &usage,
    .main = report_main,
};
