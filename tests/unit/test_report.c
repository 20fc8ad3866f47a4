/* Data of reports: grids against sums made naively, calls and messages read back, chunks. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "library/library.h"
#include "tap.h"
#include "trace/format.h"
#include "report/call_blocks.h"
#include "report/grid.h"
#include "report/hops.h"
#include "report/messages.h"

#define RANKS 300
#define CALLS 40
#define END 100000

struct one {
    unsigned kind;
    int64_t from, to;
};

static struct one given[RANKS][CALLS];

/* ---- reading chunks back ---- */

static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, c);
    return at && c ? (int)(at - digits) : 0;
}

/* The bytes of a chunk; free them. */
static uint8_t *read_chunk(const struct chunks *c, unsigned number, size_t *bytes)
{
    char id[40];
    snprintf(id, sizeof id, "id=\"chunk-%u\">", number);
    const char *at = strstr(buf_str(&c->text), id), *end;
    at += strlen(id);
    end = strstr(at, "</script>");
    size_t length = (size_t)(end - at), used = 0;
    uint8_t *packed = mem_alloc(length), *raw = mem_alloc(4 << 20);
    for (size_t i = 0; i + 3 < length; i += 4) {
        unsigned four = (unsigned)digit(at[i]) << 18 | (unsigned)digit(at[i + 1]) << 12 |
                        (unsigned)digit(at[i + 2]) << 6 | (unsigned)digit(at[i + 3]);
        packed[used++] = (uint8_t)(four >> 16);
        packed[used++] = (uint8_t)(four >> 8);
        packed[used++] = (uint8_t)four;
    }
    uLongf room = 4 << 20;
    ok(uncompress(raw, &room, packed, used) == Z_OK, "chunk %u is whole", number);
    mem_free(packed);
    *bytes = room;
    return raw;
}

static uint64_t take(const uint8_t **at)
{
    uint64_t value = 0;
    *at = trace_varint_get(*at, *at + TRACE_VARINT_MAX, &value);
    return value;
}

static void test_chunks(void)
{
    struct chunks c;
    size_t bytes;
    chunks_init(&c);
    for (unsigned n = 0; n < 5; n++)
        is_int(chunks_add(&c, "abcde", n), n, "chunks are numbered");
    struct chunks_mark mark = chunks_mark(&c);
    chunks_add(&c, "xyz", 3);
    chunks_revert(&c, mark);
    is_int(c.count, 5, "what was added goes");
    ok(!strstr(buf_str(&c.text), "chunk-5"), "so does its text");
    for (unsigned n = 0; n < 5; n++) {
        uint8_t *raw = read_chunk(&c, n, &bytes);
        ok(bytes == n && memcmp(raw, "abcde", n) == 0, "%u bytes are read back", n);
        mem_free(raw);
    }
    chunks_fini(&c);
}

/* ---- grids ---- */

static void make_calls(void)
{
    struct rng rng;
    rng_seed(&rng, 13);
    for (unsigned r = 0; r < RANKS; r++) {
        int64_t time = (int64_t)rng_below(&rng, 50);
        for (unsigned i = 0; i < CALLS; i++) {
            given[r][i].from = time += (int64_t)rng_below(&rng, r % 7 ? 1500 : 3);
            given[r][i].to = time += (int64_t)rng_below(&rng, r % 5 ? 800 : 2);
            given[r][i].kind = 1 + (unsigned)rng_below(&rng, REPORT_KINDS - 1);
        }
    }
}

static double overlap(int64_t from, int64_t to, double left, double right)
{
    double a = (double)from > left ? (double)from : left,
           b = (double)to < right ? (double)to : right;
    return b > a ? b - a : 0;
}

/* Whether a cell is what the calls of its ranks say, but for rounding. */
static int is_right(const struct grid_level *l, unsigned step, uint64_t row, unsigned bin)
{
    unsigned bins = l->bins >> step;
    double left = (double)END * bin / bins, right = (double)END * (bin + 1) / bins;
    double there = 0, sums[REPORT_KINDS] = {0}, all = 0, most = 0;
    uint8_t cell = l->cells[step][row * bins + bin];
    for (uint64_t r = row * l->group; r < (row + 1) * l->group && r < RANKS; r++) {
        there += overlap(given[r][0].from, given[r][CALLS - 1].to, left, right);
        for (unsigned i = 0; i < CALLS; i++)
            sums[given[r][i].kind] += overlap(given[r][i].from, given[r][i].to, left, right);
    }
    if (there < 0.01)
        return cell == 0 || there > 0;
    for (unsigned k = 1; k < REPORT_KINDS; k++) {
        all += sums[k];
        most = sums[k] > most ? sums[k] : most;
    }
    unsigned share = (cell - 1u) % GRID_SHARES, kind = 1 + (cell - 1u) / GRID_SHARES;
    double off = (double)share / (GRID_SHARES - 1) - all / there;
    return cell && off < 0.02 && off > -0.02 && sums[kind] >= most - 0.01;
}

static void test_grid(void)
{
    struct grid g;
    uint64_t wrong = 0, cells = 0;
    grid_init(&g, RANKS, RANKS * CALLS, END, GRID_CELLS);
    for (unsigned r = 0; r < RANKS; r++) {
        for (unsigned i = 0; i < CALLS; i++)
            grid_add(&g, given[r][i].kind, given[r][i].from, given[r][i].to);
        grid_add(&g, REPORT_COMPUTE, given[r][0].from, given[r][CALLS - 1].to);
        grid_end_rank(&g, r);
    }
    is_int(g.level_count, 2, "rows of one rank, and of two");
    for (unsigned i = 0; i < g.level_count; i++)
        for (unsigned step = 0; step <= g.levels[i].steps; step++)
            for (uint64_t row = 0; row < g.levels[i].rows; row++)
                for (unsigned b = 0; b < g.levels[i].bins >> step; b++, cells++)
                    wrong += !is_right(&g.levels[i], step, row, b);
    ok(cells > 10000, "there are %llu cells", (unsigned long long)cells);
    is_int(wrong, 0, "cells that are not what the calls say");
    grid_fini(&g);
}

static void test_grid_large(void)
{
    struct grid g;
    grid_init(&g, 1000000, 100000000, 12345, GRID_CELLS);
    uint64_t cells = 0;
    for (unsigned i = 0; i < g.level_count; i++)
        cells += g.levels[i].rows * g.levels[i].bins;
    ok(g.levels[0].group > 1 && g.levels[g.level_count - 1].rows <= GRID_ROWS,
       "a million ranks are put together");
    ok(cells <= g.level_count * GRID_CELLS, "and have as many cells as fewer");
    grid_fini(&g);
}

/* ---- calls ---- */

/* Reads all blocks: how many calls there are, and whether they are those that were given. */
static uint64_t compare_calls(const struct calls *c, const struct chunks *chunks, int64_t unit)
{
    uint64_t wrong = 0, number[RANKS] = {0};
    for (size_t b = 0; b < c->count; b++) {
        size_t bytes;
        uint8_t *raw = read_chunk(chunks, c->blocks[b].chunk, &bytes);
        const uint8_t *at = raw, *columns[CALLS_COLUMNS];
        uint64_t runs = take(&at), ranks[RANKS], counts[RANKS];
        for (uint64_t i = 0; i < runs; i++) {
            ranks[i] = take(&at);
            take(&at); /* thread */
            counts[i] = take(&at);
        }
        for (unsigned k = 0; k < CALLS_COLUMNS; k++) {
            uint64_t length = take(&at);
            columns[k] = at;
            at += length;
        }
        ok(at == raw + bytes, "block %zu has nothing behind its columns", b);
        for (uint64_t i = 0; i < runs; i++) {
            int64_t time = 0;
            for (uint64_t k = 0; k < counts[i]; k++) {
                int64_t from = time + (int64_t)take(&columns[CALLS_GAP]);
                time = from + (int64_t)take(&columns[CALLS_DURATION]);
                uint64_t fn = take(&columns[CALLS_FUNCTION]);
                uint64_t several = fn & 1 ? take(&columns[CALLS_NUMBER]) : 1;
                const struct one *first = &given[ranks[i]][number[ranks[i]]];
                const struct one *last = first + several - 1;
                wrong += from != first->from / unit || time != last->to / unit;
                wrong += several == 1 && fn >> 1 != first->kind;
                wrong += several > 1 && first->from / unit != last->to / unit;
                number[ranks[i]] += several;
            }
        }
        mem_free(raw);
    }
    for (unsigned r = 0; r < RANKS; r++)
        wrong += number[r] != CALLS;
    return wrong;
}

static void test_calls(int64_t unit, int is_all)
{
    struct chunks chunks;
    struct calls c;
    chunks_init(&chunks);
    calls_init(&c, &chunks, unit);
    for (unsigned r = 0; r < RANKS; r++) {
        calls_begin(&c, r, 0);
        for (unsigned i = 0; i < CALLS; i++)
            calls_add(&c, given[r][i].kind, given[r][i].from, given[r][i].to);
    }
    calls_end(&c);
    ok((c.kept == RANKS * CALLS) == is_all, "in units of %lld %llu calls are kept", (long long)unit,
       (unsigned long long)c.kept);
    is_int(compare_calls(&c, &chunks, unit), 0, "calls are read back");
    calls_fini(&c);
    chunks_fini(&chunks);
}

/* A thread with more calls than a block has. */
static void test_long_run(void)
{
    struct chunks chunks;
    struct calls c;
    chunks_init(&chunks);
    calls_init(&c, &chunks, 1);
    calls_begin(&c, 7, 1);
    for (int i = 0; i < CALLS_BLOCK + 100; i++)
        calls_add(&c, 3, 10 * i, 10 * i + 4);
    calls_end(&c);
    is_int(c.count, 2, "a long thread has two blocks");
    is_int(c.blocks[1].from, 10 * CALLS_BLOCK, "the second begins where the first ends");
    is_int(c.blocks[1].calls, 100, "and has the rest");
    calls_fini(&c);
    chunks_fini(&chunks);
}

/* ---- messages ---- */

static void test_messages(void)
{
    struct messages m;
    struct chunks chunks;
    struct buf text;
    struct json json;
    messages_init(&m, 1000);
    for (uint64_t i = 0; i < 100000; i++)
        messages_add(&m, &(struct message){(uint32_t)i % 50, (uint32_t)(i + 1) % 50, (int64_t)i,
                                           (int64_t)i + 5});
    is_int(m.all, 100000, "all messages are counted");
    ok(m.count <= 1000 && m.count >= 500, "%zu of them are kept", m.count);
    int64_t step = m.kept[1].sent - m.kept[0].sent, wrong = 0;
    for (size_t i = 0; i < m.count; i++)
        wrong += m.kept[i].sent != (int64_t)i * step;
    is_int(wrong, 0, "one in so many");
    chunks_init(&chunks);
    buf_init(&text);
    json_init(&json, &text);
    json_object_begin(&json);
    messages_write(&m, 1, &chunks, &json);
    json_object_end(&json);
    json_fini(&json);
    size_t bytes;
    uint8_t *raw = read_chunk(&chunks, 0, &bytes);
    const uint8_t *at = raw;
    is_int(take(&at), m.count, "a block has them all");
    mem_free(raw);
    buf_fini(&text);
    chunks_fini(&chunks);
    messages_fini(&m);
}

/* ---- the critical path ---- */

static void test_hops(void)
{
    struct hops h;
    size_t count;
    /* 1 waits for 0 at 10, 2 for 1 at 20, 1 for 2 at 30, 0 for 1 at 25: 2 -> 1 is the end of the
     * path of 1 */
    hops_init(&h, 3, 1000);
    hops_add(&h, 1, 0, 10);
    hops_add(&h, 2, 1, 20);
    hops_add(&h, 0, 1, 25);
    hops_add(&h, 1, 2, 30);
    struct hops_step *steps = hops_path(&h, 1, 5, 100, &count);
    static const struct hops_step expected[] = {{0, 5, 10}, {1, 10, 20}, {2, 20, 30}, {1, 30, 100}};
    ok(count == 4 && memcmp(steps, expected, sizeof expected) == 0,
       "the path goes through all ranks");
    mem_free(steps);
    steps = hops_path(&h, 0, 5, 100, &count);
    ok(count == 3 && steps[2].from == 25 && steps[1].rank == 1 && steps[1].from == 10,
       "what a rank did later does not matter to others");
    mem_free(steps);
    hops_fini(&h);
}

/* However few are kept at a time, the path is the same. */
static void test_hops_compact(void)
{
    struct rng rng;
    struct hops few, many;
    size_t count, other;
    rng_seed(&rng, 7);
    hops_init(&few, 20, 100);
    hops_init(&many, 20, 1 << 20);
    for (int i = 0; i < 20000; i++) {
        uint32_t rank = (uint32_t)rng_below(&rng, 20), cause = (uint32_t)rng_below(&rng, 20);
        hops_add(&few, rank, cause, i);
        hops_add(&many, rank, cause, i);
    }
    struct hops_step *a = hops_path(&few, 3, 0, 20000, &count);
    struct hops_step *b = hops_path(&many, 3, 0, 20000, &other);
    ok(count == other && count > 100 && memcmp(a, b, count * sizeof *a) == 0,
       "%zu steps are the same after many were dropped", count);
    ok(few.room <= 100000, "which they were");
    mem_free(a);
    mem_free(b);
    hops_fini(&few);
    hops_fini(&many);
}

int main(void)
{
    plan_auto();
    library_load(LIBRARY_zlib, NULL);
    make_calls();
    test_chunks();
    test_grid();
    test_grid_large();
    test_calls(1, 0);
    test_calls(1000, 0);
    test_calls(2 * END, 0);
    test_long_run();
    test_messages();
    test_hops();
    test_hops_compact();
    return done_testing();
}
