/* test: n=1,3 native=1 measured=no run="--set nodes.noise_period=1ms,nodes.noise_duration=100us,mpi.clock_cost=1ps,nodes.gigaflops=2"
 * Noise of the system: work takes as long in one piece as in many, nine tenths of the time are left
 * for it, and waiting is not disturbed. Declared operations. */
#include <math.h>
#include <time.h>

#include "check.h"

extern void orrery_flops(double operations) __attribute__((weak));

#define PERIOD 1e-3
#define CLOSE 1e-10

/* Sleeps until the next multiple of 1 s. */
static double next_second(void)
{
    double now = MPI_Wtime(), then = ceil(now + 0.5);

    for (;;) {
        struct timespec rest = {0};

        now = MPI_Wtime();
        if (now >= then - 1e-9)
            return MPI_Wtime();
        rest.tv_sec = 0;
        rest.tv_nsec = (long)((then - now) * 1e9) % 1000000000;
        if (rest.tv_nsec == 0)
            return MPI_Wtime();
        nanosleep(&rest, NULL);
    }
}

static double work(int pieces, double seconds)
{
    double start = next_second();

    for (int i = 0; i < pieces; i++)
        check_spend(seconds / pieces);
    return MPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    double whole, start, t;

    MPI_Init(&argc, &argv);
    if (check_virtual()) {
        whole = work(1, 9e-3);
        CHECK(whole >= 9e-3 + 9 * 100e-6 && whole <= 9e-3 + 11 * 100e-6 + CLOSE);
        for (int pieces = 3; pieces <= 3000; pieces *= 10)
            CHECK(fabs(work(pieces, 9e-3) - whole) < 1e-8);
        t = work(1, 900e-3);
        CHECK(fabs(t - 1) <= PERIOD);
        start = next_second();
        CHECK(start - floor(start) < 1e-6 || ceil(start) - start < 1e-6);
        start = next_second();
        orrery_flops(18e9 / 1000);
        CHECK(fabs(MPI_Wtime() - start - whole) < 1e-8);
    }
    if (check_rank() == 0)
        puts("ok");
    MPI_Finalize();
    return 0;
}
