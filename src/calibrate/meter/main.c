/*
 * main.c - orrery-calibrate-mpi, the measuring program of `orrery calibrate`. An MPI launcher or
 * `orrery run` starts it, with options from the command.
 *
 * Ranks that take no part in a measurement sleep between checks for its end, so that they do not
 * take processors from the others.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calibrate/meter/meter.h"

#define FORMAT 1
#define BUFFER_MAX ((size_t)16 << 20)
#define COLLECTIVE_MAX ((size_t)64 << 10) /* bytes to each rank */

static int usage(const char *what)
{
    fprintf(stderr, "orrery-calibrate-mpi: %s (this program is started by 'orrery calibrate')\n",
            what);
    return 2;
}

static int parse_sizes(struct meter_options *o, const char *text)
{
    while (*text && o->size_count < METER_SIZES_MAX) {
        char *end;
        unsigned long value = strtoul(text, &end, 10);
        if (end == text || value > METER_BYTES_MAX || (*end && *end != ','))
            return -1;
        o->sizes[o->size_count++] = value;
        text = *end ? end + 1 : end;
    }
    return *text || !o->size_count ? -1 : 0;
}

static int parse(struct meter_options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--pingpong") == 0)
            o->pingpong_only = 1;
        else if (strcmp(argv[i], "--bind") == 0)
            o->bind = 1;
        else if (strcmp(argv[i], "--progress") == 0)
            o->progress = 1;
        else if (strcmp(argv[i], "--samples") == 0 && (o->samples = atoi(value)) > 0)
            i++;
        else if (strcmp(argv[i], "--seconds") == 0 && (o->seconds = atof(value)) > 0)
            i++;
        else if (strcmp(argv[i], "--sizes") == 0 && parse_sizes(o, value) == 0)
            i++;
        else
            return -1;
    }
    if (o->samples > METER_SAMPLES_MAX)
        o->samples = METER_SAMPLES_MAX;
    return 0;
}

/* Finds which rank is on which node, by the processor names. */
static void find_nodes(struct meter *n)
{
    size_t width = MPI_MAX_PROCESSOR_NAME;
    char *names = calloc((size_t)n->ranks, width), mine[MPI_MAX_PROCESSOR_NAME] = "";
    int length, on_node[2] = {0, 0};
    n->node_of = calloc((size_t)n->ranks, sizeof *n->node_of);
    if (!names || !n->node_of)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Get_processor_name(mine, &length);
    MPI_Allgather(mine, (int)width, MPI_CHAR, names, (int)width, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < n->ranks; i++) {
        int first = 0;
        while (strcmp(names + (size_t)first * width, names + (size_t)i * width) != 0)
            first++;
        n->node_of[i] = first;
        n->nodes += first == i;
    }
    for (int i = 0; i < n->ranks; i++)
        on_node[0] += n->node_of[i] == n->node_of[n->rank];
    MPI_Allreduce(&on_node[0], &n->most_on_node, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    free(names);
}

/* Binds the k-th rank of a node to its k-th core: two ranks that wait actively on one core would
 * measure its time slices. */
static void bind_to_core(const struct meter *n)
{
    cpu_set_t all, one;
    int before = 0;
    for (int i = 0; i < n->rank; i++)
        before += n->node_of[i] == n->node_of[n->rank];
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    before %= n->cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && before-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

/* Waits for all ranks without keeping a processor busy. */
static void settle(void)
{
    const struct timespec pause = {0, 1000000};
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        nanosleep(&pause, NULL);
    }
}

/* The nearest other rank on the node of rank 0, or on another; 0 if there is none. */
static int partner(const struct meter *n, int same_node)
{
    for (int i = 1; i < n->ranks; i++)
        if ((n->node_of[i] == n->node_of[0]) == same_node)
            return i;
    return 0;
}

static void measure_pair(struct meter *n, int same_node)
{
    int other = partner(n, same_node), inside = n->rank == 0 || n->rank == other;
    MPI_Comm pair;
    if (!other)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, inside ? 0 : MPI_UNDEFINED, n->rank, &pair);
    meter_pair(n, pair, same_node ? "intra" : "inter");
    if (pair != MPI_COMM_NULL)
        MPI_Comm_free(&pair);
    settle();
}

/* Ranks of the node of rank 0 before this one; -1 if it is on another. */
static int place_on_node(const struct meter *n)
{
    int before = 0;
    for (int i = 0; i < n->rank; i++)
        before += n->node_of[i] == n->node_of[0];
    return n->node_of[n->rank] == n->node_of[0] ? before : -1;
}

/* How many ranks of the node of rank 0 have their own core. */
static int most_busy(const struct meter *n)
{
    int all = 0;
    for (int i = 0; i < n->ranks; i++)
        all += n->node_of[i] == n->node_of[0];
    return all < n->cores ? all : n->cores;
}

static void measure_peers(struct meter *n)
{
    int place = place_on_node(n), most = most_busy(n) - 1;
    MPI_Comm some;
    if (most > meter_peers_most())
        most = meter_peers_most();
    if (most < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, place >= 0 && place <= most ? 0 : MPI_UNDEFINED, n->rank, &some);
    if (some != MPI_COMM_NULL) {
        meter_peers(n, some, "intra");
        MPI_Comm_free(&some);
    }
    settle();
}

/* 1, 2, 3, 4, 6, 9, ... ranks of a node that compute at once. Done several times, some time apart:
 * neighbours on a shared host, which disturb all of one pass, are gone in the next. */
static void measure_sharing(struct meter *n)
{
    int place = place_on_node(n), most = most_busy(n);
    for (int busy = 1;; busy += busy < 4 ? 1 : busy / 2) {
        MPI_Comm some;
        if (busy > most)
            busy = most;
        MPI_Comm_split(MPI_COMM_WORLD, place >= 0 && place < busy ? 0 : MPI_UNDEFINED, n->rank,
                       &some);
        if (some != MPI_COMM_NULL) {
            meter_kernels(n, some);
            MPI_Comm_free(&some);
        }
        settle();
        if (busy == most)
            return;
    }
}

static void measure_collectives(struct meter *n)
{
    for (int ranks = 2;; ranks = 2 * ranks < n->ranks ? 2 * ranks : n->ranks) {
        MPI_Comm some;
        MPI_Comm_split(MPI_COMM_WORLD, n->rank < ranks ? 0 : MPI_UNDEFINED, n->rank, &some);
        if (some != MPI_COMM_NULL) {
            meter_collectives(n, some);
            MPI_Comm_free(&some);
        }
        settle();
        if (ranks == n->ranks)
            return;
    }
}

static void measure_all(struct meter *n)
{
    if (n->rank == 0) {
        printf("# orrery calibration %d\n", FORMAT);
        meter_print_host(n);
        printf("kind,where,ranks,bytes,samples,outliers,least,q1,median,q3,most,beyond_cores\n");
        meter_alone(n);
    }
    MPI_Bcast(&n->clock_cost, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (!n->opt.pingpong_only)
        measure_sharing(n);
    measure_pair(n, 1);
    measure_pair(n, 0);
    if (!n->opt.pingpong_only) {
        measure_peers(n);
        measure_sharing(n);
        measure_collectives(n);
        measure_sharing(n);
    }
    if (n->rank == 0 && n->opt.progress)
        fprintf(stderr, "\r%70s\r", "");
    if (n->rank == 0)
        printf("# samples: %ld\n# broken: %ld\n# end\n", n->all_samples, n->broken_samples);
}

int main(int argc, char **argv)
{
    struct meter n = {.opt = {.samples = METER_SAMPLES_MAX, .seconds = 0.2}};
    cpu_set_t set;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &n.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n.ranks);
    const char *wrong = parse(&n.opt, argc, argv) ? "wrong option"
                        : n.ranks < 2             ? "needs 2 ranks"
                                                  : NULL;
    if (wrong) {
        int status = n.rank == 0 ? usage(wrong) : 2;
        MPI_Finalize();
        return status;
    }
    n.cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    n.buffer_bytes = METER_BYTES_MAX; /* larger collectives are not measured */
    while (n.buffer_bytes < BUFFER_MAX && n.buffer_bytes < COLLECTIVE_MAX * (size_t)n.ranks)
        n.buffer_bytes *= 2;
    n.out = calloc(1, n.buffer_bytes);
    n.in = calloc(1, n.buffer_bytes);
    if (!n.out || !n.in)
        MPI_Abort(MPI_COMM_WORLD, 3);
    find_nodes(&n);
    if (n.opt.bind)
        bind_to_core(&n);
    measure_all(&n);
    free(n.out);
    free(n.in);
    free(n.node_of);
    free(n.memory);
    MPI_Finalize();
    return 0;
}
