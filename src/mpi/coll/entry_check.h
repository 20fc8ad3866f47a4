/*
 * entry_check.h - argument checks of the collective MPI calls, and their three forms.
 *
 * An entry collects its arguments in a struct mpi_coll_args, checks them, and runs the collective
 * now, later (non-blocking) or whenever it is started (persistent). COLL_ENTRIES defines all three.
 *
 * Arguments that are not significant at a rank (the receive side of MPI_Gather below the root) are
 * ignored. Where MPICH checks an argument, its error class is used. In an intercommunicator the
 * group of the root passes MPI_ROOT or MPI_PROC_NULL, and MPI_IN_PLACE is not allowed.
 */
#ifndef MPI_COLL_ENTRY_CHECK_H
#define MPI_COLL_ENTRY_CHECK_H

#include "mpi/coll/coll_internal.h"
#include "mpi/error.h"
#include "mpi/observe.h"
#include "mpi/verify.h"

/*
 * Each raises an error and returns its class, or fills in rank and size and returns MPI_SUCCESS.
 * buf, count and type of a side are those of the call, types as mpi_type_get finds them; op_id and
 * arrays are set. Never switch. O(size) for calls with a block per rank.
 */
int coll_check_comm(struct mpi_rank *, MPI_Comm, struct mpi_coll_args *); /* barrier */
int coll_check_bcast(struct mpi_rank *, MPI_Comm, struct mpi_coll_args *);
int coll_check_gather(struct mpi_rank *, MPI_Comm, struct mpi_coll_args *);  /* gather, gatherv */
int coll_check_scatter(struct mpi_rank *, MPI_Comm, struct mpi_coll_args *); /* scatter, scatterv */
int coll_check_all(struct mpi_rank *, MPI_Comm, struct mpi_coll_args *);     /* all others */
int coll_check_neighbor(struct mpi_rank *, MPI_Comm, struct mpi_coll_args *);
int coll_check_reduce(struct mpi_rank *, MPI_Comm, struct mpi_coll_args *);
int coll_check_fold(struct mpi_rank *, MPI_Comm, struct mpi_coll_args *); /* other reductions */

/* Raises the error of a collective that failed. */
int coll_failed(struct mpi_rank *, MPI_Comm, int error_class) __attribute__((cold, noinline));

/* If a buffer that the rank uses is hollow, makes all hollow; else forgets those that it does not
 * use (hollow.c). For a call that passed its check. */
void coll_hollow(const struct mpi_comm *, struct mpi_coll_args *);

/* ---- the hook of observers (seen.c) ---- */

int mpi_see_collective(struct mpi_rank *, struct mpi_comm *, const struct mpi_coll_args *,
                       MPI_Request) __attribute__((cold));

/* Runs a collective that the program called; `request` is null for a blocking call. */
static inline int mpi_observe_collective(struct mpi_rank *self, struct mpi_comm *c,
                                         const struct mpi_coll_args *a, MPI_Request request)
{
    return MPI_IS_SEEN(MPI_SEES(collective)) ? mpi_see_collective(self, c, a, request)
                                             : mpi_coll_run(self, c, a);
}

/* ---- the three forms of a call; `checked` is the result of the check (an error is returned)
 * ---- */

/* Runs it (may switch). The first is for buffers of the library, whose data is always carried. */
static inline int coll_now_real(struct mpi_rank *self, MPI_Comm comm, const struct mpi_coll_args *a,
                                int checked)
{
    if (__builtin_expect(checked, 0))
        return checked;
    if (__builtin_expect(mpi_world.checking, 0))
        mpi_verify_coll(self, mpi_comm_get(comm), a, MPI_VERIFY_NOW);
    checked = mpi_observe_collective(self, mpi_comm_get(comm), a, MPI_REQUEST_NULL);
    return __builtin_expect(checked, 0) ? coll_failed(self, comm, checked) : MPI_SUCCESS;
}
static inline int coll_now(struct mpi_rank *self, MPI_Comm comm, struct mpi_coll_args *a,
                           int checked)
{
    if (__builtin_expect(!checked && (mpi_world.hollow || coll_is_hollow(a)), 0))
        coll_hollow(mpi_comm_get(comm), a);
    return coll_now_real(self, comm, a, checked);
}

/* Starts it in a strand; *request completes with it. The arguments are copied; communicator,
 * datatypes and operation are kept. Never switches ranks. */
int coll_later(struct mpi_rank *, MPI_Comm, struct mpi_coll_args *, int checked,
               MPI_Request *request);

/* Creates a persistent request for it, which MPI_Start starts. */
int coll_prepare(struct mpi_rank *, MPI_Comm, struct mpi_coll_args *, MPI_Info, int checked,
                 MPI_Request *request);

/*
 * Defines mpi_NAME, mpi_iNAME and mpi_NAME_init, with the suffix `form` (nothing, or _c for large
 * counts). `params` are the parameters between self and comm; `args` turns them into arguments.
 */
#define COLL_ENTRIES(name, form, check, params, args)                                         \
    int mpi_##name##form(struct mpi_rank *self, params, MPI_Comm comm)                        \
    {                                                                                         \
        struct mpi_coll_args a = {args, .op_id = MPI_COLL_##name};                            \
                                                                                              \
        return coll_now(self, comm, &a, check(self, comm, &a));                               \
    }                                                                                         \
    int mpi_i##name##form(struct mpi_rank *self, params, MPI_Comm comm, MPI_Request *request) \
    {                                                                                         \
        struct mpi_coll_args a = {args, .op_id = MPI_COLL_##name};                            \
                                                                                              \
        return coll_later(self, comm, &a, check(self, comm, &a), request);                    \
    }                                                                                         \
    int mpi_##name##_init##form(struct mpi_rank *self, params, MPI_Comm comm, MPI_Info info,  \
                                MPI_Request *request)                                         \
    {                                                                                         \
        struct mpi_coll_args a = {args, .op_id = MPI_COLL_##name};                            \
                                                                                              \
        return coll_prepare(self, comm, &a, info, check(self, comm, &a), request);            \
    }

#endif
