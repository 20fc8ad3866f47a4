/* Leaves requests behind that are not point-to-point: of a collective, a window and a file. */
#include <mpi.h>

static MPI_Request barrier(void)
{
    MPI_Request request;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    return request;
}

int main(int argc, char **argv)
{
    MPI_Request left[4];
    MPI_Win win;
    MPI_File file;
    int *window, value = 3, rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    left[0] = barrier();
    MPI_Win_allocate(sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    MPI_Win_lock_all(0, win);
    MPI_Rput(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, win, &left[1]);
    MPI_Win_unlock_all(win);
    MPI_File_open(MPI_COMM_SELF, "left.out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_iwrite(file, &value, 1, MPI_INT, &left[2]);
    MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &left[3]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_File_close(&file);
    MPI_Finalize();
    return left[0] == left[1];
}
