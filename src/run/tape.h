/*
 * tape.h - the file format of recorded compute times; all numbers are little-endian.
 *
 *     "orrery compute 2\n\0\0\0\0\0\0\0"   24 bytes
 *     u64 ranks
 *     blocks: u32 rank, u32 bytes, u32 checksum of rank and bytes (FNV-1a), u32 0, then the bytes:
 *         first a block of rank 2^32 - 2 with the names of functions, each ended by a NUL;
 *         then those of the ranks, in any order, each rank's in order, with pairs of varints:
 *         the function that ended the slice, as its number among the names, and the picoseconds it
 *         took at speed 1;
 *         in the end a block of rank 2^32 - 1 per process, without bytes: that process is complete
 *
 * Written by `orrery run --record-compute` (src/processor/record.c), read by --compute replay.
 */
#ifndef RUN_TAPE_H
#define RUN_TAPE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TAPE_MAGIC "orrery compute 2\n"
#define TAPE_END UINT32_MAX
#define TAPE_NAMES (UINT32_MAX - 1)
#define TAPE_VARINT_MAX 10

struct tape_head {
    char magic[24];
    uint64_t ranks;
};

struct tape_block {
    uint32_t rank, bytes, checksum, spare;
};

/* A file in memory. */
struct tape_file {
    const unsigned char *data;
    size_t size;
};

/* Maps a file and checks that it is a complete record of that many ranks; errors name the file.
 * Close it with tape_close. */
int tape_open(struct tape_file *, const char *path, uint64_t ranks, struct err *);
void tape_close(struct tape_file *);

/* The names of functions, one after the other, each ended by a NUL. */
const char *tape_names(const struct tape_file *, size_t *bytes);

/* Iterates over the blocks, from *at = 0, beginning with that of the names; 0 at the end. The file
 * has been checked. */
int tape_next(const struct tape_file *, size_t *at, struct tape_block *,
              const unsigned char **data);

static inline uint32_t tape_checksum(uint32_t rank, const unsigned char *data, size_t len)
{
    uint32_t hash = 2166136261u ^ rank;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ data[i]) * 16777619u;
    return hash;
}

/* Writes a number as a varint; returns its length. */
static inline unsigned tape_put(unsigned char *out, uint64_t value)
{
    unsigned n = 0;

    while (value >= 128) {
        out[n++] = (unsigned char)(value | 128);
        value >>= 7;
    }
    out[n++] = (unsigned char)value;
    return n;
}

/* Reads a varint from data[*at..len); 0 if it is truncated or too long. */
static inline int tape_get(const unsigned char *data, uint32_t len, uint32_t *at, uint64_t *value)
{
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 64 && *at < len; shift += 7) {
        unsigned char byte = data[(*at)++];

        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *value = v;
            return 1;
        }
    }
    return 0;
}

#endif
