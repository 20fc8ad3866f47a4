/* Makes datatypes and communicators and uses them, so often that most of its trace has been
 * written; then it kills its process. */
#include <mpi.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS 60000
#define ROUNDS_OF_COMM 50

static int rank, size;

static void send_round(MPI_Datatype type)
{
    double out[4] = {0}, in[4];
    MPI_Sendrecv(out, 1, type, (rank + 1) % size, 0, in, 1, type, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Datatype type;
        MPI_Comm comm;
        MPI_Type_contiguous(1 + i % 4, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        send_round(type);
        MPI_Type_free(&type);
        if (i % ROUNDS_OF_COMM)
            continue;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    if (rank == 0)
        syscall(SYS_kill, syscall(SYS_getpid), SIGKILL); /* the simulator does not see it */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
