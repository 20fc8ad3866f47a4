/*
 * What every conformance program shares: a check that ends the run, and the final "ok" line.
 *
 * The programs are plain MPI and also run natively. orrery_compute is weak: where it is missing,
 * time is not declared and the order in which messages meet is not checked. Lines that start with
 * "virtual:" are printed under the simulator only; the runner ignores them when it compares the
 * output with a native run.
 */
#ifndef TESTS_MPI_CHECK_H
#define TESTS_MPI_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
extern void orrery_compute(double seconds) __attribute__((weak));
#ifdef __cplusplus
}
#endif

#ifdef CHECK_IS_LAX /* for messages without payload: conditions are evaluated, but may fail */
#define CHECK(cond) ((void)(cond))
#else
#define CHECK(cond) ((cond) ? (void)0 : check_fail(#cond, __FILE__, __LINE__))
#endif

__attribute__((unused)) static void check_fail(const char *cond, const char *file, int line)
{
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rank %d: %s:%d: check failed: %s\n", rank, file, line, cond);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* True if this program runs under virtual time. */
__attribute__((unused)) static int check_virtual(void)
{
    return orrery_compute != 0;
}

/* Declares computing time; nothing in a native run. */
__attribute__((unused)) static void check_spend(double seconds)
{
    if (orrery_compute)
        orrery_compute(seconds);
}

__attribute__((unused)) static int check_rank_in(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

__attribute__((unused)) static int check_size_of(MPI_Comm comm)
{
    int size;
    MPI_Comm_size(comm, &size);
    return size;
}

__attribute__((unused)) static int check_rank(void)
{
    return check_rank_in(MPI_COMM_WORLD);
}

__attribute__((unused)) static int check_size(void)
{
    return check_size_of(MPI_COMM_WORLD);
}

/* All ranks have passed the part of this name: rank 0 says so. */
__attribute__((unused)) static void check_ok(const char *name)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank() == 0)
        printf("ok %s\n", name);
}

#endif
