/*
 * ops_api.c - MPI_Put to MPI_Compare_and_swap, and the forms with a request (MPI-4.0 12.3).
 *
 * All of them check their arguments and the epoch here, in the same order as MPICH, and then make
 * one call of rma_issue.
 */
#include "mpi/op/op.h"
#include "mpi/rma/rma_internal.h"
#include "mpi/verify.h"
#include "mpi_impl.h"

/* ---- checks; each returns MPI_SUCCESS or raises ---- */

static int check_type(struct mpi_rank *self, MPI_Win win, MPI_Datatype handle, const char *side,
                      struct mpi_type **out)
{
    *out = mpi_type_get(handle);
    if (*out && (*out)->committed)
        return MPI_SUCCESS;
    return mpi_raise_win(self, win, MPI_ERR_TYPE, "the %s datatype 0x%08x is not %s", side,
                         (unsigned)handle, *out ? "committed" : "a datatype");
}

static int check_target(struct mpi_rank *self, const struct rma_win *w, const struct rma_access *a)
{
    if (a->target == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (a->target < 0 || (uint32_t)a->target >= w->comm->group->size)
        return mpi_raise_win(self, a->handle, MPI_ERR_RANK,
                             "rank %d is not in the window's group (size %u)", a->target,
                             w->comm->group->size);
    if (a->disp < 0 && w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return mpi_raise_win(self, a->handle, MPI_ERR_DISP,
                             "the target displacement is negative (%ld)", (long)a->disp);
    return MPI_SUCCESS;
}

/* Is there an epoch in which the rank may operate on the target? An open fence is now in use. */
static int check_epoch(struct mpi_rank *self, struct rma_win *w, const struct rma_access *a)
{
    const struct rma_peer *p;

    switch ((enum rma_epoch)w->epoch) {
    case RMA_EPOCH_FENCED:
        w->epoch = RMA_EPOCH_FENCE;
        return MPI_SUCCESS;
    case RMA_EPOCH_FENCE:
    case RMA_EPOCH_LOCK_ALL:
        return MPI_SUCCESS;
    case RMA_EPOCH_START:
        if (mpi_group_rank_of(w->start, mpi_comm_world_rank(w->comm, (uint32_t)a->target)) >= 0)
            return MPI_SUCCESS;
        return mpi_raise_win(self, a->handle, MPI_ERR_RMA_SYNC,
                             "rank %d is not in the group of MPI_Win_start", a->target);
    case RMA_EPOCH_LOCK:
        p = rma_peer_find(w, a->target);
        if (p && p->lock)
            return MPI_SUCCESS;
        return mpi_raise_win(self, a->handle, MPI_ERR_RMA_SYNC, "rank %d is not locked", a->target);
    case RMA_EPOCH_NONE:
        break;
    }
    return mpi_raise_win(self, a->handle, MPI_ERR_RMA_SYNC,
                         "no epoch: MPI_Win_fence, MPI_Win_start or MPI_Win_lock is missing");
}

/* The operation must be a predefined one, and be defined on the items. */
static int check_op(struct mpi_rank *self, const struct rma_access *a)
{
    const struct mpi_op *op = mpi_op_get(a->op);
    MPI_Datatype elem = a->type->elem;

    if (!op || op->kind == MPI_OP_USER)
        return mpi_raise_win(self, a->handle, MPI_ERR_OP, "0x%08x is not a predefined operation",
                             (unsigned)a->op);
    if (op->kind == MPI_OP_REPLACE || op->kind == MPI_OP_NO_OP)
        return MPI_SUCCESS;
    if (!elem && a->type->size)
        return mpi_raise_win(self, a->handle, MPI_ERR_TYPE,
                             "the target datatype is made of several basic types");
    if (a->type->size && !mpi_op_kernel_get((enum mpi_op_kind)op->kind, elem))
        return mpi_raise_win(self, a->handle, MPI_ERR_OP, "the operation is not defined on %s",
                             mpi_type_name(mpi_type_get(elem)));
    return MPI_SUCCESS;
}

/* The data of one side must fit at the other. */
static int check_fit(struct mpi_rank *self, const struct rma_access *a)
{
    uint64_t there = a->count * a->type->size;
    uint64_t out = a->out_type && a->op != MPI_NO_OP ? a->out_count * a->out_type->size : 0;

    if (out > there || (a->in_type && there > a->in_count * a->in_type->size))
        return mpi_raise_win(self, a->handle, MPI_ERR_TRUNCATE,
                             "the data does not fit: %llu bytes at the target",
                             (unsigned long long)there);
    return MPI_SUCCESS;
}

/* ---- common code ---- */

/* A request for the operation, complete if there is nothing to do. */
static void make_request(struct mpi_rank *self, const struct rma_win *w, struct rma_access *a,
                         MPI_Request *request)
{
    a->req = mpi_req_new(self);
    a->req->kind = MPI_REQ_WORK;
    a->req->mode = MPI_MODE_ONE_SIDED;
    a->req->peer = a->target < 0 ? -1 : (int32_t)mpi_comm_world_rank(w->comm, (uint32_t)a->target);
    mpi_req_keep(a->req, w->comm, a->type);
    *request = mpi_req_handle(a->req);
}

/* For --check: the types of what the rank sends, and gets, are those at the target. */
static void compare_sides(const struct mpi_rank *self, const struct rma_win *w,
                          const struct rma_access *a)
{
    struct mpi_sig there = mpi_sig_of(self, a->type, a->count), own;

    if (a->out_type && a->op != MPI_NO_OP) {
        own = mpi_sig_of(self, a->out_type, a->out_count);
        mpi_verify_target(self, w->comm, w->name, a->target, &own, &there);
    }
    if (a->in_type) {
        own = mpi_sig_of(self, a->in_type, a->in_count);
        mpi_verify_target(self, w->comm, w->name, a->target, &own, &there);
    }
}

static int perform(struct mpi_rank *self, struct rma_win *w, struct rma_access *a,
                   MPI_Request *request)
{
    int rc = check_target(self, w, a), nothing;

    if (!rc && a->target != MPI_PROC_NULL)
        rc = check_epoch(self, w, a);
    if (!rc)
        rc = check_fit(self, a);
    if (!rc && request && w->epoch < RMA_EPOCH_LOCK && a->target != MPI_PROC_NULL)
        rc = mpi_raise_win(self, a->handle, MPI_ERR_RMA_SYNC,
                           "operations with a request need MPI_Win_lock or MPI_Win_lock_all");
    if (rc)
        return rc;
    if (mpi_world.checking && a->target != MPI_PROC_NULL)
        compare_sides(self, w, a);
    nothing = a->target == MPI_PROC_NULL || a->count * a->type->size == 0;
    if (request)
        make_request(self, w, a, request);
    if (!nothing)
        rma_issue(self, w, a);
    else if (request)
        mpi_req_done(a->req, self->ent.clock, MPI_SUCCESS);
    return MPI_SUCCESS;
}

static int put(struct mpi_rank *self, const void *origin, MPI_Count count, MPI_Datatype type,
               struct rma_access *a, MPI_Count target_count, MPI_Datatype target_type,
               MPI_Request *request)
{
    struct rma_win *w;
    int rc = rma_check_win(self, a->handle, &w);

    if (!rc)
        rc = check_type(self, a->handle, type, "origin", &a->out_type);
    if (!rc)
        rc = check_type(self, a->handle, target_type, "target", &a->type);
    if (!rc && a->kind == RMA_ACCUMULATE)
        rc = check_op(self, a);
    if (rc)
        return rc;
    a->out = origin;
    a->out_count = (uint64_t)count;
    a->count = (uint64_t)target_count;
    return perform(self, w, a, request);
}

static int get(struct mpi_rank *self, void *origin, MPI_Count count, MPI_Datatype type,
               struct rma_access *a, MPI_Count target_count, MPI_Datatype target_type,
               MPI_Request *request)
{
    struct rma_win *w;
    int rc = rma_check_win(self, a->handle, &w);

    if (!rc)
        rc = check_type(self, a->handle, type, "origin", &a->in_type);
    if (!rc)
        rc = check_type(self, a->handle, target_type, "target", &a->type);
    if (rc)
        return rc;
    a->in = origin;
    a->in_count = (uint64_t)count;
    a->count = (uint64_t)target_count;
    return perform(self, w, a, request);
}

/* With MPI_NO_OP the origin's buffer, count and type are ignored. */
static int get_accumulate(struct mpi_rank *self, const void *origin, MPI_Count count,
                          MPI_Datatype type, void *result, MPI_Count result_count,
                          MPI_Datatype result_type, struct rma_access *a, MPI_Count target_count,
                          MPI_Datatype target_type, MPI_Request *request)
{
    struct rma_win *w;
    int rc = rma_check_win(self, a->handle, &w);

    if (!rc && a->op != MPI_NO_OP)
        rc = check_type(self, a->handle, type, "origin", &a->out_type);
    if (!rc)
        rc = check_type(self, a->handle, result_type, "result", &a->in_type);
    if (!rc)
        rc = check_type(self, a->handle, target_type, "target", &a->type);
    if (!rc)
        rc = check_op(self, a);
    if (rc)
        return rc;
    a->out = origin;
    a->out_count = (uint64_t)count;
    a->in = result;
    a->in_count = (uint64_t)result_count;
    a->count = (uint64_t)target_count;
    return perform(self, w, a, request);
}

/* ---- MPI calls ---- */

#define ACCESS(k, o)                                                                      \
    {                                                                                     \
        .kind = (k), .op = (o), .target = target_rank, .disp = target_disp, .handle = win \
    }

int mpi_put_c(struct mpi_rank *self, const void *origin_addr, MPI_Count origin_count,
              MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
              MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct rma_access a = ACCESS(RMA_PUT, MPI_OP_NULL);

    return put(self, origin_addr, origin_count, origin_datatype, &a, target_count, target_datatype,
               NULL);
}

int mpi_rput_c(struct mpi_rank *self, const void *origin_addr, MPI_Count origin_count,
               MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
               MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request *request)
{
    struct rma_access a = ACCESS(RMA_PUT, MPI_OP_NULL);

    return put(self, origin_addr, origin_count, origin_datatype, &a, target_count, target_datatype,
               request);
}

int mpi_accumulate_c(struct mpi_rank *self, const void *origin_addr, MPI_Count origin_count,
                     MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                     MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    struct rma_access a = ACCESS(RMA_ACCUMULATE, op);

    return put(self, origin_addr, origin_count, origin_datatype, &a, target_count, target_datatype,
               NULL);
}

int mpi_raccumulate_c(struct mpi_rank *self, const void *origin_addr, MPI_Count origin_count,
                      MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                      MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                      MPI_Request *request)
{
    struct rma_access a = ACCESS(RMA_ACCUMULATE, op);

    return put(self, origin_addr, origin_count, origin_datatype, &a, target_count, target_datatype,
               request);
}

int mpi_get_c(struct mpi_rank *self, void *origin_addr, MPI_Count origin_count,
              MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
              MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct rma_access a = ACCESS(RMA_GET, MPI_OP_NULL);

    return get(self, origin_addr, origin_count, origin_datatype, &a, target_count, target_datatype,
               NULL);
}

int mpi_rget_c(struct mpi_rank *self, void *origin_addr, MPI_Count origin_count,
               MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
               MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request *request)
{
    struct rma_access a = ACCESS(RMA_GET, MPI_OP_NULL);

    return get(self, origin_addr, origin_count, origin_datatype, &a, target_count, target_datatype,
               request);
}

int mpi_get_accumulate_c(struct mpi_rank *self, const void *origin_addr, MPI_Count origin_count,
                         MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                         MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                         MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                         MPI_Win win)
{
    struct rma_access a = ACCESS(RMA_GET_ACCUMULATE, op);

    return get_accumulate(self, origin_addr, origin_count, origin_datatype, result_addr,
                          result_count, result_datatype, &a, target_count, target_datatype, NULL);
}

int mpi_rget_accumulate_c(struct mpi_rank *self, const void *origin_addr, MPI_Count origin_count,
                          MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                          MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                          MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win, MPI_Request *request)
{
    struct rma_access a = ACCESS(RMA_GET_ACCUMULATE, op);

    return get_accumulate(self, origin_addr, origin_count, origin_datatype, result_addr,
                          result_count, result_datatype, &a, target_count, target_datatype,
                          request);
}

static int check_predefined(struct mpi_rank *self, MPI_Win win, MPI_Datatype handle)
{
    const struct mpi_type *t = mpi_type_get(handle);

    if (t && t->builtin)
        return MPI_SUCCESS;
    return mpi_raise_win(self, win, MPI_ERR_TYPE, "0x%08x is not a predefined datatype",
                         (unsigned)handle);
}

int mpi_fetch_and_op(struct mpi_rank *self, const void *origin_addr, void *result_addr,
                     MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Op op,
                     MPI_Win win)
{
    struct rma_access a = ACCESS(RMA_GET_ACCUMULATE, op);
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (!rc)
        rc = check_predefined(self, win, datatype);
    return rc ? rc
              : get_accumulate(self, origin_addr, 1, datatype, result_addr, 1, datatype, &a, 1,
                               datatype, NULL);
}

/* Integers of C and Fortran, logicals and bytes; characters as in MPICH. */
static int can_compare(MPI_Datatype type)
{
    return type == MPI_CHAR || type == MPI_LOGICAL || type == MPI_C_BOOL || type == MPI_CXX_BOOL ||
           mpi_op_kernel_get(MPI_OP_BAND, type);
}

int mpi_compare_and_swap(struct mpi_rank *self, const void *origin_addr, const void *compare_addr,
                         void *result_addr, MPI_Datatype datatype, int target_rank,
                         MPI_Aint target_disp, MPI_Win win)
{
    struct rma_access a = ACCESS(RMA_COMPARE_SWAP, MPI_OP_NULL);
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (!rc)
        rc = check_predefined(self, win, datatype);
    if (!rc && !can_compare(datatype))
        rc = mpi_raise_win(self, win, MPI_ERR_TYPE, "%s is not an integer, logical or byte type",
                           mpi_type_name(mpi_type_get(datatype)));
    if (!rc)
        rc = rma_check_ptr(self, win, compare_addr, "compare_addr");
    if (rc)
        return rc;
    a.out = origin_addr;
    a.compare = compare_addr;
    a.in = result_addr;
    a.out_count = a.in_count = a.count = 1;
    a.out_type = a.in_type = a.type = mpi_type_get(datatype);
    return perform(self, w, &a, NULL);
}
