/*
 * p2p.c - measures messages between two ranks, and what a rank does alone.
 *
 *     pingpong  half of a round trip
 *     send      o_s: time in MPI_Isend, the receive being posted
 *     recv      o_r: time in MPI_Recv, the message being there
 *     gap       time per message of a long train, less the same of a short one
 *     eager     the largest message for which MPI_Send does not wait for the receive
 *
 * Every sample begins with a message from rank 1, so that rank 1 waits in its receive when rank 0
 * starts the clock. Rank 0 measures the receive overhead: the message it requests from rank 1
 * arrives during a delay of many round trips, in which rank 0 only reads the clock (Culler and
 * others: Assessing Fast Network Interfaces, 1996).
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrate/meter/meter.h"

#define TAG 1
#define TRAIN_SHORT 4
#define TRAIN_LONG 36
#define EAGER_VOTES 3
#define BATCH_SECONDS 20e-6
#define CLOCK_BATCH 100
#define BURST 16 /* calls whose overhead is measured together, if they are short */
#define BURST_SECONDS 4e-6

static const size_t gap_sizes[] = {0, 8, 64, 512, 4096, 32768};
#define GAP_SIZES (int)(sizeof gap_sizes / sizeof gap_sizes[0])

/* ---- alone ---- */

/* A call between clock readings: in the simulator, a loop that only reads the clock takes longer
 * and longer steps. */
static void touch(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
}

static double sample_clock(struct meter *n, MPI_Comm comm, const struct meter_probe *p,
                           size_t bytes, int batch)
{
    touch(comm);
    double start = MPI_Wtime();
    (void)n, (void)p, (void)bytes;
    for (int i = 1; i < batch; i++)
        MPI_Wtime();
    return (MPI_Wtime() - start) / batch;
}

static double sample_resolution(struct meter *n, MPI_Comm comm, const struct meter_probe *p,
                                size_t bytes, int batch)
{
    touch(comm);
    double start = MPI_Wtime(), now;
    (void)n, (void)p, (void)bytes, (void)batch;
    while ((now = MPI_Wtime()) <= start)
        ;
    return now - start;
}

static double sample_call(struct meter *n, MPI_Comm comm, const struct meter_probe *p, size_t bytes,
                          int batch)
{
    int size;
    (void)p, (void)bytes;
    double start = MPI_Wtime();
    for (int i = 0; i < batch; i++)
        MPI_Comm_size(comm, &size);
    return meter_since(n, start) / batch;
}

static double sample_test(struct meter *n, MPI_Comm comm, const struct meter_probe *p, size_t bytes,
                          int batch)
{
    int found;
    (void)p, (void)bytes;
    double start = MPI_Wtime();
    for (int i = 0; i < batch; i++)
        MPI_Iprobe(0, TAG, comm, &found, MPI_STATUS_IGNORE);
    return meter_since(n, start) / batch;
}

void meter_alone(struct meter *n)
{
    static const struct meter_probe clock = {"clock",     "-",           sample_clock,
                                             CLOCK_BATCH, BATCH_SECONDS, NULL};
    static const struct meter_probe resolution = {"resolution", "-", sample_resolution, 1, 0, NULL};
    static const struct meter_probe call = {"call", "-", sample_call, 1000, BATCH_SECONDS, NULL};
    static const struct meter_probe test = {"test", "-", sample_test, 100, BATCH_SECONDS, NULL};
    struct meter_point first = {.probe = &clock};
    struct meter_point others[] = {{.probe = &resolution}, {.probe = &call}, {.probe = &test}};
    n->clock_cost = meter_measure(n, MPI_COMM_SELF, &first, 1);
    meter_measure(n, MPI_COMM_SELF, others, 3);
}

/* ---- two ranks ---- */

static double sample_pingpong(struct meter *n, MPI_Comm comm, const struct meter_probe *p,
                              size_t bytes, int batch)
{
    int rank = meter_begin(comm);
    (void)p;
    double start = MPI_Wtime();
    for (int i = 0; i < batch; i++) {
        if (rank == 0)
            meter_send(n, comm, bytes, 1, TAG);
        meter_recv(n, comm, bytes, 1 - rank, TAG);
        if (rank == 1)
            meter_send(n, comm, bytes, 0, TAG);
    }
    return meter_since(n, start) / batch / 2;
}

static double sample_send(struct meter *n, MPI_Comm comm, const struct meter_probe *p, size_t bytes,
                          int batch)
{
    MPI_Request requests[BURST];
    double spent = 0;
    (void)p;
    if (meter_begin(comm) == 0) {
        double start = MPI_Wtime();
        for (int i = 0; i < batch; i++)
            MPI_Isend(n->out, (int)bytes, MPI_BYTE, 1, TAG, comm, &requests[i]);
        spent = meter_since(n, start);
        for (int i = 0; i < batch; i++)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        meter_recv(n, comm, 0, 1, TAG);
    } else {
        for (int i = 0; i < batch; i++)
            meter_recv(n, comm, bytes, 0, TAG);
        meter_send(n, comm, 0, 0, TAG);
    }
    return spent / batch;
}

static double sample_recv(struct meter *n, MPI_Comm comm, const struct meter_probe *p, size_t bytes,
                          int batch)
{
    double spent = 0;
    (void)p;
    if (meter_begin(comm) == 0) {
        double start = MPI_Wtime();
        meter_send(n, comm, 0, 1, TAG);
        meter_recv(n, comm, bytes, 1, TAG); /* this is timed */
        double trip = meter_since(n, start);
        meter_send(n, comm, 0, 1, TAG);
        meter_pause((4 + batch) * trip + 10e-6);
        start = MPI_Wtime();
        for (int i = 0; i < batch; i++)
            meter_recv(n, comm, bytes, 1, TAG);
        spent = meter_since(n, start);
    } else {
        meter_recv(n, comm, 0, 0, TAG);
        meter_send(n, comm, bytes, 0, TAG);
        meter_recv(n, comm, 0, 0, TAG);
        for (int i = 0; i < batch; i++)
            meter_send(n, comm, bytes, 0, TAG);
    }
    return spent / batch;
}

static double train(struct meter *n, MPI_Comm comm, size_t bytes, int length)
{
    int rank = meter_begin(comm);
    double start = MPI_Wtime();
    for (int i = 0; i < length; i++) {
        if (rank == 0)
            meter_send(n, comm, bytes, 1, TAG);
        else
            meter_recv(n, comm, bytes, 0, TAG);
    }
    if (rank == 0)
        meter_recv(n, comm, 0, 1, TAG);
    else
        meter_send(n, comm, 0, 0, TAG);
    return meter_since(n, start);
}

static double sample_gap(struct meter *n, MPI_Comm comm, const struct meter_probe *p, size_t bytes,
                         int batch)
{
    double few = train(n, comm, bytes, TRAIN_SHORT), many = train(n, comm, bytes, TRAIN_LONG);
    (void)p, (void)batch;
    return many > few ? (many - few) / (TRAIN_LONG - TRAIN_SHORT) : 0;
}

/* Does MPI_Send wait for a late receive? */
static int is_late(struct meter *n, MPI_Comm comm, size_t bytes)
{
    double pause = 2e-3 + (double)bytes * 20e-9;
    struct timespec t = {0, (long)(pause * 1e9)};
    if (meter_begin(comm) == 0) {
        double start = MPI_Wtime();
        meter_send(n, comm, bytes, 1, TAG);
        return meter_since(n, start) > pause / 2;
    }
    nanosleep(&t, NULL);
    meter_recv(n, comm, bytes, 0, TAG);
    return 0;
}

static int is_eager(struct meter *n, MPI_Comm comm, size_t bytes)
{
    int late = 0;
    for (int i = 0; i < EAGER_VOTES; i++)
        late += is_late(n, comm, bytes);
    late = late > EAGER_VOTES / 2;
    MPI_Bcast(&late, 1, MPI_INT, 0, comm);
    return !late;
}

/* The largest eager message, by bisection; 0 if there is none, METER_BYTES_MAX if all are. */
static size_t find_eager(struct meter *n, MPI_Comm comm)
{
    size_t low = 0, high = METER_BYTES_MAX;
    if (is_eager(n, comm, high))
        return high;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (is_eager(n, comm, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Powers of two, sizes next to and between them, and both sides of the eager limit. Sorted. */
static int usual_sizes(size_t *out, size_t eager)
{
    int count = 0;
    out[count++] = 0;
    for (int i = 0; i <= 22; i++) {
        size_t power = (size_t)1 << i, here[] = {power, power + 1, power / 2 * 3};
        for (int k = 0; k < 3; k++) {
            if ((k == 1 && i < 9) || (k == 2 && i < 1) || here[k] > METER_BYTES_MAX)
                continue;
            size_t before = out[count - 1];
            for (size_t e = eager; e <= eager + 1 && e < METER_BYTES_MAX; e++)
                if (e > before && e < here[k])
                    out[count++] = before = e;
            out[count++] = here[k];
        }
    }
    return count;
}

/* Appends the points of a probe at sizes up to `most`. */
static int add_points(struct meter_point *points, int count, const struct meter_probe *probe,
                      const size_t *sizes, int size_count, size_t most)
{
    for (int i = 0; i < size_count; i++)
        if (sizes[i] <= most)
            points[count++] = (struct meter_point){.probe = probe, .bytes = sizes[i]};
    return count;
}

/* All measurements of the pair but the eager limit, which determines the sizes. */
static void measure_sizes(struct meter *n, MPI_Comm pair, const char *where, const size_t *sizes,
                          int count, size_t eager)
{
    const struct meter_probe pingpong = {"pingpong", where,         sample_pingpong,
                                         64,         BATCH_SECONDS, NULL};
    const struct meter_probe send = {"send", where, sample_send, BURST, BURST_SECONDS, NULL};
    const struct meter_probe recv = {"recv", where, sample_recv, BURST, BURST_SECONDS, NULL};
    const struct meter_probe gap = {"gap", where, sample_gap, 1, 0, NULL};
    struct meter_point *points = calloc(3 * (size_t)count + GAP_SIZES, sizeof *points);
    if (!points)
        MPI_Abort(MPI_COMM_WORLD, 3);
    int used = add_points(points, 0, &pingpong, sizes, count, METER_BYTES_MAX);
    meter_measure(n, pair, points, used);
    if (!n->opt.pingpong_only) {
        used = add_points(points, 0, &send, sizes, count, METER_BYTES_MAX);
        used = add_points(points, used, &recv, sizes, count, eager);
        used = add_points(points, used, &gap, gap_sizes, GAP_SIZES, METER_BYTES_MAX);
        meter_measure(n, pair, points, used);
        meter_use(n, pair, where, eager);
    }
    free(points);
}

void meter_pair(struct meter *n, MPI_Comm pair, const char *where)
{
    size_t sizes[METER_SIZES_MAX], eager = 0;
    int rank, count = n->opt.size_count;
    if (pair == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(pair, &rank);
    if (!n->opt.pingpong_only) {
        eager = find_eager(n, pair);
        if (rank == 0)
            meter_print_bytes(n, pair, "eager", where, eager);
    }
    if (count)
        memcpy(sizes, n->opt.sizes, (size_t)count * sizeof *sizes);
    else
        count = usual_sizes(sizes, eager);
    measure_sizes(n, pair, where, sizes, count, eager);
}
