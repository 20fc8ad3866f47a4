/*
 * host.c - chooses the host that runs the ranks. Both give the same results; the faster one is
 * chosen before the start, from the size of a rank's static data and the number of ranks. A switch
 * of ranks costs, in measured processor time (AMD EPYC, Linux 6.18):
 *
 *     fibre      0.5 us + 90 ns for each KiB of static data that ranks have changed (copied out and
 *                in; 60 while the data of all ranks fits into the cache, 130 for megabytes)
 *     process    12 us, whatever the data; and 0.6 ms for each rank to start (in Fortran 1 ms)
 *
 * (A process that resumes finds cold caches; the kernel's part is 3.5 us.) How often a rank will be
 * switched to is unknown. With 100 times (NPB: 25 in FT, 150 in IS, 500 in BT and MG, 2000 in CG) a
 * process costs 12 us + 600 us / 100 each time, as much as a fibre with 200 KiB. The kernels of NPB
 * agree (docs/benchmarks.md): up to 160 KiB fibres are faster, from 290 KiB on processes, and
 * between the two it depends on how much they communicate.
 *
 * A single rank is never switched. The number of processes is limited (ulimit, cgroup, kernel), and
 * each takes some 64 KiB besides the program's data: where they do not fit, ranks are fibres.
 *
 * Other ways to swap large data at one address were measured, too, and are slower than a process:
 * mremap of one rank's pages out and of the next one's in takes 15 to 20 us and 0.08 us per page;
 * mapping the next rank's part of a memory file takes 6 to 11 us and 0.6 us for each page then
 * used.
 */
#include "program/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"

#define COPY_NS_PER_KIB 90
#define PROCESS_SWITCH_NS 12000
#define PROCESS_START_NS 600000
#define SWITCHES_OF_A_RANK 100
#define PROCESS_BYTES ((uint64_t)64 << 10)
#define GROUP_MAX 1024
#define PROCESSES_MOST 8192 /* they start within seconds */

static int copying_is_slower(uint64_t private_bytes)
{
    uint64_t fibre = private_bytes / 1024 * COPY_NS_PER_KIB;

    return fibre > PROCESS_SWITCH_NS + PROCESS_START_NS / SWITCHES_OF_A_RANK;
}

/* The limit of one cgroup (v2); "max" means none. */
static uint64_t group_limit(const char *group)
{
    char path[GROUP_MAX + 64], text[32], *end;
    uint64_t limit;

    snprintf(path, sizeof path, "/sys/fs/cgroup%s/pids.max", group);
    if (sys_read_text(path, text, sizeof text) < 0)
        return UINT64_MAX;
    limit = strtoull(text, &end, 10);
    return end == text ? UINT64_MAX : limit;
}

/* The least limit of this process's cgroup and those above it. */
static uint64_t groups_limit(void)
{
    char lines[GROUP_MAX], *group, *slash;
    uint64_t least = group_limit("");

    if (sys_read_text("/proc/self/cgroup", lines, sizeof lines) < 0 ||
        !(group = strstr(lines, "0::/")))
        return least;
    group += 3;
    group[strcspn(group, "\n")] = '\0';
    while ((slash = strrchr(group, '/')) != NULL) {
        uint64_t here = group_limit(group);

        least = here < least ? here : least;
        *slash = '\0';
    }
    return least;
}

static uint64_t user_limit(void)
{
    struct rlimit limit;

    if (geteuid() == 0 || getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

/* Half of what the system allows, to leave room for others. */
static int processes_fit(uint64_t ranks)
{
    uint64_t memory = mem_available();

    if (ranks > PROCESSES_MOST || (memory && ranks > memory / 2 / PROCESS_BYTES))
        return 0;
    return ranks <= user_limit() / 2 && ranks <= groups_limit() / 2;
}

enum run_host program_host_choose(const struct program *program, enum run_host asked,
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
    if (!program->process_wish && (ranks == 1 || !copying_is_slower(program->private_bytes))) {
        *reason = "the default";
        return RUN_HOST_FIBRE;
    }
    if (!processes_fit(ranks)) {
        *reason = "too many ranks for processes";
        return RUN_HOST_FIBRE;
    }
    *reason = program->process_wish ? program->process_wish : "the program's static data is large";
    return RUN_HOST_PROCESS;
}
