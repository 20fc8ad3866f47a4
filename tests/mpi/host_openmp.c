/* test: n=1,2,5 native=2 host=threads flags="-fopenmp" output=sorted
 * MPI inside OpenMP regions: threads that communicate beside threads that wait at a barrier,
 * funnelled calls between regions, and a task that computes while another thread waits for a
 * message. */
#include <omp.h>

#include "check.h"

enum { THREADS = 3, ROUNDS = 10 };

int main(int argc, char **argv)
{
    int rank, size, provided, right, left;
    double sum = 0, total;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
        {
            int id = omp_get_thread_num();
            double x = rank + id, y;

            MPI_Sendrecv(&x, 1, MPI_DOUBLE, right, id, &y, 1, MPI_DOUBLE, left, id, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            sum += y - left - id;
#pragma omp barrier
#pragma omp master
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        CHECK(total == 0);
    }
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
            int got = -1, mine = rank;

            MPI_Sendrecv(&mine, 1, MPI_INT, right, 9, &got, 1, MPI_INT, left, 9, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            CHECK(got == left);
        } else {
            volatile double x = 0;

            for (int i = 0; i < 300000; i++)
                x += i;
        }
    }
    if (rank == 0)
        puts("ok");
    MPI_Finalize();
    return 0;
}
