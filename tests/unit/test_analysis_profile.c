/* The groups that need one rank at a time, from traces whose numbers are known. */
#include <math.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "tap.h"
#include "trace_build.h"

#define PS 1e-12

static char path[] = "/tmp/orrery-analysis-XXXXXX";

static int is_near(double got, double want, const char *name)
{
    int pass = ok(fabs(got - want) <= 1e-9 * fabs(want), "%s", name);
    if (!pass)
        diag("     got: %.17g\n# expected: %.17g", got, want);
    return pass;
}

static struct analysis run(struct build *b, const struct analysis_options *o)
{
    struct analysis a = {0};
    struct err err = {0};
    build_end(b, path);
    if (!is_int(analysis_run(&a, path, o, &err), 0, "is analysed"))
        diag("%s", err.text);
    is_int(a.warning.code, 0, "without a warning");
    return a;
}

static const struct analysis_function *function(const struct analysis *a, const char *name)
{
    static const struct analysis_function none = {.name = ""};
    for (size_t i = 0; i < a->function_count; i++)
        if (strcmp(a->function[i].name, name) == 0)
            return &a->function[i];
    ok(0, "%s is there", name);
    return &none;
}

/* Two ranks, a message of 80 bytes, a test that fails once, and two barriers. */
static void build_two(struct build *b)
{
    build_begin(b, 2);
    build_nodes(b, 2);
    build_call(b, 0, "MPI_Init", 100, 200, "");
    build_call(b, 0, "MPI_Isend", 300, 310, "count=10 datatype=1 dest=1 tag=5 comm=0 request=0");
    build_call(b, 0, "MPI_Test", 400, 405, "request=0 flag=0");
    build_call(b, 0, "MPI_Test", 500, 505, "request=0 flag=1");
    build_call(b, 0, "MPI_Barrier", 600, 700, "comm=0");
    build_call(b, 0, "MPI_Allreduce", 800, 900, "count=3 datatype=1 comm=0");
    build_call(b, 0, "MPI_Finalize", 1000, 1100, "");
    build_call(b, 1, "MPI_Init", 110, 200, "");
    build_call(b, 1, "MPI_Recv", 250, 350,
               "count=10 datatype=1 source=0 tag=5 comm=0 status=0:5:80");
    build_call(b, 1, "MPI_Barrier", 400, 700, "comm=0");
    build_call(b, 1, "MPI_Allreduce", 890, 900, "count=3 datatype=1 comm=0");
    build_call(b, 1, "MPI_Finalize", 950, 1050, "");
}

static void test_groups(void)
{
    struct build b;
    build_two(&b);
    struct analysis a = run(&b, NULL);
    is_int(a.ranks, 2, "ranks");
    is_int(a.events, 12, "events");
    is_str(a.program, "./app", "program");
    is_near(a.runtime, 1000 * PS, "run time");
    is_near(a.rank[0].mpi, 420 * PS, "MPI of rank 0");
    is_near(a.rank[0].compute, 580 * PS, "computing of rank 0");
    is_near(a.rank[0].wait, 200 * PS, "blocking calls of rank 0");
    is_near(a.rank[0].end, 1000 * PS, "end of rank 0");
    is_near(a.rank[0].overlapped, (90 + 95) * PS, "computing while a send is pending");
    is_near(a.rank[0].sent, 80, "bytes sent");
    is_near(a.rank[0].messages, 1, "messages");
    is_near(a.rank[0].collective_bytes, 24, "bytes given to collectives");
    is_near(a.rank[1].received, 80, "bytes received");
    is_near(a.rank[1].compute, (950 - 600) * PS, "computing of rank 1");
    is_near(a.mpi, a.rank[0].mpi + a.rank[1].mpi, "MPI of all");
    is_near(a.bandwidth, (80 + 48) / a.mpi, "bandwidth");
    is_int(a.nodes, 1, "nodes");
    is_int(a.node[0].ranks, 2, "ranks of a node");
    is_near(a.node[0].sent, 80, "bytes of a node");

    const struct analysis_function *f = function(&a, "MPI_Barrier");
    is_near(f->calls, 2, "calls");
    is_near(f->time, 400 * PS, "time");
    is_near(f->mean, 200 * PS, "mean");
    is_near(f->rank_deviation, 100 * PS, "deviation across ranks");
    is_near(f->rank_min, 100 * PS, "least");
    f = function(&a, "MPI_Recv");
    is_near(f->rank_mean, 50 * PS, "a rank that does not call it takes no time");
    is_near(f->rank_deviation, 50 * PS, "and counts for the deviation");
    is_near(f->rank_min, 0, "least");
    is_near(function(&a, "MPI_Isend")->bytes, 80, "bytes of a function");

    is_int(a.phases_count, 1, "phases of one communicator");
    is_str(a.phases[0].comm, "MPI_COMM_WORLD", "its name");
    is_int(a.phases[0].count, 3, "phases");
    is_near(a.phases[0].times[0], 400 * PS, "phase 0 of rank 0");
    is_near(a.phases[0].times[3], 200 * PS, "phase 0 of rank 1");
    is_near(a.phases[0].phases[0].mean, 300 * PS, "mean");
    is_near(a.phases[0].phases[0].deviation, 100 * PS, "deviation");
    is_str(a.phases[0].phases[1].function, "MPI_Allreduce", "what ends a phase");
    is_near(a.phases[0].times[5], 50 * PS, "the last phase");

    is_near(a.requests, 1, "requests");
    is_near(a.tests_failed, 1, "failed tests");
    is_int(a.tests[1], 1, "a request that took two tests");

    double most = 580 * PS, mean = a.compute / 2;
    is_near(a.efficiency.load_balance, mean / most, "load balance");
    is_near(a.efficiency.communication, 0.58, "communication efficiency");
    is_near(a.efficiency.parallel, a.efficiency.load_balance * a.efficiency.communication,
            "parallel efficiency");
    is_near(a.efficiency.communication, a.efficiency.serialisation * a.efficiency.transfer,
            "communication efficiency is a product");
    analysis_fini(&a);
}

/* More phases than there is room for: their times are added up. */
static void test_many_phases(void)
{
    struct build b;
    struct analysis_options o = {.phase_cells = 1};
    build_begin(&b, 2);
    for (unsigned rank = 0; rank < 2; rank++)
        for (int64_t i = 0; i < 1000; i++)
            build_call(&b, rank, "MPI_Barrier", 10 * i + rank, 10 * i + 5, "comm=0");
    struct analysis a = run(&b, &o);
    const struct analysis_phases *p = &a.phases[0];
    is_int(p->merged, 16, "phases are put together");
    is_int(p->count, 63, "999 phases, 16 at a time");
    is_near(p->times[0], 16 * 5 * PS, "sum of 16");
    is_near(p->times[p->count + 1], 16 * 6 * PS, "at the other rank, too");
    is_near(p->times[62], 7 * 5 * PS, "the rest");
    double sum = 0;
    for (uint64_t i = 0; i < p->count; i++)
        sum += p->times[i];
    is_near(sum, 999 * 5 * PS, "nothing is lost");
    analysis_fini(&a);
}

static void test_collective_bytes(void)
{
    struct build b;
    int64_t pair[] = {1, 0};
    build_begin(&b, 2);
    build_comm(&b, 2, 77, pair, 2);
    build_call(&b, 0, "MPI_Bcast", 0, 1, "count=5 datatype=0 root=0 comm=0");
    build_call(&b, 0, "MPI_Alltoall", 1, 2, "sendcount=3 sendtype=1 recvcount=3 recvtype=1 comm=0");
    build_call(&b, 0, "MPI_Scatter", 2, 3,
               "sendcount=2 sendtype=0 recvcount=2 recvtype=0 root=1 comm=2");
    build_call(&b, 0, "MPI_Gather", 3, 4,
               "sendbuf=2 sendcount=9 sendtype=0 recvcount=2 recvtype=0 root=0 comm=0");
    build_call(&b, 0, "MPI_Alltoallv", 4, 5, "sendcounts=4,5 sendtype=0 comm=0");
    build_call(&b, 0, "MPI_Put", 5, 6, "origin_count=6 origin_datatype=1");
    build_call(&b, 1, "MPI_Bcast", 0, 1, "count=5 datatype=0 root=0 comm=0");
    build_call(&b, 1, "MPI_Gather", 3, 4,
               "sendcount=9 sendtype=0 recvcount=2 recvtype=0 root=0 comm=0");
    struct analysis a = run(&b, NULL);
    is_near(a.rank[0].collective_bytes, 5 + 48 + 4 + 0 + 9, "what rank 0 gives");
    is_near(a.rank[0].rma_bytes, 48, "what it puts");
    is_near(a.rank[1].collective_bytes, 9, "what rank 1 gives");
    analysis_fini(&a);
}

static void test_bad(void)
{
    struct analysis a;
    struct err err = {0};
    FILE *file = fopen(path, "w");
    fputs("this is no trace at all, but a text that is longer than its header\n", file);
    fclose(file);
    is_int(analysis_run(&a, path, NULL, &err), ERR_INPUT, "no trace");
    is_int(analysis_run(&a, "/nonexistent/x.orr", NULL, &err) != 0, 1, "no file");
}

/* Every length of a file that is cut off: no crash, and a warning. */
static void test_truncated(void)
{
    struct build b;
    struct err err;
    char data[16384];
    build_two(&b);
    build_end(&b, path);
    FILE *file = fopen(path, "rb");
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    int opened = 0, silent = 0;
    for (size_t length = 0; length < size; length += 1 + size / 200) {
        struct analysis a;
        file = fopen(path, "wb");
        fwrite(data, 1, length, file);
        fclose(file);
        if (analysis_run(&a, path, NULL, &err) != 0)
            continue;
        opened++;
        silent += a.warning.code == 0;
        analysis_fini(&a);
    }
    ok(opened > 0, "what is whole is analysed");
    is_int(silent, 0, "with a warning");
}

/* The calls of a rank are those of another thread than its first one: nothing is known of that. */
static void test_other_thread(void)
{
    struct build b;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Init", 100, 200, "");
    build_call(&b, 0, "MPI_Finalize", 300, 400, "");
    trace_stream_init(&b.streams[1], &b.part.sink, 1, 1, 0);
    build_call(&b, 1, "MPI_Barrier", 250, 350, "comm=1");
    struct analysis a = run(&b, NULL);
    is_near(a.rank[1].compute, 0, "its computing");
    is_near(a.rank[1].end, 0, "its end");
    is_near(a.rank[1].calls, 1, "its calls");
    is_near(a.compute, 100 * PS, "computing of all ranks");
    analysis_fini(&a);
}

int main(void)
{
    plan_auto();
    close(mkstemp(path));
    test_groups();
    test_other_thread();
    test_many_phases();
    test_collective_bytes();
    test_bad();
    test_truncated();
    unlink(path);
    return done_testing();
}
