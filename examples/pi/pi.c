/*
 * pi.c - pi by the Monte Carlo method: the share of random points of the unit square that fall
 * into the quarter circle. Almost only computation; the ranks' counts are gathered at the end.
 *
 * Each rank draws its own stream of random numbers, seeded by its number, so the result depends on
 * the number of ranks and samples only.
 *
 * usage: pi [SAMPLES_PER_RANK]           exit status 1 if the result is implausible
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A step of a 64-bit linear congruential generator; the upper half is used (Knuth's constants). */
static double random_unit(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 32) * 0x1p-32;
}

static int64_t count_hits(int rank, int64_t samples)
{
    uint64_t state = ((uint64_t)rank + 1) * 0x9e3779b97f4a7c15u;
    int64_t hits = 0;

    for (int64_t i = 0; i < samples; i++) {
        double x = random_unit(&state), y = random_unit(&state);

        hits += x * x + y * y < 1.0;
    }
    return hits;
}

/* Prints the result on the root; returns 0 if it is within 5 standard deviations of pi. */
static int report(const int64_t *hits, int size, int64_t samples, double duration)
{
    double total = (double)samples * size, sum = 0.0, pi, deviation;

    for (int i = 0; i < size; i++)
        sum += (double)hits[i];
    pi = 4.0 * sum / total;
    deviation = sqrt(M_PI * (4.0 - M_PI) / total);
    printf("pi: %d ranks, %lld samples each\n", size, (long long)samples);
    printf("  pi           %.6f, %.1f standard deviations off\n", pi, fabs(pi - M_PI) / deviation);
    printf("  MPI_Wtime    %.6f s\n", duration);
    return fabs(pi - M_PI) < 5.0 * deviation ? 0 : 1;
}

int main(int argc, char **argv)
{
    int64_t samples, mine, *hits = NULL;
    double start;
    int rank, size, status = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    samples = argc > 1 ? atoll(argv[1]) : 10000;
    if (samples < 1 || (rank == 0 && !(hits = calloc((size_t)size, sizeof *hits)))) {
        fprintf(stderr, "usage: pi [SAMPLES_PER_RANK], at least 1\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    start = MPI_Wtime();
    mine = count_hits(rank, samples);
    MPI_Gather(&mine, 1, MPI_INT64_T, hits, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0)
        status = report(hits, size, samples, MPI_Wtime() - start);
    free(hits);
    MPI_Finalize();
    return status;
}
