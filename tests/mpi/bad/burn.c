/* Computes twice for a twentieth of a second of processor time, in a region, and prints whether
 * virtual time agrees with that. */
#include <math.h>
#include <mpi.h>
#include <orrery.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TOLERANCE 0.05

/* The real clock, not that of libc. */
static double run_so_far(void)
{
    struct timespec t;

    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double burn(double seconds)
{
    double start = run_so_far(), now;

    while ((now = run_so_far()) < start + seconds)
        ;
    return now - start;
}

int main(int argc, char **argv)
{
    double start, took, ran = 0;
    int rank, runs = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int i = 0; i < 2; i++) {
        if (orrery_region("burn")) {
            ran += burn(0.05);
            runs++;
        }
        orrery_region_end();
    }
    took = MPI_Wtime() - start;
    ran *= 2.0 / runs;
    if (fabs(took - ran) > TOLERANCE * ran)
        printf("rank %d: charged %.4f s, ran %.4f s\n", rank, took, ran);
    else
        printf("rank %d: charged what was run\n", rank);
    MPI_Finalize();
    return 0;
}
