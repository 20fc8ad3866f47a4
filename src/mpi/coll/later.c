/*
 * later.c - non-blocking and persistent collectives (MPI-4.0, 6.12 and 6.13).
 *
 * A job is one collective of one rank that runs concurrently with the program: a copy of the
 * arguments, and references to what they need. Its code is that of the blocking one, run in a
 * strand. Messages of collectives pending on one communicator differ in their tags (numbers.c).
 */
#include "mpi/coll/entry_check.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/p2p/strand.h"

struct job {
    struct mpi_req *req; /* keeps the communicator; its buf is the job */
    int32_t shift;       /* of tags, see numbers.c */
    struct mpi_coll_args a;
};

/* ---- references ---- */

static int is_typed(const struct mpi_coll_args *a)
{
    return a->op_id == MPI_COLL_alltoallw || a->op_id == MPI_COLL_neighbor_alltoallw;
}

static int is_reduction(const struct mpi_coll_args *a)
{
    return a->op_id >= MPI_COLL_reduce && a->op_id <= MPI_COLL_exscan;
}

/* References to the types of n blocks: the program may free the handles at once. */
static struct mpi_type **types_keep(const struct mpi_coll_args *a, const void *counts,
                                    const void *handles, int n)
{
    struct mpi_type **types = mem_alloc((size_t)n * sizeof *types);

    for (int i = 0; i < n; i++) {
        types[i] = coll_count(a, counts, i) ? coll_type(a, handles, i) : coll_byte();
        mpi_type_ref(types[i]);
    }
    return types;
}

static void types_drop(struct mpi_type *const *types, int n)
{
    for (int i = 0; i < n; i++)
        mpi_type_unref(types[i]);
    mem_free((void *)types);
}

static void args_keep(struct mpi_coll_args *a, int sends, int receives)
{
    if (is_typed(a)) {
        const void *stypes = a->stypes, *rtypes = a->rtypes;

        a->stypes = a->sbuf == MPI_IN_PLACE ? NULL : types_keep(a, a->scounts, stypes, sends);
        a->rtypes = types_keep(a, a->rcounts, rtypes, receives);
        a->arrays |= COLL_OWN_TYPES;
        return;
    }
    if (a->stype)
        mpi_type_ref(a->stype);
    if (a->rtype)
        mpi_type_ref(a->rtype);
    if (is_reduction(a) && a->op)
        mpi_op_ref(a->op);
}

static void args_drop(const struct mpi_coll_args *a, int sends, int receives)
{
    if (is_typed(a)) {
        if (a->stypes)
            types_drop(a->stypes, sends);
        types_drop(a->rtypes, receives);
        return;
    }
    if (a->stype)
        mpi_type_unref(a->stype);
    if (a->rtype)
        mpi_type_unref(a->rtype);
    if (is_reduction(a) && a->op)
        mpi_op_unref(a->op);
}

/* ---- jobs ---- */

/* The function that runs in the strand. */
static void job_run(struct mpi_rank *self, void *arg)
{
    struct job *job = arg;
    int rc = mpi_observe_collective(self, job->req->kept, &job->a, mpi_req_handle(job->req));

    mpi_req_done(job->req, self->ent.clock, rc);
}

static void job_start(struct mpi_rank *self, struct mpi_req *req)
{
    struct job *job = req->buf;

    mpi_strand_start(self, job_run, job, job->shift);
}

static void job_free(struct mpi_rank *self, struct mpi_req *req)
{
    struct job *job = req->buf;
    int sends, receives;

    coll_count_blocks(self, req->kept, job->a.op_id, &sends, &receives);
    args_drop(&job->a, sends, receives);
    pool_free(&mpi_world.pool, job, sizeof *job);
}

static const struct mpi_work collective = {job_start, job_free};

static struct mpi_req *job_new(struct mpi_rank *self, struct mpi_comm *c, struct mpi_coll_args *a,
                               int32_t shift)
{
    struct job *job = pool_alloc(&mpi_world.pool, sizeof *job);
    struct mpi_req *req = mpi_req_new(self);
    int sends, receives;

    if (mpi_world.hollow || coll_is_hollow(a))
        coll_hollow(c, a);
    *job = (struct job){.req = req, .shift = shift, .a = *a};
    req->kind = MPI_REQ_WORK;
    req->work = &collective;
    req->buf = job;
    req->kept = c;
    req->comm = (uint32_t)c->handle;
    mpi_comm_keep(c);
    coll_count_blocks(self, c, a->op_id, &sends, &receives);
    args_keep(&job->a, sends, receives);
    return req;
}

int coll_later(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a, int checked,
               MPI_Request *request)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    struct mpi_req *req;

    if (checked)
        return checked;
    if (mpi_world.checking)
        mpi_verify_coll(self, c, a, MPI_VERIFY_LATER);
    req = job_new(self, c, a, mpi_coll_next_shift(self, c));
    *request = mpi_req_handle(req);
    job_start(self, req);
    return MPI_SUCCESS;
}

int coll_prepare(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a, MPI_Info info,
                 int checked, MPI_Request *request)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    struct mpi_req *req;

    (void)info; /* no hint is used */
    if (checked)
        return checked;
    if (mpi_world.checking)
        mpi_verify_coll(self, c, a, MPI_VERIFY_PERSISTENT);
    req = job_new(self, c, a, coll_persistent_shift(self, c));
    req->flags |= MPI_REQ_PERSISTENT;
    req->persistent_kind = MPI_REQ_WORK;
    *request = mpi_req_handle(req);
    return MPI_SUCCESS;
}
