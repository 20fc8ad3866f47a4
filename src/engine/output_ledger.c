/*
 * output_ledger.c - keeps lines in flight to process 0 (see output_ledger.h).
 *
 * Lines are appended. Dropped lines leave a hole at the front, whose memory is given back; when no
 * line is left, the next one goes to the start again. One word holds the range of the lines, so the
 * ledger is consistent at every moment.
 */
#include "engine/output_ledger.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#define HOLE_MIN ((uint64_t)4 << 20) /* bytes to give back at a time */

static_assert(sizeof(struct output_ledger) <= OUTPUT_LEDGER_HEAD,
              "the head has room for all of it");

struct line {
    uint64_t number;
    vtime when;
    uint64_t key; /* rank << 2 | fd */
    uint64_t len;
};

static char *data_of(const struct output_ledger *l)
{
    return (char *)(uintptr_t)l + OUTPUT_LEDGER_HEAD;
}

static void set_range(struct output_ledger *l, uint64_t start, uint64_t end)
{
    atomic_store_explicit(&l->range, start << 32 | end, memory_order_release);
}

static uint64_t start_of(uint64_t range)
{
    return range >> 32;
}

static uint64_t end_of(uint64_t range)
{
    return range & UINT32_MAX;
}

void output_ledger_add(struct output_ledger *l, uint64_t number, uint64_t rank, vtime when, int fd,
                       const char *text, size_t n)
{
    uint64_t range = atomic_load_explicit(&l->range, memory_order_relaxed), end = end_of(range);
    struct line line = {number, when, rank << 2 | (uint64_t)fd, n};

    if (n > OUTPUT_LEDGER_DATA || sizeof line + n > OUTPUT_LEDGER_DATA - end)
        return;
    memcpy(data_of(l) + end, &line, sizeof line);
    memcpy(data_of(l) + end + sizeof line, text, n);
    set_range(l, start_of(range), end + sizeof line + n);
}

/* Bytes from `from` to `to` are no longer in use; with `all`, none are. Gives back all but a little
 * memory. */
static void give_back(struct output_ledger *l, uint64_t from, uint64_t to, int all)
{
    from &= ~(HOLE_MIN - 1);
    to = (all && to > HOLE_MIN ? to + HOLE_MIN - 1 : to) & ~(HOLE_MIN - 1);
    if (to > from)
        madvise(data_of(l) + from, to - from, MADV_REMOVE);
}

void output_ledger_drop(struct output_ledger *l, uint64_t count)
{
    uint64_t range = atomic_load_explicit(&l->range, memory_order_relaxed);
    uint64_t start = start_of(range), at = start, end = end_of(range);
    struct line line;

    while (at < end) {
        memcpy(&line, data_of(l) + at, sizeof line);
        if (line.number >= count)
            break;
        at += sizeof line + line.len;
    }
    if (at < end)
        set_range(l, at, end);
    else
        set_range(l, 0, 0);
    give_back(l, start, at, at == end);
}

/* ---- when all are gone ---- */

static const struct output_ledger *ledger_of(const char *slot)
{
    return (const struct output_ledger *)(slot + OUTPUT_BOOK_BYTES);
}

/* Adds the lines from number `taken` on. */
static uint64_t read_lines(const struct output_ledger *l, uint64_t taken, struct output *into)
{
    uint64_t range = atomic_load(&l->range), at = start_of(range), end = end_of(range), found = 0;
    struct line line;

    if (end > OUTPUT_LEDGER_DATA)
        return 0;
    while (at < end && end - at >= sizeof line) {
        memcpy(&line, data_of(l) + at, sizeof line);
        at += sizeof line;
        if (line.len == 0 || line.len > end - at || line.when < 0 || (line.key & 3) == 0 ||
            (line.key & 3) == 3)
            break;
        if (line.number >= taken) {
            output_add_line(into, line.key >> 2, line.when, (int)(line.key & 3), data_of(l) + at,
                            (size_t)line.len);
            found++;
        }
        at += line.len;
    }
    return found;
}

static uint64_t recover_one(const char *slot, int spill, const struct output_ledger *leader,
                            struct output *into)
{
    const struct output_ledger *l = ledger_of(slot);
    uint64_t proc = atomic_load(&l->proc), taken = 0, found = 0;

    if (leader && proc > 0 && proc <= OUTPUT_LEDGER_PROCS)
        taken = atomic_load(&leader->taken[proc - 1]);
    if (l != leader) /* process 0's lines are in its book already */
        found = read_lines(l, taken, into);
    return found + output_recover(slot, OUTPUT_BOOK_BYTES, spill, into);
}

/* MPI_Abort cut the run at a time: later lines must not be shown. */
static vtime cut_of(char *const *slots, size_t count)
{
    vtime first = VTIME_NEVER;

    for (size_t i = 0; i < count; i++) {
        const struct output_book *book = (const struct output_book *)slots[i];
        vtime cut = atomic_load(&book->cut);

        if (cut > 0 && cut - 1 < first)
            first = cut - 1;
    }
    return first;
}

uint64_t output_recover_all(char *const *slots, const int *spills, size_t count,
                            struct output *into)
{
    const struct output_ledger *leader = NULL;
    uint64_t found = 0;
    vtime cut = cut_of(slots, count);

    for (size_t i = 0; i < count; i++)
        if (atomic_load(&ledger_of(slots[i])->proc) == 1)
            leader = ledger_of(slots[i]);
    /* lines that process 0 has taken are older than those in flight */
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++)
            if ((ledger_of(slots[i]) == leader) == (pass == 0))
                found += recover_one(slots[i], spills[i], leader, into);
    if (cut < VTIME_NEVER)
        output_drop_after(into, cut);
    return found;
}
