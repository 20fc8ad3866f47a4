/*
 * Early messages (p2p/early.c), list and index, against a plain array: random additions, searches
 * and removals, with few and many messages, sources, contexts and tags. Seeded.
 */
#include <stdlib.h>

#include "base/rng.h"
#include "mpi/p2p/p2p_internal.h"
#include "tap.h"

enum { MODEL_MAX = 4000 };

struct mpi_world mpi_world;
struct vp_private vp_private;

/* No receive is posted here. */
const struct mpi_req *mpi_claimer(struct mpi_rank *self, const struct mpi_msg *m)
{
    (void)self;
    (void)m;
    return NULL;
}

static struct mpi_rank *rank;
static struct mpi_msg *model[MODEL_MAX]; /* send order within a source */
static int count;
static int faults;
static const char *first_fault;

static void fault(const char *what)
{
    if (!faults++)
        first_fault = what;
}

static struct mpi_msg *message(struct rng *r, uint32_t sources, uint32_t contexts, uint32_t tags)
{
    struct mpi_msg *m = calloc(1, sizeof *m);

    m->em.src = (uint32_t)rng_below(r, sources);
    m->ctx = 2 * (uint32_t)rng_below(r, contexts);
    m->tag = (int32_t)rng_below(r, tags);
    m->em.arrival = (vtime)rng_below(r, 50);
    return m;
}

static int matches(const struct mpi_msg *m, uint32_t ctx, uint32_t src, int32_t tag)
{
    return m->ctx == ctx && m->em.src == src && (tag == MPI_ANY_TAG || m->tag == tag);
}

static struct mpi_msg *naive_find(uint32_t ctx, uint32_t src, int32_t tag)
{
    for (int i = 0; i < count; i++)
        if (matches(model[i], ctx, src, tag))
            return model[i];
    return NULL;
}

static struct mpi_msg *naive_any(uint32_t ctx, uint32_t sources, int32_t tag)
{
    struct mpi_msg *best = NULL;

    for (uint32_t s = 0; s < sources; s++) {
        struct mpi_msg *m = naive_find(ctx, s, tag);
        if (m && (!best || m->em.arrival < best->em.arrival))
            best = m;
    }
    return best;
}

static void naive_take(const struct mpi_msg *m)
{
    int i = 0;

    while (model[i] != m)
        i++;
    memmove(&model[i], &model[i + 1], (size_t)(count - i - 1) * sizeof *model);
    count--;
}

static void take(struct mpi_msg *m)
{
    mpi_early_take(rank, m);
    naive_take(m);
    free(m);
}

/* ---- each: every message once, a source's own order kept ---- */

static struct mpi_msg *visited[MODEL_MAX];
static int visits, stop_at;

static int visit(struct mpi_rank *self, struct mpi_msg *m, void *arg)
{
    (void)arg;
    if (self != rank || visits == MODEL_MAX)
        fault("each passes something else");
    else
        visited[visits++] = m;
    return visits == stop_at ? 42 : 0;
}

static void check_each(void)
{
    visits = 0;
    stop_at = -1;
    if (mpi_early_each(rank, visit, NULL) != 0 || visits != count)
        fault("each does not visit all");
    for (int i = 0; i < count; i++)
        for (int k = 0, found = 0; k < visits; k++) {
            if (visited[k] == model[i])
                found = 1;
            else if (!found && visited[k]->em.src == model[i]->em.src &&
                     visited[k]->ctx == model[i]->ctx)
                for (int j = i + 1; j < count; j++)
                    if (model[j] == visited[k])
                        fault("each mixes up a source's messages");
            if (k == visits - 1 && !found)
                fault("each misses a message");
        }
    if (count > 1) {
        visits = 0;
        stop_at = count / 2 + 1;
        if (mpi_early_each(rank, visit, NULL) != 42 || visits != stop_at)
            fault("each does not stop when told to");
    }
}

/* ---- one random life ---- */

static void add(struct mpi_msg *m)
{
    model[count++] = m;
    mpi_early_add(rank, m);
}

static void life(uint64_t seed, int target, int steps)
{
    struct rng r;
    uint32_t sources, contexts, tags;

    rng_seed(&r, seed);
    sources = 1 + (uint32_t)rng_below(&r, 20);
    contexts = 1 + (uint32_t)rng_below(&r, 3);
    tags = 1 + (uint32_t)rng_below(&r, 4);
    for (int i = 0; i < steps; i++) {
        uint32_t ctx = 2 * (uint32_t)rng_below(&r, contexts), src;
        int32_t tag = rng_below(&r, 2) ? MPI_ANY_TAG : (int32_t)rng_below(&r, tags);
        struct mpi_msg *m, *any;

        src = (uint32_t)rng_below(&r, sources);
        if (count < MODEL_MAX && rng_below(&r, 2 * (uint64_t)target) >= (uint64_t)count)
            add(message(&r, sources, contexts, tags));
        m = mpi_early_find(rank, ctx, src, tag);
        any = mpi_early_find_any(rank, ctx, tag, NULL);
        if (m != naive_find(ctx, src, tag))
            fault("find differs");
        if (any != naive_any(ctx, sources, tag))
            fault("find_any differs");
        if (faults)
            return;
        if (rank->early_count != (uint32_t)count)
            fault("the count differs");
        if (m && rng_below(&r, 2))
            take(m);
        else if (any && rng_below(&r, 2))
            take(any);
        if (i % 64 == 0 && count < 200)
            check_each();
    }
    while (count)
        take(model[rng_below(&r, (uint64_t)count)]);
    if (rank->early_count || rank->early || (rank->ext && rank->ext->index))
        fault("something is left");
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    static const int targets[] = {3, 30, 49, 60, 500};

    plan_auto();
    diag("seeds from %llu", (unsigned long long)first);
    rank = calloc(1, sizeof *rank);
    mpi_world.ranks = rank;
    pool_init(&mpi_world.pool, "extras");
    for (int t = 0; t < 5 && !faults; t++)
        for (uint64_t i = 0; i < 40 && !faults; i++) {
            life(first + i, targets[t], targets[t] < 100 ? 600 : 3000);
            if (faults)
                diag("seed %llu, about %d messages: %s", (unsigned long long)(first + i),
                     targets[t], first_fault);
        }
    is_int(faults, 0, "the early queue behaves like an array");
    return done_testing();
}
