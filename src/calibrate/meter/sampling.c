/*
 * sampling.c - takes samples: warm-up, a batch long enough for the clock, chunks of samples until
 * the interquartile range is below 2% of the median or the time is used up, quartiles.
 *
 * A sample in which some rank lost its processor to another program is broken, and does not count:
 * the system counts such switches for each thread. On a busy computer this makes the difference
 * between measuring the machine and measuring its scheduler. There sampling continues for longer
 * until each point has some unbroken samples; broken ones are used only if there are no others.
 *
 * All points take turns, a chunk each: a temporary disturbance then affects some samples of many
 * points, not all samples of one. Only the leader examines times; it broadcasts which points
 * continue, so that all ranks take the same samples.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "calibrate/meter/meter.h"

#define WARM_UP 3
#define CHUNK METER_CHUNK
#define FEW (5 * CHUNK) /* samples needed before quartiles count as narrow */
#define LEAST 10        /* unbroken samples to wait for on a busy computer */
#define PATIENCE 4      /* times the usual time to wait for them */
#define NARROW 0.02     /* interquartile range over median that is good enough */
#define ROUNDING 1e-12  /* seconds: precision of the clock's numbers */
#define FENCE 1.5       /* in interquartile ranges beyond the quartiles: outliers (Tukey) */

double meter_since(const struct meter *n, double start)
{
    double t = MPI_Wtime() - start - n->clock_cost;
    return t > 0 ? t : 0;
}

void meter_pause(double seconds)
{
    double start = MPI_Wtime();
    while (MPI_Wtime() - start < seconds)
        ;
}

/* In the simulator other programs take no time. */
extern void orrery_compute(double) __attribute__((weak));

/* How often this thread has been preempted. */
static long switches(void)
{
    struct rusage usage;
    return !orrery_compute && getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, int count, double q)
{
    double at = q * (count - 1);
    int i = (int)at;
    return i + 1 < count ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[count - 1];
}

/* Do more ranks take part on some node than it has cores? Then the scheduler affects the
 * measurement. */
static int crowded(const struct meter *n, int ranks, const char *where)
{
    int on_node = 0;
    if (strcmp(where, "inter") == 0)
        return 0;
    if (strcmp(where, "intra") == 0)
        return n->cores < 2;
    for (int i = 0; i < ranks && i < n->ranks; i++)
        on_node += n->node_of[i] == n->node_of[0];
    return on_node > n->cores;
}

static double print_record(const struct meter *n, int ranks, const struct meter_probe *p,
                           size_t bytes, double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof *samples, by_value);
    double q1 = quantile(samples, count, 0.25), q2 = quantile(samples, count, 0.5);
    double q3 = quantile(samples, count, 0.75), reach = FENCE * (q3 - q1) + ROUNDING;
    int outliers = 0;
    for (int i = 0; i < count; i++)
        outliers += samples[i] < q1 - reach || samples[i] > q3 + reach;
    printf("%s,%s,%d,%zu,%d,%d,%.3f,%.3f,%.3f,%.3f,%.3f,%d\n", p->kind, p->where, ranks, bytes,
           count, outliers, samples[0] * 1e9, q1 * 1e9, q2 * 1e9, q3 * 1e9,
           samples[count - 1] * 1e9, crowded(n, ranks, p->where));
    fflush(stdout);
    return q2;
}

void meter_print_bytes(const struct meter *n, MPI_Comm comm, const char *kind, const char *where,
                       size_t bytes)
{
    int ranks;
    MPI_Comm_size(comm, &ranks);
    printf("%s,%s,%d,%zu,1,0,0,0,0,0,0,%d\n", kind, where, ranks, bytes, crowded(n, ranks, where));
}

/* Are the quartiles narrow enough, or is the number of samples at its limit? */
static int is_enough(const struct meter *n, const struct meter_point *p)
{
    double sorted[METER_SAMPLES_MAX];
    if (p->count >= n->opt.samples)
        return 1;
    memcpy(sorted, p->samples, (size_t)p->count * sizeof *sorted);
    qsort(sorted, (size_t)p->count, sizeof *sorted, by_value);
    double range = quantile(sorted, p->count, 0.75) - quantile(sorted, p->count, 0.25);
    return p->count >= FEW && range <= NARROW * quantile(sorted, p->count, 0.5);
}

static int choose_batch(const struct meter_probe *p, double once)
{
    double batch = once > 0 ? p->batch_seconds / once : p->batch_most;
    return batch < 1 ? 1 : batch > p->batch_most ? p->batch_most : (int)batch;
}

static void warm_up(struct meter *n, MPI_Comm comm, struct meter_point *p)
{
    double once = 0;
    for (int i = 0; i < WARM_UP; i++)
        once = p->probe->sample(n, comm, p->probe, p->bytes, 1);
    p->batch = choose_batch(p->probe, once); /* the leader's value is used */
    MPI_Bcast(&p->batch, 1, MPI_INT, 0, comm);
}

/* The leader stores a sample. */
static void keep(struct meter *n, struct meter_point *p, double sample, int broken)
{
    n->all_samples++;
    n->broken_samples += broken != 0;
    if (broken)
        p->broken[p->broken_count++ % CHUNK] = sample;
    else if (p->count < n->opt.samples)
        p->samples[p->count++] = sample;
}

static void add_chunk(struct meter *n, MPI_Comm comm, struct meter_point *p, int is_leader)
{
    int count = n->opt.samples < CHUNK ? n->opt.samples : CHUNK, mine[CHUNK], any[CHUNK] = {0};
    double samples[CHUNK];
    p->probe->sample(n, comm, p->probe, p->bytes, p->batch);
    for (int i = 0; i < count; i++) {
        long before = switches();
        samples[i] = p->probe->sample(n, comm, p->probe, p->bytes, p->batch);
        mine[i] = switches() != before;
    }
    MPI_Reduce(mine, any, count, MPI_INT, MPI_MAX, 0, comm);
    for (int i = 0; i < count && is_leader; i++)
        keep(n, p, samples[i], any[i]);
}

static void show_progress(const struct meter *n, const struct meter_point *p, int turn)
{
    if (n->opt.progress)
        fprintf(stderr, "\rcalibrate: %s %s, turn %d, %zu B            ", p->probe->kind,
                p->probe->where, turn + 1, p->bytes);
}

/* One turn of all points that continue. */
static void take_turn(struct meter *n, MPI_Comm comm, struct meter_point *points, int count,
                      const int *more, int turn)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < count; i++) {
        if (turn && !more[i])
            continue;
        if (rank == 0)
            show_progress(n, &points[i], turn);
        if (turn == 0)
            warm_up(n, comm, &points[i]);
        add_chunk(n, comm, &points[i], rank == 0);
    }
}

/* Does the point continue? Beyond the usual time only if it has too few unbroken samples. */
static int goes_on(const struct meter *n, const struct meter_point *p, double now, double end,
                   double latest)
{
    int least = n->opt.samples < LEAST ? n->opt.samples : LEAST;
    return now < end ? !is_enough(n, p) : now < latest && p->count < least;
}

/* A point without unbroken samples uses broken ones. */
static void make_do(struct meter_point *p)
{
    if (p->count)
        return;
    p->count = p->broken_count < CHUNK ? p->broken_count : CHUNK;
    memcpy(p->samples, p->broken, (size_t)p->count * sizeof *p->samples);
}

double meter_measure(struct meter *n, MPI_Comm comm, struct meter_point *points, int count)
{
    int rank, ranks, *more = calloc((size_t)count, sizeof *more), left = 1;
    double median = 0, usual = count * n->opt.seconds, end = MPI_Wtime() + usual;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < count; i++)
        if (!more || !(points[i].samples = malloc(METER_SAMPLES_MAX * sizeof(double))))
            MPI_Abort(MPI_COMM_WORLD, 3);
    for (int turn = 0; left; turn++) {
        take_turn(n, comm, points, count, more, turn);
        double now = MPI_Wtime();
        for (int i = left = 0; i < count && rank == 0; i++)
            left += more[i] = goes_on(n, &points[i], now, end, end + PATIENCE * usual);
        MPI_Bcast(&left, 1, MPI_INT, 0, comm);
        MPI_Bcast(more, count, MPI_INT, 0, comm);
    }
    for (int i = 0; i < count; i++) {
        if (rank == 0)
            make_do(&points[i]);
        if (rank == 0)
            median = print_record(n, ranks, points[i].probe, points[i].bytes, points[i].samples,
                                  points[i].count);
        free(points[i].samples);
    }
    free(more);
    return median;
}

/* ---- messages of a sample ---- */

void meter_send(const struct meter *n, MPI_Comm comm, size_t bytes, int to, int tag)
{
    MPI_Send(n->out, (int)bytes, MPI_BYTE, to, tag, comm);
}

void meter_recv(const struct meter *n, MPI_Comm comm, size_t bytes, int from, int tag)
{
    MPI_Recv(n->in, (int)bytes, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
}

int meter_begin(MPI_Comm comm)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int i = 1; i < ranks && rank == 0; i++)
        MPI_Recv(NULL, 0, MPI_BYTE, i, METER_TAG_READY, comm, MPI_STATUS_IGNORE);
    if (rank > 0)
        MPI_Send(NULL, 0, MPI_BYTE, 0, METER_TAG_READY, comm);
    return rank;
}
