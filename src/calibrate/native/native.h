/*
 * native.h - the measuring program of `orrery calibrate`: what its files share.
 *
 * An MPI program of its own, linked with the real MPI and with nothing else of Orrery. It is
 * started by the launcher of that MPI, and to verify a platform also by `orrery run`, where all it
 * measures is virtual time. Rank 0 leads every measurement and writes the raw data
 * (calibrate/raw.h) to standard output.
 */
#ifndef CALIBRATE_NATIVE_H
#define CALIBRATE_NATIVE_H

#include <mpi.h>
#include <stddef.h>

#define NATIVE_BYTES_MAX (4u << 20)
#define NATIVE_SIZES_MAX 256
#define NATIVE_SAMPLES_MAX 1000
#define NATIVE_TAG_READY 9 /* of native_begin; others are the files' own */
#define NATIVE_CHUNK 8     /* samples that a point takes at its turn */

struct native_options {
    int samples;    /* most per point */
    double seconds; /* most per point, on average */
    int pingpong_only;
    int bind;                       /* each rank to a core, of its own while there are enough */
    int progress;                   /* a line on standard error that changes */
    size_t sizes[NATIVE_SIZES_MAX]; /* of ping-pong; none: the usual ones */
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
    double *memory; /* of the kernels, and where the next one begins; NULL until needed */
    size_t memory_count, cursor;
    long all_samples, broken_samples; /* of all measurements that this rank led */
};

/* What is measured: one sample of `batch` operations, made by all ranks of comm together; what rank
 * 0 of comm returns counts, in seconds per operation. */
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
    double *samples; /* the rest is native_measure's */
    int count, batch;
    double broken[NATIVE_CHUNK]; /* the last samples in which a rank was switched out */
    int broken_count;
};

/* ---- sampling.c ---- */
/* Samples all points, again and again, until the quartiles of each are near each other or the time
 * is spent; rank 0 of comm prints the records. Returns the median of the last on rank 0.
 * Collective. */
double native_measure(struct native *, MPI_Comm comm, struct native_point *, int count);
/* A record that is one number of bytes. */
void native_print_bytes(const struct native *, MPI_Comm comm, const char *kind, const char *where,
                        size_t bytes);
/* Seconds since `start`, without the cost of the clock. */
double native_since(const struct native *, double start);
/* Only looks at the clock: nothing is received meanwhile. */
void native_pause(double seconds);
/* Messages from and to the program's buffers. */
void native_send(const struct native *, MPI_Comm comm, size_t bytes, int to, int tag);
void native_recv(const struct native *, MPI_Comm comm, size_t bytes, int from, int tag);
/* All others of comm are ready: their next call is theirs of the sample. Returns the rank. */
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
/* Prints what is known of this machine, one remark per line. */
void native_print_host(const struct native *);

#endif
