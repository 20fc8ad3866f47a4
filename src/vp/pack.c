/*
 * pack.c - stacks as differences from templates.
 *
 * Templates are never freed: at most KINDS for each depth, and only depths up to WORDS_MAX words;
 * deeper stacks, and those that resemble no template, are copied as they are.
 */
#include "vp/pack.h"

#include <string.h>

#include "base/mem.h"
#include "vp/vp_internal.h"

#define WORDS_MAX 512u
#define KINDS 4

struct template {
    uint64_t words[1]; /* as many as its depth */
};

/* `base` NULL: a plain copy follows. */
struct copy {
    const struct template *base;
    uint64_t data[];
};

static struct template *templates[WORDS_MAX + 1][KINDS];

static size_t plain_size(uint32_t words)
{
    return sizeof(struct copy) + words * sizeof(uint64_t);
}

/*
 * Sets the bits of the words in which a and b differ; returns how many. Four words are looked at
 * together: most are equal, and the same ones differ in rank after rank, so branches are predicted.
 */
static uint32_t compare(const uint64_t *a, const uint64_t *b, uint32_t words, uint64_t *bits)
{
    uint32_t count = 0, i = 0;

    memset(bits, 0, (words + 63) / 64 * sizeof *bits);
    while (i < words) {
        if (i + 4 <= words && !((a[i] ^ b[i]) | (a[i + 1] ^ b[i + 1]) | (a[i + 2] ^ b[i + 2]) |
                                (a[i + 3] ^ b[i + 3]))) {
            i += 4;
            continue;
        }
        if (a[i] != b[i]) {
            bits[i / 64] |= (uint64_t)1 << i % 64;
            count++;
        }
        i++;
    }
    return count;
}

static void *plain(const uint64_t *from, uint32_t words)
{
    struct copy *c = pool_alloc(&vp_pool, plain_size(words));

    c->base = NULL;
    memcpy(c->data, from, words * sizeof *from);
    return c;
}

static struct template *new_template(const uint64_t *from, uint32_t words)
{
    struct template *t = mem_alloc(words * sizeof *from);

    memcpy(t, from, words * sizeof *from);
    return t;
}

static void *differences(const uint64_t *from, uint32_t words, const struct template *t,
                         const uint64_t *bits, uint32_t count)
{
    uint32_t maps = (words + 63) / 64;
    struct copy *c = pool_alloc(&vp_pool, plain_size(maps + count));
    uint64_t *out = c->data + maps;

    c->base = t;
    for (uint32_t k = 0; k < maps; k++) {
        c->data[k] = bits[k];
        for (uint64_t m = bits[k]; m; m &= m - 1)
            *out++ = from[64 * k + (uint32_t)__builtin_ctzll(m)];
    }
    return c;
}

void *vp_pack(const void *stack, uint32_t bytes)
{
    const uint64_t *from = stack;
    uint32_t words = bytes / 8;
    uint64_t bits[WORDS_MAX / 64];

    if (words > WORDS_MAX)
        return plain(from, words);
    for (int k = 0; k < KINDS; k++) {
        struct template **t = &templates[words][k];
        uint32_t count;

        if (!*t)
            *t = new_template(from, words);
        count = compare(from, (*t)->words, words, bits);
        if (2 * count <= words) {
            struct template *found = *t;

            *t = templates[words][0]; /* the next one is probably of this kind too */
            templates[words][0] = found;
            return differences(from, words, found, bits, count);
        }
    }
    return plain(from, words);
}

void vp_unpack(void *copy, void *to, uint32_t bytes)
{
    struct copy *c = copy;
    uint64_t *out = to;
    uint32_t words = bytes / 8, maps = (words + 63) / 64;
    const uint64_t *in = c->data + maps;

    if (!c->base) {
        memcpy(out, c->data, bytes);
        pool_free(&vp_pool, c, plain_size(words));
        return;
    }
    memcpy(out, c->base->words, bytes);
    for (uint32_t k = 0; k < maps; k++)
        for (uint64_t m = c->data[k]; m; m &= m - 1)
            out[64 * k + (uint32_t)__builtin_ctzll(m)] = *in++;
    pool_free(&vp_pool, c, plain_size((uint32_t)(in - c->data)));
}
