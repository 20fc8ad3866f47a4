/*
 * replay_command.c - the command that replays a trace: `orrery run` of the replayer, or the
 * launcher of the real MPI.
 */
#include "cli/replay_command.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/outputs.h"
#include "cli/replay_request.h"
#include "cli/shared.h"
#include "launch/child.h"
#include "launch/launch.h"
#include "launch/native.h"
#include "replay/agreed.h"
#include "trace/local.h"

int cli_replay_check(struct trace *t, const char *name, struct err *err)
{
    if (t->header.is_profile)
        return err_set(err, ERR_INPUT,
                       "'%s' has only statistics, no calls to replay: record it without "
                       "--profile-only",
                       name);
    trace_check_frames(t);
    if (t->missing.code)
        return err_set(err, ERR_INPUT, "'%s' is not complete, and cannot be replayed: %s", name,
                       t->missing.text);
    return 0;
}

/* ---- the machine ---- */

/* Settings of the recording, "KEY=VALUE,...", but those that vary. A value may have commas. */
static void add_settings(struct cli_replay_request *q, const char *settings)
{
    int is_left = 0;
    for (const char *at = settings; *at;) {
        char key[64];
        size_t length = strcspn(at, ","), name = strcspn(at, "=,");
        snprintf(key, sizeof key, "%.*s", (int)name, at);
        if (name < length)
            is_left = q->machine.varies && q->machine.varies(q->machine.owner, key);
        if (!is_left)
            buf_addf(&q->settings, "%s%.*s", q->settings.len ? "," : "", (int)length, at);
        at += length + (at[length] == ',');
    }
}

/* The machine of the recording, unless another one was given; settings that are given change it. */
static void add_machine(struct cli_replay_request *q, struct launch_argv *w,
                        const struct trace_header *header)
{
    const char *platform = trace_header_get(header, "platform"),
               *settings = trace_header_get(header, "settings");
    if (q->machine.has_platform)
        return;
    if (platform)
        launch_argv_add_all(w, (const char *const[]){"--platform", platform, NULL});
    if (settings)
        add_settings(q, settings);
    if (q->settings.len)
        launch_argv_add_all(w, (const char *const[]){"--set", buf_str(&q->settings), NULL});
}

/* ---- the words ---- */

static int find_program(char *out, size_t size, struct err *err)
{
    char directory[PATH_MAX];
    int rc = launch_libdir(directory, sizeof directory, err);
    if (rc)
        return rc;
    int n = snprintf(out, size, "%s/" REPLAY_NAME, directory);
    if (n < 0 || (size_t)n >= size || access(out, X_OK) != 0)
        return err_set(err, ERR_SYSTEM,
                       "cannot find '" REPLAY_NAME "' in '%s': run 'make' or install Orrery",
                       directory);
    return 0;
}

static int add_simulated(struct launch_argv *w, struct cli_replay_request *q, const struct trace *t,
                         const char *ranks, struct err *err)
{
    char self[PATH_MAX];
    const char *needs = trace_header_get(&t->header, "needs"),
               *universe = trace_header_get(&t->header, "universe");
    int rc = launch_child_self(self, sizeof self, err);
    if (rc)
        return rc;
    launch_argv_add_all(w, (const char *const[]){self, "run", "-n", ranks, "--compute", "none",
                                                 "--host", "fibre", "-q", NULL});
    if (needs)
        launch_argv_add_all(w, (const char *const[]){"--needs", needs, NULL});
    if (universe)
        launch_argv_add_all(w, (const char *const[]){"--universe", universe, NULL});
    if (cli_shared_progress(q->progress, q->is_quiet))
        launch_argv_add(w, "--progress");
    if (q->stats)
        launch_argv_add_all(w, (const char *const[]){"--stats", q->stats, NULL});
    if (*q->summary)
        launch_argv_add_all(w, (const char *const[]){"--json", q->summary, NULL});
    add_machine(q, w, &t->header);
    for (size_t i = 0; i < q->run.count; i++)
        launch_argv_add(w, q->run.at[i]);
    launch_argv_add(w, "--");
    return 0;
}

static int add_real(struct launch_argv *w, const struct cli_replay_request *q, const char *ranks,
                    struct err *err)
{
    int rc = launch_argv_split(w, "--launcher", q->launcher ? q->launcher : LAUNCH_NATIVE_LAUNCHER,
                               err);
    if (rc == 0)
        launch_argv_add_all(w, (const char *const[]){"-n", ranks, NULL});
    return rc;
}

static int is_spawned(struct trace *t, uint64_t rank)
{
    struct trace_local locals;
    trace_local_read(&locals, t, rank);
    int is_other = trace_local_find(&locals, TRACE_DEFINE_COMM, TRACE_LOCAL_WORLD)->identity !=
                   TRACE_COMM_WORLD;
    trace_local_fini(&locals);
    return is_other;
}

/* How many ranks a program began with: those that it spawned have the highest numbers. */
static uint64_t first_ranks(struct trace *t)
{
    uint64_t from = 0, to = t->header.ranks;
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (is_spawned(t, middle))
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

int cli_replay_words(struct launch_argv *w, struct cli_replay_request *q, struct trace *t,
                     struct err *err)
{
    char program[PATH_MAX], ranks[32], limit[32];
    q->ranks = first_ranks(t);
    snprintf(ranks, sizeof ranks, "%llu", (unsigned long long)q->ranks);
    int rc = find_program(program, sizeof program, err);
    if (rc == 0)
        rc = q->real_time ? add_real(w, q, ranks, err) : add_simulated(w, q, t, ranks, err);
    if (rc)
        return rc;
    launch_argv_add_all(w, (const char *const[]){program, q->source, NULL});
    if (*q->path)
        launch_argv_add_all(w, (const char *const[]){"--output", q->path, NULL});
    if (q->deterministic)
        launch_argv_add(w, "--deterministic");
    for (size_t i = 0; i < q->whats.count; i++)
        launch_argv_add_all(w, (const char *const[]){"--what-if", q->whats.at[i], NULL});
    if (q->busy_sleep)
        launch_argv_add_all(w, (const char *const[]){"--busy", "sleep", NULL});
    snprintf(limit, sizeof limit, "%lld", (long long)q->idle_limit);
    if (q->real_time)
        launch_argv_add_all(w, (const char *const[]){REPLAY_IDLE_LIMIT, limit, NULL});
    return 0;
}

/* ---- for `orrery sweep` and `orrery tune` ---- */

int cli_replay_command(struct launch_argv *words, int argc, char **argv,
                       const struct cli_replay_machine *machine, struct err *err)
{
    struct cli_replay_request q = {.machine = *machine, .progress = 0};
    struct trace t;
    int rc = 0, next;
    for (; rc == 0 && argc > 0; argc -= next, argv += next) {
        rc = cli_options_parse(&cli_replay_usage, argc, argv, &q, &next, err);
        if (rc == 0 && next < argc && q.trace)
            rc = err_set(err, ERR_INPUT, "one trace at a time, but '%s' is another one",
                         argv[next]);
        if (rc == 0 && next < argc)
            q.trace = argv[next];
    }
    if (rc == 0 && !q.trace)
        rc = err_set(err, ERR_INPUT,
                     "no trace given, as in: orrery sweep --set net.latency=1us,9us replay run.orr");
    if (rc == 0 && (q.output || q.report || q.json || q.compares || q.real_time))
        rc = err_set(
            err, ERR_INPUT,
            "--output, --report, --json, --compare and --real-time are for one replay, not for a sweep");
    if (rc == 0)
        rc = path_absolute(q.trace, q.source, sizeof q.source, err);
    if (rc == 0 && (rc = trace_open(&t, q.source, err)) == 0) {
        rc = cli_replay_check(&t, q.trace, err);
        if (rc == 0)
            rc = cli_replay_words(words, &q, &t, err);
        trace_close(&t);
    }
    cli_replay_request_fini(&q);
    return rc;
}
