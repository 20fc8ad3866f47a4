/*
 * record.c - the observer, and the streams of ranks.
 */
#include "mpi/record/record.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/env.h"
#include "base/mem.h"
#include "base/sys.h"
#include "mpi/clock.h"
#include "mpi/entry.h"
#include "mpi/observer.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/side.h"
#include "recorder/objects.h"
#include "recorder/recorder.h"
#include "trace/definitions.h"
#include "trace/payload.h"

#define MEMORY_MOST ((size_t)64 << 20) /* of all streams; then they are spilled */

#define ARGUMENTS_MOST 4096
#define LINE 64
#define OWN_MEMORY 320 /* bytes of a stream: all that it needs if there are many ranks */

/*
 * The turns of a rank are far apart: its state has left the caches before the next one. What most
 * calls need lies side by side here, so that it can be prefetched.
 */
struct slot {
    struct recorder_rank rank;
    uint8_t memory[OWN_MEMORY] __attribute__((aligned(LINE)));
} __attribute__((aligned(LINE)));

/*
 * The first call to return in a turn finds the state of its rank outside the caches. If all that
 * its record needs was passed by value, it is written when the next call is made, from here.
 */
struct late {
    struct mpi_rank *self; /* NULL: there is none */
    vtime t;
    struct recorder_call call;
    uint64_t args[TRACE_ARGS_MAX];
};

static struct {
    struct trace_part part;
    struct trace_header header;
    struct slot *slots; /* by index */
    uint32_t room;
    uint8_t is_wait[MPI_FN_COUNT]; /* calls that may wait for requests */
    unsigned long delay;           /* microseconds of host time per call */
    const struct mpi_rank *last;   /* whose event was the last one */
    const struct slot *ahead;      /* of a rank that will get the turn soon */
    struct late late;
} record;

void mpi_record_define(unsigned kind, const void *payload, size_t bytes)
{
    trace_part_define(&record.part, kind, payload, bytes);
}

/* ---- ranks ---- */

static int has_begun(const struct slot *slot)
{
    return slot->rank.lanes != 0;
}

static struct recorder_rank *__attribute__((noinline))
begin(struct slot *slot, struct mpi_rank *self)
{
    recorder_rank_init(&slot->rank, &record.part.sink, mpi_rank_id(self));
    if (mpi_rank_id(self) >= mpi_world.size)
        recorder_world(&slot->rank, self, self->ent.clock);
    trace_stream_lend(&slot->rank.lane.stream, slot->memory, sizeof slot->memory);
    return &slot->rank;
}

static inline struct recorder_rank *of_rank(struct mpi_rank *self)
{
    struct slot *slot = &record.slots[mpi_rank_index(self)];
    if (__builtin_expect(!has_begun(slot), 0))
        return begin(slot, self);
    return &slot->rank;
}

/* Inlined always: the compiler may drop the call of a function that only prefetches. */
#define PREFETCH_INLINE __attribute__((always_inline)) static inline

#define PREFETCH(slot, part) \
    __builtin_prefetch((const char *)(slot) + offsetof(struct slot, part), 1)

static_assert(offsetof(struct slot, rank.pending) == LINE &&
                  offsetof(struct slot, rank.lane) % LINE == 0 &&
                  offsetof(struct slot, rank.lane.few_requests) ==
                      offsetof(struct slot, rank.lane) + 2 * LINE,
              "what calls need is in as few lines as can be");

/* What all calls need, and what those that wait need also. */
PREFETCH_INLINE void prefetch_state(const struct slot *slot, int is_wait)
{
    PREFETCH(slot, rank);
    PREFETCH(slot, rank.lane);
    PREFETCH(slot, rank.lane.depth);
    PREFETCH(slot, rank.pending);
    PREFETCH(slot, rank.lane.few_requests);
    if (is_wait) {
        PREFETCH(slot, rank.lane.few_done);
        PREFETCH(slot, rank.lane.few_done[2]);
    }
}

/* Where the next records go: once the state is there. */
PREFETCH_INLINE void prefetch_memory(const struct slot *slot)
{
    const uint8_t *at = slot->rank.lane.stream.data + slot->rank.lane.stream.used;
    __builtin_prefetch(at, 1);
    __builtin_prefetch(at + LINE, 1);
}

/* Threads other than the first have lanes of their own. */
static _Thread_local struct recorder_lane *own_lane;

static struct recorder_lane *of_side(struct recorder_rank *r, struct mpi_side *s)
{
    if (s->number == 0)
        return &r->lane;
    if (!s->lane) {
        s->lane = mem_zalloc(sizeof *s->lane);
        recorder_lane_init(r, s->lane);
    }
    return s->lane;
}

static struct recorder_lane *of_thread(struct recorder_rank *r)
{
    if (__builtin_expect(!vp_private.threaded, 1))
        return &r->lane;
    if (mpi_side_current)
        return of_side(r, mpi_side_current);
    if (vp_is_main_thread())
        return &r->lane;
    if (!own_lane) {
        own_lane = mem_zalloc(sizeof *own_lane);
        recorder_lane_init(r, own_lane);
    }
    return own_lane;
}

static void spill_all(void)
{
    for (uint32_t i = 0; i < record.room; i++)
        if (has_begun(&record.slots[i]))
            recorder_rank_spill(&record.slots[i].rank);
    trace_part_flush(&record.part);
}

/* A wait for requests mostly ends in its next turn. Other calls, such as collectives, take many
 * turns, and only the last one is recorded. */
static void prefetch_turn(const struct mpi_rank *self)
{
    if (record.ahead)
        prefetch_memory(record.ahead);
    record.ahead = NULL;
    if (!record.is_wait[self->fn])
        return;
    record.ahead = &record.slots[mpi_rank_index(self)];
    prefetch_state(record.ahead, 1);
}

/* ---- events ---- */

static void write_late(void)
{
    struct late *late = &record.late;
    struct slot *slot = &record.slots[mpi_rank_index(late->self)];
    prefetch_memory(slot);
    recorder_leave(&slot->rank, &slot->rank.lane, late->self, &late->call, late->t);
    late->self = NULL;
}

static inline void settle(void)
{
    if (record.late.self)
        write_late();
}

/* The rank has just got the turn: its state must be fetched. */
static inline int is_new_turn(const struct mpi_rank *self)
{
    if (self == record.last)
        return 0;
    record.last = self;
    prefetch_state(&record.slots[mpi_rank_index(self)], 0);
    return 1;
}

static void put_off(struct mpi_rank *self, vtime t, const struct mpi_seen_call *call)
{
    struct late *late = &record.late;
    for (unsigned i = 0; i < mpi_fn_signature[call->fn].count; i++)
        late->args[i] = call->args[i];
    late->self = self;
    late->t = t;
    late->call = (struct recorder_call){.fn = call->fn,
                                        .args = late->args,
                                        .began = call->began,
                                        .rc = call->rc};
}

static void enter(struct mpi_rank *self, vtime t, const struct mpi_seen_call *call)
{
    settle();
    is_new_turn(self);
    struct recorder_rank *r = of_rank(self);
    recorder_enter(r, of_thread(r), self,
                   &(struct recorder_call){.fn = call->fn, .args = call->args}, t);
}

static void leave(struct mpi_rank *self, vtime t, const struct mpi_seen_call *call)
{
    settle();
    if (is_new_turn(self) && !vp_private.threaded && recorder_is_by_value(call->fn)) {
        put_off(self, t, call);
        return;
    }
    struct recorder_rank *r = of_rank(self);
    recorder_leave(r, of_thread(r), self,
                   &(struct recorder_call){.fn = call->fn,
                                           .args = call->args,
                                           .began = call->began,
                                           .rc = call->rc},
                   t);
    if (__builtin_expect(record.part.sink.buffered > MEMORY_MOST, 0))
        spill_all();
}

static void request(struct mpi_rank *self, vtime t, const struct mpi_seen_request *seen)
{
    struct recorder_rank *r = of_rank(self);
    (void)t;
    if (seen->step != MPI_REQUEST_COMPLETE && seen->step != MPI_REQUEST_FREE)
        return;
    int64_t number = recorder_request(r, (uint32_t)seen->request); /* a blocking call's: -1 */
    if (seen->step == MPI_REQUEST_COMPLETE && (seen->source >= 0 || seen->cancelled))
        recorder_done(of_thread(r), number,
                      (struct trace_status){seen->source, seen->tag, seen->bytes, 1,
                                            seen->cancelled != 0});
    if (seen->step == MPI_REQUEST_COMPLETE)
        recorder_made(r, number);
    if (!seen->persistent || seen->step == MPI_REQUEST_FREE)
        recorder_forget_request(r, (uint32_t)seen->request);
}

/* What a blocking call has received. */
static void received(struct mpi_rank *self, vtime t, const struct mpi_seen_message *seen)
{
    (void)t;
    if (seen->request != MPI_REQUEST_NULL)
        return;
    struct recorder_lane *lane = of_thread(of_rank(self));
    if (lane->depth)
        recorder_done(lane, -1,
                      (struct trace_status){(int32_t)seen->src, seen->tag, seen->bytes, 1, 0});
}

static void region(struct mpi_rank *self, vtime t, const struct mpi_seen_region *seen)
{
    settle();
    struct recorder_rank *r = of_rank(self);
    recorder_region(r, of_thread(r), t, seen->name);
}

static_assert(MPI_REQ_SENT_HANDLE == RECORDER_NUMBERED &&
                  MPI_REQ_SENT_MASK == RECORDER_NUMBERED_MASK,
              "handles of sends that are complete at once carry numbers");

static uint32_t number_sent(struct mpi_rank *self)
{
    return (uint32_t)of_rank(self)->next_request++;
}

/* ---- functions of the program, if it was compiled with -finstrument-functions ---- */

/* Of the rank that runs, unless nothing is recorded or it is in a call: a callback is part of
 * that. */
static struct recorder_lane *of_function(struct mpi_rank *self)
{
    if (!self || !record.slots)
        return NULL;
    settle();
    struct recorder_lane *lane = of_thread(of_rank(self));
    return lane->depth ? NULL : lane;
}

ORR_EXPORT void __cyg_profile_func_enter(void *function, void *site);
ORR_EXPORT void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site)
{
    struct mpi_rank *self = mpi_self();
    struct recorder_lane *lane = of_function(self);
    (void)site;
    if (!lane)
        return;
    mpi_clock_begin(self);
    recorder_function(of_rank(self), lane, self->ent.clock, function);
    mpi_clock_end();
}

void __cyg_profile_func_exit(void *function, void *site)
{
    struct mpi_rank *self = mpi_self();
    struct recorder_lane *lane = of_function(self);
    (void)function, (void)site;
    if (!lane || !lane->regions)
        return;
    mpi_clock_begin(self);
    recorder_region(of_rank(self), lane, self->ent.clock, NULL);
    mpi_clock_end();
}

static const struct mpi_observer observer = {
    .name = "trace",
    .ignores = MPI_NEW_REQUESTS | MPI_COLLECTIVE_MESSAGES,
    .prefetch = prefetch_turn,
    .sent_number = number_sent,
    .enter = enter,
    .leave = leave,
    .request = request,
    .received = received,
    .region = region,
};

/* ---- beginning and end ---- */

/* Which node each rank is on: the first process says it for all. */
static void define_nodes(void)
{
    struct buf out;
    if (mpi_rank_map()->proc != 0)
        return;
    int64_t *nodes = mem_alloc(mpi_world.size * sizeof *nodes);
    for (uint32_t i = 0; i < mpi_world.size; i++)
        nodes[i] = (int64_t)net_node(&mpi_world.net, i);
    buf_init(&out);
    trace_write_array(&out, nodes, mpi_world.size);
    mpi_record_define(TRACE_NODES, out.data, out.len);
    buf_fini(&out);
    mem_free(nodes);
}

/* A replay behaves as the program does. */
static void add_needs(struct trace_header *header, unsigned needs)
{
    char text[128] = "";
#define NEED(name, value) \
    if (needs & (value))  \
        strcat(text, " " #name);
    MPI_NEEDS(NEED)
#undef NEED
    if (*text)
        trace_header_add(header, "needs", text + 1);
}

/* It decides how many nodes the machine has. */
static void add_universe(struct trace_header *header, uint64_t universe)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)universe);
    if (universe)
        trace_header_add(header, "universe", text);
}

/* A recorder that takes long (ENV_TRACE_DELAY). */
static void slow_down(struct mpi_rank *self, vtime t, const struct mpi_seen_call *call)
{
    (void)self, (void)t, (void)call;
    sys_pause(record.delay);
}

static const struct mpi_observer slow = {.name = "slow", .leave = slow_down};

/* The program, and its arguments: this process has them, unless ranks stand for others outside. */
static void add_program(struct trace_header *header, const struct run_options *o)
{
    char *words;
    struct buf text;
    ssize_t n;
    if (mpi_world.programs) {
        trace_header_add(header, "program", mpi_world.programs);
        return;
    }
    words = mem_zalloc(ARGUMENTS_MOST);
    n = o->live ? 0 : sys_read_text("/proc/self/cmdline", words, ARGUMENTS_MOST);
    buf_init(&text);
    buf_adds(&text, o->program);
    for (ssize_t i = (ssize_t)strlen(words) + 1; i < n; i += (ssize_t)strlen(words + i) + 1)
        buf_addf(&text, " %s", words + i);
    trace_header_add(header, "program", buf_str(&text));
    buf_fini(&text);
    mem_free(words);
}

int mpi_record_begin(struct err *err)
{
    const struct run_options *o = mpi_world.opt;
    trace_header_init(&record.header, o->ranks);
    record.header.has_sites = o->trace_sites;
    record.header.is_profile = o->trace_profile;
    trace_header_add(&record.header, "recorder", "orrery run");
    add_program(&record.header, o);
    if (o->platform_given[0])
        trace_header_add(&record.header, "platform", o->platform_given);
    if (o->settings_given[0])
        trace_header_add(&record.header, "settings", o->settings_given);
    add_universe(&record.header, o->universe);
    add_needs(&record.header, o->needs);
    size_t room = strlen(o->trace_path) + 32;
    char *path = mem_alloc(room);
    run_trace_part(path, room, o->trace_path, mpi_rank_map()->proc);
    int rc = trace_part_open(&record.part, path, &record.header, err);
    mem_free(path);
    if (rc != 0)
        return rc;
    record.room = mpi_rank_map()->room;
    record.slots = mem_map((size_t)record.room * sizeof *record.slots, 1);
    if (!record.slots)
        return err_set(err, ERR_SYSTEM, "cannot record %u ranks: %s", record.room, strerror(errno));
    recorder_init(&record.header, &mpi_record_objects);
    for (unsigned fn = 0; fn < MPI_FN_COUNT; fn++)
        record.is_wait[fn] = recorder_looks_at(fn);
    define_nodes();
    mpi_observer_attach(&observer);
    record.delay = getenv(ENV_TRACE_DELAY) ? strtoul(getenv(ENV_TRACE_DELAY), NULL, 10) : 0;
    if (record.delay)
        mpi_observer_attach(&slow);
    return 0;
}

int mpi_record_end(vtime aborted, struct err *err)
{
    settle();
    for (uint32_t i = 0; i < record.room; i++)
        if (has_begun(&record.slots[i]))
            recorder_rank_end(&record.slots[i].rank, mpi_world.ranks[i].ent.clock);
    if (aborted != VTIME_NEVER)
        net_settle(&mpi_world.net, aborted);
    mpi_record_links(mpi_rank_map()->proc == 0);
    trace_header_fini(&record.header);
    return trace_part_close(&record.part, err);
}
