/*
 * coupling.h - what the ocean and the atmosphere have in common: the columns, their ranks, and the
 * exchange of temperatures between the two programs.
 *
 * Both divide the same columns in blocks, but between different numbers of ranks:
 *
 *     ocean        |    rank 0     |    rank 1     |
 *     atmosphere   | rank 2 | rank 3 | rank 4 | 5  |      ranks of MPI_COMM_WORLD
 *
 * So a rank exchanges with all ranks of the other program that have a column of its own.
 */
#ifndef COUPLING_H
#define COUPLING_H

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "orrery.h"

enum { OCEAN, ATMOSPHERE }; /* the order of programs: MPI_APPNUM */

#define COLUMNS 96
#define TRANSFER 0.05                               /* heat per degree of difference and step */
#define MIXING 0.1                                  /* between neighbours */
static const double heat_capacity[] = {40, 1};      /* of a column */
static const double start_temperature[] = {10, 22}; /* in the middle */
static const double seconds_per_column[] = {20e-6, 60e-6}; /* of work in a step */

static int rank, self, other;                    /* in MPI_COMM_WORLD; which programs */
static int ranks[2], first_rank[2];              /* of both programs */
static int begin, end;                           /* this rank's columns */
static double here[COLUMNS + 2], there[COLUMNS]; /* temperatures, of one's own with a halo */

static int first_column(int part, int parts)
{
    return (int)((long)COLUMNS * part / parts);
}

static void set_up(int program)
{
    int *number, found, size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found);
    if (!found || *number != program) {
        fprintf(stderr, "start both programs, the ocean first: -n N ./ocean : -n M ./atmosphere\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    self = program;
    other = 1 - self;
    int is_ocean = self == OCEAN;
    MPI_Allreduce(&is_ocean, &ranks[OCEAN], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ranks[ATMOSPHERE] = size - ranks[OCEAN];
    first_rank[ATMOSPHERE] = ranks[OCEAN];
    if (!ranks[ATMOSPHERE] || ranks[OCEAN] > COLUMNS || ranks[ATMOSPHERE] > COLUMNS) {
        fprintf(stderr, "each program needs 1 to %d ranks\n", COLUMNS);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    begin = first_column(rank - first_rank[self], ranks[self]);
    end = first_column(rank - first_rank[self] + 1, ranks[self]);
    for (int i = begin; i < end; i++)
        here[i + 1] = start_temperature[self] + 8 * sin(6.283185307 * i / COLUMNS);
}

/* Temperatures of the other program, for one's own columns. */
static void exchange(void)
{
    MPI_Request *requests = malloc(2 * (size_t)ranks[other] * sizeof *requests);
    int count = 0;

    for (int i = 0; i < ranks[other]; i++) {
        int from = first_column(i, ranks[other]), to = first_column(i + 1, ranks[other]);

        from = from > begin ? from : begin;
        to = to < end ? to : end;
        if (from >= to)
            continue;
        MPI_Irecv(there + from, to - from, MPI_DOUBLE, first_rank[other] + i, 1, MPI_COMM_WORLD,
                  &requests[count++]);
        MPI_Isend(here + 1 + from, to - from, MPI_DOUBLE, first_rank[other] + i, 1, MPI_COMM_WORLD,
                  &requests[count++]);
    }
    for (int i = 0; i < count; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    free(requests);
}

/* The columns beside one's own, in a ring. */
static void exchange_halo(MPI_Comm model)
{
    int mine = rank - first_rank[self], n = ranks[self];
    int left = (mine + n - 1) % n, right = (mine + 1) % n;

    MPI_Sendrecv(&here[end], 1, MPI_DOUBLE, right, 2, &here[begin], 1, MPI_DOUBLE, left, 2, model,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&here[begin + 1], 1, MPI_DOUBLE, left, 3, &here[end + 1], 1, MPI_DOUBLE, right, 3,
                 model, MPI_STATUS_IGNORE);
}

static void step(MPI_Comm model)
{
    exchange();
    exchange_halo(model);
    orrery_compute((end - begin) * seconds_per_column[self]);
    double before = here[begin];
    for (int i = begin; i < end; i++) {
        double now = here[i + 1];

        here[i + 1] += MIXING * (before - 2 * now + here[i + 2]) +
                       TRANSFER * (there[i] - now) / heat_capacity[self];
        before = now;
    }
}

/* Mean temperatures and heat of both. */
static void sum_up(double mean[2], double *heat)
{
    double sum[2] = {0, 0};

    for (int i = begin; i < end; i++)
        sum[self] += here[i + 1] / COLUMNS;
    MPI_Allreduce(sum, mean, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    *heat = mean[OCEAN] * heat_capacity[OCEAN] + mean[ATMOSPHERE] * heat_capacity[ATMOSPHERE];
}

static int run(int program, int argc, char **argv)
{
    double mean[2], heat[2];
    int steps;
    MPI_Comm model; /* the ranks of this program */

    MPI_Init(&argc, &argv);
    steps = argc > 1 ? atoi(argv[1]) : 100;
    set_up(program);
    MPI_Comm_split(MPI_COMM_WORLD, self, rank, &model);
    sum_up(mean, &heat[0]);
    double start = MPI_Wtime();
    for (int i = 0; i < steps; i++)
        step(model);
    double time = MPI_Wtime() - start;
    sum_up(mean, &heat[1]);
    if (rank == 0) {
        printf("ocean %.6f, atmosphere %.6f after %d steps; heat is %s\n", mean[OCEAN],
               mean[ATMOSPHERE], steps,
               fabs(heat[1] - heat[0]) < 1e-9 * heat[0] ? "conserved" : "lost");
        printf("%d ocean and %d atmosphere ranks: %.3f ms per step\n", ranks[OCEAN],
               ranks[ATMOSPHERE], 1e3 * time / steps);
    }
    MPI_Comm_free(&model);
    MPI_Finalize();
    return 0;
}

#endif
