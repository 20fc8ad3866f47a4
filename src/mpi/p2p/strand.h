/*
 * strand.h - strands of a rank: operations that run concurrently with the program in virtual time.
 *
 * A non-blocking collective is the code of the blocking one, run in a strand: it has its own clock,
 * which starts with the rank's at the call and advances with its messages, whatever the program
 * does meanwhile - the network interface makes progress by itself. A strand runs in the rank's
 * context whenever the rank handles messages; it uses the times that the messages carry, so it does
 * not matter when that is.
 *
 * Inside a strand `self->ent.clock` is the strand's clock, mpi_block suspends the strand instead of
 * the rank, and blocking code works unchanged, except for one rule: a request that is waited for
 * must not be on the stack, since that is not loaded while the strand waits (mpi_strand_reqs).
 * Strands may not take decisions that are due at their clock (no wildcard, no test).
 */
#ifndef MPI_P2P_STRAND_H
#define MPI_P2P_STRAND_H

#include "mpi/ext.h"
#include "mpi/p2p/p2p.h"

struct mpi_strand {
    struct mpi_strand *next;
    struct vp_strand vp;
    vtime clock;
    const struct mpi_req *awaits; /* what it waits for; NULL: anything */
    void (*fn)(struct mpi_rank *self, void *arg);
    void *arg;
    int32_t tag_shift; /* added to the tags of collective messages sent and received in it */
};

/* The strand that is running, or NULL. */
extern struct mpi_strand *mpi_strand_current;

static inline int mpi_has_strands(const struct mpi_rank *self)
{
    return self->ext && self->ext->strands;
}

/* Runs fn(self, arg) as a strand from the rank's present clock on; it runs at once until it has to
 * wait. fn must announce its own end (by completing a request at self->ent.clock). Collective
 * messages in it get tags shifted by `tag_shift`. May be called from within a strand: that one
 * continues first, and the new one starts with its clock. Never switches ranks. */
void mpi_strand_start(struct mpi_rank *self, void (*fn)(struct mpi_rank *, void *), void *arg,
                      int32_t tag_shift);

/* Runs the strands whose requests are complete, until there are none. Returns whether any ran.
 * Nothing happens inside a strand. */
int mpi_strands_run(struct mpi_rank *self);

/* Suspends the running strand until `awaits` is complete (NULL: until anything happens). */
void mpi_strand_wait(struct mpi_rank *self, const struct mpi_req *awaits);

/* `n` zeroed requests that stay in memory while the strand waits; NULL outside strands, where the
 * caller's stack suffices. */
struct mpi_req *mpi_strand_reqs(uint32_t n);
void mpi_strand_reqs_free(struct mpi_req *, uint32_t n);

/* The current tag shift of collective messages. */
static inline int32_t mpi_strand_tag(void)
{
    return __builtin_expect(mpi_strand_current != NULL, 0) ? mpi_strand_current->tag_shift : 0;
}

#endif
