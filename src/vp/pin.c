/*
 * pin.c - pins processes that take turns to one processor.
 *
 * They are faster on one processor: waking a process on another takes longer than everything else.
 * Several schedulers, started by a launcher, choose different processors. A rank that starts
 * threads is no longer pinned, since they may compute in parallel. While they only take turns, each
 * of them is pinned. When they compute, one of them unpins all if it notices; otherwise the
 * scheduler does.
 */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sys.h"
#include "vp/process.h"

static struct {
    cpu_set_t all; /* the processors that the run may use */
    cpu_set_t one; /* where scheduler and ranks take turns */
} processors;

void vp_pin_init(void)
{
    const char *number = getenv("PMI_RANK");
    unsigned cpu = 0;
    int skip = number ? atoi(number) : 0;

    if (syscall(SYS_sched_getaffinity, 0, sizeof processors.all, &processors.all) < 0 ||
        syscall(SYS_getcpu, &cpu, NULL, NULL) != 0)
        return;
    if (number) {
        skip %= CPU_COUNT(&processors.all);
        for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &processors.all) && skip-- == 0)
                break;
    }
    CPU_SET(cpu, &processors.one);
}

void vp_pin(void)
{
    if (CPU_COUNT(&processors.one) > 0)
        syscall(SYS_sched_setaffinity, 0, sizeof processors.one, &processors.one);
}

void vp_unpin(void)
{
    if (CPU_COUNT(&processors.all) > 0)
        syscall(SYS_sched_setaffinity, 0, sizeof processors.all, &processors.all);
}

/* Threads that the program has bound to processors of its choice are left alone. */
static int is_on(long tid, const cpu_set_t *set)
{
    cpu_set_t now;

    CPU_ZERO(&now);
    return syscall(SYS_sched_getaffinity, tid, sizeof now, &now) >= 0 && CPU_EQUAL(&now, set);
}

void vp_pin_thread(void)
{
    if (CPU_COUNT(&processors.one) > 0 && is_on(0, &processors.all))
        vp_pin();
}

void vp_unpin_threads(int32_t pid)
{
    char path[64];
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *e; (e = readdir(dir));) {
        long tid = atol(e->d_name);

        if (tid > 0 && is_on(tid, &processors.one))
            syscall(SYS_sched_setaffinity, tid, sizeof processors.all, &processors.all);
    }
    closedir(dir);
}
