/*
 * pace.c - converts between real and simulated time (see pace.h).
 *
 * Readers in other processes use a sequence lock: `changes` is odd while the pieces change. They
 * need the piece before the last one, too: the simulator asks about moments that lie one overhead
 * in the past.
 */
#include "emulate/pace.h"

#include <limits.h>
#include <linux/futex.h>
#include <time.h>

#include "base/sys.h"

#define FIRST_WIDTH (100 * VTIME_US)

int64_t emulate_wall(void)
{
    struct timespec t;

    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- the line ---- */

static void set(struct emulate_pace *p, struct emulate_piece before, struct emulate_piece now)
{
    uint32_t changes = atomic_load(&p->changes);

    atomic_store(&p->changes, changes | 1);
    p->before = before;
    p->now = now;
    atomic_store(&p->changes, (changes | 1) + 1);
    syscall(SYS_futex, &p->changes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    if (p->factor_least == 0 || now.factor < p->factor_least)
        p->factor_least = now.factor;
    if (now.factor > p->factor_most)
        p->factor_most = now.factor;
}

void emulate_begin(struct emulate_pace *p, int64_t wall, double factor, int64_t overhead)
{
    struct emulate_piece first = {wall, 0, factor};

    p->overhead = overhead;
    p->trend.width = FIRST_WIDTH;
    set(p, first, first);
}

static vtime along(const struct emulate_piece *piece, int64_t wall)
{
    double ns = (double)(wall - piece->wall) / piece->factor;
    vtime passed = vtime_from_ps_double(ns * 1000);

    if (ns < 0)
        return piece->time - vtime_from_ps_double(-ns * 1000);
    /* a piece may begin before time does */
    return piece->time < 0 ? piece->time + passed : vtime_add(piece->time, passed);
}

void emulate_follow(struct emulate_pace *mine, const struct emulate_piece *now,
                    const struct emulate_piece *before, int64_t overhead, int64_t ahead)
{
    mine->overhead = overhead;
    set(mine, (struct emulate_piece){before->wall + ahead, before->time, before->factor},
        (struct emulate_piece){now->wall + ahead, now->time, now->factor});
}

void emulate_change(struct emulate_pace *p, int64_t wall, double factor)
{
    struct emulate_piece next = {wall, along(&p->now, wall), factor};

    if (factor != p->now.factor)
        set(p, p->now, next);
}

uint32_t emulate_look(const struct emulate_pace *p, struct emulate_piece *now,
                      struct emulate_piece *before)
{
    uint32_t changes;

    do {
        while ((changes = atomic_load(&p->changes)) & 1)
            ;
        *now = p->now;
        *before = p->before;
        atomic_thread_fence(memory_order_acquire);
    } while (atomic_load(&p->changes) != changes);
    return changes;
}

vtime emulate_time_at(const struct emulate_pace *p, int64_t wall)
{
    struct emulate_piece now, before;
    vtime t;

    emulate_look(p, &now, &before);
    t = along(wall >= now.wall ? &now : &before, wall);
    return t > 0 ? t : 0;
}

static int64_t moment(const struct emulate_piece *piece, vtime t)
{
    return piece->wall + (int64_t)((double)(t - piece->time) / 1000 * piece->factor);
}

int64_t emulate_wall_of(const struct emulate_pace *p, vtime t)
{
    struct emulate_piece now, before;

    emulate_look(p, &now, &before);
    return moment(t >= now.time ? &now : &before, t);
}

vtime emulate_now(struct emulate_pace *p, int64_t wall)
{
    vtime t = emulate_time_at(p, wall - p->overhead);

    if (t > p->reached)
        p->reached = t;
    return p->reached;
}

int64_t emulate_until(const struct emulate_pace *p, vtime t, int64_t wall, int64_t most)
{
    double away;

    if (t >= VTIME_LIMIT)
        return most;
    away = (double)(t - p->now.time) / 1000 * p->now.factor + (double)(p->now.wall - wall) +
           (double)p->overhead;
    return away < 0 ? 0 : away < (double)most ? (int64_t)away + 1 : most;
}

/* The system ends the wait at that moment, or when the pieces change. */
static void sleep_until(struct emulate_pace *p, uint32_t changes, int64_t wall)
{
    struct timespec end = {.tv_sec = wall / 1000000000, .tv_nsec = wall % 1000000000};

    syscall(SYS_futex, &p->changes, FUTEX_WAIT_BITSET, changes, &end, NULL, FUTEX_BITSET_MATCH_ANY);
}

void emulate_sleep(struct emulate_pace *p, vtime t)
{
    struct emulate_piece now, before;

    while (atomic_load(&p->changes) == 0)
        syscall(SYS_futex, &p->changes, FUTEX_WAIT, 0, NULL, NULL, 0);
    for (;;) {
        uint32_t changes = emulate_look(p, &now, &before);
        int64_t end = moment(t >= now.time ? &now : &before, t);

        if (emulate_wall() >= end)
            return;
        sleep_until(p, changes, end);
    }
}

/* ---- what was measured ---- */

static void widen(struct emulate_trend *t)
{
    for (int i = 0; i < EMULATE_BINS / 2; i++) {
        vtime a = t->most[2 * i], b = t->most[2 * i + 1];

        t->most[i] = a > b ? a : b;
    }
    for (int i = EMULATE_BINS / 2; i < EMULATE_BINS; i++)
        t->most[i] = 0;
    t->bins = (t->bins + 1) / 2;
    t->width *= 2;
}

static void note(struct emulate_trend *t, vtime when, vtime value)
{
    uint32_t bin;

    while (when / t->width >= EMULATE_BINS)
        widen(t);
    bin = (uint32_t)(when / t->width);
    if (bin >= t->bins)
        t->bins = bin + 1;
    if (value > t->most[bin])
        t->most[bin] = value;
}

void emulate_executed(struct emulate_pace *p, vtime t, vtime now)
{
    vtime behind = now > t ? now - t : 0;

    p->events++;
    if (behind > p->max_behind)
        p->max_behind = behind;
    note(&p->trend, t, behind);
}

vtime emulate_called(struct emulate_pace *p, vtime t, vtime now)
{
    if (now <= t)
        return t;
    p->late++;
    p->lost = vtime_add(p->lost, now - t);
    if (now - t > p->max_late)
        p->max_late = now - t;
    return now;
}

double emulate_mean_factor(const struct emulate_pace *p)
{
    int64_t wall = emulate_wall();
    vtime t = emulate_time_at(p, wall);

    return t > 0 ? (double)(wall - emulate_wall_of(p, 0)) * 1000 / (double)t : p->now.factor;
}
