/*
 * ext.h - what only some ranks need, allocated when first needed.
 *
 * A rank that keeps something beside its messages (state.h) has the first 16 bytes. What is looked at on the path of
 * messages comes behind them, when it is first needed.
 */
#ifndef MPI_EXT_H
#define MPI_EXT_H

#include "mpi/rank.h"

struct mpi_early_index;
struct mpi_posted_index;
struct mpi_call_list;
struct mpi_strand;
struct mpi_service_queue;
struct mpi_app;
struct processor_state;

struct mpi_ext {
    uint32_t have; /* state.h: which kinds of state the rank keeps */
    uint32_t full; /* all of the struct is there, not just these three */
    void **kept;   /* state.h: the states */

    struct mpi_posted_index *posted;    /* posted receives by kind, when there are many */
    struct mpi_early_index *index;      /* early messages by source, when there are many */
    struct mpi_strand *strands;         /* strand.c: suspended ones, oldest first: tail of a ring */
    struct mpi_service_queue *services; /* service.c: messages to be served in order of time */
    vtime decided;                      /* time of the rank's last wildcard decision */
    uint32_t orphans;                   /* requests freed before they were complete */
    uint32_t polled;                    /* generalized requests with a poll function */
    struct mpi_app *app;                /* dynamic/spawn.c: the rank was spawned */
    uint32_t channels;                  /* partitioned sends it has initialised */
    uint32_t receives;  /* p2p/costs.c: started by the program and not completed, if they count */
    vtime looked;       /* p2p/costs.c: when it looked for messages last, + 1, if that counts */
    uint32_t last_peer; /* p2p/costs.c: whom it sent to last, + 1 */
    struct processor_state
        *processor;              /* what the processor models keep of it (processor/processor.h) */
    uint64_t sent;               /* p2p/seen.c: messages so far, if they are observed */
    struct mpi_call_list *calls; /* stats.c: per function, when asked for */
};

/* All of it, made if there is not; or NULL if there is not. */
struct mpi_ext *mpi_ext_make(struct mpi_rank *self);
static inline struct mpi_ext *mpi_ext_get(struct mpi_rank *self)
{
    return self->ext && self->ext->full ? self->ext : mpi_ext_make(self);
}
static inline struct mpi_ext *mpi_ext_find(const struct mpi_rank *self)
{
    return self->ext && self->ext->full ? self->ext : NULL;
}

/* The first part of it, for a rank that has nothing yet. */
struct mpi_ext *mpi_ext_make_short(struct mpi_rank *self);

#endif
