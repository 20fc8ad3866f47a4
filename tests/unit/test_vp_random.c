/*
 * rand, random and drand48 of a rank against libc's own, over random sequences of calls.
 *
 * The shim under test is part of this file, so that its names are the program's own: with a
 * current fibre they are the rank's, without one they reach libc. Both get the same calls.
 */
#include "vp/libc/random.c"

#include "vp/libc/real.c"

#include "base/rng.h"
#include "tests/tap.h"

struct vp_private vp_private;

static struct vp_rank fibres[3];
static struct vp_extra extras[3];

struct vp_extra *vp_extra_get(void)
{
    return vp_private.current->extra;
}

static void rank_begin(int i)
{
    fibres[i].extra = &extras[i];
    vp_private.current = &fibres[i];
}

static void rank_end(int i)
{
    vp_private.current = NULL;
    if (extras[i].rand)
        libc_rand_drop(extras[i].rand);
    extras[i].rand = NULL;
}

/* One call chosen by `what`; its result as a number. */
static double draw(unsigned what, unsigned long value, unsigned short x[3], char *state,
                   size_t state_size)
{
    unsigned short param[7] = {(unsigned short)value,        (unsigned short)(value >> 16),
                               (unsigned short)(value >> 8), (unsigned short)(value * 3 + 1),
                               (unsigned short)(value * 5),  3,
                               (unsigned short)(value >> 3)};
    unsigned short *old;

    switch (what) {
    case 0:
        srand((unsigned)value);
        return 0;
    case 1:
        srandom((unsigned)value);
        return 0;
    case 2:
        srand48((long)value);
        return 0;
    case 3:
        old = seed48(param);
        return old[0] + 65536.0 * old[1] + 65536.0 * 65536.0 * old[2];
    case 4:
        lcong48(param);
        return 0;
    case 5:
        return initstate((unsigned)value, state, state_size) != NULL;
    case 6:
        return erand48(x);
    case 7:
        return (double)nrand48(x);
    case 8:
        return (double)jrand48(x);
    case 9:
        return drand48();
    case 10:
        return (double)lrand48();
    case 11:
        return (double)mrand48();
    case 12:
        return rand();
    default:
        return (double)random();
    }
}

/* libc's own state is one for the process: brings it to what a program starts with. */
static void libc_restart(char *first)
{
    unsigned short zero[3] = {0, 0, 0};

    setstate(first);
    srandom(1);
    lcong48((unsigned short[7]){0, 0, 0, 0xe66d, 0xdeec, 0x5, 0xb});
    seed48(zero);
}

static void test_sequences(struct rng *rng, char *first)
{
    static const size_t sizes[] = {8, 32, 64, 128, 256, 4};
    int bad = 0;

    for (int round = 0; round < 200; round++) {
        char state_a[256], state_b[256];
        unsigned short xa[3] = {1, 2, 3}, xb[3] = {1, 2, 3};
        libc_restart(first);
        for (int i = 0; i < 300; i++) {
            unsigned what = (unsigned)rng_below(rng, 20);
            unsigned long value = rng_below(rng, 5) ? rng_next(rng) : 0;
            size_t size = sizes[rng_below(rng, 6)];
            double a = draw(what, value, xa, state_a, size);
            rank_begin(0);
            double b = draw(what, value, xb, state_b, size);
            vp_private.current = NULL;
            bad += !(a == b);
        }
        rank_end(0);
    }
    libc_restart(first);
    is_int(bad, 0, "60000 calls give what libc gives");
}

/* Draws of ranks that take turns are those each would make alone. */
static void test_isolation(void)
{
    long alone[3][50];
    int bad = 0;

    for (int r = 0; r < 3; r++) {
        rank_begin(r);
        srandom((unsigned)r + 10);
        for (int i = 0; i < 50; i++)
            alone[r][i] = i % 2 ? random() : lrand48();
        rank_end(r);
    }
    for (int r = 0; r < 3; r++) {
        rank_begin(r);
        srandom((unsigned)r + 10);
    }
    for (int i = 0; i < 50; i++)
        for (int r = 0; r < 3; r++) {
            rank_begin(r);
            bad += alone[r][i] != (i % 2 ? random() : lrand48());
        }
    for (int r = 0; r < 3; r++)
        rank_end(r);
    is_int(bad, 0, "ranks that take turns draw what each draws alone");
    ok(alone[0][1] != alone[1][1], "and different seeds differ");
}

/* setstate goes back to an earlier generator and continues it. */
static void test_setstate(void)
{
    char other[64];
    long want[4], got[4];

    rank_begin(0);
    srandom(5);
    for (int i = 0; i < 4; i++)
        want[i] = random();
    srandom(5);
    got[0] = random();
    got[1] = random();
    char *first = initstate(9, other, sizeof other);
    random();
    ok(setstate(first) == other, "setstate returns the state that was in use");
    got[2] = random();
    got[3] = random();
    ok(memcmp(got, want, sizeof got) == 0, "and the first generator goes on where it was");
    ok(initstate(1, other, 4) == NULL, "a state that is too small is refused");
    rank_end(0);
}

static void test_unseeded(void)
{
    rank_begin(1);
    is_int(rand(), 1804289383, "an unseeded rank draws what srand(1) gives");
    is_int(lrand48(), 0, "and drand48 starts from 0");
    rank_end(1);
}

int main(void)
{
    uint64_t seed = 20240611;
    struct rng rng;
    char scratch[128];

    plan_auto();
    diag("seed %llu", (unsigned long long)seed);
    rng_seed(&rng, seed);
    char *first = initstate(1, scratch, sizeof scratch); /* libc's own first state */
    test_sequences(&rng, first);
    test_isolation();
    test_setstate();
    test_unseeded();
    return done_testing();
}
