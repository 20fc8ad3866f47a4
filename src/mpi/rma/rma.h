/*
 * rma.h - the service of one-sided communication (service.h).
 */
#ifndef MPI_RMA_H
#define MPI_RMA_H

#include "base/vtime.h"

struct mpi_rank;
struct mpi_msg;

/* Applies an operation to the rank's window at time t; handles an answer. */
void rma_serve(struct mpi_rank *self, struct mpi_msg *m, vtime t);
void rma_reply(struct mpi_rank *self, struct mpi_msg *m);
/* A notice: the data of an operation has left. */
void rma_sent(struct mpi_rank *self, void *what, vtime t);

#endif
