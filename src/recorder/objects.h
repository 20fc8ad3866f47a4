/*
 * objects.h - what a recorder asks its MPI. The virtual MPI and the wrappers of the real one each
 * have these functions; the recorder is linked with either.
 */
#ifndef RECORDER_OBJECTS_H
#define RECORDER_OBJECTS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct mpi_rank; /* the rank that calls; the real MPI has but one in a process, and NULL for it */

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

/* The time, in ticks of the trace. */
int64_t recorder_now(struct mpi_rank *);

/* 0: there is no such communicator. */
int recorder_comm(struct mpi_rank *, uint64_t handle, struct recorder_comm *);
/* The rank in the trace of a member, of its group or of the other one. */
int64_t recorder_comm_member(struct mpi_rank *, uint64_t handle, int other, uint32_t rank);
/* By its topology: how many neighbours (MPI_LENGTH_INDEGREE, MPI_LENGTH_OUTDEGREE) or dimensions it
 * has. */
int64_t recorder_comm_degree(struct mpi_rank *, uint64_t handle, unsigned kind);

/* All 0 if there is no such datatype. */
void recorder_type(struct mpi_rank *, uint64_t handle, struct recorder_type *);
/* Ranks in the trace of a group's members; freed by the caller. */
int64_t *recorder_group(struct mpi_rank *, uint64_t handle, uint32_t *count);
int recorder_op_commutes(struct mpi_rank *, uint64_t handle);

/* MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY, which are variables of the MPI. */
int recorder_is_no_array(const void *);

/* A definition that is common to ranks (trace/definitions.h). */
void recorder_define(unsigned kind, const void *payload, size_t bytes);

#endif
