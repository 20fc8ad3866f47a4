/*
 * clocks.c - the node of each rank, and how its clock compares with that of rank 0.
 *
 * Ranks of one computer read the same clock, so only one of them compares it: the first of each
 * computer exchanges messages with rank 0, once when MPI has been initialised and once before it is
 * finalised. Each time the shortest exchange counts; half its duration bounds the error. Merging
 * the parts converts times to those of rank 0 by the line through the two comparisons
 * (trace/clocks.h): offset and drift.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sys.h"
#include "native/native.h"
#include "trace/clocks.h"
#include "trace/definitions.h"
#include "trace/payload.h"

#define EXCHANGES 64
#define TAG 0

struct rank_map {
    uint64_t clock, node;
};

static struct {
    struct rank_map *places; /* of all ranks */
    MPI_Comm comm;           /* for our messages, if there are several clocks */
} clocks;

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++) {
        uint64_t state = hash * RNG_SPLITMIX_STEP ^ (uint8_t)*text;
        hash = rng_splitmix(&state);
    }
    return hash;
}

/* Identifies the clock of a computer since it was booted, as processes of one time namespace see
 * it. */
static uint64_t own_clock(void)
{
    char text[128] = "";
    sys_read_text("/proc/sys/kernel/random/boot_id", text, sizeof text);
    uint64_t hash = hash_text(1, text);
    ssize_t n = readlink("/proc/self/ns/time", text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    return hash_text(hash, text);
}

static void define(unsigned kind, struct buf *out)
{
    native_define(kind, out->data, out->len);
    buf_fini(out);
}

/* ---- comparing ---- */

/* Rank 0 answers with its time. */
static void answer(int other)
{
    int64_t now = 0;
    for (int i = 0; i < EXCHANGES; i++) {
        native_real.MPI_Recv(&now, 1, MPI_INT64_T, other, TAG, clocks.comm, MPI_STATUS_IGNORE);
        now = native_now();
        native_real.MPI_Send(&now, 1, MPI_INT64_T, other, TAG, clocks.comm);
    }
}

static void compare(void)
{
    struct trace_clock_point best = {.error = INT64_MAX};
    for (int i = 0; i < EXCHANGES; i++) {
        int64_t theirs, before = native_now();
        native_real.MPI_Send(&before, 1, MPI_INT64_T, 0, TAG, clocks.comm);
        native_real.MPI_Recv(&theirs, 1, MPI_INT64_T, 0, TAG, clocks.comm, MPI_STATUS_IGNORE);
        int64_t after = native_now(), middle = before + (after - before) / 2;
        if (after - before < best.error)
            best = (struct trace_clock_point){middle, theirs - middle, after - before};
    }
    best.error = best.error / 2;
    struct buf out;
    buf_init(&out);
    trace_clock_point_write(&out, clocks.places[native.self].clock, &best);
    pthread_mutex_lock(&native.lock);
    define(TRACE_CLOCK, &out);
    pthread_mutex_unlock(&native.lock);
}

/* The first rank with this clock, or -1 if it is that of rank 0. */
static int first_with(uint64_t clock)
{
    int rank = 0;
    while (clocks.places[rank].clock != clock)
        rank++;
    return rank ? rank : -1;
}

static void compare_all(void)
{
    if (native.self > 0) {
        if (first_with(clocks.places[native.self].clock) == native.self)
            compare();
        return;
    }
    for (int i = 1; i < native.size; i++)
        if (first_with(clocks.places[i].clock) == i)
            answer(i);
}

/* ---- nodes ---- */

static int64_t node_of(int rank, int64_t *nodes, int64_t *count)
{
    for (int i = 0; i < rank; i++)
        if (clocks.places[i].node == clocks.places[rank].node)
            return nodes[i];
    return (*count)++;
}

static void define_nodes(const char *name)
{
    int64_t *nodes = mem_alloc((size_t)native.size * sizeof *nodes), count = 0;
    struct buf out;
    int is_first = 1;
    for (int i = 0; i < native.size; i++)
        nodes[i] = node_of(i, nodes, &count);
    for (int i = 0; i < native.self; i++)
        is_first &= nodes[i] != nodes[native.self];
    if (native.self == 0) {
        buf_init(&out);
        trace_write_array(&out, nodes, (size_t)native.size);
        define(TRACE_NODES, &out);
    }
    if (is_first) {
        buf_init(&out);
        trace_write_varint(&out, (uint64_t)nodes[native.self]);
        buf_adds(&out, name);
        define(TRACE_NODE, &out);
    }
    mem_free(nodes);
}

/* ---- beginning and end ---- */

void native_clocks_begin(void)
{
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length = 0, several = 0, is_initialised = 0;
    struct buf out;
    native_real.MPI_Initialized(&is_initialised);
    struct rank_map own = {own_clock(), 0};
    if (is_initialised) {
        native_real.MPI_Get_processor_name(name, &length);
        own.node = hash_text(2, name);
        clocks.places = mem_alloc((size_t)native.size * sizeof own);
        native_real.MPI_Allgather(&own, 2, MPI_UINT64_T, clocks.places, 2, MPI_UINT64_T,
                                  MPI_COMM_WORLD);
        for (int i = 0; i < native.size; i++)
            several |= clocks.places[i].clock != clocks.places[0].clock;
    }
    pthread_mutex_lock(&native.lock);
    if (is_initialised && native.base == 0)
        define_nodes(name);
    buf_init(&out);
    trace_clock_rank_write(&out, (uint64_t)(native.base + native.self), own.clock, native.began);
    define(TRACE_CLOCK_RANK, &out);
    pthread_mutex_unlock(&native.lock);
    if (several) {
        native_real.MPI_Comm_dup(MPI_COMM_WORLD, &clocks.comm);
        compare_all();
    }
}

void native_clocks_end(void)
{
    if (!clocks.comm)
        return;
    compare_all();
    native_real.MPI_Comm_free(&clocks.comm);
}
