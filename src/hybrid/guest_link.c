/*
 * guest_link.c - messages to the simulator, and its answers.
 *
 * While the process waits for an answer, it keeps the real MPI going: others may wait for messages
 * of which this process has to do its part.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/live.h"
#include "engine/native.h"
#include "engine/rank_map.h"
#include "hybrid/guest.h"

#define PENDING_MOST 8192 /* bytes of records that stay here */
#define WAIT_NS 100000    /* between two looks for what the real MPI has to do */

static struct {
    struct native_link link;
    uint32_t simulator;
    int is_inside;  /* as shown */
    struct buf out; /* the message that is being made */
    void *answer;
    struct hybrid_match *matches; /* for the next message */
    uint32_t match_count, match_room;
    int32_t *indices;
    uint32_t index_count, index_room;
} state;

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
    if (native_join(&state.link, native_find, &err) != 0)
        log_fatal("%s", err.text);
    find_simulator();
}

void guest_link_close(void)
{
    show(LIVE_INSIDE | LIVE_ASKS); /* others do not wait for anything of this process */
    state.link.close(state.link.owner);
}

void guest_await_answer(void)
{
    uint32_t from;
    int tag, is_there;
    size_t bytes;
    native_free(state.answer);
    int was_inside = state.is_inside;
    show(LIVE_INSIDE | LIVE_ASKS);
    while (!state.link.recv(state.link.owner, &from, &tag, &state.answer, &bytes)) {
        native_real.MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, guest.quiet, &is_there,
                               MPI_STATUS_IGNORE);
        guest_pull_held();
        state.link.wait(state.link.owner, WAIT_NS);
    }
    guest_show(was_inside);
    guest.answer = state.answer;
    guest.clock = guest.answer->clock;
    guest.clock_computed = guest.computed;
    guest.is_clock_known = 1;
}

void guest_say_match(int64_t request, int source)
{
    ARRAY_RESERVE(state.matches, state.match_room, state.match_count + 1, 16);
    state.matches[state.match_count++] = (struct hybrid_match){request, source, 0};
}

void guest_say_index(int index)
{
    ARRAY_RESERVE(state.indices, state.index_room, state.index_count + 1, 16);
    state.indices[state.index_count++] = index;
}

/* Begins a message with what is to be said. */
static void begin(struct hybrid_head head)
{
    static const char none[8];
    head.computed = guest.computed;
    head.failures = guest.may_forgive ? UINT64_MAX : guest.failures;
    head.match_count = state.match_count;
    head.index_count = state.index_count;
    buf_clear(&state.out);
    buf_add(&state.out, &head, sizeof head);
    buf_add(&state.out, state.matches, state.match_count * sizeof *state.matches);
    buf_add(&state.out, state.indices, state.index_count * sizeof *state.indices);
    buf_add(&state.out, none, -state.out.len % 8);
    state.match_count = state.index_count = 0;
}

static void send(void)
{
    state.link.send(state.link.owner, state.simulator, 0,
                    native_copy(state.out.data, state.out.len), state.out.len);
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

void guest_send_outcome(int is_failed)
{
    begin((struct hybrid_head){.is_failed = (uint8_t)is_failed});
    send();
}

static void show(unsigned flags)
{
    static uint32_t calls, pid;
    if (!pid)
        pid = (uint32_t)getpid();
    calls += flags & LIVE_INSIDE;
    state.is_inside = flags & LIVE_INSIDE;
    state.link.show(state.link.owner, (uint64_t)pid << LIVE_PID_SHIFT |
                                          (uint32_t)(calls << LIVE_CALLS_SHIFT) | flags);
}

void guest_show(int is_inside)
{
    show(is_inside ? LIVE_INSIDE : 0);
}

void guest_flush_old(void)
{
    if (native.rank.lane.stream.used > PENDING_MOST)
        guest_flush(HYBRID_ASK_NOTHING, 0);
}

/* ---- answers ---- */

const int32_t *guest_answer_indices(void)
{
    return (const int32_t *)(guest.answer + 1);
}

const struct hybrid_match *guest_answer_matches(void)
{
    size_t bytes = ((size_t)guest.answer->index_count * sizeof(int32_t) + 7) / 8 * 8;
    return (const struct hybrid_match *)(const void *)((const char *)(guest.answer + 1) + bytes);
}
