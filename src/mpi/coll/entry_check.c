/*
 * entry_check.c - checks of the arguments of a collective call that the entries leave to it:
 * handles, buffers, and what depends on both. The entries have checked root, counts and arrays
 * (CHECKS in api/mpi_functions.txt). Nothing here switches, but mpi_raise may end the run or call
 * the program's error handler.
 */
#include "mpi/coll/entry_check.h"

#include "mpi/p2p/p2p_internal.h"

#define COLD __attribute__((cold, noinline))
#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- errors ---- */

COLD static int bad_comm(struct mpi_rank *self, MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return mpi_raise(self, comm, MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
    if (!mpi_comm_get(comm))
        return mpi_raise(self, comm, MPI_ERR_COMM, "0x%08x is not a communicator", (unsigned)comm);
    return mpi_raise(self, comm, MPI_ERR_COMM, "the call is not defined on intercommunicators");
}

COLD static int bad_items(struct mpi_rank *self, MPI_Comm comm, const void *buf, int64_t count,
                          const struct mpi_type *type)
{
    if (!type)
        return mpi_raise(self, comm, MPI_ERR_TYPE,
                         "the datatype is MPI_DATATYPE_NULL or not a datatype");
    if (!type->committed)
        return mpi_raise(self, comm, MPI_ERR_TYPE, "datatype 0x%08x has not been committed",
                         (unsigned)type->handle);
    if (buf == MPI_IN_PLACE)
        return mpi_raise(self, comm, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed here");
    return mpi_raise(self, comm, MPI_ERR_BUFFER, "null buffer for %lld items", (long long)count);
}

COLD static int bad_op(struct mpi_rank *self, MPI_Comm comm, const struct mpi_coll_args *a)
{
    if (!a->op)
        return mpi_raise(self, comm, MPI_ERR_OP,
                         "the operation is MPI_OP_NULL or not an operation");
    return mpi_raise(self, comm, MPI_ERR_OP, "the operation is not defined on %s",
                     mpi_type_name(a->rtype));
}

COLD static int bad_alias(struct mpi_rank *self, MPI_Comm comm)
{
    return mpi_raise(self, comm, MPI_ERR_BUFFER,
                     "send and receive buffer are the same; use MPI_IN_PLACE");
}

int coll_failed(struct mpi_rank *self, MPI_Comm comm, int error_class)
{
    char text[MPI_MISFIT_TEXT];

    if (mpi_misfit_text(self, text, sizeof text))
        return mpi_raise(self, comm, error_class, "%s: counts or datatypes differ between ranks",
                         text);
    if (error_class == MPI_ERR_TRUNCATE)
        return mpi_raise(self, comm, error_class,
                         "a message was longer than its receiver expected: counts or datatypes "
                         "differ between ranks");
    if (error_class == MPI_ERR_OTHER)
        return mpi_raise(self, comm, error_class,
                         "messages had other lengths than expected: counts or datatypes differ "
                         "between ranks");
    return mpi_raise(self, comm, error_class, "the collective failed");
}

/* ---- communicator, root, buffers ---- */

static int is_root(const struct mpi_rank *self, const struct mpi_comm *c, int root)
{
    return c->remote ? root == MPI_ROOT : mpi_comm_my_rank(c, self) == root;
}

/* Does the caller act as a non-root rank? So does the root, if it is in the same group. */
static int is_leaf(const struct mpi_comm *c, int root)
{
    return !c->remote || root >= 0;
}

static int is_in_place(const struct mpi_comm *c, const void *buf)
{
    return buf == MPI_IN_PLACE && !c->remote;
}

/* Checks a buffer of count items. The null
 * address is valid for no items, for absolute addresses (MPI_BOTTOM), and for types without
 * data. */
static int items_ok(const void *buf, int64_t count, const struct mpi_type *type)
{
    return type && type->committed && buf != MPI_IN_PLACE &&
           (buf || !count || type->true_lb || !type->size);
}

static int is_alias(const struct mpi_comm *c, const struct mpi_coll_args *a, uint64_t count)
{
    return a->sbuf == a->rbuf && a->sbuf && count > 0 && !c->remote && !mpi_is_hollow(a->sbuf);
}

static void set_place(const struct mpi_rank *self, const struct mpi_comm *c,
                      struct mpi_coll_args *a)
{
    a->rank = mpi_comm_my_rank(c, self);
    a->size = (int)c->group->size;
}

/* ---- a side of a call ---- */

enum form { ONE = 0, BLOCKS, TYPED_BLOCKS };
static const uint8_t send_form[MPI_COLL_OPS] = {
    [MPI_COLL_scatterv] = BLOCKS,
    [MPI_COLL_alltoallv] = BLOCKS,
    [MPI_COLL_alltoallw] = TYPED_BLOCKS,
    [MPI_COLL_neighbor_alltoallv] = BLOCKS,
    [MPI_COLL_neighbor_alltoallw] = TYPED_BLOCKS,
};
static const uint8_t recv_form[MPI_COLL_OPS] = {
    [MPI_COLL_gatherv] = BLOCKS,
    [MPI_COLL_allgatherv] = BLOCKS,
    [MPI_COLL_alltoallv] = BLOCKS,
    [MPI_COLL_alltoallw] = TYPED_BLOCKS,
    [MPI_COLL_neighbor_allgatherv] = BLOCKS,
    [MPI_COLL_neighbor_alltoallv] = BLOCKS,
    [MPI_COLL_neighbor_alltoallw] = TYPED_BLOCKS,
};

struct side {
    const void *buf, *counts, *displs, *types;
    struct mpi_type *type; /* of all blocks, unless there are types */
    enum form form;
};

/* `n` blocks. */
static int check_blocks(struct mpi_rank *self, MPI_Comm comm, const struct mpi_coll_args *a,
                        const struct side *s, uint32_t n)
{
    struct mpi_type *type = s->form == BLOCKS ? s->type : NULL;

    if (s->buf == MPI_IN_PLACE) /* the arrays were not checked */
        return bad_items(self, comm, s->buf, 0, coll_byte());
    for (uint32_t i = 0; i < n; i++) {
        int64_t count = (int64_t)coll_count(a, s->counts, (int)i);
        /* A block has an address if the buffer has one, or if it is displaced from the null
         * address. */
        const void *at = s->buf || coll_displ(a, s->displs, (int)i) ? s->counts : NULL;

        if (s->form == TYPED_BLOCKS && !count) /* the type does not matter */
            continue;
        if (s->form == TYPED_BLOCKS)
            type = coll_type(a, s->types, (int)i);
        if (!items_ok(at, count, type))
            return bad_items(self, comm, s->buf, count, type);
    }
    return MPI_SUCCESS;
}

static int check_send(struct mpi_rank *self, MPI_Comm comm, const struct mpi_coll_args *a,
                      uint32_t n)
{
    if (send_form[a->op_id] == ONE) {
        if (items_ok(a->sbuf, (int64_t)a->scount, a->stype))
            return MPI_SUCCESS;
        return bad_items(self, comm, a->sbuf, (int64_t)a->scount, a->stype);
    }
    struct side s = {a->sbuf,   a->scounts, a->sdispls,
                     a->stypes, a->stype,   (enum form)send_form[a->op_id]};
    return check_blocks(self, comm, a, &s, n);
}

static int check_recv(struct mpi_rank *self, MPI_Comm comm, const struct mpi_coll_args *a,
                      uint32_t n)
{
    if (recv_form[a->op_id] == ONE) {
        if (items_ok(a->rbuf, (int64_t)a->rcount, a->rtype))
            return MPI_SUCCESS;
        return bad_items(self, comm, a->rbuf, (int64_t)a->rcount, a->rtype);
    }
    struct side s = {a->rbuf,   a->rcounts, a->rdispls,
                     a->rtypes, a->rtype,   (enum form)recv_form[a->op_id]};
    return check_blocks(self, comm, a, &s, n);
}

/* ---- the calls ---- */

int coll_check_comm(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a)
{
    struct mpi_comm *c = mpi_comm_get(comm);

    if (unlikely(!c))
        return bad_comm(self, comm);
    set_place(self, c, a);
    return MPI_SUCCESS;
}

int coll_check_bcast(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a)
{
    struct mpi_comm *c = mpi_comm_get(comm);

    if (unlikely(!c))
        return bad_comm(self, comm);
    if (unlikely(a->root != MPI_PROC_NULL && !items_ok(a->rbuf, (int64_t)a->rcount, a->rtype)))
        return bad_items(self, comm, a->rbuf, (int64_t)a->rcount, a->rtype);
    set_place(self, c, a);
    return MPI_SUCCESS;
}

int coll_check_gather(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    int rc = MPI_SUCCESS;

    if (unlikely(!c))
        return bad_comm(self, comm);
    int root = is_root(self, c, a->root), leaf = is_leaf(c, a->root);
    if (leaf && !(root && a->sbuf == MPI_IN_PLACE))
        rc = check_send(self, comm, a, 0);
    if (!rc && root)
        rc = check_recv(self, comm, a, mpi_comm_peers(c));
    if (!rc && root && leaf && is_alias(c, a, a->scount))
        rc = bad_alias(self, comm);
    set_place(self, c, a);
    return rc;
}

int coll_check_scatter(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    int rc = MPI_SUCCESS;

    if (unlikely(!c))
        return bad_comm(self, comm);
    int root = is_root(self, c, a->root), leaf = is_leaf(c, a->root);
    if (leaf && !(root && a->rbuf == MPI_IN_PLACE))
        rc = check_recv(self, comm, a, 0);
    if (!rc && root)
        rc = check_send(self, comm, a, mpi_comm_peers(c));
    if (!rc && root && leaf && is_alias(c, a, a->rcount))
        rc = bad_alias(self, comm);
    set_place(self, c, a);
    return rc;
}

/* Would the blocks that the rank sends to itself overlap or coincide? */
static int keeps_alias(const struct mpi_comm *c, const struct mpi_coll_args *a)
{
    if (c->remote || !a->sbuf || a->sbuf == MPI_IN_PLACE || mpi_is_hollow(a->sbuf))
        return 0;
    if (send_form[a->op_id] != ONE)
        return a->sbuf == a->rbuf && coll_count(a, a->scounts, a->rank) &&
               coll_count(a, a->rcounts, a->rank);
    if (a->sbuf == a->rbuf || !a->scount || a->op_id == MPI_COLL_alltoall)
        return a->sbuf == a->rbuf && a->scount;
    return a->sbuf == coll_recv_block(a, a->rank).buf;
}

int coll_check_all(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    int rc = MPI_SUCCESS;

    if (unlikely(!c))
        return bad_comm(self, comm);
    if (!is_in_place(c, a->sbuf))
        rc = check_send(self, comm, a, mpi_comm_peers(c));
    if (!rc)
        rc = check_recv(self, comm, a, mpi_comm_peers(c));
    set_place(self, c, a);
    if (!rc && keeps_alias(c, a))
        rc = bad_alias(self, comm);
    return rc;
}

int coll_check_neighbor(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    int sends, receives, rc;

    if (unlikely(!c || c->remote))
        return bad_comm(self, comm);
    if (unlikely(!c->topo))
        return mpi_raise(self, comm, MPI_ERR_TOPOLOGY, "the communicator has no topology");
    coll_count_blocks(self, c, a->op_id, &sends, &receives);
    rc = check_send(self, comm, a, (uint32_t)sends);
    if (!rc)
        rc = check_recv(self, comm, a, (uint32_t)receives);
    if (!rc && send_form[a->op_id] == ONE && is_alias(c, a, a->scount))
        rc = bad_alias(self, comm);
    set_place(self, c, a);
    return rc;
}

/* ---- reductions ---- */

static int op_ok(const struct mpi_op *op, const struct mpi_type *type)
{
    return op && mpi_op_check(op, type) == MPI_SUCCESS;
}

int coll_check_reduce(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a)
{
    struct mpi_comm *c = mpi_comm_get(comm);

    if (unlikely(!c))
        return bad_comm(self, comm);
    set_place(self, c, a);
    if (a->root == MPI_PROC_NULL) /* does not take part */
        return MPI_SUCCESS;
    int root = is_root(self, c, a->root), leaf = is_leaf(c, a->root);
    if (leaf && !(root && a->sbuf == MPI_IN_PLACE) &&
        !items_ok(a->sbuf, (int64_t)a->rcount, a->rtype))
        return bad_items(self, comm, a->sbuf, (int64_t)a->rcount, a->rtype);
    if (root && !items_ok(a->rbuf, (int64_t)a->rcount, a->rtype))
        return bad_items(self, comm, a->rbuf, (int64_t)a->rcount, a->rtype);
    if (unlikely(!op_ok(a->op, a->rtype)))
        return bad_op(self, comm, a);
    return root && leaf && is_alias(c, a, a->rcount) ? bad_alias(self, comm) : MPI_SUCCESS;
}

/* Items in all of a reduce_scatter, up to 1. */
static int64_t some_items(const struct mpi_coll_args *a)
{
    for (int i = 0; i < a->size; i++)
        if (coll_count(a, a->rcounts, i))
            return 1;
    return 0;
}

/* The first rank of an exscan, and one that gets no items of a reduce_scatter, may have no receive
 * buffer. */
static int needs_recv(const struct mpi_coll_args *a)
{
    return a->op_id == MPI_COLL_exscan           ? a->rank != 0
           : a->op_id == MPI_COLL_reduce_scatter ? coll_count(a, a->rcounts, a->rank) != 0
                                                 : 1;
}

int coll_check_fold(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a)
{
    struct mpi_comm *c = mpi_comm_get(comm);

    if (unlikely(!c || (c->remote && (a->op_id == MPI_COLL_scan || a->op_id == MPI_COLL_exscan))))
        return bad_comm(self, comm);
    set_place(self, c, a);
    int64_t items = (int64_t)a->rcount;
    if (unlikely(a->op_id == MPI_COLL_reduce_scatter))
        items = some_items(a);
    if (unlikely(!items_ok(a->rbuf || needs_recv(a) ? a->rbuf : a, items, a->rtype)))
        return bad_items(self, comm, a->rbuf, items, a->rtype);
    if (unlikely(!is_in_place(c, a->sbuf) && !items_ok(a->sbuf, items, a->rtype)))
        return bad_items(self, comm, a->sbuf, items, a->rtype);
    if (unlikely(!op_ok(a->op, a->rtype)))
        return bad_op(self, comm, a);
    return is_alias(c, a, (uint64_t)items) ? bad_alias(self, comm) : MPI_SUCCESS;
}
