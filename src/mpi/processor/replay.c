/*
 * replay.c - a slice takes as long as in the run that was recorded (record.c).
 *
 * The file is mapped; an index has, per rank, where its blocks are. A rank reads them in order.
 *
 * Another network changes how often a program polls, and nothing else. Slices are recorded with the
 * call that ended them: those that ended in polling calls (tests, clock readings) are passed over when
 * the program makes fewer of these, and when it makes more they take no time. Any other difference
 * means that it is another program, or one that computes differently each time: the run ends.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "mpi/error.h"
#include "mpi/processor/processor_internal.h"
#include "run/tape.h"

static struct {
    const char *path;
    struct tape_file file;
    uint64_t *first;  /* per rank here, where in `blocks` its blocks begin; one more for the end */
    struct piece {
        const unsigned char *data;
        uint32_t bytes;
    } *blocks;
    uint16_t *calls; /* by the number of a function in the file: that of this build */
    size_t call_count;
} replay;

#define UNKNOWN (MPI_FN_COUNT + 1) /* a function that this build does not have */

/* Counts the blocks of each rank here, or notes where they are. */
static void each_block(int note)
{
    const unsigned char *data;
    struct tape_block b;
    size_t at = 0;

    while (tape_next(&replay.file, &at, &b, &data)) {
        uint64_t *slot;

        if (b.rank >= mpi_world.room || !place_is_here(mpi_place(), b.rank))
            continue;
        slot = &replay.first[place_index(mpi_place(), b.rank)];
        if (note)
            replay.blocks[*slot] = (struct piece){data, b.bytes};
        ++*slot;
    }
}

/* Turns counts into the places where the blocks of each rank begin. */
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

/* The function of a name, or UNKNOWN. */
static uint16_t find_call(const char *name)
{
    uint16_t fn = 0;

    while (fn <= MPI_FN_COUNT && strcmp(processor_call_name(fn), name) != 0)
        fn++;
    return fn <= MPI_FN_COUNT ? fn : UNKNOWN;
}

static void read_names(void)
{
    size_t bytes;
    const char *name = tape_names(&replay.file, &bytes), *end = name + bytes;

    replay.calls = mem_alloc(bytes * sizeof *replay.calls); /* a name has a byte at least */
    for (; name < end; name += strlen(name) + 1)
        replay.calls[replay.call_count++] = find_call(name);
}

/* Ranks that are processes see what the simulator allocates, not what it maps. */
static void share_file(void)
{
    unsigned char *copy = mem_alloc(replay.file.size);

    memcpy(copy, replay.file.data, replay.file.size);
    tape_close(&replay.file);
    replay.file.data = copy;
}

static int replay_init(const struct run_options *o, struct err *err)
{
    uint32_t count = mpi_place()->room;
    int rc;

    replay.path = o->compute_path;
    rc = tape_open(&replay.file, replay.path, o->ranks, err);
    if (rc)
        return rc;
    if (o->host == RUN_HOST_PROCESS)
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

/* Puts the tape at the beginning of the next block; 0: there is none. */
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

/* The next slice, not taken yet. */
static int peek(struct processor_tape *t, uint32_t index, uint64_t *fn, uint64_t *dt, uint32_t *after)
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

static void differs(struct mpi_rank *self, const struct processor_tape *t, const char *how)
{
    char why[512];

    snprintf(why, sizeof why, "cannot replay '%.200s': after %llu slices rank %u %s; record it again "
             "with this program and its arguments", replay.path, (unsigned long long)t->slices,
             mpi_rank_id(self), how);
    mpi_abort_run(self, 2, why);
}

static vtime replay_slice(struct mpi_rank *self, uint64_t ticks, enum mpi_fn fn)
{
    struct mpi_ext *ext = mpi_ext_get(self);
    struct processor_tape *t = ext->tape;
    uint64_t recorded, dt;
    uint32_t after;

    (void)ticks;
    if (!t)
        t = ext->tape = mem_zalloc(sizeof *t);
    while (peek(t, mpi_rank_index(self), &recorded, &dt, &after)) {
        if (recorded != (uint64_t)fn && processor_is_polling(fn))
            return 0;
        t->at = after;
        t->slices++;
        if (recorded == (uint64_t)fn)
            return dt < (uint64_t)VTIME_LIMIT ? (vtime)dt : VTIME_LIMIT;
        if (!processor_is_polling(recorded))
            differs(self, t, "makes another call than when it was recorded");
    }
    if (!processor_is_polling(fn))
        differs(self, t, "makes more calls than when it was recorded");
    return 0;
}

const struct processor_ops processor_replay_ops = {
    .name = "replay",
    .mode = RUN_COMPUTE_REPLAY,
    .init = replay_init,
    .slice = replay_slice,
};
