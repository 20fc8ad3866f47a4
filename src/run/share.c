/*
 * share.c - chooses the number of processes (see share.h).
 *
 * One process per core is best if each has enough ranks: with few ranks, most messages go to
 * another process, which takes several times longer than within one.
 */
#define _GNU_SOURCE 1
#include "run/share.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define RANKS_MIN 16u /* per process */
/* An upper bound of what a process takes besides its ranks. */
#define PROCESS_BYTES ((uint64_t)64 << 20)
#define PROCESS_PART 4u /* divisor: all processes together may take this fraction of memory */
#define HINT_SECONDS 20.0
#define HINT_IDLE 0.9 /* processors */

unsigned run_share_cores(void)
{
    cpu_set_t set;
    long count;

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}

uint32_t run_share_choose(uint64_t ranks, unsigned cores, uint64_t memory)
{
    uint64_t procs = ranks / RANKS_MIN;

    if (procs > cores)
        procs = cores;
    if (memory && procs > memory / PROCESS_PART / PROCESS_BYTES)
        procs = memory / PROCESS_PART / PROCESS_BYTES;
    return procs ? (uint32_t)procs : 1;
}

/* Each further process goes to the program with most ranks for each of its processes (D'Hondt). */
void run_share_apps(struct run_app *apps, uint32_t count, uint32_t procs)
{
    for (uint32_t i = 0; i < count; i++)
        apps[i].procs = 1;
    for (uint32_t left = procs - count; left > 0; left--) {
        struct run_app *most = NULL;

        for (struct run_app *a = apps; a < apps + count; a++)
            if (a->procs < a->ranks && (!most || (uint64_t)a->ranks * (most->procs + 1) >
                                                     (uint64_t)most->ranks * (a->procs + 1)))
                most = a;
        if (!most)
            return;
        most->procs++;
    }
}

int run_share_is_hint(double seconds, double idle, uint32_t procs)
{
    return seconds >= HINT_SECONDS && idle >= HINT_IDLE && procs > 1;
}

double run_share_idle(unsigned cores)
{
    double load;

    return getloadavg(&load, 1) == 1 && load < cores ? cores - load : 0;
}
