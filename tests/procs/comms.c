/*
 * Makes and frees communicators, argument 1 times: by splitting in two ways, duplicating, creating
 * from groups with few members, and cartesian ones. All members use each of them.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long total;

static void use(MPI_Comm comm)
{
    int rank, size, sum;

    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != size * (size - 1) / 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    total += sum;
    MPI_Comm_free(&comm);
}

static MPI_Comm made_of_every(int step, int size, int turn, int rank)
{
    MPI_Group world, some;
    MPI_Comm comm = MPI_COMM_NULL;
    int range[1][3] = {{turn % step, size - 1, step}};

    if (turn % step >= size)
        return comm;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &some);
    if (turn % 2)
        MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
    else if (rank % step == turn % step)
        MPI_Comm_create_group(MPI_COMM_WORLD, some, turn, &comm);
    MPI_Group_free(&some);
    MPI_Group_free(&world);
    return comm;
}

static void one_turn(int turn, int rank, int size)
{
    int dims[2] = {0, 0}, periods[2] = {1, turn % 2}, keep[2] = {turn % 2, 1 - turn % 2};
    MPI_Comm a, b, c, d;

    MPI_Comm_split(MPI_COMM_WORLD, (rank + turn) % 3, rank % 2 ? rank : -rank, &a);
    MPI_Comm_split(a, (rank / 2) % 2 ? MPI_UNDEFINED : 1, 0, &b);
    MPI_Comm_dup(a, &c);
    use(a);
    use(b);
    use(c);
    use(made_of_every(2 + turn % 3, size, turn, rank));
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &c);
    MPI_Cart_sub(c, keep, &d);
    use(d);
    use(c);
}

int main(int argc, char **argv)
{
    int turns = atoi(argv[1]), rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < turns; i++)
        one_turn(i, rank, size);
    printf("rank %d: %ld at %.12f\n", rank, total, MPI_Wtime());
    MPI_Finalize();
    return 0;
}
