/*
 * kernels.c - how much slower cores compute when others of their node do the same: three kernels,
 * each run by 1, 2, ... ranks of the node of rank 0 at the same time.
 *
 *     in_cache   multiplies and adds in the first-level cache: limited by the core and its clock
 *     streaming  the triad of STREAM over more memory than the caches hold: by memory bandwidth
 *     random     random reads of the same memory: by memory latency
 *
 * Processor time counts, so that a rank that loses its core for a while does not look slow. Each
 * sample also runs the kernel once before and once after the timed part, so that the others run it
 * during all of that.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "calibrate/meter/meter.h"

#define CACHED 1024 /* doubles: 8 KiB, twice */
#define CACHED_ROUNDS 300
#define STREAMED 16384 /* doubles per sample and array */
#define READS 8192
#define MEMORY_LEAST ((size_t)32 << 20)
#define MEMORY_MOST ((size_t)128 << 20)
#define MEMORY_PART 8 /* all ranks of a node together take at most one such part of its memory */

/* More than the last-level cache, if the node has that much. A power of two of doubles. */
static size_t memory_bytes(const struct meter *n)
{
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE), pages = sysconf(_SC_PHYS_PAGES);
    size_t wanted = cache > 0 ? 2 * (size_t)cache : MEMORY_LEAST, bytes = (size_t)1 << 20;
    size_t room = (size_t)(pages > 0 ? pages : 0) * (size_t)sysconf(_SC_PAGESIZE) / MEMORY_PART /
                  (size_t)n->most_on_node;
    if (wanted < MEMORY_LEAST)
        wanted = MEMORY_LEAST;
    while (bytes < wanted && bytes < MEMORY_MOST && 2 * bytes <= room)
        bytes *= 2;
    return bytes;
}

static void prepare(struct meter *n)
{
    if (n->memory)
        return;
    n->memory_count = memory_bytes(n) / sizeof *n->memory;
    n->memory = malloc(n->memory_count * sizeof *n->memory);
    if (!n->memory)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (size_t i = 0; i < n->memory_count; i++)
        n->memory[i] = (double)i;
}

static void in_cache(struct meter *n, MPI_Comm comm, int bytes)
{
    double *x = n->memory, *y = x + CACHED, s = 1 + 1e-9 * (double)n->cursor;
    (void)comm, (void)bytes;
    for (int k = 0; k < CACHED_ROUNDS; k++)
        for (int i = 0; i < CACHED; i++)
            y[i] = y[i] * 0.5 + s * x[i];
}

/* The arrays are thirds of the memory; each call continues where the last one ended. */
static void streaming(struct meter *n, MPI_Comm comm, int bytes)
{
    size_t third = n->memory_count / 3 / STREAMED * STREAMED;
    double *a = n->memory + n->cursor, *b = a + third, *c = b + third;
    (void)comm, (void)bytes;
    for (size_t i = 0; i < STREAMED; i++)
        a[i] = b[i] + 0.5 * c[i];
    n->cursor = (n->cursor + STREAMED) % third;
}

static void at_random(struct meter *n, MPI_Comm comm, int bytes)
{
    size_t mask = n->memory_count - 1, at = n->cursor + 1;
    double sum = 0;
    (void)comm, (void)bytes;
    for (int i = 0; i < READS; i++) {
        at = at * 6364136223846793005u + 1442695040888963407u;
        sum += n->memory[at >> 20 & mask];
    }
    n->cursor = (n->cursor + (sum != 0) * STREAMED) % (n->memory_count / 3 / STREAMED * STREAMED);
}

static double processor_time(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0
               ? (double)t.tv_sec + (double)t.tv_nsec * 1e-9
               : 0;
}

/*
 * The rank's own time; that of rank 0 counts. A mean over ranks would have other quartiles than a
 * single rank, which on a noisy machine would look like a factor.
 */
static double sample(struct meter *n, MPI_Comm comm, const struct meter_probe *p, size_t bytes,
                     int batch)
{
    double mine;
    (void)bytes;
    MPI_Barrier(comm);
    p->run(n, comm, 0);
    mine = processor_time();
    for (int i = 0; i < batch; i++)
        p->run(n, comm, 0);
    mine = (processor_time() - mine) / batch;
    p->run(n, comm, 0);
    return mine;
}

void meter_kernels(struct meter *n, MPI_Comm comm)
{
    static const struct meter_probe probes[] = {
        {"in_cache", "intra", sample, 4, 200e-6, in_cache},
        {"streaming", "intra", sample, 4, 200e-6, streaming},
        {"random", "intra", sample, 4, 200e-6, at_random},
    };
    struct meter_point points[3] = {{0}};
    prepare(n);
    for (int i = 0; i < 3; i++)
        points[i] = (struct meter_point){.probe = &probes[i],
                                         .bytes = i ? n->memory_count * sizeof *n->memory
                                                    : 2 * CACHED * sizeof *n->memory};
    meter_measure(n, comm, points, 3);
}
