/*
 * above.h - what lower subfolders need from higher ones. Their order (tools/check-layers) applies
 * to calls, too: a subfolder calls lower ones by name, and higher ones through this table, which
 * main/above.c fills.
 *
 * The functions that lower subfolders call are declared in other headers (error.h, procs.h,
 * thread.h, clock.h, verify.h); above.c forwards them.
 */
#ifndef MPI_ABOVE_H
#define MPI_ABOVE_H

#include "mpi/verify.h"

struct mpi_service_ops;

struct mpi_above {
    /* error.h */
    void (*abort_run)(struct mpi_rank *self, int code, const char *why) __attribute__((noreturn));
    /* procs.h */
    void (*run_item)(uint32_t to, int tag, const void *data, size_t bytes);
    void (*run_spawned)(uint32_t rank, vtime when);
    /* thread.h, clock.h */
    void (*thread_enter)(void);
    void (*thread_leave)(int quiet);
    void (*yield)(struct mpi_rank *self);
    /* NULL: mpi_world.paced is not set. */
    vtime (*peek)(const struct mpi_rank *self);
    /* The rank has freed the communicator: higher subfolders drop what they keep for it. */
    void (*comm_left)(struct mpi_rank *self, const struct mpi_comm *c);
    /* verify.h */
    void (*verify_match)(const struct mpi_rank *self, const struct mpi_req *,
                         const struct mpi_msg *);
    void (*verify_coll)(struct mpi_rank *self, const struct mpi_comm *c,
                        const struct mpi_coll_args *, enum mpi_verify_way);
    void (*verify_parts)(const struct mpi_rank *self, const struct mpi_req *, uint64_t sent,
                         uint64_t received);
    /* Indexed by enum mpi_service (p2p/service.h). */
    const struct mpi_service_ops *services;
};

/* For mpi_world.above; the second if mpi_world.paced, the third if ranks stand for processes
 * outside. */
extern const struct mpi_above mpi_above, mpi_above_paced, mpi_above_live;

#endif
