/*
 * objects.h - what a recorder needs to know from its MPI: the virtual MPI and the wrappers of the
 * real one each have a table of functions that answer.
 */
#ifndef RECORDER_OBJECTS_H
#define RECORDER_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#include "mpi_roles.h"

/* The rank whose call is recorded, which need not be the one that runs; NULL with the real MPI,
 * which has one rank per process. */
struct mpi_rank;

struct recorder_comm {
    uint32_t size, others; /* members; those of the other group of an intercommunicator */
    int32_t rank;          /* of the caller */
    int is_inter;
    uint64_t hash, other_hash; /* of the members, in order */
};

#define RECORDER_NAME_MAX 128 /* as MPI_MAX_OBJECT_NAME */

struct recorder_type {
    uint64_t size;
    int64_t lower, extent;
    char name[RECORDER_NAME_MAX]; /* "": none */
};

/* This rank's neighbours in the topology, as ranks of the communicator or MPI_PROC_NULL. Free both
 * arrays. */
struct recorder_neighbours {
    int64_t *sources, *destinations;
    uint32_t in, out;
};

/* What the recorder asks, and tells, the MPI whose calls it records. */
struct recorder_mpi {
    /* 0: there is no such communicator. */
    int (*comm)(struct mpi_rank *, uint64_t handle, struct recorder_comm *);
    /* The rank in the trace of a member of its group, or of the other one. */
    int64_t (*member)(struct mpi_rank *, uint64_t handle, int other, uint32_t rank);
    /* 0: it has no topology. */
    int (*neighbours)(struct mpi_rank *, uint64_t handle, struct recorder_neighbours *);
    /* What there is to be said about the topology of a communicator, or the making of a datatype:
     * MPI_LENGTH_INDEGREE to MPI_LENGTH_DATATYPES; of a graph, about a member. */
    int64_t (*amount)(struct mpi_rank *, enum mpi_length, uint64_t handle, int member);
    /* All 0 if there is no such datatype. */
    void (*type)(struct mpi_rank *, uint64_t handle, struct recorder_type *);
    /* The ranks in the trace of a group's members; the caller frees them. */
    int64_t *(*group)(struct mpi_rank *, uint64_t handle, uint32_t *count);
    int (*op_commutes)(struct mpi_rank *, uint64_t handle);
    /* MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY, which are variables of the MPI. */
    int (*is_no_array)(const void *);
    /* Adds a definition that ranks share (trace/definitions.h). */
    void (*define)(unsigned kind, const void *payload, size_t bytes);
};

/* A copy of ranks, which the caller frees. */
int64_t *recorder_ranks(const int *ranks, int count);

#endif
