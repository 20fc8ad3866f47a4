/*
 * For programs that compare virtual times with closed forms: phases that all ranks begin at the
 * same time, and what has passed since, to a few picoseconds for the clock readings. The machine
 * must have mpi.clock_cost=1ps.
 */
#ifndef TESTS_MPI_TIMING_H
#define TESTS_MPI_TIMING_H

#include <math.h>

#include "check.h"

#define US 1e-6
#define NS 1e-9

enum { TIMING_ROOM = 1 << 21 };

static int rank, size;
static char *buffer; /* of TIMING_ROOM bytes */
static double timing_start;

__attribute__((unused)) static void timing_init(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    buffer = calloc(1, TIMING_ROOM);
}

__attribute__((unused)) static void timing_finish(void)
{
    free(buffer);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("ok");
    MPI_Finalize();
}

/* All ranks continue at the same time: 10 ms after the last one. */
__attribute__((unused)) static void together(void)
{
    timing_start += 10e-3;
    check_spend(timing_start - MPI_Wtime());
    if (!check_virtual())
        MPI_Barrier(MPI_COMM_WORLD);
}

/* What happened since together() has taken so long. */
__attribute__((unused)) static void took(const char *what, double expected)
{
    double t = MPI_Wtime() - timing_start;

    if (check_virtual() && fabs(t - expected) > 20e-12) {
        fprintf(stderr, "rank %d of %d: %s: %.12f s instead of %.12f\n", rank, size, what, t,
                expected);
        CHECK(!"the time is right");
    }
}

__attribute__((unused)) static void send(int bytes, int to)
{
    MPI_Send(buffer, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD);
}

__attribute__((unused)) static void receive(int bytes, int from)
{
    MPI_Recv(buffer, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Every rank sends to one and receives from one, at once. */
__attribute__((unused)) static void shift(int bytes, int to, int from)
{
    MPI_Sendrecv(buffer, bytes, MPI_CHAR, to, 0, buffer + TIMING_ROOM / 2, bytes, MPI_CHAR, from, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

#endif
