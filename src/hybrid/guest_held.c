/*
 * guest_held.c - receives that wait for a decision of the simulator.
 *
 * A receive from any source gets the message that is first in virtual time, not the one that
 * happens to come first. So the real MPI sees it only when the stand-in knows the source, and then
 * as a receive from that one. Receives that were posted later and may match the same messages wait
 * behind it. What the real MPI sees of receives and sends of one source is then in the order of the
 * simulator, and matches alike. In a program that cancels receives, whether a non-blocking one gets
 * a message at all is such a decision, too.
 *
 * In the meantime the program's request is a generalized one.
 */
#include "hybrid/guest.h"

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "mpi_roles.h"

struct held {
    MPI_Request handle; /* of the program */
    MPI_Request real;   /* once it is started */
    uint8_t is_persistent, is_started, is_known;
    uint8_t is_open; /* which message it gets, or whether, is not decided */
    uint8_t is_done; /* it has its message, with this status and error */
    int rc;
    MPI_Status status;
    int64_t number;             /* of the record; -1: it has none yet */
    struct guest_buffer buffer; /* with its own copy of the datatype */
    MPI_Comm comm;
    int source, tag;
};

/* A persistent receive as it was made. */
struct lasting {
    MPI_Request handle;
    const void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Comm comm;
    int source, tag;
};

static struct {
    struct held *items; /* in the order of posting */
    uint32_t count, room;
    struct lasting *lasting;
    uint32_t lasting_count, lasting_room;
} held;

static int query(void *state, MPI_Status *status)
{
    (void)state;
    native_real.MPI_Status_set_elements(status, MPI_BYTE, 0);
    native_real.MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int is_complete)
{
    (void)state, (void)is_complete;
    return MPI_SUCCESS;
}

/* ---- which must wait ---- */

static int overlap(const struct held *h, MPI_Comm comm, int source, int tag)
{
    return h->comm == comm &&
           (h->source == MPI_ANY_SOURCE || source == MPI_ANY_SOURCE || h->source == source) &&
           (h->tag == MPI_ANY_TAG || tag == MPI_ANY_TAG || h->tag == tag);
}

/* Behind one of the first `count`. */
static int is_behind(uint32_t count, MPI_Comm comm, int source, int tag)
{
    for (uint32_t i = 0; i < count; i++)
        if (!held.items[i].is_started && overlap(&held.items[i], comm, source, tag))
            return 1;
    return 0;
}

/* Whether a receive must wait: it is from any source, or an earlier one that is may take its
 * message; or messages are in the stash, of which it must be known whether it gets one. */
static int must_wait(MPI_Comm comm, int source, int tag)
{
    return source == MPI_ANY_SOURCE || guest_stash_count() ||
           (guest.is_real ? guest_told_behind(comm, source, tag)
                          : is_behind(held.count, comm, source, tag));
}

/* The same for a receive that can be cancelled. */
static int must_hold(const struct lasting *r)
{
    return (guest.may_cancel && !guest.is_real && r->source != MPI_PROC_NULL) ||
           must_wait(r->comm, r->source, r->tag);
}

static struct held *find(MPI_Request handle)
{
    for (uint32_t i = 0; i < held.count; i++)
        if (held.items[i].handle == handle)
            return &held.items[i];
    return NULL;
}

int guest_is_held(MPI_Request handle)
{
    return held.count && find(handle);
}

/* ---- posting ---- */

static void hold(const struct lasting *what, int is_persistent)
{
    struct held h = {.handle = what->handle,
                     .is_persistent = (uint8_t)is_persistent,
                     .is_open = what->source == MPI_ANY_SOURCE || what->tag == MPI_ANY_TAG ||
                                guest.may_cancel,
                     .number = -1,
                     .buffer = {(void *)(uintptr_t)what->buffer, what->count, MPI_DATATYPE_NULL},
                     .comm = what->comm,
                     .source = what->source,
                     .tag = what->tag};
    native_real.MPI_Type_dup(what->type, &h.buffer.type);
    ARRAY_RESERVE(held.items, held.room, held.count + 1, 16);
    held.items[held.count++] = h;
}

static struct lasting receive_of(const struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    return (struct lasting){.buffer = (const void *)(uintptr_t)a[0],
                            .count = (MPI_Count)a[1],
                            .type = (MPI_Datatype)a[2],
                            .source = (int)a[3],
                            .tag = (int)a[4],
                            .comm = (MPI_Comm)a[5]};
}

/* A non-blocking receive whose message is not known. */
static void post(struct guest_call *g, struct lasting *what, MPI_Request *request)
{
    if (guest.is_real) {
        guest_told_post(-1, MPI_REQUEST_NULL, what->comm, what->source, what->tag);
        g->rc = native_real.MPI_Irecv_c((void *)(uintptr_t)what->buffer, what->count, what->type,
                                        what->source, what->tag, native_comm_real(what->comm),
                                        request);
        return;
    }
    g->rc = native_real.MPI_Grequest_start(query, release, cancel, NULL, request);
    if (g->rc != MPI_SUCCESS)
        return;
    what->handle = *request;
    hold(what, 0);
}

static int hold_irecv(struct guest_call *g)
{
    struct lasting what = receive_of(g);
    if (!must_hold(&what))
        return 0;
    post(g, &what, (MPI_Request *)(uintptr_t)g->call.args[6]);
    return 1;
}

/* It cannot be cancelled. */
static int hold_isendrecv(struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    enum mpi_fn fn = g->call.fn;
    int is_replaced = fn == MPI_FN_ISENDRECV_REPLACE || fn == MPI_FN_ISENDRECV_REPLACE_C;
    const uint64_t *in = is_replaced ? a : a + 5, *from = a + (is_replaced ? 5 : 8);
    struct lasting what = {.buffer = (const void *)(uintptr_t)in[0],
                           .count = (MPI_Count)in[1],
                           .type = (MPI_Datatype)in[2],
                           .source = (int)from[0],
                           .tag = (int)from[1],
                           .comm = (MPI_Comm)from[2]};
    if (!must_wait(what.comm, what.source, what.tag))
        return 0;
    g->rc = guest_pair_send(g, is_replaced);
    if (g->rc == MPI_SUCCESS)
        post(g, &what, (MPI_Request *)(uintptr_t)from[3]);
    return 1;
}

static struct lasting *find_lasting(MPI_Request handle)
{
    for (uint32_t i = 0; i < held.lasting_count; i++)
        if (held.lasting[i].handle == handle)
            return &held.lasting[i];
    return NULL;
}

static int keep_lasting(struct guest_call *g)
{
    struct lasting what = receive_of(g);
    MPI_Request *request = (MPI_Request *)(uintptr_t)g->call.args[6];
    g->rc = native_real.MPI_Recv_init_c((void *)(uintptr_t)what.buffer, what.count, what.type,
                                        what.source, what.tag, native_comm_real(what.comm),
                                        request);
    if (g->rc != MPI_SUCCESS)
        return 1;
    what.handle = *request;
    ARRAY_RESERVE(held.lasting, held.lasting_room, held.lasting_count + 1, 16);
    held.lasting[held.lasting_count++] = what;
    return 1;
}

static int start(MPI_Request *request, int64_t number)
{
    const struct lasting *what = find_lasting(*request);
    if (!what || !must_hold(what))
        return native_real.MPI_Start(request);
    if (guest.is_real) {
        guest_told_post(number, *request, what->comm, what->source, what->tag);
        return native_real.MPI_Start(request);
    }
    hold(what, 1);
    held.items[held.count - 1].number = number;
    return MPI_SUCCESS;
}

static int start_all(struct guest_call *g, int count, MPI_Request *requests)
{
    g->rc = MPI_SUCCESS;
    for (int i = 0; i < count && g->rc == MPI_SUCCESS; i++) {
        uint32_t id = (uint32_t)i < guest.lane.id_count ? guest.lane.ids[i]
                                                        : (uint32_t)MPI_REQUEST_NULL;
        g->rc = start(&requests[i], recorder_request(&native.rank, id));
    }
    return 1;
}

static void forget_lasting(MPI_Request handle)
{
    struct lasting *what = find_lasting(handle);
    if (what)
        *what = held.lasting[--held.lasting_count];
}

int guest_hold(struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    switch (g->call.fn) {
    case MPI_FN_IRECV:
    case MPI_FN_IRECV_C:
        return hold_irecv(g);
    case MPI_FN_ISENDRECV:
    case MPI_FN_ISENDRECV_C:
    case MPI_FN_ISENDRECV_REPLACE:
    case MPI_FN_ISENDRECV_REPLACE_C:
        return hold_isendrecv(g);
    case MPI_FN_RECV_INIT:
    case MPI_FN_RECV_INIT_C:
        return keep_lasting(g);
    case MPI_FN_START:
        return start_all(g, 1, (MPI_Request *)(uintptr_t)a[0]);
    case MPI_FN_STARTALL:
        return start_all(g, (int)a[0], (MPI_Request *)(uintptr_t)a[1]);
    default: /* MPI_Request_free */
        forget_lasting(*(const MPI_Request *)(uintptr_t)a[0]);
        guest_free_cancelled((MPI_Request *)(uintptr_t)a[0], guest_number_at(0));
        if (guest.is_real)
            guest_told_forget(guest_number_at(0));
        return 0;
    }
}

void guest_held_numbered(void)
{
    if (held.count && held.items[held.count - 1].number < 0)
        held.items[held.count - 1].number = native.rank.next_request - 1;
}

/* ---- decided ---- */

static void learn(const struct hybrid_match *m)
{
    for (uint32_t i = 0; i < held.count; i++) {
        struct held *h = &held.items[i];
        if (h->number != m->request || h->is_known)
            continue;
        h->is_known = 1;
        h->is_open = 0;
        if (!h->is_started) {
            h->source = m->source;
            h->tag = m->tag;
        }
    }
}

void guest_release(void)
{
    const struct hybrid_match *m = guest_answer_matches();
    for (int32_t i = 0; i < guest.answer->match_count; i++)
        if (m[i].request >= 0 && m[i].source != HYBRID_CANCELLED)
            learn(&m[i]);
    for (uint32_t i = 0; i < held.count; i++) {
        struct held *h = &held.items[i];
        if (h->is_started || h->is_open || is_behind(i, h->comm, h->source, h->tag))
            continue;
        h->is_started = 1;
        h->is_done = (uint8_t)guest_stash_receive(h->comm, h->source, h->tag, &h->buffer,
                                                  &h->status, &h->rc);
        if (!h->is_done)
            native_real.MPI_Irecv_c(h->buffer.at, h->buffer.count, h->buffer.type, h->source,
                                    h->tag, native_comm_real(h->comm), &h->real);
    }
}

void guest_pull_held(void)
{
    for (uint32_t i = 0; i < held.count; i++)
        if (!held.items[i].is_started)
            guest_stash_pull(held.items[i].comm, held.items[i].source, held.items[i].tag);
}

void guest_flush_blocking(void)
{
    uint32_t i = 0;
    while (i < held.count && held.items[i].is_started)
        i++;
    guest_flush(i < held.count ? HYBRID_ASK_RESULT : HYBRID_ASK_NOTHING, 0);
    if (i < held.count)
        guest_release();
}

int guest_finish_held(MPI_Request *request, MPI_Status *status, int is_cancelled)
{
    struct held *h = find(*request);
    if (h->is_started == is_cancelled)
        log_fatal("a receive is complete, but not known to have a message");
    int rc = MPI_SUCCESS;
    if (is_cancelled) {
        native_real.MPI_Status_set_cancelled(status, 1);
    } else if (h->is_done) {
        *status = h->status;
        rc = h->rc;
    } else {
        rc = native_real.MPI_Wait(&h->real, status);
    }
    if (!h->is_persistent) {
        native_real.MPI_Grequest_complete(h->handle);
        native_real.MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    native_real.MPI_Type_free(&h->buffer.type);
    held.count--;
    for (; h < held.items + held.count; h++)
        h[0] = h[1];
    return rc;
}

/* ---- receives and probes by themselves ---- */

/* The message that the call got, if it was decided. */
static void decided(int *source, int *tag)
{
    const struct hybrid_match *m = guest_answer_matches();
    for (int32_t i = 0; i < guest.answer->match_count; i++)
        if (m[i].request < 0) {
            *source = m[i].source;
            *tag = m[i].tag;
        }
}

/* Returns 0 if the call is wrong, as the real one will say. */
static int ask(int *source, int *tag)
{
    guest_flush(HYBRID_ASK_RESULT, 0);
    guest_release();
    decided(source, tag);
    return !guest.answer->is_failed;
}

static MPI_Status *status_of(struct guest_call *g)
{
    return (MPI_Status *)(uintptr_t)g->call.statuses;
}

/* Asks which message it is, and receives it. */
static void take(struct guest_call *g, struct guest_buffer to, MPI_Comm comm, int source, int tag)
{
    ask(&source, &tag);
    if (!guest_stash_receive(comm, source, tag, &to, status_of(g), &g->rc))
        g->rc = native_real.MPI_Recv_c(to.at, to.count, to.type, source, tag,
                                       native_comm_real(comm), status_of(g));
}

static int receive(struct guest_call *g)
{
    struct lasting r = receive_of(g);
    if (!must_wait(r.comm, r.source, r.tag))
        return 0;
    take(g, (struct guest_buffer){(void *)(uintptr_t)r.buffer, r.count, r.type}, r.comm, r.source,
         r.tag);
    return 1;
}

/* The send begins before the question: what comes back may depend on it. */
static int exchange(struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    int source = (int)a[8], tag = (int)a[9];
    MPI_Comm comm = (MPI_Comm)a[10];
    MPI_Request sent;
    if (!must_wait(comm, source, tag))
        return 0;
    native_real.MPI_Isend_c((const void *)(uintptr_t)a[0], (MPI_Count)a[1], (MPI_Datatype)a[2],
                            (int)a[3], (int)a[4], native_comm_real(comm), &sent);
    take(g, (struct guest_buffer){(void *)(uintptr_t)a[5], (MPI_Count)a[6], (MPI_Datatype)a[7]},
         comm, source, tag);
    native_real.MPI_Wait(&sent, MPI_STATUS_IGNORE);
    return 1;
}

static int exchange_in_place(struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    int source = (int)a[5], tag = (int)a[6];
    MPI_Comm comm = native_comm_real((MPI_Comm)a[7]);
    struct guest_buffer to = {(void *)(uintptr_t)a[0], (MPI_Count)a[1], (MPI_Datatype)a[2]};
    MPI_Count room = 0, used = 0;
    MPI_Request sent;
    if (!must_wait((MPI_Comm)a[7], source, tag))
        return 0;
    native_real.MPI_Pack_size_c(to.count, to.type, comm, &room);
    void *copy = mem_alloc((size_t)room + 1);
    native_real.MPI_Pack_c(to.at, to.count, to.type, copy, room, &used, comm);
    native_real.MPI_Isend_c(copy, used, MPI_PACKED, (int)a[3], (int)a[4], comm, &sent);
    take(g, to, (MPI_Comm)a[7], source, tag);
    native_real.MPI_Wait(&sent, MPI_STATUS_IGNORE);
    mem_free(copy);
    return 1;
}

/* A message that a matched probe has found is there: so is that of MPI_Imrecv, at once. */
int guest_take_matched(struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    enum mpi_fn fn = g->call.fn;
    struct guest_buffer to = {(void *)(uintptr_t)a[0], (MPI_Count)a[1], (MPI_Datatype)a[2]};
    struct lasting what = {.buffer = to.at, .count = to.count, .type = to.type};
    MPI_Message *message = (MPI_Message *)(uintptr_t)a[3];
    MPI_Status status;
    int rc;
    if (g->is_early)
        guest_flush_blocking();
    if (fn == MPI_FN_MRECV || fn == MPI_FN_MRECV_C)
        return guest_stash_receive_claimed(message, &to, status_of(g), &g->rc);
    if (!guest_stash_receive_claimed(message, &to, &status, &rc))
        return 0;
    g->rc = native_real.MPI_Grequest_start(query, release, cancel, NULL, &what.handle);
    if (g->rc != MPI_SUCCESS)
        return 1;
    *(MPI_Request *)(uintptr_t)a[4] = what.handle;
    hold(&what, 0);
    struct held *h = &held.items[held.count - 1];
    h->is_open = 0;
    h->is_known = h->is_started = h->is_done = 1;
    h->status = status;
    h->rc = rc;
    return 1;
}

#define WRONG -1 /* the call is known, and is to be made */

static int probe(struct guest_call *g)
{
    const uint64_t *a = g->call.args;
    int source = (int)a[0], tag = (int)a[1];
    MPI_Comm comm = native_comm_real((MPI_Comm)a[2]);
    enum mpi_fn fn = g->call.fn;
    int is_test = guest_kind(fn) == GUEST_LOOKS;
    if (!is_test && !must_wait((MPI_Comm)a[2], source, tag))
        return 0;
    if (!ask(&source, &tag))
        return WRONG;
    g->rc = MPI_SUCCESS;
    if (is_test)
        *(int *)(uintptr_t)a[3] = guest.answer->flag;
    MPI_Message *message = (MPI_Message *)(uintptr_t)a[fn == MPI_FN_IMPROBE ? 4 : 3];
    int is_matched = fn == MPI_FN_MPROBE || fn == MPI_FN_IMPROBE;
    if (is_matched)
        *message = MPI_MESSAGE_NULL;
    if (is_test && !guest.answer->flag)
        return 1;
    if (guest_stash_probe((MPI_Comm)a[2], source, tag, is_matched ? message : NULL, status_of(g)))
        return 1;
    g->rc = is_matched ? native_real.MPI_Mprobe(source, tag, comm, message, status_of(g))
                       : native_real.MPI_Probe(source, tag, comm, status_of(g));
    return 1;
}

int guest_receive(struct guest_call *g)
{
    int done;
    switch (g->call.fn) {
    case MPI_FN_RECV:
    case MPI_FN_RECV_C:
        done = receive(g);
        break;
    case MPI_FN_SENDRECV:
    case MPI_FN_SENDRECV_C:
        done = exchange(g);
        break;
    case MPI_FN_SENDRECV_REPLACE:
    case MPI_FN_SENDRECV_REPLACE_C:
        done = exchange_in_place(g);
        break;
    default:
        done = probe(g);
    }
    if (!done)
        guest_flush_blocking();
    return done == 1;
}
