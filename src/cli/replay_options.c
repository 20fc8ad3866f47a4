/*
 * replay_options.c - the options of `orrery replay`.
 */
#include <string.h>

#include "base/units.h"
#include "cli/passed.h"
#include "cli/replay_request.h"
#include "launch/native.h"
#include "whatif/whatif.h"

static int set_output(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct cli_replay_request *)into)->output, value, err);
}

static int set_report(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct cli_replay_request *)into)->report, value, err);
}

static int set_stats(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct cli_replay_request *)into)->stats, value, err);
}

static int set_json(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct cli_replay_request *)into)->json, value, err);
}

static int set_launcher(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct cli_replay_request *)into)->launcher, value, err);
}

/* Files are read by the replayer, too, which may run elsewhere. */
static int set_what_if(void *into, const char *value, struct err *err)
{
    struct whatif_list list = {0};
    int rc = whatif_parse(&list, value, err);
    whatif_fini(&list);
    launch_argv_add(&((struct cli_replay_request *)into)->whats, value);
    return rc;
}

static const char *const busy_words[] = {"spin", "sleep", NULL};

static int set_busy(void *into, const char *value, struct err *err)
{
    return cli_options_choose(value, busy_words, &((struct cli_replay_request *)into)->busy_sleep,
                              err);
}

static int set_idle_limit(void *into, const char *value, struct err *err)
{
    struct cli_replay_request *q = into;
    int rc = units_parse_time(value, &q->idle_limit, err);
    return rc == 0 && q->idle_limit == 0 ? err_set(err, ERR_INPUT, "must be greater than 0") : rc;
}

#define FLAG(function, member, number)                                  \
    static int function(void *into, const char *value, struct err *err) \
    {                                                                   \
        (void)value, (void)err;                                         \
        ((struct cli_replay_request *)into)->member = number;           \
        return 0;                                                       \
    }

FLAG(set_real_time, real_time, 1)
FLAG(set_deterministic, deterministic, 1)
FLAG(set_compare, compares, 1)
FLAG(set_progress, progress, 1)
FLAG(set_no_progress, progress, 0)

static int set_quiet(void *into, const char *value, struct err *err)
{
    ((struct cli_replay_request *)into)->is_quiet = 1;
    return cli_shared_quiet(into, value, err);
}

static int set_platform(void *into, const char *value, struct err *err)
{
    struct cli_replay_request *q = into;
    (void)err;
    q->machine.has_platform = 1;
    launch_argv_pass(&q->run, "--platform", value);
    return 0;
}

CLI_PASS_MACHINE(struct cli_replay_request, run)
CLI_PASS_PACKETS(struct cli_replay_request, run)
CLI_PASS(set_procs, "--procs", struct cli_replay_request, run)
CLI_PASS(set_memory_reserve, "--memory-reserve", struct cli_replay_request, run)
CLI_PASS(set_placement, "--placement", struct cli_replay_request, run)

static const struct cli_option options[] = {
    {CLI_NAMED_OUTPUT, "FILE", "the trace to write (default: TRACE" CLI_REPLAY_SUFFIX ")",
     set_output},
    {"deterministic", 'd', NULL, NULL,
     "complete and match as recorded\n"
     "match messages and complete requests in the recorded order only; without it whatever comes first does, as in "
     "the program",
     set_deterministic},
    {"compare", 'c', NULL, NULL, "print the original against the replay", set_compare},
    {CLI_NAMED_WHAT_IF, "WHAT",
     "change the trace first: an expression or a file\n"
     "change the trace before it is replayed: an expression, or a file of them that ends in .yaml; may be "
     "given again, and applies in the order given",
     set_what_if},
    {CLI_NAMED_REPORT, "FILE", "write a page that shows both side by side", set_report},
    {CLI_NAMED_PLATFORM, "NAME",
     "the machine, a preset or file\n"
     "the machine to replay on, a preset or a file that ends in .yaml (default: that of the recording, if it was "
     "simulated)",
     set_platform},
    CLI_PASSED_MACHINE,
    {CLI_SHARED_PROCS, set_procs},
    {CLI_SHARED_PLACEMENT, set_placement},
    {CLI_SHARED_MEMORY_RESERVE, set_memory_reserve},
    CLI_PASSED_PACKETS,
    {"real-time", 0, NULL, NULL,
     "replay on the real MPI, not in the simulator\n"
     "replay on the real MPI, one process for each rank of the trace: recorded times of computing pass, messages have their "
     "recorded sizes",
     set_real_time},
    {"busy", 0, NULL, "HOW",
     "how --real-time computes: spin (default) or sleep\n"
     "how --real-time spends the time of computing: spin (default) keeps the core, sleep gives it to others, for more "
     "ranks than cores",
     set_busy},
    {CLI_NAMED_LAUNCHER, "COMMAND",
     "command that starts the processes of --real-time\n"
     "starts the processes of --real-time; \"-n N\" and a program follow (default " LAUNCH_NATIVE_LAUNCHER
     ")",
     set_launcher},
    {CLI_NAMED_IDLE_LIMIT, "TIME",
     "when waiting in --real-time is a deadlock (default 30s)\n"
     "how long all ranks of --real-time may wait in MPI until that is taken for a deadlock (default 30s)",
     set_idle_limit},
    {CLI_SHARED_STATS, set_stats},
    {CLI_SHARED_JSON, set_json},
    {CLI_SHARED_QUIET, set_quiet},
    {CLI_SHARED_PROGRESS, set_progress},
    {CLI_SHARED_NO_PROGRESS, set_no_progress},
    {0},
};

static const struct cli_values values[] = {{"busy", busy_words}, {0}};

const struct cli_usage cli_replay_usage = {
    .command = "replay",
    .synopsis = "[options] trace",
    .about =
        "Makes the MPI calls of a trace again and writes a new trace: in the simulator, on any "
        "machine, or in real time on the real MPI. Between calls the recorded time "
        "passes; the replay determines how long calls take. What is non-deterministic in the program stays so. "
        "Traces of other tools are read, too. Exit status: 0; 1 if the replay deadlocks; 2 for errors.",
    .options = options,
    .values = values,
    .arguments = CLI_ARGUMENTS_TRACES,
};

void cli_replay_request_fini(struct cli_replay_request *q)
{
    launch_argv_fini(&q->run);
    launch_argv_fini(&q->whats);
    buf_fini(&q->settings);
}
