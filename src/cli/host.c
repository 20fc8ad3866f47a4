/*
 * Fibres are the cheapest and serve almost every program. Ranks that need what fibres cannot have
 * get a process each, as do those whose static data takes longer to swap than a process takes to
 * wake up.
 */
#include "cli/host.h"

#define PRIVATE_LARGE ((uint64_t)1 << 20) /* bytes that are cheaper to fork than to swap */
#define PROCESSES_MANY 8192               /* ranks for which processes are no choice of ours */

enum run_host cli_host_choose(const struct cli_program *program, enum run_host asked,
                              uint64_t ranks, const char **reason)
{
    if (asked != RUN_HOST_AUTO) {
        *reason = "chosen with --host";
        return asked;
    }
    if (program->process_reason) {
        *reason = program->process_reason;
        return RUN_HOST_PROCESS;
    }
    if (program->private_bytes > PRIVATE_LARGE && ranks <= PROCESSES_MANY) {
        *reason = "the program's static data is large";
        return RUN_HOST_PROCESS;
    }
    *reason = "the default";
    return RUN_HOST_FIBRE;
}

const char *cli_host_name(enum run_host host)
{
    return host == RUN_HOST_PROCESS ? "process" : "fibre";
}
