/*
 * `orrery replay`: makes the calls of a trace again, in the simulator or on the real MPI, and shows
 * what came of it.
 *
 * The replayer is an MPI program of its own (src/replay). It writes a new trace.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/argv.h"
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/launch.h"
#include "cli/notes.h"
#include "cli/outputs.h"
#include "cli/parts.h"
#include "cli/replay_answer.h"
#include "cli/replay_command.h"
#include "cli/webpage.h"
#include "formats/formats.h"
#include "replay/names.h"
#include "trace/local.h"
#include "whatif/whatif.h"

#define LAUNCHER "mpiexec.mpich"
#define PROCS_MOST 4096 /* that a replay is simulated on */
#define OUTPUT_SUFFIX ".replay" TRACE_SUFFIX

struct request {
    const char *trace, *output, *launcher, *report;
    int real_time, busy_sleep, deterministic, compares, is_quiet;
    struct cli_replay_machine machine;
    struct buf settings;   /* of the recording */
    struct cli_argv run;   /* options for `orrery run` */
    struct cli_argv whats; /* hypotheses */
    char path[PATH_MAX];   /* of the new trace, absolute */
    char source[PATH_MAX]; /* of the old one */
};

/* ---- options ---- */

static int set_text(const char **into, const char *value, struct err *err)
{
    *into = value;
    return *value ? 0 : err_set(err, ERR_INPUT, "the text is empty");
}

static int set_output(void *into, const char *value, struct err *err)
{
    return set_text(&((struct request *)into)->output, value, err);
}

static int set_report(void *into, const char *value, struct err *err)
{
    return set_text(&((struct request *)into)->report, value, err);
}

static int set_launcher(void *into, const char *value, struct err *err)
{
    return set_text(&((struct request *)into)->launcher, value, err);
}

/* Files are read by the replayer, too, which may run elsewhere. */
static int set_what_if(void *into, const char *value, struct err *err)
{
    struct whatif_list list = {0};
    int rc = whatif_parse(&list, value, err);
    whatif_fini(&list);
    cli_argv_add(&((struct request *)into)->whats, value);
    return rc;
}

static int set_busy(void *into, const char *value, struct err *err)
{
    struct request *q = into;
    q->busy_sleep = strcmp(value, "sleep") == 0;
    return q->busy_sleep || strcmp(value, "spin") == 0
               ? 0
               : err_set(err, ERR_INPUT, "unknown value '%s': expected one of: spin, sleep", value);
}

#define FLAG(function, member)                                          \
    static int function(void *into, const char *value, struct err *err) \
    {                                                                   \
        (void)value, (void)err;                                         \
        ((struct request *)into)->member = 1;                           \
        return 0;                                                       \
    }

FLAG(set_real_time, real_time)
FLAG(set_deterministic, deterministic)
FLAG(set_compare, compares)
FLAG(set_quiet, is_quiet)

/* An option that `orrery run` has, too. */
static int pass(void *into, const char *option, const char *value)
{
    struct request *q = into;
    cli_argv_add(&q->run, option);
    cli_argv_add(&q->run, value);
    return 0;
}

static int set_platform(void *into, const char *value, struct err *err)
{
    (void)err;
    ((struct request *)into)->machine.has_platform = 1;
    return pass(into, "--platform", value);
}

static int set_settings(void *into, const char *value, struct err *err)
{
    (void)err;
    return pass(into, "--set", value);
}

static int set_collectives(void *into, const char *value, struct err *err)
{
    (void)err;
    return pass(into, "--collectives", value);
}

static int set_procs(void *into, const char *value, struct err *err)
{
    (void)err;
    return pass(into, "--procs", value);
}

static int set_placement(void *into, const char *value, struct err *err)
{
    (void)err;
    return pass(into, "--placement", value);
}

static const struct cli_option options[] = {
    {"output", 'o', NULL, "FILE", "the trace to write (default: TRACE" OUTPUT_SUFFIX ")",
     set_output},
    {"deterministic", 'd', NULL, NULL,
     "complete and match as recorded\n"
     "match messages and complete requests in the recorded order only; without it whatever comes first does, as in "
     "the program",
     set_deterministic},
    {"compare", 'c', NULL, NULL, "print the original against the replay", set_compare},
    {"what-if", 'w', NULL, "WHAT",
     "change the trace first: an expression or a file\n"
     "change the trace before it is replayed: an expression, or a file of them that ends in .yaml; may be "
     "given again, and applies in the order given",
     set_what_if},
    {"report", 0, NULL, "FILE", "write a page that shows both side by side", set_report},
    {"platform", 'p', NULL, "NAME",
     "the machine, a preset or file\n"
     "the machine to replay on, a preset or a file that ends in .yaml (default: that of the recording, if it was "
     "simulated)",
     set_platform},
    {"set", 's', NULL, "KEY=VALUE", "change a setting of the machine", set_settings},
    {"collectives", 0, NULL, "WHICH", "algorithms or model, as of 'orrery run'", set_collectives},
    {"procs", 0, NULL, "P", "simulate on P processes", set_procs},
    {"placement", 0, NULL, "WHICH", "which process a rank is on, as of 'orrery run'",
     set_placement},
    {"real-time", 0, NULL, NULL,
     "replay on the real MPI, not in the simulator\n"
     "replay on the real MPI, one process for each rank of the trace: computing is waited for, messages have their "
     "recorded sizes",
     set_real_time},
    {"busy", 0, NULL, "HOW",
     "how --real-time computes: spin (default) or sleep\n"
     "how --real-time spends the time of computing: spin (default) keeps the core, sleep gives it to others, for more "
     "ranks than cores",
     set_busy},
    {"launcher", 0, NULL, "COMMAND",
     "command that starts the processes of --real-time\n"
     "starts the processes of --real-time; \"-n N\" and a program follow (default " LAUNCHER ")",
     set_launcher},
    {"quiet", 'q', NULL, NULL, "no notes", set_quiet},
    {0},
};

static const char *const busy_words[] = {"spin", "sleep", NULL};
static const struct cli_values values[] = {{"busy", busy_words}, {0}};

static const struct cli_usage usage = {
    .command = "replay",
    .synopsis = "[options] trace",
    .about =
        "Makes the MPI calls of a trace again and writes a new trace: in the simulator, on any "
        "machine, or in real time on the real MPI. Between calls the recorded time "
        "passes; how long calls take comes out of the replay. What is non-deterministic in the program stays so. "
        "Traces of other tools are read, too. Exit status: 0; 1 if the replay deadlocks; 2 for errors.",
    .options = options,
    .values = values,
    .arguments = CLI_ARGUMENTS_TRACES,
};

/* ---- before the replay ---- */

static int make_absolute(const char *path, char *out, size_t size, struct err *err)
{
    char here[PATH_MAX] = "";
    if (path[0] != '/' && !getcwd(here, sizeof here))
        return err_set(err, ERR_SYSTEM, "cannot find the current directory: %s", strerror(errno));
    int n = snprintf(out, size, "%s%s%s", here, *here ? "/" : "", path);
    return n >= 0 && (size_t)n < size
               ? 0
               : err_set(err, ERR_INPUT, "file name '%.40s...' is too long", path);
}

/* "run.orr": "run.replay.orr", in the current folder. */
static int name_output(struct request *q, struct err *err)
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
        snprintf(name, sizeof name, "%.*s" OUTPUT_SUFFIX, (int)length, base);
    if (cli_is_stdout(name))
        return err_set(err, ERR_INPUT, "--output: cannot write to standard output: give a file");
    const struct cli_output outputs[] = {{"--output", name}, {"--report", q->report}};
    int rc = cli_outputs_check(outputs, q->report ? 2 : 1, err);
    return rc ? rc : make_absolute(name, q->path, sizeof q->path, err);
}

/* What a trace must have. */
static int check_trace(const struct trace *t, const char *name, struct err *err)
{
    if (t->header.is_profile)
        return err_set(err, ERR_INPUT,
                       "'%s' has statistics alone, no calls to replay: record it without "
                       "--profile-only",
                       name);
    if (t->missing.code)
        return err_set(err, ERR_INPUT, "'%s' is not complete, and cannot be replayed: %s", name,
                       t->missing.text);
    return 0;
}

/* Settings of the recording, "KEY=VALUE,...", but those that vary. A value may have commas. */
static void add_settings(struct request *q, const char *settings)
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
static void add_machine(struct request *q, struct cli_argv *w, const struct trace_header *header)
{
    const char *platform = trace_header_get(header, "platform"),
               *settings = trace_header_get(header, "settings");
    if (q->machine.has_platform)
        return;
    if (platform)
        cli_argv_add_all(w, (const char *const[]){"--platform", platform, NULL});
    if (settings)
        add_settings(q, settings);
    if (q->settings.len)
        cli_argv_add_all(w, (const char *const[]){"--set", buf_str(&q->settings), NULL});
}

/* ---- the replay ---- */

static int find_program(char *out, size_t size, struct err *err)
{
    char directory[PATH_MAX];
    int rc = cli_launch_libdir(directory, sizeof directory, err);
    if (rc)
        return rc;
    int n = snprintf(out, size, "%s/" REPLAY_NAME, directory);
    if (n < 0 || (size_t)n >= size || access(out, X_OK) != 0)
        return err_set(err, ERR_SYSTEM,
                       "cannot find '" REPLAY_NAME "' in '%s': run 'make' or install Orrery",
                       directory);
    return 0;
}

static int add_simulated(struct cli_argv *w, struct request *q, const struct trace *t,
                         const char *ranks, struct err *err)
{
    char self[PATH_MAX];
    const char *needs = trace_header_get(&t->header, "needs");
    int rc = cli_child_self(self, sizeof self, err);
    if (rc)
        return rc;
    cli_argv_add_all(w, (const char *const[]){self, "run", "-n", ranks, "--compute", "none",
                                              "--host", "fibre", "-q", NULL});
    if (needs)
        cli_argv_add_all(w, (const char *const[]){"--needs", needs, NULL});
    add_machine(q, w, &t->header);
    for (size_t i = 0; i < q->run.count; i++)
        cli_argv_add(w, q->run.at[i]);
    cli_argv_add(w, "--");
    return 0;
}

static int add_real(struct cli_argv *w, const struct request *q, const char *ranks, struct err *err)
{
    int rc = cli_argv_split(w, "--launcher", q->launcher ? q->launcher : LAUNCHER, err);
    if (rc == 0)
        cli_argv_add_all(w, (const char *const[]){"-n", ranks, NULL});
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

static int make_words(struct cli_argv *w, struct request *q, struct trace *t, struct err *err)
{
    char program[PATH_MAX], ranks[32];
    snprintf(ranks, sizeof ranks, "%llu", (unsigned long long)first_ranks(t));
    int rc = find_program(program, sizeof program, err);
    if (rc == 0)
        rc = q->real_time ? add_real(w, q, ranks, err) : add_simulated(w, q, t, ranks, err);
    if (rc)
        return rc;
    cli_argv_add_all(w, (const char *const[]){program, q->source, NULL});
    if (*q->path)
        cli_argv_add_all(w, (const char *const[]){"--output", q->path, NULL});
    if (q->deterministic)
        cli_argv_add(w, "--deterministic");
    for (size_t i = 0; i < q->whats.count; i++)
        cli_argv_add_all(w, (const char *const[]){"--what-if", q->whats.at[i], NULL});
    if (q->busy_sleep)
        cli_argv_add_all(w, (const char *const[]){"--busy", "sleep", NULL});
    return 0;
}

/* What the replay did otherwise than the recording, of all processes. */
static void add_counts(const char *part, struct cli_replay_counts *sum)
{
    char path[PATH_MAX + 32];
    unsigned long long n[5] = {0};
    snprintf(path, sizeof path, "%s" REPLAY_COUNTS, part);
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    if (fscanf(file, "%llu %llu %llu %llu %llu", &n[0], &n[1], &n[2], &n[3], &n[4]) == 5) {
        sum->events += n[0], sum->remapped += n[1], sum->drawn += n[2];
        sum->forced += n[3], sum->removed += n[4];
    }
    fclose(file);
    unlink(path);
}

/* Makes the new trace of the parts that were written. */
static int join(const char *trace, uint64_t most, struct cli_replay_counts *counts)
{
    uint64_t count = 0;
    char **names = mem_alloc(most * sizeof *names);
    for (uint64_t i = 0; i < most; i++) {
        size_t room = strlen(trace) + 32;
        char *name = mem_alloc(room);
        snprintf(name, room, "%s.part-%llu", trace, (unsigned long long)i);
        add_counts(name, counts);
        if (access(name, R_OK) == 0)
            names[count++] = name;
        else
            mem_free(name);
    }
    int status = count ? cli_parts_join(trace, names, count, count) : CLI_USAGE;
    for (uint64_t i = 0; i < count; i++)
        mem_free(names[i]);
    mem_free(names);
    return status;
}

int cli_replay_join(const char *trace, uint64_t most)
{
    struct cli_replay_counts counts = {0};
    return join(trace, most, &counts);
}

static int report(const struct request *q)
{
    char template[PATH_MAX];
    struct err err;
    struct webreport page = {.traces = {q->source, q->path},
                             .names = {"original", "replay"},
                             .count = 2,
                             .page = q->report,
                             .template = template};
    if (cli_webpage_find(template, sizeof template, &err))
        return cli_fail(&err);
    return cli_webpage_write(&page);
}

static int run(struct request *q, struct err *err)
{
    struct trace t;
    struct cli_argv words = {0};
    int status = CLI_DONE, signal = 0;
    if (trace_open(&t, q->source, err) != 0)
        return cli_fail(err);
    int rc = check_trace(&t, q->trace, err);
    if (rc == 0)
        rc = make_words(&words, q, &t, err);
    if (rc == 0)
        rc = cli_argv_run(&words, &status, &signal, err);
    uint64_t ranks = t.header.ranks;
    trace_close(&t);
    cli_argv_fini(&words);
    if (rc)
        return cli_fail(err);
    if (signal)
        status = 128 + signal;
    struct cli_replay_counts counts = {0};
    int joined = join(q->path, q->real_time ? ranks : PROCS_MOST, &counts);
    if (status == CLI_FINDING && !q->deterministic &&
        counts.remapped + counts.drawn + counts.forced)
        log_note(
            "%llu requests or messages came in another order than in the recording, which may have "
            "caused the deadlock: --deterministic keeps the recorded order",
            (unsigned long long)(counts.remapped + counts.drawn + counts.forced));
    if (status || joined)
        return status ? status : joined;
    status = cli_replay_answer(q->source, q->path, &counts, q->compares, q->is_quiet);
    return status == CLI_DONE && q->report ? report(q) : status;
}

/* ---- for `orrery sweep` and `orrery tune` ---- */

int cli_replay_command(struct cli_argv *words, int argc, char **argv,
                       const struct cli_replay_machine *machine, struct err *err)
{
    struct request q = {.machine = *machine};
    struct trace t;
    int rc = 0, next;
    for (; rc == 0 && argc > 0; argc -= next, argv += next) {
        rc = cli_options_parse(&usage, argc, argv, &q, &next, err);
        if (rc == 0 && next < argc && q.trace)
            rc = err_set(err, ERR_INPUT, "one trace at a time, but '%s' is another one",
                         argv[next]);
        if (rc == 0 && next < argc)
            q.trace = argv[next];
    }
    if (rc == 0 && !q.trace)
        rc = err_set(err, ERR_INPUT,
                     "no trace given, as in: orrery sweep --set net.latency=1us,9us replay run.orr");
    if (rc == 0 && (q.output || q.report || q.compares || q.real_time))
        rc = err_set(
            err, ERR_INPUT,
            "--output, --report, --compare and --real-time are for one replay, not for a sweep");
    if (rc == 0)
        rc = make_absolute(q.trace, q.source, sizeof q.source, err);
    if (rc == 0 && (rc = trace_open(&t, q.source, err)) == 0) {
        rc = check_trace(&t, q.trace, err);
        if (rc == 0)
            rc = make_words(words, &q, &t, err);
        trace_close(&t);
    }
    cli_argv_fini(&q.run);
    cli_argv_fini(&q.whats);
    buf_fini(&q.settings);
    return rc;
}

static int replay_main(int argc, char **argv)
{
    struct request q = {0};
    struct err err;
    char *temporary = NULL;
    int next, status = CLI_DONE, rc = 0;
    for (; argc > 0; argc -= next, argv += next) {
        if (cli_begin(&usage, argc, argv, &q, &next, &status))
            return status;
        if (next >= argc)
            break;
        if (q.trace)
            rc = err_set(&err, ERR_INPUT, "one trace at a time, but '%s' is another one",
                         argv[next]);
        q.trace = argv[next];
    }
    if (!rc && !q.trace)
        rc = err_set(&err, ERR_INPUT, "no trace given, as in: orrery replay run.orr");
    if (!rc)
        rc = name_output(&q, &err);
    if (rc)
        return cli_fail(&err);
    status = cli_native_trace(q.trace, &temporary);
    if (status != CLI_DONE)
        return status;
    status = make_absolute(temporary ? temporary : q.trace, q.source, sizeof q.source, &err)
                 ? cli_fail(&err)
                 : run(&q, &err);
    formats_forget(temporary);
    cli_argv_fini(&q.run);
    cli_argv_fini(&q.whats);
    buf_fini(&q.settings);
    return status;
}

const struct cli_command cli_cmd_replay = {
    .summary = "replay a trace, also changed or on another machine",
    .usage = &usage,
    .main = replay_main,
};
