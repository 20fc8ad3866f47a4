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

/* Whether a receive must be held back: it must wait, or may be cancelled. */
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
    struct guest_message m = guest_received(g);
    return (struct lasting){.buffer = m.buffer.at,
                            .count = m.buffer.count,
                            .type = m.buffer.type,
                            .source = m.peer,
                            .tag = m.tag,
                            .comm = m.comm};
}

/* Where the call returns its request. */
static MPI_Request *request_of(const struct guest_call *g)
{
    return (MPI_Request *)(uintptr_t)g->call.args[native_does(&g->call)->request];
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

/* What is also a send cannot be cancelled. */
static int hold_receive(struct guest_call *g)
{
    struct lasting what = receive_of(g);
    int is_pair = native_does(&g->call)->kind == MPI_DOES_EXCHANGE;
    if (is_pair ? !must_wait(what.comm, what.source, what.tag) : !must_hold(&what))
        return 0;
    g->rc = is_pair ? guest_pair_send(g) : MPI_SUCCESS;
    if (g->rc == MPI_SUCCESS)
        post(g, &what, request_of(g));
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
    MPI_Request *request = request_of(g);
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
        uint32_t id = (uint32_t)i < guest.me->lane.id_count ? guest.me->lane.ids[i]
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

static int free_request(struct guest_call *g)
{
    MPI_Request *request = request_of(g);
    forget_lasting(*request);
    guest_free_cancelled(request, guest_number_at(0));
    if (guest.is_real)
        guest_told_forget(guest_number_at(0));
    return 0;
}

int guest_hold(struct guest_call *g)
{
    const struct mpi_effect *f = native_does(&g->call);
    switch (f->kind) {
    case MPI_DOES_START:
        return start_all(g, f->amount == MPI_AMOUNT_ONE ? 1 : (int)g->call.args[0], request_of(g));
    case MPI_DOES_RELEASE:
        return free_request(g);
    default:
        return f->form == MPI_FORM_PERSISTENT ? keep_lasting(g) : hold_receive(g);
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
    if (guest.is_real)
        return;
    for (int32_t i = 0; i < guest.me->answer->match_count; i++)
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
    guest_flush(i == held.count     ? HYBRID_ASK_NOTHING
                : guest.is_threaded ? HYBRID_ASK_RESULT
                                    : HYBRID_ASK_MAYBE,
                0);
    if (i < held.count)
        guest_release();
}

/* Its message is in the program's buffer: the real request is complete. */
static void receive_held(MPI_Request handle)
{
    MPI_Request real = find(handle)->real;
    MPI_Status status;
    int rc;
    GUEST_BLOCKING(rc = native_real.MPI_Wait(&real, &status));
    struct held *h = find(handle); /* the table may be another one */
    h->is_done = 1;
    h->rc = rc;
    h->status = status;
}

void guest_held_status(MPI_Request handle, MPI_Status *status)
{
    if (!find(handle)->is_started)
        log_fatal("a receive is complete, but not known to have a message");
    if (!find(handle)->is_done)
        receive_held(handle);
    *status = find(handle)->status;
}

int guest_finish_held(MPI_Request *request, MPI_Status *status, int is_cancelled)
{
    struct held *h = find(*request);
    if (h->is_started == is_cancelled)
        log_fatal("a receive is complete, but not known to have a message");
    int rc = MPI_SUCCESS;
    if (is_cancelled) {
        native_real.MPI_Status_set_cancelled(status, 1);
    } else {
        if (!h->is_done)
            receive_held(*request);
        h = find(*request);
        *status = h->status;
        rc = h->rc;
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
    for (int32_t i = 0; i < guest.me->answer->match_count; i++)
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
    return !guest.me->answer->is_failed;
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
        GUEST_BLOCKING(g->rc = native_real.MPI_Recv_c(to.at, to.count, to.type, source, tag,
                                                      native_comm_real(comm), status_of(g)));
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
    struct guest_message in = guest_received(g);
    MPI_Request sent;
    if (!must_wait(in.comm, in.peer, in.tag))
        return 0;
    struct guest_message out = guest_sent(g);
    guest_start_send(&out, MPI_MODE_STANDARD, &sent);
    take(g, in.buffer, in.comm, in.peer, in.tag);
    GUEST_BLOCKING(native_real.MPI_Wait(&sent, MPI_STATUS_IGNORE));
    mem_free(out.copy);
    return 1;
}

/* A message that a matched probe has found is there: so is that of MPI_Imrecv, at once. */
int guest_take_matched(struct guest_call *g)
{
    const struct mpi_effect *f = native_does(&g->call);
    const uint64_t *a = g->call.args;
    struct guest_buffer to = {(void *)(uintptr_t)a[f->recv_buf], (MPI_Count)a[f->recv_count],
                              (MPI_Datatype)a[f->recv_type]};
    struct lasting what = {.buffer = to.at, .count = to.count, .type = to.type};
    MPI_Message *message = (MPI_Message *)(uintptr_t)a[f->message];
    MPI_Status status;
    int rc;
    if (g->is_early)
        guest_flush_blocking();
    if (!calls_makes_request(f))
        return guest_stash_receive_claimed(message, &to, status_of(g), &g->rc);
    if (!guest_stash_receive_claimed(message, &to, &status, &rc))
        return 0;
    g->rc = native_real.MPI_Grequest_start(query, release, cancel, NULL, &what.handle);
    if (g->rc != MPI_SUCCESS)
        return 1;
    *request_of(g) = what.handle;
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
    const struct mpi_effect *f = native_does(&g->call);
    const uint64_t *a = g->call.args;
    int source = (int)a[f->source], tag = (int)a[f->recv_tag], is_test = f->flag >= 0;
    MPI_Comm given = (MPI_Comm)a[f->comm], comm = native_comm_real(given);
    if (!is_test && !must_wait(given, source, tag))
        return 0;
    if (!ask(&source, &tag))
        return WRONG;
    g->rc = MPI_SUCCESS;
    if (is_test)
        *(int *)(uintptr_t)a[f->flag] = guest.me->answer->flag;
    MPI_Message *message = f->is_matched ? (MPI_Message *)(uintptr_t)a[f->message] : NULL;
    if (message)
        *message = MPI_MESSAGE_NULL;
    if (is_test && !guest.me->answer->flag)
        return 1;
    if (guest_stash_probe(given, source, tag, message, status_of(g)))
        return 1;
    GUEST_BLOCKING(g->rc = message
                               ? native_real.MPI_Mprobe(source, tag, comm, message, status_of(g))
                               : native_real.MPI_Probe(source, tag, comm, status_of(g)));
    return 1;
}

int guest_receive(struct guest_call *g)
{
    unsigned kind = native_does(&g->call)->kind;
    int done = kind == MPI_DOES_RECEIVE    ? receive(g)
               : kind == MPI_DOES_EXCHANGE ? exchange(g)
                                           : probe(g);
    if (!done && guest_block(g))
        return 1;
    if (!done)
        guest_flush_blocking();
    return done == 1;
}
