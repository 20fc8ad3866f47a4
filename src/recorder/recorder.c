/*
 * recorder.c - converts the calls of a thread to records of its stream.
 */
#include "recorder/recorder.h"

#include <string.h>

#include "base/array.h"
#include "base/log_module.h"
#include "recorder/profile.h"
#include "recorder/recorder_internal.h"
#include "recorder/sites.h"

static const struct trace_header *header;
const struct recorder_mpi *recorder_mpi;

void recorder_init(const struct trace_header *given, const struct recorder_mpi *mpi)
{
    header = given;
    recorder_mpi = mpi;
    recorder_learn_plain(given->schema);
    if (given->has_sites)
        recorder_sites_init();
}

/* ---- ranks ---- */

void recorder_rank_init(struct recorder_rank *r, struct trace_sink *sink, uint64_t rank)
{
    trace_stream_init(&r->lane.stream, sink, rank, 0, 0);
    trace_stream_init(&r->locals, sink, rank, 0, TRACE_PIECE_DEFINITIONS);
    r->lane.stream.definitions = &r->locals;
    map_init(&r->numbers);
    map_init(&r->regions);
    map_init(&r->comms);
    r->next[MPI_ROLE_COMM] = 2; /* MPI_COMM_WORLD and MPI_COMM_SELF */
    r->lanes = 1;
    LOG_LINE(TRACE, DEBUG, rank, VTIME_NEVER, "its calls are recorded");
}

void recorder_lane_init(struct recorder_rank *r, struct recorder_lane *lane)
{
    trace_stream_init(&lane->stream, r->lane.stream.sink, r->lane.stream.rank, r->lanes++, 0);
    lane->stream.definitions = &r->locals;
    lane->next = r->lane.next;
    r->lane.next = lane;
}

void recorder_rank_rename(struct recorder_rank *r, uint64_t rank)
{
    r->locals.rank = (uint32_t)rank;
    for (struct recorder_lane *lane = &r->lane; lane; lane = lane->next)
        lane->stream.rank = (uint32_t)rank;
}

void recorder_rank_spill(struct recorder_rank *r)
{
    recorder_profile_write(r);
    trace_stream_spill(&r->locals);
    for (struct recorder_lane *lane = &r->lane; lane; lane = lane->next)
        trace_stream_spill(&lane->stream);
}

/* A call that has not returned. */
static void put_open(struct recorder_lane *lane, int64_t now)
{
    uint8_t text[2 * TRACE_VARINT_MAX], *at = trace_varint_put(text, lane->fn);
    int64_t t = now > lane->stream.last ? now : lane->stream.last;
    at = trace_varint_put(at, (uint64_t)(t - lane->enter));
    trace_other(&lane->stream, TRACE_OPEN, t, text, (size_t)(at - text));
}

void recorder_rank_end(struct recorder_rank *r, int64_t now)
{
    recorder_profile_write(r);
    trace_stream_fini(&r->locals);
    for (struct recorder_lane *lane = &r->lane; lane; lane = lane->next) {
        if (lane->depth)
            put_open(lane, now);
        trace_stream_fini(&lane->stream);
    }
}

/* ---- calls ---- */

void recorder_enter(struct recorder_rank *r, struct recorder_lane *lane, struct mpi_rank *self,
                    const struct recorder_call *call, int64_t t)
{
    if (lane->depth++)
        return;
    lane->fn = call->fn;
    lane->enter = t;
    if (header->has_sites && !header->is_profile)
        lane->site = recorder_site();
    lane->done_count = lane->request_count = 0;
    if (header->is_profile)
        return;
    recorder_requests(r, lane, self, &header->schema->fns[call->fn], call, t);
}

static void put_failure(struct recorder_lane *lane, int64_t t, int class)
{
    uint8_t text[TRACE_VARINT_MAX];
    trace_other(&lane->stream, TRACE_FAILED, t, text,
                (size_t)(trace_varint_put(text, trace_zigzag(class)) - text));
}

void recorder_leave(struct recorder_rank *r, struct recorder_lane *lane, struct mpi_rank *self,
                    const struct recorder_call *call, int64_t t)
{
    if (lane->depth && --lane->depth)
        return;
    if (header->is_profile) {
        recorder_profile_call(r, lane, self, call, t);
        return;
    }
    r->now = t;
    if (call->rc != MPI_SUCCESS)
        put_failure(lane, t, call->rc);
    trace_call_begin(&lane->stream, call->fn, call->began, t);
    if (header->has_sites)
        trace_put_varint(&lane->stream, lane->site);
    if (recorder_is_plain(call->fn))
        recorder_plain_args(r, lane, self, call);
    else
        recorder_args(r, lane, self, &header->schema->fns[call->fn], call);
    trace_record_end(&lane->stream);
    if (call->rc == MPI_SUCCESS)
        recorder_freed(r, lane, call->fn);
}

static void __attribute__((noinline)) grow_done(struct recorder_lane *lane)
{
    ARRAY_RESERVE_FEW(lane->done, lane->done_room, lane->done_count + 1, lane->few_done);
}

void recorder_done(struct recorder_lane *lane, int64_t number, struct trace_status status)
{
    if (lane->done_count == lane->done_room)
        grow_done(lane);
    lane->done[lane->done_count++] = (struct recorder_done){number, status};
}

/* ---- regions ---- */

static void enter_region(struct recorder_lane *lane, int64_t t, int64_t number)
{
    if (header->is_profile)
        return;
    uint8_t text[TRACE_VARINT_MAX];
    size_t bytes = (size_t)(trace_varint_put(text, (uint64_t)number) - text);
    trace_other(&lane->stream, TRACE_REGION_ENTER, t, text, bytes);
    lane->regions++;
}

/* A region that began before recording started has no beginning. */
static void leave_region(struct recorder_lane *lane, int64_t t)
{
    if (!lane->regions)
        return;
    lane->regions--;
    trace_other(&lane->stream, TRACE_REGION_LEAVE, t, NULL, 0);
}

void recorder_region(struct recorder_rank *r, struct recorder_lane *lane, int64_t t,
                     const char *name)
{
    if (name)
        enter_region(lane, t, recorder_region_number(r, t, name));
    else
        leave_region(lane, t);
}

void recorder_function(struct recorder_rank *r, struct recorder_lane *lane, int64_t t,
                       const void *address)
{
    enter_region(lane, t, recorder_function_number(r, t, address));
}

/* ---- what the ABI says ---- */

_Static_assert(RECORDER_NAME_MAX == MPI_MAX_OBJECT_NAME, "room for every name");

int recorder_has_done(int rc)
{
    return rc == MPI_SUCCESS || rc == MPI_ERR_TRUNCATE || rc == MPI_ERR_IN_STATUS;
}

uint64_t recorder_status_bytes(const MPI_Status *s)
{
    return (uint64_t)((uint32_t)s->count_hi_and_cancelled >> 1) << 32 | (uint32_t)s->count_lo;
}
