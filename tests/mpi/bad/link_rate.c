/* flags: -Wno-stringop-overflow */
/* The most that a node's link carried, in bits per second, by pattern and size:
 *     link_rate RANKS_PER_NODE BYTES...
 * From the first rank's start to the last one's end; bytes within a node do not count. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 3 };

static int rank, size, per_node;

static int is_far(int a, int b)
{
    return a / per_node != b / per_node;
}

/* Everybody to everybody. */
static int all(int from, int to)
{
    return is_far(from, to);
}

static int into_first(int from, int to)
{
    return is_far(from, to) && to / per_node == 0;
}

static int out_of_first(int from, int to)
{
    return is_far(from, to) && from / per_node == 0;
}

static void post(int (*sends)(int, int), char *in, const char *out, int bytes)
{
    MPI_Request *posted = malloc(2 * (size_t)size * ROUNDS * sizeof *posted);
    int count = 0;

    for (int round = 0; round < ROUNDS; round++)
        for (int i = 1; i < size; i++) {
            int from = (rank + size - i) % size, to = (rank + i) % size;
            if (sends(from, rank))
                MPI_Irecv(in + (size_t)bytes * from, bytes, MPI_BYTE, from, round, MPI_COMM_WORLD,
                          &posted[count++]);
            if (sends(rank, to))
                MPI_Isend(out + (size_t)bytes * to, bytes, MPI_BYTE, to, round, MPI_COMM_WORLD,
                          &posted[count++]);
        }
    MPI_Waitall(count, posted, MPI_STATUSES_IGNORE);
    free(posted);
}

static void collective(int (*sends)(int, int), char *in, const char *out, int bytes)
{
    MPI_Request posted[ROUNDS];

    (void)sends;
    for (int round = 0; round < ROUNDS; round++)
        MPI_Ialltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD, &posted[round]);
    MPI_Waitall(ROUNDS, posted, MPI_STATUSES_IGNORE);
}

static MPI_Win window;

static void put(int (*sends)(int, int), char *in, const char *out, int bytes)
{
    (void)in;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 1; i < size; i++) {
            int to = (rank + i) % size;
            if (sends(rank, to))
                MPI_Put(out + (size_t)bytes * to, bytes, MPI_BYTE, to, (MPI_Aint)bytes * rank,
                        bytes, MPI_BYTE, window);
        }
    MPI_Win_fence(0, window);
}

/* Bytes that the busiest node sends or receives. */
static double carried(int (*sends)(int, int), int bytes)
{
    double most = 0;

    for (int node = 0; node < size / per_node; node++) {
        double sent = 0, received = 0;
        for (int a = node * per_node; a < (node + 1) * per_node; a++)
            for (int b = 0; b < size; b++) {
                sent += sends(a, b) ? bytes : 0;
                received += sends(b, a) ? bytes : 0;
            }
        most = sent > most ? sent : most;
        most = received > most ? received : most;
    }
    return most * ROUNDS;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*move)(int (*)(int, int), char *, const char *, int);
        int (*sends)(int, int);
    } ways[] = {
        {"all", post, all}, {"in", post, into_first},    {"out", post, out_of_first},
        {"put", put, all},  {"put-in", put, into_first}, {"ialltoall", collective, all},
    };

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    per_node = atoi(argv[1]);
    for (int i = 2; i < argc; i++) {
        int bytes = atoi(argv[i]);
        char *in = calloc((size_t)size, (size_t)bytes), *out = calloc((size_t)size, (size_t)bytes);
        MPI_Win_create(in, (MPI_Aint)size * bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        for (unsigned w = 0; w < sizeof ways / sizeof *ways; w++) {
            double start, end, first, last;
            MPI_Win_fence(0, window);
            MPI_Barrier(MPI_COMM_WORLD);
            start = MPI_Wtime();
            ways[w].move(ways[w].sends, in, out, bytes);
            end = MPI_Wtime();
            MPI_Reduce(&start, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
            MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
            if (rank == 0)
                printf("%s %d %.0f\n", ways[w].name, bytes,
                       8 * carried(ways[w].sends, bytes) / (last - first));
        }
        MPI_Win_free(&window);
        free(in);
        free(out);
    }
    MPI_Finalize();
    return 0;
}
