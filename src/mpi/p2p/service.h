/*
 * service.h - what a rank's agent does for others without its program, in order of time.
 *
 * A one-sided operation, a lock, a request to a file server is a message to the *agent* of a rank.
 * The agent serves messages in order of (arrival, source, order of sending), whatever the rank
 * itself is doing, and may answer. It runs in the rank's context, where the rank's memory is
 * loaded; like every decision, a message is served when no earlier one can still be created. One
 * from the rank itself is no exception, although no other message has so little lookahead.
 *
 * A reply needs no order: the rank that sent the request handles it at once, with the time it
 * carries.
 *
 * A service is one line in the table of main/above.c: serve(self, m, t) is called in order of time
 * t, reply(self, m) when an answer comes. Both own the message (engine_msg_free) and must neither
 * switch nor use self->ent.clock: the agent's time is t, or the message's arrival.
 */
#ifndef MPI_P2P_SERVICE_H
#define MPI_P2P_SERVICE_H

#include "mpi/p2p/p2p_internal.h"

enum mpi_service {
    MPI_SERVICE_RMA,
    MPI_SERVICE_IO,
    MPI_SERVICE_NAMES,
    MPI_SERVICE_SPAWN,
    MPI_SERVICE_COUNT
};

struct mpi_service_ops {
    void (*serve)(struct mpi_rank *self, struct mpi_msg *m, vtime t);
    void (*reply)(struct mpi_rank *self, struct mpi_msg *m);
    /* From t on, the sender need not wait for the message sent with mpi_service_cookie(..., what).
     * NULL if nobody waits. */
    void (*sent)(struct mpi_rank *self, void *what, vtime t);
};

/* A new message to the agent of world rank dst. Tag, ctx, cookie, bytes and payload are the
 * service's own (they are 0). */
struct mpi_msg *mpi_service_new(struct mpi_rank *self, uint32_t dst, enum mpi_service service,
                                uint64_t payload);

/* The program sends it, in the order of all its messages. To keep that order on every device, pass
 * the arrival of the previous message as `not_before`. */
struct device_sent mpi_service_send(struct mpi_msg *m, struct device_send);
/* Sends a message in response to an answer, whatever the program does. It keeps no order. */
void mpi_service_send_on(struct mpi_msg *m, uint64_t bytes, vtime t);

/* Creates an answer to `m`, with room for a payload and a copy of its cookie; sends it at time
 * t. */
struct mpi_msg *mpi_service_answer(struct mpi_rank *self, const struct mpi_msg *m,
                                   uint64_t payload);
void mpi_service_reply(struct mpi_msg *answer, uint64_t bytes, vtime t);

/* What a notice returns: the address of something of the service, aligned to 8 bytes. */
#define MPI_SERVICE_BITS 7u
_Static_assert(MPI_SERVICE_COUNT < MPI_SERVICE_BITS, "a service fits into the lowest bits");
static inline uint64_t mpi_service_cookie(enum mpi_service service, const void *what)
{
    return (uintptr_t)what | ((uint64_t)service + 1);
}
static inline int mpi_service_owns(uint64_t cookie)
{
    return (cookie & MPI_SERVICE_BITS) != 0;
}

/* The rank, which has sent a request, waits until the answer has set *done, and until its arrival;
 * `shown` describes the wait in reports. May switch. */
void mpi_service_await(struct mpi_rank *self, const int *done, const vtime *arrival,
                       struct mpi_req *shown);

/* ---- for match.c ---- */
/* A message of a service has arrived. */
void mpi_service_arrive(struct mpi_rank *self, struct mpi_msg *m);
void mpi_service_replied(struct mpi_rank *self, struct mpi_msg *m);
/* A notice with a service's cookie; the caller frees it. */
void mpi_service_sent(struct mpi_rank *self, const struct mpi_msg *m);
/* When the next message is due to be served, or VTIME_NEVER. */
vtime mpi_service_due(const struct mpi_rank *self);
/* Serves it. */
void mpi_service_next(struct mpi_rank *self);

static inline int mpi_has_services(const struct mpi_rank *self)
{
    return self->ext && self->ext->services;
}

#endif
