/*
 * guest_link.c - messages to the simulator, and its answers.
 *
 * While the process waits for an answer, it keeps the real MPI going: others may wait for messages
 * of which this process has to do its part.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/native.h"
#include "hybrid/guest.h"

#define PENDING_MOST 8192 /* bytes of records that stay here */
#define WAIT_NS 100000    /* between two looks for what the real MPI has to do */

static struct {
    struct native_link link;
    uint32_t simulator;
    struct buf out; /* the message that is being made */
    void *answer;
} state;

static void *find(const char *symbol)
{
    return dlsym(RTLD_NEXT, symbol);
}

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

void guest_link_open(void)
{
    struct err err;
    guest.sink = (struct trace_sink){.take = take_piece, .block = SIZE_MAX, .piece = SIZE_MAX};
    buf_init(&state.out);
    if (native_join(&state.link, find, &err) != 0)
        log_fatal("%s", err.text);
    state.simulator = state.link.procs - 1;
}

void guest_link_close(void)
{
    state.link.close(state.link.owner);
}

static void await_answer(void)
{
    uint32_t from;
    int tag, is_there;
    size_t bytes;
    native_free(state.answer);
    while (!state.link.recv(state.link.owner, &from, &tag, &state.answer, &bytes)) {
        native_real.MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, guest.quiet, &is_there,
                               MPI_STATUS_IGNORE);
        state.link.wait(state.link.owner, WAIT_NS);
    }
    guest.answer = state.answer;
    guest.clock = guest.answer->clock;
    guest.clock_computed = guest.computed;
    guest.is_clock_known = 1;
}

void guest_flush(enum hybrid_ask ask, int is_last)
{
    struct hybrid_head head = {(uint32_t)ask, (uint32_t)is_last, guest.computed, guest.failures};
    buf_clear(&state.out);
    buf_add(&state.out, &head, sizeof head);
    recorder_rank_spill(&native.rank);
    if (!ask && !is_last && state.out.len == sizeof head)
        return;
    guest.failures = 0;
    state.link.send(state.link.owner, state.simulator, 0,
                    native_copy(state.out.data, state.out.len), state.out.len);
    if (ask)
        await_answer();
}

void guest_show(int is_inside)
{
    static uint64_t calls;
    calls += (uint64_t)is_inside;
    state.link.show(state.link.owner, 2 * calls | (uint64_t)is_inside);
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
