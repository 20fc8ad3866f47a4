/*
 * bins.c - see bins.h.
 *
 * Invariant: the width is the smallest, of those that doubling gives, for which all amounts lie in
 * as many bins as the number of keys allows. Both only grow, so it does not matter which grows
 * first.
 */
#include "base/bins.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"

#define WIDTH_MOST ((uint64_t)1 << 62)

void bins_init(struct bins *b, uint64_t width)
{
    *b = (struct bins){.width = width, .count = BINS_MOST};
    map_init(&b->numbers);
}

void bins_fini(struct bins *b)
{
    map_fini(&b->numbers);
    mem_free(b->keys);
    mem_free(b->amounts);
    mem_free(b->known);
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
}

/* Makes bins so wide that one of this number, of bins as they are now, exists. */
static void reach(struct bins *b, uint64_t bin)
{
    unsigned shift = 0;
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

/* Room for twice as many keys. */
static void grow(struct bins *b)
{
    size_t room = b->room ? 2 * b->room : 16;
    uint64_t *amounts = mem_zalloc(room * b->count * sizeof *amounts);
    for (uint32_t bin = 0; bin < b->used; bin++)
        memcpy(amounts + bin * room, b->amounts + bin * b->room, b->rows * sizeof *amounts);
    mem_free(b->amounts);
    b->amounts = amounts;
    b->room = room;
}

static size_t add_row(struct bins *b, uint32_t key)
{
    while (b->count > BINS_LEAST && (b->rows + 1) * b->count * sizeof *b->amounts > BINS_MEMORY)
        halve(b);
    if (b->rows == b->room)
        grow(b);
    ARRAY_EXTEND(b->keys, b->rows);
    b->keys[b->rows] = key;
    return b->rows++;
}

static size_t find_row(struct bins *b, uint32_t key)
{
    int is_new;
    uint64_t *number = map_insert(&b->numbers, key, &is_new);
    if (is_new)
        *number = b->rows + 1;
    return is_new ? add_row(b, key) : *number - 1;
}

#define KNOWN 8192

static inline size_t row_of(struct bins *b, uint32_t key)
{
    if (__builtin_expect(!b->known, 0))
        b->known = mem_zalloc(KNOWN * sizeof *b->known);
    struct bins_known *known = &b->known[key % KNOWN];
    if (__builtin_expect(known->key != key || !known->row, 0))
        *known = (struct bins_known){key, (uint32_t)find_row(b, key) + 1};
    return known->row - 1;
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
    reach(b, last / b->width);
    last /= b->width;
    for (uint64_t bin = from / b->width; bin < last; bin++) {
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
    for (size_t i = 0; i < count; i++)
        put(b, row, i / (b->width / width), amounts[i]);
    return 0;
}

static void copy_row(const struct bins *b, size_t row, uint64_t *amounts)
{
    for (uint32_t bin = 0; bin < b->used; bin++)
        amounts[bin] = b->amounts[bin * b->room + row];
}

int bins_merge(struct bins *b, const struct bins *other)
{
    int rc = 0;
    for (size_t i = 0; i < other->rows && rc == 0; i++) {
        uint64_t amounts[BINS_MOST];
        copy_row(other, i, amounts);
        rc = bins_put(b, other->keys[i], other->width, amounts, other->used);
    }
    return rc;
}

int bins_has(const struct bins *b, uint32_t key)
{
    return map_find(&b->numbers, key) != NULL;
}

int bins_get(const struct bins *b, uint32_t key, uint64_t amounts[BINS_MOST])
{
    const uint64_t *number = map_find(&b->numbers, key);
    if (!number)
        return 0;
    copy_row(b, *number - 1, amounts);
    return 1;
}
