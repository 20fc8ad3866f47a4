/*
 * data.c - real files: opens them, moves data between a buffer and the pieces of a view, maps
 * errors.
 *
 * Raw system calls only; nothing switches. Pieces that are adjacent in the file take one system
 * call. Data of a non-contiguous buffer goes through a bounded buffer; data to be converted through
 * one of the whole size.
 */
#include "mpi/io/io_internal.h"

#include <errno.h>
#include <stddef.h>

#include "base/mem.h"
#include "base/sys.h"
#include "mpi/datatype/runs.h"

#define CHUNK ((uint64_t)4 << 20)

int io_error_class(int error)
{
    static const struct {
        int error, mpi_class;
    } classes[] = {
        {EACCES, MPI_ERR_ACCESS},       {EPERM, MPI_ERR_ACCESS},
        {ENOENT, MPI_ERR_NO_SUCH_FILE}, {EEXIST, MPI_ERR_FILE_EXISTS},
        {EROFS, MPI_ERR_READ_ONLY},     {ENOSPC, MPI_ERR_NO_SPACE},
        {EDQUOT, MPI_ERR_QUOTA},        {ENAMETOOLONG, MPI_ERR_BAD_FILE},
        {EISDIR, MPI_ERR_BAD_FILE},     {ENOTDIR, MPI_ERR_BAD_FILE},
        {ELOOP, MPI_ERR_BAD_FILE},      {ETXTBSY, MPI_ERR_FILE_IN_USE},
        {EBUSY, MPI_ERR_FILE_IN_USE},
    };

    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (classes[i].error == error)
            return classes[i].mpi_class;
    return MPI_ERR_IO;
}

int io_open_fd(const char *name, int amode, int create)
{
    int flags = amode & MPI_MODE_RDWR ? O_RDWR : amode & MPI_MODE_WRONLY ? O_WRONLY : O_RDONLY;
    int fd;

    if (create && (amode & MPI_MODE_CREATE))
        flags |= O_CREAT;
    if (create && (amode & MPI_MODE_EXCL))
        flags |= O_EXCL;
    do
        fd = sys_open(name, flags, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int64_t io_size(const struct io_file *f)
{
    struct stat st;

    return sys_fstat(f->fd, &st) == 0 ? (int64_t)st.st_size : 0;
}

/* ---- moving ---- */

struct mover {
    const struct io_shared *s;
    int fd;
    uint64_t *tally;
    char *data;     /* next byte of the stream in memory */
    int64_t disp;   /* of the view */
    int64_t at;     /* offset in the file of the piece to be moved */
    uint64_t n;     /* length of that piece */
    uint64_t moved; /* so far */
    int error;      /* MPI class */
    int write, end; /* end: of the file */
};

/* Adds bytes [at, at + n) of the file to the tally of each server. */
static void count_stripes(struct mover *m, uint64_t at, uint64_t n)
{
    const struct io_shared *s = m->s;
    uint32_t servers = io_servers();
    uint64_t round = s->stripe * s->factor, rounds = n / round;

    for (uint32_t k = 0; rounds && k < s->factor; k++)
        m->tally[(s->first + k) % servers] += rounds * s->stripe;
    at += rounds * round;
    n -= rounds * round;
    while (n) {
        uint64_t k = at / s->stripe, rest = s->stripe - at % s->stripe;
        uint64_t take = n < rest ? n : rest;

        m->tally[(s->first + k % s->factor) % servers] += take;
        at += take;
        n -= take;
    }
}

static ssize_t move_once(const struct mover *m, uint64_t done)
{
    off_t at = (off_t)(m->at + (int64_t)done);
    uint64_t n = m->n - done;

    vp_touch(m->data + done, n);
    return m->write ? sys_pwrite(m->fd, m->data + done, n, at)
                    : sys_pread(m->fd, m->data + done, n, at);
}

/* Moves the piece; returns 1 if that was all there is. */
static int flush(struct mover *m)
{
    uint64_t done = 0;

    while (done < m->n) {
        ssize_t got = move_once(m, done);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            m->error = io_error_class(errno);
        if (got <= 0) {
            m->end = 1;
            break;
        }
        done += (uint64_t)got;
    }
    if (done)
        count_stripes(m, (uint64_t)m->at, done);
    m->data += done;
    m->moved += done;
    m->n = 0;
    return m->end;
}

static int piece(void *arg, int64_t at, uint64_t n)
{
    struct mover *m = arg;

    at += m->disp;
    if (m->n && at == m->at + (int64_t)m->n) {
        m->n += n;
        return 0;
    }
    if (m->n && flush(m))
        return 1;
    m->at = at;
    m->n = n;
    return 0;
}

/* Stream bytes [at, at + n) of the view, to or from `data`. */
static void move_stream(struct mover *m, const struct io_view *v, int64_t at, void *data,
                        uint64_t n)
{
    m->data = data;
    mpi_type_runs(v->layout, (uint64_t)at, n, piece, m);
    if (m->n && !m->end)
        flush(m);
}

/* A buffer with holes: a chunk at a time. */
static void move_chunks(struct mover *m, const struct io_op *op)
{
    char *chunk = mem_alloc(op->bytes < CHUNK ? op->bytes : CHUNK);

    for (uint64_t done = 0; done < op->bytes && !m->end;) {
        uint64_t take = op->bytes - done < CHUNK ? op->bytes - done : CHUNK, before = m->moved;

        if (m->write)
            mpi_type_pack_range(op->type, op->count, op->buf, done, chunk, take);
        move_stream(m, &op->file->view, op->at + (int64_t)done, chunk, take);
        if (!m->write)
            mpi_type_unpack_range(op->type, op->count, op->buf, done, chunk, m->moved - before);
        done += take;
    }
    mem_free(chunk);
}

/* Another representation: converted as a whole. After a short read only complete items are
 * converted. */
static uint64_t move_converted(struct mpi_rank *self, struct mover *m, struct io_op *op)
{
    const struct io_datarep *rep = op->file->view.rep;
    uint64_t item = op->count ? op->bytes / op->count : 0;
    char *form = mem_alloc(op->bytes);

    if (m->write)
        m->error = io_datarep_write(self, rep, op->buf, op->count, op->type, form);
    if (!m->error)
        move_stream(m, &op->file->view, op->at, form, op->bytes);
    if (!m->error && !m->write)
        m->error = io_datarep_read(self, rep, op->buf, m->moved / item, op->type, form);
    mem_free(form);
    return m->moved / item * op->type->size;
}

uint64_t io_move(struct mpi_rank *self, struct io_op *op, uint64_t *tally)
{
    const struct io_view *v = &op->file->view;
    struct mover m = {.s = op->file->s,
                      .fd = op->file->fd,
                      .tally = tally,
                      .disp = v->disp,
                      .write = op->kind & IO_WRITE};
    int converts = io_datarep_converts(v->rep);
    uint64_t converted = 0;

    if (op->bytes && v->layout->size) {
        if (converts)
            converted = move_converted(self, &m, op);
        else if (op->type->contig)
            move_stream(&m, v, op->at, op->buf, op->bytes);
        else
            move_chunks(&m, op);
    }
    op->moved = converts ? converted : m.moved;
    op->error = m.error;
    return m.moved;
}
