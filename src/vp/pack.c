/*
 * pack.c - stores stacks as a template plus the words that vary.
 *
 * A template learns: when a stack of its depth differs in a word that was not known to vary, a new
 * version of the template, in which that word varies, replaces it. (Older copies keep their
 * version; versions are few and never freed.) Stacks that differ in too many words get another
 * template, up to KINDS for each depth. Deep stacks, and those that resemble no template, are
 * copied whole.
 *
 * Saving is on the path of every switch. It gathers the varying words and compares all others in
 * one pass, without branches that depend on the data.
 */
#include "vp/pack.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/mem.h"
#include "vp/vp_internal.h"

#define WORDS_MAX 512u
#define KINDS HOSTILE(1, 4)

typedef uint64_t vec __attribute__((vector_size(16), aligned(8), may_alias));

struct template
{
    uint32_t words;
    uint32_t varying;
    uint64_t *value; /* words of them */
    uint64_t *fixed; /* all ones where the word must equal value, else 0 */
    uint16_t *index; /* indices of the varying words, in order */
};

/* `base` NULL: a plain copy follows, else base->varying words. */
struct copy {
    const struct template *base;
    uint64_t data[];
};

static struct template *templates[WORDS_MAX + 1][KINDS];

static size_t copy_size(uint32_t words)
{
    return sizeof(struct copy) + words * sizeof(uint64_t);
}

static struct template *template_new(const uint64_t *from, uint32_t words)
{
    struct template *t = mem_alloc(sizeof *t);

    *t = (struct template){.words = words};
    t->value = mem_alloc(words * sizeof *t->value);
    t->fixed = mem_alloc(words * sizeof *t->fixed);
    t->index = NULL;
    memcpy(t->value, from, words * sizeof *from);
    memset(t->fixed, 0xff, words * sizeof *t->fixed);
    return t;
}

/* A version of t in which the words that differ in `from` vary, too. */
static struct template *template_widen(const struct template *t, const uint64_t *from)
{
    struct template *n = template_new(t->value, t->words);

    n->index = mem_alloc(t->words * sizeof *n->index);
    for (uint32_t i = 0; i < t->words; i++)
        if (!t->fixed[i] || t->value[i] != from[i]) {
            n->fixed[i] = 0;
            n->index[n->varying++] = (uint16_t)i;
        }
    return n;
}

/* Does the stack differ from t only in words that vary? */
static int template_fits(const struct template *t, const uint64_t *from)
{
    vec diff = {0};
    uint64_t rest = 0;
    uint32_t i = 0;

    for (; i + 2 <= t->words; i += 2)
        diff |= (*(const vec *)(from + i) ^ *(const vec *)(t->value + i)) &
                *(const vec *)(t->fixed + i);
    if (i < t->words)
        rest = (from[i] ^ t->value[i]) & t->fixed[i];
    return (diff[0] | diff[1] | rest) == 0;
}

/* How many words would vary in a version of t that fits. */
static uint32_t template_distance(const struct template *t, const uint64_t *from)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->words; i++)
        n += !t->fixed[i] || t->value[i] != from[i];
    return n;
}

static void *pack_plain(const uint64_t *from, uint32_t words)
{
    struct copy *c = pool_alloc(&vp_pool, copy_size(words));

    c->base = NULL;
    memcpy(c->data, from, words * sizeof *from);
    return c;
}

static void *pack_with(const struct template *t, const uint64_t *from)
{
    struct copy *c = pool_alloc(&vp_pool, copy_size(t->varying));

    c->base = t;
    for (uint32_t i = 0; i < t->varying; i++)
        c->data[i] = from[t->index[i]];
    return c;
}

/* No template fits: widens the nearest one, or adds one. NULL if the stack is better copied
 * whole. */
__attribute__((noinline, cold)) static const struct template *learn(const uint64_t *from,
                                                                    uint32_t words)
{
    struct template **kinds = templates[words];
    uint32_t best = 0, least = UINT32_MAX;

    assert(words <= WORDS_MAX);
    for (uint32_t k = 0; k < KINDS; k++) {
        uint32_t n = kinds[k] ? template_distance(kinds[k], from) : words / 2;

        if (n < least) {
            least = n;
            best = k;
        }
    }
    if (least > words / 2)
        return NULL;
    kinds[best] = kinds[best] ? template_widen(kinds[best], from) : template_new(from, words);
    return kinds[best];
}

void *vp_pack(const void *stack, uint32_t bytes)
{
    const uint64_t *from = stack;
    uint32_t words = bytes / 8;
    const struct template *t;

    assert_hot(bytes % 8 == 0 && words > 0);
    if (words > WORDS_MAX)
        return pack_plain(from, words);
    for (int k = 0; k < KINDS; k++) {
        t = templates[words][k];
        if (t && template_fits(t, from))
            return pack_with(t, from);
    }
    t = learn(from, words);
    return t ? pack_with(t, from) : pack_plain(from, words);
}

void vp_unpack(void *copy, void *to, uint32_t bytes, const void *present)
{
    struct copy *c = copy;
    const struct template *t = c->base;
    uint64_t *out = to;

    assert_hot(!t || (t->words == bytes / 8 && t->varying <= t->words));
    if (!t) {
        memcpy(out, c->data, bytes);
        pool_free(&vp_pool, c, copy_size(bytes / 8));
        return;
    }
    if (!present || ((const struct copy *)present)->base != t)
        memcpy(out, t->value, bytes);
    for (uint32_t i = 0; i < t->varying; i++)
        out[t->index[i]] = c->data[i];
    pool_free(&vp_pool, c, copy_size(t->varying));
}

void vp_pack_prefetch(const void *copy)
{
    const struct copy *c = copy;
    size_t size = c->base ? copy_size(c->base->varying) : 0;

    for (size_t at = VP_PACK_AHEAD; at < size; at += 64)
        __builtin_prefetch((const char *)copy + at);
}
