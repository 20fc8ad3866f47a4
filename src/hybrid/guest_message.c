/*
 * guest_message.c - the messages of a call: what it sends, and what it receives.
 */
#include "base/mem.h"
#include "hybrid/guest.h"

static struct guest_message message_of(const struct guest_call *g, int buffer, int count, int type,
                                       int peer, int tag)
{
    const uint64_t *a = g->call.args;
    return (struct guest_message){.buffer = {(void *)(uintptr_t)a[buffer], (MPI_Count)a[count],
                                             (MPI_Datatype)a[type]},
                                  .comm = (MPI_Comm)a[native_does(&g->call)->comm],
                                  .peer = (int)a[peer],
                                  .tag = (int)a[tag]};
}

struct guest_message guest_received(const struct guest_call *g)
{
    const struct mpi_effect *f = native_does(&g->call);
    return message_of(g, f->recv_buf, f->recv_count, f->recv_type, f->source, f->recv_tag);
}

/* MPI_Sendrecv_replace and its relatives. */
static int is_replaced(const struct mpi_effect *f)
{
    return f->kind == MPI_DOES_EXCHANGE && f->send_buf == f->recv_buf;
}

struct guest_message guest_sent(const struct guest_call *g)
{
    const struct mpi_effect *f = native_does(&g->call);
    struct guest_message m = message_of(g, f->send_buf, f->send_count, f->send_type, f->dest,
                                        f->send_tag);
    if (!is_replaced(f))
        return m;
    MPI_Comm comm = native_comm_real(m.comm);
    MPI_Count room = 0, used = 0;
    native_real.MPI_Pack_size_c(m.buffer.count, m.buffer.type, comm, &room);
    m.copy = mem_alloc((size_t)room + 1);
    native_real.MPI_Pack_c(m.buffer.at, m.buffer.count, m.buffer.type, m.copy, room, &used, comm);
    m.buffer = (struct guest_buffer){m.copy, used, MPI_PACKED};
    return m;
}

int guest_start_send(const struct guest_message *m, unsigned mode, MPI_Request *request)
{
    int (*const sends[])(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm,
                         MPI_Request *) = {[MPI_MODE_STANDARD] = native_real.MPI_Isend_c,
                                           [MPI_MODE_SYNCHRONOUS] = native_real.MPI_Issend_c,
                                           [MPI_MODE_READY] = native_real.MPI_Irsend_c,
                                           [MPI_MODE_BUFFERED] = native_real.MPI_Ibsend_c};
    return sends[mode](m->buffer.at, m->buffer.count, m->buffer.type, m->peer, m->tag,
                       native_comm_real(m->comm), request);
}

int guest_start_receive(const struct guest_message *m, MPI_Request *request)
{
    return native_real.MPI_Irecv_c(m->buffer.at, m->buffer.count, m->buffer.type, m->peer, m->tag,
                                   native_comm_real(m->comm), request);
}
