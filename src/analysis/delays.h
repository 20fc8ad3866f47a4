/*
 * delays.h - delays: what makes others wait, after Böhme, Geimer, Wolf and Arnold (Identifying the
 * Root Causes of Wait States in Large-Scale Parallel Applications). When a rank waits for another,
 * both are compared since they last synchronised: places where the late rank spent more time are
 * delays, and the waiting is attributed to them in proportion. If the late rank has itself waited
 * meanwhile, its waiting gets a share, too, which is passed on to the causes of that waiting in the
 * same proportions (indirect costs).
 *
 * The analysis runs forwards. For each place, every rank sums up the time that it spent there, and
 * how much of its waiting the place has caused. Snapshots of these sums are kept from the last
 * synchronisation: of both ends for each pair of ranks, and of each member for every communicator.
 */
#ifndef ANALYSIS_DELAYS_H
#define ANALYSIS_DELAYS_H

#include <stddef.h>
#include <stdint.h>

struct delay_cell {
    int64_t active; /* ticks spent at the place, without waiting */
    double caused;  /* ticks of this rank's waiting that the place has caused */
};

/* Sums of a rank, by place. */
struct delay_sums {
    struct delay_cell *cells;
    uint32_t count;
    uint32_t epoch; /* collectives of all ranks with all ranks so far */
};

struct delay_snapshot {
    uint32_t count, epoch;
    struct delay_cell cells[];
};

struct delays {
    double *direct, *indirect; /* ticks, by place */
    double *scratch;           /* two for each place */
    uint32_t count;
    double known, unknown;
    size_t bytes, bytes_most; /* of snapshots */
};

void delays_init(struct delays *);
void delays_fini(struct delays *);

void delays_grow(struct delay_sums *, uint32_t place);
static inline void delays_spend(struct delay_sums *s, uint32_t place, int64_t ticks)
{
    if (ticks <= 0)
        return;
    if (__builtin_expect(place >= s->count, 0))
        delays_grow(s, place);
    s->cells[place].active += ticks;
}

/* Copies the sums to *to, which is allocated if it is NULL and there is room. */
void delays_snapshot(struct delays *, struct delay_snapshot **to, const struct delay_sums *);

/* `waiter` has waited this long for `late`. The snapshots are of both when they last synchronised;
 * NULL: never. */
void delays_attribute(struct delays *, struct delay_sums *waiter, const struct delay_snapshot *then,
                      const struct delay_sums *late, const struct delay_snapshot *late_then,
                      int64_t ticks);
/* Attributes waiting whose cause is not known. */
void delays_attribute_unknown(struct delays *, struct delay_sums *waiter, int64_t ticks);

#endif
