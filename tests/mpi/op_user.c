/* test: n=1,2,3,5,16,33 native=4
 * User operations, commutative and not, in every reducing collective: the product of matrices and
 * the concatenation of ranges keep the order of ranks. */
#include "check.h"

enum { LONG = 3000 };

static int rank, size, calls;

/* A range of ranks; joining anything but neighbours in order makes it bad for ever. */
struct range {
    int first, last, bad;
};

static void join(void *left, void *right, int *count, MPI_Datatype *type)
{
    struct range *a = (struct range *)left, *b = (struct range *)right;
    calls++;
    CHECK(*type != MPI_DATATYPE_NULL);
    for (int i = 0; i < *count; i++) {
        b[i].bad |= a[i].bad || a[i].last + 1 != b[i].first;
        b[i].first = a[i].first;
    }
}

struct matrix {
    unsigned a[2][2];
};

static struct matrix product(struct matrix x, struct matrix y)
{
    struct matrix z;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            z.a[i][k] = x.a[i][0] * y.a[0][k] + x.a[i][1] * y.a[1][k];
    return z;
}

static void multiply(void *left, void *right, int *count, MPI_Datatype *type)
{
    struct matrix *a = (struct matrix *)left, *b = (struct matrix *)right;
    CHECK(*type != MPI_DATATYPE_NULL);
    for (int i = 0; i < *count; i++)
        b[i] = product(a[i], b[i]);
}

static void add(void *left, void *right, int *count, MPI_Datatype *type)
{
    CHECK(*type == MPI_INT);
    for (int i = 0; i < *count; i++)
        ((int *)right)[i] += ((int *)left)[i];
}

static int good(const struct range *range, int first, int last)
{
    return range->first == first && range->last == last && !range->bad;
}

static void fill(struct range *ranges, int count)
{
    for (int i = 0; i < count; i++) {
        ranges[i].first = ranges[i].last = rank;
        ranges[i].bad = 0;
    }
}

static void ranges(int count)
{
    MPI_Datatype type;
    MPI_Op op;
    struct range *in = (struct range *)malloc((size_t)count * sizeof *in);
    struct range *out = (struct range *)malloc((size_t)count * sizeof *out);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(join, 0, &op);
    int commutes = -1;
    MPI_Op_commutative(op, &commutes);
    CHECK(commutes == 0);
    fill(in, count);
    for (int root = 0; root < size; root++) {
        MPI_Reduce(in, out, count, type, op, root, MPI_COMM_WORLD);
        for (int i = 0; rank == root && i < count; i++)
            CHECK(good(&out[i], 0, size - 1));
    }
    MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        CHECK(good(&out[i], 0, size - 1));
    MPI_Scan(in, out, count, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        CHECK(good(&out[i], 0, rank));
    MPI_Exscan(in, out, count, type, op, MPI_COMM_WORLD);
    for (int i = 0; rank > 0 && i < count; i++)
        CHECK(good(&out[i], 0, rank - 1));
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL && (calls > 0 || size == 1));
    MPI_Type_free(&type);
    free(in);
    free(out);
}

static void scattered(void)
{
    MPI_Datatype type;
    MPI_Op op;
    int *counts = (int *)malloc((size_t)size * sizeof(int)), total = 0;
    for (int r = 0; r < size; r++)
        total += counts[r] = r % 3;
    struct range *in = (struct range *)malloc((size_t)(total + size) * sizeof *in), out[3];
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(join, 0, &op);
    fill(in, total + size);
    MPI_Reduce_scatter(in, out, counts, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < counts[rank]; i++)
        CHECK(good(&out[i], 0, size - 1));
    MPI_Reduce_scatter_block(in, out, 1, type, op, MPI_COMM_WORLD);
    CHECK(good(&out[0], 0, size - 1));
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    free(in);
    free(counts);
}

static void matrices(void)
{
    struct matrix mine = {{{1, (unsigned)rank}, {1, 2}}}, all, expected = {{{1, 0}, {0, 1}}};
    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_contiguous(4, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(multiply, 0, &op);
    MPI_Allreduce(&mine, &all, 1, type, op, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        struct matrix factor = {{{1, (unsigned)r}, {1, 2}}};
        expected = product(expected, factor);
    }
    CHECK(memcmp(&all, &expected, sizeof all) == 0);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

static void commutative(void)
{
    int values[LONG], sums[LONG];
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < LONG; i++)
        values[i] = rank + i;
    MPI_Allreduce(values, sums, LONG, MPI_INT, op, MPI_COMM_WORLD);
    for (int i = 0; i < LONG; i++)
        CHECK(sums[i] == size * (size - 1) / 2 + i * size);
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    ranges(1);
    ranges(7);
    ranges(LONG);
    check_ok("ranges");
    scattered();
    check_ok("scattered");
    matrices();
    check_ok("matrices");
    commutative();
    check_ok("commutative");
    MPI_Finalize();
    return 0;
}
