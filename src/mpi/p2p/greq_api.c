/*
 * greq_api.c - generalized requests: MPI-4.0 section 13.2, and MPICH's extension with functions
 * that make progress (MPIX_Grequest_start, classes).
 *
 * The program completes such a request itself. A rank has one thread, so the completion comes from
 * an earlier call, or from a poll function that waiting and testing calls.
 */
#include <string.h>

#include "base/mem.h"
#include "mpi/check.h"
#include "mpi/p2p/compound.h"
#include "mpi/user.h"
#include "mpi_impl.h"

struct functions {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    MPIX_Grequest_poll_function *poll;
    MPIX_Grequest_wait_function *wait;
};

struct mpi_grequest {
    struct functions fn;
    void *state;
    int fortran; /* the functions are Fortran: arguments by reference, the error in the last */
};

typedef void any_function(void); /* for casts between the two */
typedef void fortran_query(void *state, MPI_Fint *status, MPI_Fint *error);
typedef void fortran_free(void *state, MPI_Fint *error);
typedef void fortran_cancel(void *state, MPI_Fint *complete, MPI_Fint *error);

/* Classes are interned: all ranks that create one with the same functions share it. */
static struct {
    struct functions *at;
    int count;
} classes;

static MPI_Request make(struct mpi_rank *self, const struct functions *fn, void *state)
{
    struct mpi_req *r = mpi_req_new(self);
    struct mpi_grequest *g = pool_alloc(&mpi_world.pool, sizeof *g);

    *g = (struct mpi_grequest){*fn, state, 0};
    r->kind = MPI_REQ_GREQ;
    r->grequest = g;
    r->comm = (uint32_t)MPI_COMM_WORLD;
    r->posted = self->ent.clock;
    mpi_rare_get(self)->polled += fn->poll || fn->wait;
    return mpi_req_handle(r);
}

int mpix_grequest_start(struct mpi_rank *self, MPI_Grequest_query_function *query_fn,
                        MPI_Grequest_free_function *free_fn,
                        MPI_Grequest_cancel_function *cancel_fn,
                        MPIX_Grequest_poll_function *poll_fn, MPIX_Grequest_wait_function *wait_fn,
                        void *extra_state, MPI_Request *request)
{
    struct functions fn = {query_fn, free_fn, cancel_fn, poll_fn, wait_fn};
    *request = make(self, &fn, extra_state);
    return MPI_SUCCESS;
}

int mpi_grequest_start(struct mpi_rank *self, MPI_Grequest_query_function *query_fn,
                       MPI_Grequest_free_function *free_fn, MPI_Grequest_cancel_function *cancel_fn,
                       void *extra_state, MPI_Request *request)
{
    return mpix_grequest_start(self, query_fn, free_fn, cancel_fn, NULL, NULL, extra_state,
                               request);
}

int mpix_grequest_class_create(struct mpi_rank *self, MPI_Grequest_query_function *query_fn,
                               MPI_Grequest_free_function *free_fn,
                               MPI_Grequest_cancel_function *cancel_fn,
                               MPIX_Grequest_poll_function *poll_fn,
                               MPIX_Grequest_wait_function *wait_fn,
                               MPIX_Grequest_class *greq_class)
{
    struct functions fn = {query_fn, free_fn, cancel_fn, poll_fn, wait_fn};
    int i = 0;

    (void)self;
    while (i < classes.count && memcmp(&classes.at[i], &fn, sizeof fn) != 0)
        i++;
    if (i == classes.count) {
        classes.at = mem_realloc(classes.at, (size_t)(classes.count + 1) * sizeof fn);
        classes.at[classes.count++] = fn;
    }
    *greq_class = i + 1;
    return MPI_SUCCESS;
}

int mpix_grequest_class_allocate(struct mpi_rank *self, MPIX_Grequest_class greq_class,
                                 void *extra_state, MPI_Request *request)
{
    if (greq_class < 1 || greq_class > classes.count)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "%d is not a class of requests",
                         greq_class);
    *request = make(self, &classes.at[greq_class - 1], extra_state);
    return MPI_SUCCESS;
}

void mpii_grequest_set_lang_f77(struct mpi_rank *self, MPI_Request greq)
{
    struct mpi_req *r = mpi_req_get(self, greq);

    if (r && r->kind == MPI_REQ_GREQ)
        r->grequest->fortran = 1;
}

int mpi_grequest_complete(struct mpi_rank *self, MPI_Request request)
{
    struct mpi_req *r = mpi_req_get_any(self, request);

    if (!r)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_REQUEST, "0x%x is not a live request",
                         (unsigned)request);
    if (r->kind != MPI_REQ_GREQ)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_REQUEST, "0x%x is not a generalized request",
                         (unsigned)request);
    r->complete = self->ent.clock;
    r->flags |= MPI_REQ_DONE;
    if (!(r->flags & MPI_REQ_ORPHAN))
        return MPI_SUCCESS;
    int rc = mpi_greq_release(self, r);
    return rc == MPI_SUCCESS ? rc : mpi_raise(self, MPI_COMM_NULL, rc, "the free function failed");
}

/* ---- functions of the program; they may call MPI ---- */

int mpi_greq_query(struct mpi_rank *self, struct mpi_req *r, MPI_Status *status)
{
    const struct mpi_grequest *g = r->grequest;
    MPI_Status unused;
    MPI_Fint error = MPI_SUCCESS;
    uint16_t fn = self->fn;

    if (status == MPI_STATUS_IGNORE)
        status = &unused;
    mpi_status_empty(status);
    if (!g->fn.query)
        return MPI_SUCCESS;
    mpi_user_begin();
    if (g->fortran)
        ((fortran_query *)(any_function *)g->fn.query)(g->state, (MPI_Fint *)status, &error);
    else
        error = g->fn.query(g->state, status);
    mpi_user_end();
    self->fn = fn;
    return error;
}

int mpi_greq_release(struct mpi_rank *self, struct mpi_req *r)
{
    struct mpi_grequest g = *r->grequest;
    MPI_Fint error = MPI_SUCCESS;
    uint16_t fn = self->fn;

    mpi_req_release(r);
    if (!g.fn.free)
        return MPI_SUCCESS;
    mpi_user_begin();
    if (g.fortran)
        ((fortran_free *)(any_function *)g.fn.free)(g.state, &error);
    else
        error = g.fn.free(g.state);
    mpi_user_end();
    self->fn = fn;
    return error;
}

int mpi_greq_cancel(struct mpi_rank *self, struct mpi_req *r)
{
    const struct mpi_grequest *g = r->grequest;
    MPI_Fint complete = (r->flags & MPI_REQ_DONE) != 0, error = MPI_SUCCESS;
    uint16_t fn = self->fn;

    if (!g->fn.cancel)
        return MPI_SUCCESS;
    mpi_user_begin();
    if (g->fortran)
        ((fortran_cancel *)(any_function *)g->fn.cancel)(g->state, &complete, &error);
    else
        error = g->fn.cancel(g->state, complete);
    mpi_user_end();
    self->fn = fn;
    return error;
}

/* ---- progress ---- */

static int is_polled(const struct mpi_req *r)
{
    return r && r->kind == MPI_REQ_GREQ && !(r->flags & MPI_REQ_DONE) &&
           (r->grequest->fn.poll || r->grequest->fn.wait);
}

static void poll(struct mpi_rank *self, struct mpi_req *r)
{
    struct mpi_grequest *g = r->grequest;
    void *state = g->state;
    MPI_Status status;
    uint16_t fn = self->fn;

    mpi_status_empty(&status);
    mpi_user_begin();
    if (g->fn.poll)
        g->fn.poll(state, &status);
    else
        g->fn.wait(1, &state, 0.0, &status);
    mpi_user_end();
    self->fn = fn;
}

int mpi_greq_poll(struct mpi_rank *self, int n, const MPI_Request *handles)
{
    const struct mpi_rare *x = mpi_rare_find(self);
    int left = 0;

    if (!x || !x->polled)
        return 0;
    for (int i = 0; i < n; i++) {
        struct mpi_req *r = mpi_req_pending(self, handles[i]);

        if (!is_polled(r))
            continue;
        poll(self, r);
        left += !(r->flags & MPI_REQ_DONE);
    }
    return left;
}

void mpi_greq_free(struct mpi_req *r)
{
    mpi_world.ranks[r->owner].ext->rare->polled -= r->grequest->fn.poll || r->grequest->fn.wait;
    pool_free(&mpi_world.pool, r->grequest, sizeof *r->grequest);
    r->grequest = NULL;
}
