/* Each rank writes 100 bytes to a file twice and reads them once, and puts 8 bytes into a window of
 * the next rank. */
#include <mpi.h>

int main(int argc, char **argv)
{
    char data[100] = {0};
    long window = 0, value = 1;
    MPI_File file;
    MPI_Win win;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File_open(MPI_COMM_WORLD, "access.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                  &file);
    MPI_File_write_at(file, rank * 100, data, 100, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_write_at_all(file, rank * 100, data, 100, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, rank * 100, data, 100, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Win_create(&window, sizeof window, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
