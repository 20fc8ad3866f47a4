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
    *b = (struct bins){0};
}

/* Two bins become one. */
static void widen(struct bins *b)
{
    for (size_t i = 0; i < b->rows; i++) {
        uint64_t *row = b->amounts + i * b->count;
        for (uint32_t k = 0; k < b->used; k += 2) {
            uint64_t both = row[k] + (k + 1 < b->used ? row[k + 1] : 0);
            row[k] = 0;
            if (k + 1 < b->used)
                row[k + 1] = 0;
            row[k / 2] = both;
        }
    }
    b->used = (b->used + 1) / 2;
    b->width *= 2;
}

/* Each key has half as many bins. */
static void halve(struct bins *b)
{
    uint32_t half = b->count / 2;
    while (b->used > half)
        widen(b);
    for (size_t i = 1; i < b->rows; i++)
        memmove(b->amounts + i * half, b->amounts + i * b->count, half * sizeof *b->amounts);
    b->count = half;
    b->room *= 2;
}

static size_t row_of(struct bins *b, uint32_t key)
{
    int is_new;
    uint64_t *number = map_insert(&b->numbers, key, &is_new);
    if (!is_new)
        return *number - 1;
    *number = b->rows + 1;
    while (b->count > BINS_LEAST && (b->rows + 1) * b->count * sizeof *b->amounts > BINS_MEMORY)
        halve(b);
    if (b->rows == b->room) {
        b->room = b->room ? 2 * b->room : 16;
        b->amounts = mem_realloc(b->amounts, b->room * b->count * sizeof *b->amounts);
    }
    ARRAY_EXTEND(b->keys, b->rows);
    b->keys[b->rows] = key;
    memset(b->amounts + b->rows * b->count, 0, b->count * sizeof *b->amounts);
    return b->rows++;
}

static void put(struct bins *b, size_t row, uint64_t bin, uint64_t amount)
{
    b->amounts[row * b->count + bin] += amount;
    if (amount && bin >= b->used)
        b->used = (uint32_t)bin + 1;
}

#define SOME 64 /* keys whose rows are found together */

static void add_some(struct bins *b, const uint32_t *keys, size_t count, uint64_t from, uint64_t to,
                     uint64_t amount)
{
    size_t rows[SOME];
    uint64_t last = to > from ? to - 1 : from, done = 0;
    for (size_t i = 0; i < count; i++)
        rows[i] = row_of(b, keys[i]);
    while (last / b->width >= b->count)
        widen(b);
    last /= b->width;
    for (uint64_t bin = from / b->width; bin < last; bin++) {
        unsigned __int128 share = (unsigned __int128)amount * ((bin + 1) * b->width - from);
        uint64_t now = (uint64_t)(share / (to - from));
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
    while (b->width < width)
        widen(b);
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
    while ((count - 1) / (b->width / width) >= b->count)
        widen(b);
    for (size_t i = 0; i < count; i++)
        put(b, row, i / (b->width / width), amounts[i]);
    return 0;
}

int bins_merge(struct bins *b, const struct bins *other)
{
    int rc = 0;
    for (size_t i = 0; i < other->rows && rc == 0; i++)
        rc = bins_put(b, other->keys[i], other->width, other->amounts + i * other->count,
                      other->used);
    return rc;
}

const uint64_t *bins_find(const struct bins *b, uint32_t key)
{
    const uint64_t *number = map_find(&b->numbers, key);
    return number ? b->amounts + (*number - 1) * b->count : NULL;
}
