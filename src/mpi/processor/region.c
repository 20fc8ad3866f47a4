/*
 * region.c - parts of a program with a name (orrery_region), whose time may be settled beforehand.
 *
 *     if (orrery_region("solve"))     // 1: do it, 0: its time has been charged, it may be left out
 *         solve();
 *     orrery_region_end();
 *
 *  - --compute table FILE: a region in the table takes as long as it says; it is run all the same.
 *  - --sample NAME:K: a region is run K times by each rank. After that it takes the mean of these
 *    times, and the program is told that it need not run it.
 *
 * While a rank is in a region whose time is settled, its slices count nothing ("muted"); MPI calls in it
 * take their time as ever, and are not part of the mean. Regions may be nested; an inner one counts
 * nothing while an outer one is settled.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "mpi/clock.h"
#include "mpi/entry.h"
#include "mpi/processor/processor_internal.h"
#include "run/sample.h"
#include "run/times.h"

#define DEPTH_MAX 16

static struct {
    int in_use; /* some region's time is settled, or may become so */
    struct run_times table;
    struct run_sample samples[RUN_SAMPLES_MAX];
    unsigned sample_count;
} regions;

/* What a rank knows of a region that is sampled. */
struct seen {
    uint64_t runs;
    vtime total;
};

struct processor_regions {
    unsigned depth, muted; /* regions entered; those of them from this one on are settled, + 1 */
    vtime before[DEPTH_MAX]; /* computed when the region was entered */
    int sampled[DEPTH_MAX];  /* its number among the samples, or -1 */
    vtime computed;          /* by all slices so far */
    struct seen seen[];      /* per sample */
};

int processor_regions_init(const struct run_options *o, struct err *err)
{
    int rc = 0;

    if (o->sample[0] &&
        (rc = run_samples_read(o->sample, regions.samples, &regions.sample_count, err)))
        err_prefix(err, "--sample");
    if (rc == 0 && o->compute == RUN_COMPUTE_TABLE)
        rc = run_times_read(&regions.table, o->compute_path, RUN_TIMES_NAMES, err);
    regions.in_use = regions.sample_count || regions.table.count;
    return rc;
}

int processor_is_muted(const struct mpi_rank *self)
{
    return regions.in_use && self->ext && self->ext->regions && self->ext->regions->muted;
}

void processor_regions_count(struct mpi_rank *self, vtime dt)
{
    if (regions.in_use && self->ext && self->ext->regions)
        self->ext->regions->computed += dt;
}

static struct processor_regions *regions_of(struct mpi_rank *self)
{
    struct mpi_ext *ext = mpi_ext_get(self);

    if (!ext->regions)
        ext->regions = mem_zalloc(sizeof *ext->regions +
                                  regions.sample_count * sizeof(struct seen));
    return ext->regions;
}

static int find_sample(const char *name)
{
    for (unsigned i = 0; i < regions.sample_count; i++)
        if (strcmp(regions.samples[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* The region takes so long, whatever it does. */
static void settle(struct mpi_rank *self, struct processor_regions *r, vtime t)
{
    processor_declare(self, t);
    r->muted = r->depth;
}

static int enter(struct mpi_rank *self, const char *name)
{
    struct processor_regions *r = regions_of(self);
    const struct run_time *given;
    int s = find_sample(name);

    if (r->depth == DEPTH_MAX)
        mpi_abort_run(self, 2, "orrery_region: regions are nested more than 16 deep; is an "
                               "orrery_region_end missing?");
    r->before[r->depth] = r->computed;
    r->sampled[r->depth++] = s;
    if (r->muted)
        return 1;
    given = regions.table.count ? run_times_find(&regions.table, name) : NULL;
    if (given) {
        settle(self, r, vtime_from_seconds(given->seconds));
        return 1;
    }
    if (s < 0 || r->seen[s].runs < regions.samples[s].runs)
        return 1;
    settle(self, r, r->seen[s].total / (vtime)r->seen[s].runs);
    return 0;
}

static void leave(struct mpi_rank *self)
{
    struct processor_regions *r = regions_of(self);
    int s;

    if (r->depth == 0)
        return;
    s = r->sampled[--r->depth];
    if (r->muted == 0 && s >= 0) {
        r->seen[s].runs++;
        r->seen[s].total += r->computed - r->before[r->depth];
    }
    if (r->muted > r->depth)
        r->muted = 0;
}

/* ---- what programs call ---- */

ORR_EXPORT int orrery_region_real(const char *name) __asm__("orrery_region");
ORR_EXPORT void orrery_region_end_real(void) __asm__("orrery_region_end");
ORR_EXPORT void orrery_flops_real(double operations) __asm__("orrery_flops");

int orrery_region_real(const char *name)
{
    struct mpi_rank *self = mpi_self();
    int run = 1;

    if (!self || !name)
        return 1;
    mpi_clock_begin(self);
    if (regions.in_use)
        run = enter(self, name);
    mpi_clock_end();
    return run;
}

void orrery_region_end_real(void)
{
    struct mpi_rank *self = mpi_self();

    if (!self)
        return;
    mpi_clock_begin(self);
    if (regions.in_use)
        leave(self);
    mpi_clock_end();
}

void orrery_flops_real(double operations)
{
    struct mpi_rank *self = mpi_self();
    double rate = mpi_world.machine.config.nodes_gigaflops * 1e9;

    if (!self || !(operations > 0))
        return;
    mpi_clock_begin(self);
    if (!processor_is_muted(self))
        processor_declare(self, vtime_from_seconds(operations / rate / processor_speed(self)));
    mpi_clock_end();
}
