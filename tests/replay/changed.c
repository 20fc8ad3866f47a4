/*
 * changed.c - a random program that can change itself: what `orrery replay --what-if` predicts from
 * its trace must be what the changed program does.
 *
 *     changed SEED [CHANGE]...     changes: see `is` below
 *
 * All that is random depends on the seed, the step and the rank alone, so every change leaves the
 * rest as it is.
 */
#include <mpi.h>
#include <orrery.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 6
#define BYTES 300000

static int rank, size, changes;
static char **changed;
static uint64_t seed;
static char *room;

static int is(const char *change)
{
    for (int i = 0; i < changes; i++)
        if (strcmp(changed[i], change) == 0)
            return 1;
    return 0;
}

/* 0 to below - 1, the same for all that ask with the same numbers. */
static uint32_t pick(uint64_t step, uint64_t what, uint64_t who, uint32_t below)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u + step * 0xbf58476d1ce4e5b9u +
                 what * 0x94d049bb133111ebu + who;

    for (int i = 0; i < 3; i++) {
        x ^= x >> 31;
        x *= 0xd6e8feb86659fd93u;
    }
    return (uint32_t)(x >> 33) % below;
}

/* Microseconds in region foo, without changes. */
static double foo_time(int step, int who)
{
    return 100 + pick((uint64_t)step, 1, (uint64_t)who, 900);
}

/* Not all ranks have all visits. */
static int has_foo(int step, int who)
{
    return who == 0 || pick((uint64_t)step, 2, (uint64_t)who, 4) > 0;
}

static int visits;

/* The mean over the ranks that have this visit of their own. */
static double mean_of_visit(int visit)
{
    double sum = 0;
    int count = 0;

    for (int who = 0; who < size; who++) {
        int seen = 0;

        for (int step = 0; step < STEPS; step++)
            if (has_foo(step, who) && seen++ == visit) {
                sum += foo_time(step, who);
                count++;
            }
    }
    return sum / count;
}

static void compute(double us)
{
    orrery_compute((is("speed") && rank % 2 ? us / 2 : us) * 1e-6);
}

static void foo(int step)
{
    double us = foo_time(step, rank);

    if (!has_foo(step, rank))
        return;
    if (is("scale") && rank < 3)
        us *= 0.5;
    if (is("set") && visits >= 1)
        us = 250;
    if (is("balance"))
        us = mean_of_visit(visits);
    orrery_region("foo");
    orrery_compute((is("speed") && rank % 2 ? us / 2 : us) * 1e-6);
    orrery_region_end();
    visits++;
}

/* Messages around a ring with two tags: blocking, non-blocking, from anyone. */
static void exchange(int step)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size,
        form = (int)pick((uint64_t)step, 3, 0, 3);
    int bytes = (int)pick((uint64_t)step, 4, 0, BYTES);

    for (int tag = 7; tag < 9; tag++) {
        int count = is("resize") && tag == 7 ? 1000 : bytes;
        MPI_Request requests[2];

        if (is("remove") && tag == 7)
            continue;
        if (form == 0) {
            MPI_Sendrecv(room, count, MPI_BYTE, to, tag, room + BYTES, BYTES, MPI_BYTE, from, tag,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            continue;
        }
        MPI_Irecv(room + BYTES, BYTES, MPI_BYTE, form == 2 ? MPI_ANY_SOURCE : from, tag,
                  MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(room, count, MPI_BYTE, to, tag, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static MPI_Request later = MPI_REQUEST_NULL; /* waited for where its result is used */
static int later_value, later_sum;

static void wait_later(void)
{
    if (later != MPI_REQUEST_NULL)
        MPI_Waitall(1, &later, MPI_STATUSES_IGNORE);
}

static void agree(int step)
{
    int value = 0, sum;
    MPI_Request request;

    if (is("until")) {
        MPI_Iallreduce(&later_value, &later_sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &later);
        compute(pick((uint64_t)step, 5, (uint64_t)rank, 300));
    } else if (is("replace")) {
        MPI_Bcast(&sum, sizeof sum, MPI_BYTE, 0, MPI_COMM_WORLD);
        compute(pick((uint64_t)step, 5, (uint64_t)rank, 300));
    } else if (is("reduce")) {
        MPI_Reduce(&value, &sum, sizeof sum, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
        compute(pick((uint64_t)step, 5, (uint64_t)rank, 300));
    } else if (is("nonblocking")) {
        MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        compute(pick((uint64_t)step, 5, (uint64_t)rank, 300));
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    } else {
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        compute(pick((uint64_t)step, 5, (uint64_t)rank, 300));
    }
    if (!is("nobarrier"))
        MPI_Barrier(MPI_COMM_WORLD);
}

/* The master takes what comes first. */
static void gather(int step)
{
    MPI_Request *requests = malloc((size_t)size * sizeof *requests);
    int which;

    if (rank > 0) {
        compute(pick((uint64_t)step, 6, (uint64_t)rank, 2000));
        MPI_Send(room, 64, MPI_BYTE, 0, 11, MPI_COMM_WORLD);
    }
    for (int i = 1; rank == 0 && i < size; i++)
        MPI_Irecv(room, 64, MPI_BYTE, i, 11, MPI_COMM_WORLD, &requests[i - 1]);
    for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Waitany(size - 1, requests, &which, MPI_STATUS_IGNORE);
        compute(50);
    }
    free(requests);
}

static void insert(void)
{
    if (!is("insert") || size < 2)
        return;
    if (rank == 0)
        MPI_Send(room, 50000, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(room, 50000, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    seed = strtoull(argv[1], NULL, 10);
    changed = argv + 2;
    changes = argc - 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    room = malloc(2 * BYTES);
    for (int step = 0; step < STEPS; step++) {
        foo(step);
        exchange(step);
        insert();
        wait_later();
        orrery_region("bar");
        compute(20);
        orrery_region_end();
        agree(step);
        gather(step);
    }
    wait_later();
    MPI_Finalize();
    free(room);
    return 0;
}
