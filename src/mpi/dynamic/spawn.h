/*
 * spawn.h - ranks that start during the run (MPI-4.0, 11.8): MPI_Comm_spawn, and the state of a
 * spawned rank.
 *
 * A run has room for a *universe* of ranks: those it starts with, and spares that exist only as
 * numbers (engine/rank_map.h). The agent of rank 0 assigns them, as a service (service.h): in order
 * of virtual time, so that the assignment does not depend on the schedule. It exists until the end
 * of the run (mpi_spawn_serves).
 *
 *     root ---------------------> agent of rank 0: numbers for the new ranks, their MPI_COMM_WORLD,
 *     group, commands, arguments                   the intercommunicator between them and parents
 *     root <--------------------- answer, after mpi.spawn_cost
 *     new rank <----------------- spawn message, likewise: it starts when this arrives
 *
 * A request is a struct spawn_head, the list of the parents' group, and for each command a struct
 * spawn_command and its texts. The texts are `soft` (may be empty), the working directory (empty:
 * that of the run), and the arguments from number 0 on, each with its terminator.
 */
#ifndef MPI_DYNAMIC_SPAWN_H
#define MPI_DYNAMIC_SPAWN_H

#include "base/buf.h"
#include "base/vtime.h"
#include "mpi/comm/app.h"

struct mpi_msg;

struct spawn_head {
    struct mpi_group_wire parents;
    uint64_t list; /* bytes of the list */
    uint32_t commands, spare;
};

struct spawn_command {
    int32_t processes; /* at most */
    int32_t argc;
    uint64_t texts; /* bytes of them */
};

/* The result of a request. It may be on the stack of the rank that waits for it. */
struct spawn_answer {
    int done, error; /* an MPI class */
    vtime arrival;
    mpi_comm_desc desc; /* of the intercommunicator, for the parents' side */
    int32_t *started;   /* receives the number of ranks of each command */
};

/* For the table of services (main/above.c). */
void spawn_serve(struct mpi_rank *self, struct mpi_msg *m, vtime t);
void spawn_reply(struct mpi_rank *self, struct mpi_msg *m);

/* A rank is about to run its program: a spawned one gets its state and arguments. May switch. */
void mpi_spawn_starting(struct mpi_rank *self, int *argc, char ***argv);
/* It has ended. Scheduler context. */
void mpi_spawn_ended(struct mpi_rank *);

/* Must the rank serve others when its program has ended? */
int mpi_spawn_serves(const struct mpi_rank *);

/* ---- spawn_command.c; nothing here switches ---- */

/* The largest number up to `most` that the info key "soft" allows, where `all` is always allowed;
 * -1: none. An empty text allows only `all`. */
int32_t spawn_soft(const char *soft, int32_t all, int32_t most);
/* Is it such a text? */
int spawn_soft_valid(const char *soft);

/* Is `command`, looked up as by MPI_Comm_spawn with these values of the info keys "path" and "wdir"
 * (or NULL), the program of this run? If not, stores the reason in `why`. The rank's context. */
int spawn_is_this_program(const char *command, const char *path, const char *wdir, struct buf *why);

#endif
