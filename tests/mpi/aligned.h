/*
 * For programs that compare virtual times with closed forms, on any machine: phases that all ranks
 * begin at the same time, and what has passed since.
 */
#ifndef TESTS_MPI_ALIGNED_H
#define TESTS_MPI_ALIGNED_H

#include <math.h>

#include "check.h"

static double origin;

/* All ranks continue at the same time, well after what came before. */
static void align(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (!check_virtual())
        return;
    origin = ceil(MPI_Wtime() * 100 + 1) / 100;
    check_spend(origin - MPI_Wtime());
}

/* So much time has passed since align(), to `near`. */
static void expect_within(double near, const char *what, double seconds)
{
    double t = MPI_Wtime() - origin;

    if (check_virtual() && fabs(t - seconds) > near) {
        fprintf(stderr, "rank %d: %s: %.10f s instead of %.10f\n", check_rank(), what, t, seconds);
        CHECK(!"the time is right");
    }
}

#endif
