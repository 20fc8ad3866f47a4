/*
 * ext.h - state that only some ranks need, allocated when first needed.
 *
 * The first 64 bytes hold all that the path of messages reads, and the rank's other state
 * (state.h). The rest is only for certain programs, machines and options.
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
    struct mpi_posted_index *posted; /* posted receives by kind, when there are many */
    struct mpi_early_index *index;   /* early messages by source, when there are many */
    struct mpi_strand *strands;      /* strand.c: suspended strands, oldest first: tail of a ring */
    struct mpi_service_queue *services; /* service.c: messages to be served in order of time */
    vtime decided;                      /* time of the rank's last wildcard decision */
    uint32_t orphans;                   /* requests freed before they were complete */
    uint32_t have;                      /* state.h: which kinds of state the rank keeps */
    void **kept;                        /* state.h: the states */
    struct mpi_rare *rare;              /* NULL until needed */
};
_Static_assert(sizeof(struct mpi_ext) == 64, "what is for messages is in 64 bytes");

struct mpi_rare {
    struct mpi_app *app;               /* dynamic/spawn.c: the rank was spawned */
    struct mpi_call_list *calls;       /* stats.c: per function, if requested */
    uint64_t sent;                     /* p2p/seen.c: messages sent so far, if they are observed */
    struct processor_state *processor; /* of the processor models (processor/processor.h) */
    vtime looked;       /* p2p/costs.c: when it last looked for messages, + 1, if that matters */
    uint32_t receives;  /* p2p/costs.c: started by the program and not completed, if that matters */
    uint32_t last_peer; /* p2p/costs.c: the rank it last sent to, + 1 */
    struct mpi_waits *waits; /* p2p/costs.c: when it waited lately, if receiving costs time */
    vtime ended;             /* when what the program does not wait for has ended so far */
    uint32_t polled;         /* generalized requests with a poll function */
    uint32_t channels;       /* partitioned sends it has initialised */
};

struct mpi_ext *mpi_ext_make(struct mpi_rank *self);
static inline struct mpi_ext *mpi_ext_get(struct mpi_rank *self)
{
    return self->ext ? self->ext : mpi_ext_make(self);
}

struct mpi_rare *mpi_rare_make(struct mpi_rank *self);
/* NULL if there is none / allocated if there is none. */
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
