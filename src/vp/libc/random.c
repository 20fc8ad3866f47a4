/*
 * rand, random and drand48 with per-rank state, allocated at the first draw.
 *
 * The sequences are exactly libc's, because libc's reentrant functions compute them. Unseeded,
 * random behaves as after srandom(1), and drand48 starts from X = 0, as in glibc.
 */
#include "vp/libc/libc.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct vp_rand {
    struct random_data random;
    struct drand48_data drand;
    int32_t words[32]; /* random's initial state: type and position, then 31 words */
};

static struct vp_rand *rand_state(void)
{
    struct vp_extra *x = vp_extra_get();
    struct vp_rand *r = x->rand;

    if (__builtin_expect(!r, 0)) {
        r = x->rand = mem_zalloc(sizeof *r);
        initstate_r(1, (char *)r->words, sizeof r->words, &r->random);
    }
    return r;
}

void libc_rand_drop(struct vp_rand *r)
{
    mem_free(r);
}

VP_EXPORT long random(void)
{
    if (!vp_current())
        return REAL(random)();
    int32_t value;
    random_r(&rand_state()->random, &value);
    return value;
}

VP_EXPORT int rand(void)
{
    return (int)random();
}

VP_EXPORT void srandom(unsigned seed)
{
    if (!vp_current())
        REAL(srandom)(seed);
    else
        srandom_r(seed, &rand_state()->random);
}
ALIAS(srand, srandom);

/* The state in use, in the form that setstate takes. */
static char *state_in_use(struct vp_rand *r)
{
    return (char *)&r->random.state[-1];
}

VP_EXPORT char *initstate(unsigned seed, char *state, size_t size)
{
    if (!vp_current())
        return REAL(initstate)(seed, state, size);
    struct vp_rand *r = rand_state();
    char *old = state_in_use(r);
    return initstate_r(seed, state, size, &r->random) == 0 ? old : NULL;
}

VP_EXPORT char *setstate(char *state)
{
    if (!vp_current())
        return REAL(setstate)(state);
    struct vp_rand *r = rand_state();
    char *old = state_in_use(r);
    return setstate_r(state, &r->random) == 0 ? old : NULL;
}

VP_EXPORT double drand48(void)
{
    if (!vp_current())
        return REAL(drand48)();
    double value;
    drand48_r(&rand_state()->drand, &value);
    return value;
}

VP_EXPORT double erand48(unsigned short x[3])
{
    if (!vp_current())
        return REAL(erand48)(x);
    double value;
    erand48_r(x, &rand_state()->drand, &value);
    return value;
}

VP_EXPORT long lrand48(void)
{
    if (!vp_current())
        return REAL(lrand48)();
    long value;
    lrand48_r(&rand_state()->drand, &value);
    return value;
}

VP_EXPORT long nrand48(unsigned short x[3])
{
    if (!vp_current())
        return REAL(nrand48)(x);
    long value;
    nrand48_r(x, &rand_state()->drand, &value);
    return value;
}

VP_EXPORT long mrand48(void)
{
    if (!vp_current())
        return REAL(mrand48)();
    long value;
    mrand48_r(&rand_state()->drand, &value);
    return value;
}

VP_EXPORT long jrand48(unsigned short x[3])
{
    if (!vp_current())
        return REAL(jrand48)(x);
    long value;
    jrand48_r(x, &rand_state()->drand, &value);
    return value;
}

VP_EXPORT void srand48(long seed)
{
    if (!vp_current())
        REAL(srand48)(seed);
    else
        srand48_r(seed, &rand_state()->drand);
}

VP_EXPORT unsigned short *seed48(unsigned short x[3])
{
    if (!vp_current())
        return REAL(seed48)(x);
    struct vp_rand *r = rand_state();
    seed48_r(x, &r->drand);
    return r->drand.__old_x;
}

VP_EXPORT void lcong48(unsigned short param[7])
{
    if (!vp_current())
        REAL(lcong48)(param);
    else
        lcong48_r(param, &rand_state()->drand);
}
