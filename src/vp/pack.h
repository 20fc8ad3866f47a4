/*
 * pack.h - compact copies of stacks.
 *
 * Blocked ranks of one program are mostly blocked in the same place: their stacks hold the same
 * return addresses and much the same values, and differ in a few words. A copy is therefore kept as
 * a template, a stack of the same depth, and the words in which such stacks are known to vary:
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

/* Puts the copied bytes back and frees the copy. `present`: NULL, or a copy that was made of what is at
 * `to` now: what both have in common is left alone. */
void vp_unpack(void *copy, void *to, uint32_t bytes, const void *present);

#endif
