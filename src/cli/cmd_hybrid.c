/*
 * cmd_hybrid.c - `orrery hybrid`: runs a program natively, with a library in it that passes what it
 * does to one more process, the simulator (hybrid/wire.h):
 *
 *     mpiexec -n N env LD_PRELOAD=... program : -n 1 orrery run --live ... stand-ins
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "cli/argv.h"
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/launch.h"
#include "cli/native.h"
#include "hybrid/wire.h"

#define LAUNCHER "mpiexec.mpich"

struct request {
    uint64_t ranks;
    const char *launcher;
    const char *compute; /* a word of compute_words */
    struct cli_argv run; /* options for `orrery run` */
};

/* ---- options ---- */

static int set_ranks(void *into, const char *value, struct err *err)
{
    return cli_native_ranks(&((struct request *)into)->ranks, value, err);
}

static int set_launcher(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->launcher, value, err);
}

static const char *const compute_words[] = {HYBRID_COMPUTE_AUTO, HYBRID_COMPUTE_WALL,
                                            HYBRID_COMPUTE_PROCESSOR, HYBRID_COMPUTE_NONE, NULL};

static int set_compute(void *into, const char *value, struct err *err)
{
    for (int i = 0; compute_words[i]; i++)
        if (strcmp(value, compute_words[i]) == 0) {
            ((struct request *)into)->compute = compute_words[i];
            return 0;
        }
    return err_set(err, ERR_INPUT,
                   "unknown value '%s': expected one of: auto, wall, processor, none", value);
}

/* An option that `orrery run` has, too. */
#define PASS(function, option)                                          \
    static int function(void *into, const char *value, struct err *err) \
    {                                                                   \
        struct cli_argv *run = &((struct request *)into)->run;          \
        (void)err;                                                      \
        cli_argv_add(run, option);                                      \
        if (value)                                                      \
            cli_argv_add(run, value);                                   \
        return 0;                                                       \
    }

PASS(set_platform, "--platform")
PASS(set_settings, "--set")
PASS(set_collectives, "--collectives")
PASS(set_trace, "--trace")
PASS(set_stats, "--stats")
PASS(set_report, "--report")
PASS(set_json, "--json")
PASS(set_pcap, "--pcap")
PASS(set_pcap_at, "--pcap-at")
PASS(set_vectors, "--vectors")
PASS(set_vectors_at, "--vectors-at")
PASS(set_quiet, "--quiet")

static const struct cli_option options[] = {
    {"ranks", 'n', "-np", "N", "number of ranks", set_ranks},
    {"platform", 'p', NULL, "NAME", "the machine whose network is simulated, a preset or file",
     set_platform},
    {"set", 's', NULL, "KEY=VALUE", "change a setting of the machine", set_settings},
    {"collectives", 0, NULL, "WHICH", "algorithms or model, as of 'orrery run'", set_collectives},
    {"compute", 0, NULL, "HOW",
     "how computing counts: auto, wall, processor, none\n"
     "how computing counts: as the time on the wall, as processor time of the thread, which is what others on the same "
     "processor do not change, or not at all; auto (default) is processor if a computer has fewer processors than "
     "processes, else wall",
     set_compute},
    {"launcher", 0, NULL, "COMMAND",
     "command that starts the processes\n"
     "starts the processes; \"-n N\", the program, \":\" and the simulator follow (default " LAUNCHER
     ")",
     set_launcher},
    {"trace", 0, NULL, "FILE", "write a trace, in virtual time", set_trace},
    {"stats", 0, NULL, "FILE", "write statistics as XML", set_stats},
    {"report", 0, NULL, "FILE", "write a page that shows the run", set_report},
    {"pcap", 0, NULL, "DIR", "write packets to pcap files, as 'orrery run' does", set_pcap},
    {"pcap-at", 0, NULL, "LIST", "with --pcap: where packets are captured", set_pcap_at},
    {"vectors", 0, NULL, "FILE", "write queues and windows over time", set_vectors},
    {"vectors-at", 0, NULL, "LIST", "which of them, as of 'orrery run'", set_vectors_at},
    {"json", 0, NULL, "FILE", "write the summary as JSON", set_json},
    {"quiet", 'q', NULL, NULL, "no summary and notes", set_quiet},
    {0},
};

static const struct cli_values values[] = {{"compute", compute_words}, {0}};

static const struct cli_usage usage = {
    .command = "hybrid",
    .synopsis = "-n N [options] [--] program [arguments...]",
    .about =
        "Runs an MPI program natively, on this computer or, by a launcher, on others, and simulates its network beside "
        "it: one more process decides how long messages and collectives take. The program's clocks are virtual: they "
        "show its own computing, as it ran, and the network of the given machine. The program is any dynamic "
        "executable of MPICH or of an MPI with the same ABI. Exit status: that of the program, 2 for wrong usage or "
        "input.",
    .options = options,
    .values = values,
    .arguments = CLI_ARGUMENTS_PROGRAM,
};

/* ---- the command ---- */

static int make_words(struct cli_argv *w, const struct request *q, char **program, struct err *err)
{
    char directory[PATH_MAX], self[PATH_MAX], preload[2 * PATH_MAX], standin[PATH_MAX + 64],
        ranks[32], how[64];
    const char *before = getenv("LD_PRELOAD");
    int rc = cli_argv_split(w, "--launcher", q->launcher ? q->launcher : LAUNCHER, err);
    if (rc == 0)
        rc = cli_launch_libdir(directory, sizeof directory, err);
    if (rc == 0)
        rc = cli_child_self(self, sizeof self, err);
    if (rc)
        return rc;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s/" HYBRID_LIBRARY "%s%s", directory,
             before ? ":" : "", before ? before : "");
    snprintf(standin, sizeof standin, "%s/" HYBRID_STANDIN, directory);
    snprintf(how, sizeof how, HYBRID_VARIABLE "=%s", q->compute ? q->compute : HYBRID_COMPUTE_AUTO);
    snprintf(ranks, sizeof ranks, "%llu", (unsigned long long)q->ranks);
    cli_argv_add_all(w, (const char *const[]){"-n", ranks, "env", preload, how, NULL});
    cli_argv_add_all(w, (const char *const *)program);
    cli_argv_add_all(w, (const char *const[]){":", "-n", "1", self, "run", "--live", "-n", ranks,
                                              "--compute", "none", "--host", "fibre", NULL});
    for (size_t i = 0; i < q->run.count; i++)
        cli_argv_add(w, q->run.at[i]);
    cli_argv_add_all(w, (const char *const[]){"--", standin, ranks, NULL});
    return 0;
}

static int hybrid_main(int argc, char **argv)
{
    struct request q = {0};
    struct cli_argv words = {0};
    struct err err;
    uint32_t needs;
    int next, status, signal = 0;
    if (cli_begin(&usage, argc, argv, &q, &next, &status))
        return status;
    int rc = next >= argc
                 ? err_set(&err, ERR_INPUT, "no program given, as in: orrery hybrid -n 4 ./app")
             : !q.ranks
                 ? err_set(&err, ERR_INPUT, "how many ranks? Give -n, as in: orrery hybrid -n 4 %s",
                           argv[next])
                 : cli_native_check(argv[next], &needs, &err);
    if (rc == 0)
        rc = make_words(&words, &q, argv + next, &err);
    if (rc == 0)
        rc = cli_argv_run(&words, &status, &signal, &err);
    cli_argv_fini(&words);
    cli_argv_fini(&q.run);
    if (rc)
        return cli_fail(&err);
    return signal ? 128 + signal : status;
}

const struct cli_command cli_cmd_hybrid = {
    .summary = "run a program natively with its network simulated",
    .usage = &usage,
    .main = hybrid_main,
};
