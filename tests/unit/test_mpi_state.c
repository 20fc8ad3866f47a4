/*
 * What only some ranks keep: kinds come and go in any order, beside the part that is for messages,
 * and a rank pays for what it keeps alone.
 */
#include "mpi/state.h"

#include "base/rng.h"
#include "pool_live.h"
#include "tap.h"

struct mpi_world mpi_world;

#define SEED 271
#define STEPS 20000

static struct mpi_rank rank;

static size_t bytes(void)
{
    return pool_live(&mpi_world.pool);
}

static void test_sizes(void)
{
    ok(!mpi_state_get(&rank, MPI_STATE_names) && !rank.ext,
       "a rank that keeps nothing has nothing");
    mpi_state_remove(&rank, MPI_STATE_names, 1);
    mpi_state_set(&rank, MPI_STATE_names, NULL);
    is_int(bytes(), 0, "nor after it has forgotten something");
    *mpi_state_insert(&rank, MPI_STATE_errhandlers, 0x44000000) = 9;
    ok(bytes() <= 112 + 4 * POOL_TAIL, "an error handler on one communicator takes %zu bytes",
       bytes());
    ok(!mpi_rare_find(&rank), "and nothing that is for other things");
    mpi_state_remove(&rank, MPI_STATE_errhandlers, 0x44000000);
    ok(!mpi_state_errhandlers(&rank) && bytes() <= 64 + 2 * POOL_TAIL,
       "forgotten, its memory is free");
}

static void test_rare(void)
{
    struct mpi_rare *x;

    *mpi_state_insert(&rank, MPI_STATE_names, 5) = 50;
    x = mpi_rare_get(&rank);
    ok(x == mpi_rare_find(&rank) && !x->calls && !x->sent,
       "what is rare is there when it is asked for");
    is_int(*mpi_state_find(&rank, MPI_STATE_names, 5), 50, "and leaves what is kept");
    rank.ext->orphans = 3;
    *mpi_state_insert(&rank, MPI_STATE_raised, 1) = 1;
    ok(mpi_rare_get(&rank) == x && rank.ext->orphans == 3, "both stay when more is kept");
    mpi_state_remove(&rank, MPI_STATE_raised, 1);
    mpi_state_remove(&rank, MPI_STATE_names, 5);
    is_int(rank.ext->have, 0, "nothing is kept any more");
}

static void test_made(void)
{
    int *value = mpi_state_make(&rank, MPI_STATE_tool, sizeof *value);

    is_int(*value, 0, "a new state is zero");
    *value = 4;
    ok(mpi_state_make(&rank, MPI_STATE_tool, sizeof *value) == (void *)value, "it is made once");
    ok(mpi_state_get(&rank, MPI_STATE_tool) == (void *)value, "and found");
    mpi_state_free(&rank, MPI_STATE_tool);
    ok(!mpi_state_get(&rank, MPI_STATE_tool), "and freed");
}

static void test_random(void)
{
    static char things[MPI_STATE_KINDS];
    void *want[MPI_STATE_KINDS] = {0};
    struct rng rng;
    int good = 1;

    diag("seed %d", SEED);
    rng_seed(&rng, SEED);
    for (int step = 0; step < STEPS && good; step++) {
        unsigned kind = (unsigned)rng_below(&rng, MPI_STATE_KINDS);

        want[kind] = rng_below(&rng, 2) ? &things[rng_below(&rng, MPI_STATE_KINDS)] : NULL;
        mpi_state_set(&rank, (enum mpi_state)kind, want[kind]);
        for (unsigned i = 0; i < MPI_STATE_KINDS; i++)
            good &= mpi_state_get(&rank, (enum mpi_state)i) == want[i];
    }
    ok(good, "each kind has what was set last");
}

int main(void)
{
    plan_auto();
    pool_init(&mpi_world.pool, "states");
    test_sizes();
    test_rare();
    test_made();
    test_random();
    return done_testing();
}
