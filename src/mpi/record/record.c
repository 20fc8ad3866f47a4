/*
 * record.c - the observer, and the streams of ranks.
 */
#include "mpi/record/record.h"

#include <string.h>

#include "base/mem.h"
#include "mpi/record/record_internal.h"
#include "trace/definitions.h"

#define MEMORY_MOST ((size_t)64 << 20) /* of all streams; then they are spilled */

static struct {
    struct trace_part part;
    struct trace_header header;
    struct record_rank **ranks; /* by index; NULL: not begun */
    uint32_t room;
} record;

struct trace_part *record_part(void)
{
    return &record.part;
}

/* ---- ranks ---- */

static struct record_rank *of_rank(struct mpi_rank *self)
{
    uint32_t index = mpi_rank_index(self);
    struct record_rank *r = record.ranks[index];
    if (__builtin_expect(r != NULL, 1))
        return r;
    r = record.ranks[index] = mem_zalloc(sizeof *r);
    trace_stream_init(&r->lane.stream, &record.part.sink, mpi_rank_id(self), 0, 0);
    trace_stream_init(&r->locals, &record.part.sink, mpi_rank_id(self), 0, TRACE_PIECE_DEFINITIONS);
    map_init(&r->numbers);
    map_init(&r->regions);
    map_init(&r->comms);
    r->next[MPI_ROLE_COMM] = 2; /* MPI_COMM_WORLD and MPI_COMM_SELF */
    r->lanes = 1;
    return r;
}

/* Threads other than the first have lanes of their own. */
static _Thread_local struct record_lane *own_lane;

static struct record_lane *of_thread(struct record_rank *r, struct mpi_rank *self)
{
    if (__builtin_expect(!vp_private.threaded, 1) || vp_is_main_thread())
        return &r->lane;
    if (!own_lane) {
        own_lane = mem_zalloc(sizeof *own_lane);
        trace_stream_init(&own_lane->stream, &record.part.sink, mpi_rank_id(self), r->lanes++, 0);
        own_lane->next = r->lane.next;
        r->lane.next = own_lane;
    }
    return own_lane;
}

static void spill_all(void)
{
    for (uint32_t i = 0; i < record.room; i++) {
        if (!record.ranks[i])
            continue;
        trace_stream_spill(&record.ranks[i]->locals);
        for (struct record_lane *lane = &record.ranks[i]->lane; lane; lane = lane->next)
            trace_stream_spill(&lane->stream);
    }
    trace_part_flush(&record.part);
}

/* ---- events ---- */

static void enter(struct mpi_rank *self, vtime t, const struct mpi_seen_call *call)
{
    struct record_rank *r = of_rank(self);
    struct record_lane *lane = of_thread(r, self);
    if (lane->depth++)
        return;
    lane->fn = call->fn;
    lane->enter = t;
    lane->done_count = lane->request_count = 0;
    record_requests(r, lane, self, &record.header.schema->fns[call->fn], call);
}

static void put_failure(struct record_lane *lane, vtime t, int class)
{
    uint8_t text[TRACE_VARINT_MAX];
    trace_other(&lane->stream, TRACE_FAILED, t, text,
                (size_t)(trace_varint_put(text, trace_zigzag(class)) - text));
}

static void leave(struct mpi_rank *self, vtime t, const struct mpi_seen_call *call)
{
    struct record_rank *r = of_rank(self);
    struct record_lane *lane = of_thread(r, self);
    if (lane->depth && --lane->depth)
        return;
    if (call->rc != MPI_SUCCESS)
        put_failure(lane, t, call->rc);
    trace_call_begin(&lane->stream, call->fn, call->began, t);
    record_args(r, lane, self, &record.header.schema->fns[call->fn], call);
    trace_record_end(&lane->stream);
    if (__builtin_expect(record.part.sink.buffered > MEMORY_MOST, 0))
        spill_all();
}

static void keep_done(struct record_lane *lane, int64_t number, struct trace_status status)
{
    if (lane->done_count == lane->done_room) {
        lane->done_room = lane->done_room ? 2 * lane->done_room : 4;
        lane->done = mem_realloc(lane->done, lane->done_room * sizeof *lane->done);
    }
    lane->done[lane->done_count++] = (struct record_done){number, status};
}

static void request(struct mpi_rank *self, vtime t, const struct mpi_seen_request *seen)
{
    struct record_rank *r = of_rank(self);
    (void)t;
    if (seen->step != MPI_REQUEST_COMPLETE && seen->step != MPI_REQUEST_FREE)
        return;
    int64_t number = record_request(r, (uint32_t)seen->request); /* a blocking call's: -1 */
    if (seen->step == MPI_REQUEST_COMPLETE && (seen->source >= 0 || seen->cancelled))
        keep_done(of_thread(r, self), number,
                  (struct trace_status){seen->source, seen->tag, seen->bytes, 1,
                                        seen->cancelled != 0});
    if (!seen->persistent || seen->step == MPI_REQUEST_FREE)
        record_forget_request(r, (uint32_t)seen->request);
}

/* What a blocking call has received; messages of collectives have odd contexts. */
static void received(struct mpi_rank *self, vtime t, const struct mpi_seen_message *seen)
{
    struct record_rank *r = of_rank(self);
    struct record_lane *lane = of_thread(r, self);
    (void)t;
    if (seen->request == MPI_REQUEST_NULL && !(seen->ctx & 1) && lane->depth)
        keep_done(lane, -1,
                  (struct trace_status){(int32_t)seen->src, seen->tag, seen->bytes, 1, 0});
}

static void freed(struct mpi_rank *self, vtime t, const struct mpi_seen_object *seen)
{
    static const unsigned roles[MPI_OBJECTS] = {
        [MPI_OBJECT_COMM] = MPI_ROLE_COMM,     [MPI_OBJECT_GROUP] = MPI_ROLE_GROUP,
        [MPI_OBJECT_TYPE] = MPI_ROLE_DATATYPE, [MPI_OBJECT_OP] = MPI_ROLE_OP,
        [MPI_OBJECT_WIN] = MPI_ROLE_WIN,       [MPI_OBJECT_FILE] = MPI_ROLE_FILE,
    };
    (void)t;
    if (roles[seen->kind])
        record_forget(of_rank(self), roles[seen->kind], seen->handle);
}

static void region(struct mpi_rank *self, vtime t, const struct mpi_seen_region *seen)
{
    struct record_rank *r = of_rank(self);
    uint8_t text[TRACE_VARINT_MAX];
    if (!seen->name) {
        trace_other(&of_thread(r, self)->stream, TRACE_REGION_LEAVE, t, NULL, 0);
        return;
    }
    size_t bytes = (size_t)(trace_varint_put(text, (uint64_t)record_region(r, t, seen->name)) -
                            text);
    trace_other(&of_thread(r, self)->stream, TRACE_REGION_ENTER, t, text, bytes);
}

static const struct mpi_observer observer = {
    .name = "trace",
    .enter = enter,
    .leave = leave,
    .request = request,
    .received = received,
    .freed = freed,
    .region = region,
};

/* ---- beginning and end ---- */

/* Which node each rank is on: the first process says it for all. */
static void define_nodes(void)
{
    struct trace_stream s;
    struct trace_sink nowhere = {.block = SIZE_MAX};
    int64_t *nodes;
    if (mpi_place()->proc != 0)
        return;
    nodes = mem_alloc(mpi_world.size * sizeof *nodes);
    for (uint32_t i = 0; i < mpi_world.size; i++)
        nodes[i] = (int64_t)net_node(&mpi_world.net, i);
    trace_stream_init(&s, &nowhere, 0, 0, 0);
    trace_put_array(&s, nodes, mpi_world.size);
    trace_part_define(&record.part, TRACE_NODES, s.data, (size_t)(s.at - s.data));
    mem_free(s.data);
    mem_free(nodes);
}

int mpi_record_begin(struct err *err)
{
    const struct run_options *o = mpi_world.opt;
    trace_header_init(&record.header, o->ranks);
    trace_header_add(&record.header, "recorder", "orrery run");
    trace_header_add(&record.header, "program", o->program);
    size_t room = strlen(o->trace_path) + 32;
    char *path = mem_alloc(room);
    run_trace_part(path, room, o->trace_path, mpi_place()->proc);
    int rc = trace_part_open(&record.part, path, &record.header, err);
    mem_free(path);
    if (rc != 0)
        return rc;
    record.room = mpi_place()->room;
    record.ranks = mem_zalloc((size_t)record.room * sizeof *record.ranks);
    record_learn_functions(record.header.schema);
    define_nodes();
    mpi_observer_attach(&observer);
    return 0;
}

/* A call that has not returned. */
static void put_open(struct record_lane *lane, vtime now)
{
    uint8_t text[2 * TRACE_VARINT_MAX], *at = trace_varint_put(text, lane->fn);
    vtime t = now > lane->stream.last ? now : lane->stream.last;
    at = trace_varint_put(at, (uint64_t)(t - lane->enter));
    trace_other(&lane->stream, TRACE_OPEN, t, text, (size_t)(at - text));
}

int mpi_record_end(struct err *err)
{
    for (uint32_t i = 0; i < record.room; i++) {
        struct record_rank *r = record.ranks[i];
        if (!r)
            continue;
        trace_stream_fini(&r->locals);
        for (struct record_lane *lane = &r->lane; lane; lane = lane->next) {
            if (lane->depth)
                put_open(lane, mpi_world.ranks[i].ent.clock);
            trace_stream_fini(&lane->stream);
        }
    }
    trace_header_fini(&record.header);
    return trace_part_close(&record.part, err);
}
