/*
 * rng.h - seeded pseudo-random numbers: xoshiro256** seeded by splitmix64 (Blackman and Vigna,
 * "Scrambled linear pseudorandom number generators", 2021). The same seed gives the same sequence
 * on every machine. Not for secrets. No function here fails, allocates or switches.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t s[4];
};

#define RNG_SPLITMIX_STEP 0x9e3779b97f4a7c15u /* of its state */

/* One step of splitmix64; also a good way to derive seeds from a counter. */
static inline uint64_t rng_splitmix(uint64_t *state)
{
    uint64_t z = *state += RNG_SPLITMIX_STEP;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Any seed is good; splitmix64 never yields the all-zero state. */
static inline void rng_seed(struct rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        rng->s[i] = rng_splitmix(&seed);
}

static inline uint64_t rng_rotate_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

/* 64 uniform bits. */
static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rng_rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rng_rotate_left(s[3], 45);
    return result;
}

/* Uniform in 0..n-1, without bias (multiply and reject, Lemire 2019); n > 0. */
static inline uint64_t rng_below(struct rng *rng, uint64_t n)
{
    unsigned __int128 product = (unsigned __int128)rng_next(rng) * n;
    if ((uint64_t)product < n) {
        uint64_t reject = -n % n;
        while ((uint64_t)product < reject)
            product = (unsigned __int128)rng_next(rng) * n;
    }
    return (uint64_t)(product >> 64);
}

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double rng_double(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

#endif
