/* test: n=1,2,5,16,300 native=4
 * Graph topologies: the whole graph comes back, neighbours of every rank, ranks beyond the graph
 * get MPI_COMM_NULL, duplicates keep it, MPI_Graph_map, wrong graphs and questions are refused;
 * Cartesian topologies without dimensions. */
#include "check.h"

static int rank, size;

/* A star on the first n nodes: 0 in the middle, with an edge to itself; node 1 twice. */
static int star(int n, int *index, int *edges)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (i == 0) {
            for (int k = 0; k < n; k++)
                edges[count++] = k;
            if (n > 1)
                edges[count++] = 1;
        } else {
            edges[count++] = 0;
        }
        index[i] = count;
    }
    return count;
}

static void check_graph(MPI_Comm comm, int n, const int *index, const int *edges)
{
    int nodes, count, status, *got = malloc((size_t)(index[n - 1] + n + 1) * sizeof(int)), some;
    MPI_Topo_test(comm, &status);
    CHECK(status == MPI_GRAPH);
    MPI_Graphdims_get(comm, &nodes, &count);
    CHECK(nodes == n && count == index[n - 1]);
    MPI_Graph_get(comm, n, count, got, got + n);
    CHECK(memcmp(got, index, (size_t)n * sizeof(int)) == 0);
    CHECK(memcmp(got + n, edges, (size_t)count * sizeof(int)) == 0);
    for (int r = 0; r < n; r += 1 + n / 3) {
        int first = r ? index[r - 1] : 0;
        MPI_Graph_neighbors_count(comm, r, &some);
        CHECK(some == index[r] - first);
        MPI_Graph_neighbors(comm, r, some, got);
        CHECK(memcmp(got, edges + first, (size_t)some * sizeof(int)) == 0);
    }
    free(got);
}

static void graphs(int n)
{
    int *index = malloc((size_t)n * sizeof(int)),
        *edges = malloc((size_t)(3 * n + 2) * sizeof(int));
    int me, result;
    MPI_Comm graph, copy;
    star(n, index, edges);
    MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, 0, &graph);
    CHECK((graph == MPI_COMM_NULL) == (rank >= n));
    MPI_Graph_map(MPI_COMM_WORLD, n, index, edges, &me);
    CHECK(rank < n ? me >= 0 && me < n : me == MPI_UNDEFINED);
    if (graph != MPI_COMM_NULL) {
        MPI_Comm_rank(graph, &me);
        CHECK(me == rank);
        check_graph(graph, n, index, edges);
        MPI_Comm_dup(graph, &copy);
        MPI_Comm_free(&graph);
        check_graph(copy, n, index, edges);
        MPI_Comm_compare(copy, MPI_COMM_WORLD, &result);
        CHECK((result == MPI_CONGRUENT) == (n == size));
        MPI_Comm_free(&copy);
    }
    free(index);
    free(edges);
}

static void refused(void)
{
    int index[2] = {1, 2}, edges[2] = {0, 0}, out = -5;
    MPI_Comm comm = MPI_COMM_NULL, cart;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    index[0] = -1;
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &comm) != MPI_SUCCESS);
    index[0] = 1;
    edges[0] = 7000;
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &comm) != MPI_SUCCESS);
    CHECK(MPI_Graph_create(MPI_COMM_WORLD, size + 1, index, edges, 0, &comm) != MPI_SUCCESS);
    CHECK(comm == MPI_COMM_NULL);
    CHECK(MPI_Graphdims_get(MPI_COMM_WORLD, &out, &out) != MPI_SUCCESS);
    CHECK(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &out) != MPI_SUCCESS);
    CHECK(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &out, &out, &out) != MPI_SUCCESS);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, edges + 1, 0, &cart);
    CHECK(MPI_Graphdims_get(cart, &out, &out) != MPI_SUCCESS);
    MPI_Comm_free(&cart);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    /* No nodes: nobody is in it. */
    MPI_Graph_create(MPI_COMM_WORLD, 0, index, edges, 0, &comm);
    CHECK(comm == MPI_COMM_NULL);
}

/* Grids without dimensions: one rank; and what remains of a grid when nothing remains. */
static void no_dimensions(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, remain[2] = {0, 0}, n, at;
    MPI_Comm grid, none, again;
    MPI_Cart_create(MPI_COMM_WORLD, 0, dims, periods, 0, &none);
    CHECK((none == MPI_COMM_NULL) == (rank != 0));
    if (none != MPI_COMM_NULL) {
        MPI_Cartdim_get(none, &n);
        CHECK(n == 0);
        MPI_Comm_free(&none);
    }
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_sub(grid, remain, &none);
    CHECK((none == MPI_COMM_NULL) == (rank != 0)); /* as without dimensions */
    if (none != MPI_COMM_NULL) {
        MPI_Comm_size(none, &n);
        CHECK(n == 1);
        MPI_Topo_test(none, &n);
        CHECK(n == MPI_CART);
        MPI_Cartdim_get(none, &n);
        CHECK(n == 0);
        MPI_Cart_sub(none, remain, &again);
        MPI_Cartdim_get(again, &n);
        CHECK(n == 0);
        MPI_Comm_free(&again);
        MPI_Comm_free(&none);
    }
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &at);
    CHECK(at >= 0 && at < size);
    MPI_Comm_free(&grid);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    graphs(size);
    graphs((size + 1) / 2);
    check_ok("graphs");
    refused();
    check_ok("refused");
    no_dimensions();
    check_ok("no dimensions");
    MPI_Finalize();
    return 0;
}
