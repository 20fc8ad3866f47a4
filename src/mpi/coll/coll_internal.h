/*
 * coll_internal.h - what the collective algorithms share. Not included outside this folder.
 *
 * Algorithms return an MPI error class. They need not handle zero bytes or a single rank:
 * coll_table.c does that first.
 *
 * A message that does not fit is an error at its receiver, which still sends and receives all that
 * others rely on: errors are collected by `rc |= ...`, and the call fails at the end. Different
 * classes (MPI_ERR_OP, MPI_ERR_TRUNCATE, MPI_ERR_OTHER) combine to MPI_ERR_OTHER.
 */
#ifndef MPI_COLL_INTERNAL_H
#define MPI_COLL_INTERNAL_H

#include <stddef.h>

#include "base/mem.h"
#include "mpi/coll/coll.h"
#include "mpi/coll/message.h"
#include "mpi/comm/comm.h"
#include "mpi/datatype/datatype.h"
#include "mpi/op/op.h"
#include "mpi/p2p/p2p.h"
#include "mpi/p2p/tags.h"

#define COLL_DECLARE(operation, name, needs)                                 \
    int coll_##operation##_##name(struct mpi_rank *self, struct mpi_comm *c, \
                                  const struct mpi_coll_args *a);
MPI_COLL_ALGORITHMS(COLL_DECLARE)
#undef COLL_DECLARE

_Static_assert((MPI_ERR_OP | MPI_ERR_TRUNCATE) == MPI_ERR_OTHER &&
                   (MPI_ERR_OP | MPI_ERR_OTHER) == MPI_ERR_OTHER &&
                   (MPI_ERR_TRUNCATE | MPI_ERR_OTHER) == MPI_ERR_OTHER,
               "classes can be or'ed");

/* Requests in flight at most, where a rank exchanges with all others. */
#define COLL_WINDOW 32
/* Bytes of a segment of a pipeline. */
#define COLL_SEGMENT 8192

static inline int coll_min(int a, int b)
{
    return a < b ? a : b;
}

/* Ranks around the ring, for 0 <= step <= size. */
static inline int coll_after(const struct mpi_coll_args *a, int rank, int step)
{
    return (int)(((int64_t)rank + step) % a->size);
}
static inline int coll_before(const struct mpi_coll_args *a, int rank, int step)
{
    return (int)(((int64_t)rank + a->size - step) % a->size);
}

static inline int coll_is_pow2(int n)
{
    return (n & (n - 1)) == 0;
}
/* The largest power of two <= n, n > 0. */
static inline int coll_pow2_below(int n)
{
    return (int)(1u << (31 - __builtin_clz((unsigned)n)));
}

/* Item i of a buffer. */
static inline void *coll_at(const void *buf, int64_t i, const struct mpi_type *type)
{
    return (char *)(uintptr_t)buf + i * type->extent;
}

static inline struct mpi_type *coll_byte(void)
{
    return &mpi_type_builtins[MPI_BYTE & 0xff];
}

/* ---- element i of the arrays of a call ---- */
static inline uint64_t coll_count(const struct mpi_coll_args *a, const void *counts, int i)
{
    return a->arrays & COLL_WIDE_COUNTS ? (uint64_t)((const MPI_Count *)counts)[i]
                                        : (uint64_t)((const int *)counts)[i];
}
static inline int64_t coll_displ(const struct mpi_coll_args *a, const void *displs, int i)
{
    return a->arrays & COLL_WIDE_DISPLS ? (int64_t)((const MPI_Aint *)displs)[i]
                                        : ((const int *)displs)[i];
}
static inline struct mpi_type *coll_type(const struct mpi_coll_args *a, const void *types, int i)
{
    return a->arrays & COLL_OWN_TYPES ? ((struct mpi_type *const *)types)[i]
                                      : mpi_type_get(((const MPI_Datatype *)types)[i]);
}

/* Are the caller's buffers hollow? Then all that it uses are (hollow.c), except MPI_IN_PLACE. */
static inline int coll_is_hollow(const struct mpi_coll_args *a)
{
    return mpi_is_hollow(a->rbuf) || mpi_is_hollow(a->sbuf);
}

/* Temporary buffers of a call, which are hollow if the call is: room for count items of a type,
 * addressed like a user's buffer of them; and for n bytes. */
void *coll_items_alloc(const struct mpi_coll_args *a, const struct mpi_type *type, uint64_t count);
void coll_items_free(void *items, const struct mpi_type *type, uint64_t count);
char *coll_bytes_alloc(const struct mpi_coll_args *a, uint64_t n);
void coll_bytes_free(char *bytes);

/* Copies items between buffers of the same type. */
static inline void coll_copy(const void *from, void *to, uint64_t count,
                             const struct mpi_type *type)
{
    mpi_type_copy(from, count, type, to, count, type);
}

/* acc = in op acc if `in` comes from lower ranks, else acc op in. May clobber `in`. */
int coll_fold(const struct mpi_coll_args *a, void *acc, void *in, uint64_t count, int in_is_lower);

/* A broadcast's message as bytes: the buffer itself, or a copy (packed at the root), which is
 * unpacked if wanted and freed by coll_unflatten. */
char *coll_flatten(const struct mpi_coll_args *a);
void coll_unflatten(const struct mpi_coll_args *a, char *bytes, int unpack);

/* Signals of a barrier. */
static inline int coll_signal(struct mpi_rank *self, struct mpi_comm *c, int to)
{
    return mpi_coll_send(self, c, NULL, 0, coll_byte(), to, MPI_TAG_BARRIER);
}
static inline int coll_await(struct mpi_rank *self, struct mpi_comm *c, int from)
{
    return mpi_coll_recv(self, c, NULL, 0, coll_byte(), from, MPI_TAG_BARRIER);
}

/* Am I the root of the call? */
static inline int coll_is_root(const struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return c->remote ? a->root == MPI_ROOT : a->root == a->rank;
}

/* The buffer of my contribution to a reduction. */
static inline const void *coll_source(const struct mpi_coll_args *a)
{
    return a->sbuf == MPI_IN_PLACE ? a->rbuf : a->sbuf;
}

/*
 * A run of ranks [first, first + n) around the ring as one packed stream of bytes, `nb` bytes per
 * rank, to or from a buffer with a block of count items per rank.
 */
void coll_pack_ring(const struct mpi_coll_args *a, const void *buf, uint64_t count,
                    const struct mpi_type *type, int first, int n, char *out);
void coll_unpack_ring(const struct mpi_coll_args *a, void *buf, uint64_t count,
                      const struct mpi_type *type, int first, int n, const char *in);

/* What I send to rank i, or receive from it, in a collective with a block per rank. */
struct coll_block {
    void *buf;
    uint64_t count;
    struct mpi_type *type;
};
struct coll_block coll_send_block(const struct mpi_coll_args *a, int i);
struct coll_block coll_recv_block(const struct mpi_coll_args *a, int i);

static inline uint64_t coll_block_bytes(const struct coll_block *b)
{
    return b->count * b->type->size;
}

/* Packs the block of the result that is rank i's, or unpacks it; returns the end of its bytes. */
static inline char *coll_move_block(const struct mpi_coll_args *a, int i, char *bytes, int unpack)
{
    struct coll_block b = coll_recv_block(a, i);
    if (unpack)
        mpi_type_unpack(b.type, b.count, b.buf, bytes, coll_block_bytes(&b));
    else
        mpi_type_pack(b.type, b.count, b.buf, bytes);
    return bytes + coll_block_bytes(&b);
}

/* A message to myself: MPI_ERR_TRUNCATE if it does not fit. */
int coll_copy_block(const struct coll_block *from, const struct coll_block *to);
/* The block that a rank sends to itself, unless it is in place. */
int coll_copy_own(const struct mpi_coll_args *a);

/* Items of rank i's block of the result: reduce_scatter and reduce_scatter_block. */
static inline uint64_t coll_block_count(const struct mpi_coll_args *a, int i)
{
    return a->op_id == MPI_COLL_reduce_scatter ? coll_count(a, a->rcounts, i) : a->rcount;
}
/* Items of the blocks [from, to). O(to - from) for reduce_scatter. */
uint64_t coll_block_sum(const struct mpi_coll_args *a, int from, int to);

/* Powers of two from any number of ranks: the first 2 * rem ranks form pairs, one rank of which
 * continues. Ranks that continue are renumbered 0..pow2-1. */
struct coll_pow2 {
    int pow2, rem;
    int me; /* my new rank, -1 if I do not continue */
};
static inline void coll_pow2_init(struct coll_pow2 *p, const struct mpi_coll_args *a)
{
    p->pow2 = coll_pow2_below(a->size);
    p->rem = a->size - p->pow2;
    p->me = a->rank >= 2 * p->rem ? a->rank - p->rem : a->rank % 2 ? a->rank / 2 : -1;
}
/* The rank of a new rank: the upper one of a pair continues. */
static inline int coll_pow2_rank(const struct coll_pow2 *p, int new_rank)
{
    return new_rank < p->rem ? 2 * new_rank + 1 : new_rank + p->rem;
}

/* ---- teams (coll_team.c): some ranks of a communicator, numbered 0 to n - 1 ---- */
struct coll_team {
    const int *member; /* ranks; NULL: those from `base` on */
    int base, n;
    int me; /* my number */
};
static inline int coll_team_rank(const struct coll_team *t, int i)
{
    return t->member ? t->member[i] : t->base + i;
}
/* The half of a barrier up a binomial tree to number 0, and the half down. */
int coll_team_collect(struct mpi_rank *self, struct mpi_comm *c, const struct coll_team *t);
int coll_team_release(struct mpi_rank *self, struct mpi_comm *c, const struct coll_team *t);
/* Down a binomial tree from number `top`. */
int coll_team_bcast(struct mpi_rank *self, struct mpi_comm *c, const struct coll_team *t, int top,
                    const struct coll_block *b, int tag);
/* Up a binomial tree to number `top`: acc holds each member's items, and at top the result in the
 * end; elsewhere it is clobbered. Numbers are in rank order if the operation does not commute. */
int coll_team_reduce(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                     const struct coll_team *t, int top, void *acc, int tag);
/* By recursive doubling: acc holds each member's items, then the result. */
int coll_team_allreduce(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                        const struct coll_team *t, void *acc, int tag);

/* ---- nodes (coll_nodes.c) ---- */
/* 1 if ranks share nodes, but not all one node; 2 if in addition those of each node are neighbours
 * in rank order. O(size) at the first call for a group, then O(1). */
int coll_nodes_shared(const struct mpi_comm *c);
/* All of these only if ranks share nodes. */
/* The node of a rank, and the rank's number in it. O(log size). */
int coll_nodes_index(const struct mpi_comm *c, int rank);
int coll_nodes_number(const struct mpi_comm *c, int rank);
/* The team of the ranks of my node; returns the node. */
int coll_nodes_team(const struct mpi_comm *c, int rank, struct coll_team *node);
/* The first ranks of all nodes; mine is that of node `me`. */
void coll_nodes_leads(const struct mpi_comm *c, int me, struct coll_team *leads);
/* The first ranks of all nodes as a group, which lives as long as c's. */
struct mpi_group *coll_nodes_group(const struct mpi_comm *c);
/* Runs `a` among the first ranks of nodes, each with the number of its node as its rank, by the
 * algorithm chosen for that many ranks. The rank and size in `a` are ignored. */
int coll_nodes_run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a,
                   int me);
/* The ranks of node i. */
void coll_nodes_team_of(const struct mpi_comm *c, int i, struct coll_team *node);

/* A neighbourhood collective (neighbor.c). */
int coll_neighbor(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a);
/* Blocks that the caller sends and receives in a call with a block for each peer or neighbour. */
void coll_count_blocks(const struct mpi_rank *self, const struct mpi_comm *c, int op_id, int *sends,
                       int *receives);

/* ---- coll_model.c ---- */
/* Runs a non-empty collective of several ranks by the cost model. */
int coll_model_run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a);
/* The time that the model adds for a call at this rank. */
vtime coll_model_time(const struct mpi_coll_args *a);

/* ---- numbers.c ---- */
/* The tag shift of the rank's next persistent collective on c, whenever it is started. */
int32_t coll_persistent_shift(struct mpi_rank *self, const struct mpi_comm *c);

#endif
