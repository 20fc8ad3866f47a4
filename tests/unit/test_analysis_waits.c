/* Wait states, the critical path, delays and the ideal network, from traces in which they are
 * known. */
#include <math.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "tap.h"
#include "trace_build.h"

#define PS 1e-12
#define SEND "count=8 datatype=0 tag=5 comm=0 "
#define RECV "count=8 datatype=0 tag=5 comm=0 status=0:5:8 source=0"

static char path[] = "/tmp/orrery-waits-XXXXXX";

static int is_near(double got, double want, const char *name)
{
    int pass = ok(fabs(got - want) <= 1e-9 * fabs(want) + 1e-24, "%s", name);
    if (!pass)
        diag("     got: %.17g\n# expected: %.17g", got, want);
    return pass;
}

static struct analysis run(struct build *b)
{
    struct analysis a = {0};
    struct err err = {0};
    build_end(b, path);
    if (!is_int(analysis_run(&a, path, NULL, &err), 0, "is analysed"))
        diag("%s", err.text);
    double on_path = 0;
    for (uint64_t i = 0; i < a.ranks; i++)
        on_path += a.rank[i].path;
    is_near(on_path, a.runtime, "the critical path takes all of the run time");
    return a;
}

/* Checks that there are no other wait states than ticks of one kind; with -1: none. */
static void only(const struct analysis *a, int kind, double ticks)
{
    for (int k = 0; k < ANALYSIS_WAIT_KINDS; k++)
        is_near(a->waits[k], k == kind ? ticks * PS : 0, analysis_wait_name(k));
}

static const struct analysis_place *place(const struct analysis *a, int is_compute,
                                          const char *function, const char *region)
{
    static const struct analysis_place none;
    for (size_t i = 2; i < a->place_count; i++)
        if (a->place[i].is_compute == is_compute && !strcmp(a->place[i].function, function) &&
            !strcmp(a->place[i].region, region))
            return &a->place[i];
    ok(0, "place '%s' '%s' is there", function, region);
    return &none;
}

static void test_late_sender(void)
{
    struct build b;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Send", 100, 110, SEND "dest=1");
    build_call(&b, 1, "MPI_Recv", 20, 150, RECV);
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LATE_SENDER, 80);
    is_near(a.rank[1].waits[ANALYSIS_LATE_SENDER], 80 * PS, "at the receiver");
    is_int(a.wait_counts[ANALYSIS_LATE_SENDER], 1, "once");
    is_int(a.pair_count, 1, "a pair");
    is_near(a.pair[0].bytes, 8, "its bytes");
    is_near(a.pair[0].time, 50 * PS, "its time");
    is_near(a.rank[0].path, 80 * PS, "the path begins at the sender");
    is_near(a.rank[1].path, 50 * PS, "and ends at the receiver");
    is_int(a.path_hops, 1, "after a hop");
    is_near(place(&a, 1, "MPI_Send", "")->path, 80 * PS, "it computes before the send");
    is_near(place(&a, 0, "MPI_Recv", "")->path, 50 * PS, "and receives");
    is_near(place(&a, 1, "MPI_Send", "")->delay_direct, 80 * PS,
            "what computes there is the delay");
    is_near(a.rank[0].delay_cost, 80 * PS, "rank 0 made it wait");
    is_near(a.delay_known, 80 * PS, "all is known");
    is_near(a.efficiency.ideal, 80 * PS, "on an ideal network the receive ends with the send");
    analysis_fini(&a);
}

static void test_not_late(void)
{
    struct build b;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Send", 10, 15, SEND "dest=1");
    build_call(&b, 1, "MPI_Recv", 20, 50, RECV);
    struct analysis a = run(&b);
    only(&a, -1, 0);
    is_near(a.pair[0].time, 40 * PS, "time of the message");
    analysis_fini(&a);
}

static void test_late_receiver(void)
{
    struct build b;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Send", 10, 120, SEND "dest=1");
    build_call(&b, 1, "MPI_Recv", 90, 130, RECV);
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LATE_RECEIVER, 80);
    is_near(a.rank[0].waits[ANALYSIS_LATE_RECEIVER], 80 * PS, "at the sender");
    is_near(place(&a, 1, "MPI_Recv", "")->delay_direct, 80 * PS, "computing before the receive");
    analysis_fini(&a);
}

/* The wait for a non-blocking send is one for its receiver. */
static void test_late_receiver_wait(void)
{
    struct build b;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Isend", 10, 12, SEND "dest=1 request=3");
    build_call(&b, 0, "MPI_Wait", 30, 120, "request=3");
    build_call(&b, 1, "MPI_Recv", 90, 130, RECV);
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LATE_RECEIVER, 60);
    analysis_fini(&a);
}

static void test_eager(void)
{
    struct build b;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Isend", 10, 12, SEND "dest=1 request=3");
    build_call(&b, 0, "MPI_Wait", 30, 31, "request=3");
    build_call(&b, 1, "MPI_Recv", 90, 130, RECV);
    struct analysis a = run(&b);
    only(&a, -1, 0);
    analysis_fini(&a);
}

/* Rank 2 waits for a message of rank 1 while that of rank 0 is there. */
static void test_wrong_order(void)
{
    struct build b;
    build_begin(&b, 3);
    build_call(&b, 0, "MPI_Send", 10, 11, SEND "dest=2");
    build_call(&b, 1, "MPI_Send", 60, 61, SEND "dest=2");
    build_call(&b, 2, "MPI_Recv", 20, 70, "source=1 tag=5 comm=0 status=1:5:8");
    build_call(&b, 2, "MPI_Recv", 70, 80, "source=0 tag=5 comm=0 status=0:5:8");
    struct analysis a = run(&b);
    only(&a, ANALYSIS_WRONG_ORDER, 40);
    analysis_fini(&a);
}

/* Of several messages the last one counts, and each has its part. */
static void test_waitall(void)
{
    struct build b;
    build_begin(&b, 3);
    build_call(&b, 0, "MPI_Send", 50, 51, SEND "dest=2");
    build_call(&b, 1, "MPI_Send", 80, 81, SEND "dest=2");
    build_call(&b, 2, "MPI_Irecv", 5, 6, "source=0 tag=5 comm=0 request=0");
    build_call(&b, 2, "MPI_Irecv", 7, 8, "source=1 tag=5 comm=0 request=1");
    build_call(&b, 2, "MPI_Waitall", 20, 90,
               "count=2 array_of_requests=0,1 array_of_statuses=0:5:8,1:5:8");
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LATE_SENDER, 60);
    is_int(a.wait_counts[ANALYSIS_LATE_SENDER], 2, "in two parts");
    is_near(a.rank[0].delay_cost, 30 * PS, "rank 0 caused the first");
    is_near(a.rank[1].delay_cost, 30 * PS, "rank 1 the second");
    is_near(a.rank[0].path, 0, "the path comes from rank 1");
    is_near(a.rank[1].path, 75 * PS, "which computed until it sent");
    analysis_fini(&a);
}

/* A receive with wildcards that was posted first takes the first message, though it is completed
 * last. */
static void test_wildcard(void)
{
    struct build b;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Send", 10, 11, SEND "dest=1");
    build_call(&b, 0, "MPI_Send", 100, 101, SEND "dest=1");
    build_call(&b, 1, "MPI_Irecv", 1, 2, "source=-2 tag=-1 comm=0 request=0");
    build_call(&b, 1, "MPI_Irecv", 3, 4, "source=0 tag=5 comm=0 request=1");
    build_call(&b, 1, "MPI_Wait", 40, 110, "request=1 status=0:5:8");
    build_call(&b, 1, "MPI_Wait", 120, 121, "request=0 status=0:5:8");
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LATE_SENDER, 60);
    is_near(a.pair[0].time, (121 - 10 + 110 - 100) * PS, "each with its own message");
    is_near(a.unmatched_sends + a.unmatched_receives, 0, "all are matched");
    analysis_fini(&a);
}

static void test_probe(void)
{
    struct build b;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Send", 50, 51, SEND "dest=1");
    build_call(&b, 0, "MPI_Send", 90, 91, SEND "dest=1");
    build_call(&b, 1, "MPI_Probe", 10, 60, "source=0 tag=5 comm=0 status=0:5:8");
    build_call(&b, 1, "MPI_Recv", 61, 62, RECV);
    build_call(&b, 1, "MPI_Mprobe", 70, 95, "source=0 tag=5 comm=0 message=0 status=0:5:8");
    build_call(&b, 1, "MPI_Mrecv", 96, 97, "message=0 status=0:5:8");
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LATE_SENDER, 40 + 20);
    is_near(a.unmatched_sends, 0, "all are matched");
    analysis_fini(&a);
}

static void test_persistent(void)
{
    struct build b;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Send_init", 1, 2, SEND "dest=1 request=0");
    build_call(&b, 1, "MPI_Recv_init", 1, 2, "source=0 tag=5 comm=0 request=0");
    for (int64_t t = 100; t < 400; t += 100) {
        build_call(&b, 0, "MPI_Start", t + 30, t + 31, "request=0");
        build_call(&b, 0, "MPI_Wait", t + 32, t + 33, "request=0");
        build_call(&b, 1, "MPI_Startall", t, t + 1, "count=1 array_of_requests=0");
        build_call(&b, 1, "MPI_Wait", t + 10, t + 50, "request=0 status=0:5:8");
    }
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LATE_SENDER, 3 * 20);
    is_near(a.pair[0].messages, 3, "three messages");
    is_near(a.sent, 24, "and their bytes");
    analysis_fini(&a);
}

static void test_cancelled(void)
{
    struct build b;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Send", 50, 51, SEND "dest=1");
    build_call(&b, 1, "MPI_Irecv", 1, 2, "source=0 tag=5 comm=0 request=0");
    build_call(&b, 1, "MPI_Cancel", 3, 4, "request=0");
    build_call(&b, 1, "MPI_Wait", 5, 6, "request=0 status=cancelled");
    build_call(&b, 1, "MPI_Irecv", 7, 8, "source=0 tag=5 comm=0 request=1");
    build_call(&b, 1, "MPI_Cancel", 9, 10, "request=1");
    build_call(&b, 1, "MPI_Request_free", 11, 12, "request=1");
    build_call(&b, 1, "MPI_Recv", 20, 60, RECV);
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LATE_SENDER, 30);
    analysis_fini(&a);
}

/* Statuses that were not recorded: source and tag of the receive are enough. */
static void test_no_status(void)
{
    struct build b;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Send", 50, 51, SEND "dest=1");
    build_call(&b, 0, "MPI_Send", 90, 91, SEND "dest=1");
    build_call(&b, 1, "MPI_Recv", 20, 60, "source=0 tag=5 comm=0");
    build_call(&b, 1, "MPI_Irecv", 61, 62, "source=0 tag=5 comm=0 request=0");
    build_call(&b, 1, "MPI_Wait", 70, 95, "request=0");
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LATE_SENDER, 30 + 20);
    is_near(a.unmatched_sends, 0, "all are matched");
    analysis_fini(&a);
}

static void collective(const char *name, const char *args, const int64_t times[][2], unsigned ranks,
                       int kind, double ticks, double completion)
{
    struct build b;
    diag("%s", name);
    build_begin(&b, ranks);
    for (unsigned i = 0; i < ranks; i++)
        build_call(&b, i, name, times[i][0], times[i][1], args);
    struct analysis a = run(&b);
    for (int k = 0; k < ANALYSIS_WAIT_KINDS; k++)
        is_near(a.waits[k],
                k == kind                  ? ticks * PS
                : k == ANALYSIS_COMPLETION ? completion * PS
                                           : 0,
                analysis_wait_name(k));
    analysis_fini(&a);
}

static void test_collectives(void)
{
    static const int64_t all[][2] = {{10, 105}, {100, 106}, {40, 110}};
    collective("MPI_Barrier", "comm=0", all, 3, ANALYSIS_WAIT_BARRIER, 90 + 60, 1 + 5);
    collective("MPI_Allreduce", "count=1 datatype=0 comm=0", all, 3, ANALYSIS_WAIT_NXN, 90 + 60,
               1 + 5);
    static const int64_t from[][2] = {{10, 60}, {50, 55}, {70, 75}};
    collective("MPI_Bcast", "count=1 datatype=0 root=1 comm=0", from, 3, ANALYSIS_LATE_BROADCAST,
               40, 0);
    static const int64_t to[][2] = {{20, 30}, {10, 100}, {90, 95}};
    collective("MPI_Reduce", "count=1 datatype=0 root=1 comm=0", to, 3, ANALYSIS_EARLY_REDUCE, 80,
               0);
    static const int64_t scan[][2] = {{50, 51}, {20, 80}, {30, 81}, {70, 82}};
    collective("MPI_Scan", "count=1 datatype=0 comm=0", scan, 4, ANALYSIS_EARLY_SCAN, 30 + 20, 0);
}

/* The wait for a non-blocking collective. */
static void test_icollective(void)
{
    struct build b;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Ibarrier", 10, 11, "comm=0 request=0");
    build_call(&b, 0, "MPI_Wait", 30, 90, "request=0");
    build_call(&b, 1, "MPI_Ibarrier", 80, 81, "comm=0 request=0");
    build_call(&b, 1, "MPI_Wait", 85, 90, "request=0");
    struct analysis a = run(&b);
    only(&a, ANALYSIS_WAIT_BARRIER, 50);
    analysis_fini(&a);
}

/* On a communicator whose members are in another order. */
static void test_other_comm(void)
{
    struct build b;
    int64_t members[] = {2, 0};
    build_begin(&b, 3);
    build_comm(&b, 2, 99, members, 2);
    build_call(&b, 0, "MPI_Bcast", 10, 60, "count=1 datatype=0 root=0 comm=2");
    build_call(&b, 0, "MPI_Recv", 70, 100, "source=0 tag=1 comm=2 status=2:1:8");
    build_call(&b, 2, "MPI_Bcast", 50, 55, "count=1 datatype=0 root=0 comm=2");
    build_call(&b, 2, "MPI_Send", 90, 95, "count=8 datatype=0 dest=1 tag=1 comm=2");
    struct analysis a = run(&b);
    is_near(a.waits[ANALYSIS_LATE_BROADCAST], 40 * PS, "late broadcast");
    is_near(a.waits[ANALYSIS_LATE_SENDER], 20 * PS, "late sender");
    is_int(a.pair[0].from, 2, "from");
    is_int(a.pair[0].to, 0, "to");
    analysis_fini(&a);
}

/* A ring in which each rank sends to the next one, on a communicator with another order of ranks.
 * Rank 1 is late; rank 2 waits for it, and rank 3 for rank 2, a call later. */
static void test_neighbours(void)
{
    struct build b;
    int64_t members[] = {2, 0, 1, 3};
    static const uint8_t edges[] = {0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0};
    static const int64_t times[4][3][2] = {
        {{10, 31}, {32, 42}, {50, 130}},
        {{100, 101}, {110, 111}, {115, 116}},
        {{15, 105}, {106, 112}, {113, 117}},
        {{30, 32}, {40, 107}, {120, 121}},
    };
    build_begin(&b, 4);
    build_topology(&b, 2, 99, members, 4, edges);
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < 3; k++)
            build_call(&b, i, "MPI_Neighbor_alltoall", times[i][k][0], times[i][k][1], "comm=2");
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LATE_NEIGHBOUR, (20 + 8 + 70) + (85 + 4 + 2) + 66);
    is_near(a.rank[1].waits[ANALYSIS_LATE_NEIGHBOUR], 0, "rank 1 waits for nobody who is late");
    is_near(a.rank[3].waits[ANALYSIS_LATE_NEIGHBOUR], 66 * PS, "rank 3 for rank 2");
    is_near(a.rank[1].delay_cost, (85 + 4 + 2) * PS, "rank 1 made rank 2 wait");
    is_near(a.rank[2].delay_cost, 66 * PS, "rank 2 made rank 3 wait");
    ok(place(&a, 1, "MPI_Neighbor_alltoall", "")->delay_indirect > 50 * PS,
       "because of its own waiting");
    is_near(a.rank[1].path, 90 * PS, "the path begins at rank 1");
    is_near(a.rank[2].path, 6 * PS, "goes on at rank 2");
    is_near(a.rank[3].path, 14 * PS, "then at rank 3");
    analysis_fini(&a);
}

/* Windows of a communicator are told apart. A fence that has ended before the last rank enters it
 * has not waited. */
static void test_fence(void)
{
    struct build b;
    static const uint8_t wins[2][4] = {{0, 0, 0, 2}, {1, 0, 0, 2}};
    build_begin(&b, 2);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 2; k++)
            trace_other(&b.locals[i], TRACE_DEFINE_WIN, 0, wins[k], sizeof wins[k]);
    build_call(&b, 0, "MPI_Win_fence", 10, 91, "win=0");
    build_call(&b, 0, "MPI_Win_fence", 95, 97, "win=1");
    build_call(&b, 0, "MPI_Win_fence", 100, 102, "win=0");
    build_call(&b, 1, "MPI_Win_fence", 40, 96, "win=1");
    build_call(&b, 1, "MPI_Win_fence", 98, 99, "win=0");
    build_call(&b, 1, "MPI_Win_fence", 120, 121, "win=0");
    struct analysis a = run(&b);
    only(&a, ANALYSIS_WAIT_FENCE, 55);
    is_near(a.rank[1].waits[ANALYSIS_WAIT_FENCE], 55 * PS, "for the other rank");
    is_near(a.rank[0].delay_cost, 55 * PS, "which made it wait");
    analysis_fini(&a);
}

/* Rank 0 accesses rank 1. In the first epoch MPI_Win_start waits for the post; in the second it
 * does not, and MPI_Win_complete does. */
static void test_late_post(void)
{
    struct build b;
    build_begin(&b, 2);
    build_win(&b, 0);
    build_group(&b, 0, 0, (int64_t[]){1}, 1);
    build_group(&b, 1, 0, (int64_t[]){0}, 1);
    build_call(&b, 0, "MPI_Win_start", 10, 52, "group=0 win=0");
    build_call(&b, 0, "MPI_Put", 60, 62, "target_rank=1 win=0");
    build_call(&b, 0, "MPI_Win_complete", 80, 81, "win=0");
    build_call(&b, 0, "MPI_Win_start", 90, 91, "group=0 win=0");
    build_call(&b, 0, "MPI_Win_complete", 100, 142, "win=0");
    build_call(&b, 1, "MPI_Win_post", 50, 51, "group=0 win=0");
    build_call(&b, 1, "MPI_Win_wait", 55, 83, "win=0");
    build_call(&b, 1, "MPI_Win_post", 140, 141, "group=0 win=0");
    build_call(&b, 1, "MPI_Win_wait", 145, 146, "win=0");
    struct analysis a = run(&b);
    for (int k = 0; k < ANALYSIS_WAIT_KINDS; k++)
        is_near(a.waits[k] / PS,
                k == ANALYSIS_LATE_POST       ? 40 + 40
                : k == ANALYSIS_EARLY_WAIT    ? 62 - 55
                : k == ANALYSIS_LATE_COMPLETE ? 80 - 62
                                              : 0,
                analysis_wait_name(k));
    is_near(a.rank[1].delay_cost, 80 * PS, "rank 1 made rank 0 wait");
    is_near(a.rank[0].delay_cost, 25 * PS, "and the other way round");
    analysis_fini(&a);
}

/* Ranks 1 to 4 want the lock of rank 0 in an order that only the ends of their calls show: 2, then
 * 3 and 4 together, then 1. */
static void test_locks(void)
{
    struct build b;
    static const int64_t times[5][4] = {{0},
                                        {10, 95, 100, 101},
                                        {12, 14, 40, 44},
                                        {20, 46, 60, 61},
                                        {30, 45, 90, 92}};
    build_begin(&b, 5);
    build_win(&b, 0);
    build_call(&b, 0, "MPI_Barrier", 1, 2, "comm=1");
    for (unsigned i = 1; i < 5; i++) {
        build_call(&b, i, "MPI_Win_lock", times[i][0], times[i][1],
                   i < 3 ? "lock_type=234 rank=0 win=0" : "lock_type=235 rank=0 win=0");
        build_call(&b, i, "MPI_Win_unlock", times[i][2], times[i][3], "rank=0 win=0");
    }
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LOCK_CONTENTION, (40 - 20) + (40 - 30) + (90 - 10));
    is_near(a.rank[1].waits[ANALYSIS_LOCK_CONTENTION], 80 * PS, "the last has waited for all");
    is_near(a.rank[2].waits[ANALYSIS_LOCK_CONTENTION], 0, "the first for nobody");
    is_near(a.rank[2].path, 39 * PS, "the path begins at the first");
    is_near(a.rank[3].path, 0, "leaves out the one that was short");
    is_near(a.rank[4].path, 50 * PS, "and goes by the other");
    is_near(a.rank[1].path, 11 * PS, "to the last");
    analysis_fini(&a);
}

/* Two files of one communicator. A collective that has ended before the last rank enters it has not
 * waited; waiting for a request of a file is file time. */
static void test_files(void)
{
    struct build b;
    static const uint8_t names[2][3] = {{0, 'a', 0}, {1, 'b', 0}};
    build_begin(&b, 2);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 2; k++)
            trace_other(&b.locals[i], TRACE_DEFINE_FILE, 0, names[k], 2);
    build_call(&b, 0, "MPI_File_open", 10, 62, "comm=0 fh=0");
    build_call(&b, 0, "MPI_File_open", 70, 72, "comm=0 fh=1");
    build_call(&b, 0, "MPI_File_write_at_all", 80, 82, "fh=0 count=4 datatype=1");
    build_call(&b, 0, "MPI_File_iwrite_at_all", 90, 91, "fh=1 count=4 datatype=1 request=0");
    build_call(&b, 0, "MPI_Wait", 100, 150, "request=0");
    build_call(&b, 1, "MPI_File_open", 60, 61, "comm=0 fh=0");
    build_call(&b, 1, "MPI_File_open", 70, 72, "comm=0 fh=1");
    build_call(&b, 1, "MPI_File_write_at_all", 120, 122, "fh=1 count=4 datatype=1");
    build_call(&b, 1, "MPI_File_write_at_all", 130, 132, "fh=0 count=4 datatype=1");
    struct analysis a = run(&b);
    only(&a, ANALYSIS_WAIT_FILE, 50 + 20);
    is_near(a.rank[0].file, (52 + 2 + 2 + 1 + 50) * PS, "file time of rank 0");
    is_near(a.rank[0].communication, 0, "it does nothing else in MPI");
    is_near(a.file_bytes, 4 * 32, "bytes");
    is_near(a.efficiency.ideal, (150 - 10) * PS, "an ideal network does not help");
    is_near(a.efficiency.parallel,
            a.efficiency.load_balance * a.efficiency.communication * a.efficiency.file,
            "the factors are exact");
    analysis_fini(&a);
}

/* A partitioned message is sent when its last part is ready, and no other message is taken for
 * it. */
static void test_parts(void)
{
    struct build b;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Psend_init", 1, 2,
               "partitions=4 count=2 datatype=1 dest=1 tag=5 comm=0 request=0");
    build_call(&b, 0, "MPI_Start", 3, 4, "request=0");
    build_call(&b, 0, "MPI_Send", 6, 7, SEND "dest=1");
    build_call(&b, 0, "MPI_Pready", 10, 11, "partition=3 request=0");
    build_call(&b, 0, "MPI_Pready_list", 20, 21, "length=1 array_of_partitions=1 request=0");
    build_call(&b, 0, "MPI_Pready_range", 50, 51, "partition_low=0 partition_high=2 request=0");
    build_call(&b, 0, "MPI_Wait", 52, 53, "request=0");
    build_call(&b, 1, "MPI_Precv_init", 1, 2,
               "partitions=4 count=2 datatype=1 dest=0 tag=5 comm=0 request=0");
    build_call(&b, 1, "MPI_Start", 3, 4, "request=0");
    build_call(&b, 1, "MPI_Recv", 10, 11, RECV);
    build_call(&b, 1, "MPI_Wait", 15, 55, "request=0 status=0:5:64");
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LATE_SENDER, 35);
    is_near(a.pair[0].bytes, 64 + 8, "bytes of both messages");
    is_near(a.unmatched_sends + a.unmatched_receives, 0, "all are matched");
    analysis_fini(&a);
}

/* The wait for a non-blocking or persistent one. Rank 0 is two calls ahead. */
static void test_ineighbours(void)
{
    struct build b;
    int64_t members[] = {0, 1};
    static const uint8_t edges[] = {0, 1, 1, 0};
    build_begin(&b, 2);
    build_topology(&b, 2, 99, members, 2, edges);
    build_call(&b, 0, "MPI_Ineighbor_allgather", 10, 11, "comm=2 request=0");
    build_call(&b, 0, "MPI_Neighbor_allgather_init", 12, 13, "comm=2 request=1");
    build_call(&b, 0, "MPI_Start", 14, 15, "request=1");
    build_call(&b, 0, "MPI_Wait", 30, 92, "request=1");
    build_call(&b, 0, "MPI_Wait", 93, 94, "request=0");
    build_call(&b, 1, "MPI_Neighbor_allgather", 80, 81, "comm=2");
    build_call(&b, 1, "MPI_Neighbor_allgather", 90, 91, "comm=2");
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LATE_NEIGHBOUR, 60);
    is_near(a.rank[1].path, 80 * PS, "the path is at the late rank");
    is_near(a.efficiency.ideal, 80 * PS, "which decides on an ideal network, too");
    analysis_fini(&a);
}

/* Everything takes no time: a message arrives when it is sent, and the receiver continues at
 * once. */
static void test_no_time(void)
{
    struct build b;
    build_begin(&b, 3);
    for (unsigned i = 0; i < 3; i++) {
        if (i)
            build_call(&b, i, "MPI_Recv", 0, 100,
                       i == 1 ? RECV : "source=1 tag=5 comm=0 status=1:5:8");
        if (i < 2)
            build_call(&b, i, "MPI_Send", 100, 100, i ? SEND "dest=2" : SEND "dest=1");
        build_call(&b, i, "MPI_Barrier", 100, 100, "comm=0");
    }
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LATE_SENDER, 200);
    is_near(a.rank[0].path, 100 * PS, "rank 0 is the reason");
    is_near(a.delay_unknown, 0, "and known to be");
    analysis_fini(&a);
}

/* A delay that is far from where others wait: rank 0 is slow in region A, and all are alike in B.
 * Rank 2 waits for rank 1, which has waited for rank 0. */
static void test_delay(void)
{
    struct build b;
    build_begin(&b, 3);
    for (unsigned i = 0; i < 3; i++) {
        build_name(&b, i, 0, "A");
        build_name(&b, i, 1, "B");
        int64_t t = i == 0 ? 120 : 100;
        build_call(&b, i, "MPI_Init", 0, 0, "");
        build_region(&b, i, 0, 0);
        build_region(&b, i, -1, t);
        build_region(&b, i, 1, t);
        build_region(&b, i, -1, t + 50);
    }
    build_call(&b, 0, "MPI_Send", 170, 171, SEND "dest=1");
    build_call(&b, 1, "MPI_Recv", 150, 172, RECV);
    build_call(&b, 1, "MPI_Send", 173, 174, SEND "dest=2");
    build_call(&b, 2, "MPI_Recv", 150, 176, "source=1 tag=5 comm=0 status=1:5:8");
    struct analysis a = run(&b);
    only(&a, ANALYSIS_LATE_SENDER, 20 + 23);
    const struct analysis_place *p = place(&a, 1, "", "A");
    is_near(p->delay_direct, 20 * PS, "direct cost of region A");
    is_near(p->delay_indirect, 23 * PS * 20 / 23, "indirect cost of region A");
    is_near(place(&a, 1, "", "B")->delay_direct, 0, "region B is innocent");
    is_near(place(&a, 0, "MPI_Recv", "")->delay_direct, 2 * PS,
            "what receiving took is a delay, too");
    is_near(p->path, 120 * PS, "region A on the critical path");
    is_near(place(&a, 1, "", "B")->path, 50 * PS, "region B on it");
    analysis_fini(&a);
}

/* What was before a barrier does not count after it. */
static void test_delay_since_barrier(void)
{
    struct build b;
    build_begin(&b, 2);
    for (unsigned i = 0; i < 2; i++) {
        build_name(&b, i, 0, "A");
        build_name(&b, i, 1, "B");
        build_call(&b, i, "MPI_Init", 0, 0, "");
        build_region(&b, i, 0, 0);
        build_region(&b, i, -1, i == 0 ? 90 : 50);
        build_call(&b, i, "MPI_Barrier", i == 0 ? 90 : 50, 90, "comm=0");
        build_region(&b, i, 1, 90);
        build_region(&b, i, -1, i == 0 ? 190 : 150);
    }
    build_call(&b, 0, "MPI_Send", 190, 191, SEND "dest=1");
    build_call(&b, 1, "MPI_Recv", 150, 192, RECV);
    struct analysis a = run(&b);
    is_near(place(&a, 1, "", "A")->delay_direct, 40 * PS, "A is the reason before the barrier");
    is_near(place(&a, 1, "", "B")->delay_direct, 40 * PS, "and B behind it");
    analysis_fini(&a);
}

/* Ideal: two ranks in a chain of messages, with and without computing. */
static void test_ideal(void)
{
    struct build b;
    build_begin(&b, 2);
    build_call(&b, 0, "MPI_Send", 100, 110, SEND "dest=1");
    build_call(&b, 1, "MPI_Recv", 0, 200, RECV);
    build_call(&b, 1, "MPI_Send", 260, 270, SEND "dest=0");
    build_call(&b, 0, "MPI_Recv", 110, 400, "source=1 tag=5 comm=0 status=1:5:8");
    build_call(&b, 0, "MPI_Barrier", 400, 450, "comm=0");
    build_call(&b, 1, "MPI_Barrier", 275, 450, "comm=0");
    struct analysis a = run(&b);
    is_near(a.efficiency.ideal, (100 + 60 + 5) * PS, "computing one after the other");
    is_near(a.efficiency.transfer, 165. / 450, "transfer efficiency");
    is_near(a.efficiency.serialisation, 100. / 165, "serialisation efficiency");
    analysis_fini(&a);
}

/* Too many pairs are merged. */
static void test_many_pairs(void)
{
    struct build b;
    struct analysis a;
    struct err err;
    struct analysis_options o = {.pairs_most = 10};
    build_begin(&b, 16);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned k = 0; k < 16; k++) {
            char args[80];
            snprintf(args, sizeof args, SEND "dest=%u", k);
            build_call(&b, i, "MPI_Send", 100 * k, 100 * k + 1, args);
        }
    for (unsigned i = 0; i < 16; i++)
        for (unsigned k = 0; k < 16; k++) {
            char args[80];
            snprintf(args, sizeof args, "source=%u tag=5 comm=0 status=%u:5:8", k, k);
            build_call(&b, i, "MPI_Recv", 2000 + 10 * k, 2001 + 10 * k, args);
        }
    build_end(&b, path);
    is_int(analysis_run(&a, path, &o, &err), 0, "is analysed");
    double messages = 0, time = 0;
    for (size_t i = 0; i < a.pair_count; i++)
        messages += a.pair[i].messages, time += a.pair[i].time;
    is_int(a.pair_width, 8, "8 ranks at a time");
    is_int(a.pair_count, 4, "four pairs");
    is_near(messages, 256, "no message is lost");
    is_near(time, 16 * (16 * 2001. + 10 * 120 - 100 * 120) * PS, "nor its time");
    analysis_fini(&a);
}

int main(void)
{
    plan_auto();
    close(mkstemp(path));
    test_late_sender();
    test_not_late();
    test_late_receiver();
    test_late_receiver_wait();
    test_eager();
    test_wrong_order();
    test_waitall();
    test_wildcard();
    test_probe();
    test_persistent();
    test_cancelled();
    test_no_status();
    test_collectives();
    test_icollective();
    test_neighbours();
    test_fence();
    test_late_post();
    test_locks();
    test_files();
    test_parts();
    test_ineighbours();
    test_other_comm();
    test_no_time();
    test_delay();
    test_delay_since_barrier();
    test_ideal();
    test_many_pairs();
    unlink(path);
    return done_testing();
}
