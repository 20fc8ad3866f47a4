/*
 * guest_link.c - messages to the simulator, and its answers.
 *
 * While the process waits for an answer, it keeps the real MPI going: others may wait for messages
 * of which this process has to do its part.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/live.h"
#include "engine/proc_link.h"
#include "engine/rank_map.h"
#include "hybrid/guest.h"

#define PENDING_MOST 8192 /* bytes of records that stay here */
#define WAIT_NS 100000    /* between two looks for what the real MPI has to do */

static struct {
    struct proc_link link;
    uint32_t simulator;
    int is_inside;        /* as shown */
    struct buf out;       /* the message that is being made */
    int is_heard;         /* a thread waits for answers, without the lock */
    pthread_cond_t heard; /* it has got one, or waits no longer */
} state = {.heard = PTHREAD_COND_INITIALIZER};

static void show(unsigned flags);

/* ---- sending ---- */

static void take_piece(struct trace_sink *sink, const struct trace_piece *p)
{
    static const char none[8];
    struct hybrid_piece head = {p->flags, (uint32_t)p->bytes, p->base};
    (void)sink;
    buf_add(&state.out, &head, sizeof head);
    buf_add(&state.out, p->data, p->bytes);
    buf_add(&state.out, none, -p->bytes % 8);
}

/* The ranks are distributed over the simulators as over processes of `orrery run --procs`. */
static void find_simulator(void)
{
    const char *text = getenv(HYBRID_SIMULATORS);
    uint32_t count = text ? (uint32_t)strtoul(text, NULL, 10) : 1;
    struct rank_map map;
    guest.ranks = state.link.procs - count;
    rank_map_init(&map, RANK_MAP_BLOCK, guest.ranks, count, 0, NULL);
    state.simulator = guest.ranks + rank_map_proc(&map, state.link.proc);
}

void guest_link_open(void)
{
    struct err err;
    guest.sink = (struct trace_sink){.take = take_piece, .block = SIZE_MAX, .piece = SIZE_MAX};
    buf_init(&state.out);
    const char *order = getenv(HYBRID_ORDER);
    guest.is_real = order && strcmp(order, HYBRID_ORDER_REAL) == 0;
    guest.may_cancel = getenv(HYBRID_CANCELS) != NULL;
    if (proc_link_join(&state.link, native_find, &err) != 0)
        log_fatal("%s", err.text);
    find_simulator();
}

void guest_link_close(void)
{
    show(LIVE_INSIDE | LIVE_LEFT);
    state.link.close(state.link.owner);
}

/* Takes an answer, if there is one, for the thread that has asked for it. */
static int take_answer(void)
{
    uint32_t from;
    int tag;
    size_t bytes;
    void *data;
    if (!state.link.recv(state.link.owner, &from, &tag, &data, &bytes))
        return 0;
    const struct hybrid_answer *answer = data;
    struct guest_thread *t = guest.me;
    for (struct guest_thread *other = guest.threads; other; other = other->next)
        if (other->number == answer->thread)
            t = other;
    proc_link_free((void *)(uintptr_t)t->answer);
    t->answer = answer;
    t->has_answer = 1;
    if (!guest.is_threaded)
        return 1;
    struct guest_thread *me = guest.me;
    guest.me = t;
    guest_release(); /* before any other answer: what it says may be about requests of others */
    guest.me = me;
    if (t != me)
        pthread_cond_broadcast(&state.heard);
    return 1;
}

/* One of the threads that wait for answers listens, for all of them. */
static void listen(void)
{
    if (state.is_heard) {
        pthread_cond_wait(&state.heard, &guest.lock);
        guest.me = guest_own();
        return;
    }
    state.is_heard = 1;
    guest_go();
    state.link.wait(state.link.owner, WAIT_NS);
    guest_come_back();
    state.is_heard = 0;
    if (guest.is_threaded)
        pthread_cond_broadcast(&state.heard);
}

void guest_await_answer(void)
{
    int is_there, was_inside = state.is_inside;
    uint64_t serial = guest.serial;
    if (guest.is_threaded) {
        guest.asking++;
        guest_show_threads(0);
    } else {
        show(LIVE_INSIDE | LIVE_ASKS);
    }
    while (!guest.me->has_answer) {
        if (take_answer())
            continue;
        native_real.MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, guest.quiet, &is_there,
                               MPI_STATUS_IGNORE);
        guest_pull_held();
        listen();
    }
    guest.me->has_answer = 0;
    guest.me->has_asked = 1;
    if (guest.is_threaded) {
        guest.asking--;
        guest_show_threads(1);
    } else {
        guest_show(was_inside);
    }
    guest.me->clock = guest.me->answer->clock;
    guest.me->clock_computed = guest.me->computed;
    guest.me->is_clock_known = guest.me->answer->flag != HYBRID_GO;
    guest.me->serial = serial;
}

void guest_say_match(int64_t request, int source)
{
    struct guest_thread *me = guest.me;
    ARRAY_RESERVE(me->matches, me->match_room, me->match_count + 1, 16);
    me->matches[me->match_count++] = (struct hybrid_match){request, source, 0};
}

void guest_say_index(int index)
{
    struct guest_thread *me = guest.me;
    ARRAY_RESERVE(me->indices, me->index_room, me->index_count + 1, 16);
    me->indices[me->index_count++] = index;
}

/* Begins a message with what is to be said. */
static void begin(struct hybrid_head head)
{
    static const char none[8];
    struct guest_thread *me = guest.me;
    head.computed = me->computed;
    head.failures = guest.may_forgive ? UINT64_MAX : me->failures;
    head.match_count = me->match_count;
    head.index_count = me->index_count;
    head.thread = me->number;
    head.is_threaded = (uint8_t)guest.is_threaded;
    head.rests = guest.is_threaded && guest_all_wait() ? HYBRID_ALL_WAIT
                 : head.kind == HYBRID_RESTS           ? HYBRID_SLEEPS
                                                       : HYBRID_COMPUTES;
    head.inside = guest.inside_count;
    if (head.is_last) {
        head.counts = (uint8_t)guest_clock_counts();
        head.kept_us = guest_clock_kept_us();
    }
    guest.rests = head.rests;
    buf_clear(&state.out);
    buf_add(&state.out, &head, sizeof head);
    buf_add(&state.out, me->matches, me->match_count * sizeof *me->matches);
    buf_add(&state.out, me->indices, me->index_count * sizeof *me->indices);
    buf_add(&state.out, none, -state.out.len % 8);
    me->match_count = me->index_count = 0;
}

static void send(void)
{
    guest.serial++;
    if (guest.is_threaded)
        guest_show_threads(0);
    state.link.send(state.link.owner, state.simulator, 0,
                    proc_link_copy(state.out.data, state.out.len), state.out.len);
}

static void flush(struct hybrid_head head)
{
    begin(head);
    recorder_rank_spill(&native.rank);
    if (!head.ask && !head.is_last && state.out.len == sizeof head)
        return;
    send();
}

void guest_flush(enum hybrid_ask ask, int is_last)
{
    flush((struct hybrid_head){.ask = (uint8_t)ask, .is_last = (uint8_t)is_last});
    if (ask)
        guest_await_answer();
}

void guest_flush_telling(void)
{
    flush((struct hybrid_head){.tells = 1});
}

void guest_say(enum hybrid_kind kind, uint32_t other)
{
    begin((struct hybrid_head){.kind = (uint8_t)kind, .other = other});
    send();
}

void guest_send_outcome(int is_failed)
{
    begin((struct hybrid_head){.is_failed = (uint8_t)is_failed});
    send();
}

void guest_follow(void)
{
    begin((struct hybrid_head){.kind = HYBRID_ASKS, .ask = HYBRID_ASK_RESULT});
    send();
    guest_await_answer();
}

static void show(unsigned flags)
{
    static uint32_t calls, pid;
    if (!pid)
        pid = (uint32_t)getpid();
    calls += guest.is_threaded || flags & LIVE_INSIDE;
    state.is_inside = flags & LIVE_INSIDE;
    state.link.show(state.link.owner, (uint64_t)pid << LIVE_PID_SHIFT |
                                          (uint32_t)(calls << LIVE_CALLS_SHIFT) | flags);
}

void guest_show(int is_inside)
{
    if (!guest.is_threaded)
        show(is_inside ? LIVE_INSIDE : 0);
}

/* The word changes with has_changed, whatever the threads do. */
void guest_show_threads(int has_changed)
{
    static unsigned shown;
    unsigned flags = guest.rests ? LIVE_INSIDE : 0;
    if (guest.rests && guest.asking >= guest.inside_count)
        flags |= LIVE_ASKS;
    if (flags != shown || has_changed)
        show(flags);
    shown = flags;
}

/* Calls of threads are sent in the order in which they are made. */
void guest_flush_old(void)
{
    if (guest.is_threaded || native.rank.lane.stream.used > PENDING_MOST)
        guest_flush(HYBRID_ASK_NOTHING, 0);
}

/* ---- answers ---- */

const int32_t *guest_answer_indices(void)
{
    return (const int32_t *)(guest.me->answer + 1);
}

const struct hybrid_match *guest_answer_matches(void)
{
    size_t bytes = ((size_t)guest.me->answer->index_count * sizeof(int32_t) + 7) / 8 * 8;
    return (const struct hybrid_match *)(const void *)((const char *)(guest.me->answer + 1) +
                                                       bytes);
}
