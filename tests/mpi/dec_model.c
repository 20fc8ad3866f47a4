/* test: n=2,5,16,300 native=4 measured=no run="--collectives model --set mpi.collective_factor=0,net.latency=10us"
 * Messages from anybody meet collectives that cost nothing: what a rank sends after one leaves at
 * the time of the last entry, and receives posted before, between and after them are decided in
 * order of time. Which message each got, and when, is one printed number. */
#include "check.h"

enum { ROUNDS = 12 };

static int rank, size, *all;
static unsigned long history = 14695981039346656037ul;

static void note(unsigned long value)
{
    history = (history ^ value) * 1099511628211ul;
}

static int target(int from, int k)
{
    return (int)((unsigned)(from * 31 + k * 17 + k * k) % (unsigned)size);
}

/* How many messages round k brings to this rank. */
static int expected(int k)
{
    int n = 0;
    for (int r = 0; r < size; r++)
        n += target(r, k) == rank;
    return n;
}

static void collective(int k)
{
    int value = rank + k, result = 0, root = (k * 7) % size;

    switch (k % 6) {
    case 0:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case 1:
        MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(value == root + k);
        break;
    case 2:
        MPI_Reduce(&value, &result, 1, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
        break;
    case 3:
        MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK(result == size - 1 + k);
        break;
    case 4:
        MPI_Scan(&value, &result, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK(result == value);
        break;
    case 5:
        MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
        break;
    }
    note((unsigned long)(MPI_Wtime() * 1e9 + 0.5));
}

/* A round: some receives are posted before the collective; a test polls in between. */
static void round_of(int k)
{
    int n = expected(k), before = n / 2, data = rank * 1000 + k, got[2] = {-1, -1}, flag;
    MPI_Request receive = MPI_REQUEST_NULL, send;
    MPI_Status status;

    if (before)
        MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, k, MPI_COMM_WORLD, &receive);
    check_spend(((rank * 13 + k * 7) % 11) * 3e-6);
    collective(k);
    MPI_Isend(&data, 1, MPI_INT, target(rank, k), k, MPI_COMM_WORLD, &send);
    check_spend(((rank * 5 + k) % 3) * 4e-6);
    for (int i = 0; i < 5; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, k, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        note(check_virtual() ? (unsigned long)flag : 0);
    }
    collective(k + 1);
    if (before) {
        MPI_Wait(&receive, &status);
        note((unsigned long)status.MPI_SOURCE);
        CHECK(got[0] == status.MPI_SOURCE * 1000 + k);
    }
    for (int i = before ? 1 : 0; i < n; i++) {
        MPI_Recv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, k, MPI_COMM_WORLD, &status);
        note((unsigned long)status.MPI_SOURCE);
        note((unsigned long)(MPI_Wtime() * 1e9 + 0.5));
        CHECK(got[1] == status.MPI_SOURCE * 1000 + k);
    }
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    unsigned long sum = 0;

    MPI_Init(&argc, &argv);
    rank = check_rank();
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all = (int *)malloc((size_t)size * sizeof(int));
    for (int k = 0; k < ROUNDS; k++)
        round_of(k);
    free(all);
    MPI_Reduce(&history, &sum, 1, MPI_UNSIGNED_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank == 0 && check_virtual())
        printf("virtual: %lx\n", sum);
    if (rank == 0)
        printf("ok\n");
    MPI_Finalize();
    return 0;
}
