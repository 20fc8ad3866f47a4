/*
 * siphash.c - SipHash-2-4 with 128 bits (see siphash.h). Words are little-endian, as in the paper.
 */
#include "base/siphash.h"

#include <stdint.h>

struct state {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static uint64_t load(const unsigned char *at, size_t bytes)
{
    uint64_t word = 0;
    for (size_t i = 0; i < bytes; i++)
        word |= (uint64_t)at[i] << (8 * i);
    return word;
}

static void store(unsigned char *at, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(word >> (8 * i));
}

static void rounds(struct state *s, int count)
{
    while (count-- > 0) {
        s->v0 += s->v1;
        s->v1 = rotate(s->v1, 13) ^ s->v0;
        s->v0 = rotate(s->v0, 32);
        s->v2 += s->v3;
        s->v3 = rotate(s->v3, 16) ^ s->v2;
        s->v0 += s->v3;
        s->v3 = rotate(s->v3, 21) ^ s->v0;
        s->v2 += s->v1;
        s->v1 = rotate(s->v1, 17) ^ s->v2;
        s->v2 = rotate(s->v2, 32);
    }
}

static void absorb(struct state *s, uint64_t word)
{
    s->v3 ^= word;
    rounds(s, 2);
    s->v0 ^= word;
}

void siphash(const unsigned char key[SIPHASH_KEY], const void *data, size_t bytes,
             unsigned char out[SIPHASH_BYTES])
{
    uint64_t k0 = load(key, 8), k1 = load(key + 8, 8);
    struct state s = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee,
                      k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573};
    const unsigned char *at = data;
    size_t rest = bytes;
    for (; rest >= 8; rest -= 8, at += 8)
        absorb(&s, load(at, 8));
    absorb(&s, load(at, rest) | (uint64_t)bytes << 56);
    s.v2 ^= 0xee;
    rounds(&s, 4);
    store(out, s.v0 ^ s.v1 ^ s.v2 ^ s.v3);
    s.v1 ^= 0xdd;
    rounds(&s, 4);
    store(out + 8, s.v0 ^ s.v1 ^ s.v2 ^ s.v3);
}
