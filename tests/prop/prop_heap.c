/*
 * Property: heaps of two and of four children do what a list does that is searched for its smallest
 * entry, whatever is pushed, popped, moved, taken out and built, and know where every entry is.
 */
#include "base/heap.h"

#include <string.h>

#include "base/rng.h"
#include "tap.h"

#define ITEMS 300
#define STEPS 20000
#define SEED 31

struct entry {
    int64_t key;
    uint32_t id;
};

static uint32_t place[ITEMS]; /* position + 1; 0: not in the heap */
static int64_t naive[ITEMS];  /* the keys of those that are in it */

HEAP_STRUCT(binary, struct entry);
HEAP_STRUCT(wide, struct entry);

static inline int is_before(const struct entry *a, const struct entry *b)
{
    return a->key < b->key || (a->key == b->key && a->id < b->id);
}

#define MOVED(h, i) (place[(h)->at[i].id] = (i) + 1)
HEAP_FUNCTIONS(binary, struct entry, 2, 1, is_before, MOVED);
HEAP_FUNCTIONS(wide, struct entry, 4, 64, is_before, MOVED);

/* The smallest of the list; ITEMS: it is empty. */
static uint32_t naive_first(void)
{
    uint32_t first = ITEMS;

    for (uint32_t i = 0; i < ITEMS; i++)
        if (place[i] && (first == ITEMS || naive[i] < naive[first]))
            first = i;
    return first;
}

/* Is every entry where the table says it is, with its key, and none before its parent? */
static int is_right(const struct entry *at, uint32_t len, uint32_t degree)
{
    uint32_t there = 0;

    for (uint32_t i = 0; i < ITEMS; i++)
        there += place[i] > 0;
    for (uint32_t i = 0; i < len; i++)
        if (place[at[i].id] != i + 1 || at[i].key != naive[at[i].id] ||
            (i > 0 && is_before(&at[i], &at[(i - 1) / degree])))
            return 0;
    return there == len && (len == 0 || at[0].id == naive_first());
}

/* A function that takes random steps, for each of the two kinds of heap. */
#define DEFINE_RUN(kind, degree)                                                               \
    static int run_##kind(struct rng *rng)                                                     \
    {                                                                                          \
        struct kind h = {0};                                                                   \
        int good = 1;                                                                          \
        memset(place, 0, sizeof place);                                                        \
        for (int step = 0; step < STEPS && good; step++) {                                     \
            uint32_t id = (uint32_t)rng_below(rng, ITEMS), what = (uint32_t)rng_below(rng, 8); \
            int64_t key = (int64_t)rng_below(rng, 50);                                         \
            if (what < 5 && !place[id]) {                                                      \
                naive[id] = key;                                                               \
                kind##_push(&h, (struct entry){key, id});                                      \
            } else if (what < 5) {                                                             \
                naive[id] = key;                                                               \
                kind##_replace(&h, place[id] - 1, (struct entry){key, id});                    \
            } else if (what < 7 && place[id]) {                                                \
                uint32_t at = place[id] - 1;                                                   \
                place[id] = 0;                                                                 \
                kind##_remove(&h, at);                                                         \
            } else if (h.len > 0) {                                                            \
                uint32_t first = naive_first();                                                \
                place[first] = 0;                                                              \
                good = kind##_pop(&h).id == first;                                             \
            }                                                                                  \
            good = good && is_right(h.at, h.len, degree);                                      \
        }                                                                                      \
        while (h.len > 0)                                                                      \
            place[kind##_pop(&h).id] = 0;                                                      \
        for (uint32_t n = 0; n < ITEMS && good; n++) {                                         \
            for (uint32_t id = 0; id < n; id++) {                                              \
                naive[id] = (int64_t)rng_below(rng, 50);                                       \
                kind##_append(&h, (struct entry){naive[id], id});                              \
            }                                                                                  \
            kind##_build(&h);                                                                  \
            good = is_right(h.at, h.len, degree);                                              \
            h.len = 0;                                                                         \
            memset(place, 0, sizeof place);                                                    \
        }                                                                                      \
        mem_free(h.at);                                                                        \
        return good;                                                                           \
    }
DEFINE_RUN(binary, 2)
DEFINE_RUN(wide, 4)

int main(void)
{
    struct rng rng;

    plan_auto();
    rng_seed(&rng, SEED);
    diag("seed %d", SEED);
    ok(run_binary(&rng), "two children");
    ok(run_wide(&rng), "four children");
    return done_testing();
}
