/*
 * `orrery replay`: makes the calls of a trace again, in the simulator or on the real MPI, and shows
 * what came of it.
 *
 * The replayer is an MPI program of its own (src/replay). It writes a new trace.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "cli/cli.h"
#include "cli/notes.h"
#include "cli/outputs.h"
#include "cli/parts.h"
#include "cli/replay_answer.h"
#include "cli/replay_request.h"
#include "cli/replay_stuck.h"
#include "cli/shared.h"
#include "cli/trace_stats.h"
#include "cli/trace_summary.h"
#include "cli/webpage.h"
#include "formats/formats.h"
#include "launch/native.h"
#include "launch/supervise.h"
#include "launch/watch.h"
#include "replay/agreed.h"
#include "whatif/whatif.h"

#define LOOK_MS 500 /* between two looks at a replay in real time */

/* "run.orr": "run.replay.orr", in the current folder. */
static int name_output(struct cli_replay_request *q, struct err *err)
{
    char name[PATH_MAX];
    const char *base = strrchr(q->trace, '/');
    base = base ? base + 1 : q->trace;
    size_t length = strlen(base), suffix = strlen(TRACE_SUFFIX);
    if (length > suffix && strcmp(base + length - suffix, TRACE_SUFFIX) == 0)
        length -= suffix;
    if (q->output)
        snprintf(name, sizeof name, "%s", q->output);
    else
        snprintf(name, sizeof name, "%.*s" CLI_REPLAY_SUFFIX, (int)length, base);
    const struct cli_output outputs[] = {{"--output", name},
                                         {"--stats", q->stats},
                                         {"--report", q->report},
                                         {"--json", q->json}};
    int rc = cli_outputs_check_trace("--output", name, err);
    if (rc == 0)
        rc = cli_outputs_check(outputs, sizeof outputs / sizeof outputs[0], err);
    return rc ? rc : path_absolute(name, q->path, sizeof q->path, err);
}

/* ---- the new trace ---- */

/* What the replay did otherwise than the recording, of all processes. */
static void add_counts(const char *part, struct cli_replay_counts *sum)
{
    char path[PATH_MAX + 32];
    unsigned long long n[7] = {0};
    snprintf(path, sizeof path, "%s" REPLAY_COUNTS, part);
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    if (fscanf(file, "%llu %llu %llu %llu %llu %llu %llu", &n[0], &n[1], &n[2], &n[3], &n[4], &n[5],
               &n[6]) == 7) {
        sum->events += n[0], sum->remapped += n[1], sum->drawn += n[2];
        sum->forced += n[3], sum->removed += n[4], sum->unfinished += n[5];
        sum->timed += n[6];
    }
    fclose(file);
    unlink(path);
}

/* Makes the new trace of the parts that were written. */
static int join(const char *trace, const struct launch_finish *how,
                struct cli_replay_counts *counts)
{
    struct launch_argv names = {0};
    cli_parts_find(trace, "", &names);
    for (size_t i = 0; i < names.count; i++)
        add_counts(names.at[i], counts);
    int status = names.count ? cli_parts_join(trace, names.at, names.count, names.count, how)
                             : EXIT_USAGE;
    launch_argv_fini(&names);
    return status;
}

int cli_replay_join(const char *trace)
{
    struct cli_replay_counts counts = {0};
    return join(trace, NULL, &counts);
}

/* ---- the replay ---- */

static int report(const struct cli_replay_request *q)
{
    char template[PATH_MAX];
    struct err err;
    struct report page = {.traces = {q->source, q->path},
                          .names = {"original", "replay"},
                          .count = 2,
                          .page = q->report,
                          .template = template};
    if (cli_webpage_find(template, sizeof template, &err))
        return cli_fail(&err);
    return cli_webpage_write(&page);
}

/* Starts the replayer, and waits for it; on the real MPI nobody else notices a deadlock. */
static int run_words(const struct cli_replay_request *q, const struct launch_argv *words,
                     uint64_t ranks, struct cli_replay_counts *counts, int *signal, int *status,
                     struct err *err)
{
    struct cli_replay_stuck stuck = {.trace = q->path, .ranks = ranks, .limit = q->idle_limit};
    const struct launch_supervise_watch watch = {.every_ms = LOOK_MS,
                                                 .is_over = cli_replay_stuck_look,
                                                 .context = &stuck},
                                        simulated = {.every_ms = -1, .passes_on = 1};
    struct launch_supervise_end end = {0};
    int rc = launch_supervise_run(words, q->real_time ? &watch : &simulated, &end, err);
    *signal = end.signal;
    *status = end.signal ? 128 + end.signal : end.status;
    if (end.signal && q->real_time) /* a simulator says it itself */
        log_error(RUN_SIGNAL_TEXT, end.signal, strsignal(end.signal));
    if (q->real_time && launch_native_killed(&end)) {
        log_error(LAUNCH_NATIVE_KILLED, end.status, strsignal(end.status));
        *status = 128 + end.status;
    }
    if (stuck.is_found) {
        cli_replay_stuck_report(&stuck);
        *status = EXIT_FINDING;
        counts->remapped += stuck.reordered;
    }
    if (q->real_time)
        cli_replay_stuck_fini(&stuck);
    return rc;
}

static void advise(const struct cli_replay_request *q, const struct cli_replay_counts *n)
{
    uint64_t reordered = n->remapped + n->drawn + n->forced;
    log_set_quiet(0); /* it belongs to the report of the deadlock */
    if (!q->deterministic && reordered)
        log_note(
            "%llu requests or messages came in another order than in the recording, which may have "
            "caused the deadlock: --deterministic keeps the recorded order",
            (unsigned long long)reordered);
    if (n->unfinished)
        log_note("ranks that end without MPI_Finalize in the trace: %llu; others may wait for what "
                 "they did next",
                 (unsigned long long)n->unfinished);
}

/* Whether the trace has what the hypotheses change: each process of the replayer would say it. */
static int check_whats(const struct cli_replay_request *q, struct trace *t, struct err *err)
{
    struct whatif_list list = {0};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < q->whats.count; i++)
        rc = whatif_parse(&list, q->whats.at[i], err);
    if (rc == 0 && q->whats.count)
        rc = whatif_learn(&list, t, err);
    whatif_fini(&list);
    return rc;
}

/* Options of the simulator say nothing about the real MPI. */
static int check_real(const struct cli_replay_request *q, struct err *err)
{
    return q->real_time && q->run.count
               ? err_set(err, ERR_INPUT,
                         "--real-time replays on the real MPI, without a simulator: leave out %s",
                         q->run.at[0])
               : 0;
}

/* A file in memory for the summary of the simulator. */
static int share_summary(struct cli_replay_request *q, struct err *err)
{
    int fd = memfd_create("orrery-replay", MFD_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "cannot make a memory file: %s", strerror(errno));
    snprintf(q->summary, sizeof q->summary, "/proc/%ld/fd/%d", (long)getpid(), fd);
    return 0;
}

/* The summary of --json, also of a replay that failed. Returns the status, or that of a failure
 * here. */
static int write_summary(const struct cli_replay_request *q, const struct cli_replay_counts *counts,
                         double wall_s, int status)
{
    const struct cli_trace_summary summary = {.trace = q->path,
                                              .original = q->trace,
                                              .source = q->source,
                                              .ranks = q->ranks,
                                              .is_virtual = !q->real_time,
                                              .wall_s = wall_s,
                                              .status = status,
                                              .cause = status == EXIT_DONE      ? "done"
                                                       : status == EXIT_FINDING ? "stuck"
                                                       : status > 128           ? "stopped"
                                                                                : "failed",
                                              .counts = counts};
    int trouble = q->json ? cli_trace_summary_write(&summary, q->json) : EXIT_DONE;
    return status ? status : trouble;
}

static int run(struct cli_replay_request *q, struct err *err)
{
    struct trace t;
    struct launch_argv words = {0};
    struct cli_replay_counts counts = {0};
    struct launch_finish how = {.progress = cli_shared_progress(q->progress, q->is_quiet),
                                .quiet = q->is_quiet};
    int status = EXIT_DONE;
    if (trace_open(&t, q->source, err) != 0)
        return cli_fail(err);
    double start = launch_watch_now();
    int rc = cli_replay_check(&t, q->trace, err);
    if (rc == 0)
        rc = check_real(q, err);
    if (rc == 0)
        rc = check_whats(q, &t, err);
    if (rc == 0)
        rc = cli_parts_check_none(q->path, err);
    if (rc == 0 && !q->real_time)
        rc = share_summary(q, err);
    if (rc == 0)
        rc = cli_replay_words(&words, q, &t, err);
    if (rc == 0)
        rc = run_words(q, &words, t.header.ranks, &counts, &how.signal, &status, err);
    trace_close(&t);
    launch_argv_fini(&words);
    if (rc)
        return cli_fail(err);
    double wall_s = launch_watch_now() - start;
    if (*q->summary)
        results_summary_read(q->summary, &counts.run);
    int joined = join(q->path, &how, &counts);
    if (status == EXIT_FINDING)
        advise(q, &counts);
    if (q->stats && q->real_time && joined == EXIT_DONE) /* a simulator writes them itself */
        joined = cli_trace_stats_write(q->path, q->stats);
    status = write_summary(q, &counts, wall_s, status ? status : joined);
    if (status)
        return status;
    status = cli_replay_answer(q->source, q->path, &counts, q->compares, q->is_quiet);
    return status == EXIT_DONE && q->report ? report(q) : status;
}

static int replay_main(int argc, char **argv)
{
    struct cli_replay_request q = {.idle_limit = CLI_REPLAY_IDLE_LIMIT, .progress = -1};
    struct err err;
    char *temporary = NULL;
    const char *word;
    int status = EXIT_DONE, rc = 0;
    for (;;) {
        if (cli_next(&cli_replay_usage, &argc, &argv, &q, &word, &status))
            return status;
        if (!word)
            break;
        if (q.trace)
            rc = err_set(&err, ERR_INPUT, "one trace at a time, but '%s' is another one", word);
        q.trace = word;
    }
    if (!rc && !q.trace)
        rc = err_set(&err, ERR_INPUT, "no trace given, as in: orrery replay run.orr");
    if (!rc)
        rc = name_output(&q, &err);
    if (rc)
        return cli_fail(&err);
    status = cli_trace_as_orr(q.trace, &temporary);
    if (status != EXIT_DONE)
        return status;
    status = path_absolute(temporary ? temporary : q.trace, q.source, sizeof q.source, &err)
                 ? cli_fail(&err)
                 : run(&q, &err);
    formats_forget(temporary);
    cli_replay_request_fini(&q);
    return status;
}

const struct cli_command cli_cmd_replay = {
    .summary = "replay a trace, also changed or on another machine",
    .usage = &cli_replay_usage,
    .starts = 1,
    .cleans_up = 1,
    .main = replay_main,
};
