/*
 * ranges.c - adds to and removes from a sorted list of ranges (see ranges.h).
 */
#include "net/packet/ranges.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"

void packet_ranges_fini(struct packet_ranges *r)
{
    mem_free(r->at);
    memset(r, 0, sizeof *r);
}

/* Replaces the ranges first .. last - 1 by one, or none if it is NULL. */
static void replace(struct packet_ranges *r, uint32_t first, uint32_t last,
                    const struct packet_range *by)
{
    uint32_t more = by ? 1 : 0;

    ARRAY_RESERVE(r->at, r->room, r->count + 1, 4);
    memmove(r->at + first + more, r->at + last, (r->count - last) * sizeof *r->at);
    r->count += more - (last - first);
    if (by)
        r->at[first] = *by;
}

void packet_ranges_add(struct packet_ranges *r, uint64_t from, uint64_t to)
{
    struct packet_range all = {from, to};
    uint32_t first = 0, last;

    while (first < r->count && r->at[first].to < from)
        first++;
    for (last = first; last < r->count && r->at[last].from <= to; last++) {
        if (r->at[last].from < all.from)
            all.from = r->at[last].from;
        if (r->at[last].to > all.to)
            all.to = r->at[last].to;
    }
    replace(r, first, last, &all);
}

void packet_ranges_cut(struct packet_ranges *r, uint64_t end)
{
    uint32_t gone = 0;

    while (gone < r->count && r->at[gone].to <= end)
        gone++;
    if (gone > 0)
        replace(r, 0, gone, NULL);
    if (r->count > 0 && r->at[0].from < end)
        r->at[0].from = end;
}

uint64_t packet_ranges_gap(const struct packet_ranges *r, uint64_t offset, uint64_t *end)
{
    uint32_t i = 0;

    for (; i < r->count && r->at[i].from <= offset; i++)
        if (r->at[i].to > offset)
            offset = r->at[i].to;
    *end = i < r->count ? r->at[i].from : UINT64_MAX;
    return offset;
}
