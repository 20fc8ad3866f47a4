/*
 * meter.h - declarations shared by the files of the measuring program of `orrery calibrate`.
 *
 * It is a separate MPI program, linked with the real MPI and with nothing else of Orrery. The
 * launcher of that MPI starts it; to verify a platform, also `orrery run`, where it measures
 * virtual time. Rank 0 leads every measurement and writes the raw data (calibrate/raw.h) to
 * standard output.
 */
#ifndef CALIBRATE_METER_H
#define CALIBRATE_METER_H

#include <mpi.h>
#include <stddef.h>

#define METER_BYTES_MAX (4u << 20)
#define METER_SIZES_MAX 256
#define METER_SAMPLES_MAX 1000
#define METER_TAG_READY 9 /* for meter_begin; each file has its own others */
#define METER_CHUNK 8     /* samples that a point takes in its turn */

struct meter_options {
    int samples;    /* most per point */
    double seconds; /* most per point, on average */
    int pingpong_only;
    int bind;     /* bind each rank to a core, different ones while there are enough */
    int progress; /* print a progress line on standard error */
    size_t sizes[METER_SIZES_MAX]; /* of ping-pong; none: the default sizes */
    int size_count;
};

struct meter {
    struct meter_options opt;
    int rank, ranks, cores;
    int most_on_node; /* ranks */
    int nodes;
    int *node_of;      /* by rank: the first rank of its node */
    double clock_cost; /* of reading the clock, in seconds */
    char *out, *in;    /* buffers of buffer_bytes */
    size_t buffer_bytes;
    double *memory; /* for the kernels, and where the next one begins; NULL until needed */
    size_t memory_count, cursor;
    long all_samples, broken_samples; /* of all measurements that this rank led */
};

/* A measurement: one sample of `batch` operations by all ranks of comm together; the value returned
 * on rank 0 of comm counts, in seconds per operation. */
struct meter_probe {
    const char *kind, *where;
    double (*sample)(struct meter *, MPI_Comm comm, const struct meter_probe *, size_t bytes,
                     int batch);
    int batch_most;
    double batch_seconds;                                  /* how long a sample should last */
    void (*run)(struct meter *, MPI_Comm comm, int bytes); /* for `sample` */
};

/* A probe at a size. */
struct meter_point {
    const struct meter_probe *probe;
    size_t bytes;
    double *samples; /* the rest is for meter_measure */
    int count, batch;
    double broken[METER_CHUNK]; /* recent samples in which a rank was switched out */
    int broken_count;
};

/* ---- sampling.c ---- */
/* Samples all points repeatedly, until the quartiles of each are close together or the time is used
 * up; rank 0 of comm prints the records. Returns the median of the last point on rank 0.
 * Collective. */
double meter_measure(struct meter *, MPI_Comm comm, struct meter_point *, int count);
/* Prints a record that consists of a number of bytes. */
void meter_print_bytes(const struct meter *, MPI_Comm comm, const char *kind, const char *where,
                       size_t bytes);
/* Seconds since `start`, without the cost of the clock. */
double meter_since(const struct meter *, double start);
/* Only reads the clock: receives nothing meanwhile. */
void meter_pause(double seconds);
/* Sends and receives with the program's buffers. */
void meter_send(const struct meter *, MPI_Comm comm, size_t bytes, int to, int tag);
void meter_recv(const struct meter *, MPI_Comm comm, size_t bytes, int from, int tag);
/* Returns, with the rank, when all others of comm are ready: their next call is part of the
 * sample. */
int meter_begin(MPI_Comm comm);

/* ---- p2p.c ---- */
/* Clock, calls, tests: rank 0 alone. */
void meter_alone(struct meter *);
/* All of two ranks; `pair` has two, others pass MPI_COMM_NULL. */
void meter_pair(struct meter *, MPI_Comm pair, const char *where);

/* ---- use.c ---- */
/* Unexpected messages, many in flight, matching among many; of two ranks. */
void meter_use(struct meter *, MPI_Comm pair, const char *where, size_t eager);
/* Rank 0 of comm sends to all others in turn. */
void meter_peers(struct meter *, MPI_Comm comm, const char *where);
int meter_peers_most(void);

/* ---- kernels.c ---- */
/* Kernels that all ranks of comm, which are on one node, run at the same time. */
void meter_kernels(struct meter *, MPI_Comm comm);

/* ---- coll.c ---- */
/* Every collective, over sizes, on the first ranks of comm. */
void meter_collectives(struct meter *, MPI_Comm comm);

/* ---- host.c ---- */
/* Prints what is known about this machine, one comment per line. */
void meter_print_host(const struct meter *);

#endif
