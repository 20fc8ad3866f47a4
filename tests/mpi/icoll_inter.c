/* test: n=2,5,16 native=4 schedules=3
 * Non-blocking and persistent collectives on an intercommunicator: all kinds pending at once,
 * waited for in the opposite order, with collectives inside the groups in between. */
#include "check.h"

enum { KINDS = 9, ITEMS = 3 };

static int rank, size, me, mine, others, is_low, round_number;
static MPI_Comm local, inter;

/* What rank r of a group has for rank "to" of the other. */
static int value(int low, int r, int to)
{
    return (low ? 1000 : 5000) + r * 10 + to + round_number;
}

struct buffers {
    int bcast, in_gather[64], in_allgather[64], out_alltoall[64], in_alltoall[64];
    int out_scatter[64], in_scatter, out_fold[ITEMS], in_fold[ITEMS], in_reduce, one;
    int out_blocks[64], in_blocks[64];
};

static void fill(struct buffers *b)
{
    memset(b, -1, sizeof *b);
    b->one = value(is_low, me, 0);
    b->bcast = is_low && me == 0 ? 4711 + round_number : -1;
    for (int r = 0; r < others; r++) {
        b->out_alltoall[r] = value(is_low, me, r);
        b->out_scatter[r] = 300 + r + round_number;
    }
    for (int i = 0; i < ITEMS; i++)
        b->out_fold[i] = value(is_low, me, i);
    for (int i = 0; i < mine * others; i++)
        b->out_blocks[i] = value(is_low, me, i);
}

/* Rank 0 of the low group is the root of what has one. */
static void start(struct buffers *b, MPI_Request *q)
{
    int root = !is_low ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;

    MPI_Ibarrier(inter, &q[0]);
    MPI_Ibcast(&b->bcast, 1, MPI_INT, root, inter, &q[1]);
    MPI_Igather(&b->one, 1, MPI_INT, b->in_gather, 1, MPI_INT, root, inter, &q[2]);
    MPI_Iscatter(b->out_scatter, 1, MPI_INT, &b->in_scatter, 1, MPI_INT, root, inter, &q[3]);
    MPI_Iallgather(&b->one, 1, MPI_INT, b->in_allgather, 1, MPI_INT, inter, &q[4]);
    MPI_Ialltoall(b->out_alltoall, 1, MPI_INT, b->in_alltoall, 1, MPI_INT, inter, &q[5]);
    MPI_Iallreduce(b->out_fold, b->in_fold, ITEMS, MPI_INT, MPI_SUM, inter, &q[6]);
    MPI_Ireduce(&b->one, &b->in_reduce, 1, MPI_INT, MPI_MAX, root, inter, &q[7]);
    MPI_Ireduce_scatter_block(b->out_blocks, b->in_blocks, others, MPI_INT, MPI_SUM, inter, &q[8]);
}

static int sum_of_others(int to)
{
    int sum = 0;

    for (int r = 0; r < others; r++)
        sum += value(!is_low, r, to);
    return sum;
}

static void verify(const struct buffers *b)
{
    int is_root = is_low && me == 0;

    CHECK(b->bcast == (is_root || !is_low ? 4711 + round_number : -1));
    CHECK(is_low || b->in_scatter == 300 + me + round_number);
    for (int r = 0; r < others; r++) {
        CHECK(!is_root || b->in_gather[r] == value(0, r, 0));
        CHECK(b->in_allgather[r] == value(!is_low, r, 0));
        CHECK(b->in_alltoall[r] == value(!is_low, r, me));
    }
    for (int i = 0; i < ITEMS; i++)
        CHECK(b->in_fold[i] == sum_of_others(i));
    for (int i = 0; i < others; i++)
        CHECK(b->in_blocks[i] == sum_of_others(me * others + i));
    CHECK(!is_root || b->in_reduce == value(0, others - 1, 0));
}

static void persistent(void)
{
    MPI_Request q;
    int sum = -1;

    MPI_Allreduce_init(&me, &sum, 1, MPI_INT, MPI_SUM, inter, MPI_INFO_NULL, &q);
    for (int i = 0; i < 3; i++) {
        sum = -1;
        MPI_Start(&q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        CHECK(sum == others * (others - 1) / 2);
    }
    MPI_Request_free(&q);
}

static void duplicate(void)
{
    MPI_Comm twin;
    MPI_Request q;
    int n;

    MPI_Comm_idup(inter, &twin, &q);
    MPI_Barrier(inter);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Comm_remote_size(twin, &n);
    CHECK(n == others);
    MPI_Barrier(twin);
    MPI_Comm_free(&twin);
}

int main(int argc, char **argv)
{
    static struct buffers b;
    MPI_Request q[KINDS];
    int total;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    is_low = rank < (size + 1) / 2;
    MPI_Comm_split(MPI_COMM_WORLD, is_low, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, is_low ? (size + 1) / 2 : 0, 3, &inter);
    MPI_Comm_rank(local, &me);
    MPI_Comm_size(local, &mine);
    MPI_Comm_remote_size(inter, &others);
    for (round_number = 0; round_number < 4; round_number++) {
        fill(&b);
        start(&b, q);
        MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_MIN, local);
        CHECK(total == (is_low ? 0 : (size + 1) / 2));
        for (int i = KINDS - 1; i >= 0; i--)
            MPI_Wait(&q[i], MPI_STATUS_IGNORE);
        verify(&b);
    }
    persistent();
    duplicate();
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
    if (rank == 0)
        printf("ok\n");
    MPI_Finalize();
    return 0;
}
