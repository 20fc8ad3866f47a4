/*
 * bind.h - receives from any source whose source is chosen outside (`orrery hybrid --order real`):
 * the real MPI has chosen it, and here the same message is received, whenever it arrives.
 *
 * Such a receive is a decision that is never taken: it is *unbound*, and withholds its messages
 * from later receives, until mpi_bind names its source. From then on it is a receive from that
 * source. Its tag need not be known: of one source and communicator both take messages in the same
 * order.
 *
 * The process may be in a call of the real MPI, and its rank here blocked in the same call, when
 * only a match of an unbound receive lets others continue: the sender of a long message waits for
 * it. Then the message that came first is taken, as a *guess*. If the real MPI has chosen another
 * one, the two messages are exchanged: a later receive that has got the one that was taken gets the
 * other one here.
 *
 * A message that is received although another one, which the receive matches as well, arrives
 * earlier in virtual time is an *inversion*.
 */
#ifndef MPI_P2P_BIND_H
#define MPI_P2P_BIND_H

#include "mpi/p2p/p2p_internal.h"

/* From now on sources are chosen outside. */
void mpi_bind_begin(void);
/* The source of an unbound receive, or of a persistent one that is not started: a rank of its
 * communicator, or MPI_ANY_SOURCE. */
void mpi_bind(struct mpi_rank *self, struct mpi_req *, int source);
/* The posted receive of a request of MPI_Isendrecv; of all others, the request itself. */
struct mpi_req *mpi_bind_receive(struct mpi_rank *self, struct mpi_req *);
/* Makes an undecided receive from a named source unbound. */
void mpi_bind_hold(struct mpi_req *);
/* The source for the rank's next receive or probe from any source. */
void mpi_bind_next(struct mpi_rank *self, int source);
/* Takes that source, as a world rank: returns whether there was one. */
int mpi_bind_take(struct mpi_rank *self, const struct mpi_comm *, int32_t *source);
/* Before a receive from any source is posted: makes it one from the next source, and returns 1, or
 * makes it unbound. */
int mpi_bind_post(struct mpi_rank *self, struct mpi_req *);
/* A message is received, or seen by a probe, with that context and tag, from a source that was
 * chosen. */
void mpi_bind_seen(struct mpi_rank *self, uint32_t ctx, int32_t tag, const struct mpi_msg *);
/* Is there a message that the unbound receive may take? / any unbound one of the rank? */
struct mpi_msg *mpi_bind_candidate(struct mpi_rank *self, const struct mpi_req *);
int mpi_bind_any_candidate(struct mpi_rank *self);
/* Whether too few messages are here for the unbound ones of these requests. */
int mpi_bind_are_short(struct mpi_rank *self, int count, const MPI_Request *);
/* Whether the rank has the same messages here as in the real MPI: it has not guessed, or knows that
 * it was right. */
int mpi_bind_is_sure(struct mpi_rank *self);
/* Lets an unbound receive take the first message that it may take. */
void mpi_bind_guess(struct mpi_rank *self);
/* Inversions and guesses of all ranks of this process so far. */
uint64_t mpi_bind_inversions(void);
uint64_t mpi_bind_guesses(void);

#endif
