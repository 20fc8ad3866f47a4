/*
 * For programs that show several ways in which rank 0 completes receives from all others, posted in
 * the order of ranks: each is a meeting of its own.
 */
#ifndef TESTS_MPI_DECIDE_WAYS_H
#define TESTS_MPI_DECIDE_WAYS_H

#include "decide.h"

struct way {
    const char *name;
    void (*complete)(void);
};

static int rank, size;
static int (*data)[2];
static MPI_Request *requests;

static void run_ways(const struct way *ways, int count)
{
    rank = check_rank();
    size = check_size();
    data = (int(*)[2])malloc((size_t)size * sizeof *data);
    requests = (MPI_Request *)malloc((size_t)size * sizeof *requests);
    for (int i = 0; i < count; i++) {
        if (rank > 0) {
            decide_send(rank, size);
        } else {
            for (int r = 1; r < size; r++)
                MPI_Irecv(data[r - 1], 2, MPI_INT, r, DECIDE_TAG, MPI_COMM_WORLD, &requests[r - 1]);
            ways[i].complete();
        }
        check_ok(ways[i].name);
    }
    free(data);
    free(requests);
}

#endif
