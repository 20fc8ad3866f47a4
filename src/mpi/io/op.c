/*
 * op.c - an access from its start to its completion, in virtual time.
 *
 *     turn      in atomic mode: the file's agent gives the file to one access after the other
 *     pointer   with the shared file pointer: the agent says where
 *     data      the real file is read or written; one request goes to each server that has some of
 *               the bytes; the access is complete when the last has answered
 *
 * Each step is taken when the answer to the previous one arrives, with the time that it carries, in
 * the context of the rank, whatever that is doing. Nothing here switches except functions
 * documented to block.
 *
 * In atomic mode an access keeps its turn until it is complete, so the real accesses happen in the
 * order of virtual time, each as a whole, for any schedule.
 */
#include "mpi/io/io_internal.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "mpi/stats.h"

struct io_op *io_op_new(struct io_file *f)
{
    struct io_op *op = pool_alloc(&mpi_world.pool, sizeof *op);

    memset(op, 0, sizeof *op);
    op->file = f;
    op->req = &op->own;
    op->own.kind = MPI_REQ_WORK;
    return op;
}

void io_op_free(struct io_op *op)
{
    pool_free(&mpi_world.pool, op, sizeof *op);
}

static void complete(struct mpi_rank *self, struct io_op *op, vtime t)
{
    struct mpi_req *req = op->req;
    int error = op->error;

    assert(!op->file || op->file->pending > 0);
    if (op->file) {
        op->file->pending--;
        if (t > op->file->ended)
            op->file->ended = t;
        if (op->turn)
            io_ask_first(self, op->file, IO_ASK_TURN_END, 0, NULL, t);
    }
    req->bytes = op->moved;
    if (req != &op->own)
        io_op_free(op);
    mpi_req_done(req, t, error);
}

/* ---- data ---- */

/* Zeroed memory for one number per server; used by one access at a time, which does not switch. */
static uint64_t *tally_room(void)
{
    static uint64_t *room;

    if (!room)
        room = mem_alloc(io_servers() * sizeof *room);
    memset(room, 0, io_servers() * sizeof *room);
    return room;
}

/* An individual file pointer stays where the end of the file was. */
static void stop_short(struct io_op *op, uint64_t stream)
{
    if (stream < op->bytes && !(op->kind & (IO_AT | IO_SHARED | IO_ORDERED)))
        op->file->position -= (int64_t)(op->bytes - stream);
}

static void transfer(struct mpi_rank *self, struct io_op *op, vtime t)
{
    uint64_t *tally = tally_room();
    enum io_ask what = op->kind & IO_WRITE ? IO_ASK_WRITE : IO_ASK_READ;

    op->stage = IO_STAGE_DATA;
    stop_short(op, io_move(self, op, tally));
    mpi_observe_access(self, op->kind & IO_WRITE ? MPI_ACCESS_WRITE : MPI_ACCESS_READ, 0,
                       op->moved);
    op->last = t;
    for (uint32_t s = 0, n = io_servers(); s < n; s++)
        if (tally[s]) {
            op->waiting++;
            io_ask_server(self, s, what, tally[s], op, t);
        }
    if (op->waiting == 0)
        complete(self, op, t);
}

static void find_place(struct mpi_rank *self, struct io_op *op, vtime t)
{
    if (!(op->kind & IO_SHARED)) {
        transfer(self, op, t);
        return;
    }
    op->stage = IO_STAGE_POINTER;
    io_ask_first(self, op->file, IO_ASK_ADD, (int64_t)op->bytes, op, t);
}

void io_op_start(struct mpi_rank *self, struct io_op *op, vtime t)
{
    op->file->pending++;
    if (!op->file->atomic) {
        find_place(self, op, t);
        return;
    }
    op->stage = IO_STAGE_TURN;
    op->turn = 1;
    io_ask_first(self, op->file, IO_ASK_TURN, 0, op, t);
}

void io_op_answer(struct mpi_rank *self, struct io_op *op, const struct mpi_msg *m)
{
    vtime t = m->em.arrival;

    switch ((enum io_stage)op->stage) {
    case IO_STAGE_TURN:
        find_place(self, op, t);
        break;
    case IO_STAGE_POINTER:
        op->at = (int64_t)m->bytes;
        transfer(self, op, t);
        break;
    case IO_STAGE_DATA:
        if (t > op->last)
            op->last = t;
        if (--op->waiting == 0)
            complete(self, op, op->last);
        break;
    case IO_STAGE_SINGLE:
        op->at = (int64_t)m->bytes;
        complete(self, op, t);
        break;
    }
}

/* ---- single requests ---- */

static struct io_op *question(void)
{
    struct io_op *op = io_op_new(NULL);

    op->stage = IO_STAGE_SINGLE;
    return op;
}

static int64_t ask_and_wait(struct mpi_rank *self, struct io_op *op)
{
    int64_t value;

    mpi_p2p_wait(self, &op->own);
    value = op->at;
    io_op_free(op);
    return value;
}

void io_metadata(struct mpi_rank *self, uint64_t hash)
{
    struct io_op *op = question();

    io_ask_server(self, (uint32_t)(hash % io_servers()), IO_ASK_METADATA, 0, op, self->ent.clock);
    ask_and_wait(self, op);
}

void io_flush(struct mpi_rank *self, const struct io_file *f)
{
    struct io_op *op = question();

    io_ask_server(self, f->s->first, IO_ASK_WRITE, 0, op, self->ent.clock);
    ask_and_wait(self, op);
}

int64_t io_pointer(struct mpi_rank *self, struct io_file *f, enum io_pointer how, int64_t value)
{
    struct io_op *op = question();

    io_ask_first(self, f, how == IO_POINTER_ADD ? IO_ASK_ADD : IO_ASK_SET, value, op,
                 self->ent.clock);
    return ask_and_wait(self, op);
}
