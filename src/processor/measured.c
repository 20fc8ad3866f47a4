/*
 * measured.c - a slice takes as long as it ran on this computer.
 */
#include "base/ticks.h"
#include "processor/processor_internal.h"

static double ps_per_tick;

static int measured_init(const struct processor_host *host, struct err *err)
{
    (void)host, (void)err;
    ps_per_tick = 1000.0 / ticks_per_ns();
    return 0;
}

static vtime measured_slice(uint32_t index, uint64_t ticks, unsigned call)
{
    (void)index, (void)call;
    return vtime_from_ps_double((double)ticks * ps_per_tick);
}

const struct processor_ops processor_measured_ops = {
    .name = "measured",
    .mode = RUN_COMPUTE_MEASURED,
    .init = measured_init,
    .slice = measured_slice,
};

/* Measured time, except for the regions of a table (region.c). */
const struct processor_ops processor_table_ops = {
    .name = "table",
    .mode = RUN_COMPUTE_TABLE,
    .init = measured_init,
    .slice = measured_slice,
};
