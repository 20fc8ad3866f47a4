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

#include "base/plain.h"
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

unsigned vp_pin_processors(void)
{
    return (unsigned)CPU_COUNT(&processors.all);
}

/* Not by syscall, which is also the program's. */
static void set(long tid, const cpu_set_t *to)
{
    if (CPU_COUNT(to) > 0)
        plain_call(SYS_sched_setaffinity, tid, sizeof *to, (long)to, 0);
}

void vp_pin(void)
{
    set(0, &processors.one);
}

void vp_unpin(void)
{
    set(0, &processors.all);
}

/* Threads that the program has bound to processors of its choice are left alone. */
static int is_on(long tid, const cpu_set_t *set)
{
    cpu_set_t now;

    CPU_ZERO(&now);
    return syscall(SYS_sched_getaffinity, tid, sizeof now, &now) >= 0 && CPU_EQUAL(&now, set);
}

int vp_pin_thread(void)
{
    if (is_on(0, &processors.one))
        return 1;
    if (!is_on(0, &processors.all))
        return 0;
    vp_pin();
    return 1;
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
            set(tid, &processors.all);
    }
    closedir(dir);
}
