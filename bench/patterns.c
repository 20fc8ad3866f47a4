/*
 * patterns.c - flows that share links in many ways; prints the virtual time of each pattern.
 *
 * usage: patterns [HEADER]     HEADER bytes are added to each message of the patterns
 *
 * For simulators: phases begin at common times, to which ranks sleep, and every figure is a
 * difference of MPI_Wtime. All messages are meant to be eager, and receives are posted first, so
 * that only the network counts. A line has the pattern, and the latest and the mean completion of
 * all ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROOM = 1 << 20, MOST = 512, KIB = 1024 };

struct plan {
    int count;
    MPI_Request requests[MOST];
    size_t used; /* of the buffer */
};

static int rank, size, phase, header;
static char *buffer;
static double start;
static unsigned long long seed;

/* Draws a number, which is the same on every rank. */
static int draw(int below)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((seed >> 33) % (unsigned)below);
}

static void sleep_until(double t)
{
    double left = t - MPI_Wtime();
    struct timespec span = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};

    if (left > 0)
        nanosleep(&span, NULL);
}

/* All ranks begin the next phase at the same time. */
static void begin(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    sleep_until(++phase * 0.5);
    start = MPI_Wtime();
}

/* Later, as ranks with nothing to do would disturb the others. */
static void report(const char *name, double seconds)
{
    double latest = 0, sum = 0;

    sleep_until(start + 0.25);
    MPI_Reduce(&seconds, &latest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %.12f %.12f\n", name, latest, sum / size);
}

/* A message of the plan; every rank calls this for every message. */
static void message(struct plan *p, int from, int to, int bytes, int sending)
{
    if (from == to || p->count == MOST)
        return;
    if (sending && from == rank)
        MPI_Isend(buffer, bytes + header, MPI_CHAR, to, 0, MPI_COMM_WORLD,
                  &p->requests[p->count++]);
    if (!sending && to == rank) {
        MPI_Irecv(buffer + p->used % (ROOM / 2), bytes + header, MPI_CHAR, from, 0, MPI_COMM_WORLD,
                  &p->requests[p->count++]);
        p->used += (size_t)bytes;
    }
}

static void finish(struct plan *p, const char *name)
{
    MPI_Waitall(p->count, p->requests, MPI_STATUSES_IGNORE);
    report(name, MPI_Wtime() - start);
}

static void pingpong(void)
{
    for (int bytes = 1; bytes <= 100000; bytes *= 10) {
        char name[32];
        int count = bytes + header;

        snprintf(name, sizeof name, "ping-pong-%d", bytes);
        begin();
        if (rank == 0) {
            MPI_Send(buffer, count, MPI_CHAR, size - 1, 0, MPI_COMM_WORLD);
            MPI_Recv(buffer, count, MPI_CHAR, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == size - 1) {
            MPI_Recv(buffer, count, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, count, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
        report(name, MPI_Wtime() - start);
    }
}

/* All to rank 0: the same size, and sizes in steps. */
static void incast(int steps)
{
    struct plan p = {0};

    begin();
    for (int sending = 0; sending < 2; sending++)
        for (int from = 1; from < size; from++)
            message(&p, from, 0, steps ? from * 256 : 16 * KIB, sending);
    finish(&p, steps ? "staircase" : "incast");
}

/* Each rank to one other, with sizes of its own. */
static void permutation(void)
{
    int *to = malloc((size_t)size * sizeof *to);
    struct plan p = {0};

    seed = 1;
    for (int i = 0; i < size; i++)
        to[i] = i;
    for (int i = size - 1; i > 0; i--) {
        int other = draw(i + 1), kept = to[i];

        to[i] = to[other];
        to[other] = kept;
    }
    begin();
    for (int sending = 0; sending < 2; sending++)
        for (int from = 0; from < size; from++)
            message(&p, from, to[from], 16 * KIB + from * 512, sending);
    finish(&p, "permutation");
    free(to);
}

/* Five messages of each rank to anywhere, of any size; `late`: each rank begins at its own time. */
static void anywhere(int late)
{
    struct plan p = {0};
    double mine = 0;

    begin();
    for (int sending = 0; sending < 2; sending++) {
        if (sending && late)
            sleep_until(start + mine);
        seed = 2;
        for (int from = 0; from < size; from++) {
            int delay = draw(1000);

            if (from == rank)
                mine = delay * 1e-6;
            for (int i = 0; i < 5; i++) {
                int to = draw(size), bytes = 1 + draw(64 * KIB);

                message(&p, from, to, bytes, sending);
            }
        }
    }
    finish(&p, late ? "anywhere-late" : "anywhere");
}

static void all_to_all(void)
{
    struct plan p = {0};

    begin();
    for (int sending = 0; sending < 2; sending++)
        for (int from = 0; from < size; from++)
            for (int to = 0; to < size; to++)
                message(&p, from, to, 4 * KIB, sending);
    finish(&p, "all-to-all");
}

/* Neighbours on a grid of 8 columns, ten times; rows send more than columns. */
static void halo(void)
{
    begin();
    for (int i = 0; i < 10; i++) {
        struct plan p = {0};

        for (int sending = 0; sending < 2; sending++) {
            for (int from = 0; from < size; from++) {
                int row = from / 8 * 8;

                message(&p, from, row + (from + 1) % 8, 8 * KIB, sending);
                message(&p, from, row + (from + 7) % 8, 8 * KIB, sending);
                message(&p, from, (from + 8) % size, 24 * KIB, sending);
                message(&p, from, (from + size - 8) % size, 24 * KIB, sending);
            }
        }
        MPI_Waitall(p.count, p.requests, MPI_STATUSES_IGNORE);
    }
    report("halo", MPI_Wtime() - start);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    buffer = calloc(1, ROOM);
    header = argc > 1 ? atoi(argv[1]) : 0;
    if (!buffer || size % 8 || 2 * size > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    pingpong();
    incast(0);
    incast(1);
    permutation();
    anywhere(0);
    anywhere(1);
    all_to_all();
    halo();
    free(buffer);
    MPI_Finalize();
    return 0;
}
