/*
 * ext.h - what only some ranks need, allocated when first needed.
 */
#ifndef MPI_EXT_H
#define MPI_EXT_H

#include "mpi/rank.h"

struct mpi_early_index;
struct mpi_posted_index;
struct mpi_call_list;
struct mpi_strand;
struct mpi_service_queue;
struct mpi_ports;
struct mpi_app;
struct processor_state;

struct mpi_ext {
    struct mpi_posted_index *posted; /* posted receives by kind, when there are many */
    struct mpi_early_index *index;   /* early messages by source, when there are many */
    void *bsend_buf;                 /* MPI_Buffer_attach */
    int64_t bsend_size;
    uint32_t orphans;                   /* requests freed before they were complete */
    struct mpi_strand *strands;         /* strand.c: suspended ones, oldest first: tail of a ring */
    struct mpi_service_queue *services; /* service.c: messages to be served in order of time */
    struct mpi_ports *ports;            /* dynamic/ports.c: names and ports that its agent keeps */
    struct mpi_app *app;                /* dynamic/spawn.c: the rank was spawned */
    uint32_t spawned;                   /* dynamic/spawn.c: ranks that its agent has started */
    uint32_t polled;                    /* generalized requests with a poll function */
    int32_t failed,
        handled;        /* errhandler.c: a class that was raised, what its handler made of it */
    uint32_t channels;  /* partitioned sends it has initialised */
    uint32_t receives;  /* p2p/costs.c: started by the program and not completed, if they count */
    vtime looked;       /* p2p/costs.c: when it looked for messages last, + 1, if that counts */
    uint32_t last_peer; /* p2p/costs.c: whom it sent to last, + 1 */
    vtime decided;      /* time of the rank's last wildcard decision */
    struct processor_state
        *processor;              /* what the processor models keep of it (processor/processor.h) */
    uint64_t sent;               /* p2p/seen.c: messages so far, if they are observed */
    struct mpi_call_list *calls; /* stats.c: per function, when asked for */
};
struct mpi_ext *mpi_ext_make(struct mpi_rank *self);
static inline struct mpi_ext *mpi_ext_get(struct mpi_rank *self)
{
    return self->ext ? self->ext : mpi_ext_make(self);
}

#endif
