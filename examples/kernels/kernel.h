/*
 * kernel.h - what the kernels share: size classes, the clock, and a verdict.
 *
 * A kernel is started as `NAME [CLASS]`. It prints whether its result is right, a checksum that
 * depends neither on the number of ranks nor on who computes what, and the time between
 * kernel_start and kernel_stop.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_CLASSES "TSWAB" /* from tiny, for tests, to some seconds and more */

struct kernel {
    const char *name;
    int rank, size;
    int class; /* index in KERNEL_CLASSES */
    double start, seconds;
};

/* Ends the program for a reason that all ranks know. */
static inline void kernel_refuse(const struct kernel *k, const char *why)
{
    if (k->rank == 0)
        fprintf(stderr, "%s: %s\n", k->name, why);
    MPI_Finalize();
    exit(2);
}

static inline struct kernel kernel_init(const char *name, int *argc, char ***argv)
{
    struct kernel k = {.name = name};
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &k.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &k.size);
    const char *letter = *argc > 1 ? strchr(KERNEL_CLASSES, (*argv)[1][0]) : KERNEL_CLASSES;
    if (*argc > 2 || !letter || !*letter || (*argc == 2 && (*argv)[1][1]))
        kernel_refuse(&k, "expected one argument, a class: T (tiny), S, W, A or B");
    k.class = (int)(letter - KERNEL_CLASSES);
    return k;
}

static inline void *kernel_alloc(size_t count, size_t size)
{
    void *at = calloc(count ? count : 1, size);
    if (!at) {
        fprintf(stderr, "not enough memory for %zu bytes\n", count * size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return at;
}

static inline void kernel_start(struct kernel *k)
{
    MPI_Barrier(MPI_COMM_WORLD);
    k->start = MPI_Wtime();
}

static inline void kernel_stop(struct kernel *k)
{
    k->seconds = MPI_Wtime() - k->start;
}

/* A mixed number for each index: the same on every rank. */
static inline uint64_t kernel_hash(uint64_t x)
{
    x = (x + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 29) * 0x94d049bb133111ebu;
    return x ^ x >> 32;
}

static inline double kernel_uniform(uint64_t x)
{
    return (double)(kernel_hash(x) >> 11) * 0x1p-53;
}

/* What a number at an index contributes to a checksum. Sums of contributions are exact in any
 * order. */
static inline uint64_t kernel_mark(uint64_t index, double value)
{
    uint64_t bits;
    value += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &value, sizeof bits);
    return kernel_hash(index) * kernel_hash(bits);
}

/* Adds up checksums, prints the verdict, and returns the exit status. */
static inline int kernel_finish(struct kernel *k, uint64_t checksum, int is_right)
{
    uint64_t total = 0;
    double seconds = 0;
    int right = 0;
    MPI_Allreduce(&is_right, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Reduce(&checksum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&k->seconds, &seconds, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (k->rank == 0) {
        printf("%s class %c, %d ranks: %s\n", k->name, KERNEL_CLASSES[k->class], k->size,
               right ? "verified" : "WRONG");
        printf("checksum %016" PRIx64 "\n", total);
        printf("time %.6f s\n", seconds);
    }
    MPI_Finalize();
    return right ? 0 : 1;
}

/* Whether all ranks agree that something is true. */
static inline int kernel_all(int is_so)
{
    int all = 0;
    MPI_Allreduce(&is_so, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

/* Part `i` of `n` things divided into `parts`: where it begins. */
static inline int64_t kernel_cut(int64_t n, int parts, int i)
{
    return n * i / parts;
}

#endif
