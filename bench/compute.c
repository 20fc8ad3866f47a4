/*
 * compute.c - computation only, about a second: multiplies small matrices. The time is read from
 * the processor-time clock of the kernel by the caller; this program reads no clock.
 *
 * usage: compute ROUNDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 96

static double a[N][N], b[N][N], c[N][N];

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

    MPI_Init(&argc, &argv);
    fill();
    for (int i = 0; i < rounds; i++)
        multiply();
    printf("%.17g\n", b[0][0] + b[N - 1][N - 1]);
    MPI_Finalize();
    return 0;
}
