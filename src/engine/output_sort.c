/*
 * output_sort.c - sorts the records in memory. Everything here is stable: records that compare
 * equal are lines of one rank and time, and keep their order of arrival.
 *
 * Only records that arrived since the last time are sorted, and then merged with the rest. Few
 * records use a bottom-up merge sort, many a radix sort, in time proportional to their number.
 */
#include <string.h>

#include "base/mem.h"
#include "engine/output_internal.h"

/* Without branches, since the outcome is hard to predict where it matters. */
static int is_after(const struct output_record *a, const struct output_record *b)
{
    unsigned __int128 x = (unsigned __int128)(uint64_t)a->when << 64 | a->key >> 2;
    unsigned __int128 y = (unsigned __int128)(uint64_t)b->when << 64 | b->key >> 2;

    return x > y;
}

/* Merges the ordered halves [0, mid) and [mid, n); scratch has room for mid records. */
static void merge(struct output_record *r, size_t mid, size_t n, struct output_record *scratch)
{
    size_t left = 0, right = mid, to = 0;

    if (mid == 0 || mid == n || !is_after(&r[mid - 1], &r[mid]))
        return;
    memcpy(scratch, r, mid * sizeof *r);
    while (left < mid && right < n) {
        size_t take_right = (size_t)is_after(&scratch[left], &r[right]);
        const struct output_record *from[2] = {&scratch[left], &r[right]};
        r[to++] = *from[take_right];
        right += take_right;
        left += 1 - take_right;
    }
    memcpy(r + to, scratch + left, (mid - left) * sizeof *r);
}

/* Bottom-up and stable; ordered stretches cost one comparison per merge. */
static void merge_sort(struct output_record *r, size_t n, struct output_record *scratch)
{
    enum { BLOCK = 8 };

    for (size_t from = 0; from < n; from += BLOCK)
        for (size_t i = from + 1; i < n && i < from + BLOCK; i++) {
            struct output_record held = r[i];
            size_t j = i;
            for (; j > from && is_after(&r[j - 1], &held); j--)
                r[j] = r[j - 1];
            r[j] = held;
        }
    for (size_t width = BLOCK; width < n; width *= 2)
        for (size_t from = 0; from + width < n; from += 2 * width) {
            size_t end = n - from < 2 * width ? n - from : 2 * width;
            merge(r + from, width, end, scratch);
        }
}

/* ---- many records: radix sort, least significant digit first ---- */

enum { DIGIT = 11, DIGITS = 1 << DIGIT, RADIX_MIN = 2048 };

static uint64_t field_of(const struct output_record *r, int by_rank)
{
    return by_rank ? r->key >> 2 : (uint64_t)r->when;
}

/* One stable pass by the digit at `shift`. */
static void radix_pass(const struct output_record *from, struct output_record *to, size_t n,
                       int by_rank, int shift, size_t *start)
{
    size_t sum = 0;

    memset(start, 0, DIGITS * sizeof *start);
    for (size_t i = 0; i < n; i++)
        start[field_of(&from[i], by_rank) >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        size_t here = start[d];
        start[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < n; i++)
        to[start[field_of(&from[i], by_rank) >> shift & (DIGITS - 1)]++] = from[i];
}

/* The bits in which the field differs between records; 0 also if they are in order already. */
static uint64_t differing(const struct output_record *r, size_t n, int by_rank)
{
    uint64_t bits = 0;
    int ordered = 1;

    for (size_t i = 1; i < n; i++) {
        uint64_t a = field_of(&r[i - 1], by_rank), b = field_of(&r[i], by_rank);
        bits |= a ^ b;
        ordered &= a <= b;
    }
    return ordered ? 0 : bits;
}

/* By rank, then by time: passes only over digits that differ. */
static void radix_sort(struct output_record *r, size_t n, struct output_record *scratch)
{
    size_t *start = mem_alloc(DIGITS * sizeof *start);
    struct output_record *from = r, *to = scratch;

    for (int by_rank = 1; by_rank >= 0; by_rank--) {
        uint64_t bits = differing(from, n, by_rank);
        for (int shift = 0; shift < 64; shift += DIGIT) {
            struct output_record *held = from;
            if (!(bits >> shift & (DIGITS - 1)))
                continue;
            radix_pass(from, to, n, by_rank, shift, start);
            from = to;
            to = held;
        }
    }
    if (from != r)
        memcpy(r, from, n * sizeof *r);
    mem_free(start);
}

static void sort(struct output_record *r, size_t n, struct output_record *scratch)
{
    if (n < RADIX_MIN)
        merge_sort(r, n, scratch);
    else
        radix_sort(r, n, scratch);
}

void output_sort(struct output *out)
{
    if (out->sorted == out->count)
        return;
    if (out->scratch_cap < out->count) {
        out->scratch_cap = out->cap;
        out->scratch = mem_realloc(out->scratch, out->scratch_cap * sizeof *out->scratch);
    }
    sort(out->records + out->sorted, out->count - out->sorted, out->scratch);
    merge(out->records, out->sorted, out->count, out->scratch);
    out->sorted = out->count;
}
