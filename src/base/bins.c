/*
 * bins.c - adds amounts to bins of time, which double when time outgrows them (see bins.h).
 *
 * Invariant: the width is the smallest, of those that doubling gives, for which all amounts lie in
 * as many bins as the number of keys allows. Both only grow, so it does not matter which grows
 * first.
 */
#include "base/bins.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"

#define WIDTH_MOST ((uint64_t)1 << 62)

/* Bins of one row that are far apart must not all lie in the same set of a cache. */
#define PADDING 8

void bins_init(struct bins *b, uint64_t width)
{
    *b = (struct bins){.width = width, .count = BINS_MOST};
    map_init(&b->numbers);
}

/* In huge pages: additions are at random addresses, and would miss the TLB. Every bin moves when
 * its room grows, so this is not an array of array.h. */
static void set_room(struct bins *b, size_t room)
{
    size_t bytes = room * b->count * sizeof *b->amounts;
    uint64_t *amounts = mem_map(bytes, 1);
    if (!amounts)
        log_fatal("out of memory: cannot map amounts over time of %zu keys", room);
    for (uint32_t bin = 0; bin < b->used; bin++)
        memcpy(amounts + bin * room, b->amounts + bin * b->room, b->rows * sizeof *amounts);
    mem_unmap(b->amounts, b->bytes);
    b->amounts = amounts;
    b->bytes = bytes;
    b->room = room;
}

void bins_expect(struct bins *b, uint64_t below, uint64_t keys)
{
    uint64_t most = BINS_MEMORY / sizeof *b->amounts / BINS_MOST;
    assert(!b->room);
    b->table = mem_map(below * sizeof *b->table, 0);
    if (!b->table)
        return;
    b->below = below;
    keys = keys < below ? keys : below;
    set_room(b, (size_t)(keys < most ? keys : most) + PADDING);
}

void bins_fini(struct bins *b)
{
    map_fini(&b->numbers);
    if (b->table)
        mem_unmap(b->table, b->below * sizeof *b->table);
    mem_free(b->keys);
    mem_unmap(b->amounts, b->bytes);
    *b = (struct bins){0};
}

/* 2^shift bins become one. */
static void widen(struct bins *b, unsigned shift)
{
    uint64_t used = b->used;
    if (shift == 0)
        return;
    for (uint64_t bin = 1; bin < used; bin++) {
        uint64_t *from = b->amounts + bin * b->room, *to = b->amounts + (bin >> shift) * b->room;
        int is_first = !(bin & (((uint64_t)1 << shift) - 1));
        for (size_t i = 0; i < b->rows; i++) {
            to[i] = is_first ? from[i] : to[i] + from[i];
            from[i] = 0;
        }
    }
    b->used = used ? (uint32_t)((used - 1) >> shift) + 1 : 0;
    b->width <<= shift;
    b->recent = 0;
}

/* Makes bins so wide that one of this number, of bins as they are now, exists. */
static void reach(struct bins *b, uint64_t bin)
{
    unsigned shift = 0;
    if (__builtin_expect(bin < b->count, 1))
        return;
    while (bin >> shift >= b->count)
        shift++;
    widen(b, shift);
}

/* Each key has half as many bins: those of the other half are empty then. */
static void halve(struct bins *b)
{
    b->count /= 2;
    if (b->used)
        reach(b, b->used - 1);
}

static size_t add_row(struct bins *b, uint32_t key)
{
    while (b->count > BINS_LEAST && (b->rows + 1) * b->count * sizeof *b->amounts > BINS_MEMORY)
        halve(b);
    if (b->rows == b->room)
        set_room(b, 2 * b->room + PADDING);
    ARRAY_EXTEND(b->keys, b->rows);
    b->keys[b->rows] = key;
    return b->rows++;
}

static size_t find_in_map(struct bins *b, uint32_t key)
{
    int is_new;
    uint64_t *number = map_insert(&b->numbers, key, &is_new);
    if (is_new)
        *number = b->rows + 1;
    return is_new ? add_row(b, key) : *number - 1;
}

static inline size_t row_of(struct bins *b, uint32_t key)
{
    if (key >= b->below)
        return find_in_map(b, key);
    if (__builtin_expect(!b->table[key], 0))
        b->table[key] = (uint32_t)add_row(b, key) + 1;
    return b->table[key] - 1;
}

/* Row + 1; 0: the key has none. */
static size_t find_row(const struct bins *b, uint32_t key)
{
    const uint64_t *number;
    if (key < b->below)
        return b->table[key];
    number = map_find(&b->numbers, key);
    return number ? *number : 0;
}

/* ---- adding ---- */

/* What is added next is mostly at about the same time: no division then. */
static inline uint64_t bin_of(struct bins *b, uint64_t t)
{
    if (t - b->recent * b->width >= b->width)
        b->recent = t / b->width;
    return b->recent;
}

static inline void put(struct bins *b, size_t row, uint64_t bin, uint64_t amount)
{
    b->amounts[bin * b->room + row] += amount;
    if (amount && bin >= b->used)
        b->used = (uint32_t)bin + 1;
}

/* amount * part / whole. */
static uint64_t share(uint64_t amount, uint64_t part, uint64_t whole)
{
    uint64_t product;
    if (!__builtin_mul_overflow(amount, part, &product))
        return product / whole;
    return (uint64_t)((unsigned __int128)amount * part / whole);
}

#define SOME 64 /* keys whose rows are found together */

static void add_some(struct bins *b, const uint32_t *keys, size_t count, uint64_t from, uint64_t to,
                     uint64_t amount)
{
    size_t rows[SOME];
    uint64_t last = to > from ? to - 1 : from, done = 0;
    for (size_t i = 0; i < count; i++)
        rows[i] = row_of(b, keys[i]);
    reach(b, bin_of(b, last));
    last = bin_of(b, last);
    for (uint64_t bin = bin_of(b, from); bin < last; bin++) {
        uint64_t now = share(amount, (bin + 1) * b->width - from, to - from);
        for (size_t i = 0; i < count; i++)
            put(b, rows[i], bin, now - done);
        done = now;
    }
    for (size_t i = 0; i < count; i++)
        put(b, rows[i], last, amount - done);
}

void bins_add_all(struct bins *b, const uint32_t *keys, size_t count, uint64_t from, uint64_t to,
                  uint64_t amount)
{
    assert(b->width && to >= from && to <= INT64_MAX);
    for (; count > SOME; keys += SOME, count -= SOME)
        add_some(b, keys, SOME, from, to, amount);
    add_some(b, keys, count, from, to, amount);
}

void bins_add(struct bins *b, uint32_t key, uint64_t from, uint64_t to, uint64_t amount)
{
    bins_add_all(b, &key, 1, from, to, amount);
}

/* Makes bins as wide as the others', if those are wider. */
static int fit(struct bins *b, uint64_t width)
{
    uint64_t least, most;
    if (!b->width)
        b->width = width;
    least = b->width < width ? b->width : width;
    most = b->width < width ? width : b->width;
    if (!least || most > WIDTH_MOST || most % least || (most / least & (most / least - 1)))
        return -1;
    if (b->width < width)
        widen(b, (unsigned)__builtin_ctzll(width / b->width));
    return 0;
}

int bins_put(struct bins *b, uint32_t key, uint64_t width, const uint64_t *amounts, size_t count)
{
    while (count && !amounts[count - 1])
        count--;
    if (!width || (count && count - 1 > WIDTH_MOST / width) || fit(b, width) != 0)
        return -1;
    if (!count)
        return 0;
    size_t row = row_of(b, key);
    reach(b, (count - 1) / (b->width / width));
    unsigned shift = (unsigned)__builtin_ctzll(b->width / width);
    for (size_t i = 0; i < count; i++)
        put(b, row, i >> shift, amounts[i]);
    return 0;
}

int bins_has(const struct bins *b, uint32_t key)
{
    return find_row(b, key) != 0;
}

int bins_get(const struct bins *b, uint32_t key, uint64_t amounts[BINS_MOST])
{
    size_t row = find_row(b, key);
    if (!row)
        return 0;
    for (uint32_t bin = 0; bin < b->used; bin++)
        amounts[bin] = b->amounts[bin * b->room + row - 1];
    return 1;
}
