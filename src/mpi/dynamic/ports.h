/*
 * ports.h - the service of names and ports (service.h), by which groups of ranks find each other.
 *
 * The agent of world rank 0 keeps published names; the agent of the rank that opened a port keeps
 * the port, whose name is "orrery-port-RANK.NUMBER". There MPI_Comm_accept and MPI_Comm_connect are
 * matched in the order in which they arrive. No rank of a program that uses this ends before all
 * have called MPI_Finalize (MPI_NEED_NAMES).
 */
#ifndef MPI_DYNAMIC_PORTS_H
#define MPI_DYNAMIC_PORTS_H

#include "base/vtime.h"
#include "mpi/comm/comm.h"

struct mpi_msg;

enum ports_ask {
    PORTS_OPEN,
    PORTS_CLOSE,
    PORTS_ACCEPT, /* with the caller's group, as CONNECT */
    PORTS_CONNECT,
    PORTS_PUBLISH, /* with the name and the port */
    PORTS_LOOKUP,  /* with the name, as UNPUBLISH */
    PORTS_UNPUBLISH,
};

/* The result of a request. It may be on the stack of the rank that waits for it. */
struct ports_answer {
    int done, error; /* an MPI class */
    vtime arrival;
    uint64_t value; /* OPEN: the number of the port; ACCEPT, CONNECT: mpi_comm_desc */
    char *text;     /* LOOKUP: where the port's name goes, MPI_MAX_PORT_NAME bytes */
};

/* For the table of services (main/above.c). */
void ports_serve(struct mpi_rank *self, struct mpi_msg *m, vtime t);
void ports_reply(struct mpi_rank *self, struct mpi_msg *m);

#endif
