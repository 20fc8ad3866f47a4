/*
 * counters.c - the time of a slice follows from a hardware counter.
 *
 *     time = count * nodes.cpi / (nodes.gigahertz * 10^9)          without a table
 *     time = interpolated linearly between the entries of a table  with one
 *
 * Reading the counter (run/counter.h) is a system call. It counts for this process only, so ranks
 * must be fibres; the command makes sure of that.
 */
#include "base/sys.h"
#include "processor/processor_internal.h"
#include "run/counter.h"
#include "run/times.h"

static struct {
    int fd;
    double ps_per_count;
    struct run_times table;
} counters;

static int counters_init(const struct processor_host *host, struct err *err)
{
    const struct run_options *o = host->options;
    const struct platform_config *c = &host->machine->config;
    int rc;

    rc = run_counter_open(o->counter, &counters.fd, err);
    counters.ps_per_count = c->nodes_cpi / c->nodes_gigahertz * 1000;
    if (rc == 0 && o->compute_path[0])
        rc = run_times_read(&counters.table, o->compute_path, RUN_TIMES_COUNTS, err);
    return rc;
}

static uint64_t counters_now(void)
{
    uint64_t count = 0;

    if (sys_read(counters.fd, &count, sizeof count) != sizeof count)
        return 0;
    return count;
}

static vtime counters_slice(uint32_t index, uint64_t count, unsigned call)
{
    (void)index, (void)call;
    if (counters.table.count)
        return vtime_from_seconds(run_times_at(&counters.table, (double)count));
    return vtime_from_ps_double((double)count * counters.ps_per_count);
}

const struct processor_ops processor_counters_ops = {
    .name = "counters",
    .mode = RUN_COMPUTE_COUNTERS,
    .init = counters_init,
    .slice = counters_slice,
    .now = counters_now,
};
