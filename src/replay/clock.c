/*
 * clock.c - the time of a replay: virtual, or that of the computer.
 */
#include <time.h>

#include "replay/replay.h"
#include "run/own.h"

#define NS_PER_S 1000000000
#define PS_PER_NS 1000
#define EXCHANGES 10
#define START_NS 2000000 /* after this all are ready */
#define SPIN_NS 60000    /* sleeping ends late by so much: the rest is waited for actively */

int replay_is_simulated(void)
{
    return orrery_own_clock != NULL;
}

static int64_t real_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

int64_t replay_now(const struct replay_rank *k)
{
    return (replay_is_simulated() ? orrery_own_clock() : real_ns() * PS_PER_NS) - k->epoch;
}

/* The clock of rank 0 minus ours, from the exchange that took least. */
static int64_t offset_to_first(int rank, int size)
{
    int64_t offset = 0, least = INT64_MAX, first, dummy = 0;
    if (rank == 0) {
        for (int other = 1; other < size; other++)
            for (int i = 0; i < EXCHANGES; i++) {
                PMPI_Recv(&dummy, 1, MPI_INT64_T, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                first = real_ns();
                PMPI_Send(&first, 1, MPI_INT64_T, other, 0, MPI_COMM_WORLD);
            }
        return 0;
    }
    for (int i = 0; i < EXCHANGES; i++) {
        int64_t before = real_ns();
        PMPI_Send(&dummy, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD);
        PMPI_Recv(&first, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int64_t after = real_ns();
        if (after - before < least) {
            least = after - before;
            offset = first - (before + (after - before) / 2);
        }
    }
    return offset;
}

/* Virtual clocks agree: all wait for the latest. */
static void synchronise_virtually(struct replay_rank *k)
{
    int64_t mine, latest;
    PMPI_Barrier(MPI_COMM_WORLD);
    mine = orrery_own_clock() + 1;
    PMPI_Allreduce(&mine, &latest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    mine = orrery_own_clock();
    PMPI_Allreduce(&mine, &latest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    /* later than any clock is now: an exchange takes no longer than all before it */
    k->epoch = 2 * latest;
    orrery_own_spend(k->epoch - orrery_own_clock());
}

void replay_synchronise(struct replay_rank *k)
{
    int rank, size;
    int64_t start;
    if (replay_is_simulated()) {
        synchronise_virtually(k);
        return;
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    int64_t offset = offset_to_first(rank, size);
    PMPI_Barrier(MPI_COMM_WORLD);
    start = real_ns() + START_NS;
    PMPI_Bcast(&start, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    k->epoch = (start - offset) * PS_PER_NS;
    while (replay_now(k) < 0)
        ;
}

static void sleep_ns(int64_t ns)
{
    struct timespec t = {ns / NS_PER_S, ns % NS_PER_S};
    nanosleep(&t, NULL);
}

void replay_until(struct replay_rank *k, int64_t t)
{
    if (replay_is_simulated()) {
        orrery_own_spend(t - replay_now(k));
        return;
    }
    int64_t until = (t + k->epoch) / PS_PER_NS;
    if (k->replay->options.busy_sleep && until - real_ns() > SPIN_NS)
        sleep_ns(until - real_ns() - SPIN_NS);
    while (real_ns() < until)
        ;
}
