/*
 * Collectives that one rank alone makes, and that the MPI refuses: nobody waits for the others.
 */
#include <mpi.h>
#include <stdio.h>

static int rank, failures;
static int one[8], all[64], counts[8], displacements[8];

static void refused(const char *what, int rc)
{
    if (rc != MPI_SUCCESS)
        return;
    fprintf(stderr, "check failed: %s is not refused\n", what);
    failures++;
}

static void alone(MPI_Datatype raw)
{
    refused("gather", MPI_Gather(all, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD));
    refused("gatherv",
            MPI_Gatherv(all, 2, MPI_INT, all, counts, displacements, MPI_INT, 0, MPI_COMM_WORLD));
    refused("scatter", MPI_Scatter(all, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD));
    refused("allgather", MPI_Allgather(all, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD));
    refused("alltoall", MPI_Alltoall(all, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD));
    refused("alltoallv", MPI_Alltoallv(all, counts, displacements, MPI_INT, all, counts,
                                       displacements, MPI_INT, MPI_COMM_WORLD));
    refused("reduce", MPI_Reduce(all, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    refused("allreduce", MPI_Allreduce(all, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    refused("reduce_scatter",
            MPI_Reduce_scatter(all, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    refused("scan", MPI_Scan(all, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    refused("a type", MPI_Bcast(all, 1, raw, 0, MPI_COMM_WORLD));
    refused("no buffer", MPI_Bcast(NULL, 1, MPI_INT, 0, MPI_COMM_WORLD));
    refused("no send buffer", MPI_Gather(NULL, 2, MPI_INT, all, 2, MPI_INT, 0, MPI_COMM_WORLD));
}

/* What looks like that, and is right. */
static void together(void)
{
    MPI_Gather(one, 1, MPI_INT, rank == 0 ? all : one, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(one, rank == 0 ? all : one, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Alltoall(all, 0, MPI_INT, all, 0, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Bcast(rank == 0 ? all : one, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Datatype raw;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(2, MPI_INT, &raw);
    for (int i = 0; i < 8; i++)
        counts[i] = 1, displacements[i] = i;
    together();
    if (rank == 0)
        alone(raw);
    together();
    MPI_Type_free(&raw);
    MPI_Finalize();
    if (rank == 0 && !failures)
        puts("refused");
    return 0;
}
