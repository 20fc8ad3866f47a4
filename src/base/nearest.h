/*
 * nearest.h - "Did you mean ...?": the known word nearest to a mistyped one. Nothing here fails,
 * allocates or switches.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/* Collects the best of a series of candidates; start with all zero but `word`. */
struct nearest {
    const char *word; /* what was given */
    const char *best; /* NULL: nothing near enough yet; borrowed from the caller */
    size_t distance;  /* of best */
};

/* Offers a candidate. It counts if at most a third of the longer word (but 1 is always allowed)
 * must be edited; the first of equals wins. O(product of the lengths). */
void nearest_offer(struct nearest *nearest, const char *candidate);

/* Edits (insert, delete, replace one character, swap two neighbours) that turn a into b. Words of
 * more than 63 characters count as far from everything (SIZE_MAX). */
size_t nearest_distance(const char *a, const char *b);

#endif
