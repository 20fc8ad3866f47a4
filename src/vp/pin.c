/*
 * pin.c - pins processes that take turns to one processor.
 *
 * They are faster on one processor: waking a process on another takes longer than everything else.
 * Several schedulers, started by a launcher, choose different processors. A rank that starts
 * threads is no longer pinned.
 */
#include <sched.h>
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
