/*
 * coll.c - collectives in a tight loop, as Riesen measured MPI_Alltoall (A Hybrid MPI Simulator,
 * 2006, figure 7): the time of the slowest rank, per call. `bytes` is what a rank gives to each
 * other rank, or all of what it contributes where that is one buffer.
 */
#include <string.h>

#include "calibrate/meter/meter.h"

#define BATCH_SECONDS 200e-6
#define BATCH_MOST 64

static void do_barrier(struct meter *n, MPI_Comm comm, int bytes)
{
    (void)n, (void)bytes;
    MPI_Barrier(comm);
}

static void do_bcast(struct meter *n, MPI_Comm comm, int bytes)
{
    MPI_Bcast(n->out, bytes, MPI_BYTE, 0, comm);
}

static void do_reduce(struct meter *n, MPI_Comm comm, int bytes)
{
    MPI_Reduce(n->out, n->in, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, comm);
}

static void do_allreduce(struct meter *n, MPI_Comm comm, int bytes)
{
    MPI_Allreduce(n->out, n->in, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
}

static void do_gather(struct meter *n, MPI_Comm comm, int bytes)
{
    MPI_Gather(n->out, bytes, MPI_BYTE, n->in, bytes, MPI_BYTE, 0, comm);
}

static void do_scatter(struct meter *n, MPI_Comm comm, int bytes)
{
    MPI_Scatter(n->out, bytes, MPI_BYTE, n->in, bytes, MPI_BYTE, 0, comm);
}

static void do_allgather(struct meter *n, MPI_Comm comm, int bytes)
{
    MPI_Allgather(n->out, bytes, MPI_BYTE, n->in, bytes, MPI_BYTE, comm);
}

static void do_alltoall(struct meter *n, MPI_Comm comm, int bytes)
{
    MPI_Alltoall(n->out, bytes, MPI_BYTE, n->in, bytes, MPI_BYTE, comm);
}

static void do_reduce_scatter(struct meter *n, MPI_Comm comm, int bytes)
{
    MPI_Reduce_scatter_block(n->out, n->in, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
}

static void do_scan(struct meter *n, MPI_Comm comm, int bytes)
{
    MPI_Scan(n->out, n->in, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
}

static const size_t few_sizes[] = {8, 64, 512, 4096, 32768};
static const size_t many_sizes[] = {8, 32, 128, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
#define FEW (int)(sizeof few_sizes / sizeof few_sizes[0])
#define MANY (int)(sizeof many_sizes / sizeof many_sizes[0])

static const struct operation {
    const char *kind;
    void (*run)(struct meter *, MPI_Comm, int bytes);
    int sizes; /* how many; the first of few_sizes unless MANY */
} operations[] = {
    {"barrier", do_barrier, 0},
    {"bcast", do_bcast, FEW},
    {"reduce", do_reduce, FEW},
    {"allreduce", do_allreduce, FEW},
    {"gather", do_gather, FEW},
    {"scatter", do_scatter, FEW},
    {"allgather", do_allgather, FEW},
    {"alltoall", do_alltoall, MANY},
    {"reduce_scatter", do_reduce_scatter, FEW},
    {"scan", do_scan, FEW},
};
#define OPERATIONS (int)(sizeof operations / sizeof operations[0])

static double sample(struct meter *n, MPI_Comm comm, const struct meter_probe *p, size_t bytes,
                     int batch)
{
    double slowest = 0;
    MPI_Barrier(comm);
    double start = MPI_Wtime();
    for (int i = 0; i < batch; i++)
        p->run(n, comm, (int)bytes);
    double mine = meter_since(n, start) / batch;
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
    return slowest;
}

void meter_collectives(struct meter *n, MPI_Comm comm)
{
    struct meter_probe probes[OPERATIONS];
    struct meter_point points[OPERATIONS * MANY];
    int ranks, count = 0;
    MPI_Comm_size(comm, &ranks);
    memset(n->out, 0, n->buffer_bytes); /* so that sums stay fast */
    for (int i = 0; i < OPERATIONS; i++) {
        const struct operation *o = &operations[i];
        probes[i] = (struct meter_probe){o->kind, "-", sample, BATCH_MOST, BATCH_SECONDS, o->run};
        for (int k = 0; k < (o->sizes ? o->sizes : 1); k++) {
            size_t bytes = !o->sizes ? 0 : o->sizes == MANY ? many_sizes[k] : few_sizes[k];
            if (bytes * (size_t)ranks <= n->buffer_bytes)
                points[count++] = (struct meter_point){.probe = &probes[i], .bytes = bytes};
        }
    }
    meter_measure(n, comm, points, count);
}
