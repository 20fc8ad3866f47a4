/*
 * create.h - creates communicators, which takes messages between their members.
 */
#ifndef MPI_CREATE_CREATE_H
#define MPI_CREATE_CREATE_H

#include "mpi/comm/comm.h"

/*
 * What one rank tells another about a new communicator (announce.c). The descriptor is its context,
 * unique over all processes; contexts are even, and the high side of an intercommunicator has the
 * next number. Every process that has members has its own object: describe, called once by the rank
 * that created the communicator, sends its groups to the other processes, separately from virtual
 * messages and outside of virtual time. The communicator (for an intercommunicator: both sides,
 * given the low one) must not be used after that: it no longer exists if no member is here. Reports
 * say that fn created it from `parent` (or NULL).
 *
 * adopt gives the receiving rank its own view (it inherits the rank's error handler on the parent).
 * If the object is still in flight it waits (may switch). MPI_COMM_DESC_NULL means MPI_COMM_NULL.
 */
mpi_comm_desc mpi_comm_describe(struct mpi_comm *, enum mpi_fn fn, const struct mpi_comm *parent);
MPI_Comm mpi_comm_adopt(struct mpi_rank *self, const struct mpi_comm *parent, mpi_comm_desc);
/* mpi_comm_adopt for the MPI_COMM_WORLD of a rank that was spawned. */
struct mpi_comm *mpi_comm_adopt_world(struct mpi_rank *self, mpi_comm_desc);
/* Handles the description of a communicator with members here, from another process. Scheduler
 * context. */
void mpi_comm_learn(const void *data, size_t bytes);

/* A duplication in progress; the caller sets the first two fields. */
struct mpi_attr;
struct mpi_comm_copy {
    struct mpi_comm *c; /* of what */
    MPI_Comm *newcomm;  /* where to */
    struct mpi_attr *attributes;
    int failed; /* what an attribute copy function returned */
    mpi_comm_desc desc;
};
/* Copies the attributes (may switch); then creates it, called by all members of c (may switch).
 * Descriptors are received in *copy, which must not be on the stack of a strand. Returns an MPI
 * class or what an attribute copy function returned. */
void mpi_comm_copy_begin(struct mpi_rank *self, struct mpi_comm_copy *copy);
int mpi_comm_copy_make(struct mpi_rank *self, struct mpi_comm_copy *copy);

/* Distributes the descriptor of rank 0 of `members` to all of them, by a binomial tree on the
 * collective context of c. members NULL: the first n ranks of c; else n is its size and me the
 * caller's rank in it. May switch. Returns an MPI class. */
int mpi_comm_bcast_desc(struct mpi_rank *self, struct mpi_comm *c, struct mpi_group *members,
                        int me, int n, int tag, mpi_comm_desc *desc);

/* mpi_comm_bcast_desc on an intercommunicator: rank 0 of the low side has the low descriptor of
 * another one, every rank gets the one for its side. May switch. */
int mpi_inter_bcast_desc(struct mpi_rank *self, struct mpi_comm *c, int tag, mpi_comm_desc *desc);

/* A new communicator with the groups of c: the descriptor for the caller's side of it. Called by
 * all ranks of c. May switch. Returns an MPI class. */
int mpi_comm_copy(struct mpi_rank *self, struct mpi_comm *c, mpi_comm_desc *desc);

/* MPI_Comm_split without argument checks, also of intercommunicators. May switch. */
int mpi_comm_divide(struct mpi_rank *self, struct mpi_comm *c, int color, int key, int tag,
                    MPI_Comm *out);

/* Sends a group to rank dst of c, or receives one (with a ref), on the collective context. May
 * switch. Return an MPI class. */
int mpi_group_send(struct mpi_rank *self, struct mpi_comm *c, struct mpi_group *g, int dst,
                   int tag);
int mpi_group_recv(struct mpi_rank *self, struct mpi_comm *c, int src, int tag,
                   struct mpi_group **g);

#endif
