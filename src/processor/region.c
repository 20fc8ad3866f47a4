/*
 * region.c - named parts of a program (orrery_region), whose time may be fixed beforehand.
 *
 *     if (orrery_region("solve"))     // 1: do it, 0: its time has been charged, it may be left out
 *         solve();
 *     orrery_region_end();
 *
 *  - --compute table FILE: a region in the table takes the time given there; it is run
 *    nevertheless.
 *  - --sample NAME:K: a region is run K times by each rank. After that it takes the mean of these
 *    times, and the program may skip it.
 *
 * While a rank is in a region whose time is fixed, its slices take no time ("muted"); MPI calls in
 * it take their usual time, and are not part of the mean. Regions may be nested; an inner one takes
 * no time while an outer one is fixed.
 */
#include <string.h>

#include "base/mem.h"
#include "processor/processor_internal.h"
#include "run/sample.h"
#include "run/times.h"

#define DEPTH_MAX 16

static struct {
    int in_use; /* some region's time is fixed, or may become so */
    struct run_times table;
    struct run_sample samples[RUN_SAMPLES_MAX];
    unsigned sample_count;
} regions;

/* What a rank knows about a sampled region. */
struct seen {
    uint64_t runs;
    vtime total;
};

struct processor_regions {
    unsigned depth, muted;   /* regions entered; index + 1 of the outermost one that is fixed */
    vtime before[DEPTH_MAX]; /* computed when the region was entered */
    int sampled[DEPTH_MAX];  /* its index among the samples, or -1 */
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

static struct processor_regions *regions_find(uint32_t index)
{
    struct processor_state *state = regions.in_use ? processor_state(index) : NULL;

    return state ? state->regions : NULL;
}

int processor_is_muted(uint32_t index)
{
    const struct processor_regions *r = regions_find(index);

    return r && r->muted;
}

void processor_regions_count(uint32_t index, vtime dt)
{
    struct processor_regions *r = regions_find(index);

    if (r)
        r->computed += dt;
}

static struct processor_regions *regions_get(uint32_t index)
{
    struct processor_state *state = processor_state_get(index);

    if (!state->regions)
        state->regions = mem_zalloc(sizeof *state->regions +
                                    regions.sample_count * sizeof(struct seen));
    return state->regions;
}

static int find_sample(const char *name)
{
    for (unsigned i = 0; i < regions.sample_count; i++)
        if (strcmp(regions.samples[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* Fixes the time of the region, whatever it does. */
static vtime settle(struct processor_regions *r, uint32_t index, vtime now, vtime dt)
{
    r->muted = r->depth;
    return processor_declare(index, now, dt);
}

int processor_region_enter(uint32_t index, vtime now, const char *name, vtime *dt)
{
    struct processor_regions *r;
    const struct run_time *given;
    int s;

    *dt = 0;
    if (!regions.in_use)
        return 1;
    r = regions_get(index);
    s = find_sample(name);
    if (r->depth == DEPTH_MAX)
        processor_host->fail(index, "orrery_region: regions are nested more than 16 deep; is an "
                                    "orrery_region_end missing?");
    r->before[r->depth] = r->computed;
    r->sampled[r->depth++] = s;
    if (r->muted)
        return 1;
    given = regions.table.count ? run_times_find(&regions.table, name) : NULL;
    if (given) {
        *dt = settle(r, index, now, vtime_from_seconds(given->seconds));
        return 1;
    }
    if (s < 0 || r->seen[s].runs < regions.samples[s].runs)
        return 1;
    *dt = settle(r, index, now, r->seen[s].total / (vtime)r->seen[s].runs);
    return 0;
}

void processor_region_leave(uint32_t index)
{
    struct processor_regions *r = regions.in_use ? regions_get(index) : NULL;
    int s;

    if (!r || r->depth == 0)
        return;
    s = r->sampled[--r->depth];
    if (r->muted == 0 && s >= 0) {
        r->seen[s].runs++;
        r->seen[s].total += r->computed - r->before[r->depth];
    }
    if (r->muted > r->depth)
        r->muted = 0;
}
