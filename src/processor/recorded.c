/*
 * recorded.c - a slice takes as long as in a recorded run (record.c).
 *
 * The file is mapped; an index holds the positions of each rank's blocks. A rank reads them in
 * order.
 *
 * Another network changes only how often a program polls. Slices are recorded with the call that
 * ended them: slices that ended in polling calls (tests, clock readings) are skipped when the
 * program makes fewer such calls, and additional ones take no time. Any other difference means that
 * this is another program, or one that computes differently each time: the run ends.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "processor/processor_internal.h"
#include "run/tape.h"

static struct {
    const char *path;
    struct tape_file file;
    /* For each rank here, the index in `blocks` of its first block; one more for the end. */
    uint64_t *first;
    struct piece {
        const unsigned char *data;
        uint32_t bytes;
    } * blocks;
    uint16_t *calls; /* maps a function's number in the file to that of this build */
    size_t call_count;
} recorded;

#define UNKNOWN UINT16_MAX /* a function that this build does not have */

/* Counts the blocks of each rank here, or records their positions. */
static void each_block(int note)
{
    const struct rank_map *map = processor_host->map;
    const unsigned char *data;
    struct tape_block b;
    size_t at = 0;

    while (tape_next(&recorded.file, &at, &b, &data)) {
        uint64_t *slot;

        if (b.rank >= map->world + map->spares || !rank_map_is_here(map, b.rank))
            continue;
        slot = &recorded.first[rank_map_index(map, b.rank)];
        if (note)
            recorded.blocks[*slot] = (struct piece){data, b.bytes};
        ++*slot;
    }
}

/* Turns counts into the index of the first block of each rank. */
static uint64_t add_up(uint32_t count)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t own = recorded.first[i];

        recorded.first[i] = sum;
        sum += own;
    }
    return sum;
}

/* The number of the function of that name, or UNKNOWN. */
static uint16_t find_call(const char *name)
{
    unsigned call = 0;

    while (call < processor_host->calls && strcmp(processor_host->call_name(call), name) != 0)
        call++;
    return call < processor_host->calls ? (uint16_t)call : UNKNOWN;
}

static void read_names(void)
{
    size_t bytes;
    const char *name = tape_names(&recorded.file, &bytes), *end = name + bytes;

    recorded.calls = mem_alloc(bytes * sizeof *recorded.calls); /* a name has at least one byte */
    for (; name < end; name += strlen(name) + 1)
        recorded.calls[recorded.call_count++] = find_call(name);
}

/* Ranks that are processes share what the simulator allocates, but not what it maps. */
static void share_file(void)
{
    unsigned char *copy = mem_alloc(recorded.file.size);

    memcpy(copy, recorded.file.data, recorded.file.size);
    tape_close(&recorded.file);
    recorded.file.data = copy;
}

static int recorded_init(const struct processor_host *host, struct err *err)
{
    const struct run_options *o = host->options;
    uint32_t count = host->map->room;
    int rc;

    recorded.path = o->compute_path;
    rc = tape_open(&recorded.file, recorded.path, o->ranks, err);
    if (rc)
        return rc;
    if (run_host_kind(o->host)->processes)
        share_file();
    read_names();
    recorded.first = mem_zalloc(((size_t)count + 1) * sizeof *recorded.first);
    each_block(0);
    recorded.blocks = mem_alloc((add_up(count) + 1) * sizeof *recorded.blocks);
    each_block(1);
    memmove(recorded.first + 1, recorded.first, count * sizeof *recorded.first);
    recorded.first[0] = 0;
    return 0;
}

/* Moves the tape to the start of the next block; 0: there is none. */
static int next_block(struct processor_tape *t, uint32_t index)
{
    uint64_t at = recorded.first[index] + t->block;

    if (at >= recorded.first[index + 1])
        return 0;
    t->block++;
    t->data = (unsigned char *)recorded.blocks[at].data;
    t->len = recorded.blocks[at].bytes;
    t->at = 0;
    return 1;
}

/* The next slice, without consuming it. */
static int peek(struct processor_tape *t, uint32_t index, uint64_t *fn, uint64_t *dt,
                uint32_t *after)
{
    while (t->at >= t->len)
        if (!next_block(t, index))
            return 0;
    *after = t->at;
    if (!tape_get(t->data, t->len, after, fn) || !tape_get(t->data, t->len, after, dt))
        return 0;
    *fn = *fn < recorded.call_count ? recorded.calls[*fn] : UNKNOWN;
    return 1;
}

static void differs(uint32_t index, const struct processor_tape *t, const char *how)
{
    char why[512];

    snprintf(why, sizeof why,
             "cannot replay '%.200s': after %llu slices rank %u %s; record it again "
             "with this program and its arguments",
             recorded.path, (unsigned long long)t->slices, processor_rank_id(index), how);
    processor_host->fail(index, why);
}

static int polls(uint64_t call)
{
    return call < processor_host->calls && processor_host->call_polls((unsigned)call);
}

static vtime recorded_slice(uint32_t index, uint64_t ticks, unsigned call)
{
    struct processor_tape *t = processor_tape_get(index);
    uint64_t recorded, dt;
    uint32_t after;

    (void)ticks;
    while (peek(t, index, &recorded, &dt, &after)) {
        if (recorded != call && polls(call))
            return 0;
        t->at = after;
        t->slices++;
        if (recorded == call)
            return dt < (uint64_t)VTIME_LIMIT ? (vtime)dt : VTIME_LIMIT;
        if (!polls(recorded))
            differs(index, t, "makes another call than when it was recorded");
    }
    if (!polls(call))
        differs(index, t, "makes more calls than when it was recorded");
    return 0;
}

const struct processor_ops processor_recorded_ops = {
    .name = "replay",
    .mode = RUN_COMPUTE_REPLAY,
    .init = recorded_init,
    .slice = recorded_slice,
};
