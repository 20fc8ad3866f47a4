/*
 * open.c - MPI_File_open, MPI_File_close, MPI_File_delete (MPI-4.0 14.2).
 *
 *     all        create a communicator for the file, whose context identifies it
 *     rank 0     opens the real file, creating it if requested; one metadata operation
 *     all        learn the result from rank 0; one rank of each process opens a descriptor, which
 *                all ranks there share (if ranks are processes, each opens one); all agree on the
 *                result
 *
 * Closing is a barrier, so that the agent of rank 0 keeps the shared pointer as long as it is
 * needed; a file to be deleted is gone before any rank returns.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"
#include "mpi/coll/coll.h"
#include "mpi/comm/check.h"
#include "mpi/create/create.h"
#include "mpi/io/file.h"
#include "mpi/io/info.h"
#include "mpi/op/op.h"
#include "mpi/p2p/tags.h"
#include "mpi_impl.h"
#include "vp/process.h"

#define PATH_ROOM 4096

/* The result that rank 0 sends. */
struct opening {
    int32_t error, amode;
    uint64_t hash, stripe;
    uint32_t factor, first;
    int64_t size;
};

/* The file name without a prefix such as "ufs:". */
static const char *plain_name(const char *name)
{
    static const char *const kinds[] = {"ufs",    "nfs",    "xfs",     "pfs",  "piofs",
                                        "pvfs",   "pvfs2",  "panfs",   "gpfs", "lustre",
                                        "testfs", "zoidfs", "gridftp", "daos", "quobytefs"};
    size_t n = strcspn(name, ":");

    for (size_t i = 0; name[n] && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strlen(kinds[i]) == n && strncmp(name, kinds[i], n) == 0)
            return name + n + 1;
    return name;
}

/* ---- checks ---- */

static int amode_ok(int amode)
{
    int known = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY | MPI_MODE_CREATE |
                MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN | MPI_MODE_APPEND |
                MPI_MODE_SEQUENTIAL;
    int access = amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY);

    if ((amode & ~known) || !access || (access & (access - 1)))
        return 0;
    if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
        return 0;
    return !(access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL));
}

static int raise_open(struct mpi_rank *self, int error, const char *name, int amode)
{
    if (error == MPI_ERR_AMODE)
        return mpi_raise_file(self, MPI_FILE_NULL, error,
                              "the access mode 0x%x is not allowed for '%s'", amode, name);
    if (error == MPI_ERR_NOT_SAME)
        return mpi_raise_file(self, MPI_FILE_NULL, error,
                              "ranks open '%s' with different access modes", name);
    return mpi_raise_file(self, MPI_FILE_NULL, error, "cannot open '%s': %s", name,
                          error == MPI_ERR_NO_SUCH_FILE  ? "there is no such file"
                          : error == MPI_ERR_FILE_EXISTS ? "it exists"
                          : error == MPI_ERR_ACCESS      ? "no permission"
                          : error == MPI_ERR_BAD_FILE    ? "the name is not one of a file"
                                                         : "input/output error");
}

/* ---- opening ---- */

static int make_comm(struct mpi_rank *self, struct mpi_comm *c, struct mpi_comm **out)
{
    mpi_comm_desc desc = 0;
    int me = mpi_comm_my_rank(c, self), rc;

    if (me == 0)
        desc = mpi_comm_describe(mpi_comm_new(mpi_comm_group_ref(self, c), MPI_ERRORS_RETURN),
                                 (enum mpi_fn)self->fn, c);
    rc = mpi_comm_bcast_desc(self, c, NULL, me, (int)c->group->size, MPI_TAG_FILE_OPEN, &desc);
    if (!rc)
        *out = mpi_comm_get(mpi_comm_adopt(self, c, desc));
    return rc;
}

static char *absolute(const char *name)
{
    char *path;
    ssize_t n = 0;

    if (*name == '/')
        return mem_strdup(name);
    path = mem_alloc(PATH_ROOM + strlen(name) + 2);
    n = sys_getcwd(path, PATH_ROOM);
    if (n <= 0)
        n = snprintf(path, PATH_ROOM, ".") + 1;
    path[n - 1] = '/';
    strcpy(path + n, name);
    return path;
}

static void take_striping(struct opening *o, MPI_Info info)
{
    int64_t factor = io_info_number(info, "striping_factor");
    int64_t unit = io_info_number(info, "striping_unit");
    uint32_t servers = io_servers();

    o->factor = factor > 0 && factor < servers ? (uint32_t)factor : servers;
    o->stripe = unit > 0 ? (uint64_t)unit : mpi_world.opt->platform.io_stripe;
    o->first = (uint32_t)(o->hash % servers);
}

/* A descriptor, or -1 with an MPI class. */
static int open_descriptor(const char *name, int amode, int create, int32_t *error)
{
    int fd = io_open_fd(name, amode, create);
    struct stat st;

    if (fd < 0) {
        *error = io_error_class(errno);
        return -1;
    }
    if (sys_fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        sys_close(fd);
        *error = MPI_ERR_BAD_FILE;
        return -1;
    }
    return fd;
}

/* The open file of this process; ranks that are not processes use its descriptor. */
static struct io_shared *add_shared(struct mpi_comm *c, const char *name, int amode, int fd)
{
    struct io_shared *s = io_shared_add(c->ctx);

    s->fd = vp_ranks_are_processes() ? -1 : fd;
    s->amode = amode;
    s->name = mem_strdup(name);
    s->comm = c;
    return s;
}

/* Rank 0. */
static void open_first(struct mpi_rank *self, struct mpi_comm *c, const char *name,
                       struct opening *o, MPI_Info info, int *fd)
{
    struct io_shared *s;
    struct stat st;

    o->hash = io_hash_name(name);
    take_striping(o, info);
    if (!amode_ok(o->amode)) {
        o->error = MPI_ERR_AMODE;
        return;
    }
    io_metadata(self, o->hash);
    *fd = open_descriptor(name, o->amode, 1, &o->error);
    if (*fd < 0)
        return;
    s = add_shared(c, name, o->amode, *fd);
    s->refs = 1; /* rank 0's */
    if (o->amode & MPI_MODE_DELETE_ON_CLOSE)
        s->delete_name = absolute(name);
    if ((o->amode & MPI_MODE_APPEND) && sys_fstat(*fd, &st) == 0)
        o->size = st.st_size;
    s->pointer = o->size;
}

/* The rank's reference to the open file and its descriptor, or NULL with an MPI class. Rank 0 has
 * both already. */
static struct io_shared *attach(struct mpi_rank *self, struct mpi_comm *c, const char *name,
                                int amode, struct opening *o, int *fd)
{
    struct io_shared *s = io_shared_find(c->ctx);

    if (amode != o->amode) {
        o->error = MPI_ERR_NOT_SAME;
        return NULL;
    }
    if (mpi_comm_my_rank(c, self) != 0) {
        *fd = s && !vp_ranks_are_processes() ? s->fd : open_descriptor(name, amode, 0, &o->error);
        if (*fd < 0)
            return NULL;
        if (!s)
            s = add_shared(c, name, amode, *fd);
        s->refs++;
    }
    s->stripe = o->stripe;
    s->factor = o->factor;
    s->first = o->first;
    return s;
}

/* All ranks return the same: the largest class. */
static int agree(struct mpi_rank *self, struct mpi_comm *c, int error)
{
    int all = error;
    int rc = mpi_coll_allreduce(self, c, &error, &all, 1, mpi_type_get(MPI_INT),
                                mpi_op_get(MPI_MAX));

    return rc ? rc : all;
}

static int open_together(struct mpi_rank *self, struct mpi_comm *c, const char *name, int amode,
                         MPI_Info info, struct io_file **out)
{
    struct opening o = {.amode = amode};
    struct io_shared *s = NULL;
    struct io_file *f;
    int error, fd = -1;

    if (mpi_comm_my_rank(c, self) == 0)
        open_first(self, c, name, &o, info, &fd);
    error = mpi_coll_bcast(self, c, &o, sizeof o, mpi_type_get(MPI_BYTE), 0);
    if (error || o.error)
        return error ? error : o.error;
    s = attach(self, c, name, amode, &o, &fd);
    error = agree(self, c, o.error);
    if (error) {
        if (s && fd != s->fd)
            sys_close(fd);
        if (s)
            io_shared_unref(s);
        return error;
    }
    f = io_file_new(self, s, fd);
    f->position = o.size;
    *out = f;
    return MPI_SUCCESS;
}

int mpi_file_open(struct mpi_rank *self, MPI_Comm comm, const char *filename, int amode,
                  MPI_Info info, MPI_File *fh)
{
    struct mpi_comm *c, *own;
    struct io_file *f = NULL;
    int rc = mpi_check_comm(self, comm, &c);

    if (rc)
        return rc;
    if (c->remote)
        return mpi_raise_file(self, MPI_FILE_NULL, MPI_ERR_COMM,
                              "the communicator is an intercommunicator");
    if (!filename || !*filename || !fh)
        return mpi_raise_file(self, MPI_FILE_NULL,
                              filename && !*filename ? MPI_ERR_BAD_FILE : MPI_ERR_ARG,
                              "the argument '%s' is %s", fh ? "filename" : "fh",
                              fh && filename ? "empty" : "a null pointer");
    *fh = MPI_FILE_NULL;
    rc = make_comm(self, c, &own);
    if (rc)
        return mpi_raise_file(self, MPI_FILE_NULL, rc, "cannot make a communicator");
    filename = plain_name(filename);
    rc = open_together(self, own, filename, amode, info, &f);
    if (rc) {
        mpi_comm_leave(self, own);
        return raise_open(self, rc, filename, amode);
    }
    io_info_take(self, f, info);
    mpi_errhandler_file_opened(self, io_handle(f));
    *fh = io_handle(f);
    return MPI_SUCCESS;
}

/* ---- closing ---- */

/* Waits for accesses whose requests the program has freed. */
static void finish_pending(struct mpi_rank *self, const struct io_file *f)
{
    vtime due;

    mpi_drain(self);
    while (f->pending) {
        if (!mpi_decide(self, VTIME_NEVER, &due))
            mpi_block(self, due, 1, NULL);
        mpi_drain(self);
    }
    mpi_clock_reach(self, f->ended);
}

/* Deletes the file, and lets no rank continue before it is gone. */
static int delete_closed(struct mpi_rank *self, struct io_file *f)
{
    int error = MPI_SUCCESS, rc;

    if (io_my_rank(self, f) == 0) {
        io_metadata(self, io_hash_name(f->s->delete_name));
        if (sys_unlink(f->s->delete_name) != 0)
            error = io_error_class(errno);
    }
    rc = io_bcast(self, f, &error, sizeof error);
    return rc ? rc : error;
}

int mpi_file_close(struct mpi_rank *self, MPI_File *fh)
{
    struct io_file *f;
    struct io_shared *s;
    struct mpi_comm *c;
    MPI_File handle;
    int rc;

    handle = *fh;
    f = io_file_get(self, handle, &rc);
    if (!f)
        return rc;
    finish_pending(self, f);
    io_collective(self, f);
    c = f->s->comm;
    rc = mpi_coll_barrier(self, c);
    if (f->s->was_atomic && io_my_rank(self, f) == 0)
        io_pointer(self, f, IO_POINTER_ADD, 0); /* the last turn has been returned */
    if (!rc && (f->s->amode & MPI_MODE_DELETE_ON_CLOSE))
        rc = delete_closed(self, f);
    if (rc)
        rc = mpi_raise_file(self, handle, rc, "cannot delete '%s'", f->s->name);
    mpi_errhandler_file_closed(self, handle);
    s = f->s;
    io_file_release(self, f);
    io_shared_unref(s);
    mpi_comm_leave(self, c);
    *fh = MPI_FILE_NULL;
    return rc;
}

int mpi_file_delete(struct mpi_rank *self, const char *filename, MPI_Info info)
{
    (void)info;
    if (!filename)
        return mpi_raise_file(self, MPI_FILE_NULL, MPI_ERR_ARG,
                              "the argument 'filename' is a null pointer");
    filename = plain_name(filename);
    io_metadata(self, io_hash_name(filename));
    if (sys_unlink(filename) == 0)
        return MPI_SUCCESS;
    return mpi_raise_file(self, MPI_FILE_NULL, io_error_class(errno), "cannot delete '%s': %s",
                          filename, errno == ENOENT ? "there is no such file" : "not possible");
}
