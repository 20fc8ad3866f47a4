/*
 * bins.h - amounts over time, of many keys: bytes that links carried, say. Time is cut into bins of
 * one width, which doubles when time has outgrown them. Only keys with an amount take memory, and
 * of many keys each has fewer bins:
 *
 *     keys       bins of each       memory
 *     65,536     128                64 MiB
 *     131,072    64                 64 MiB
 *     ...
 *     more than 1 Mi   8            64 bytes per key
 *
 * Amounts are whole numbers, and edges of wide bins are edges of narrow ones. So the result depends
 * only on what was added, not on the order, and bins that several processes filled can be added.
 *
 * Out of memory ends the process. Nothing here switches.
 */
#ifndef BASE_BINS_H
#define BASE_BINS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define BINS_MOST 128 /* of each key */
#define BINS_LEAST 8
#define BINS_MEMORY ((size_t)64 << 20)

struct bins {
    uint64_t width;    /* of a bin, in the unit of time; 0: that of what is added first */
    uint32_t count;    /* bins of each key: a power of two */
    uint32_t used;     /* bins up to the last one in which there is anything */
    uint32_t *keys;    /* in the order in which they came */
    uint64_t *amounts; /* [count][room]: what is added at about the same time lies close together */
    size_t rows, room; /* keys, and for how many there is room */
    size_t bytes;      /* of the amounts */
    uint64_t below;    /* keys below this number have their row + 1 in a table, */
    uint32_t *table;   /* which takes memory only where there are keys, */
    struct map numbers; /* others in a map */
    uint64_t recent;    /* the bin that was looked for last */
};

void bins_init(struct bins *, uint64_t width);
/* Directly after that: about how many keys there will be. Those below a number cost less to find,
 * but one of them may take as much memory as 1024: not for numbers from a file. */
void bins_expect(struct bins *, uint64_t below, uint64_t keys);
void bins_fini(struct bins *);

/* Adds an amount, not 0, spread evenly over the time from `from` to `to`; to == from: all at once.
 * Times are below 2^63. */
void bins_add(struct bins *, uint32_t key, uint64_t from, uint64_t to, uint64_t amount);

/* bins_add for each of several keys. */
void bins_add_all(struct bins *, const uint32_t *keys, size_t count, uint64_t from, uint64_t to,
                  uint64_t amount);

/* Adds what a key has in `count` bins of a width. -1: one width is not the other, doubled some
 * times, or time is too long. */
int bins_put(struct bins *, uint32_t key, uint64_t width, const uint64_t *amounts, size_t count);

/* Whether a key has anything. */
int bins_has(const struct bins *, uint32_t key);
/* Copies the bins of a key, `used` of them; returns 0 if it has none. */
int bins_get(const struct bins *, uint32_t key, uint64_t amounts[BINS_MOST]);

#endif
