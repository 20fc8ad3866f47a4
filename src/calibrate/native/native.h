/*
 * native.h - declarations shared by the files of the measuring program of `orrery calibrate`.
 *
 * It is a separate MPI program, linked with the real MPI and with nothing else of Orrery. The
 * launcher of that MPI starts it; to verify a platform, also `orrery run`, where it measures
 * virtual time. Rank 0 leads every measurement and writes the raw data (calibrate/raw.h) to
 * standard output.
 */
#ifndef CALIBRATE_NATIVE_H
#define CALIBRATE_NATIVE_H

#include <mpi.h>
#include <stddef.h>

#define NATIVE_BYTES_MAX (4u << 20)
#define NATIVE_SIZES_MAX 256
#define NATIVE_SAMPLES_MAX 1000
#define NATIVE_TAG_READY 9 /* for native_begin; each file has its own others */
#define NATIVE_CHUNK 8     /* samples that a point takes in its turn */

struct native_options {
    int samples;    /* most per point */
    double seconds; /* most per point, on average */
    int pingpong_only;
    int bind;     /* bind each rank to a core, different ones while there are enough */
    int progress; /* print a progress line on standard error */
    size_t sizes[NATIVE_SIZES_MAX]; /* of ping-pong; none: the default sizes */
    int size_count;
};

struct native {
    struct native_options opt;
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
struct native_probe {
    const char *kind, *where;
    double (*sample)(struct native *, MPI_Comm comm, const struct native_probe *, size_t bytes,
                     int batch);
    int batch_most;
    double batch_seconds;                                   /* how long a sample should last */
    void (*run)(struct native *, MPI_Comm comm, int bytes); /* for `sample` */
};

/* A probe at a size. */
struct native_point {
    const struct native_probe *probe;
    size_t bytes;
    double *samples; /* the rest is for native_measure */
    int count, batch;
    double broken[NATIVE_CHUNK]; /* recent samples in which a rank was switched out */
    int broken_count;
};

/* ---- sampling.c ---- */
/* Samples all points repeatedly, until the quartiles of each are close together or the time is used
 * up; rank 0 of comm prints the records. Returns the median of the last point on rank 0.
 * Collective. */
double native_measure(struct native *, MPI_Comm comm, struct native_point *, int count);
/* Prints a record that consists of a number of bytes. */
void native_print_bytes(const struct native *, MPI_Comm comm, const char *kind, const char *where,
                        size_t bytes);
/* Seconds since `start`, without the cost of the clock. */
double native_since(const struct native *, double start);
/* Only reads the clock: receives nothing meanwhile. */
void native_pause(double seconds);
/* Sends and receives with the program's buffers. */
void native_send(const struct native *, MPI_Comm comm, size_t bytes, int to, int tag);
void native_recv(const struct native *, MPI_Comm comm, size_t bytes, int from, int tag);
/* Returns, with the rank, when all others of comm are ready: their next call is part of the
 * sample. */
int native_begin(MPI_Comm comm);

/* ---- p2p.c ---- */
/* Clock, calls, tests: rank 0 alone. */
void native_alone(struct native *);
/* All of two ranks; `pair` has two, others pass MPI_COMM_NULL. */
void native_pair(struct native *, MPI_Comm pair, const char *where);

/* ---- use.c ---- */
/* Unexpected messages, many in flight, matching among many; of two ranks. */
void native_use(struct native *, MPI_Comm pair, const char *where, size_t eager);
/* Rank 0 of comm sends to all others in turn. */
void native_peers(struct native *, MPI_Comm comm, const char *where);
int native_peers_most(void);

/* ---- kernels.c ---- */
/* Kernels that all ranks of comm, which are on one node, run at the same time. */
void native_kernels(struct native *, MPI_Comm comm);

/* ---- coll.c ---- */
/* Every collective, over sizes, on the first ranks of comm. */
void native_collectives(struct native *, MPI_Comm comm);

/* ---- host.c ---- */
/* Prints what is known about this machine, one comment per line. */
void native_print_host(const struct native *);

#endif
