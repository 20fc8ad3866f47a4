/*
 * causes_calls.c - what each call does, by its kind.
 */
#include "analysis/bytes.h"
#include "analysis/causes_internal.h"

/* ---- arguments ---- */

static int64_t number(const struct trace_event *e, int8_t at, int64_t otherwise)
{
    return at >= 0 ? e->args[at].number : otherwise;
}

static struct handles_mine comm_of(const struct causes *r, const struct lane *l, int64_t local)
{
    return handles_comm(&r->lanes[l->rank].handles, local);
}

/* The world rank of a peer; -1: there is none, or it is not known. */
static int64_t peer_of(const struct causes *r, const struct lane *l, int64_t local, int64_t peer)
{
    return handles_peer(&r->book, &r->lanes[l->rank].handles, comm_of(r, l, local), peer);
}

/* ---- requests ---- */

#define KEY_MESSAGE(number) ((uint64_t)(number) | UINT64_C(1) << 62) /* handles of MPI_Mprobe */

static struct request *request_new(struct causes *r, struct lane *l, uint64_t key)
{
    struct request *q = pool_alloc(&r->pool, sizeof *q);
    pool_prefetch(&r->pool, sizeof *q);
    *q = (struct request){.dest = -1};
    *map_insert(&r->lanes[l->rank].requests, key, NULL) = (uint64_t)(uintptr_t)q;
    return q;
}

static struct request *request_find(const struct causes *r, const struct lane *l, uint64_t key)
{
    const uint64_t *at = map_find(&r->lanes[l->rank].requests, key);
    return at ? (struct request *)(uintptr_t)*at : NULL;
}

static void request_free(struct causes *r, struct lane *l, uint64_t key, struct request *q)
{
    map_remove(&r->lanes[l->rank].requests, key);
    if (q->message)
        q->message->request = NULL;
    pool_free(&r->pool, q, sizeof *q);
}

/* ---- partitioned messages ---- */

/* They match only their like, and by the order in which both sides have made their requests,
 * whatever the order in which these are started: each request has a channel of its own, whose
 * "communicator" stands for communicator and tag, and whose tag for that order. */
static void find_partner(struct causes *r, struct lane *l, struct request *q, int64_t peer,
                         int64_t tag, int is_receive)
{
    uint32_t comm = comm_of(r, l, q->comm).comm;
    if (comm == HANDLES_NONE || peer < 0)
        return;
    int is_new;
    uint64_t *kind = map_insert(&r->partitioned, (uint64_t)comm << 32 | (uint32_t)tag, &is_new);
    if (is_new)
        *kind = map_count(&r->partitioned);
    q->channel = COMM_PARTITIONED | (uint32_t)*kind;
    uint64_t key = *kind << 33 | (uint64_t)peer << 1 | (unsigned)is_receive;
    q->send_tag = q->recv_tag = (int32_t)(*map_insert(&r->lanes[l->rank].partitioned, key, NULL))++;
}

/* What stands for the communicator in the channel of a message. */
static uint32_t channel_comm(struct handles_mine mine, const struct request *q)
{
    return q && q->channel ? q->channel : mine.comm;
}

/* ---- starting ---- */

static void send(struct causes *r, struct lane *l, int64_t comm, int64_t dest, int64_t tag,
                 uint64_t bytes, int waits, struct request *q)
{
    struct handles_mine mine = comm_of(r, l, comm);
    if (dest >= 0 && mine.comm != HANDLES_NONE)
        match_send(r, l,
                   &(struct send){channel_comm(mine, q), (uint32_t)dest, (int32_t)tag, bytes, waits,
                                  q});
}

/* What a call sends that is not persistent. */
static void send_now(struct causes *r, struct lane *l, const struct mpi_effect *s,
                     const struct trace_event *e, int waits, struct request *q)
{
    int64_t comm = number(e, s->comm, -1);
    send(r, l, comm, peer_of(r, l, comm, number(e, s->dest, -1)), number(e, s->send_tag, 0),
         bytes_of_message(&r->lanes[l->rank].handles, s, e), waits, q);
}

/* `source` is a rank of the communicator, or a wildcard. */
static struct receive *post(struct causes *r, struct lane *l, int64_t comm, int64_t source,
                            int64_t tag, const struct request *q)
{
    struct handles_mine mine = comm_of(r, l, comm);
    if (source != ANY_SOURCE)
        source = peer_of(r, l, comm, source);
    return (source < 0 && source != ANY_SOURCE) || mine.comm == HANDLES_NONE
               ? NULL
               : match_post(r, l, channel_comm(mine, q), source, tag);
}

/* A blocking receive: its message is known at once. */
static void receive_now(struct causes *r, struct lane *l, const struct mpi_effect *s,
                        const struct trace_event *e)
{
    int64_t comm = number(e, s->comm, -1), tag = number(e, s->recv_tag, ANY_TAG);
    const struct trace_status *status = e->args[s->status].statuses;
    struct trace_status given = {(int32_t)peer_of(r, l, comm, number(e, s->source, -1)),
                                 (int32_t)tag, 0, tag != ANY_TAG, 0};
    struct handles_mine mine = comm_of(r, l, comm);
    if (status->is_set && status->tag < 0) { /* old versions of DUMPI have none */
        given = *status;
        given.tag = (int32_t)tag;
    }
    if (!status->is_set || status->tag < 0)
        status = &given; /* some recorders leave out what is known anyway */
    if (!status->is_set || status->is_cancelled || status->source < 0 ||
        (uint64_t)status->source >= r->ranks || mine.comm == HANDLES_NONE)
        return;
    match_complete(r, l, match_post(r, l, mine.comm, status->source, status->tag), status, 1);
}

static void start(struct causes *r, struct lane *l, struct request *q)
{
    q->is_cancelled = 0;
    q->parts_ready = 0;
    if (q->shape->kind == MPI_DOES_COLLECTIVE)
        coll_enter(r, l, q->shape, q->comm, q->root, q);
    else if (q->shape->kind == MPI_DOES_RECEIVE)
        q->receive = post(r, l, q->comm, q->source, q->recv_tag, q);
    else if (!q->parts)
        send(r, l, q->comm, q->dest, q->send_tag, q->bytes, 0, q);
}

/* A partitioned message is sent when the last of its partitions is ready. */
static void ready(struct causes *r, struct lane *l, const struct mpi_effect *s,
                  const struct trace_event *e)
{
    int64_t key = number(e, s->request, -1);
    struct request *q = key < 0 ? NULL : request_find(r, l, (uint64_t)key);
    if (!q || !q->is_persistent || q->parts_ready >= q->parts)
        return;
    q->parts_ready += calls_ready_parts(s, e);
    if (q->parts_ready >= q->parts)
        send(r, l, q->comm, q->dest, q->send_tag, q->bytes, 0, q);
}

static void make_persistent(struct causes *r, struct lane *l, const struct mpi_effect *s,
                            const struct trace_event *e)
{
    int64_t key = number(e, s->request, -1);
    if (key < 0)
        return;
    struct request *q = request_new(r, l, (uint64_t)key);
    q->is_persistent = 1;
    q->shape = s;
    q->comm = number(e, s->comm, -1);
    q->source = number(e, s->source, -1);
    q->root = number(e, s->root, NO_ROOT);
    q->parts = s->kind == MPI_DOES_SEND ? (uint64_t)number(e, s->partitions, 0) : 0;
    q->dest = s->dest >= 0 ? peer_of(r, l, q->comm, number(e, s->dest, -1)) : -1;
    q->send_tag = (int32_t)number(e, s->send_tag, 0);
    q->recv_tag = (int32_t)number(e, s->recv_tag, 0);
    q->bytes = bytes_of_message(&r->lanes[l->rank].handles, s, e);
    if (s->is_partitioned && s->kind == MPI_DOES_SEND)
        find_partner(r, l, q, q->dest, q->send_tag, 0);
    else if (s->is_partitioned)
        find_partner(r, l, q, peer_of(r, l, q->comm, q->source), q->recv_tag, 1);
}

static void start_given(struct causes *r, struct lane *l, const struct mpi_effect *s,
                        const struct trace_event *e)
{
    for (size_t i = 0, count = calls_given(s, e); i < count; i++) {
        int64_t key = calls_given_request(s, e, i);
        struct request *q = key < 0 ? NULL : request_find(r, l, (uint64_t)key);
        if (q && q->is_persistent)
            start(r, l, q);
    }
}

/* A call that begins something and returns a request. */
static void begin(struct causes *r, struct lane *l, const struct mpi_effect *s,
                  const struct trace_event *e)
{
    int64_t key = number(e, s->request, -1), comm = number(e, s->comm, -1);
    if (key < 0)
        return;
    struct request *q = request_new(r, l, (uint64_t)key);
    q->is_file = s->kind == MPI_DOES_FILE;
    if (s->kind == MPI_DOES_COLLECTIVE)
        coll_enter(r, l, s, comm, number(e, s->root, NO_ROOT), q);
    else if (s->kind == MPI_DOES_FILE)
        coll_enter_file(r, l, s, number(e, s->file, -1), q);
    if (s->kind == MPI_DOES_RECEIVE || s->kind == MPI_DOES_EXCHANGE)
        q->receive = post(r, l, comm, number(e, s->source, -1), number(e, s->recv_tag, 0), q);
    if (s->kind == MPI_DOES_SEND || s->kind == MPI_DOES_EXCHANGE)
        send_now(r, l, s, e, 0, q);
}

/* ---- completing ---- */

static void complete_request(struct causes *r, struct lane *l, uint64_t key, struct request *q,
                             const struct trace_status *status, int waits)
{
    if (q->message && waits && !q->message->sender)
        q->message->sender = causes_block(r, l);
    if (q->message)
        q->message->request = NULL;
    q->message = NULL;
    if (q->receive)
        match_complete(r, l, q->receive, status, waits);
    q->receive = NULL;
    if (q->in_collective)
        coll_complete(r, l, q, waits);
    if (!q->is_persistent)
        request_free(r, l, key, q);
}

static void complete(struct causes *r, struct lane *l, const struct mpi_effect *s,
                     const struct trace_event *e)
{
    int waits = s->form == MPI_FORM_BLOCKING, has_others = 0;
    for (size_t i = 0, count = calls_completed(s, e); i < count; i++) {
        int64_t key = calls_completed_request(s, e, i);
        struct request *q = key < 0 ? NULL : request_find(r, l, (uint64_t)key);
        if (!q)
            continue;
        has_others |= !q->is_file;
        l->is_file |= q->is_file;
        complete_request(r, l, (uint64_t)key, q, calls_completed_status(s, e, i), waits);
    }
    l->is_file &= !has_others; /* it waits for files alone */
}

static void cancel_given(struct causes *r, struct lane *l, const struct mpi_effect *s,
                         const struct trace_event *e)
{
    int64_t key = number(e, s->request, -1);
    struct request *q = key < 0 ? NULL : request_find(r, l, (uint64_t)key);
    if (q)
        q->is_cancelled = 1;
}

static void free_given(struct causes *r, struct lane *l, const struct mpi_effect *s,
                       const struct trace_event *e)
{
    int64_t key = number(e, s->request, -1);
    struct request *q = key < 0 ? NULL : request_find(r, l, (uint64_t)key);
    if (!q)
        return;
    if (q->receive)
        match_forget(r, q->receive, q->is_cancelled);
    request_free(r, l, (uint64_t)key, q);
}

/* ---- probing ---- */

static void probe(struct causes *r, struct lane *l, const struct mpi_effect *s,
                  const struct trace_event *e)
{
    struct handles_mine mine = comm_of(r, l, number(e, s->comm, -1));
    const struct trace_status *status = s->status >= 0 ? e->args[s->status].statuses : NULL;
    if (mine.comm != HANDLES_NONE && status && status->is_set && status->source >= 0 &&
        (uint64_t)status->source < r->ranks)
        match_peek(r, l, mine.comm, (uint32_t)status->source, status->tag);
}

/* The message is matched now, and received later by its handle. */
static void matched_probe(struct causes *r, struct lane *l, const struct mpi_effect *s,
                          const struct trace_event *e)
{
    int64_t key = number(e, s->message, -1), comm = number(e, s->comm, -1);
    struct handles_mine mine = comm_of(r, l, comm);
    const struct trace_status *status = s->status >= 0 ? e->args[s->status].statuses : NULL;
    if (key < 0 || mine.comm == HANDLES_NONE || number(e, s->flag, 1) == 0)
        return;
    struct request *q = request_new(r, l, KEY_MESSAGE(key));
    q->comm = comm;
    if (status && status->is_set && status->source >= 0 && (uint64_t)status->source < r->ranks)
        match_complete(r, l, match_post(r, l, mine.comm, status->source, status->tag), status,
                       s->form == MPI_FORM_BLOCKING);
    else /* without a status, it is known when the message is received */
        q->receive = match_post(r, l, mine.comm, ANY_SOURCE, ANY_TAG);
}

static void receive_probed(struct causes *r, struct lane *l, const struct mpi_effect *s,
                           const struct trace_event *e)
{
    int64_t key = number(e, s->message, -1);
    struct request *q = key < 0 ? NULL : request_find(r, l, KEY_MESSAGE(key));
    if (!q)
        return;
    if (s->form == MPI_FORM_BLOCKING) {
        if (q->receive)
            match_complete(r, l, q->receive, e->args[s->status].statuses, 0);
    } else if (number(e, s->request, -1) >= 0) {
        request_new(r, l, (uint64_t)number(e, s->request, -1))->receive = q->receive;
    }
    q->receive = NULL;
    request_free(r, l, KEY_MESSAGE(key), q);
}

/* ---- files ---- */

static void open_file(struct causes *r, struct lane *l, const struct mpi_effect *s,
                      const struct trace_event *e)
{
    int64_t comm = number(e, s->comm, -1);
    struct lane *home = &r->lanes[l->rank];
    struct handles_mine mine = comm_of(r, l, comm);
    coll_enter(r, l, s, comm, NO_ROOT, NULL);
    if (mine.comm != HANDLES_NONE)
        handles_open(&home->handles, &r->book, number(e, s->file, -1), mine,
                     coll_mine(home, comm)->opened++);
}

/* A collective in two halves: the second waits. A file has one of them at a time. */
static void split_file(struct causes *r, struct lane *l, const struct mpi_effect *s, int64_t file)
{
    struct lane *home = &r->lanes[l->rank];
    if (handles_file(&home->handles, file).comm == HANDLES_NONE)
        return;
    struct comm_mine *mine = coll_mine(home, coll_file(&home->handles, file));
    struct request *q = mine->split;
    if (s->form == MPI_FORM_END) {
        mine->split = NULL;
        if (q && q->in_collective)
            coll_complete(r, l, q, 1);
        if (q)
            pool_free(&r->pool, q, sizeof *q);
    } else if (!q) {
        q = pool_alloc(&r->pool, sizeof *q);
        *q = (struct request){.dest = -1};
        mine->split = q;
        coll_enter_file(r, l, s, file, q);
    }
}

static void access_file(struct causes *r, struct lane *l, const struct mpi_effect *s,
                        const struct trace_event *e)
{
    int64_t file = number(e, s->file, -1);
    if (s->step == MPI_STEP_OPEN)
        open_file(r, l, s, e);
    else if (s->form == MPI_FORM_BEGIN || s->form == MPI_FORM_END)
        split_file(r, l, s, file);
    else
        coll_enter_file(r, l, s, file, NULL);
}

/* ---- all calls ---- */

void causes_call(struct causes *r, struct lane *l)
{
    const struct trace_event *e = &l->event;
    const struct mpi_effect *s = &r->shapes[e->fn];
    int64_t comm = number(e, s->comm, -1);
    if (!trace_event_is_done(e))
        return;
    if (s->kind == MPI_DOES_RMA)
        epoch_access(r, l, s);
    if (s->form == MPI_FORM_PERSISTENT) {
        make_persistent(r, l, s, e);
        return;
    }
    if (s->form == MPI_FORM_NONBLOCKING && !s->is_matched) {
        begin(r, l, s, e);
        return;
    }
    switch (s->kind) {
    case MPI_DOES_SEND:
        send_now(r, l, s, e, s->mode != MPI_MODE_BUFFERED, NULL);
        break;
    case MPI_DOES_RECEIVE:
        if (s->is_matched)
            receive_probed(r, l, s, e);
        else
            receive_now(r, l, s, e);
        break;
    case MPI_DOES_EXCHANGE:
        receive_now(r, l, s, e);
        send_now(r, l, s, e, 0, NULL);
        break;
    case MPI_DOES_START:
        start_given(r, l, s, e);
        break;
    case MPI_DOES_RELEASE:
        free_given(r, l, s, e);
        break;
    case MPI_DOES_CANCEL:
        cancel_given(r, l, s, e);
        break;
    case MPI_DOES_PROBE:
        if (s->is_matched)
            matched_probe(r, l, s, e);
        else if (s->form == MPI_FORM_BLOCKING)
            probe(r, l, s, e);
        break;
    case MPI_DOES_COLLECTIVE:
        coll_enter(r, l, s, comm, number(e, s->root, NO_ROOT), NULL);
        break;
    case MPI_DOES_FINALIZE:
        coll_finalize(r, l, s);
        break;
    case MPI_DOES_EPOCH:
        epoch_call(r, l, s);
        break;
    case MPI_DOES_FILE:
        access_file(r, l, s, e);
        break;
    case MPI_DOES_PARTITION:
        ready(r, l, s, e);
        break;
    case MPI_DOES_COMPLETE:
        complete(r, l, s, e);
        break;
    default:
        break;
    }
}
