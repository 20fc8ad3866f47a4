/* test: n=1,2,5,16,300 native=4
 * A two-dimensional heat equation on a periodic grid of ranks with halo columns as vectors: the
 * sum of all cells is the same after every step, and equals that of a serial computation. */
#include "check.h"

enum { ROWS = 8, COLUMNS = 6, STEPS = 5 };

static long cells[2][ROWS + 2][COLUMNS + 2];

static void exchange(MPI_Comm comm, MPI_Datatype column, long grid[ROWS + 2][COLUMNS + 2])
{
    int up, down, before, after;
    MPI_Cart_shift(comm, 0, 1, &up, &down);
    MPI_Cart_shift(comm, 1, 1, &before, &after);
    MPI_Request requests[8];
    MPI_Irecv(&grid[0][1], COLUMNS, MPI_LONG, up, 1, comm, &requests[0]);
    MPI_Irecv(&grid[ROWS + 1][1], COLUMNS, MPI_LONG, down, 2, comm, &requests[1]);
    MPI_Irecv(&grid[1][0], 1, column, before, 3, comm, &requests[2]);
    MPI_Irecv(&grid[1][COLUMNS + 1], 1, column, after, 4, comm, &requests[3]);
    MPI_Isend(&grid[ROWS][1], COLUMNS, MPI_LONG, down, 1, comm, &requests[4]);
    MPI_Isend(&grid[1][1], COLUMNS, MPI_LONG, up, 2, comm, &requests[5]);
    MPI_Isend(&grid[1][COLUMNS], 1, column, after, 3, comm, &requests[6]);
    MPI_Isend(&grid[1][1], 1, column, before, 4, comm, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

static long start_value(int row, int column)
{
    return row * 37 % 101 + column * 53 % 89;
}

/* The whole field on one rank. */
static void serial(int rows, int columns, long *grid)
{
    long *next = (long *)malloc((size_t)(rows * columns) * sizeof(long));
    for (int i = 0; i < rows * columns; i++)
        grid[i] = start_value(i / columns, i % columns);
    for (int s = 0; s < STEPS; s++) {
        for (int i = 0; i < rows * columns; i++) {
            int r = i / columns, c = i % columns;
            next[i] = grid[(r + 1) % rows * columns + c] +
                      grid[(r + rows - 1) % rows * columns + c] +
                      grid[r * columns + (c + 1) % columns] +
                      grid[r * columns + (c + columns - 1) % columns] - 3 * grid[i];
        }
        memcpy(grid, next, (size_t)(rows * columns) * sizeof(long));
    }
    free(next);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int size = check_size(), dims[2] = {0, 0}, periods[2] = {1, 1}, coords[2], rank, now = 0;
    MPI_Comm comm;
    MPI_Datatype column;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Cart_coords(comm, rank, 2, coords);
    MPI_Type_vector(ROWS, 1, COLUMNS + 2, MPI_LONG, &column);
    MPI_Type_commit(&column);
    for (int i = 1; i <= ROWS; i++)
        for (int k = 1; k <= COLUMNS; k++)
            cells[0][i][k] = start_value(coords[0] * ROWS + i - 1, coords[1] * COLUMNS + k - 1);
    long first = 0, sum = 0;
    for (int s = 0; s < STEPS; s++, now = !now) {
        exchange(comm, column, cells[now]);
        long mine = 0;
        for (int i = 1; i <= ROWS; i++)
            for (int k = 1; k <= COLUMNS; k++) {
                cells[!now][i][k] = cells[now][i - 1][k] + cells[now][i + 1][k] +
                                    cells[now][i][k - 1] + cells[now][i][k + 1] -
                                    3 * cells[now][i][k];
                mine += cells[!now][i][k];
            }
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
        first = s ? first : sum;
        CHECK(sum == first);
    }
    int rows = dims[0] * ROWS, columns = dims[1] * COLUMNS;
    long *whole = (long *)malloc((size_t)(rows * columns) * sizeof(long));
    serial(rows, columns, whole);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++)
            CHECK(cells[now][i + 1][k + 1] ==
                  whole[(coords[0] * ROWS + i) * columns + coords[1] * COLUMNS + k]);
    free(whole);
    MPI_Type_free(&column);
    MPI_Comm_free(&comm);
    if (check_rank() == 0)
        printf("sum %ld\n", sum);
    check_ok("halo");
    MPI_Finalize();
    return 0;
}
