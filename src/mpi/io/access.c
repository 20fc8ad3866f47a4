/*
 * access.c - common code of all calls that read and write (MPI-4.0 14.4).
 *
 * A call checks its arguments, determines its position in the view, and starts an operation (op.c);
 * blocking calls wait for it. Collective calls need not wait for each other: the servers see each
 * rank's requests, one per server. Ordered ones find their positions by a scan; the last rank moves
 * the shared pointer for all.
 */
#include "mpi/io/io_internal.h"

#include "mpi/coll/coll.h"
#include "mpi/op/op.h"

static int check_access(struct mpi_rank *self, MPI_File fh, const struct io_file *f, unsigned kind,
                        MPI_Offset offset)
{
    if ((kind & IO_WRITE) && (f->s->amode & MPI_MODE_RDONLY))
        return mpi_raise_file(self, fh, MPI_ERR_READ_ONLY, "'%s' is open for reading only",
                              f->s->name);
    if (!(kind & IO_WRITE) && (f->s->amode & MPI_MODE_WRONLY))
        return mpi_raise_file(self, fh, MPI_ERR_ACCESS, "'%s' is open for writing only",
                              f->s->name);
    if (!(kind & (IO_SHARED | IO_ORDERED)) && (f->s->amode & MPI_MODE_SEQUENTIAL))
        return mpi_raise_file(self, fh, MPI_ERR_UNSUPPORTED_OPERATION,
                              "'%s' is sequential: only the shared file pointer may be used",
                              f->s->name);
    if ((kind & IO_AT) && offset < 0)
        return mpi_raise_file(self, fh, MPI_ERR_ARG, "the offset %lld is negative",
                              (long long)offset);
    return MPI_SUCCESS;
}

static int check_data(struct mpi_rank *self, MPI_File fh, const void *buf, MPI_Count count,
                      MPI_Datatype datatype, struct mpi_type **type)
{
    *type = mpi_type_get(datatype);
    if (!*type)
        return mpi_raise_file(self, fh, MPI_ERR_TYPE, "0x%08x is not a datatype",
                              (unsigned)datatype);
    if (!(*type)->committed)
        return mpi_raise_file(self, fh, MPI_ERR_TYPE, "the datatype is not committed");
    if (!buf && count && (*type)->size && (*type)->builtin)
        return mpi_raise_file(self, fh, MPI_ERR_BUFFER, "the buffer is a null pointer");
    if (mpi_data_is_hollow(buf, *type))
        return mpi_raise_file(self, fh, MPI_ERR_BUFFER,
                              "the buffer is hollow: files are accessed from real memory only");
    return MPI_SUCCESS;
}

/* How many stream bytes; they must be whole etypes. */
static int check_amount(struct mpi_rank *self, MPI_File fh, const struct io_file *f, uint64_t count,
                        struct mpi_type *type, uint64_t *bytes)
{
    int rc = MPI_SUCCESS;
    uint64_t item = io_datarep_converts(f->view.rep) ? io_datarep_size(self, f->view.rep, type, &rc)
                                                     : type->size;

    if (rc)
        return mpi_raise_file(self, fh, rc, "the datatype cannot be represented in the file");
    if (__builtin_mul_overflow(count, item, bytes) || *bytes > INT64_MAX)
        return mpi_raise_file(self, fh, MPI_ERR_COUNT, "the access is longer than a file can be");
    if (*bytes % f->view.etype_bytes)
        return mpi_raise_file(self, fh, MPI_ERR_IO,
                              "an access of %llu bytes is not made of etypes of %llu bytes",
                              (unsigned long long)*bytes, (unsigned long long)f->view.etype_bytes);
    return MPI_SUCCESS;
}

/* Where an ordered access starts: after the data of all lower ranks. May switch. */
static int ordered_position(struct mpi_rank *self, struct io_file *f, uint64_t bytes, int64_t *at)
{
    struct mpi_comm *c = f->s->comm;
    struct mpi_type *word = mpi_type_get(MPI_INT64_T);
    int64_t mine = (int64_t)bytes, before = 0, base = 0;
    int last = (int)c->group->size - 1, rc = MPI_SUCCESS;

    if (last > 0)
        rc = mpi_coll_exscan(self, c, &mine, &before, 1, word, mpi_op_get(MPI_SUM));
    if (io_my_rank(self, f) == 0)
        before = 0;
    if (!rc && io_my_rank(self, f) == last)
        base = io_pointer(self, f, IO_POINTER_ADD, before + mine);
    if (!rc && last > 0)
        rc = mpi_coll_bcast(self, c, &base, 1, word, last);
    *at = base + before;
    return rc;
}

/* Determines the position of an access that does not get it from the agent. */
static int find_position(struct mpi_rank *self, MPI_File fh, struct io_file *f, unsigned kind,
                         MPI_Offset offset, uint64_t bytes, int64_t *at)
{
    int rc;

    *at = 0;
    if (kind & IO_ORDERED) {
        rc = ordered_position(self, f, bytes, at);
        return rc ? mpi_raise_file(self, fh, rc, "cannot compute the offsets of the ranks") : rc;
    }
    if (kind & IO_SHARED)
        return MPI_SUCCESS;
    if (!(kind & IO_AT)) {
        *at = f->position;
        f->position += (int64_t)bytes;
    } else if (__builtin_mul_overflow(offset, (int64_t)f->view.etype_bytes, at)) {
        return mpi_raise_file(self, fh, MPI_ERR_ARG, "the offset %lld is beyond any file",
                              (long long)offset);
    }
    return MPI_SUCCESS;
}

/* Creates an operation that is ready to be started, or returns NULL after raising an error. May
 * switch. */
static struct io_op *prepare(struct mpi_rank *self, MPI_File fh, unsigned kind, MPI_Offset offset,
                             void *buf, MPI_Count count, MPI_Datatype datatype, int *rc)
{
    struct io_file *f = io_file_get(self, fh, rc);
    struct mpi_type *type = NULL;
    uint64_t bytes = 0;
    struct io_op *op;
    int64_t at = 0;

    if (!*rc)
        *rc = check_access(self, fh, f, kind, offset);
    if (!*rc)
        *rc = check_data(self, fh, buf, count, datatype, &type);
    if (!*rc)
        *rc = check_amount(self, fh, f, (uint64_t)count, type, &bytes);
    if (!*rc && (kind & (IO_ALL | IO_ORDERED)))
        io_collective(self, f);
    if (!*rc)
        *rc = find_position(self, fh, f, kind, offset, bytes, &at);
    if (*rc)
        return NULL;
    op = io_op_new(f);
    op->kind = (uint8_t)kind;
    op->buf = buf;
    op->count = (uint64_t)count;
    op->type = type;
    op->bytes = bytes;
    op->at = at;
    return op;
}

static int raise_moved(struct mpi_rank *self, MPI_File fh, const struct io_file *f, unsigned kind,
                       int error)
{
    return mpi_raise_file(self, fh, error, "cannot %s '%s'%s", kind & IO_WRITE ? "write" : "read",
                          f->s->name,
                          error == MPI_ERR_NO_SPACE     ? ": no space left"
                          : error == MPI_ERR_QUOTA      ? ": quota exceeded"
                          : error == MPI_ERR_CONVERSION ? ": the conversion failed"
                                                        : "");
}

/* Waits for an operation without a request of the program. */
static int finish(struct mpi_rank *self, MPI_File fh, struct io_op *op, MPI_Status *status)
{
    const struct io_file *f = op->file;
    unsigned kind = op->kind;
    int error = mpi_p2p_wait(self, &op->own);

    mpi_status_set(status, &op->own);
    io_op_free(op);
    return error ? raise_moved(self, fh, f, kind, error) : MPI_SUCCESS;
}

int io_blocking(struct mpi_rank *self, MPI_File fh, unsigned kind, MPI_Offset offset, void *buf,
                MPI_Count count, MPI_Datatype datatype, MPI_Status *status)
{
    int rc;
    struct io_op *op = prepare(self, fh, kind, offset, buf, count, datatype, &rc);

    if (!op)
        return rc;
    io_op_start(self, op, self->ent.clock);
    return finish(self, fh, op, status);
}

int io_nonblocking(struct mpi_rank *self, MPI_File fh, unsigned kind, MPI_Offset offset, void *buf,
                   MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    int rc = MPI_SUCCESS;
    struct io_op *op;
    struct mpi_req *req;

    op = prepare(self, fh, kind, offset, buf, count, datatype, &rc);
    if (!op)
        return rc;
    req = mpi_req_new(self);
    req->kind = MPI_REQ_WORK;
    req->posted = self->ent.clock;
    mpi_req_keep(req, op->file->s->comm, op->type);
    op->req = req;
    *request = mpi_req_handle(req);
    io_op_start(self, op, self->ent.clock);
    return MPI_SUCCESS;
}

int io_split_begin(struct mpi_rank *self, MPI_File fh, unsigned kind, MPI_Offset offset, void *buf,
                   MPI_Count count, MPI_Datatype datatype)
{
    int rc;
    struct io_file *f = io_file_get(self, fh, &rc);
    struct io_op *op;

    if (!f)
        return rc;
    if (f->split)
        return mpi_raise_file(self, fh, MPI_ERR_IO,
                              "a split collective access is pending on this file already");
    op = prepare(self, fh, kind, offset, buf, count, datatype, &rc);
    if (!op)
        return rc;
    mpi_type_ref(op->type);
    f->split = op;
    f->split_kind = (uint8_t)kind;
    io_op_start(self, op, self->ent.clock);
    return MPI_SUCCESS;
}

int io_split_end(struct mpi_rank *self, MPI_File fh, unsigned kind, MPI_Status *status)
{
    int rc;
    struct io_file *f = io_file_get(self, fh, &rc);
    struct io_op *op;

    if (!f)
        return rc;
    op = f->split;
    if (!op || f->split_kind != kind)
        return mpi_raise_file(self, fh, MPI_ERR_IO, "no such split collective access was begun");
    f->split = NULL;
    mpi_type_unref(op->type);
    return finish(self, fh, op, status);
}
