/*
 * The choice of the host: what was asked for comes first, then what a program needs, then what is
 * faster.
 */
#include "program/host.h"

#include <string.h>

#include "tap.h"

#define KIB ((uint64_t)1024)

static enum run_host choose(uint64_t private_bytes, uint64_t ranks, const char **reason)
{
    static struct program program;

    program.private_bytes = private_bytes;
    return program_host_choose(&program, RUN_HOST_AUTO, ranks, reason);
}

int main(void)
{
    static struct program threads = {.process_reason = "the program uses OpenMP"};
    static struct program timers = {.process_wish = "the program uses timers"};
    const char *why = "";

    plan_auto();
    is_int(program_host_choose(&threads, RUN_HOST_AUTO, 1, &why), RUN_HOST_PROCESS,
           "threads: processes");
    is_str(why, "the program uses OpenMP", "and why");
    is_int(program_host_choose(&threads, RUN_HOST_FIBRE, 1, &why), RUN_HOST_FIBRE,
           "but not against --host");
    is_str(why, "chosen with --host", "and why");
    is_int(choose(100 * KIB, 64, &why), RUN_HOST_FIBRE, "little data: fibres");
    is_str(why, "the default", "and why");
    is_int(choose(300 * KIB, 4, &why), RUN_HOST_PROCESS, "much data: processes");
    is_str(why, "the program's static data is large", "and why");
    is_int(choose(300 * KIB, 0, &why), RUN_HOST_PROCESS, "the same if ranks are not known");
    is_int(choose(300 * KIB, 1, &why), RUN_HOST_FIBRE, "one rank is never switched");
    is_int(choose(300 * KIB, 1000000, &why), RUN_HOST_FIBRE, "a million ranks: fibres");
    is_str(why, "too many ranks for processes", "and why");
    is_int(program_host_choose(&timers, RUN_HOST_AUTO, 1, &why), RUN_HOST_PROCESS,
           "timers: processes");
    is_str(why, "the program uses timers", "and why");
    is_int(program_host_choose(&timers, RUN_HOST_AUTO, 1000000, &why), RUN_HOST_FIBRE,
           "but not a million, since it may not use them");
    return done_testing();
}
