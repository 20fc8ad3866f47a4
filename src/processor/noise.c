/*
 * noise.c - interruptions of a rank by the operating system of its node.
 *
 * Periodic noise: every `period` the processor does something else for `duration`. Recorded noise:
 * a list of interruptions that repeats. Each rank begins at its own offset, derived from its
 * number.
 *
 *     period     |xx|------------|xx|------------|xx|------
 *     work                 |=====|  |====|
 *                          t <- dt + 1 interruption ->
 *
 * platform_nodes_init has checked that there is time between interruptions.
 *
 * A rank that waits is not delayed: only work is. So the length of work that begins at t is a
 * function of t and of the rank, and results stay exact.
 */
#include <stdlib.h>

#include "base/rng.h"
#include "processor/processor_internal.h"

static struct {
    vtime period, duration;
    const struct platform_noise *record;
    size_t count;
    vtime length; /* of the record */
    vtime busy;   /* time taken by all of its interruptions */
} noise;

void processor_noise_init(const struct platform *p)
{
    const struct platform_list *record = &p->lists[PLATFORM_NOISE];

    noise.period = p->config.nodes_noise_period;
    noise.duration = p->config.nodes_noise_duration;
    noise.record = record->items;
    noise.count = record->count;
    for (size_t i = 0; i < noise.count; i++)
        noise.busy += noise.record[i].duration;
    if (noise.count)
        noise.length = noise.record[noise.count - 1].start + noise.record[noise.count - 1].duration;
}

/* The offset of a rank within the period at time 0. */
static vtime phase(uint32_t index, vtime period)
{
    struct rng rng;

    rng_seed(&rng, processor_rank_id(index));
    return (vtime)rng_below(&rng, (uint64_t)period);
}

/* The length of work of dt that begins `at` into a period; an interruption is at the start of each
 * period. */
static vtime periodic(vtime at, vtime dt, vtime period, vtime duration)
{
    vtime room = period - duration;
    vtime wait = at < duration ? duration - at : 0, done = at < duration ? 0 : at - duration;
    vtime more = (vtime)((unsigned __int128)(done + dt - 1) / (unsigned __int128)room);

    return vtime_add(wait + dt, vtime_scale(duration, (double)more));
}

/* The length of work of dt that begins `at` into the record. */
static vtime recorded(vtime at, vtime dt)
{
    vtime turns = dt / (noise.length - noise.busy), took = turns * noise.length;
    vtime left = dt - turns * (noise.length - noise.busy);

    for (size_t i = 0;; i = (i + 1) % noise.count) {
        const struct platform_noise *n = &noise.record[i];

        if (n->start + n->duration > at) {
            vtime before = n->start > at ? n->start - at : 0;

            if (left <= before)
                return took + left;
            left -= before;
            took += n->start + n->duration - at;
            at = n->start + n->duration;
        }
        if (i == noise.count - 1)
            at = 0;
    }
}

vtime processor_noise(uint32_t index, vtime t, vtime dt)
{
    const struct platform_group *g = processor_group(index);
    vtime period = noise.period, duration = noise.duration;

    if (dt <= 0)
        return dt;
    if (g && g->noise_period != VTIME_NEVER)
        period = g->noise_period;
    if (g && g->noise_duration != VTIME_NEVER)
        duration = g->noise_duration;
    else if (noise.count)
        return recorded((t + phase(index, noise.length)) % noise.length, dt);
    if (duration == 0 || period == 0)
        return dt;
    return periodic((t + phase(index, period)) % period, dt, period, duration);
}
