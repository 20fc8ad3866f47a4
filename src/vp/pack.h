/*
 * pack.h - compact copies of stacks.
 *
 * Blocked ranks of one program are mostly blocked in the same place: their stacks hold the same
 * return addresses and much the same values, and differ in a few words. A copy is therefore stored
 * as a reference to a template, a stack of the same depth, plus the words that are known to vary:
 *
 *     | template | word | word | ... |
 *
 * A rank in a barrier keeps some 100 bytes of its 250.
 */
#ifndef VP_PACK_H
#define VP_PACK_H

#include <stddef.h>
#include <stdint.h>

/* A copy of [from, from + bytes); bytes is a multiple of 8. Freed by vp_unpack. */
void *vp_pack(const void *from, uint32_t bytes);

/* Puts the copied bytes back and frees the copy. `present`: NULL, or a copy of what is at `to` now;
 * words that both have in common are not written. */
void vp_unpack(void *copy, void *to, uint32_t bytes, const void *present);

/* Prefetches a copy whose first VP_PACK_AHEAD bytes are in the cache already. */
#define VP_PACK_AHEAD 128
void vp_pack_prefetch(const void *copy);

#endif
