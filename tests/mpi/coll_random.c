/* test: n=1,2,3,5,7,16 native=4
 * All blocking collectives, with random counts, roots and in-place flags from a fixed seed,
 * against what the definition says each rank must hold. */
#include "check.h"

static int rank, size, root, count, in_place, round_number;
static unsigned state = 2024;
static int *send_buffer, *receive_buffer, *counts, *offsets;

enum { LARGEST = 20000, ROUNDS = 25 };

static int pick(int below)
{
    state = state * 1103515245u + 12345u;
    return (int)(state >> 16) % below;
}

/* The element i that rank "from" holds for rank "to". */
static int element(int from, int to, int i)
{
    return from * 1009 + to * 131 + i * 7 + round_number;
}

static void fill(int *data, int from, int to, int n)
{
    for (int i = 0; i < n; i++)
        data[i] = element(from, to, i);
}

static void verify(const int *data, int from, int to, int n)
{
    for (int i = 0; i < n; i++)
        CHECK(data[i] == element(from, to, i));
}

static void test_bcast(void)
{
    fill(send_buffer, rank, 0, count);
    MPI_Bcast(send_buffer, count, MPI_INT, root, MPI_COMM_WORLD);
    verify(send_buffer, root, 0, count);
}

static void test_gather(void)
{
    int *mine = in_place && rank == root ? receive_buffer + rank * count : send_buffer;
    fill(mine, rank, 0, count);
    MPI_Gather(mine == send_buffer ? mine : MPI_IN_PLACE, count, MPI_INT, receive_buffer, count,
               MPI_INT, root, MPI_COMM_WORLD);
    for (int r = 0; rank == root && r < size; r++)
        verify(receive_buffer + r * count, r, 0, count);
}

static void test_scatter(void)
{
    for (int r = 0; rank == root && r < size; r++)
        fill(send_buffer + r * count, root, r, count);
    int keep = in_place && rank == root;
    MPI_Scatter(send_buffer, count, MPI_INT, keep ? MPI_IN_PLACE : receive_buffer, count, MPI_INT,
                root, MPI_COMM_WORLD);
    verify(keep ? send_buffer + rank * count : receive_buffer, root, rank, count);
}

static void test_allgather(void)
{
    int *mine = in_place ? receive_buffer + rank * count : send_buffer;
    fill(mine, rank, 0, count);
    MPI_Allgather(in_place ? MPI_IN_PLACE : mine, count, MPI_INT, receive_buffer, count, MPI_INT,
                  MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        verify(receive_buffer + r * count, r, 0, count);
}

static void test_alltoall(void)
{
    int *mine = in_place ? receive_buffer : send_buffer;
    for (int r = 0; r < size; r++)
        fill(mine + r * count, rank, r, count);
    MPI_Alltoall(in_place ? MPI_IN_PLACE : mine, count, MPI_INT, receive_buffer, count, MPI_INT,
                 MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        verify(receive_buffer + r * count, r, rank, count);
}

/* Uneven blocks with gaps between them; some are empty. All ranks agree on the lengths. */
static void uneven(void)
{
    int at = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = (r * 5 + round_number) % 4 == 0 ? 0 : (count + r) % (count / 2 + 2);
        offsets[r] = at;
        at += counts[r] + 1;
    }
}

static void test_gatherv(void)
{
    uneven();
    int *mine = in_place && rank == root ? receive_buffer + offsets[rank] : send_buffer;
    fill(mine, rank, 0, counts[rank]);
    MPI_Gatherv(mine == send_buffer ? mine : MPI_IN_PLACE, counts[rank], MPI_INT, receive_buffer,
                counts, offsets, MPI_INT, root, MPI_COMM_WORLD);
    for (int r = 0; rank == root && r < size; r++)
        verify(receive_buffer + offsets[r], r, 0, counts[r]);
}

static void test_scatterv(void)
{
    uneven();
    for (int r = 0; rank == root && r < size; r++)
        fill(send_buffer + offsets[r], root, r, counts[r]);
    int keep = in_place && rank == root;
    MPI_Scatterv(send_buffer, counts, offsets, MPI_INT, keep ? MPI_IN_PLACE : receive_buffer,
                 counts[rank], MPI_INT, root, MPI_COMM_WORLD);
    verify(keep ? send_buffer + offsets[rank] : receive_buffer, root, rank, counts[rank]);
}

static void test_allgatherv(void)
{
    uneven();
    int *mine = in_place ? receive_buffer + offsets[rank] : send_buffer;
    fill(mine, rank, 0, counts[rank]);
    MPI_Allgatherv(in_place ? MPI_IN_PLACE : mine, counts[rank], MPI_INT, receive_buffer, counts,
                   offsets, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        verify(receive_buffer + offsets[r], r, 0, counts[r]);
}

/* What rank a sends to rank b: symmetric for the in-place form. */
static int between(int a, int b)
{
    return (a + b + round_number) % 3 * (count / 3);
}

static void test_alltoallv(int with_types)
{
    int *back = (int *)malloc((size_t)size * sizeof(int));
    MPI_Datatype *types = (MPI_Datatype *)malloc((size_t)size * sizeof *types);
    int *mine = in_place ? receive_buffer : send_buffer, unit = with_types ? (int)sizeof(int) : 1;
    for (int r = 0; r < size; r++) {
        types[r] = MPI_INT;
        counts[r] = between(rank, r);
        offsets[r] = r * count * unit;
        back[r] = (size - 1 - r) * count * unit;
        fill(mine + (in_place ? size - 1 - r : r) * count, rank, r, counts[r]);
    }
    void *source = in_place ? MPI_IN_PLACE : mine;
    if (with_types)
        MPI_Alltoallw(source, counts, offsets, types, receive_buffer, counts, back, types,
                      MPI_COMM_WORLD);
    else
        MPI_Alltoallv(source, counts, offsets, MPI_INT, receive_buffer, counts, back, MPI_INT,
                      MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        verify(receive_buffer + (size - 1 - r) * count, r, rank, counts[r]);
    free(types);
    free(back);
}

/* Sum or maximum over ranks first..last of element i. */
static int reduced(int first, int last, int i, MPI_Op op)
{
    int result = element(first, 0, i);
    for (int r = first + 1; r <= last; r++) {
        int next = element(r, 0, i);
        result = op == MPI_SUM ? result + next : result > next ? result : next;
    }
    return result;
}

static void verify_reduced(const int *data, int last, int start, int n, MPI_Op op)
{
    for (int i = 0; i < n; i++)
        CHECK(data[i] == reduced(0, last, start + i, op));
}

static void test_reduce(MPI_Op op)
{
    /* MPICH 4.0 reads from MPI_IN_PLACE at a root that is not the first rank of its node. */
    int keep = in_place && rank == root && (check_virtual() || root == 0);
    fill(keep ? receive_buffer : send_buffer, rank, 0, count);
    MPI_Reduce(keep ? MPI_IN_PLACE : send_buffer, receive_buffer, count, MPI_INT, op, root,
               MPI_COMM_WORLD);
    if (rank == root)
        verify_reduced(receive_buffer, size - 1, 0, count, op);
}

static void test_allreduce(MPI_Op op)
{
    fill(in_place ? receive_buffer : send_buffer, rank, 0, count);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : send_buffer, receive_buffer, count, MPI_INT, op,
                  MPI_COMM_WORLD);
    verify_reduced(receive_buffer, size - 1, 0, count, op);
}

static void test_scans(MPI_Op op)
{
    fill(in_place ? receive_buffer : send_buffer, rank, 0, count);
    MPI_Scan(in_place ? MPI_IN_PLACE : send_buffer, receive_buffer, count, MPI_INT, op,
             MPI_COMM_WORLD);
    verify_reduced(receive_buffer, rank, 0, count, op);
    fill(in_place ? receive_buffer : send_buffer, rank, 0, count);
    MPI_Exscan(in_place ? MPI_IN_PLACE : send_buffer, receive_buffer, count, MPI_INT, op,
               MPI_COMM_WORLD);
    if (rank > 0)
        verify_reduced(receive_buffer, rank - 1, 0, count, op);
}

static void test_reduce_scatter(MPI_Op op)
{
    int total = 0, start = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = (r + round_number) % 3 * (count / 3);
        start += r < rank ? counts[r] : 0;
        total += counts[r];
    }
    fill(in_place ? receive_buffer : send_buffer, rank, 0, total);
    MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : send_buffer, receive_buffer, counts, MPI_INT, op,
                       MPI_COMM_WORLD);
    verify_reduced(receive_buffer, size - 1, start, counts[rank], op);
    fill(in_place ? receive_buffer : send_buffer, rank, 0, count * size);
    MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : send_buffer, receive_buffer, count, MPI_INT,
                             op, MPI_COMM_WORLD);
    verify_reduced(receive_buffer, size - 1, rank * count, count, op);
}

static void one_round(void)
{
    static const int few[] = {0, 1, 2, 3, 17, 100, 600, 3000};
    MPI_Op op = pick(2) ? MPI_SUM : MPI_MAX;
    root = pick(size);
    in_place = pick(2);
    count = round_number == 10 ? LARGEST / size : few[pick(8)];
    test_bcast();
    test_gather();
    test_scatter();
    test_allgather();
    test_alltoall();
    test_gatherv();
    test_scatterv();
    test_allgatherv();
    test_alltoallv(0);
    test_alltoallv(1);
    test_reduce(op);
    test_allreduce(op);
    test_scans(op);
    test_reduce_scatter(op);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    size_t space = (size_t)(LARGEST + (size + 1) * 3001) * sizeof(int);
    send_buffer = (int *)malloc(space);
    receive_buffer = (int *)malloc(space);
    counts = (int *)malloc((size_t)size * sizeof(int));
    offsets = (int *)malloc((size_t)size * sizeof(int));
    for (round_number = 0; round_number < ROUNDS; round_number++)
        one_round();
    check_ok("random collectives");
    free(send_buffer);
    free(receive_buffer);
    free(counts);
    free(offsets);
    MPI_Finalize();
    return 0;
}
