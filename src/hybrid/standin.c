/*
 * standin.c - a rank of the simulator that stands for a process of the real program.
 */
#include "hybrid/standin.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "run/own.h"

/* ---- errors ---- */

static void fail(const char *text) __attribute__((noreturn));
static void fail(const char *text)
{
    log_error("%s", text);
    PMPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

/* As a call that returns an error: arguments of the program may be wrong. */
void replay_fail(struct replay_rank *k, const char *format, ...)
{
    char why[160];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    struct standin *s = (struct standin *)((char *)k - offsetof(struct standin, k));
    snprintf(s->failure, sizeof s->failure, "rank %llu: cannot simulate %s: %s",
             (unsigned long long)k->rank, k->replay->trace.header.schema->fns[k->event->fn].name,
             why);
    s->failures++;
    s->result.is_failed = 1;
    s->error = MPI_SUCCESS;
    longjmp(s->failed, 1);
}

/* The process's own call may fail, too: that is known later. */
static int check(struct standin *s, int rc)
{
    if (__builtin_expect(rc == MPI_SUCCESS, 1))
        return 1;
    s->failures++;
    s->result.is_failed = 1;
    s->error = rc;
    snprintf(s->failure, sizeof s->failure, "rank %llu: cannot simulate %s",
             (unsigned long long)s->k.rank, s->k.replay->fns[s->k.event->fn].name);
    return 0;
}

/* A call has failed here and not in the process. */
static void __attribute__((noreturn)) fail_alone(const struct standin *s)
{
    char why[MPI_MAX_ERROR_STRING] = "", text[sizeof s->failure + sizeof why + 2];
    int length;
    if (s->error == MPI_SUCCESS)
        fail(s->failure);
    PMPI_Error_string(s->error, why, &length);
    snprintf(text, sizeof text, "%s: %s", s->failure, why);
    fail(text);
}

void replay_failed(struct replay_rank *k, int rc)
{
    check((struct standin *)((char *)k - offsetof(struct standin, k)), rc);
}

/* ---- results ---- */

void standin_add_index(struct standin *s, int32_t index)
{
    ARRAY_RESERVE(s->result.indices, s->result.index_room, s->result.index_count + 1, 16);
    s->result.indices[s->result.index_count++] = index;
}

void standin_add_match(struct standin *s, int64_t request, int source, int tag)
{
    ARRAY_RESERVE(s->result.matches, s->result.match_room, s->result.match_count + 1, 16);
    s->result.matches[s->result.match_count++] = (struct hybrid_match){request, source, tag};
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

void standin_answer(struct standin *s, enum hybrid_ask ask)
{
    struct standin_result *r = &s->result;
    static const char none[8];
    struct buf out;
    if (ask == HYBRID_ASK_RESULT && !s->is_real)
        add_matched(s);
    else if (ask != HYBRID_ASK_RESULT)
        r->index_count = r->match_count = 0;
    struct hybrid_answer head = {.clock = orrery_own_clock(),
                                 .flag = r->flag,
                                 .index_count = (int32_t)r->index_count,
                                 .match_count = (int32_t)r->match_count,
                                 .is_failed = r->is_failed,
                                 .speed = orrery_own_speed(),
                                 .clock_cost = orrery_own_clock_cost()};
    buf_init(&out);
    buf_add(&out, &head, sizeof head);
    buf_add(&out, r->indices, (size_t)r->index_count * sizeof *r->indices);
    buf_add(&out, none, -out.len % 8);
    buf_add(&out, r->matches, (size_t)r->match_count * sizeof *r->matches);
    orrery_own_reply(out.data, out.len);
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
    int is_one = strcmp(fn->name, "MPI_Start") == 0;
    if (!s->lasting_count || (!is_one && strcmp(fn->name, "MPI_Startall") != 0))
        return;
    for (uint64_t i = 0; i < (is_one ? 1 : v->count); i++)
        for (uint32_t at = 0; at < s->lasting_count; at++)
            if (s->lasting[at] == (is_one ? v->number : v->items[i]))
                see_wild(s, s->lasting[at]);
}

static void see_made(struct standin *s, const struct replay_fn *fn)
{
    int64_t number = replay_arg(&s->k, fn->request)->number;
    if (!strstr(fn->name, "_init")) {
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
            s->result.flag = *(const int *)(uintptr_t)s->k.words[i];
}

/* No rank was spawned, and a port is of no use without MPI_Comm_accept and MPI_Comm_connect. */
static void act_dynamic(struct standin *s, const struct replay_fn *fn)
{
    MPI_Comm parent;
    if (strcmp(fn->name, "MPI_Comm_get_parent") == 0)
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
        PMPI_Abort(MPI_COMM_WORLD, (int)e->args[e->argc - 1].number);
        break;
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

static void do_call(struct standin *s, struct trace_event *e)
{
    struct replay_rank *k = &s->k;
    orrery_own_compute(e->enter - k->last);
    k->last = e->leave;
    k->event = e;
    s->result.flag = s->result.is_failed = 0;
    s->result.index_count = s->result.match_count = 0;
    const struct replay_fn *fn = &k->replay->fns[e->fn];
    if (!trace_event_is_done(e)) { /* the real MPI has refused it */
        s->failures++;
        return;
    }
    if (setjmp(s->failed) == 0 && (!s->tells || standin_await_outcome(s, fn)))
        act(s, fn, e);
    replay_scratch_reset(k);
}

/* ---- messages ---- */

static void take_piece(struct standin *s, const struct hybrid_piece *p, const uint8_t *data)
{
    struct trace_decoder *d = p->flags & TRACE_PIECE_DEFINITIONS ? &s->locals : &s->calls;
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
        fail(err.text);
}

/* Returns 0 after the last one. */
static int take_message(struct standin *s)
{
    size_t bytes;
    const uint8_t *at = orrery_own_receive(&bytes), *end = at + bytes;
    struct hybrid_head head;
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    if (s->failures > head.failures)
        fail_alone(s);
    at = standin_take_told(s, &head, at);
    s->tells = head.tells;
    while (at < end) {
        struct hybrid_piece piece;
        memcpy(&piece, at, sizeof piece);
        take_piece(s, &piece, at + sizeof piece);
        at += sizeof piece + (piece.bytes + 7) / 8 * 8;
    }
    orrery_own_compute(head.computed - s->k.last);
    s->k.last = head.computed > s->k.last ? head.computed : s->k.last;
    if (head.ask)
        standin_answer(s, (enum hybrid_ask)head.ask);
    return !head.is_last;
}

static void prepare(struct replay *r, uint64_t ranks)
{
    struct err err;
    trace_header_init(&r->trace.header, ranks);
    if (replay_functions_init(r, &err) != 0)
        fail(err.text);
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
        prepare(r, strtoull(argv[1], NULL, 10));
    trace_local_init(&s->k.locals, r->trace.header.ranks, s->k.rank);
    trace_decoder_init(&s->calls, &r->trace.header);
    trace_decoder_init(&s->locals, &r->trace.header);
    while (take_message(s))
        ;
    return 0;
}
