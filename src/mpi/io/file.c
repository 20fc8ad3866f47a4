/*
 * file.c - the table of file objects, and their numbers in Fortran.
 *
 * An MPI_File is the address of the rank's struct io_file. Addresses that a program passes are
 * looked up before they are dereferenced.
 */
#include "mpi/io/io_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"
#include "mpi/coll/coll.h"
#include "mpi/io/file.h"
#include "mpi/state.h"
#include "mpi/verify.h"
#include "mpi_impl.h"

static struct map open_files; /* of the process: context -> struct io_shared */

static int is_held(const struct mpi_rank *self, MPI_File file)
{
    return mpi_state_find(self, MPI_STATE_files, (uint64_t)(uintptr_t)file) != NULL;
}

struct io_file *io_file_get(struct mpi_rank *self, MPI_File fh, int *rc)
{
    *rc = MPI_SUCCESS;
    if (is_held(self, fh))
        return (struct io_file *)(void *)fh;
    if (fh == MPI_FILE_NULL)
        *rc = mpi_raise_file(self, fh, MPI_ERR_FILE, "the file is MPI_FILE_NULL");
    else
        *rc = mpi_raise_file(self, fh, MPI_ERR_FILE, "%p is not an open file of this rank",
                             (void *)fh);
    return NULL;
}

/* ---- open files of the process ---- */

struct io_shared *io_shared_find(uint32_t ctx)
{
    uint64_t *at = map_find(&open_files, ctx);

    return at ? (struct io_shared *)(uintptr_t)*at : NULL;
}

struct io_shared *io_shared_add(uint32_t ctx)
{
    struct io_shared *s = mem_zalloc(sizeof *s);

    s->ctx = ctx;
    s->fd = -1;
    *map_insert(&open_files, ctx, NULL) = (uint64_t)(uintptr_t)s;
    return s;
}

void io_shared_unref(struct io_shared *s)
{
    if (--s->refs)
        return;
    map_remove(&open_files, s->ctx);
    if (s->fd >= 0)
        sys_close(s->fd);
    mem_free(s->name);
    mem_free(s->delete_name);
    mem_free(s);
}

/* ---- files of ranks ---- */

struct io_file *io_file_new(struct mpi_rank *self, struct io_shared *s, int fd)
{
    struct io_file *f = pool_alloc(&mpi_world.pool, sizeof *f);

    memset(f, 0, sizeof *f);
    f->s = s;
    f->fd = fd;
    f->hints = MPI_INFO_NULL;
    io_view_init(&f->view);
    mpi_state_insert(self, MPI_STATE_files, (uint64_t)(uintptr_t)f);
    return f;
}

void io_file_release(struct mpi_rank *self, struct io_file *f)
{
    if (f->number)
        mpi_state_remove(self, MPI_STATE_file_numbers, (uint64_t)f->number);
    if (f->fd != f->s->fd)
        sys_close(f->fd);
    if (f->hints != MPI_INFO_NULL)
        mpi_info_free(self, &f->hints);
    io_view_fini(&f->view);
    mpi_state_remove(self, MPI_STATE_files, (uint64_t)(uintptr_t)f);
    pool_free(&mpi_world.pool, f, sizeof *f);
}

void io_collective(struct mpi_rank *self, const struct io_file *f)
{
    char what[96];

    if (!mpi_world.checking)
        return;
    snprintf(what, sizeof what, "file '%.80s'", f->s->name);
    mpi_verify_call(self, f->s->comm, what);
}

int io_bcast(struct mpi_rank *self, struct io_file *f, void *data, uint64_t n)
{
    return mpi_coll_bcast(self, f->s->comm, data, n, mpi_type_get(MPI_BYTE), 0);
}

/* ---- Fortran ---- */

MPI_File mpi_file_f2c(struct mpi_rank *self, MPI_Fint file)
{
    const uint64_t *f = file > 0 ? mpi_state_find(self, MPI_STATE_file_numbers, (uint64_t)file)
                                 : NULL;

    return f ? io_handle((struct io_file *)(uintptr_t)*f) : MPI_FILE_NULL;
}

/* Numbers are assigned on demand: one more than the highest that is in use. */
MPI_Fint mpi_file_c2f(struct mpi_rank *self, MPI_File file)
{
    struct io_file *f = is_held(self, file) ? (struct io_file *)(void *)file : NULL;
    const struct pairs *numbers = mpi_state_file_numbers(self);

    if (!f)
        return 0;
    if (f->number)
        return f->number;
    f->number = numbers ? (MPI_Fint)numbers->at[numbers->count - 1].key + 1 : 1;
    *mpi_state_insert(self, MPI_STATE_file_numbers, (uint64_t)f->number) = (uint64_t)(uintptr_t)f;
    return f->number;
}
