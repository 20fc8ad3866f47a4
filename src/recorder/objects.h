/*
 * objects.h - what a recorder needs to know from its MPI. The virtual MPI and the wrappers of the
 * real one each implement these functions; the recorder is linked with one of them.
 */
#ifndef RECORDER_OBJECTS_H
#define RECORDER_OBJECTS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* The rank whose call is recorded, which need not be the one that runs; NULL with the real MPI,
 * which has one rank per process. */
struct mpi_rank;

struct recorder_comm {
    uint32_t size, others; /* members; those of the other group of an intercommunicator */
    int32_t rank;          /* of the caller */
    int is_inter;
    uint64_t hash, other_hash; /* of the members, in order */
};

struct recorder_type {
    uint64_t size;
    int64_t lower, extent;
    char name[MPI_MAX_OBJECT_NAME]; /* "": none */
};

/* 0: there is no such communicator. */
int recorder_comm(struct mpi_rank *, uint64_t handle, struct recorder_comm *);
/* The rank in the trace of a member of its group, or of the other one. */
int64_t recorder_comm_member(struct mpi_rank *, uint64_t handle, int other, uint32_t rank);
/* The number of neighbours (MPI_LENGTH_INDEGREE, MPI_LENGTH_OUTDEGREE) or dimensions in its
 * topology. */
int64_t recorder_comm_degree(struct mpi_rank *, uint64_t handle, unsigned kind);

/* All 0 if there is no such datatype. */
void recorder_type(struct mpi_rank *, uint64_t handle, struct recorder_type *);
/* The ranks in the trace of a group's members; the caller frees them. */
int64_t *recorder_group(struct mpi_rank *, uint64_t handle, uint32_t *count);
int recorder_op_commutes(struct mpi_rank *, uint64_t handle);

/* MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY, which are variables of the MPI. */
int recorder_is_no_array(const void *);

/* Adds a definition that ranks share (trace/definitions.h). */
void recorder_define(unsigned kind, const void *payload, size_t bytes);

#endif
