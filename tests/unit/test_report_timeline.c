/* Timelines of traces: sums of kinds, and calls that must fit into so many bytes. */
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/vtime.h"
#include "library/library.h"
#include "tap.h"
#include "trace/part.h"
#include "report/timeline.h"

#define RANKS 4
#define CALLS 6000

static char folder[] = "/tmp/orrery-timeline-XXXXXX";

/* Ranks call functions without arguments, of random length; `sums` are the ticks in each. */
static void record(const char *path, int64_t sums[RANKS][2], int64_t ends[RANKS])
{
    static const char *const names[] = {"MPI_Wtick", "MPI_Finalize"};
    struct trace_header header;
    struct trace_part part;
    struct err err = {0};
    struct rng rng;
    rng_seed(&rng, 3);
    trace_header_init(&header, RANKS);
    is_int(trace_part_open(&part, path, &header, &err), 0, "a part");
    for (unsigned rank = 0; rank < RANKS; rank++) {
        struct trace_stream s;
        int64_t time = 1000;
        trace_stream_init(&s, &part.sink, rank, 0, 0);
        for (unsigned i = 0; i < CALLS; i++) {
            int64_t from = time + (int64_t)rng_below(&rng, 100000);
            time = from + (int64_t)rng_below(&rng, 50000);
            sums[rank][i % 2] += time - from;
            trace_call_begin(&s, (unsigned)trace_schema_find(header.schema, names[i % 2]), from,
                             time);
            trace_record_end(&s);
        }
        ends[rank] = time;
        trace_stream_fini(&s);
    }
    is_int(trace_part_close(&part, &err), 0, "is closed");
    trace_header_fini(&header);
}

static size_t write_timeline(struct timeline *t, size_t most, struct buf *text)
{
    struct chunks chunks;
    struct json json;
    chunks_init(&chunks);
    json_init(&json, text);
    json_object_begin(&json);
    timeline_write(t, most, GRID_CELLS, &chunks, &json);
    json_object_end(&json);
    json_fini(&json);
    size_t bytes = chunks.text.len;
    chunks_fini(&chunks);
    return bytes;
}

static void test_sizes(struct trace *trace)
{
    static const size_t sizes[] = {1 << 20, 40000, 4000};
    int64_t unit = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct timeline t;
        struct buf text;
        timeline_init(&t, trace);
        buf_init(&text);
        size_t bytes = write_timeline(&t, sizes[i], &text);
        ok(bytes <= sizes[i], "%zu bytes fit into %zu", bytes, sizes[i]);
        ok(t.unit > unit, "in units of %lld ticks", (long long)t.unit);
        ok(strstr(buf_str(&text), "\"grids\": []") != NULL, "a small timeline needs no grid");
        unit = t.unit;
        buf_fini(&text);
        timeline_fini(&t);
    }
}

int main(void)
{
    int64_t sums[RANKS][2] = {{0}}, ends[RANKS];
    char path[64];
    struct trace trace;
    struct timeline t;
    struct err err = {0};
    library_load(LIBRARY_zlib, NULL);
    plan_auto();
    ok(mkdtemp(folder) != NULL, "a folder");
    snprintf(path, sizeof path, "%s/t.orr", folder);
    record(path, sums, ends);
    ok(trace_open(&trace, path, &err) == 0, "it is opened: %s", err.text);
    timeline_init(&t, &trace);
    is_int(t.calls, RANKS * CALLS, "calls");
    is_int(t.function_count, 2, "functions");
    for (unsigned r = 0; r < RANKS; r++) {
        double second = (double)VTIME_S, other = (double)(sums[r][0] + sums[r][1]) / second;
        double *kinds = t.kinds + r * REPORT_KINDS;
        double compute = t.to[r] - t.from[r] - other;
        ok(kinds[REPORT_OTHER] > other * 0.999999 && kinds[REPORT_OTHER] < other * 1.000001,
           "time in MPI of rank %u", r);
        ok(kinds[REPORT_COMPUTE] > compute * 0.999999 && kinds[REPORT_COMPUTE] < compute * 1.000001,
           "the rest is computing");
        ok(t.to[r] * second > (double)ends[r] - 1 && t.to[r] * second < (double)ends[r] + 1,
           "its end");
    }
    timeline_fini(&t);
    test_sizes(&trace);
    trace_close(&trace);
    unlink(path);
    rmdir(folder);
    return done_testing();
}
