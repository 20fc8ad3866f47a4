/*
 * replay.c - a slice takes as long as in a recorded run (record.c).
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
} replay;

#define UNKNOWN UINT16_MAX /* a function that this build does not have */

/* Counts the blocks of each rank here, or records their positions. */
static void each_block(int note)
{
    const struct rank_map *map = processor_host->map;
    const unsigned char *data;
    struct tape_block b;
    size_t at = 0;

    while (tape_next(&replay.file, &at, &b, &data)) {
        uint64_t *slot;

        if (b.rank >= map->world + map->spares || !rank_map_is_here(map, b.rank))
            continue;
        slot = &replay.first[rank_map_index(map, b.rank)];
        if (note)
            replay.blocks[*slot] = (struct piece){data, b.bytes};
        ++*slot;
    }
}

/* Turns counts into the index of the first block of each rank. */
static uint64_t add_up(uint32_t count)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t own = replay.first[i];

        replay.first[i] = sum;
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
    const char *name = tape_names(&replay.file, &bytes), *end = name + bytes;

    replay.calls = mem_alloc(bytes * sizeof *replay.calls); /* a name has at least one byte */
    for (; name < end; name += strlen(name) + 1)
        replay.calls[replay.call_count++] = find_call(name);
}

/* Ranks that are processes share what the simulator allocates, but not what it maps. */
static void share_file(void)
{
    unsigned char *copy = mem_alloc(replay.file.size);

    memcpy(copy, replay.file.data, replay.file.size);
    tape_close(&replay.file);
    replay.file.data = copy;
}

static int replay_init(const struct processor_host *host, struct err *err)
{
    const struct run_options *o = host->options;
    uint32_t count = host->map->room;
    int rc;

    replay.path = o->compute_path;
    rc = tape_open(&replay.file, replay.path, o->ranks, err);
    if (rc)
        return rc;
    if (run_host_kind(o->host)->processes)
        share_file();
    read_names();
    replay.first = mem_zalloc(((size_t)count + 1) * sizeof *replay.first);
    each_block(0);
    replay.blocks = mem_alloc((add_up(count) + 1) * sizeof *replay.blocks);
    each_block(1);
    memmove(replay.first + 1, replay.first, count * sizeof *replay.first);
    replay.first[0] = 0;
    return 0;
}

/* Moves the tape to the start of the next block; 0: there is none. */
static int next_block(struct processor_tape *t, uint32_t index)
{
    uint64_t at = replay.first[index] + t->block;

    if (at >= replay.first[index + 1])
        return 0;
    t->block++;
    t->data = (unsigned char *)replay.blocks[at].data;
    t->len = replay.blocks[at].bytes;
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
    *fn = *fn < replay.call_count ? replay.calls[*fn] : UNKNOWN;
    return 1;
}

static void differs(uint32_t index, const struct processor_tape *t, const char *how)
{
    char why[512];

    snprintf(why, sizeof why,
             "cannot replay '%.200s': after %llu slices rank %u %s; record it again "
             "with this program and its arguments",
             replay.path, (unsigned long long)t->slices, processor_rank_id(index), how);
    processor_host->fail(index, why);
}

static int polls(uint64_t call)
{
    return call < processor_host->calls && processor_host->call_polls((unsigned)call);
}

static vtime replay_slice(uint32_t index, uint64_t ticks, unsigned call)
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

const struct processor_ops processor_replay_ops = {
    .name = "replay",
    .mode = RUN_COMPUTE_REPLAY,
    .init = replay_init,
    .slice = replay_slice,
};
