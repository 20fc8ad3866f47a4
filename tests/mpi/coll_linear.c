/* test: n=1,2,5,13 native=4
 * Collectives with other types and all roots, each compared with a linear version of itself over
 * point-to-point messages; large broadcasts and reductions; sub-communicators; root order. */
#include "check.h"

static int rank, size;

static void linear_bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int me, n;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    if (me != root)
        MPI_Recv(data, count, type, root, 1000, comm, MPI_STATUS_IGNORE);
    for (int r = 0; me == root && r < n; r++)
        if (r != root)
            MPI_Send(data, count, type, r, 1000, comm);
}

static void linear_sum(const double *in, double *out, int count, int root, MPI_Comm comm)
{
    int me, n;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    if (me != root) {
        MPI_Send(in, count, MPI_DOUBLE, root, 1001, comm);
        return;
    }
    double *part = (double *)malloc((size_t)count * sizeof(double));
    memset(out, 0, (size_t)count * sizeof(double));
    for (int r = 0; r < n; r++) {
        memcpy(part, in, (size_t)count * sizeof(double));
        if (r != root)
            MPI_Recv(part, count, MPI_DOUBLE, r, 1001, comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; i++)
            out[i] += part[i];
    }
    free(part);
}

/* Whole numbers: sums are exact in any order. */
static void sums(MPI_Comm comm, int count)
{
    double *in = (double *)malloc((size_t)(count + 1) * 3 * sizeof(double));
    double *out = in + count + 1, *expected = out + count + 1;
    int n, me;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    for (int i = 0; i < count; i++)
        in[i] = me * 3 + i % 100;
    for (int root = 0; root < n; root++) {
        MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, root, comm);
        linear_sum(in, expected, count, root, comm);
        if (me == root)
            CHECK(memcmp(out, expected, (size_t)count * sizeof(double)) == 0);
    }
    linear_sum(in, expected, count, 0, comm);
    linear_bcast(expected, count, MPI_DOUBLE, 0, comm);
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
    CHECK(memcmp(out, expected, (size_t)count * sizeof(double)) == 0);
    free(in);
}

static void broadcasts(MPI_Comm comm, int count)
{
    char *data = (char *)malloc((size_t)count * 2 + 2), *copy = data + count + 1;
    int n, me;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    for (int root = 0; root < n; root++) {
        for (int i = 0; i < count; i++)
            data[i] = copy[i] = (char)(me == root ? i * 13 + root : 0);
        MPI_Bcast(data, count, MPI_CHAR, root, comm);
        linear_bcast(copy, count, MPI_CHAR, root, comm);
        CHECK(memcmp(data, copy, (size_t)count) == 0);
    }
    free(data);
}

/* A strided type at the root, contiguous elsewhere. */
static void typed(void)
{
    MPI_Datatype every_other;
    int spread[20], packed[10];
    MPI_Type_vector(10, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    for (int root = 0; root < size; root++) {
        for (int i = 0; i < 20; i++)
            spread[i] = rank == root ? i + root : -1;
        if (rank == root)
            MPI_Bcast(spread, 1, every_other, root, MPI_COMM_WORLD);
        else
            MPI_Bcast(packed, 10, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; rank != root && i < 10; i++)
            CHECK(packed[i] == 2 * i + root);
    }
    MPI_Type_free(&every_other);
}

/* Nobody leaves a barrier before the last has come. */
static void barrier(void)
{
    for (int late = 0; late < size; late++) {
        if (rank == late)
            check_spend(0.001);
        double before = MPI_Wtime(), latest = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        double after = MPI_Wtime();
        MPI_Allreduce(&before, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        CHECK(!check_virtual() || after >= latest);
    }
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 9, 1000, 5001};
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
    for (int i = 0; i < 5; i++) {
        sums(MPI_COMM_WORLD, counts[i]);
        sums(part, counts[i]);
        broadcasts(MPI_COMM_WORLD, counts[i] * 3);
        broadcasts(part, counts[i]);
    }
    check_ok("linear");
    broadcasts(part, 600001);
    sums(part, 70001);
    check_ok("large");
    MPI_Comm_free(&part);
    typed();
    check_ok("typed");
    barrier();
    check_ok("barrier");
    MPI_Finalize();
    return 0;
}
