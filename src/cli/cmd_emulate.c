/*
 * cmd_emulate.c - `orrery emulate`: runs a program, or several, as real processes in scaled real
 * time, whose only network is the simulated one. It becomes an `orrery run` with a factor
 * (mpi/main/emulate.h).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "cli/apps_read.h"
#include "cli/cli.h"
#include "cli/passed.h"
#include "experiment/factor.h"
#include "launch/argv.h"
#include "launch/child.h"
#include "launch/native.h"
#include "launch/remote.h"

#define FACTOR_AUTO "auto"
#define FACTOR_DEFAULT "dynamic"
#define MODEL_DEFAULT "net.model=packet"

struct request {
    uint64_t ranks; /* of the first program, as given */
    const char *app_file;
    struct launch_apps apps;
    uint64_t local;
    const char *factor, *launcher, *listen;
    int has_platform, has_local, quiet;
    int joins;                  /* it is a process of another `orrery emulate` */
    struct launch_argv run;     /* options for all runs */
    struct launch_argv outputs; /* options that name files, for the last run */
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

static int set_local(void *into, const char *value, struct err *err)
{
    struct request *q = into;
    q->has_local = 1;
    return units_parse_count(value, &q->local, err);
}

static int set_launcher(void *into, const char *value, struct err *err)
{
    (void)err;
    ((struct request *)into)->launcher = value;
    return 0;
}

static int set_listen(void *into, const char *value, struct err *err)
{
    (void)err;
    ((struct request *)into)->listen = value;
    return 0;
}

static int set_join(void *into, const char *value, struct err *err)
{
    (void)value, (void)err;
    ((struct request *)into)->joins = 1;
    return 0;
}

static int set_factor(void *into, const char *value, struct err *err)
{
    double factor;
    int is_dynamic, rc = 0;
    if (strcmp(value, FACTOR_AUTO) != 0)
        rc = experiment_factor_parse(value, &factor, &is_dynamic, err);
    ((struct request *)into)->factor = value;
    return rc;
}

static int set_platform(void *into, const char *value, struct err *err)
{
    struct request *q = into;
    (void)err;
    q->has_platform = 1;
    launch_argv_pass(&q->run, "--platform", value);
    return 0;
}

static int set_quiet(void *into, const char *value, struct err *err)
{
    struct request *q = into;
    (void)value, (void)err;
    q->quiet = 1;
    return 0;
}

static const char *const compute_words[] = {"measured", "none", NULL};

static int set_compute(void *into, const char *value, struct err *err)
{
    int32_t index;
    int rc = cli_options_choose(value, compute_words, &index, err);
    launch_argv_pass(&((struct request *)into)->run, "--compute", value);
    return rc;
}

CLI_PASS_MACHINE(struct request, run)
CLI_PASS_PACKETS(struct request, outputs)
CLI_PASS(set_trace, "--trace", struct request, outputs)
CLI_PASS(set_call_sites, "--call-sites", struct request, outputs)
CLI_PASS(set_profile_only, "--profile-only", struct request, outputs)
CLI_PASS(set_stats, "--stats", struct request, outputs)
CLI_PASS(set_report, "--report", struct request, outputs)
CLI_PASS(set_json, "--json", struct request, outputs)
CLI_PASS(set_labels, "--labels", struct request, outputs)
CLI_PASS(set_check, "--check", struct request, outputs)
CLI_PASS(set_check_leaks, "--check-leaks", struct request, outputs)
CLI_PASS(set_progress, "--progress", struct request, outputs)
CLI_PASS(set_no_progress, "--no-progress", struct request, outputs)

static const struct cli_option options[] = {
    {CLI_SHARED_RANKS, set_ranks},
    {CLI_SHARED_APP, set_app},
    {CLI_NAMED_PLATFORM, "NAME",
     "the machine whose network is simulated, a preset or file\n"
     "the machine whose network is simulated: a preset ('orrery platform list') or a file that ends in "
     ".yaml; without it, the default one as a packet network",
     set_platform},
    CLI_PASSED_MACHINE,
    {"factor", 'f', NULL, "F",
     "slow down by a factor: F, auto or dynamic (default)\n"
     "how many times longer real time is than simulated time: a number of at least 1; auto, which runs "
     "the program repeatedly to find the smallest one with which results have converged; or dynamic "
     "(default), which adapts it during the run",
     set_factor},
    {"compute", 0, NULL, "HOW",
     "compute time: measured (default) or none\n"
     "time between MPI calls: measured (default), as processor time, or none, if the program declares it "
     "(orrery_compute)",
     set_compute},
    {CLI_NAMED_LAUNCHER, "COMMAND",
     "command that starts processes on other computers\n"
     "starts processes on other computers, which connect to the simulator by TCP; \"-n N\" and what they run follow "
     "(default: all processes are on this computer)",
     set_launcher},
    {"local", 0, NULL, "K", "with --launcher: the first K ranks are on this computer", set_local},
    {"listen", 0, NULL, "WHERE",
     "with --launcher: the address or interface to listen at\n"
     "with --launcher: where processes on other computers connect to: an address, a name or an interface of this "
     "computer, or all (default: what the name of this computer stands for, or all if that is only itself)",
     set_listen},
    {"join", 0, NULL, NULL, NULL, set_join},
    {CLI_SHARED_TRACE, set_trace},
    {CLI_SHARED_CALL_SITES, set_call_sites},
    {CLI_SHARED_PROFILE_ONLY, set_profile_only},
    {CLI_SHARED_STATS, set_stats},
    {CLI_SHARED_REPORT, set_report},
    CLI_PASSED_PACKETS,
    {CLI_SHARED_JSON, set_json},
    {CLI_SHARED_LABELS, set_labels},
    {CLI_SHARED_CHECK, set_check},
    {CLI_SHARED_CHECK_LEAKS, set_check_leaks},
    {CLI_SHARED_QUIET, set_quiet},
    {CLI_SHARED_PROGRESS, set_progress},
    {CLI_SHARED_NO_PROGRESS, set_no_progress},
    {0},
};

static const char *const factor_words[] = {FACTOR_AUTO, EXPERIMENT_FACTOR_DYNAMIC, NULL};
static const struct cli_values values[] = {{"compute", compute_words},
                                           {"factor", factor_words},
                                           {0}};

static const struct cli_usage usage = {
    .command = "emulate",
    .synopsis = "-n N [options] [--] program [arguments...] [: -n N program [arguments...]] ...",
    .about =
        "Runs an MPI program, or several together, as real processes at the same time, whose only network is simulated, in real time "
        "slowed down by a factor: simulator and program then keep the same pace. The program's clocks are scaled, "
        "too. The program is any dynamic executable built by mpicc.mpich, mpicxx.mpich or mpif90.mpich. Exit status: "
        "the program's own, 1 for a deadlock or a finding, 2 for wrong usage or input, 3 for an internal failure.",
    .options = options,
    .values = values,
    .arguments = CLI_ARGUMENTS_PROGRAM,
};

/* ---- the command ---- */

static void add_options(struct launch_argv *to, const struct launch_argv *from)
{
    for (size_t i = 0; i < from->count; i++)
        launch_argv_add(to, from->at[i]);
}

/* The beginning of the command line of every run. */
static int begin_words(struct launch_argv *w, const struct request *q, struct err *err)
{
    char self[PATH_MAX], ranks[32];
    int rc = launch_child_self(self, sizeof self, err);
    if (rc)
        return rc;
    snprintf(ranks, sizeof ranks, "%llu", (unsigned long long)q->apps.at[0].ranks);
    launch_argv_add_all(w,
                        (const char *const[]){self, "run", "-n", ranks, "--host", "process", NULL});
    if (!q->has_platform)
        launch_argv_add_all(w, (const char *const[]){"--set", MODEL_DEFAULT, NULL});
    if (q->launcher) {
        snprintf(ranks, sizeof ranks, "%llu", (unsigned long long)(q->apps.ranks - q->local));
        launch_argv_add_all(w, (const char *const[]){"--launcher", q->launcher, "--remote", ranks,
                                                     NULL});
        if (q->listen)
            launch_argv_pass(w, "--listen", q->listen);
    }
    add_options(w, &q->run);
    return 0;
}

/* Becomes the run. Returns only on failure. */
static int become(struct launch_argv *w, const struct request *q, const char *factor,
                  struct err *err)
{
    add_options(w, &q->outputs);
    launch_argv_add_all(w, (const char *const[]){"--factor", factor, q->quiet ? "-q" : "--", NULL});
    if (q->quiet)
        launch_argv_add(w, "--");
    launch_apps_add_words(&q->apps, w);
    execv(w->at[0], w->at);
    return err_set(err, ERR_SYSTEM, "cannot execute '%s': %s", w->at[0], strerror(errno));
}

static int emulate(const struct request *q, int *status, struct err *err)
{
    struct launch_argv words = {0};
    char found[32];
    const char *factor = q->factor ? q->factor : FACTOR_DEFAULT;
    int rc = begin_words(&words, q, err);
    if (rc == 0 && strcmp(factor, FACTOR_AUTO) == 0) {
        rc = experiment_factor_find(&words, &q->apps, q->quiet, found, sizeof found, status, err);
        factor = found;
    }
    if (rc == 0)
        rc = become(&words, q, factor, err);
    launch_argv_fini(&words);
    return rc;
}

/* What does not fit together. */
static int check(const struct request *q, struct err *err)
{
    if (q->has_local && !q->launcher)
        return err_set(err, ERR_INPUT,
                       "--local: all ranks are on this computer: give --launcher, too");
    if (q->listen && !q->launcher)
        return err_set(err, ERR_INPUT,
                       "--listen: all ranks are on this computer: give --launcher, too");
    if (q->local >= q->apps.ranks)
        return err_set(err, ERR_INPUT,
                       "--local: of %llu ranks at most %llu can be on this computer if "
                       "--launcher is given",
                       (unsigned long long)q->apps.ranks, (unsigned long long)q->apps.ranks - 1);
    return 0;
}

static int emulate_main(int argc, char **argv)
{
    struct request q = {0};
    struct err err;
    int next, status, failed = 0;
    if (cli_begin(&usage, argc, argv, &q, &next, &status))
        return status;
    if (q.joins)
        launch_remote_join(&err);
    else if (cli_apps_read(&q.apps, usage.command, q.app_file, q.ranks, LAUNCH_NATIVE_RANKS_MAX,
                           argc - next, argv + next, &err) == 0 &&
             check(&q, &err) == 0)
        emulate(&q, &failed, &err);
    launch_apps_fini(&q.apps);
    launch_argv_fini(&q.run);
    launch_argv_fini(&q.outputs);
    status = cli_fail(&err);
    return failed ? failed : status;
}

const struct cli_command cli_cmd_emulate = {
    .summary = "run a program in scaled real time on a simulated network",
    .usage = &usage,
    .starts = 1,
    .cleans_up = 1,
    .main = emulate_main,
};
