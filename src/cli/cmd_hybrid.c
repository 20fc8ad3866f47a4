/*
 * cmd_hybrid.c - `orrery hybrid`: runs a program natively, with a library in it that passes what it
 * does to one more process, the simulator (hybrid/wire.h):
 *
 *     mpiexec -n N env LD_PRELOAD=... program : -n 1 orrery run --live program ... stand-ins
 *
 * or to several: then the simulators are the processes of an `orrery run --procs K`
 * (launch/workers.h), whose launcher starts the program, too:
 *
 *     orrery run --live program --procs K --launcher "mpiexec -n N env ... program :" ... stand-ins
 *
 * A launcher kills all others when one process fails, and does not wait long for what it ends. So
 * the simulators only write the parts of the trace, if they are on this computer, and this command
 * merges them.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/apps_read.h"
#include "cli/cli.h"
#include "cli/passed.h"
#include "cli/run_check.h"
#include "cli/run_files.h"
#include "hybrid/wire.h"
#include "launch/argv.h"
#include "launch/child.h"
#include "launch/launch.h"
#include "launch/native.h"
#include "mpi_needs.h"
#include "native/status.h"
#include "run/run.h"

#define LAUNCHER "mpiexec.mpich"
#define SIMULATORS_MAX 256
/* Of MPICH over UCX: from which size on a send waits for its receiver. A process that waits in the
 * real MPI where it does not in the simulated one may keep others from an answer. */
#define EAGER "UCX_RNDV_THRESH"

struct request {
    uint64_t ranks; /* of the first program, as given */
    const char *app_file;
    struct launch_apps apps;
    uint64_t simulators;
    const char *launcher;
    const char *compute;    /* a word of compute_words */
    const char *order;      /* a word of order_words */
    uint32_t needs;         /* of the programs: enum mpi_need */
    struct launch_argv run; /* options for `orrery run` */
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

static int set_simulators(void *into, const char *value, struct err *err)
{
    uint64_t *count = &((struct request *)into)->simulators;
    struct err ignored;
    if (units_parse_count(value, count, &ignored) == 0 && *count >= 1 && *count <= SIMULATORS_MAX)
        return 0;
    return err_set(err, ERR_INPUT, "bad number of simulators '%s': give a number from 1 to %d",
                   value, SIMULATORS_MAX);
}

static int set_launcher(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->launcher, value, err);
}

static const char *const compute_words[] = {HYBRID_COMPUTE_AUTO, HYBRID_COMPUTE_WALL,
                                            HYBRID_COMPUTE_PROCESSOR, HYBRID_COMPUTE_NONE, NULL};

static const char *const order_words[] = {HYBRID_ORDER_REAL, HYBRID_ORDER_VIRTUAL, NULL};

static int choose(const char **into, const char *const *words, const char *value, struct err *err)
{
    int32_t index = 0;
    int rc = cli_options_choose(value, words, &index, err);
    *into = words[index];
    return rc;
}

static int set_compute(void *into, const char *value, struct err *err)
{
    return choose(&((struct request *)into)->compute, compute_words, value, err);
}

static int set_order(void *into, const char *value, struct err *err)
{
    return choose(&((struct request *)into)->order, order_words, value, err);
}

CLI_PASS_MACHINE(struct request, run)
CLI_PASS_PACKETS(struct request, run)
CLI_PASS(set_platform, "--platform", struct request, run)
CLI_PASS(set_trace, "--trace", struct request, run)
CLI_PASS(set_profile_only, "--profile-only", struct request, run)
CLI_PASS(set_stats, "--stats", struct request, run)
CLI_PASS(set_report, "--report", struct request, run)
CLI_PASS(set_json, "--json", struct request, run)
CLI_PASS(set_quiet, "--quiet", struct request, run)
CLI_PASS(set_progress, "--progress", struct request, run)
CLI_PASS(set_no_progress, "--no-progress", struct request, run)

static const struct cli_option options[] = {
    {CLI_SHARED_RANKS, set_ranks},
    {CLI_SHARED_APP, set_app},
    {CLI_SHARED_PLATFORM, set_platform},
    CLI_PASSED_MACHINE,
    {"compute", 0, NULL, "HOW",
     "how computing counts: auto, wall, processor, none\n"
     "how computing counts: as wall-clock time (wall), as processor time of the thread (processor), which "
     "others on the same processor do not change, or not at all (none); auto (default) is processor on a "
     "computer with no processor to spare for the simulator, else wall",
     set_compute},
    {"order", 0, NULL, "WHICH",
     "receives from any source: real (default), virtual\n"
     "which message a receive from any source gets, and which request MPI_Waitany returns: real (default), as the real "
     "MPI has it, or virtual, what is first in virtual time, for which the process waits until that is certain",
     set_order},
    {"simulators", 0, NULL, "K",
     "processes that simulate (default 1)\n"
     "number of processes that simulate, each some of the ranks, if one cannot keep up (default 1)",
     set_simulators},
    {CLI_NAMED_LAUNCHER, "COMMAND",
     "command that starts the processes\n"
     "starts the processes; \"-n N\", the program, \":\" and the simulator follow (default " LAUNCHER
     ")",
     set_launcher},
    {CLI_SHARED_TRACE, set_trace},
    {CLI_SHARED_PROFILE_ONLY, set_profile_only},
    {CLI_SHARED_STATS, set_stats},
    {CLI_SHARED_REPORT, set_report},
    CLI_PASSED_PACKETS,
    {CLI_SHARED_JSON, set_json},
    {CLI_SHARED_QUIET, set_quiet},
    {CLI_SHARED_PROGRESS, set_progress},
    {CLI_SHARED_NO_PROGRESS, set_no_progress},
    {0},
};

static const struct cli_values values[] = {{"compute", compute_words}, {"order", order_words}, {0}};

static const struct cli_usage usage = {
    .command = "hybrid",
    .synopsis = "-n N [options] [--] program [arguments...] [: -n N program [arguments...]] ...",
    .about =
        "Runs an MPI program, or several together, natively, on this computer or, by a launcher, on others, and simulates its network beside "
        "it: one more process decides how long messages and collectives take. The program's clocks are virtual: they "
        "show its own computing, as it ran, and the network of the given machine. The program is any dynamic "
        "executable of MPICH or of an MPI with the same ABI. Exit status: that of the program, 2 for wrong usage or "
        "input.",
    .options = options,
    .values = values,
    .arguments = CLI_ARGUMENTS_PROGRAM,
};

/* ---- the command ---- */

/* The stand-ins call what the program calls, but do not import it. */
static void add_needs(struct launch_argv *w, uint32_t needs)
{
    static const struct {
        const char *name;
        unsigned need;
    } known[] = {
#define NEED(name, value) {#name, value},
        MPI_NEEDS(NEED)
#undef NEED
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (needs & known[i].need)
            launch_argv_add_all(w, (const char *const[]){"--needs", known[i].name, NULL});
}

/* The launcher, and the programs with the library in them, up to the simulators. */
static int make_program(struct launch_argv *w, const struct request *q, struct err *err)
{
    char directory[PATH_MAX], preload[2 * PATH_MAX], how[64], order[64], simulators[64];
    const char *before = getenv("LD_PRELOAD");
    int rc = launch_argv_split(w, "--launcher", q->launcher ? q->launcher : LAUNCHER, err);
    if (rc == 0)
        rc = launch_libdir(directory, sizeof directory, err);
    if (rc)
        return rc;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s/" HYBRID_LIBRARY "%s%s", directory,
             before ? ":" : "", before ? before : "");
    snprintf(how, sizeof how, HYBRID_VARIABLE "=%s", q->compute ? q->compute : HYBRID_COMPUTE_AUTO);
    snprintf(order, sizeof order, HYBRID_ORDER "=%s", q->order);
    snprintf(simulators, sizeof simulators, HYBRID_SIMULATORS "=%llu",
             (unsigned long long)q->simulators);
    const char *words[8] = {"env", preload, how, order, simulators};
    int count = 5;
    if (q->needs & MPI_NEED_CANCEL)
        words[count++] = HYBRID_CANCELS "=1";
    if (!getenv(EAGER))
        words[count++] = EAGER "=inf";
    launch_apps_add_native(&q->apps, words, w);
    launch_argv_add(w, ":");
    return 0;
}

/* The words as a text that launch_argv_split makes words of again. */
static void add_text(struct launch_argv *w, const struct launch_argv *words)
{
    struct buf text;
    buf_init(&text);
    for (size_t i = 0; i < words->count; i++) {
        buf_adds(&text, i ? " '" : "'");
        for (const char *c = words->at[i]; *c; c++)
            if (*c == '\'')
                buf_adds(&text, "'\"'\"'");
            else
                buf_addc(&text, *c);
        buf_addc(&text, '\'');
    }
    launch_argv_add(w, buf_str(&text));
    buf_fini(&text);
}

/* The simulators: `orrery run` and its options. */
static int make_run(struct launch_argv *w, const struct request *q,
                    const struct launch_argv *program, struct err *err)
{
    char directory[PATH_MAX], self[PATH_MAX], standin[PATH_MAX + 64], ranks[32], procs[32];
    struct buf names;
    int rc = launch_libdir(directory, sizeof directory, err);
    if (rc == 0)
        rc = launch_child_self(self, sizeof self, err);
    if (rc)
        return rc;
    snprintf(standin, sizeof standin, "%s/" HYBRID_STANDIN, directory);
    snprintf(ranks, sizeof ranks, "%llu", (unsigned long long)q->apps.ranks);
    snprintf(procs, sizeof procs, "%llu", (unsigned long long)q->simulators);
    buf_init(&names);
    launch_apps_names(&q->apps, &names);
    launch_argv_add_all(w,
                        (const char *const[]){self, "run", "--live", buf_str(&names), "-n", ranks,
                                              "--compute", "none", "--host", "fibre", NULL});
    buf_fini(&names);
    if (q->simulators > 1) {
        launch_argv_add_all(w, (const char *const[]){"--procs", procs, "--launcher", NULL});
        add_text(w, program);
    }
    add_needs(w, q->needs);
    for (size_t i = 0; i < q->run.count; i++)
        launch_argv_add(w, q->run.at[i]);
    launch_argv_add_all(w, (const char *const[]){"--", standin, ranks, q->order, NULL});
    return 0;
}

/* Reports wrong input before anything starts: the launcher would wait for processes that never
 * join. Returns 0, or the exit status in *status. */
static int check_run(struct cli_run *run, const struct launch_argv *w, int *status)
{
    struct program program = {0};
    struct err err;
    char libdir[PATH_MAX];
    int next, rc, quiet;

    cli_run_init(run);
    if (cli_begin(&cli_run_usage, (int)w->count - 1, (char **)w->at + 1, run, &next, status))
        return 1;
    quiet = run->job.quiet;
    run->job.quiet = 1; /* it will check the same, and say what is to be noted */
    rc = cli_run_read_apps(run, (int)w->count - 1 - next, w->at + 1 + next, &err);
    if (rc == 0)
        rc = cli_run_check(run, &program, libdir, sizeof libdir, &err);
    run->job.quiet = quiet;
    program_fini(&program);
    if (rc)
        *status = cli_fail(&err);
    return rc != 0;
}

static void interrupted(void *context)
{
    native_status_interrupt(*(const int *)context);
}

/* With one simulator, the launcher is ours. `fd`: where processes say how they fail. */
static int start(const struct request *q, struct launch_argv *program,
                 const struct launch_argv *run, int fd, struct launch_supervise_end *end,
                 struct err *err)
{
    const struct launch_supervise_watch watch = {.every_ms = -1,
                                                 .interrupted = interrupted,
                                                 .starts_ranks = 1,
                                                 .context = &fd};
    if (q->simulators > 1)
        return launch_supervise_run(run, &watch, end, err);
    launch_argv_add_all(program, (const char *const[]){"-n", "1", NULL});
    launch_argv_add_all(program, (const char *const *)run->at);
    return launch_supervise_run(program, &watch, end, err);
}

static int hybrid_main(int argc, char **argv)
{
    static struct cli_run checked; /* large, and there is only one */
    struct request q = {.order = HYBRID_ORDER_REAL, .simulators = 1};
    struct launch_argv program = {0}, run = {0};
    struct err err;
    struct launch_supervise_end end;
    int next, status, fd = native_status_make();
    if (cli_begin(&usage, argc, argv, &q, &next, &status))
        return status;
    int rc = cli_apps_read(&q.apps, usage.command, q.app_file, q.ranks, LAUNCH_NATIVE_RANKS_MAX,
                           argc - next, argv + next, &err);
    if (rc == 0)
        rc = launch_native_check(&q.apps, &q.needs, &err);
    if (q.simulators > q.apps.ranks)
        q.simulators = q.apps.ranks; /* each has a rank */
    if (rc == 0)
        rc = make_program(&program, &q, &err);
    if (rc == 0)
        rc = make_run(&run, &q, &program, &err);
    if (rc == 0 && check_run(&checked, &run, &status))
        return status;
    if (rc == 0)
        launch_apps_publish(&q.apps);
    if (rc == 0)
        rc = start(&q, &program, &run, fd, &end, &err);
    launch_argv_fini(&program);
    launch_argv_fini(&run);
    launch_argv_fini(&q.run);
    uint64_t ranks = q.apps.ranks;
    launch_apps_fini(&q.apps);
    if (rc)
        return cli_fail(&err);
    return cli_run_files(&checked, end.signal, launch_native_judge(&end, fd, ranks, 1));
}

const struct cli_command cli_cmd_hybrid = {
    .summary = "run a program natively with its network simulated",
    .usage = &usage,
    .starts = 1,
    .cleans_up = 1,
    .main = hybrid_main,
};
