/*
 * delays.c - sums, snapshots and costs.
 */
#include "analysis/delays.h"

#include <string.h>

#include "analysis/places.h"
#include "base/array.h"
#include "base/mem.h"

#define SNAPSHOT_BYTES ((size_t)512 << 20)

void delays_init(struct delays *d)
{
    *d = (struct delays){.bytes_most = SNAPSHOT_BYTES};
}

/* Their owners free snapshots. */
void delays_fini(struct delays *d)
{
    mem_free(d->direct);
    mem_free(d->indirect);
    mem_free(d->scratch);
    *d = (struct delays){0};
}

void delays_grow(struct delay_sums *s, uint32_t place)
{
    uint32_t count = (place + 8) & ~7u;
    s->cells = mem_realloc(s->cells, count * sizeof *s->cells);
    memset(s->cells + s->count, 0, (count - s->count) * sizeof *s->cells);
    s->count = count;
}

void delays_snapshot(struct delays *d, struct delay_snapshot **to, const struct delay_sums *s)
{
    struct delay_snapshot *snapshot = *to;
    if (!snapshot || snapshot->count < s->count) {
        size_t bytes = sizeof *snapshot + s->count * sizeof *snapshot->cells;
        size_t old = snapshot ? sizeof *snapshot + snapshot->count * sizeof *snapshot->cells : 0;
        if (d->bytes + bytes - old > d->bytes_most)
            return;
        d->bytes += bytes - old;
        if (snapshot)
            mem_free(snapshot);
        *to = snapshot = mem_alloc(bytes);
        snapshot->count = s->count;
    }
    snapshot->epoch = s->epoch;
    if (s->count)
        memcpy(snapshot->cells, s->cells, s->count * sizeof *s->cells);
}

static void reserve(struct delays *d, uint32_t count)
{
    if (count <= d->count)
        return;
    d->direct = mem_realloc(d->direct, count * sizeof *d->direct);
    d->indirect = mem_realloc(d->indirect, count * sizeof *d->indirect);
    d->scratch = mem_realloc(d->scratch, 2 * count * sizeof *d->scratch);
    memset(d->direct + d->count, 0, (count - d->count) * sizeof *d->direct);
    memset(d->indirect + d->count, 0, (count - d->count) * sizeof *d->indirect);
    d->count = count;
}

static struct delay_cell since(const struct delay_sums *s, const struct delay_snapshot *then,
                               uint32_t place)
{
    struct delay_cell cell = place < s->count ? s->cells[place] : (struct delay_cell){0, 0};
    if (then && place < then->count) {
        cell.active -= then->cells[place].active;
        cell.caused -= then->cells[place].caused;
    }
    return cell;
}

void delays_attribute(struct delays *d, struct delay_sums *waiter,
                      const struct delay_snapshot *then, const struct delay_sums *late,
                      const struct delay_snapshot *late_then, int64_t ticks)
{
    double sum = 0, wait = (double)ticks;
    uint32_t count = late->count;
    reserve(d, count);
    for (uint32_t i = 0; i < count; i++) {
        struct delay_cell cell = since(late, late_then, i);
        int64_t excess = cell.active - since(waiter, then, i).active;
        d->scratch[2 * i] = excess > 0 ? (double)excess : 0;
        d->scratch[2 * i + 1] = cell.caused > 0 ? cell.caused : 0;
        sum += d->scratch[2 * i] + d->scratch[2 * i + 1];
    }
    if (sum <= 0) {
        delays_attribute_unknown(d, waiter, ticks);
        return;
    }
    if (count > waiter->count)
        delays_grow(waiter, count - 1);
    for (uint32_t i = 0; i < count; i++) {
        double direct = wait * d->scratch[2 * i] / sum,
               indirect = wait * d->scratch[2 * i + 1] / sum;
        d->direct[i] += direct;
        d->indirect[i] += indirect;
        waiter->cells[i].caused += direct + indirect;
    }
    d->known += wait * (1 - d->scratch[2 * PLACES_UNKNOWN + 1] / sum);
    d->unknown += wait * d->scratch[2 * PLACES_UNKNOWN + 1] / sum;
}

void delays_attribute_unknown(struct delays *d, struct delay_sums *waiter, int64_t ticks)
{
    if (!waiter->count)
        delays_grow(waiter, PLACES_UNKNOWN);
    waiter->cells[PLACES_UNKNOWN].caused += (double)ticks;
    d->unknown += (double)ticks;
}
