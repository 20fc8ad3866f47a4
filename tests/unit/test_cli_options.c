/*
 * The option engine, the options of `orrery run`, the watchdog, and the MPI names of all
 * languages.
 */
#include "cli/options.h"

#include <string.h>

#include "base/nearest.h"
#include "cli/epoch.h"
#include "cli/run_options.h"
#include "launch/watch.h"
#include "program/known.h"
#include "tap.h"
#include "text_width.h"

static struct cli_run run;
static struct err err;
static int next;

/* Splits at spaces, parses as `orrery run ...`. */
static int parse(const char *line)
{
    static char text[512], *argv[32];
    static char name[] = "run";
    int argc = 0;
    snprintf(text, sizeof text, "%s", line);
    argv[argc++] = name;
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    cli_run_init(&run);
    err = (struct err){0};
    next = -1;
    return cli_options_parse(&cli_run_usage, argc, argv, &run, &next, &err);
}

static void refuse(const char *line, const char *says)
{
    int rc = parse(line);
    if (!ok(rc == ERR_INPUT && strstr(err.text, says), "'%s' is refused", line))
        diag("code %d text '%s'", rc, err.text);
}

static void test_forms(void)
{
    static const char *const forms[] = {"-n 8 ./a", "-n8 ./a", "-np 8 ./a", "--ranks 8 ./a",
                                        "--ranks=8 ./a"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        ok(parse(forms[i]) == 0 && run.job.opt.ranks == 8 && next >= 2, "'%s'", forms[i]);
    is_int(parse("-n 2 ./a --quiet -n 5"), 0, "options end at the program");
    ok(run.job.opt.ranks == 2 && !run.job.quiet && next == 3, "what follows belongs to it");
    is_int(parse("-n 2 -- -odd"), 0, "'--' ends the options");
    is_int(next, 4, "a program may begin with a dash");
    is_int(parse("-n 2 - x"), 0, "a lone dash is no option");
    is_int(next, 3, "but the program");
    is_int(parse("--help"), CLI_OPTIONS_HELP, "--help");
    is_int(parse("-n 2 -h"), CLI_OPTIONS_HELP, "-h");
    is_int(parse("-q --set net.latency=1us --set nodes.speed=2 x"), 0, "--set twice");
    ok(run.job.quiet && cli_machine_make(&run.given, &run.machine, &err) == 0 &&
           run.machine.config.net_latency == VTIME_US && run.machine.config.nodes_speed == 2,
       "applies both");
    cli_machine_fini(&run.given);
    is_int(parse("--compute none --schedule random:42 --stacks shared --host fibre x"), 0, "words");
    ok(run.job.opt.compute == RUN_COMPUTE_NONE && run.job.opt.random && run.job.opt.seed == 42 &&
           run.job.opt.stacks == 2 && run.job.opt.host == RUN_HOST_FIBRE,
       "are stored");
    is_int(parse("--stack 1MiB --idle-limit 2s --labels --no-progress x"), 0, "values");
    ok(run.job.opt.stack_size == 1 << 20 && run.job.opt.idle_limit == 2 * VTIME_S &&
           run.job.opt.labels && run.job.progress == 0,
       "are stored");
}

static void test_refusals(void)
{
    refuse("-n", "needs a value");
    refuse("-n 0", "expected 1 to");
    refuse("-n 2147483648", "expected 1 to");
    refuse("-n x", "--ranks");
    refuse("--rnaks 4", "did you mean '--ranks'");
    refuse("--zzz", "unknown option '--zzz'");
    refuse("-x", "unknown option '-x'");
    refuse("-qx", "unknown option '-qx'");
    refuse("--quiet=1", "takes no value");
    refuse("--compute fast", "measured, none");
    refuse("--schedule random", "random:SEED");
    refuse("--schedule random:1x", "random:SEED");
    refuse("--stack 1", "16KiB");
    refuse("--idle-limit 0", "greater than 0");
    refuse("--json=", "empty");
    is_int(parse("--set a=b x"), 0, "settings are read when all are known");
    ok(cli_machine_make(&run.given, &run.machine, &err) == ERR_INPUT &&
           strstr(err.text, "--set: unknown setting"),
       "and then refused");
    cli_machine_fini(&run.given);
}

static void test_epoch(void)
{
    static const struct {
        const char *text;
        int64_t want;
    } cases[] = {
        {"0", 0},
        {"1767225600", 1767225600},
        {"1970-01-02", 86400},
        {"2026-01-01", 1767225600},
        {"2000-02-29T12:00:01Z", 951825601},
        {"2000-02-29T12:00:01", 951825601},
        {"2026-02-30", -1},
        {"2026-13-01", -1},
        {"1969-12-31", -1},
        {"2026-01-01x", -1},
        {"2026-01-01T25:00:00Z", -1},
        {"tomorrow", -1},
        {"", -1},
        {"9999999999999", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t got = -1;
        int rc = cli_epoch_parse(cases[i].text, &got, &err);
        ok(got == cases[i].want && (rc == 0) == (got >= 0), "epoch '%s'", cases[i].text);
    }
}

static void test_help(void)
{
    struct buf help;
    buf_init(&help);
    cli_options_help(&cli_run_usage, &help);
    size_t width = text_width(buf_str(&help));
    ok(width > 60 && width <= 80, "the help fits 80 columns");
    int all = 1;
    for (const struct cli_option *o = cli_run_usage.options; o->name; o++)
        all &= (strstr(buf_str(&help), o->name) != NULL) == (o->help != NULL);
    ok(all, "and names all options that have a help");
    buf_fini(&help);
}

static void test_watchdog(void)
{
    struct launch_watchdog dog = {0};
    ok(launch_watchdog_step(&dog, 100, 10, 1) == 0, "starts silent");
    ok(launch_watchdog_step(&dog, 159, 69, 1) == 0, "59 s are not enough");
    ok(launch_watchdog_step(&dog, 161, 71, 1) == 61, "60 s of work bring a warning");
    ok(launch_watchdog_step(&dog, 200, 110, 1) == 0, "once");
    ok(launch_watchdog_step(&dog, 221, 131, 1) == 121, "and again when it doubled");
    ok(launch_watchdog_step(&dog, 300, 200, 2) == 0, "a call resets it");
    ok(launch_watchdog_step(&dog, 365, 265, 2) == 65, "counting from that call");
    ok(launch_watchdog_step(&dog, 400, 265, 3) == 0, "another call");
    ok(launch_watchdog_step(&dog, 500, 270, 3) == 0, "a program that sleeps is not warned of");
}

static void test_known(void)
{
    static const struct {
        const char *symbol, *name;
        enum program_known want;
    } cases[] = {
        {"MPI_Send", "MPI_Send", PROGRAM_KNOWN_SUPPORTED},
        {"PMPI_Send", "MPI_Send", PROGRAM_KNOWN_SUPPORTED},
        {"mpi_send_", "MPI_Send", PROGRAM_KNOWN_SUPPORTED},
        {"mpi_send__", "MPI_Send", PROGRAM_KNOWN_SUPPORTED},
        {"MPI_SEND", "MPI_Send", PROGRAM_KNOWN_SUPPORTED},
        {"pmpi_comm_rank_", "MPI_Comm_rank", PROGRAM_KNOWN_SUPPORTED},
        {"mpi_send_f08ts_", "MPI_Send", PROGRAM_KNOWN_SUPPORTED},
        {"mpi_comm_rank_f08_", "MPI_Comm_rank", PROGRAM_KNOWN_SUPPORTED},
        {"pmpir_send_f08ts_", "MPI_Send", PROGRAM_KNOWN_SUPPORTED},
        {"MPI_Frobnicate", "MPI_Frobnicate", PROGRAM_KNOWN_MISSING},
        {"mpi_sizeof_", "mpi_sizeof_", PROGRAM_KNOWN_OTHER},
        {"printf", "printf", PROGRAM_KNOWN_OTHER},
        {"mpi", "mpi", PROGRAM_KNOWN_OTHER},
        {"", "", PROGRAM_KNOWN_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *name = NULL;
        unsigned needs;
        enum program_known got = program_known_find(cases[i].symbol, &name, &needs);
        ok(got == cases[i].want && strcmp(name, cases[i].name) == 0, "symbol '%s'",
           cases[i].symbol);
    }
}

static void test_needs(void)
{
    static const struct {
        const char *symbol;
        unsigned needs;
    } cases[] = {
        {"MPI_Cancel", MPI_NEED_CANCEL},
        {"mpi_cancel_", MPI_NEED_CANCEL},
        {"PMPI_File_open", MPI_NEED_FILES},
        {"mpi_file_delete_f08_", MPI_NEED_FILES},
        {"MPI_Open_port", MPI_NEED_NAMES},
        {"mpi_lookup_name__", MPI_NEED_NAMES},
        {"MPI_Comm_spawn_multiple", MPI_NEED_SPAWN},
        {"MPI_Type_create_keyval", MPI_NEED_TYPE_KEYS},
        {"MPI_Comm_create_keyval", 0},
        {"MPI_Send", 0},
        {"printf", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *name;
        unsigned needs = ~0u;
        program_known_find(cases[i].symbol, &name, &needs);
        ok(needs == cases[i].needs, "what a program that imports '%s' needs", cases[i].symbol);
    }
}

static void test_nearest(void)
{
    is_int(nearest_distance("", ""), 0, "equal");
    is_int(nearest_distance("abc", ""), 3, "deletions");
    is_int(nearest_distance("", "ab"), 2, "insertions");
    is_int(nearest_distance("latency", "latncy"), 1, "one missing");
    is_int(nearest_distance("ab", "ba"), 1, "a swap is one edit");
    is_int(nearest_distance("kitten", "sitting"), 3, "the textbook");
}

int main(void)
{
    plan_auto();
    test_forms();
    test_refusals();
    test_epoch();
    test_help();
    test_watchdog();
    test_known();
    test_needs();
    test_nearest();
    return done_testing();
}
