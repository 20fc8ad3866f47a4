/*
 * Time in regions: their sums are those of the analysis of the same trace.
 */
#include "cli/regions.h"

#include <math.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "tap.h"
#include "trace_build.h"

#define PS_PER_S 1e12

static char path[64];

static void check_region(const struct cli_regions *r, const char *name, int64_t compute,
                         int64_t mpi)
{
    const struct cli_region *region = cli_regions_find(r, name);
    ok(region && region->compute == compute && region->mpi == mpi,
       "'%s' has %lld of computing and %lld in MPI", name, region ? (long long)region->compute : -1,
       region ? (long long)region->mpi : -1);
}

static void check_sums(const struct cli_regions *r)
{
    const struct analysis_options options = {.groups = 1u << ANALYSIS_OVERALL};
    struct analysis a;
    struct err err;
    int64_t compute = 0, mpi = 0;
    for (size_t i = 0; i < r->count; i++)
        compute += r->items[i].compute, mpi += r->items[i].mpi;
    ok(analysis_run(&a, path, &options, &err) == 0, "the trace is analysed");
    ok(llround(a.compute * PS_PER_S) == compute, "all computing is that of the analysis: %lld",
       (long long)compute);
    ok(llround(a.mpi * PS_PER_S) == mpi, "all time in MPI, too: %lld", (long long)mpi);
    analysis_fini(&a);
}

static void read_regions(struct build *b, struct cli_regions *r)
{
    struct err err;
    build_end(b, path);
    ok(cli_regions_read(r, path, &err) == 0, "it is read");
}

/* Computing begins when the first rank calls MPI. */
static void test_late_rank(void)
{
    struct build b;
    struct cli_regions r;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Init", 100, 150, "");
    build_call(&b, 0, "MPI_Finalize", 400, 500, "");
    build_call(&b, 1, "MPI_Init", 130, 150, "");
    build_call(&b, 1, "MPI_Finalize", 300, 500, "");
    read_regions(&b, &r);
    check_region(&r, "", 250 + 30 + 150, 150 + 220);
    check_sums(&r);
    cli_regions_fini(&r);
}

/* A region that was entered before that has the time since. */
static void test_early_region(void)
{
    struct build b;
    struct cli_regions r;
    build_begin(&b, 2);
    for (unsigned rank = 0; rank < 2; rank++)
        build_name(&b, rank, 0, "main");
    build_region(&b, 0, 0, 40);
    build_call(&b, 0, "MPI_Init", 100, 150, "");
    build_region(&b, 1, 0, 120);
    build_call(&b, 1, "MPI_Init", 130, 150, "");
    for (unsigned rank = 0; rank < 2; rank++)
        build_call(&b, rank, "MPI_Finalize", 400, 500, "");
    read_regions(&b, &r);
    check_region(&r, "", 20, 0);
    check_region(&r, "main", 10 + 250 + 250, 70 + 200);
    check_sums(&r);
    cli_regions_fini(&r);
}

/* A call that did not end is time in MPI. */
static void test_open_call(void)
{
    struct build b;
    struct cli_regions r;
    uint8_t text[2 * TRACE_VARINT_MAX], *at;
    build_begin(&b, 1);
    build_call(&b, 0, "MPI_Init", 100, 150, "");
    at = trace_varint_put(text, (uint64_t)trace_schema_find(b.header.schema, "MPI_Recv"));
    at = trace_varint_put(at, 300);
    trace_other(&b.streams[0], TRACE_OPEN, 500, text, (size_t)(at - text));
    read_regions(&b, &r);
    check_region(&r, "", 50, 50 + 300);
    check_sums(&r);
    cli_regions_fini(&r);
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/orrery-test-regions-%ld.orr", (long)getpid());
    test_late_rank();
    test_early_region();
    test_open_call();
    unlink(path);
    return done_testing();
}
