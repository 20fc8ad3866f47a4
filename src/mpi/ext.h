/*
 * ext.h - what only some ranks need, allocated when first needed.
 *
 * All that is looked at on the path of messages, and what the rank keeps beside them (state.h), is in 64 bytes. The
 * rest is for certain programs, machines and options only.
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
    struct mpi_posted_index *posted;    /* posted receives by kind, when there are many */
    struct mpi_early_index *index;      /* early messages by source, when there are many */
    struct mpi_strand *strands;         /* strand.c: suspended ones, oldest first: tail of a ring */
    struct mpi_service_queue *services; /* service.c: messages to be served in order of time */
    vtime decided;                      /* time of the rank's last wildcard decision */
    uint32_t orphans;                   /* requests freed before they were complete */
    uint32_t have;                      /* state.h: which kinds of state the rank keeps */
    void **kept;                        /* state.h: the states */
    struct mpi_rare *rare;              /* NULL until needed */
};
_Static_assert(sizeof(struct mpi_ext) == 64, "what is for messages is in 64 bytes");

struct mpi_rare {
    struct mpi_app *app;         /* dynamic/spawn.c: the rank was spawned */
    struct mpi_call_list *calls; /* stats.c: per function, when asked for */
    uint64_t sent;               /* p2p/seen.c: messages so far, if they are observed */
    struct processor_state
        *processor;     /* what the processor models keep of it (processor/processor.h) */
    vtime looked;       /* p2p/costs.c: when it looked for messages last, + 1, if that counts */
    uint32_t receives;  /* p2p/costs.c: started by the program and not completed, if they count */
    uint32_t last_peer; /* p2p/costs.c: whom it sent to last, + 1 */
    uint32_t polled;    /* generalized requests with a poll function */
    uint32_t channels;  /* partitioned sends it has initialised */
};

struct mpi_ext *mpi_ext_make(struct mpi_rank *self);
static inline struct mpi_ext *mpi_ext_get(struct mpi_rank *self)
{
    return self->ext ? self->ext : mpi_ext_make(self);
}

struct mpi_rare *mpi_rare_make(struct mpi_rank *self);
/* NULL if there is none; or made then. */
static inline struct mpi_rare *mpi_rare_find(const struct mpi_rank *self)
{
    return self->ext ? self->ext->rare : NULL;
}
static inline struct mpi_rare *mpi_rare_get(struct mpi_rank *self)
{
    struct mpi_rare *rare = mpi_rare_find(self);

    return rare ? rare : mpi_rare_make(self);
}

#endif
