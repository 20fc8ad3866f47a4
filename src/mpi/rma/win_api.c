/*
 * win_api.c - creates windows with memory of the program, with their own memory or with memory to
 * be attached; their group, name and hints.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mpi/comm/check.h"
#include "mpi/comm/errhandler_internal.h"
#include "mpi/info.h"
#include "mpi/rma/rma_internal.h"
#include "mpi_impl.h"

int mpi_win_create_c(struct mpi_rank *self, void *base, MPI_Aint size, MPI_Aint disp_unit,
                     MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct mpi_comm *c;
    struct rma_win *w;
    int rc = rma_check_create(self, comm, size, disp_unit, info, &c);

    if (!rc)
        rc = rma_win_new(self, c, MPI_WIN_FLAVOR_CREATE, disp_unit, info, &w);
    if (rc)
        return rc;
    w->base = base;
    w->size = size;
    return rma_win_open(self, w, win);
}

int mpi_win_allocate_c(struct mpi_rank *self, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                       MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    struct mpi_comm *c;
    struct rma_win *w;
    void *memory;
    int rc = rma_check_create(self, comm, size, disp_unit, info, &c);

    if (rc)
        return rc;
    memory = size ? calloc(1, (size_t)size) : NULL;
    if (size && !memory)
        return mpi_raise(self, comm, MPI_ERR_NO_MEM, "no memory for %ld bytes", (long)size);
    rc = rma_win_new(self, c, MPI_WIN_FLAVOR_ALLOCATE, disp_unit, info, &w);
    if (rc)
        return rc;
    w->memory = w->base = memory;
    w->size = size;
    *(void **)baseptr = memory;
    return rma_win_open(self, w, win);
}

int mpi_win_create_dynamic(struct mpi_rank *self, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct mpi_comm *c;
    struct rma_win *w;
    int rc = rma_check_create(self, comm, 0, 1, info, &c);

    if (!rc)
        rc = rma_win_new(self, c, MPI_WIN_FLAVOR_DYNAMIC, 1, info, &w);
    return rc ? rc : rma_win_open(self, w, win);
}

/* ---- memory of a dynamic window ---- */

static int check_dynamic(struct mpi_rank *self, MPI_Win win, struct rma_win **w)
{
    int rc = rma_check_win(self, win, w);

    if (!rc && (*w)->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        rc = mpi_raise_win(self, win, MPI_ERR_RMA_FLAVOR, "the window is not a dynamic one");
    return rc;
}

int mpi_win_attach(struct mpi_rank *self, MPI_Win win, void *base, MPI_Aint size)
{
    struct rma_region *r;
    struct rma_win *w;
    int rc = check_dynamic(self, win, &w);

    if (rc)
        return rc;
    if (size < 0)
        return mpi_raise_win(self, win, MPI_ERR_SIZE, "the size is negative (%ld)", (long)size);
    if (size == 0)
        return MPI_SUCCESS;
    if (!base)
        return mpi_raise_win(self, win, MPI_ERR_ARG, "the argument 'base' is a null pointer");
    for (r = w->regions; r; r = r->next)
        if ((uintptr_t)base < r->base + r->size && r->base < (uintptr_t)base + (uint64_t)size)
            return mpi_raise_win(self, win, MPI_ERR_RMA_ATTACH,
                                 "the memory overlaps what is attached already");
    r = pool_alloc(&mpi_world.pool, sizeof *r);
    *r = (struct rma_region){w->regions, (uintptr_t)base, (uint64_t)size};
    w->regions = r;
    return MPI_SUCCESS;
}

int mpi_win_detach(struct mpi_rank *self, MPI_Win win, const void *base)
{
    struct rma_region **at, *r;
    struct rma_win *w;
    int rc = check_dynamic(self, win, &w);

    if (rc)
        return rc;
    for (at = &w->regions; *at && (*at)->base != (uintptr_t)base; at = &(*at)->next)
        ;
    r = *at;
    if (!r)
        return MPI_SUCCESS; /* attached with size 0; MPICH ignores others, too */
    *at = r->next;
    pool_free(&mpi_world.pool, r, sizeof *r);
    return MPI_SUCCESS;
}

/* ---- group, name, hints ---- */

int mpi_win_get_group(struct mpi_rank *self, MPI_Win win, MPI_Group *group)
{
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (!rc)
        *group = mpi_group_publish(mpi_comm_group_ref(self, w->comm));
    return rc;
}

int mpi_win_set_name(struct mpi_rank *self, MPI_Win win, const char *win_name)
{
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);
    size_t n;

    if (rc)
        return rc;
    n = strnlen(win_name, MPI_MAX_OBJECT_NAME - 1);
    mem_free(w->name);
    w->name = mem_alloc(n + 1);
    memcpy(w->name, win_name, n);
    w->name[n] = '\0';
    return MPI_SUCCESS;
}

int mpi_win_get_name(struct mpi_rank *self, MPI_Win win, char *win_name, int *resultlen)
{
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);
    const char *name;

    if (rc)
        return rc;
    name = w->name ? w->name : "";
    *resultlen = (int)strlen(name);
    memcpy(win_name, name, (size_t)*resultlen + 1);
    return MPI_SUCCESS;
}

/* The hints of a window, and their defaults. */
static const struct hint {
    const char *key, *value;
} hints[] = {
    {"no_locks", "false"},
    {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op_no_op"},
    {"mpi_accumulate_granularity", "0"},
    {"same_size", "false"},
    {"same_disp_unit", "false"},
    {"alloc_shared_noncontig", "false"},
};

int mpi_win_set_info(struct mpi_rank *self, MPI_Win win, MPI_Info info)
{
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w), nkeys;

    if (!rc)
        rc = mpi_info_get_nkeys(self, info, &nkeys);
    if (!rc && w->info == MPI_INFO_NULL)
        rc = mpi_info_create(self, &w->info);
    for (size_t i = 0; !rc && i < sizeof hints / sizeof hints[0]; i++) {
        const char *value = mpi_info_lookup(info, hints[i].key);

        if (value)
            rc = mpi_info_set(self, w->info, hints[i].key, value);
    }
    return rc;
}

int mpi_win_get_info(struct mpi_rank *self, MPI_Win win, MPI_Info *info_used)
{
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (!rc)
        rc = mpi_info_create(self, info_used);
    for (size_t i = 0; !rc && i < sizeof hints / sizeof hints[0]; i++) {
        const char *value = w->info == MPI_INFO_NULL ? NULL
                                                     : mpi_info_lookup(w->info, hints[i].key);

        rc = mpi_info_set(self, *info_used, hints[i].key, value ? value : hints[i].value);
    }
    return rc;
}

/* ---- error handlers ---- */

int mpi_win_create_errhandler(struct mpi_rank *self, MPI_Win_errhandler_function *win_errhandler_fn,
                              MPI_Errhandler *errhandler)
{
    (void)self;
    return errhandler_create(FOR_WIN, (void (*)(void))win_errhandler_fn, errhandler);
}

int mpi_win_set_errhandler(struct mpi_rank *self, MPI_Win win, MPI_Errhandler errhandler)
{
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (!rc)
        rc = errhandler_check(self, MPI_COMM_NULL, errhandler, FOR_WIN);
    if (!rc)
        errhandler_set_own(self, win, errhandler);
    return rc;
}

int mpi_win_get_errhandler(struct mpi_rank *self, MPI_Win win, MPI_Errhandler *errhandler)
{
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (!rc)
        *errhandler = errhandler_share(errhandler_own(self, win, MPI_ERRORS_ARE_FATAL));
    return rc;
}

int mpi_win_call_errhandler(struct mpi_rank *self, MPI_Win win, int errorcode)
{
    struct rma_win *w;
    int rc = rma_check_win(self, win, &w);

    if (!rc)
        errhandler_invoke(self, errhandler_own(self, win, MPI_ERRORS_ARE_FATAL), FOR_WIN, &win,
                          errorcode);
    return rc;
}
