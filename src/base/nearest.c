/*
 * nearest.c - edit distance with swaps of neighbours ("optimal string alignment"): three rows of
 * the usual table, on the stack, for short words only.
 *
 *     row[i][j] = edits from the first i characters of a to the first j of b
 */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

#define WORD_MAX 63

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t nearest_distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b);
    uint8_t rows[3][WORD_MAX + 1];
    if (la > WORD_MAX || lb > WORD_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= lb; j++)
        rows[0][j] = (uint8_t)j;
    for (size_t i = 1; i <= la; i++) {
        uint8_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = (uint8_t)i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = above[j - 1] + (size_t)(a[i - 1] != b[j - 1]);
            best = least(best, least(above[j], row[j - 1]) + 1u);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, above2[j - 2] + 1u);
            row[j] = (uint8_t)best;
        }
    }
    return rows[la % 3][lb];
}

void nearest_offer(struct nearest *nearest, const char *candidate)
{
    size_t lw = strlen(nearest->word), lc = strlen(candidate);
    size_t limit = (lw > lc ? lw : lc) / 3;
    size_t distance = nearest_distance(nearest->word, candidate);
    if (distance > (limit ? limit : 1) || (nearest->best && distance >= nearest->distance))
        return;
    nearest->best = candidate;
    nearest->distance = distance;
}
