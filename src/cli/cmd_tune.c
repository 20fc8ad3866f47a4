/*
 * cmd_tune.c - `orrery tune`: searches for settings of the machine with which a program behaves
 * as it does in a reference trace.
 */
#define _GNU_SOURCE 1
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/tables.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "cli/cli.h"
#include "cli/notes.h"
#include "cli/outputs.h"
#include "cli/replay_command.h"
#include "cli/shared.h"
#include "cli/tune_options.h"
#include "cli/tune_report.h"
#include "cli/uses.h"
#include "launch/supervise_tree.h"
#include "launch/watch.h"
#include "run/run.h"

#define LOOK_S 0.5     /* between two looks at processes */
#define EVALUATIONS 80 /* for each parameter, and as many more */
/* Errors that differ by less than this fraction of the least error count as equal, and so do those
 * that differ by less than TOLERANCE_LEAST (tune/tune.h). */
#define TOLERANCE_PART 0.1
#define TOLERANCE_LEAST 0.002
#define GROUPS                                                                  \
    (1u << ANALYSIS_OVERALL | 1u << ANALYSIS_RANKS | 1u << ANALYSIS_FUNCTIONS | \
     1u << ANALYSIS_PHASES | 1u << ANALYSIS_PAIRS)

/* ---- the machine ---- */

/* Makes the machine of some values, if it can be simulated and uses all of them. */
static int make_machine(struct cli_tune *t, const double *values, struct platform *out,
                        struct err *err)
{
    struct cli_machine given = {.platform = t->runs.common.given.platform};
    struct cli_size size;
    struct buf notes;
    char *sets = tune_run_text(&t->run, values);
    for (size_t i = 0; i < t->runs.common.given.set_count; i++)
        cli_machine_add(&given, t->runs.common.given.sets[i]);
    for (size_t i = 0; i < t->fixed_count; i++)
        cli_machine_add(&given, t->fixed[i]);
    cli_machine_add(&given, sets);
    int rc = cli_machine_make(&given, out, err);
    if (rc == 0) {
        buf_init(&notes);
        rc = cli_machine_check(&given, out, &size, err);
        if (rc == 0)
            rc = cli_uses_check(&given, out, &notes, err);
        buf_fini(&notes);
        if (rc)
            platform_fini(out);
    }
    cli_machine_fini(&given);
    mem_free(sets);
    return rc;
}

static int check_bounds(struct cli_tune *t, struct err *err)
{
    int rc = t->count
                 ? 0
                 : err_set(err, ERR_INPUT,
                           "nothing to search for: give bounds, as in --set net.latency=1us..1ms");
    for (int high = 0; high < 2 && rc == 0; high++) {
        double values[TUNE_PARAMETERS_MAX];
        struct platform p;
        for (size_t i = 0; i < t->count; i++)
            values[i] = high ? t->parameters[i].high : t->parameters[i].low;
        rc = make_machine(t, values, &p, err);
        if (rc == 0)
            platform_fini(&p);
    }
    return rc;
}

static int write_machine(struct cli_tune *t, const double *values, struct err *err)
{
    struct platform p;
    struct buf text;
    if (!t->output)
        return 0;
    int rc = make_machine(t, values, &p, err);
    if (rc)
        return rc;
    buf_init(&text);
    platform_write(&p, cli_uses_setting, &text);
    rc = buf_write_file(&text, t->output, err);
    buf_fini(&text);
    platform_fini(&p);
    return rc;
}

/* ---- the search ---- */

static void erase(struct cli_tune *t)
{
    if (t->drawn)
        sys_write_all(STDERR_FILENO, "\r\033[K", 4);
    t->drawn = 0;
}

static void progress(void *owner, unsigned done, unsigned most, double least)
{
    struct cli_tune *t = (struct cli_tune *)((char *)owner - offsetof(struct cli_tune, run));
    char line[128];
    if (!t->progress)
        return;
    int length = done <= most
                     ? snprintf(line, sizeof line, "\r%u of %u runs, least error %.3g%%\033[K  ",
                                done, most, 100 * least)
                     : snprintf(line, sizeof line,
                                "\r%u runs, how well the settings are determined\033[K  ", done);
    sys_write_all(STDERR_FILENO, line, (size_t)length);
    t->drawn = 1;
}

/* Signals end the search; stopped processes are reported. */
static void *watch(void *argument)
{
    struct cli_tune *t = argument;
    struct supervise_tree tree;
    int signals = launch_watch_signals();
    struct pollfd readable = {.fd = signals, .events = POLLIN};
    supervise_tree_init(&tree, 0, 0);
    for (double next = 0; !atomic_load(&t->is_done);) {
        poll(&readable, 1, 100);
        for (int number; (number = launch_watch_signal(signals)) != 0;)
            if (number != SIGCHLD)
                atomic_store(&t->stop, number);
        if (launch_watch_now() < next)
            continue;
        supervise_tree_look(&tree, launch_watch_now());
        next = launch_watch_now() + LOOK_S;
    }
    supervise_tree_fini(&tree);
    close(signals);
    return NULL;
}

/* Describes the search for the log: another search must not continue from it. */
static char *describe(const struct cli_tune *t)
{
    struct buf text;
    buf_init(&text);
    buf_adds(&text, t->reference_path);
    for (size_t i = 0; i < t->count; i++)
        buf_addf(&text, " %s=%g..%g", t->settings[i].key, t->parameters[i].low,
                 t->parameters[i].high);
    buf_addf(&text, " groups=%x run", t->groups);
    for (size_t i = 0; t->runs.options[i]; i++)
        buf_addf(&text, " %s", t->runs.options[i]);
    for (char *const *word = t->runs.program; *word; word++)
        buf_addf(&text, " %s", *word);
    char *copy = mem_strdup(buf_str(&text));
    for (char *at = copy; *at; at++)
        if (*at == '\n')
            *at = ' ';
    buf_fini(&text);
    return copy;
}

static int search(struct cli_tune *t, struct tune_result *result, struct err *err)
{
    struct tune_log log;
    char *about = describe(t);
    int rc = tune_log_open(&log, t->log_path, about, t->count, err);
    mem_free(about);
    if (rc)
        return rc;
    struct tune_problem p = {.parameters = t->parameters,
                             .count = t->count,
                             .evaluate = tune_run_evaluate,
                             .progress = progress,
                             .owner = &t->run,
                             .jobs = t->jobs,
                             .evaluations = t->evaluations,
                             .tolerance = t->tolerance,
                             .least_tolerance = TOLERANCE_LEAST,
                             .tolerance_part = TOLERANCE_PART,
                             .stop = &t->stop,
                             .log = &log};
    rc = tune_search(&p, result, err);
    erase(t);
    tune_log_close(&log);
    return rc;
}

/* ---- the command ---- */

/* Returns the status, or that of a failure here. */
static int write_json(const struct cli_tune *t, const struct tune_result *result,
                      const double *groups, double wall_s, int status)
{
    struct err err;
    struct buf text;
    buf_init(&text);
    cli_tune_json(t, result, groups, wall_s, status, &text);
    int rc = buf_write_file(&text, t->json, &err);
    buf_fini(&text);
    rc = rc ? cli_fail(&err) : EXIT_DONE;
    return status ? status : rc;
}

static int run_search(struct cli_tune *t)
{
    struct tune_result result;
    double groups[ANALYSIS_GROUPS], start = launch_watch_now();
    struct err err;
    struct buf text;
    int rc = search(t, &result, &err);
    int stopped = atomic_exchange(&t->stop, 0);
    if (stopped)
        log_error(RUN_SIGNAL_TEXT, stopped, strsignal(stopped));
    if (rc) {
        if (t->run.why)
            log_error("%s", t->run.why);
        return stopped ? 128 + stopped : cli_fail(&err);
    }
    if (t->run.why && !t->quiet)
        log_warn("some runs failed, such as %s", t->run.why);
    cli_tune_errors(t, &result, groups);
    buf_init(&text);
    cli_tune_report(t, &result, groups, &text);
    int status = cli_print(&text);
    buf_fini(&text);
    rc = write_machine(t, result.values, &err);
    status = rc ? cli_fail(&err) : stopped ? 128 + stopped : status;
    return t->json ? write_json(t, &result, groups, launch_watch_now() - start, status) : status;
}

/* From the first temporary file to the last, signals only end the search. */
static int run_watched(struct cli_tune *t)
{
    pthread_t watcher;
    struct err err;
    launch_watch_block(&t->run.mask);
    int rc = tune_run_init(&t->run, &err), status;
    int watched = rc == 0 && pthread_create(&watcher, NULL, watch, t) == 0;
    status = rc ? cli_fail(&err) : run_search(t);
    atomic_store(&t->is_done, 1);
    if (watched)
        pthread_join(watcher, NULL);
    if (rc == 0)
        tune_run_fini(&t->run);
    sigprocmask(SIG_SETMASK, &t->run.mask, NULL);
    return status;
}

/* Reads the reference: a trace of any format that can be read, or statistics. */
static int read_reference(struct cli_tune *t, struct err *warning, struct err *err)
{
    struct format_notes notes;
    char *temporary;
    format_notes_init(&notes);
    int rc = formats_native(t->reference_path, &temporary, &notes, err);
    cli_say_notes(t->reference_path, &notes);
    if (rc == 0)
        rc = tables_from_file(&t->reference, temporary ? temporary : t->reference_path, t->groups,
                              warning, err);
    formats_forget(temporary);
    return rc;
}

static int check(struct cli_tune *t, struct err *err)
{
    const struct cli_output outputs[] = {{"--output", t->output}, {"--json", t->json}};
    struct err warning = {0};
    if (!t->groups)
        t->groups = GROUPS;
    if (!t->evaluations)
        t->evaluations = EVALUATIONS * (unsigned)(t->count + 1);
    int rc = cli_outputs_check(outputs, 2, err);
    if (rc == 0)
        rc = read_reference(t, &warning, err);
    if (rc == 0 && warning.code && !t->quiet)
        log_warn("%s", warning.text);
    return rc;
}

/* Checks all that can be checked before the first run. */
static int prepare(struct cli_tune *t, struct err *err)
{
    for (size_t i = 0; i < t->fixed_count; i++)
        cli_runs_add(&t->runs, (char *[]){"--set", t->fixed[i]}, 2);
    if (t->platform && t->runs.common.given.platform)
        return err_set(err, ERR_INPUT, "--platform was given twice: '%s' and '%s'", t->platform,
                       t->runs.common.given.platform);
    if (t->platform) {
        cli_runs_add(&t->runs, (char *[]){"--platform", (char *)t->platform}, 2);
        t->runs.common.given.platform = t->platform;
    }
    t->progress = cli_shared_progress(t->progress, t->quiet);
    t->run.settings = t->settings;
    t->run.count = t->count;
    t->run.stop = &t->stop;
    int rc = check_bounds(t, err);
    if (rc == 0)
        rc = check(t, err);
    t->run.options = t->runs.options;
    t->run.program = t->runs.program;
    t->run.reference = &t->reference;
    t->run.groups = t->groups;
    t->jobs = cli_runs_jobs(&t->runs, t->jobs, t->evaluations, t->quiet);
    return rc;
}

static int is_command(const char *word)
{
    return strcmp(word, "run") == 0 || strcmp(word, "replay") == 0;
}

/* A replay is a run of the replayer. */
static int read_replay(struct cli_tune *t, struct launch_argv *words, int argc, char **argv,
                       struct err *err)
{
    int rc = cli_replay_command(words, argc, argv,
                                &(struct cli_replay_machine){.has_platform = t->platform != NULL},
                                err);
    t->run.join = cli_replay_join;
    return rc ? rc
              : cli_runs_read(&t->runs, (int)words->count - 1, words->at + 1, NULL, NULL, NULL,
                              "orrery tune real.orr --set net.latency=1us..1ms replay run.orr",
                              err);
}

static int tune_main(int argc, char **argv)
{
    static const char example[] = "orrery tune real.orr --set net.latency=1us..1ms run -n 4 ./app";
    static struct cli_tune t; /* large, and there is only one */
    struct launch_argv words = {0};
    struct err err = {0};
    int next, status, rc;
    t.progress = -1;
    cli_runs_init(&t.runs);
    if (argc > 1 && argv[1][0] != '-') { /* the reference may precede the options */
        t.reference_path = argv[1];
        argv[1] = argv[0];
        argc--, argv++;
    }
    if (cli_begin(&cli_tune_usage, argc, argv, &t, &next, &status))
        return status;
    if (next < argc && !t.reference_path && !is_command(argv[next]))
        t.reference_path = argv[next++];
    if (!t.reference_path)
        rc = err_set(&err, ERR_INPUT, "no reference given, as in: %s", example);
    else if (next < argc && strcmp(argv[next], "replay") == 0)
        rc = read_replay(&t, &words, argc - next, argv + next, &err);
    else if (next >= argc || strcmp(argv[next], "run") != 0)
        rc = err_set(&err, ERR_INPUT, "expected 'run' before the program, as in: %s", example);
    else
        rc = cli_runs_read(&t.runs, argc - next, argv + next, NULL, NULL, NULL, example, &err);
    if (rc == CLI_OPTIONS_HELP)
        return cli_runs_help();
    if (rc == 0)
        rc = prepare(&t, &err);
    if (rc)
        return cli_fail(&err);
    status = run_watched(&t);
    tables_fini(&t.reference);
    cli_runs_fini(&t.runs);
    launch_argv_fini(&words);
    return status;
}

const struct cli_command cli_cmd_tune = {
    .summary = "find settings with which a program behaves as in a trace",
    .usage = &cli_tune_usage,
    .starts = 1,
    .main = tune_main,
};
