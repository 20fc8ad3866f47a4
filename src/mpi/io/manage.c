/*
 * manage.c - positions, sizes, modes and synchronisation of files.
 *
 * For collective calls that change the file or its shared pointer, all ranks synchronise, the first
 * one acts, and no rank returns before it has.
 */
#include <errno.h>

#include "base/sys.h"
#include "mpi/coll/coll.h"
#include "mpi/comm/comm.h"
#include "mpi/io/io_internal.h"
#include "mpi_impl.h"

/* The file of a handle whose position may be used, or NULL after raising an error (*rc). */
static struct io_file *get_seekable(struct mpi_rank *self, MPI_File fh, int *rc)
{
    struct io_file *f = io_file_get(self, fh, rc);

    if (*rc || !(f->s->amode & MPI_MODE_SEQUENTIAL))
        return f;
    *rc = mpi_raise_file(self, fh, MPI_ERR_UNSUPPORTED_OPERATION,
                         "'%s' is sequential (MPI_MODE_SEQUENTIAL)", f->s->name);
    return NULL;
}

/* ---- positions ---- */

/* The stream position of an offset from `whence`; `from` is the current pointer. */
static int seek_position(struct mpi_rank *self, MPI_File fh, const struct io_file *f,
                         MPI_Offset offset, int whence, int64_t from, int64_t *at)
{
    int64_t base = 0, delta;

    if (whence != MPI_SEEK_SET && whence != MPI_SEEK_CUR && whence != MPI_SEEK_END)
        return mpi_raise_file(self, fh, MPI_ERR_ARG, "%d is not a valid whence", whence);
    if (whence == MPI_SEEK_CUR)
        base = from;
    else if (whence == MPI_SEEK_END)
        base = io_view_end(f);
    if (__builtin_mul_overflow(offset, (int64_t)f->view.etype_bytes, &delta) ||
        __builtin_add_overflow(base, delta, at) || *at < 0)
        return mpi_raise_file(self, fh, MPI_ERR_ARG, "offset %lld leads out of the file",
                              (long long)offset);
    return MPI_SUCCESS;
}

int mpi_file_seek(struct mpi_rank *self, MPI_File fh, MPI_Offset offset, int whence)
{
    int rc;
    struct io_file *f = get_seekable(self, fh, &rc);
    int64_t at;

    if (!rc)
        rc = seek_position(self, fh, f, offset, whence, f->position, &at);
    if (!rc)
        f->position = at;
    return rc;
}

int mpi_file_get_position(struct mpi_rank *self, MPI_File fh, MPI_Offset *offset)
{
    int rc;
    struct io_file *f = get_seekable(self, fh, &rc);

    if (!rc)
        *offset = f->position / (int64_t)f->view.etype_bytes;
    return rc;
}

int mpi_file_seek_shared(struct mpi_rank *self, MPI_File fh, MPI_Offset offset, int whence)
{
    int rc, first;
    struct io_file *f = get_seekable(self, fh, &rc);
    int64_t at = 0;

    if (rc)
        return rc;
    io_collective(self, f);
    rc = mpi_coll_barrier(self, f->s->comm);
    first = io_my_rank(self, f) == 0;
    if (!rc && first)
        at = whence == MPI_SEEK_CUR ? io_pointer(self, f, IO_POINTER_ADD, 0) : 0;
    if (!rc)
        rc = io_bcast(self, f, &at, sizeof at);
    if (rc)
        return mpi_raise_file(self, fh, rc, "cannot move the shared file pointer");
    rc = seek_position(self, fh, f, offset, whence, at, &at);
    if (!rc && first)
        io_pointer(self, f, IO_POINTER_SET, at);
    mpi_coll_barrier(self, f->s->comm);
    return rc;
}

int mpi_file_get_position_shared(struct mpi_rank *self, MPI_File fh, MPI_Offset *offset)
{
    int rc;
    struct io_file *f = get_seekable(self, fh, &rc);

    if (!rc)
        *offset = io_pointer(self, f, IO_POINTER_ADD, 0) / (int64_t)f->view.etype_bytes;
    return rc;
}

/* ---- sizes ---- */

struct resize {
    int64_t size;
    int32_t error;
};

static int reserve(int fd, int64_t size)
{
    struct stat st;

    if (sys_fallocate(fd, size) == 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return -1;
    if (sys_fstat(fd, &st) != 0 || st.st_size >= size)
        return 0;
    return sys_ftruncate(fd, size);
}

/* The first rank resizes the file; all must request the same size. */
static int resize(struct mpi_rank *self, MPI_File fh, MPI_Offset size, int preallocate)
{
    struct resize r = {.size = size};
    int rc;
    struct io_file *f = io_file_get(self, fh, &rc);

    if (!f)
        return rc;
    if (size < 0)
        return mpi_raise_file(self, fh, MPI_ERR_ARG, "the size %lld is negative", (long long)size);
    if (f->s->amode & MPI_MODE_RDONLY)
        return mpi_raise_file(self, fh, MPI_ERR_READ_ONLY, "'%s' is open for reading only",
                              f->s->name);
    io_collective(self, f);
    rc = mpi_coll_barrier(self, f->s->comm);
    if (!rc && io_my_rank(self, f) == 0) {
        io_metadata(self, io_hash_name(f->s->name));
        if (size && preallocate ? reserve(f->fd, size) : !preallocate && sys_ftruncate(f->fd, size))
            r.error = io_error_class(errno);
    }
    if (!rc)
        rc = io_bcast(self, f, &r, sizeof r);
    if (rc || r.error)
        return mpi_raise_file(self, fh, rc ? rc : r.error, "cannot resize '%s'", f->s->name);
    if (r.size != size)
        return mpi_raise_file(self, fh, MPI_ERR_NOT_SAME, "ranks give different sizes");
    return MPI_SUCCESS;
}

int mpi_file_set_size(struct mpi_rank *self, MPI_File fh, MPI_Offset size)
{
    return resize(self, fh, size, 0);
}

int mpi_file_preallocate(struct mpi_rank *self, MPI_File fh, MPI_Offset size)
{
    return resize(self, fh, size, 1);
}

int mpi_file_get_size(struct mpi_rank *self, MPI_File fh, MPI_Offset *size)
{
    int rc;
    struct io_file *f = io_file_get(self, fh, &rc);

    if (!rc)
        *size = io_size(f);
    return rc;
}

/* ---- modes ---- */

int mpi_file_get_amode(struct mpi_rank *self, MPI_File fh, int *amode)
{
    int rc;
    struct io_file *f = io_file_get(self, fh, &rc);

    if (!rc)
        *amode = f->s->amode;
    return rc;
}

int mpi_file_get_group(struct mpi_rank *self, MPI_File fh, MPI_Group *group)
{
    int rc;
    struct io_file *f = io_file_get(self, fh, &rc);

    if (!rc)
        *group = mpi_group_publish(mpi_comm_group_ref(self, f->s->comm));
    return rc;
}

int mpi_file_set_atomicity(struct mpi_rank *self, MPI_File fh, int flag)
{
    int rc;
    struct io_file *f = io_file_get(self, fh, &rc);
    int32_t first = flag != 0;

    if (!f)
        return rc;
    io_collective(self, f);
    rc = mpi_coll_barrier(self, f->s->comm);
    if (!rc)
        rc = io_bcast(self, f, &first, sizeof first);
    if (rc || first != (flag != 0))
        return mpi_raise_file(self, fh, rc ? rc : MPI_ERR_NOT_SAME,
                              "ranks do not give the same flag");
    f->atomic = flag != 0;
    f->s->was_atomic |= f->atomic;
    return MPI_SUCCESS;
}

int mpi_file_get_atomicity(struct mpi_rank *self, MPI_File fh, int *flag)
{
    int rc;
    struct io_file *f = io_file_get(self, fh, &rc);

    if (!rc)
        *flag = f->atomic;
    return rc;
}

/* What was written is in the file already, and complete calls were served: this is one more request
 * to a server. Processes may be on different computers, so the real file must be synchronised. */
int mpi_file_sync(struct mpi_rank *self, MPI_File fh)
{
    int rc;
    struct io_file *f = io_file_get(self, fh, &rc);

    if (!f)
        return rc;
    io_collective(self, f);
    if (mpi_world.shared && !(f->s->amode & MPI_MODE_RDONLY))
        sys_fsync(f->fd);
    io_flush(self, f);
    return MPI_SUCCESS;
}
