/*
 * cmd_record.c - `orrery record`: runs a program natively, with a library in it that records its
 * MPI calls, and merges what the ranks have written into a trace.
 *
 * Each process writes a part (trace/part.h) next to the trace, or in the directory of --dir.
 * However the program ends, the existing parts become the trace.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/units.h"
#include "cli/apps_read.h"
#include "cli/cli.h"
#include "cli/outputs.h"
#include "cli/parts.h"
#include "cli/shared.h"
#include "cli/trace_stats.h"
#include "cli/trace_summary.h"
#include "cli/webpage.h"
#include "launch/argv.h"
#include "launch/launch.h"
#include "launch/native.h"
#include "launch/watch.h"
#include "native/options.h"
#include "native/status.h"
#include "trace/clocks.h"
#include "trace/reader.h"

struct request {
    uint64_t ranks; /* of the first program, as given */
    const char *app_file;
    struct launch_apps apps;
    const char *output, *launcher, *directory, *report, *stats, *json;
    int32_t stops_on_full; /* index in full_words */
    int keeps_sites, is_profile, is_quiet;
    int progress;         /* 1 yes, 0 no, -1: if standard error is a terminal */
    char trace[PATH_MAX]; /* absolute */
    char parts[PATH_MAX]; /* the beginning of the names of parts */
    int spawns;           /* it imports MPI_Comm_spawn */
};

/* ---- options ---- */

static int set_ranks(void *into, const char *value, struct err *err)
{
    return launch_native_ranks(&((struct request *)into)->ranks, value, err);
}

static int set_app(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->app_file, value, err);
}

static int set_output(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->output, value, err);
}

static int set_launcher(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->launcher, value, err);
}

static int set_directory(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->directory, value, err);
}

static const char *const full_words[] = {"continue", "stop", NULL};

static int set_full(void *into, const char *value, struct err *err)
{
    return cli_options_choose(value, full_words, &((struct request *)into)->stops_on_full, err);
}

static int set_call_sites(void *into, const char *value, struct err *err)
{
    (void)value, (void)err;
    ((struct request *)into)->keeps_sites = 1;
    return 0;
}

static int set_profile_only(void *into, const char *value, struct err *err)
{
    (void)value, (void)err;
    ((struct request *)into)->is_profile = 1;
    return 0;
}

static int set_quiet(void *into, const char *value, struct err *err)
{
    ((struct request *)into)->is_quiet = 1;
    return cli_shared_quiet(into, value, err);
}

static int set_report(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->report, value, err);
}

static int set_stats(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->stats, value, err);
}

static int set_progress(void *into, const char *value, struct err *err)
{
    (void)value, (void)err;
    ((struct request *)into)->progress = 1;
    return 0;
}

static int set_no_progress(void *into, const char *value, struct err *err)
{
    (void)value, (void)err;
    ((struct request *)into)->progress = 0;
    return 0;
}

static int set_json(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->json, value, err);
}

static const struct cli_option options[] = {
    {CLI_SHARED_RANKS, set_ranks},
    {CLI_SHARED_APP, set_app},
    {CLI_NAMED_OUTPUT, "FILE", "the trace to write (default: name of the program, and .orr)",
     set_output},
    {CLI_NAMED_LAUNCHER, "COMMAND",
     "command that starts the processes\n"
     "starts the processes; \"-n N\" and the program follow (default " LAUNCH_NATIVE_LAUNCHER ")",
     set_launcher},
    {"dir", 0, NULL, "DIR",
     "where ranks write while they run\n"
     "where ranks write while they run; all nodes must share it (default: next to the trace)",
     set_directory},
    {"on-full", 0, NULL, "WHAT",
     "if nothing can be written: continue (default) or stop\n"
     "if a rank cannot write any more, for instance because the disk is full: continue (default) without recording, "
     "or stop the program",
     set_full},
    {CLI_SHARED_CALL_SITES, set_call_sites},
    {CLI_SHARED_PROFILE_ONLY, set_profile_only},
    {CLI_SHARED_STATS, set_stats},
    {CLI_SHARED_REPORT, set_report},
    {CLI_SHARED_JSON, set_json},
    {CLI_SHARED_QUIET, set_quiet},
    {CLI_SHARED_PROGRESS, set_progress},
    {CLI_SHARED_NO_PROGRESS, set_no_progress},
    {0},
};

static const struct cli_values values[] = {{"on-full", full_words}, {0}};

static const struct cli_usage usage = {
    .command = "record",
    .synopsis = "-n N [options] [--] program [arguments...] [: -n N program [arguments...]] ...",
    .about =
        "Runs an MPI program, or several together, natively, on this computer or, by a launcher, on others, and records every MPI call of "
        "every rank in a trace. The program is any dynamic executable of MPICH or of an MPI with the same ABI. "
        "Exit status: that of the program, 2 for wrong usage or input.",
    .options = options,
    .values = values,
    .arguments = CLI_ARGUMENTS_PROGRAM,
};

/* ---- names ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int make_names(struct request *q, const char *program, struct err *err)
{
    char name[PATH_MAX], directory[PATH_MAX];
    int n = snprintf(name, sizeof name, "%s%s", q->output ? q->output : base_name(program),
                     q->output ? "" : TRACE_SUFFIX);
    if (n < 0 || (size_t)n >= sizeof name)
        return err_set(err, ERR_INPUT, "the file name is too long");
    const struct cli_output outputs[] = {{"--output", name},
                                         {"--stats", q->stats},
                                         {"--report", q->report},
                                         {"--json", q->json}};
    int rc = cli_outputs_check_trace("--output", name, err);
    if (rc == 0)
        rc = cli_outputs_check(outputs, sizeof outputs / sizeof outputs[0], err);
    if (rc == 0 && q->report)
        rc = cli_webpage_find(directory, sizeof directory, err);
    if (rc == 0)
        rc = path_absolute(name, q->trace, sizeof q->trace, err);
    if (rc == 0 && q->directory)
        rc = path_absolute(q->directory, directory, sizeof directory, err);
    if (rc)
        return rc;
    if (q->directory && access(directory, W_OK | X_OK) != 0)
        return err_set(err, ERR_INPUT, "--dir: cannot write to '%s': %s", q->directory,
                       strerror(errno));
    n = q->directory ? snprintf(q->parts, sizeof q->parts, "%s/%s", directory, base_name(q->trace))
                     : snprintf(q->parts, sizeof q->parts, "%s", q->trace);
    return n >= 0 && (size_t)n < sizeof q->parts
               ? 0
               : err_set(err, ERR_INPUT, "the file name is too long");
}

static void remove_counter(const struct request *q)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s" NATIVE_COUNTER, q->parts);
    unlink(path);
}

/* ---- the program ---- */

static int set_environment(const struct request *q, struct err *err)
{
    char directory[PATH_MAX], text[2 * PATH_MAX + 64];
    const char *before = getenv("LD_PRELOAD");
    int rc = launch_libdir(directory, sizeof directory, err);
    if (rc)
        return rc;
    snprintf(text, sizeof text, "%s/%s%s%s", directory, NATIVE_LIBRARY, before ? ":" : "",
             before ? before : "");
    setenv("LD_PRELOAD", text, 1);
    char flags[4], *flag = flags;
    if (q->stops_on_full)
        *flag++ = NATIVE_STOP;
    if (q->keeps_sites)
        *flag++ = NATIVE_SITES;
    if (q->is_profile)
        *flag++ = NATIVE_PROFILE;
    *flag = '\0';
    snprintf(text, sizeof text, "%s:%s", flags, q->parts);
    setenv(NATIVE_VARIABLE, text, 1);
    return 0;
}

static int run(const struct request *q, struct launch_supervise_end *end, struct err *err)
{
    struct launch_argv argv = {0};
    int rc = launch_argv_split(&argv, "--launcher",
                               q->launcher ? q->launcher : LAUNCH_NATIVE_LAUNCHER, err);
    if (rc == 0)
        rc = set_environment(q, err);
    if (rc == 0) {
        launch_apps_publish(&q->apps);
        launch_apps_add_native(&q->apps, NULL, &argv);
        rc = launch_supervise_run(&argv, NULL, end, err);
    }
    unsetenv("LD_PRELOAD");
    launch_argv_fini(&argv);
    return rc;
}

/* ---- the trace ---- */

/* Messages that seem to arrive before they are sent. */
struct backwards {
    uint64_t messages, count;
    int64_t most; /* ticks */
};

static void see_message(void *context, uint32_t from, uint32_t to, int64_t sent, int64_t received)
{
    struct backwards *b = context;
    (void)from, (void)to;
    b->messages++;
    b->count += received < sent;
    b->most = sent - received > b->most ? sent - received : b->most;
}

/* Clocks of several nodes agree only as well as they could be compared. */
static void check_clocks(const struct request *q, const struct trace *t)
{
    const char *clocks = trace_header_get(&t->header, TRACE_CLOCKS_PROPERTY);
    struct backwards b = {0};
    const struct analysis_watch watch = {.context = &b, .message = see_message};
    const struct analysis_options options = {.groups = 1u << ANALYSIS_PAIRS, .watch = &watch};
    struct analysis a;
    struct err err;
    char most[UNITS_TEXT_MAX];
    if (!clocks || analysis_run(&a, q->trace, &options, &err) != 0)
        return;
    analysis_fini(&a);
    if (b.count)
        log_warn(
            "%llu of %llu messages end up to %s before they are sent: clocks (%s) agree no better; do not rely on "
            "times as short as that",
            (unsigned long long)b.count, (unsigned long long)b.messages,
            units_format_time(most, sizeof most, b.most * (int64_t)t->header.tick), clocks);
}

static void say(const struct request *q, int status)
{
    struct trace t;
    struct err err;
    if (trace_open(&t, q->trace, &err) != 0)
        return;
    check_clocks(q, &t);
    if (!q->is_quiet)
        log_note("%llu ranks and %llu records in '%s'%s", (unsigned long long)t.header.ranks,
                 (unsigned long long)t.records, q->trace,
                 status ? ", up to where the program has failed" : "");
    log_set_quiet(q->is_quiet && !status); /* it explains the failure */
    if (status && q->spawns)
        log_note(
            "the program spawns ranks (MPI_Comm_spawn), which not every MPI can do: MPICH over UCX, as Debian "
            "has it, cannot; 'orrery run' simulates it");
    trace_close(&t);
}

static int make_trace(const struct request *q, const char *program, int signal, int status)
{
    const struct launch_finish how = {.signal = signal,
                                      .progress = cli_shared_progress(q->progress, q->is_quiet),
                                      .quiet = q->is_quiet};
    struct launch_argv parts = {0};
    struct err err;
    int rc;
    cli_parts_find(q->parts, "", &parts);
    if (parts.count) {
        rc = cli_parts_join(q->trace, parts.at, parts.count, q->apps.ranks, &how);
        if (rc == EXIT_DONE)
            say(q, status);
    } else if (status) {
        rc = status;
        log_error("nothing was recorded: the program ended with status %d before MPI_Init returned",
                  status);
    } else {
        err_set(
            &err, ERR_INPUT,
            "nothing was recorded: no process of '%s' has called MPI_Init of an MPI with the ABI of MPICH; is it an "
            "MPI program, linked dynamically and with MPICH ('orrery check' tells), and does the launcher pass on "
            "the environment?",
            program);
        rc = cli_fail(&err);
    }
    remove_counter(q);
    launch_argv_fini(&parts);
    return status ? status : rc;
}

/* Statistics, the page of --report and the summary of --json, also of a program that failed.
 * Returns the status, or that of a failure here. */
static int write_results(const struct request *q, int status, int signal, double wall_s)
{
    const struct cli_trace_summary summary = {.trace = q->trace,
                                              .ranks = q->apps.ranks,
                                              .wall_s = wall_s,
                                              .status = status,
                                              .cause = signal   ? "stopped"
                                                       : status ? "failed"
                                                                : "done"};
    int trouble = EXIT_DONE, rc, has_trace = access(q->trace, R_OK) == 0;
    if (q->stats && has_trace)
        trouble = cli_trace_stats_write(q->trace, q->stats);
    if (q->report && has_trace) {
        rc = cli_webpage_show(q->trace, base_name(q->trace), q->report);
        trouble = rc ? rc : trouble;
    }
    if (q->json) {
        rc = cli_trace_summary_write(&summary, q->json);
        trouble = rc ? rc : trouble;
    }
    return status ? status : trouble;
}

static int record_main(int argc, char **argv)
{
    struct request q = {.progress = -1};
    struct err err;
    uint32_t needs = 0;
    struct launch_supervise_end end;
    int next, status, fd;
    if (cli_begin(&usage, argc, argv, &q, &next, &status))
        return status;
    int rc = cli_apps_read(&q.apps, usage.command, q.app_file, q.ranks, LAUNCH_NATIVE_RANKS_MAX,
                           argc - next, argv + next, &err);
    if (rc == 0)
        rc = launch_native_check(&q.apps, &needs, &err);
    q.spawns = (needs & MPI_NEED_SPAWN) != 0;
    if (rc == 0)
        rc = make_names(&q, q.apps.at[0].words.at[0], &err);
    if (rc == 0)
        rc = cli_parts_check_none(q.parts, &err);
    double start = launch_watch_now();
    fd = native_status_make();
    if (rc == 0)
        rc = run(&q, &end, &err);
    if (rc)
        status = cli_fail(&err);
    else {
        double wall_s = launch_watch_now() - start;
        status = make_trace(&q, q.apps.at[0].words.at[0], end.signal,
                            launch_native_judge(&end, fd, q.apps.ranks, 0));
        status = write_results(&q, status, end.signal, wall_s);
    }
    launch_apps_fini(&q.apps);
    return status;
}

const struct cli_command cli_cmd_record = {
    .summary = "run a program natively and record its MPI calls",
    .usage = &usage,
    .starts = 1,
    .cleans_up = 1,
    .main = record_main,
};
