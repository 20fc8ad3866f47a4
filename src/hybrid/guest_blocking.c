/*
 * guest_blocking.c - blocking calls that send or receive a message, if threads call MPI at the same
 * time.
 *
 * The real MPI and the simulator must see such calls of several threads in the same order, so that
 * the same messages match. So they are started in their non-blocking forms while this thread has
 * the lock, in which it has sent the call to the simulator, and are waited for without it.
 */
#include "base/mem.h"
#include "hybrid/guest.h"

/* What a call has started. */
struct started {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int count;
    void *copy; /* of what is sent, or NULL */
    int rc;
};

static MPI_Request *next(struct started *s)
{
    return &s->requests[s->count++];
}

/* Returns 0 if the call is none of these. */
static int start(struct started *s, const struct guest_call *g)
{
    const struct mpi_effect *f = native_does(&g->call);
    int sends = f->kind == MPI_DOES_SEND || f->kind == MPI_DOES_EXCHANGE,
        receives = calls_receives(f);
    if (f->form != MPI_FORM_BLOCKING || f->is_matched || (!sends && !receives))
        return 0;
    struct guest_message in, out = {0};
    if (sends)
        out = guest_sent(g);
    s->copy = out.copy;
    if (receives) {
        in = guest_received(g);
        s->rc = guest_start_receive(&in, next(s));
    }
    if (sends && s->rc == MPI_SUCCESS)
        s->rc = guest_start_send(&out, f->mode, next(s));
    return 1;
}

/* The receive is the first one. If the send behind it has failed, nobody answers. */
static void wait(struct started *s, struct guest_call *g)
{
    int count = s->rc == MPI_SUCCESS ? s->count : s->count - 1;
    if (count < s->count && count)
        native_real.MPI_Cancel(&s->requests[0]);
    guest_go();
    for (int i = 0; i < count; i++) {
        int rc = native_real.MPI_Wait(&s->requests[i], &s->statuses[i]);
        s->rc = s->rc == MPI_SUCCESS ? rc : s->rc;
    }
    guest_come_back();
    if (g->call.statuses && count) {
        s->statuses[0].MPI_ERROR = g->call.statuses->MPI_ERROR; /* which only MPI_Waitall sets */
        *(MPI_Status *)(uintptr_t)g->call.statuses = s->statuses[0];
    }
}

int guest_block(struct guest_call *g)
{
    struct started s = {0};
    if (!guest.is_threaded || !start(&s, g))
        return 0;
    if (g->tells)
        guest_flush_telling();
    else
        guest_flush_blocking();
    wait(&s, g);
    mem_free(s.copy);
    g->rc = s.rc;
    return 1;
}
