/*
 * When ranks leave collectives whose cost is a model's, to the picosecond, with entries at
 * different times. FACTOR is what mpi.collective_factor is set to. Natively only the data is
 * checked.
 */
#ifndef TESTS_MPI_COLL_MODEL_H
#define TESTS_MPI_COLL_MODEL_H

#include "check.h"

#include <math.h>

#define ALPHA 108e-6 /* latency and both overheads */
#define BETA 8e-9    /* 1 Gbit/s */
#define NEAR 20e-12  /* reading a clock takes 1 ps */

enum { ITEMS = 700 };

static int rank, size, rounds, call;
static double origin;
static int *in, *out, *counts, *displs, *backs;

/* When a rank enters the present call, from the origin. */
static double entry(int r)
{
    return ((r * 7 + call * 5) % size) * 10e-6;
}

static double last_entry(int below)
{
    double last = 0;
    for (int r = 0; r < below; r++)
        last = entry(r) > last ? entry(r) : last;
    return last;
}

static double model(double bytes)
{
    return FACTOR * (rounds * ALPHA + bytes * BETA);
}

/* All ranks meet, and each enters at its time. */
static void enter(void)
{
    call++;
    MPI_Barrier(MPI_COMM_WORLD);
    if (!check_virtual())
        return;
    origin = ceil(MPI_Wtime() * 1000 + 1) / 1000;
    check_spend(origin + entry(rank) - MPI_Wtime());
}

static void expect(const char *what, double seconds)
{
    double t = MPI_Wtime() - origin;
    if (check_virtual() && fabs(t - seconds) > NEAR) {
        fprintf(stderr, "rank %d of %d: %s: %.12f s instead of %.12f\n", rank, size, what, t,
                seconds);
        CHECK(!"the time is right");
    }
}

static void expect_all(const char *what, double bytes)
{
    expect(what, last_entry(size) + model(bytes));
}

/* Of those that go out from the root. */
static void expect_down(const char *what, int root, double bytes)
{
    double sent = entry(root) + model(bytes);
    expect(what, rank == root || entry(rank) > sent ? entry(rank) : sent);
}

static void expect_up(const char *what, int root, double bytes)
{
    expect(what, rank == root ? last_entry(size) + model(bytes) : entry(rank));
}

static void fill(int value)
{
    for (int i = 0; i < ITEMS * size; i++) {
        in[i] = value + i;
        out[i] = -1;
    }
}

static void whole(void)
{
    int root = size / 3;
    MPI_Request request;

    enter();
    MPI_Barrier(MPI_COMM_WORLD);
    expect_all("barrier", 0);
    enter();
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    expect("ibarrier", entry(rank));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_all("ibarrier, complete", 0);
    fill(rank);
    enter();
    MPI_Bcast(in, ITEMS, MPI_INT, root, MPI_COMM_WORLD);
    expect_down("bcast", root, rounds * ITEMS * 4);
    CHECK(in[ITEMS - 1] == root + ITEMS - 1);
    fill(rank);
    enter();
    MPI_Reduce(in, out, ITEMS, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    expect_up("reduce", root, rounds * ITEMS * 4);
    CHECK(rank != root || out[1] == size * (size - 1) / 2 + size);
    enter();
    MPI_Allreduce(in, out, ITEMS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect_all("allreduce", rounds * ITEMS * 4);
    CHECK(out[1] == size * (size - 1) / 2 + size);
    enter();
    MPI_Scan(in, out, ITEMS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("scan", last_entry(rank + 1) + model(rounds * ITEMS * 4));
    CHECK(out[0] == rank * (rank + 1) / 2);
    enter();
    MPI_Exscan(in, out, ITEMS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("exscan", last_entry(rank + 1) + model(rounds * ITEMS * 4));
    CHECK(rank == 0 || out[0] == rank * (rank - 1) / 2);
}

static void blocks(void)
{
    int root = size - 1, others = size - 1;

    fill(rank);
    enter();
    MPI_Gather(in, ITEMS, MPI_INT, out, ITEMS, MPI_INT, root, MPI_COMM_WORLD);
    expect_up("gather", root, others * ITEMS * 4);
    CHECK(rank != root || out[ITEMS * (size - 1)] == size - 1);
    enter();
    MPI_Scatter(in, ITEMS, MPI_INT, out, ITEMS, MPI_INT, root, MPI_COMM_WORLD);
    expect_down("scatter", root, others * ITEMS * 4);
    CHECK(out[0] == root + rank * ITEMS);
    enter();
    MPI_Allgather(in, ITEMS, MPI_INT, out, ITEMS, MPI_INT, MPI_COMM_WORLD);
    expect_all("allgather", others * ITEMS * 4);
    CHECK(out[ITEMS * (size - 1)] == size - 1);
    enter();
    MPI_Alltoall(in, ITEMS, MPI_INT, out, ITEMS, MPI_INT, MPI_COMM_WORLD);
    expect_all("alltoall", others * ITEMS * 4);
    CHECK(out[ITEMS * (size - 1)] == size - 1 + rank * ITEMS);
    enter();
    MPI_Alltoall(in, 3, MPI_INT, out, 3, MPI_INT, MPI_COMM_WORLD);
    expect_all("short alltoall", others * 3 * 4);
    CHECK(out[3 * (size - 1)] == size - 1 + rank * 3);
    enter();
    MPI_Reduce_scatter_block(in, out, ITEMS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect_all("reduce_scatter_block", others * ITEMS * 4);
    CHECK(out[0] == size * (size - 1) / 2 + size * rank * ITEMS);
}

/* Rank r has r items for each, so rank 0 has none and does not count for gatherv. */
static void lengths(void)
{
    int sum = size * (size - 1) / 2, root = size - 1;
    double late = 0;

    fill(rank);
    for (int r = 0, at = 0; r < size; at += r++) {
        counts[r] = r;
        displs[r] = at;
        backs[r] = r * rank;
    }
    enter();
    for (int r = 1; r < size; r++)
        late = entry(r) > late ? entry(r) : late;
    MPI_Gatherv(in, rank, MPI_INT, out, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
    expect("gatherv", rank == root ? late + model((sum - root) * 4) : entry(rank));
    CHECK(rank != root || out[displs[root]] == root);
    enter();
    MPI_Scatterv(in, counts, displs, MPI_INT, out, rank, MPI_INT, root, MPI_COMM_WORLD);
    if (rank) /* nothing is sent to rank 0 */
        expect_down("scatterv", root, (sum - root) * 4);
    CHECK(rank == 0 || out[0] == root + displs[rank]);
    enter();
    MPI_Allgatherv(in, rank, MPI_INT, out, counts, displs, MPI_INT, MPI_COMM_WORLD);
    expect_all("allgatherv", sum * 4 / size * (size - 1));
    CHECK(out[displs[size - 1]] == size - 1);
    enter();
    MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect_all("reduce_scatter", sum * 4 / size * (size - 1));
    CHECK(rank == 0 || out[0] == sum + size * displs[rank]);
    for (int r = 0; r < size; r++)
        displs[r] = rank; /* r items to rank r, `rank` items from each */
    enter();
    MPI_Alltoallv(in, counts, backs, MPI_INT, out, displs, backs, MPI_INT, MPI_COMM_WORLD);
    int sent = sum - rank, got = rank * (size - 1);
    expect_all("alltoallv", 4.0 * (sent > got ? sent : got));
    CHECK(rank == 0 || out[backs[size - 1]] == size - 1 + rank * (size - 1));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (1 << rounds < size)
        rounds++;
    size_t bytes = (size_t)(ITEMS + size) * (size_t)size * sizeof(int);
    in = (int *)malloc(bytes);
    out = (int *)malloc(bytes);
    counts = (int *)malloc((size_t)size * sizeof(int));
    displs = (int *)malloc((size_t)size * sizeof(int));
    backs = (int *)malloc((size_t)size * sizeof(int));
    whole();
    if (size > 1) {
        blocks();
        lengths();
    }
    if (rank == 0)
        printf("ok\n");
    free(in);
    free(out);
    free(counts);
    free(displs);
    free(backs);
    MPI_Finalize();
    return 0;
}

#endif
