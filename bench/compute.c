/*
 * compute.c - computation only: multiplies matrices, and prints the processor seconds it took.
 *
 * The clock is read by the system call itself, so that it is the real one in the simulator too:
 * this measures how fast the simulator lets a program compute, not what it simulates.
 *
 * usage: compute ROUNDS
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define N 96

static double a[N][N], b[N][N], c[N][N];

static double processor_seconds(void)
{
    struct timespec t;

    if (syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &t) != 0)
        abort();
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fill(void)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            a[i][k] = (i == k) + 1e-4 * ((i * 7 + k * 3) % 11);
            b[i][k] = (i == k);
        }
}

static void multiply(void)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            double sum = 0.0;

            for (int j = 0; j < N; j++)
                sum += a[i][j] * b[j][k];
            c[i][k] = sum / 1.05;
        }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            b[i][k] = c[i][k];
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    double start;

    MPI_Init(&argc, &argv);
    fill();
    start = processor_seconds();
    for (int i = 0; i < rounds; i++)
        multiply();
    printf("%.6f\n", processor_seconds() - start);
    MPI_Finalize();
    return b[0][0] > 0.0 ? 0 : 1;
}
