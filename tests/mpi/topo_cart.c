/* test: n=1,2,5,6,12,16,300 native=4
 * Cartesian topologies: creation, coordinates, shifts with and without wrapping, sub-grids, and
 * the properties of Dims_create. */
#include "check.h"

static int rank, size;

static void dims_create(void)
{
    for (int nodes = 1; nodes <= 200; nodes++) {
        for (int ndims = 1; ndims <= 4; ndims++) {
            int dims[4] = {0}, product = 1;
            MPI_Dims_create(nodes, ndims, dims);
            for (int d = 0; d < ndims; d++) {
                product *= dims[d];
                CHECK(d == 0 || dims[d - 1] >= dims[d]);
            }
            CHECK(product == nodes);
        }
    }
    int square[2] = {0, 0}, fixed[3] = {0, 3, 0};
    MPI_Dims_create(36, 2, square);
    CHECK(square[0] == 6 && square[1] == 6);
    MPI_Dims_create(24, 3, fixed);
    CHECK(fixed[1] == 3 && fixed[0] == 4 && fixed[2] == 2);
}

static int wrap(int at, int extent, int periodic)
{
    return periodic ? (at % extent + extent) % extent : at < 0 || at >= extent ? -1 : at;
}

static void grid(int ndims, int periodic_mask)
{
    int dims[3] = {0}, periods[3], coords[3], product = 1, topology;
    MPI_Comm cart;
    MPI_Dims_create(size, ndims, dims);
    for (int d = 0; d < ndims; d++)
        periods[d] = periodic_mask >> d & 1;
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &cart);
    MPI_Topo_test(cart, &topology);
    CHECK(topology == MPI_CART);
    MPI_Cart_coords(cart, rank, ndims, coords);
    for (int d = ndims - 1, rest = rank; d >= 0; rest /= dims[d], d--)
        CHECK(coords[d] == rest % dims[d]);
    int got_ndims, got_dims[3], got_periods[3], got_coords[3], back;
    MPI_Cartdim_get(cart, &got_ndims);
    MPI_Cart_get(cart, ndims, got_dims, got_periods, got_coords);
    MPI_Cart_rank(cart, coords, &back);
    CHECK(got_ndims == ndims && back == rank);
    for (int d = ndims - 1; d >= 0; d--) {
        CHECK(got_dims[d] == dims[d] && got_coords[d] == coords[d]);
        CHECK(!got_periods[d] == !periods[d]);
        for (int step = -3; step <= 3; step++) {
            int source, target;
            if (step == 0)
                continue;
            MPI_Cart_shift(cart, d, step, &source, &target);
            int ahead = wrap(coords[d] + step, dims[d], periods[d]);
            int behind = wrap(coords[d] - step, dims[d], periods[d]);
            CHECK(target == (ahead < 0 ? MPI_PROC_NULL : rank + (ahead - coords[d]) * product));
            CHECK(source == (behind < 0 ? MPI_PROC_NULL : rank + (behind - coords[d]) * product));
        }
        product *= dims[d];
    }
    MPI_Comm_free(&cart);
}

static void sub_grids(void)
{
    int dims[2] = {0, 0}, periods[2] = {0, 1}, keep[2] = {0, 1}, coords[2], sum, row_rank;
    MPI_Comm cart, row;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Cart_coords(cart, rank, 2, coords);
    MPI_Cart_sub(cart, keep, &row);
    MPI_Comm_rank(row, &row_rank);
    CHECK(row_rank == coords[1]);
    MPI_Allreduce(&coords[0], &sum, 1, MPI_INT, MPI_SUM, row);
    CHECK(sum == coords[0] * dims[1]);
    int wrapped[2] = {coords[0], coords[1] - dims[1]}, same;
    MPI_Cart_rank(cart, wrapped, &same);
    CHECK(same == rank);
    MPI_Comm_free(&row);
    MPI_Comm_free(&cart);
}

/* A grid smaller than the number of ranks: the others get no communicator. */
static void smaller(void)
{
    int dims[1] = {(size + 1) / 2}, periods[1] = {1};
    MPI_Comm cart;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart);
    CHECK((cart == MPI_COMM_NULL) == (rank >= dims[0]));
    if (cart != MPI_COMM_NULL)
        MPI_Comm_free(&cart);
    int topology;
    MPI_Topo_test(MPI_COMM_WORLD, &topology);
    CHECK(topology == MPI_UNDEFINED);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    dims_create();
    check_ok("dims");
    for (int ndims = 1; ndims <= 3; ndims++)
        for (int mask = 0; mask < 1 << ndims; mask++)
            grid(ndims, mask);
    check_ok("grids");
    sub_grids();
    check_ok("sub-grids");
    smaller();
    check_ok("smaller");
    MPI_Finalize();
    return 0;
}
