/*
 * init_api.c - MPI_Init to MPI_Finalize, MPI_Abort, and calls outside them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "mpi/attr.h"
#include "mpi/coll/coll.h"
#include "mpi/comm/check.h"
#include "mpi/entry.h"
#include "mpi/main/run.h"
#include "mpi/main/session.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/p2p/strand.h"
#include "mpi_impl.h"
#include "recorder/regions.h"

/* A process that a rank has forked is no rank, but shares the simulator's memory: it ends without
 * touching the run, whose exit status shows that a call was refused. */
_Noreturn static void refuse_child(const struct mpi_rank *parent, enum mpi_fn fn)
{
    log_error("a process that rank %u has forked called %s, which only the rank itself can: call "
              "MPI before the fork, or in its parent",
              mpi_rank_id(parent), mpi_fn_name[fn]);
    if (!vp_private.remote)
        mpi_run.end.refused = 1;
    sys_exit(MPI_ENDING_REFUSED);
}

void mpi_enter_refused(struct mpi_rank *self, enum mpi_fn fn)
{
    char text[160];

    if (!self && vp_private.parent)
        refuse_child(mpi_rank_of(vp_private.parent), fn);
    while (!self && vp_private.dying) /* another thread of the rank has crashed */
        syscall(SYS_pause);
    if (!self)
        log_fatal("%s called outside of a rank; start the program with 'orrery run'",
                  mpi_fn_name[fn]);
    snprintf(text, sizeof text, "%s called %s", mpi_fn_name[fn],
             mpi_world_phase(self) == MPI_PHASE_BEFORE ? "before MPI_Init" : "after MPI_Finalize");
    mpi_abort_run(self, MPI_ERR_OTHER, text);
}

int mpi_init_thread(struct mpi_rank *self, int *argc, char ***argv, int required, int *provided)
{
    int most = mpi_world.paced ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;

    (void)argc;
    (void)argv;
    if (mpi_world_phase(self) != MPI_PHASE_BEFORE)
        return mpi_raise(self, MPI_COMM_WORLD, MPI_ERR_OTHER, "MPI_Init called twice");
    mpi_world_phase_set(self, MPI_PHASE_ACTIVE);
    /* A fibre rank has one thread, for which all levels are the same; a process may have many. */
    self->thread_level = (uint8_t)(required < most ? required : most);
    *provided = self->thread_level;
    return MPI_SUCCESS;
}

int mpi_init(struct mpi_rank *self, int *argc, char ***argv)
{
    int provided;

    return mpi_init_thread(self, argc, argv, MPI_THREAD_SINGLE, &provided);
}

int mpi_initialized(struct mpi_rank *self, int *flag)
{
    *flag = mpi_world_phase(self) != MPI_PHASE_BEFORE;
    return MPI_SUCCESS;
}

int mpi_finalized(struct mpi_rank *self, int *flag)
{
    *flag = mpi_world_phase(self) == MPI_PHASE_FINALIZED;
    return MPI_SUCCESS;
}

int mpi_query_thread(struct mpi_rank *self, int *provided)
{
    *provided = self->thread_level;
    return MPI_SUCCESS;
}

int mpi_is_thread_main(struct mpi_rank *self, int *flag)
{
    (void)self;
    *flag = vp_is_main_thread();
    return MPI_SUCCESS;
}

/* Attributes of MPI_COMM_SELF are deleted while MPI still works (MPI-4.0 11.2.4). */
static int delete_attributes(struct mpi_rank *self)
{
    int rc = mpi_attr_delete_all(self, MPI_COMM_SELF);

    if (!rc)
        rc = mpi_attr_delete_all(self, MPI_COMM_WORLD);
    return rc ? mpi_raise(self, MPI_COMM_SELF, rc, "an attribute delete function returned %d", rc)
              : MPI_SUCCESS;
}

/* Sends that were freed before completion are still completed: their receivers wait for them. */
void mpi_finish_sends(struct mpi_rank *self)
{
    vtime due;

    mpi_drain(self);
    while (mpi_req_orphans(self) || mpi_has_strands(self)) {
        if (!mpi_decide(self, VTIME_NEVER, &due))
            mpi_block(self, due, 1, NULL);
        mpi_drain(self);
    }
    if (mpi_rare_find(self))
        mpi_clock_reach(self, self->ext->rare->ended);
}

int mpi_finalize(struct mpi_rank *self)
{
    int rc;

    if (mpi_world_phase(self) != MPI_PHASE_ACTIVE)
        mpi_enter_refused(self, MPI_FN_FINALIZE);
    rc = delete_attributes(self);
    if (rc)
        return rc;
    mpi_finish_sends(self);
    /* File servers, names and ports belong to the agents of ranks, which must not end before the
     * others are done. */
    if (mpi_world.opt->needs & (MPI_NEED_FILES | MPI_NEED_NAMES))
        mpi_coll_barrier(self, mpi_comm_get(MPI_COMM_WORLD));
    mpi_world_phase_set(self, MPI_PHASE_FINALIZED);
    return MPI_SUCCESS;
}

int mpi_abort(struct mpi_rank *self, MPI_Comm comm, int errorcode)
{
    char text[64];

    (void)comm;
    snprintf(text, sizeof text, "MPI_Abort with code %d", errorcode);
    mpi_abort_run(self, errorcode, text);
}

int mpi_pcontrol(struct mpi_rank *self, const int level, const void *more)
{
    char name[RECORDER_NAME_MOST];
    int what = recorder_pcontrol(level, more, name);

    if (what)
        mpi_observe_region(self, what > 0 ? name : NULL);
    return MPI_SUCCESS;
}

int mpi_alloc_mem(struct mpi_rank *self, MPI_Aint size, MPI_Info info, void *baseptr)
{
    void *p;

    (void)info;
    if (size < 0)
        return mpi_raise(self, MPI_COMM_WORLD, MPI_ERR_ARG, "size %ld is negative", (long)size);
    p = malloc(size ? (size_t)size : 1);
    if (!p)
        return mpi_raise(self, MPI_COMM_WORLD, MPI_ERR_NO_MEM, "no memory for %ld bytes",
                         (long)size);
    *(void **)baseptr = p;
    return MPI_SUCCESS;
}

int mpi_free_mem(struct mpi_rank *self, void *base)
{
    (void)self;
    free(base);
    return MPI_SUCCESS;
}
