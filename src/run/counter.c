/*
 * counter.c - the counters that --compute counters may use.
 */
#include "run/counter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    uint32_t type;
    uint64_t config;
} kinds[] = {
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
};

static const char *advice(uint32_t type, int error)
{
    if (error == EACCES || error == EPERM)
        return "see /proc/sys/kernel/perf_event_paranoid, or use --compute measured";
    if (type == PERF_TYPE_HARDWARE)
        return "a virtual machine often has no such counter: use --compute counters:task-clock, "
               "which "
               "every machine has, or --compute measured";
    return "use --compute measured";
}

int run_counter_open(const char *name, int *fd, struct err *err)
{
    struct perf_event_attr attr = {.size = sizeof attr, .exclude_kernel = 1, .exclude_hv = 1};

    if (!*name)
        name = kinds[0].name;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, name) != 0)
            continue;
        attr.type = kinds[i].type;
        attr.config = kinds[i].config;
        *fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (*fd >= 0)
            return 0;
        return err_set(err, ERR_SYSTEM,
                       "--compute counters: this machine does not let us count '%s': %s; %s", name,
                       strerror(errno), advice(kinds[i].type, errno));
    }
    return err_set(err, ERR_INPUT,
                   "--compute counters: unknown counter '%s': expected instructions, "
                   "cycles or task-clock",
                   name);
}
