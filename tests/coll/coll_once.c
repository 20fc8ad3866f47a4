/* One collective call, for its virtual time: coll_once OPERATION BYTES, bytes of the message or of
 * a block. "none" makes no call. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

int main(int argc, char **argv)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Datatype t = MPI_SIGNED_CHAR;
    int size;

    MPI_Init(&argc, &argv);
    const char *op = argc > 1 ? argv[1] : "none";
    int n = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Comm_size(w, &size);
    char *in = calloc((size_t)size, (size_t)n + 1), *out = calloc((size_t)size, (size_t)n + 1);
    if (is(op, "barrier"))
        MPI_Barrier(w);
    else if (is(op, "bcast"))
        MPI_Bcast(in, n, t, 0, w);
    else if (is(op, "gather"))
        MPI_Gather(in, n, t, out, n, t, 0, w);
    else if (is(op, "scatter"))
        MPI_Scatter(in, n, t, out, n, t, 0, w);
    else if (is(op, "allgather"))
        MPI_Allgather(in, n, t, out, n, t, w);
    else if (is(op, "alltoall"))
        MPI_Alltoall(in, n, t, out, n, t, w);
    else if (is(op, "reduce"))
        MPI_Reduce(in, out, n, t, MPI_SUM, 0, w);
    else if (is(op, "allreduce"))
        MPI_Allreduce(in, out, n, t, MPI_SUM, w);
    else if (is(op, "reduce_scatter_block"))
        MPI_Reduce_scatter_block(in, out, n, t, MPI_SUM, w);
    else if (is(op, "scan"))
        MPI_Scan(in, out, n, t, MPI_SUM, w);
    else if (is(op, "exscan"))
        MPI_Exscan(in, out, n, t, MPI_SUM, w);
    else if (!is(op, "none"))
        MPI_Abort(w, 2);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
