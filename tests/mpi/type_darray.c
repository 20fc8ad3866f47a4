/* test: n=1,6,12 native=6 schedules=2
 * Distributed arrays: every process packs its part, the parts are gathered, and together they are
 * the whole array, each item where the definition puts it; bounds and the order of the packed items
 * too. Block, cyclic, cyclic(k) and undistributed dimensions, in C and in Fortran order. */
#include "check.h"

enum { MAX_ITEMS = 4096 };

struct array {
    int ndims, gsizes[3], distribs[3], dargs[3], order;
};

static const struct array arrays[] = {
    {1, {17}, {MPI_DISTRIBUTE_BLOCK}, {MPI_DISTRIBUTE_DFLT_DARG}, MPI_ORDER_C},
    {1, {17}, {MPI_DISTRIBUTE_CYCLIC}, {MPI_DISTRIBUTE_DFLT_DARG}, MPI_ORDER_C},
    {1, {29}, {MPI_DISTRIBUTE_CYCLIC}, {3}, MPI_ORDER_FORTRAN},
    {1, {3}, {MPI_DISTRIBUTE_BLOCK}, {MPI_DISTRIBUTE_DFLT_DARG}, MPI_ORDER_C},
    {2, {7, 10}, {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, {7, 2}, MPI_ORDER_C},
    {2,
     {7, 10},
     {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
     {2, MPI_DISTRIBUTE_DFLT_DARG},
     MPI_ORDER_FORTRAN},
    {3,
     {5, 6, 7},
     {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC},
     {1, MPI_DISTRIBUTE_DFLT_DARG, 3},
     MPI_ORDER_C},
    {3,
     {5, 6, 7},
     {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE},
     {MPI_DISTRIBUTE_DFLT_DARG, 4, MPI_DISTRIBUTE_DFLT_DARG},
     MPI_ORDER_FORTRAN},
};

static void grid(const struct array *a, int size, int *psizes)
{
    for (int i = 0; i < a->ndims; i++)
        psizes[i] = a->distribs[i] == MPI_DISTRIBUTE_NONE ? 1 : 0;
    MPI_Dims_create(size, a->ndims, psizes);
}

/* Whether index g of dimension i belongs to the process at `coord`. */
static int owns(const struct array *a, int i, int nprocs, int coord, int g)
{
    int block = a->dargs[i];
    if (a->distribs[i] == MPI_DISTRIBUTE_NONE)
        return 1;
    if (block == MPI_DISTRIBUTE_DFLT_DARG)
        block = a->distribs[i] == MPI_DISTRIBUTE_CYCLIC ? 1 : (a->gsizes[i] + nprocs - 1) / nprocs;
    return g / block % nprocs == coord;
}

/* The items of a process, in memory order, by the definition. */
static int expect(const struct array *a, const int *psizes, int rank, int *items)
{
    int coords[3], total = 1, n = 0;
    for (int i = a->ndims - 1; i >= 0; i--) {
        coords[i] = rank % psizes[i];
        rank /= psizes[i];
        total *= a->gsizes[i];
    }
    for (int item = 0; item < total; item++) {
        int rest = item, own = 1;
        for (int k = 0; k < a->ndims; k++) {
            int i = a->order == MPI_ORDER_C ? a->ndims - 1 - k : k;
            own = own && owns(a, i, psizes[i], coords[i], rest % a->gsizes[i]);
            rest /= a->gsizes[i];
        }
        if (own)
            items[n++] = item;
    }
    return n;
}

static int values[MAX_ITEMS], items[MAX_ITEMS], packed[MAX_ITEMS], whole[MAX_ITEMS];

static void check_array(const struct array *a, int rank, int size)
{
    int psizes[3], total = 1, position = 0, bytes, n;
    MPI_Aint lb, extent;
    MPI_Datatype part;
    grid(a, size, psizes);
    for (int i = 0; i < a->ndims; i++)
        total *= a->gsizes[i];
    for (int i = 0; i < total; i++)
        values[i] = i;
    MPI_Type_create_darray(size, rank, a->ndims, a->gsizes, a->distribs, a->dargs, psizes, a->order,
                           MPI_INT, &part);
    MPI_Type_commit(&part);
    n = expect(a, psizes, rank, items);
    MPI_Type_size(part, &bytes);
    MPI_Type_get_extent(part, &lb, &extent);
    CHECK(bytes == 4 * n && lb == 0 && extent == 4 * total);
    MPI_Pack(values, 1, part, packed, sizeof packed, &position, MPI_COMM_WORLD);
    CHECK(position == 4 * n && !memcmp(packed, items, (size_t)position));
    /* All send their part to rank 0, which receives it into its position. */
    MPI_Request request;
    MPI_Isend(values, 1, part, 0, 0, MPI_COMM_WORLD, &request);
    memset(whole, 0xff, sizeof whole);
    for (int r = 0; rank == 0 && r < size; r++) {
        MPI_Datatype theirs;
        MPI_Type_create_darray(size, r, a->ndims, a->gsizes, a->distribs, a->dargs, psizes,
                               a->order, MPI_INT, &theirs);
        MPI_Type_commit(&theirs);
        MPI_Recv(whole, 1, theirs, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Type_free(&theirs);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(rank || !memcmp(whole, values, (size_t)total * sizeof *values));
    MPI_Type_free(&part);
}

/* Contents of both forms. */
static void check_contents(int rank, int size)
{
    const struct array *a = &arrays[6];
    int psizes[3], ints[16], combiner;
    MPI_Count gsizes[3], ni, na, nc, nd, counts[3];
    MPI_Datatype t, old;
    grid(a, size, psizes);
    for (int i = 0; i < 3; i++)
        gsizes[i] = a->gsizes[i];
    MPI_Type_create_darray(size, rank, 3, a->gsizes, a->distribs, a->dargs, psizes, a->order,
                           MPI_DOUBLE, &t);
    MPI_Type_get_envelope_c(t, &ni, &na, &nc, &nd, &combiner);
    CHECK(ni == 16 && na == 0 && nc == 0 && nd == 1 && combiner == MPI_COMBINER_DARRAY);
    MPI_Type_get_contents(t, 16, 0, 1, ints, NULL, &old);
    CHECK(ints[0] == size && ints[1] == rank && ints[2] == 3 && ints[15] == a->order);
    for (int i = 0; i < 3; i++)
        CHECK(ints[3 + i] == a->gsizes[i] && ints[6 + i] == a->distribs[i] &&
              ints[9 + i] == a->dargs[i] && ints[12 + i] == psizes[i]);
    CHECK(old == MPI_DOUBLE);
    MPI_Type_free(&t);
    MPI_Type_create_darray_c(size, rank, 3, gsizes, a->distribs, a->dargs, psizes, a->order,
                             MPI_DOUBLE, &t);
    MPI_Type_get_envelope_c(t, &ni, &na, &nc, &nd, &combiner);
    CHECK(ni == 13 && na == 0 && nc == 3 && nd == 1 && combiner == MPI_COMBINER_DARRAY);
    MPI_Type_get_contents_c(t, 13, 0, 3, 1, ints, NULL, counts, &old);
    CHECK(!memcmp(counts, gsizes, sizeof gsizes) && ints[3] == a->distribs[0]);
    MPI_Type_free(&t);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = check_rank(), size = check_size();
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        check_array(&arrays[i], rank, size);
    check_ok("arrays");
    check_contents(rank, size);
    check_ok("contents");
    MPI_Finalize();
    return 0;
}
