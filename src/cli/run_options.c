/*
 * run_options.c - the option table of `orrery run`, and one small function per option that stores
 * its value.
 */
#include "cli/run_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostile.h"
#include "base/units.h"
#include "cli/apps_read.h"
#include "cli/epoch.h"
#include "cli/shared.h"
#include "engine/rank_map.h"
#include "experiment/factor.h"
#include "run/memory_need.h"
#include "run/sample.h"

#define EPOCH_DEFAULT 1767225600 /* 2026-01-01T00:00:00Z */
#define STACK_MIN 16384
#define PROCS_MAX 1000000

static int parse_ranks(const char *value, uint64_t *out, struct err *err)
{
    uint64_t ranks;
    int rc = units_parse_count(value, &ranks, err);
    if (rc)
        return rc;
    if (ranks < 1 || ranks > RUN_RANKS_MAX)
        return err_set(err, ERR_INPUT, "bad number of ranks '%s': expected 1 to %d", value,
                       RUN_RANKS_MAX);
    *out = ranks;
    return 0;
}

static int set_ranks(void *into, const char *value, struct err *err)
{
    return parse_ranks(value, &((struct cli_run *)into)->job.opt.ranks, err);
}

static int set_universe(void *into, const char *value, struct err *err)
{
    return parse_ranks(value, &((struct cli_run *)into)->job.opt.universe, err);
}

static int set_settings(void *into, const char *value, struct err *err)
{
    (void)err;
    cli_machine_add(&((struct cli_run *)into)->given, value);
    return 0;
}

static int set_collectives(void *into, const char *value, struct err *err)
{
    struct cli_run *run = into;
    size_t size = sizeof run->collectives;
    if ((size_t)snprintf(run->collectives, size, "mpi.collectives=%s", value) >= size)
        return err_set(err, ERR_INPUT, "name '%.20s...' is too long", value);
    cli_machine_add(&run->given, run->collectives);
    return 0;
}

static const char *const compute_words[] = {"measured", "none",   "counters",
                                            "table",    "replay", NULL};

/* In the order of enum run_compute. A counter or a file may follow a colon. */
static int set_compute(void *into, const char *value, struct err *err)
{
    struct cli_run *run = into;
    const char *colon = strchr(value, ':');
    char word[32];
    int rc;

    if (run->wants_file) { /* the word before was table, or replay */
        run->wants_file = 0;
        return cli_options_text(&run->compute_file, value, err);
    }
    snprintf(word, sizeof word, "%.*s", (int)(colon ? colon - value : 31), value);
    rc = cli_options_choose(word, compute_words, &run->job.opt.compute, err);
    run->compute_file = NULL;
    run->wants_file = rc == 0 && !colon && run->job.opt.compute >= RUN_COMPUTE_TABLE;
    if (rc || !colon)
        return rc ? rc : run->wants_file ? CLI_OPTIONS_MORE : 0;
    if (run->job.opt.compute == RUN_COMPUTE_COUNTERS) {
        snprintf(run->job.opt.counter, sizeof run->job.opt.counter, "%s", colon + 1);
        return 0;
    }
    if (run->job.opt.compute < RUN_COMPUTE_TABLE)
        return err_set(err, ERR_INPUT, "'%s' takes no file", word);
    return cli_options_text(&run->compute_file, colon + 1, err);
}

static int set_sample(void *into, const char *value, struct err *err)
{
    char *out = ((struct cli_run *)into)->job.opt.sample;
    size_t room = sizeof((struct cli_run *)into)->job.opt.sample, used = strlen(out);
    struct run_sample samples[RUN_SAMPLES_MAX];
    unsigned count = 0;

    if (used + strlen(value) + 2 > room)
        return err_set(err, ERR_INPUT, "too many samples");
    snprintf(out + used, room - used, "%s%s", used ? "," : "", value);
    return run_samples_read(out, samples, &count, err);
}

static int set_schedule(void *into, const char *value, struct err *err)
{
    struct cli_run *run = into;
    if (strcmp(value, "fifo") == 0) {
        run->job.opt.random = 0;
        return 0;
    }
    char *end = NULL;
    int is_random = strncmp(value, "random:", 7) == 0 && value[7] >= '0' && value[7] <= '9';
    errno = 0;
    uint64_t seed = is_random ? strtoull(value + 7, &end, 10) : 0;
    if (!is_random || *end || errno)
        return err_set(err, ERR_INPUT, "unknown schedule '%s': expected fifo or random:SEED",
                       value);
    run->job.opt.random = 1;
    run->job.opt.seed = seed;
    return 0;
}

static int set_stack(void *into, const char *value, struct err *err)
{
    struct cli_run *run = into;
    uint64_t size;
    int rc = units_parse_size(value, &size, err);
    if (rc)
        return rc;
    if (size < STACK_MIN || size > (uint64_t)1 << 40)
        return err_set(err, ERR_INPUT, "bad stack size '%s': expected 16KiB to 1TiB", value);
    run->job.opt.stack_size = size;
    return 0;
}

static int set_memory_reserve(void *into, const char *value, struct err *err)
{
    struct cli_run *run = into;
    if (strcmp(value, "auto") == 0) {
        run->job.opt.memory_reserve = RUN_MEMORY_AUTO;
        return 0;
    }
    return units_parse_size(value, &run->job.opt.memory_reserve, err);
}

static const char *const stacks_words[] = {"auto", "own", "shared", NULL};

static int set_stacks(void *into, const char *value, struct err *err)
{
    return cli_options_choose(value, stacks_words, &((struct cli_run *)into)->job.opt.stacks, err);
}

#define HOST_WORD(name, word, processes) word,
static const char *const host_words[] = {RUN_HOSTS(HOST_WORD) NULL};

static int set_host(void *into, const char *value, struct err *err)
{
    return cli_options_choose(value, host_words, &((struct cli_run *)into)->job.opt.host, err);
}

static int set_procs(void *into, const char *value, struct err *err)
{
    struct cli_run *run = into;
    uint64_t procs;
    int rc;
    if (strcmp(value, "auto") == 0) {
        run->job.procs_auto = !run->job.worker; /* a worker gets the number */
        return 0;
    }
    run->job.procs_auto = 0;
    rc = units_parse_count(value, &procs, err);
    if (rc)
        return rc;
    if (procs < 1 || procs > PROCS_MAX)
        return err_set(err, ERR_INPUT, "bad number of processes '%s': expected auto, or 1 to %d",
                       value, PROCS_MAX);
    run->job.opt.procs = (uint32_t)procs;
    return 0;
}

static int set_launcher(void *into, const char *value, struct err *err)
{
    (void)err;
    ((struct cli_run *)into)->job.launcher = value;
    return 0;
}

static int set_listen(void *into, const char *value, struct err *err)
{
    (void)err;
    ((struct cli_run *)into)->job.listen = value;
    return 0;
}

/* A worker gets the programs as words. */
static int set_app(void *into, const char *value, struct err *err)
{
    struct cli_run *run = into;
    return run->job.worker ? 0 : cli_options_text(&run->app_file, value, err);
}

static int set_remote(void *into, const char *value, struct err *err)
{
    uint64_t count = 0;
    int rc = parse_ranks(value, &count, err);
    ((struct cli_run *)into)->job.opt.remote_count = (uint32_t)count;
    return rc;
}

/* In the order of enum run_payload. */
static int set_payload(void *into, const char *value, struct err *err)
{
    return cli_options_choose(value, (const char *const[]){"full", "none", NULL},
                              &((struct cli_run *)into)->job.opt.payload, err);
}

static const char *const placement_words[] = {"block", "cyclic", "mincut:FILE", NULL};

static int set_placement(void *into, const char *value, struct err *err)
{
    struct cli_run *run = into;
    if (strncmp(value, "mincut:", 7) == 0 && value[7]) {
        run->job.opt.placement = RANK_MAP_LIST;
        run->job.mincut = value + 7;
        return 0;
    }
    int rc = cli_options_choose(value, placement_words, &run->job.opt.placement, err);
    return rc == 0 && run->job.opt.placement == RANK_MAP_LIST
               ? err_set(err, ERR_INPUT, "FILE is to be the statistics of an earlier run (--stats)")
               : rc;
}

static int set_idle_limit(void *into, const char *value, struct err *err)
{
    struct cli_run *run = into;
    vtime limit;
    int rc = units_parse_time(value, &limit, err);
    if (rc)
        return rc;
    if (limit == 0)
        return err_set(err, ERR_INPUT, "must be greater than 0");
    run->job.opt.idle_limit = limit;
    return 0;
}

static int set_epoch(void *into, const char *value, struct err *err)
{
    return cli_epoch_parse(value, &((struct cli_run *)into)->job.opt.epoch, err);
}

static const char *const entropy_words[] = {"virtual", "real", NULL};

/* A word, or a seed. */
static int set_entropy(void *into, const char *value, struct err *err)
{
    struct run_options *o = &((struct cli_run *)into)->job.opt;
    char *end;

    o->entropy_seed = 0;
    for (int i = 0; entropy_words[i]; i++)
        if (strcmp(value, entropy_words[i]) == 0) {
            o->entropy_real = i;
            return 0;
        }
    o->entropy_real = 0;
    errno = 0;
    o->entropy_seed = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno)
        return err_set(err, ERR_INPUT,
                       "unknown entropy '%s': expected virtual, real or a seed, such as 42", value);
    return 0;
}

/* What a program needs that calls functions without importing them: words as in the API list. */
static int set_needs(void *into, const char *value, struct err *err)
{
    static const struct {
        const char *name;
        unsigned need;
    } needs[] = {
#define NEED(name, value) {#name, value},
        MPI_NEEDS(NEED)
#undef NEED
    };
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (strstr(value, needs[i].name))
            ((struct cli_run *)into)->job.opt.needs |= needs[i].need;
    (void)err;
    return 0;
}

/* Of `orrery hybrid`: the program that runs outside. */
static int set_live(void *into, const char *value, struct err *err)
{
    ((struct cli_run *)into)->job.opt.live = 1;
    return cli_options_text(&((struct cli_run *)into)->outside, value, err);
}

/* Of `orrery emulate`. */
static int set_factor(void *into, const char *value, struct err *err)
{
    struct run_options *o = &((struct cli_run *)into)->job.opt;
    return experiment_factor_parse(value, &o->factor, &o->factor_dynamic, err);
}

/* Texts are kept as given. */
#define TEXT(function, member)                                                  \
    static int function(void *into, const char *value, struct err *err)         \
    {                                                                           \
        return cli_options_text(&((struct cli_run *)into)->member, value, err); \
    }
TEXT(set_platform, given.platform)
TEXT(set_record, record)
TEXT(set_counter_table, counter_table)
TEXT(set_stats, stats)
TEXT(set_trace, trace)
TEXT(set_report, report)
TEXT(set_pcap, pcap)
TEXT(set_pcap_at, pcap_at)
TEXT(set_vectors, vectors)
TEXT(set_vectors_at, vectors_at)
TEXT(set_json, json)
TEXT(set_layout, layout)
#undef TEXT

/* Flags have no value and cannot fail. */
#define FLAG(function, member, number)                                  \
    static int function(void *into, const char *value, struct err *err) \
    {                                                                   \
        (void)value, (void)err;                                         \
        ((struct cli_run *)into)->member = number;                      \
        return 0;                                                       \
    }
FLAG(set_labels, job.opt.labels, 1)
FLAG(set_call_sites, job.opt.trace_sites, 1)
FLAG(set_profile_only, job.opt.trace_profile, 1)
FLAG(set_quiet, job.quiet, 1)
FLAG(set_progress, job.progress, 1)
FLAG(set_no_progress, job.progress, 0)
FLAG(set_worker, job.worker, 1)
FLAG(set_check, job.opt.check, 1)
FLAG(set_check_leaks, job.opt.check_leaks, 1)
#undef FLAG

static const struct cli_option options[] = {
    {CLI_SHARED_RANKS, set_ranks},
    {CLI_SHARED_APP, set_app},
    {"universe", 0, NULL, "N",
     "ranks in all, spawned ones included\n"
     "ranks in all, those that MPI_Comm_spawn may start included (default 1024 more than -n)",
     set_universe},
    {CLI_SHARED_PLATFORM, set_platform},
    {CLI_SHARED_SET, set_settings},
    {CLI_SHARED_COLLECTIVES, set_collectives},
    {"compute", 0, NULL, "MODEL",
     "compute time: measured (default), none and others\n"
     "time between MPI calls: measured (default), none, counters[:COUNTER], table FILE (times of "
     "regions) or replay FILE (recorded times)",
     set_compute},
    {"record-compute", 0, NULL, "FILE",
     "record compute times, for --compute replay\n"
     "record the times between MPI calls, for --compute replay",
     set_record},
    {"counter-table", 0, NULL, "FILE",
     "--compute counters: times by counts\n"
     "--compute counters: times by counts, instead of nodes.gigahertz and nodes.cpi",
     set_counter_table},
    {"sample", 0, NULL, "REGION:RUNS",
     "run a region this many times, then charge the mean\n"
     "run a region (orrery_region) this many times on each rank, then charge the mean; may be repeated",
     set_sample},
    {"payload", 0, NULL, "WHAT",
     "what messages carry: full (default) or none\n"
     "what messages and collectives carry: full (default), or none, with the same times: for "
     "programs that do not depend on what they receive",
     set_payload},
    {"schedule", 0, NULL, "ORDER",
     "order of ready ranks: fifo (default), random:SEED\n"
     "in which order ready ranks run: fifo (default) or random:SEED; changes nothing but wall "
     "time",
     set_schedule},
    {"stack", 0, NULL, "SIZE", "stack of a rank (default 8MiB)", set_stack},
    {"stacks", 0, NULL, "KIND",
     "auto (default), own for each rank, or shared\n"
     "auto (default), own: one for each rank, or shared: one for all",
     set_stacks},
    {CLI_SHARED_MEMORY_RESERVE, set_memory_reserve},
    {"host", 0, NULL, "HOST", "how ranks are run: " RUN_HOST_HELP, set_host},
    {CLI_SHARED_PROCS, set_procs},
    {CLI_SHARED_PLACEMENT, set_placement},
    {CLI_NAMED_LAUNCHER, "COMMAND",
     "command that starts the processes\n"
     "starts the processes; \"-n P\" and the program follow (default mpiexec.mpich)",
     set_launcher},
    {"needs", 0, NULL, "WORDS", NULL, set_needs},
    {"worker", 0, NULL, NULL, NULL, set_worker},
    {"layout", 0, NULL, "LAYOUT", NULL, set_layout},
    {"live", 0, NULL, "PROGRAM", NULL, set_live},
    {"factor", 0, NULL, "F", NULL, set_factor},
    {"remote", 0, NULL, "N", NULL, set_remote},
    {"listen", 0, NULL, "WHERE", NULL, set_listen},
    {CLI_NAMED_IDLE_LIMIT, "TIME",
     "virtual time with failing tests only (default 10s)\n"
     "virtual time in which all ranks may only fail tests (default 10s)",
     set_idle_limit},
    {"epoch", 0, NULL, "DATE",
     "start date that programs see (default 2026-01-01)\n"
     "start date that programs see: YYYY-MM-DD or seconds since 1970 (default 2026-01-01)",
     set_epoch},
    {"entropy", 0, NULL, "KIND",
     "random bytes: virtual (default), SEED or real\n"
     "random bytes of the system: virtual (default), the same in every run; a SEED for others; or "
     "real",
     set_entropy},
    {CLI_SHARED_LABELS, set_labels},
    {CLI_SHARED_TRACE, set_trace},
    {CLI_SHARED_CALL_SITES, set_call_sites},
    {CLI_SHARED_PROFILE_ONLY, set_profile_only},
    {CLI_SHARED_REPORT, set_report},
    {CLI_SHARED_PCAP, set_pcap},
    {CLI_SHARED_PCAP_AT, set_pcap_at},
    {CLI_SHARED_VECTORS, set_vectors},
    {CLI_SHARED_VECTORS_AT, set_vectors_at},
    {CLI_SHARED_STATS, set_stats},
    {CLI_SHARED_CHECK, set_check},
    {CLI_SHARED_CHECK_LEAKS, set_check_leaks},
    {CLI_SHARED_JSON, set_json},
    {CLI_SHARED_QUIET, set_quiet},
    {CLI_SHARED_PROGRESS, set_progress},
    {CLI_SHARED_NO_PROGRESS, set_no_progress},
    {0},
};

static const struct cli_values values[] = {
    {"compute", compute_words},     {"stacks", stacks_words},   {"host", host_words},
    {"placement", placement_words}, {"entropy", entropy_words}, {0},
};

static void more_help(struct buf *out)
{
    buf_adds(out, "\n"
                  "  orrery help run           these options at length, as 'man orrery-run'\n"
                  "  orrery help settings, orrery help collectives: what these options take\n");
}

const struct cli_usage cli_run_usage = {
    .command = "run",
    .synopsis = "-n N [options] [--] program [arguments] [: -n N program ...]",
    .about =
        "Runs an MPI program with N virtual ranks in virtual time, or several programs together. A program is any "
        "dynamic executable built by mpicc.mpich, mpicxx.mpich or mpif90.mpich. Exit "
        "status: the program's own, 1 for a deadlock or a finding (--check, --check-leaks), 2 for "
        "wrong usage or input, 3 for an "
        "internal failure.",
    .options = options,
    .more = more_help,
    .values = values,
    .arguments = CLI_ARGUMENTS_PROGRAM,
};

int cli_run_read_apps(struct cli_run *run, int argc, char **argv, struct err *err)
{
    int rc = run->layout ? launch_apps_unpack(&run->job.apps, run->layout, argc, argv, err)
                         : cli_apps_read(&run->job.apps, "run", run->app_file, run->job.opt.ranks,
                                         RUN_RANKS_MAX, argc, argv, err);
    run->job.opt.ranks = run->job.apps.ranks;
    return rc;
}

void cli_run_init(struct cli_run *run)
{
    memset(run, 0, sizeof *run);
    run->job.opt.idle_limit = 10 * VTIME_S;
    run->job.opt.memory_reserve = RUN_MEMORY_AUTO;
    run->job.opt.epoch = EPOCH_DEFAULT;
    run->job.opt.procs = 1;
    run->job.opt.rank_map_fd = -1;
    run->job.opt.machine_fd = -1;
    run->job.opt.random = HOSTILE(1, 0);
    run->job.opt.seed = HOSTILE(1, 0);
    run->job.progress = -1;
}
