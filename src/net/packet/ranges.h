/*
 * ranges.h - a sorted list of ranges of bytes that neither touch nor overlap: what has arrived out
 * of order, and what a receiver has said it has. Usually empty, then short. All zero is empty.
 *
 * Out of memory ends the process. Nothing here switches.
 */
#ifndef NET_PACKET_RANGES_H
#define NET_PACKET_RANGES_H

#include <stdint.h>

struct packet_range {
    uint64_t from, to; /* behind the last byte */
};

struct packet_ranges {
    struct packet_range *at;
    uint32_t count, room;
};

void packet_ranges_fini(struct packet_ranges *);
/* Adds from .. to - 1; what is there already does not matter. O(count). */
void packet_ranges_add(struct packet_ranges *, uint64_t from, uint64_t to);
/* Removes all bytes below `end`. O(count). */
void packet_ranges_cut(struct packet_ranges *, uint64_t end);
/* The first byte at or after `offset` that is not there, and in `end` where the bytes that are not
 * there end: UINT64_MAX if no range follows. */
uint64_t packet_ranges_gap(const struct packet_ranges *, uint64_t offset, uint64_t *end);

#endif
