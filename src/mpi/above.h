/*
 * above.h - what lower rooms need of higher ones. Their order (tools/check-layers) holds for calls, too: a room calls
 * those below it by name, and what is above it through this table, which main/above.c fills.
 *
 * The functions that lower rooms call are in headers of their own (error.h, team.h, thread.h, clock.h, verify.h);
 * above.c passes them on.
 */
#ifndef MPI_ABOVE_H
#define MPI_ABOVE_H

#include "mpi/verify.h"

struct mpi_service_ops;

struct mpi_above {
    /* error.h */
    void (*abort_run)(struct mpi_rank *self, int code, const char *why) __attribute__((noreturn));
    void (*timed_out)(struct mpi_rank *self) __attribute__((noreturn));
    /* team.h */
    void (*team_item)(uint32_t to, int tag, const void *data, size_t bytes);
    void (*team_spawned)(uint32_t rank, vtime when);
    /* thread.h, clock.h */
    void (*thread_enter)(void);
    void (*thread_leave)(int quiet);
    void (*yield)(struct mpi_rank *self);
    /* The rank has given up the communicator: rooms above forget what they keep of it. */
    void (*comm_left)(struct mpi_rank *self, const struct mpi_comm *c);
    /* verify.h */
    void (*verify_match)(const struct mpi_rank *self, const struct mpi_req *,
                         const struct mpi_msg *);
    void (*verify_coll)(struct mpi_rank *self, const struct mpi_comm *c,
                        const struct mpi_coll_args *, enum mpi_verify_way);
    /* By enum mpi_service (p2p/service.h). */
    const struct mpi_service_ops *services;
};

/* For mpi_world.above. */
extern const struct mpi_above mpi_above;

#endif
