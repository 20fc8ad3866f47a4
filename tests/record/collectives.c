/* native=4: collectives: blocking, nonblocking, persistent, of neighbours, with large counts. */
#include "every.h"

/* A persistent collective, once. */
static void run(MPI_Request *r)
{
    MPI_Start(r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Request_free(r);
}

#define F(name) MPI_##name
#define I(name) MPI_##name
#define PART(name) name
#define SIZE int
#define START int
#include "collectives_sized.h"
#undef F
#undef I
#undef PART
#undef SIZE
#undef START
#define F(name) MPI_##name##_c
#define I(name) MPI_##name##_c
#define PART(name) large_##name
#define SIZE MPI_Count
#define START MPI_Aint
#include "collectives_sized.h"

int main(int argc, char **argv)
{
    MPI_Comm ring, half, both;
    MPI_Request r;
    int periods = 1, value = 0, sum[2];
    begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    run(&r);
    blocking(MPI_COMM_WORLD);
    large_blocking(MPI_COMM_WORLD);
    begun(MPI_COMM_WORLD);
    large_begun(MPI_COMM_WORLD);
    persistent(MPI_COMM_WORLD);
    large_persistent(MPI_COMM_WORLD);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 0, &ring);
    neighbours(ring);
    large_neighbours(ring);
    MPI_Comm_free(&ring);
    /* Between two groups. */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &both);
    MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : rank % 2 ? 0 : MPI_PROC_NULL, both);
    MPI_Allgather(&value, 1, MPI_INT, sum, 1, MPI_INT, both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
    finish();
    return 0;
}
