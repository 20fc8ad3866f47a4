/*
 * guest_told.c - `--order real`: the real MPI decides which message a receive from any source gets
 * and which request MPI_Waitany returns, and the stand-in is told.
 *
 * The real MPI sees receives as the program posts them. A receive from any source is in the table
 * until it is complete: only then its source is known. A receive behind it that may match the same
 * messages is there, too. When that one is complete, the real MPI has matched the one before it, so
 * it is safe to wait for it: the stand-in must know both.
 *
 * Tests ask the stand-in, as with `--order virtual`: a test succeeds only if its message has
 * arrived in virtual time.
 */
#include <sched.h>

#include "base/array.h"
#include "base/mem.h"
#include "hybrid/guest.h"
#include "mpi_roles.h"

struct posted {
    int64_t number; /* of the request's record; -1: it has none yet */
    MPI_Request handle;
    MPI_Comm comm;
    int source, tag;
};

static struct {
    struct posted *items; /* in the order of posting */
    uint32_t count, room;
} table;

static int is_wild(const struct posted *p)
{
    return p->source == MPI_ANY_SOURCE;
}

/* May both match the same message? */
static int overlap(const struct posted *p, MPI_Comm comm, int source, int tag)
{
    return p->comm == comm && (is_wild(p) || source == MPI_ANY_SOURCE || p->source == source) &&
           (p->tag == MPI_ANY_TAG || tag == MPI_ANY_TAG || p->tag == tag);
}

int guest_told_behind(MPI_Comm comm, int source, int tag)
{
    for (uint32_t i = 0; i < table.count; i++)
        if (is_wild(&table.items[i]) && overlap(&table.items[i], comm, source, tag))
            return 1;
    return 0;
}

static int find(int64_t number)
{
    for (uint32_t i = 0; number >= 0 && i < table.count; i++)
        if (table.items[i].number == number)
            return (int)i;
    return -1;
}

static void drop(uint32_t at)
{
    table.count--;
    for (; at < table.count; at++)
        table.items[at] = table.items[at + 1];
}

void guest_told_forget(int64_t number)
{
    int at = find(number);
    if (at >= 0)
        drop((uint32_t)at);
}

/* ---- posting ---- */

void guest_told_post(int64_t number, MPI_Request handle, MPI_Comm comm, int source, int tag)
{
    ARRAY_RESERVE(table.items, table.room, table.count + 1, 16);
    table.items[table.count++] = (struct posted){number, handle, comm, source, tag};
}

void guest_told_numbered(struct guest_call *g)
{
    struct posted *p = table.count ? &table.items[table.count - 1] : NULL;
    if (!p || p->number >= 0)
        return;
    p->number = native.rank.next_request - 1;
    if (g->rc == MPI_SUCCESS)
        p->handle = *(const MPI_Request *)(uintptr_t)g->call.args[native_does(&g->call)->request];
    else
        table.count--;
}

/* ---- complete ---- */

static void await_real(MPI_Request handle, MPI_Status *status)
{
    int is_done = 0;
    for (;;) {
        native_real.MPI_Request_get_status(handle, &is_done, status);
        if (is_done)
            return;
        GUEST_BLOCKING(sched_yield());
    }
}

static int source_of(const MPI_Status *status)
{
    int is_cancelled = 0;
    native_real.MPI_Test_cancelled(status, &is_cancelled);
    return is_cancelled ? HYBRID_CANCELLED : status->MPI_SOURCE;
}

/* The first receive from any source that was posted before the one with the number (-1: before
 * now), and may match the message; or -1. */
static int find_before(int64_t number, MPI_Comm comm, const MPI_Status *status)
{
    for (uint32_t i = 0; i < table.count; i++) {
        const struct posted *p = &table.items[i];
        if (number >= 0 && p->number == number)
            break;
        if (is_wild(p) && overlap(p, comm, status->MPI_SOURCE, status->MPI_TAG))
            return (int)i;
    }
    return -1;
}

/* A receive with that message is complete: those before it that may match the message have got
 * theirs. The table may be another one after each wait. */
static void learn_before(int64_t number, MPI_Comm comm, const MPI_Status *status)
{
    int at;
    while ((at = find_before(number, comm, status)) >= 0) {
        const struct posted p = table.items[at];
        MPI_Status own;
        await_real(p.handle, &own);
        at = find(p.number);
        if (at < 0)
            continue; /* another thread has said it */
        guest_say_match(p.number, source_of(&own));
        drop((uint32_t)at);
    }
}

/* The receive is complete, if it is in the table. */
static void learn(int64_t number, const MPI_Status *status)
{
    int at = find(number);
    if (at < 0)
        return;
    const struct posted p = table.items[at];
    if (source_of(status) != HYBRID_CANCELLED)
        learn_before(number, p.comm, status);
    at = find(number);
    if (at < 0)
        return;
    if (is_wild(&p))
        guest_say_match(p.number, source_of(status));
    drop((uint32_t)at);
}

/* Waits until the request of the call is complete, if that must be known. */
static void learn_request(int i)
{
    int64_t number = guest_number_at(i);
    int at = find(number);
    MPI_Status status;
    if (at < 0)
        return;
    await_real(table.items[at].handle, &status);
    learn(number, &status);
}

/* Receives of the table that are complete now. */
static void learn_known(void)
{
    for (uint32_t i = 0; i < table.count; i++) {
        MPI_Status status;
        int is_done = 0;
        if (!is_wild(&table.items[i]))
            continue;
        native_real.MPI_Request_get_status(table.items[i].handle, &is_done, &status);
        if (is_done) {
            guest_say_match(table.items[i].number, source_of(&status));
            drop(i--);
        }
    }
}

void guest_told_cancel(MPI_Request *request, int64_t number)
{
    int at = find(number);
    MPI_Status status;
    if (at >= 0 && is_wild(&table.items[at])) {
        native_real.MPI_Cancel(request); /* said when it is complete */
        return;
    }
    guest_flush(HYBRID_ASK_RESULT, 0);
    if (guest.me->answer->flag != HYBRID_TELL)
        return; /* its message has come in virtual time */
    native_real.MPI_Cancel(request);
    await_real(*request, &status);
    guest_say_match(number, source_of(&status));
    guest_send_outcome(0);
    guest_await_answer();
}

/* ---- calls ---- */

static int tells(const struct guest_call *g)
{
    const struct mpi_effect *f = native_does(&g->call);
    const uint64_t *a = g->call.args;
    switch (guest_kind(g->call.fn)) {
    case GUEST_RECEIVES:
        return (int)a[f->source] == MPI_ANY_SOURCE ||
               guest_told_behind((MPI_Comm)a[f->comm], (int)a[f->source], (int)a[f->recv_tag]);
    case GUEST_WAITS:
        return table.count > 0;
    case GUEST_WAITS_SOME:
        return (int)a[0] > 0 && a[f->request] && a[f->index] &&
               (f->out_count < 0 || a[f->out_count]);
    default:
        return 0;
    }
}

void guest_told_enter(struct guest_call *g)
{
    enum guest_kind kind = guest_kind(g->call.fn);
    int asks = table.count && (kind == GUEST_TESTS || kind == GUEST_LOOKS);
    g->tells = (uint8_t)tells(g);
    if (g->tells || asks) /* what is said refers to calls of earlier messages */
        guest_flush(HYBRID_ASK_NOTHING, 0);
    if (asks)
        learn_known();
}

/* MPI_Waitsome, whose statuses must be known. */
static void wait_some(struct guest_call *g)
{
    const struct mpi_effect *f = native_does(&g->call);
    const uint64_t *a = g->call.args;
    int count = (int)a[0], *done = (int *)(uintptr_t)a[f->out_count],
        *indices = (int *)(uintptr_t)a[f->index];
    MPI_Status *given = (MPI_Status *)(uintptr_t)g->call.statuses,
               *own = mem_alloc((size_t)count * sizeof *own);
    GUEST_BLOCKING(g->rc = native_real.MPI_Waitsome(count, (MPI_Request *)(uintptr_t)a[f->request],
                                                    done, indices, own));
    for (int i = 0; *done != MPI_UNDEFINED && i < *done; i++) {
        learn(guest_number_at(indices[i]), &own[i]);
        guest_say_index(indices[i]);
        if (!given)
            continue;
        if (g->rc == MPI_SUCCESS) /* then the real call has not written it */
            own[i].MPI_ERROR = given[i].MPI_ERROR;
        given[i] = own[i];
    }
    mem_free(own);
}

int guest_told_call(struct guest_call *g)
{
    if (guest_block(g))
        return 1;
    guest_flush_telling();
    if (native_does(&g->call)->amount == MPI_AMOUNT_SOME) {
        wait_some(g);
        return 1;
    }
    if (guest_kind(g->call.fn) == GUEST_WAITS) {
        for (uint32_t i = 0; i < guest.me->lane.id_count; i++)
            learn_request((int)i);
        guest_send_outcome(0); /* the rest need not be known */
        g->tells = 0;
    }
    return 0;
}

static void see_any(struct guest_call *g)
{
    int index = *(const int *)(uintptr_t)g->call.args[native_does(&g->call)->index];
    if (index != MPI_UNDEFINED)
        learn(guest_number_at(index), g->call.statuses);
    if (index != MPI_UNDEFINED)
        guest_say_index(index);
}

static void see_received(struct guest_call *g)
{
    const struct mpi_effect *f = native_does(&g->call);
    learn_before(-1, (MPI_Comm)g->call.args[f->comm], g->call.statuses);
    if ((int)g->call.args[f->source] == MPI_ANY_SOURCE)
        guest_say_match(-1, g->call.statuses->MPI_SOURCE);
}

/* A receive that is too short has received nevertheless. */
static int has_failed(int rc)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        native_real.MPI_Error_class(rc, &class);
    return class != MPI_SUCCESS && class != MPI_ERR_TRUNCATE && class != MPI_ERR_IN_STATUS;
}

void guest_told_leave(struct guest_call *g)
{
    int failed = has_failed(g->rc);
    unsigned amount = native_does(&g->call)->amount;
    if (!failed && amount == MPI_AMOUNT_ANY)
        see_any(g);
    else if (!failed && amount != MPI_AMOUNT_SOME)
        see_received(g);
    guest_send_outcome(failed);
}

void guest_told_answer(struct guest_call *g)
{
    (void)g;
    while (guest.me->answer->flag == HYBRID_TELL) {
        const int32_t *which = guest_answer_indices();
        for (int i = 0; i < guest.me->answer->index_count; i++)
            learn_request(which[i]);
        guest_send_outcome(0);
        guest_await_answer();
    }
}
