/*
 * draw.h - what all parts of the random program share: numbers drawn from the seed, contents of
 * messages, and what is printed at the end.
 *
 * A draw belongs to an action, and either to all ranks, which then agree without communicating, or
 * to one rank. Ranks that take no part in an action skip it, and still agree about the next one.
 */
#ifndef TESTS_RANDOM_DRAW_H
#define TESTS_RANDOM_DRAW_H

#include <stdint.h>

#include "../mpi/check.h"

#ifndef RANDOM_HAS_CANCEL
#define RANDOM_HAS_CANCEL 1
#endif

struct draw {
    uint64_t state;
};

static struct {
    uint64_t seed;
    int action, rank, size;
    uint64_t sum;   /* of what was received: the same in every run */
    uint64_t order; /* a hash of what depends on virtual time */
} run;

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u ^ b;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint32_t draw(struct draw *d, uint32_t n)
{
    d->state = mix(d->state, 1);
    return (uint32_t)(d->state >> 33) % n;
}

/* What all ranks draw alike in this action. */
static struct draw draw_shared(void)
{
    return (struct draw){mix(run.seed, (uint64_t)run.action << 20)};
}

static struct draw draw_own(void)
{
    return (struct draw){mix(run.seed, (uint64_t)run.action << 20 | (uint64_t)(run.rank + 1))};
}

/* Something that only virtual time decides. */
static void note(uint64_t what)
{
    run.order = mix(run.order, what);
}

/* Ranks are not at the same point at the same time. */
static void spend(struct draw *own)
{
    static const double seconds[] = {0, 0, 1e-7, 3e-6, 2e-5, 4e-4};
    check_spend(seconds[draw(own, 6)]);
}

/* Sizes around the usual limits of eager messages, mostly small. */
static int draw_bytes(struct draw *d)
{
    static const int sizes[] = {8, 8, 9, 24, 100, 1000, 4096, 9000, 65535, 65536, 65537, 140000};
    return sizes[draw(d, draw(d, 4) ? 8 : 12)];
}

enum { BYTES_MAX = 140000 };

static unsigned char byte_of(uint64_t id, int i)
{
    return (unsigned char)(id * 2654435761u + (uint64_t)i * 40503u + (uint64_t)(i >> 8));
}

/* A message starts with its number; the rest follows from that. */
static void fill(unsigned char *b, uint64_t id, int bytes)
{
    for (int i = 0; i < bytes; i++)
        b[i] = i < 8 ? (unsigned char)(id >> 8 * i) : byte_of(id, i);
}

static int is_filled(const unsigned char *b, uint64_t id, int bytes)
{
    int wrong = 0;
    for (int i = 0; i < bytes; i++)
        wrong += b[i] != (i < 8 ? (unsigned char)(id >> 8 * i) : byte_of(id, i));
    return !wrong;
}

static uint64_t id_in(const unsigned char *b)
{
    uint64_t id = 0;
    for (int i = 0; i < 8; i++)
        id |= (uint64_t)b[i] << 8 * i;
    return id;
}

/* A value that a rank contributes. */
static long value_of(int rank, int i, uint64_t id)
{
    return (long)(mix(id, (uint64_t)rank << 32 | (uint64_t)i) % 100000);
}

/* ---- completing requests ---- */

/* All of them, in one of the ways that there are. Statuses are by index. */
static void complete(int way, int count, MPI_Request *r, MPI_Status *s)
{
    MPI_Status got[64];
    int at[64], n, flag = 0, left = 0, tries = 0;
    switch (way) {
    case 0:
        MPI_Waitall(count, r, s);
        return;
    case 1:
        for (int i = count - 1; i >= 0; i--)
            MPI_Wait(&r[i], &s[i]);
        return;
    case 2:
        for (; !flag; tries++)
            MPI_Testall(count, r, &flag, s);
        note((uint64_t)tries);
        return;
    case 8: /* looks first, which completes nothing */
        for (int i = 0; i < count; i++) {
            for (flag = 0; !flag; tries++)
                MPI_Request_get_status(r[i], &flag, &s[i]);
            MPI_Wait(&r[i], &s[i]);
        }
        note((uint64_t)tries);
        return;
    case 3:
        for (int i = 0; i < count; i++)
            for (flag = 0; !flag; tries++)
                MPI_Test(&r[i], &flag, &s[i]);
        note((uint64_t)tries);
        return;
    default:
        break;
    }
    for (int i = 0; i < count; i++)
        left += r[i] != MPI_REQUEST_NULL;
    for (; left > 0; left -= n) {
        n = 1;
        if (way == 4) {
            MPI_Waitany(count, r, &at[0], &got[0]);
        } else if (way == 5) {
            MPI_Waitsome(count, r, &n, at, got);
        } else if (way == 6) {
            MPI_Testany(count, r, &at[0], &flag, &got[0]);
            n = flag;
        } else {
            MPI_Testsome(count, r, &n, at, got);
        }
        CHECK(n >= 0 && n <= left);
        for (int i = 0; i < n; i++) {
            CHECK(at[i] >= 0 && at[i] < count);
            s[at[i]] = got[i];
            note((uint64_t)at[i]);
        }
    }
}

enum { COMPLETIONS = 9, REQUESTS_MAX = 64 };

#endif
