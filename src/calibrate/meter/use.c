/*
 * use.c - what messages cost in real programs, compared with a ping-pong of one message at a time.
 *
 *     unexpected  MPI_Recv of a message that came first and waits in the queue of such messages,
 *                 including the time to put it there
 *     window      a send and a receive more among many in flight: MPI_Irecv, MPI_Isend, MPI_Waitall
 *     match       half of a round trip of an empty message while `bytes` other receives are pending
 *     peers       time in MPI_Isend when each message goes to another rank than the one before
 */
#include <stdlib.h>

#include "calibrate/meter/meter.h"

#define TAG 1
#define TAG_LAST 2
#define TAG_OTHER 3
#define BURST 16
#define BURST_SECONDS 20e-6
#define WINDOW_SHORT 2
#define WINDOW_LONG 18
#define PENDING_MOST 256
#define PEERS_MOST 8

static const size_t unexpected_sizes[] = {0, 64, 512, 2048, 4096, 8192};
static const size_t pending_counts[] = {0, 16, 64, PENDING_MOST};
static const size_t window_sizes[] = {0, 8, 64};
#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

/* The probe finds the last message, so all earlier ones have to be stored. */
static double sample_unexpected(struct meter *n, MPI_Comm comm, const struct meter_probe *p,
                                size_t bytes, int batch)
{
    double spent = 0;
    (void)p;
    if (meter_begin(comm) == 0) {
        meter_send(n, comm, 0, 1, TAG);
        meter_pause(50e-6 + (double)bytes * batch * 2e-9);
        double start = MPI_Wtime();
        MPI_Probe(1, TAG_LAST, comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < batch; i++)
            meter_recv(n, comm, bytes, 1, TAG);
        spent = meter_since(n, start);
        meter_recv(n, comm, 0, 1, TAG_LAST);
    } else {
        meter_recv(n, comm, 0, 0, TAG);
        for (int i = 0; i < batch; i++)
            meter_send(n, comm, bytes, 0, TAG);
        meter_send(n, comm, 0, 0, TAG_LAST);
    }
    return spent / batch;
}

static double window(struct meter *n, MPI_Comm comm, size_t bytes, int length)
{
    MPI_Request requests[2 * WINDOW_LONG];
    MPI_Status statuses[2 * WINDOW_LONG];
    int rank = meter_begin(comm);
    double start = MPI_Wtime();
    for (int i = 0; i < length; i++)
        MPI_Irecv(n->in, (int)bytes, MPI_BYTE, 1 - rank, TAG, comm, &requests[i]);
    for (int i = 0; i < length; i++)
        MPI_Isend(n->out, (int)bytes, MPI_BYTE, 1 - rank, TAG, comm, &requests[length + i]);
    MPI_Waitall(2 * length, requests, statuses);
    return meter_since(n, start);
}

static double sample_window(struct meter *n, MPI_Comm comm, const struct meter_probe *p,
                            size_t bytes, int batch)
{
    double few = window(n, comm, bytes, WINDOW_SHORT), many = window(n, comm, bytes, WINDOW_LONG);
    (void)p, (void)batch;
    return many > few ? (many - few) / (WINDOW_LONG - WINDOW_SHORT) : 0;
}

static double sample_match(struct meter *n, MPI_Comm comm, const struct meter_probe *p,
                           size_t pending, int batch)
{
    MPI_Request requests[PENDING_MOST];
    MPI_Status statuses[PENDING_MOST];
    int rank, count = (int)pending;
    MPI_Comm_rank(comm, &rank);
    (void)p;
    for (int i = 0; i < count; i++)
        MPI_Irecv(n->in, 0, MPI_BYTE, 1 - rank, TAG_OTHER, comm, &requests[i]);
    meter_begin(comm);
    double start = MPI_Wtime();
    for (int i = 0; i < batch; i++) {
        if (rank == 0)
            meter_send(n, comm, 0, 1, TAG);
        meter_recv(n, comm, 0, 1 - rank, TAG);
        if (rank == 1)
            meter_send(n, comm, 0, 0, TAG);
    }
    double spent = meter_since(n, start) / batch / 2;
    for (int i = 0; i < count; i++)
        meter_send(n, comm, 0, 1 - rank, TAG_OTHER);
    MPI_Waitall(count, requests, statuses);
    return spent;
}

static double sample_peers(struct meter *n, MPI_Comm comm, const struct meter_probe *p,
                           size_t bytes, int batch)
{
    MPI_Request requests[BURST];
    MPI_Status statuses[BURST];
    double spent = 0;
    int ranks, rank = meter_begin(comm);
    (void)p;
    MPI_Comm_size(comm, &ranks);
    if (rank == 0) {
        double start = MPI_Wtime();
        for (int i = 0; i < batch; i++)
            MPI_Isend(n->out, (int)bytes, MPI_BYTE, 1 + i % (ranks - 1), TAG, comm, &requests[i]);
        spent = meter_since(n, start);
        MPI_Waitall(batch, requests, statuses);
    } else {
        for (int i = rank - 1; i < batch; i += ranks - 1)
            meter_recv(n, comm, bytes, 0, TAG);
    }
    MPI_Barrier(comm);
    return spent / batch;
}

static int add_points(struct meter_point *points, int count, const struct meter_probe *probe,
                      const size_t *sizes, int size_count, size_t most)
{
    for (int i = 0; i < size_count; i++)
        if (sizes[i] <= most)
            points[count++] = (struct meter_point){.probe = probe, .bytes = sizes[i]};
    return count;
}

void meter_use(struct meter *n, MPI_Comm pair, const char *where, size_t eager)
{
    const struct meter_probe unexpected = {"unexpected", where,         sample_unexpected,
                                           BURST,        BURST_SECONDS, NULL};
    const struct meter_probe in_window = {"window", where, sample_window, 1, 0, NULL};
    const struct meter_probe match = {"match", where, sample_match, BURST, BURST_SECONDS, NULL};
    struct meter_point points[COUNT(unexpected_sizes) + COUNT(window_sizes) + COUNT(pending_counts)];
    int count = add_points(points, 0, &unexpected, unexpected_sizes, COUNT(unexpected_sizes),
                           eager);
    count = add_points(points, count, &in_window, window_sizes, COUNT(window_sizes), eager);
    count = add_points(points, count, &match, pending_counts, COUNT(pending_counts), PENDING_MOST);
    meter_measure(n, pair, points, count);
}

void meter_peers(struct meter *n, MPI_Comm comm, const char *where)
{
    const struct meter_probe peers = {"peers", where, sample_peers, BURST, BURST_SECONDS, NULL};
    struct meter_point point = {.probe = &peers};
    meter_measure(n, comm, &point, 1);
}

int meter_peers_most(void)
{
    return PEERS_MOST;
}
