/*
 * The arena: random allocation against an oracle that keeps every live block with a pattern in it,
 * so that blocks that overlap, move or lose their content are seen; and a forked process that sees,
 * changes, frees and allocates the same memory.
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/tap.h"

#define LIVE_MAX 600
#define STEPS 8000
#define CHILD_STEPS 2000
#define LARGE ((size_t)12 << 20)
#define MANY_LARGE 10

struct live {
    unsigned char *ptr;
    size_t size;
    unsigned char pattern;
};

/* In the arena itself, like all that processes share. */
struct model {
    struct live live[LIVE_MAX];
    size_t count;
    int overlaps, unaligned, dirty, small;
    struct rng rng;
};

static uint64_t below(struct model *m, uint64_t n)
{
    return rng_next(&m->rng) % n;
}

/* Mostly small, some around the borders of classes, few large. */
static size_t random_size(struct model *m)
{
    switch (below(m, 256)) {
    case 0:
        return below(m, 3 << 20) + 1;
    case 1:
    case 2:
    case 3:
        return 0;
    case 4:
    case 5:
    case 6:
    case 7:
        return ((size_t)1 << below(m, 19)) + below(m, 3);
    case 8:
    case 9:
    case 10:
    case 11:
        return ((size_t)1 << below(m, 19)) - below(m, 20) % 2;
    default:
        return below(m, 1100) + 1;
    }
}

static int is_filled(const unsigned char *ptr, size_t size, unsigned char with)
{
    for (size_t i = 0; i < size; i++)
        if (ptr[i] != with)
            return 0;
    return 1;
}

static void fill(struct model *m, struct live *l)
{
    l->pattern = (unsigned char)(1 + below(m, 255));
    memset(l->ptr, l->pattern, l->size);
}

static void add(struct model *m)
{
    static const size_t aligns[] = {16, 16, 16, 64, 256, 4096, 2 << 20};
    struct live *l = &m->live[m->count++];
    size_t align = aligns[below(m, sizeof aligns / sizeof *aligns)];
    int cleared = (int)below(m, 2);

    if (align > 4096 && below(m, 8))
        align = 16;
    l->size = random_size(m);
    l->ptr = cleared ? arena_zalloc(l->size, align) : arena_alloc(l->size, align);
    m->unaligned += (uintptr_t)l->ptr % align != 0;
    m->small += arena_room(l->ptr) < l->size || !arena_has(l->ptr);
    m->dirty += cleared && !is_filled(l->ptr, l->size, 0);
    fill(m, l);
}

static void drop(struct model *m, size_t i)
{
    struct live *l = &m->live[i];

    m->overlaps += !is_filled(l->ptr, l->size, l->pattern);
    arena_free(l->ptr);
    *l = m->live[--m->count];
}

static void resize(struct model *m, size_t i)
{
    struct live *l = &m->live[i];
    size_t size = random_size(m), kept = size < l->size ? size : l->size;

    l->ptr = mem_realloc(l->ptr, size);
    m->overlaps += !is_filled(l->ptr, kept, l->pattern);
    l->size = size;
    fill(m, l);
}

static void churn(struct model *m, int steps)
{
    for (int i = 0; i < steps; i++) {
        if (m->count < LIVE_MAX && (m->count == 0 || below(m, 2)))
            add(m);
        else if (below(m, 4) == 0)
            resize(m, below(m, m->count));
        else
            drop(m, below(m, m->count));
    }
}

static int all_intact(const struct model *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (!is_filled(m->live[i].ptr, m->live[i].size, m->live[i].pattern))
            return 0;
    return 1;
}

static void judge(struct model *m, const char *who)
{
    ok(m->overlaps == 0, "%s: no block lost its content", who);
    ok(m->unaligned == 0, "%s: all are aligned as asked", who);
    ok(m->dirty == 0, "%s: cleared memory is", who);
    ok(m->small == 0, "%s: all have the room asked for", who);
    ok(all_intact(m), "%s: those that live are intact", who);
}

/* One process at a time, each goes on where the other left. */
static void test_fork(struct model *m)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        int good = all_intact(m);

        churn(m, CHILD_STEPS);
        _exit(good ? 7 : 8);
    }
    waitpid(pid, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "a forked process sees all of it");
    judge(m, "after its changes");
    churn(m, CHILD_STEPS);
    judge(m, "going on");
}

/* Processes allocate at the same time: none gets what another has. */
static void test_lock(void)
{
    enum { PROCESSES = 4, BLOCKS = 20000 };
    uint64_t **all = mem_zalloc(PROCESSES * BLOCKS * sizeof *all);
    int good = 1;
    static const struct arena_guard *none;

    arena_lock(&none);
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            for (int i = 0; i < BLOCKS; i++) {
                void *other = mem_alloc(48);

                all[p * BLOCKS + i] = mem_alloc(48);
                *all[p * BLOCKS + i] = (uint64_t)(p * BLOCKS + i);
                mem_free(other);
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    arena_unlock();
    for (int i = 0; i < PROCESSES * BLOCKS; i++)
        good &= all[i] && *all[i] == (uint64_t)i;
    ok(good, "processes that allocate at the same time do not get the same blocks");
    for (int i = 0; i < PROCESSES * BLOCKS; i++)
        mem_free(all[i]);
    mem_free(all);
}

static void test_limits(void)
{
    int inside = 0;

    ok(arena_alloc(SIZE_MAX, 16) == NULL, "more than all is refused");
    ok(arena_alloc(SIZE_MAX - 8, 16) == NULL, "so is what overflows with its head");
    ok(arena_alloc((size_t)1 << 45, 16) == NULL, "so is more than there is");
    ok(!arena_has(&inside) && !arena_has(NULL), "what is elsewhere is not in it");
}

/* What is freed is used again: a working set that stays as it is needs no more room. */
static void test_reuse(void)
{
    void *low = NULL, *high = NULL;

    for (int i = 0; i < 1000; i++) {
        char *p = arena_alloc(3 << 20, 16);

        p[0] = p[(3 << 20) - 1] = 1;
        low = !low || (void *)p < low ? p : low;
        high = (void *)p > high ? p : high;
        arena_free(p);
    }
    ok(low == high, "a block that was freed is the next one");
}

/* Pages of a block that are in memory. */
static size_t resident(void *ptr, size_t bytes)
{
    static unsigned char pages[LARGE / 4096 + 2];
    uintptr_t from = (uintptr_t)ptr & ~(uintptr_t)4095;
    size_t count = 0, n = ((uintptr_t)ptr + bytes - from) / 4096;

    if (mincore((void *)from, n * 4096, pages) != 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        count += pages[i] & 1;
    return count;
}

/* Large blocks that are freed keep their pages, up to 512 MiB in all, and are clean when they are
 * to be. */
static void test_kept(void)
{
    void *blocks[MANY_LARGE];
    size_t pages = 0;

    for (int i = 0; i < MANY_LARGE; i++) {
        blocks[i] = arena_alloc(LARGE, 16);
        memset(blocks[i], 7, LARGE);
        pages += resident(blocks[i], LARGE);
    }
    ok(pages > MANY_LARGE * (LARGE / 4096 - 4), "large blocks have pages");
    pages = 0;
    for (int i = 0; i < MANY_LARGE; i++)
        arena_free(blocks[i]);
    for (int i = 0; i < MANY_LARGE; i++)
        pages += resident(blocks[i], LARGE);
    ok(pages > MANY_LARGE * (LARGE / 4096 - 4), "they keep theirs when free: %zu", pages);
    for (int i = 0; i < MANY_LARGE; i++) {
        unsigned char *again = arena_zalloc(LARGE, 16);

        if (!is_filled(again, LARGE, 0))
            pages = 0;
        blocks[i] = again;
    }
    ok(pages > 0, "all are clean when asked for");
    for (int i = 0; i < MANY_LARGE; i++)
        arena_free(blocks[i]);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 20261116;
    void *before = mem_alloc(100);
    struct model *m;

    plan_auto();
    diag("seed %llu", (unsigned long long)seed);
    ok(!arena_is_open() && !arena_has(before), "at first memory is libc's");
    memset(before, 5, 100);
    is_int(arena_open(), 0, "it opens");
    before = mem_realloc(before, 200);
    ok(arena_has(before) && is_filled(before, 100, 5), "libc's blocks move in when they grow");
    mem_free(before);
    m = mem_zalloc(sizeof *m);
    ok(arena_is_open() && arena_has(m), "now memory is the arena's");
    rng_seed(&m->rng, seed);
    churn(m, STEPS);
    judge(m, "at random");
    test_fork(m);
    test_lock();
    test_limits();
    test_reuse();
    test_kept();
    return done_testing();
}
