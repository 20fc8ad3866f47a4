/*
 * For programs that show one kind of decision each: a meeting whose times are declared.
 *
 * Rank r comes at decide_time(r), last ranks first, 10 ms apart: far more than any message takes.
 * Under virtual time the order of arrival is then known, and checked; natively it is anything.
 */
#ifndef TESTS_MPI_DECIDE_H
#define TESTS_MPI_DECIDE_H

#include "check.h"

enum { DECIDE_TAG = 3 };

__attribute__((unused)) static double decide_time(int rank, int size)
{
    return 0.010 * (size - rank);
}

/* Called by every rank but 0: waits its time and sends its rank, twice its rank. */
__attribute__((unused)) static void decide_send(int rank, int size)
{
    int data[2] = {rank, 2 * rank};
    check_spend(decide_time(rank, size));
    MPI_Send(data, 2, MPI_INT, 0, DECIDE_TAG, MPI_COMM_WORLD);
}

/* Rank 0 has received the k-th message (from 0) of a meeting. */
__attribute__((unused)) static void decide_verify(const int *data, int source, int k, int size)
{
    CHECK(source > 0 && source < size && data[0] == source && data[1] == 2 * source);
    CHECK(!check_virtual() || source == size - 1 - k);
}

#endif
