/*
 * standin.c - a rank of the simulator that stands for a process of the real program.
 */
#include "hybrid/standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "run/own.h"

/* ---- errors ---- */

/* Not within a side: the rank itself ends. */
void standin_abort(struct standin *s, int code)
{
    s->aborts = 1;
    s->abort_code = code;
    while (s->is_threaded)
        orrery_own_side_await(NULL);
    PMPI_Abort(MPI_COMM_WORLD, code);
    exit(code);
}

static void fail(struct standin *s, const char *text) __attribute__((noreturn));
static void fail(struct standin *s, const char *text)
{
    log_error("%s", text);
    standin_abort(s, 2);
}

/* As a call that returns an error: arguments of the program may be wrong. */
static void refuse(struct replay_rank *k, const char *why)
{
    struct standin *s = (struct standin *)((char *)k - offsetof(struct standin, k));
    snprintf(s->now->failure, sizeof s->now->failure, "rank %llu: cannot simulate %s: %s",
             (unsigned long long)k->rank, k->replay->trace.header.schema->fns[k->event->fn].name,
             why);
    s->now->failures++;
    s->now->result.is_failed = 1;
    s->now->error = MPI_SUCCESS;
    longjmp(s->now->failed, 1);
}

/* The process's own call may fail, too: that is known later. */
static int check(struct standin *s, int rc)
{
    if (__builtin_expect(rc == MPI_SUCCESS, 1))
        return 1;
    s->now->failures++;
    s->now->result.is_failed = 1;
    s->now->error = rc;
    snprintf(s->now->failure, sizeof s->now->failure, "rank %llu: cannot simulate %s",
             (unsigned long long)s->k.rank, s->k.replay->fns[s->k.event->fn].name);
    return 0;
}

/* A call has failed here and not in the process. */
static void __attribute__((noreturn)) fail_alone(struct standin *s)
{
    char why[MPI_MAX_ERROR_STRING] = "", text[sizeof s->now->failure + sizeof why + 2];
    int length;
    if (s->now->error == MPI_SUCCESS)
        fail(s, s->now->failure);
    PMPI_Error_string(s->now->error, why, &length);
    snprintf(text, sizeof text, "%s: %s", s->now->failure, why);
    fail(s, text);
}

static void failed(struct replay_rank *k, int rc)
{
    check((struct standin *)((char *)k - offsetof(struct standin, k)), rc);
}

static const struct replay_program program = {refuse, failed};

/* ---- results ---- */

void standin_add_index(struct standin *s, int32_t index)
{
    ARRAY_RESERVE(s->now->result.indices, s->now->result.index_room, s->now->result.index_count + 1,
                  16);
    s->now->result.indices[s->now->result.index_count++] = index;
}

void standin_add_match(struct standin *s, int64_t request, int source, int tag)
{
    ARRAY_RESERVE(s->now->result.matches, s->now->result.match_room, s->now->result.match_count + 1,
                  16);
    s->now->result.matches[s->now->result.match_count++] = (struct hybrid_match){request, source,
                                                                                 tag};
}

/* Receives from any source that have got a message since. */
static void add_matched(struct standin *s)
{
    for (uint32_t i = 0; i < s->wild_count;) {
        const struct replay_request *r = replay_request_find(&s->k, s->wilds[i]);
        int source, tag;
        if (r && !orrery_own_matched((uint32_t)r->handle, &source, &tag)) {
            i++;
            continue;
        }
        if (r)
            standin_add_match(s, s->wilds[i], source, tag);
        s->wilds[i] = s->wilds[--s->wild_count];
    }
}

static void add_answer(struct standin *s, const struct standin_result *r, int flag, struct buf *out)
{
    static const char none[8];
    struct hybrid_answer head = {.clock = orrery_own_clock(),
                                 .flag = flag,
                                 .index_count = (int32_t)r->index_count,
                                 .match_count = (int32_t)r->match_count,
                                 .is_failed = r->is_failed,
                                 .thread = s->now->number,
                                 .speed = orrery_own_speed(),
                                 .clock_cost = orrery_own_clock_cost()};
    buf_add(out, &head, sizeof head);
    buf_add(out, r->indices, (size_t)r->index_count * sizeof *r->indices);
    buf_add(out, none, -out->len % 8);
    buf_add(out, r->matches, (size_t)r->match_count * sizeof *r->matches);
}

void standin_answer(struct standin *s, enum hybrid_ask ask)
{
    struct standin_result *r = &s->now->result;
    struct buf out;
    if (ask == HYBRID_ASK_RESULT && !s->is_real)
        add_matched(s);
    else if (ask != HYBRID_ASK_RESULT)
        r->index_count = r->match_count = 0;
    buf_init(&out);
    add_answer(s, r, r->flag, &out);
    orrery_own_reply(out.data, out.len);
    buf_fini(&out);
}

/* The process need not wait until its call is complete in virtual time. */
static void offer(struct standin *s)
{
    static const struct standin_result none;
    struct buf out;
    buf_init(&out);
    add_answer(s, &none, HYBRID_GO, &out);
    orrery_own_offer(out.data, out.len);
    buf_fini(&out);
}

/* ---- calls ---- */

/* The message that a call has received by itself, if it could have been another one. */
static void see_received(struct standin *s, const struct replay_fn *fn)
{
    for (unsigned i = 0; i < fn->signature->count; i++)
        if (fn->signature->args[i].role == MPI_ROLE_STATUS) {
            const MPI_Status *status = (const MPI_Status *)(uintptr_t)s->k.words[i];
            standin_add_match(s, -1, status->MPI_SOURCE, status->MPI_TAG);
        }
}

static int is_any(struct standin *s, const struct replay_fn *fn, int kept, int any)
{
    return fn->receives && kept >= 0 && replay_arg(&s->k, kept)->number == any;
}

/* Whether which message a request gets, or whether it gets one, is a decision that the process must
 * know. */
static int is_undecided(struct standin *s, const struct replay_fn *fn)
{
    if (s->is_real)
        return is_any(s, fn, fn->source, MPI_ANY_SOURCE);
    return is_any(s, fn, fn->source, MPI_ANY_SOURCE) || is_any(s, fn, fn->tag, MPI_ANY_TAG) ||
           (s->may_cancel && fn->begins && fn->receives && fn->source >= 0);
}

static void see_wild(struct standin *s, int64_t request)
{
    ARRAY_RESERVE(s->wilds, s->wild_room, s->wild_count + 1, 16);
    s->wilds[s->wild_count++] = request;
}

/* MPI_Start and MPI_Startall of receives from any source. */
static void see_started(struct standin *s, const struct replay_fn *fn)
{
    const struct trace_value *v = replay_arg(&s->k, fn->request);
    int is_one = !fn->starts_all;
    if (!s->lasting_count || !fn->starts)
        return;
    for (uint64_t i = 0; i < (is_one ? 1 : v->count); i++)
        for (uint32_t at = 0; at < s->lasting_count; at++)
            if (s->lasting[at] == (is_one ? v->number : v->items[i]))
                see_wild(s, s->lasting[at]);
}

static void see_made(struct standin *s, const struct replay_fn *fn)
{
    int64_t number = replay_arg(&s->k, fn->request)->number;
    if (!fn->is_persistent) {
        see_wild(s, number);
        return;
    }
    ARRAY_RESERVE(s->lasting, s->lasting_room, s->lasting_count + 1, 16);
    s->lasting[s->lasting_count++] = number;
}

static void call(struct standin *s, const struct replay_fn *fn)
{
    struct replay_rank *k = &s->k;
    if (fn->is_init && k->is_begun)
        return; /* a session has begun before MPI_Init */
    replay_words(k, fn);
    if (s->is_real)
        standin_reopen(s, fn);
    if (!check(s, fn->invoke(k->words)))
        return;
    replay_results(k, fn);
    if (fn->is_init) {
        k->is_begun = 1;
        orrery_own_return_errors(); /* they are the process's */
    }
    see_started(s, fn);
    if (!is_undecided(s, fn))
        return;
    if (fn->begins)
        see_made(s, fn);
    else
        see_received(s, fn);
}

/* MPI_Win_test and MPI_Parrived. */
static void test(struct standin *s, const struct replay_fn *fn)
{
    replay_words(&s->k, fn);
    if (!check(s, fn->invoke(s->k.words)))
        return;
    for (unsigned i = 0; i < fn->signature->count; i++)
        if (fn->signature->args[i].role == MPI_ROLE_FLAG)
            s->now->result.flag = *(const int *)(uintptr_t)s->k.words[i];
}

/* No rank was spawned, and a port is of no use without MPI_Comm_accept and MPI_Comm_connect. */
static void act_dynamic(struct standin *s, const struct replay_fn *fn)
{
    MPI_Comm parent;
    if (fn->step == MPI_STEP_PARENT)
        check(s, MPI_Comm_get_parent(&parent));
    else if (fn->comm >= 0)
        replay_fail(&s->k, "such calls cannot be simulated beside a program");
}

static void act(struct standin *s, const struct replay_fn *fn, const struct trace_event *e)
{
    switch ((enum replay_how)fn->how) {
    case REPLAY_TIME:
        orrery_own_spend(e->leave - e->enter);
        break;
    case REPLAY_PROBE:
    case REPLAY_IPROBE:
        standin_probe(s, fn);
        break;
    case REPLAY_WAIT:
    case REPLAY_WAITALL:
    case REPLAY_WAITANY:
    case REPLAY_WAITSOME:
    case REPLAY_TEST:
    case REPLAY_TESTALL:
    case REPLAY_TESTANY:
    case REPLAY_TESTSOME:
    case REPLAY_GET_STATUS:
        standin_complete(s, fn);
        break;
    case REPLAY_END:
        standin_abort(s, (int)e->args[e->argc - 1].number);
    case REPLAY_CANCEL:
        if (!s->is_real || !standin_cancel(s, replay_arg(&s->k, fn->request)->number))
            call(s, fn);
        break;
    case REPLAY_REFUSED:
        replay_fail(&s->k, "such calls cannot be simulated beside a program");
    case REPLAY_DYNAMIC:
        act_dynamic(s, fn);
        break;
    case REPLAY_PARRIVED:
    case REPLAY_WIN_TEST:
        test(s, fn);
        break;
    case REPLAY_WIN_DYNAMIC:
        replay_win_dynamic(&s->k, fn);
        break;
    default:
        if (fn->request < 0 || fn->begins || !replay_is_freed(&s->k, fn))
            call(s, fn);
    }
}

/* Threads compute at the same time: what has passed since the thread's last call is part of it. */
void standin_compute(struct standin *s, int64_t computed)
{
    int64_t span = computed - s->k.last, now = orrery_own_clock();
    double speed = orrery_own_speed();
    if (span > 0)
        s->k.last = computed;
    if (s->is_threaded) {
        int64_t passed = now - s->now->clock;
        span -= speed == 1 ? passed : (int64_t)((double)passed * speed);
    }
    orrery_own_compute(span);
    s->now->clock = orrery_own_clock();
}

static void do_call(struct standin *s, struct trace_event *e)
{
    struct replay_rank *k = &s->k;
    standin_compute(s, e->enter);
    k->last = e->leave;
    k->event = e;
    s->now->result.flag = s->now->result.is_failed = 0;
    s->now->result.index_count = s->now->result.match_count = 0;
    const struct replay_fn *fn = &k->replay->fns[e->fn];
    if (!trace_event_is_done(e)) { /* the real MPI has refused it */
        s->now->failures++;
        return;
    }
    if (setjmp(s->now->failed) == 0 && (!s->now->tells || standin_await_outcome(s, fn)))
        act(s, fn, e);
    replay_scratch_reset(k);
    s->now->clock = orrery_own_clock();
}

/* ---- messages ---- */

static void take_piece(struct standin *s, const struct hybrid_piece *p, const uint8_t *data)
{
    struct trace_decoder *d = p->flags & TRACE_PIECE_DEFINITIONS ? &s->locals : &s->now->calls;
    struct trace_event e;
    struct err err;
    int more;
    trace_decoder_block(d, data, p->bytes, p->base, (p->flags & TRACE_PIECE_BEGINS) != 0);
    while ((more = trace_decoder_next(d, &e, &err)) == 1) {
        if (d == &s->locals)
            trace_local_add(&s->k.locals, &e);
        else if (e.head == TRACE_CALL)
            do_call(s, &e);
    }
    if (more)
        fail(s, err.text);
}

void standin_handle(struct standin *s, const uint8_t *at, size_t bytes)
{
    const uint8_t *end = at + bytes;
    struct hybrid_head head;
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    if (s->now->failures > head.failures)
        fail_alone(s);
    at = standin_take_told(s, &head, at);
    s->now->tells = head.tells;
    int may_go = head.ask == HYBRID_ASK_MAYBE;
    s->now->asks = may_go ? HYBRID_ASK_RESULT : head.ask;
    if (may_go)
        offer(s);
    while (at < end) {
        struct hybrid_piece piece;
        memcpy(&piece, at, sizeof piece);
        take_piece(s, &piece, at + sizeof piece);
        at += sizeof piece + (piece.bytes + 7) / 8 * 8;
    }
    standin_compute(s, head.computed);
    if (s->now->asks && (!may_go || orrery_own_withdraw()))
        standin_answer(s, (enum hybrid_ask)s->now->asks);
    if (head.is_last)
        orrery_own_counted(head.counts, (int64_t)head.kept_us * 1000000);
    s->is_over |= head.is_last;
}

struct standin_thread *standin_thread_make(struct standin *s, uint32_t number)
{
    struct standin_thread *t = mem_zalloc(sizeof *t);
    t->number = number;
    trace_decoder_init(&t->calls, &s->k.replay->trace.header);
    t->next = s->threads;
    return s->threads = t;
}

static void serve(struct standin *s)
{
    while (!s->is_over) {
        size_t bytes;
        const uint8_t *message = orrery_own_receive(&bytes);
        if (((const struct hybrid_head *)(const void *)message)->is_threaded) {
            standin_serve_threads(s, message, bytes);
            return;
        }
        standin_handle(s, message, bytes);
    }
}

static void prepare(struct standin *s, uint64_t ranks)
{
    struct replay *r = s->k.replay;
    struct err err;
    trace_header_init(&r->trace.header, ranks);
    r->program = &program;
    if (replay_functions_init(r, &err) != 0)
        fail(s, err.text);
    /* whether ranks share memory is a fact of the real machine */
    r->fns[MPI_FN_WIN_ALLOCATE_SHARED].invoke = r->fns[MPI_FN_WIN_ALLOCATE].invoke;
    r->fns[MPI_FN_WIN_ALLOCATE_SHARED_C].invoke = r->fns[MPI_FN_WIN_ALLOCATE_C].invoke;
    r->send_room = r->receive_room = orrery_hollow();
    r->has_counts = 1;
    r->is_ready = 1;
}

int main(int argc, char **argv)
{
    if (!orrery_own_receive || argc != 3)
        return fputs("orrery: error: " HYBRID_STANDIN " is started by 'orrery hybrid'\n", stderr),
               2;
    struct replay *r = orrery_own_common(sizeof *r, NULL);
    struct standin *s = mem_zalloc(sizeof *s);
    s->k.replay = r;
    s->k.rank = (uint64_t)orrery_own_rank();
    s->is_real = strcmp(argv[2], HYBRID_ORDER_REAL) == 0;
    s->may_cancel = orrery_own_may_cancel();
    if (s->is_real)
        orrery_own_bind_begin();
    map_init(&s->k.created);
    map_init(&s->k.drawn_wins);
    if (!r->is_ready)
        prepare(s, strtoull(argv[1], NULL, 10));
    trace_local_init(&s->k.locals, r->trace.header.ranks, s->k.rank);
    trace_decoder_init(&s->locals, &r->trace.header);
    s->now = standin_thread_make(s, 0);
    serve(s);
    return 0;
}
