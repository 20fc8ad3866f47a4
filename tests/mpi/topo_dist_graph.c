/* test: n=1,2,5,16,300 native=4
 * Distributed graphs: edges named by anybody arrive at both ends, with weights; every rank's
 * neighbours by random edges against the list of all of them; adjacent form; duplicates; lists that
 * are too short; MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY; edges twice and to oneself. */
#include <stdint.h>

#include "check.h"

static int rank, size;
static uint64_t seed;

static int draw(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

struct edge {
    int from, to, weight;
};

static int by_value(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct edge));
}

/* The neighbours that the communicator reports are those of `edges`, in any order. */
static void check_neighbours(MPI_Comm comm, const struct edge *edges, int n, int weighted)
{
    int in, out, flag, status, ins = 0, outs = 0;
    MPI_Topo_test(comm, &status);
    CHECK(status == MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &flag);
    CHECK(flag == weighted);
    struct edge *want = malloc((size_t)(2 * n + 1) * sizeof *want), *got;
    for (int i = 0; i < n; i++)
        if (edges[i].to == rank)
            want[ins++] = edges[i];
    for (int i = 0; i < n; i++)
        if (edges[i].from == rank)
            want[ins + outs++] = edges[i];
    CHECK(in == ins && out == outs);
    got = calloc((size_t)(in + out + 1), sizeof *got);
    int *numbers = calloc((size_t)(2 * (in + out) + 1), sizeof(int));
    int *sources = numbers, *sw = sources + in, *dests = sw + in, *dw = dests + out;
    MPI_Dist_graph_neighbors(comm, in, sources, weighted ? sw : MPI_UNWEIGHTED, out, dests,
                             weighted ? dw : MPI_UNWEIGHTED);
    for (int i = 0; i < in; i++)
        got[i] = (struct edge){sources[i], rank, weighted ? sw[i] : 0};
    for (int i = 0; i < out; i++)
        got[in + i] = (struct edge){rank, dests[i], weighted ? dw[i] : 0};
    for (int i = 0; !weighted && i < ins + outs; i++)
        want[i].weight = 0;
    if (check_virtual()) /* in the order in which they were named */
        CHECK(memcmp(want, got, (size_t)(in + out) * sizeof *got) == 0);
    qsort(want, (size_t)in, sizeof *want, by_value);
    qsort(got, (size_t)in, sizeof *got, by_value);
    qsort(want + in, (size_t)out, sizeof *want, by_value);
    qsort(got + in, (size_t)out, sizeof *got, by_value);
    CHECK(memcmp(want, got, (size_t)(in + out) * sizeof *got) == 0);
    free(numbers);
    free(want);
    free(got);
}

/* Edges named by rank r: up to 3 sources with up to 4 edges each. All ranks draw the same. */
static int named(int r, int round, struct edge *edges, int *sources, int *degrees, int *dests,
                 int *weights, int *n)
{
    int count = 0;
    seed = (uint64_t)(r * 31 + round * 1009 + 7);
    draw(2);
    *n = draw(4);
    for (int i = 0; i < *n; i++) {
        sources[i] = draw(size);
        degrees[i] = draw(5);
        for (int k = 0; k < degrees[i]; k++, count++) {
            dests[count] = draw(4) ? draw(size) : sources[i];
            weights[count] = draw(1000);
            edges[count] = (struct edge){sources[i], dests[count], weights[count]};
        }
    }
    return count;
}

static void by_anybody(int round, int weighted)
{
    struct edge *all = malloc((size_t)size * 12 * sizeof *all), mine[12];
    int sources[3], degrees[3], dests[12], weights[12], n, total = 0;
    MPI_Comm graph, copy;
    for (int r = 0; r < size; r++)
        total += named(r, round, all + total, sources, degrees, dests, weights, &n);
    int count = named(rank, round, mine, sources, degrees, dests, weights, &n);
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, dests,
                          !weighted ? MPI_UNWEIGHTED
                          : count   ? weights
                                    : MPI_WEIGHTS_EMPTY,
                          MPI_INFO_NULL, round % 2, &graph);
    check_neighbours(graph, all, total, weighted);
    MPI_Comm_dup(graph, &copy);
    MPI_Comm_free(&graph);
    check_neighbours(copy, all, total, weighted);
    MPI_Comm_free(&copy);
    free(all);
}

/* A ring with one-way edges to the next and, weighted, to the one after. */
static void adjacent(int weighted)
{
    int in[2] = {(rank + size - 1) % size, (rank + 2 * size - 2) % size};
    int out[2] = {(rank + 1) % size, (rank + 2) % size};
    int inw[2] = {10 * in[0] + 1, 10 * in[1] + 2}, outw[2] = {10 * rank + 1, 10 * rank + 2};
    int got[4], gotw[4] = {-1, -1, -1, -1}, n, m, flag;
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, in, weighted ? inw : MPI_UNWEIGHTED, 2, out,
                                   weighted ? outw : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &n, &m, &flag);
    CHECK(n == 2 && m == 2 && flag == weighted);
    MPI_Dist_graph_neighbors(graph, 2, got, weighted ? gotw : MPI_UNWEIGHTED, 2, got + 2,
                             weighted ? gotw + 2 : MPI_UNWEIGHTED);
    CHECK(memcmp(got, in, sizeof in) == 0 && memcmp(got + 2, out, sizeof out) == 0);
    if (weighted)
        CHECK(memcmp(gotw, inw, sizeof inw) == 0 && memcmp(gotw + 2, outw, sizeof outw) == 0);
    MPI_Comm_free(&graph);
}

static void empty(void)
{
    int n = -1, m = -1, flag = -1;
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL,
                                   MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &n, &m, &flag);
    CHECK(n == 0 && m == 0 && flag == 1);
    MPI_Comm_free(&graph);
}

static void refused(void)
{
    int far = size, one = 1, minus = -1;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (check_virtual()) { /* Debian's MPICH does not check */
        CHECK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &far, &one, &rank, MPI_UNWEIGHTED,
                                    MPI_INFO_NULL, 0, &comm) == MPI_ERR_RANK);
        CHECK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &minus, &rank, MPI_UNWEIGHTED,
                                    MPI_INFO_NULL, 0, &comm) == MPI_ERR_ARG);
        CHECK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, -1, NULL, MPI_UNWEIGHTED, 0, NULL,
                                             MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                             &comm) != MPI_SUCCESS);
    }
    CHECK(comm == MPI_COMM_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 6; round++)
        by_anybody(round, round % 2);
    check_ok("by anybody");
    adjacent(0);
    adjacent(1);
    check_ok("adjacent");
    empty();
    check_ok("empty");
    refused();
    check_ok("refused");
    MPI_Finalize();
    return 0;
}
