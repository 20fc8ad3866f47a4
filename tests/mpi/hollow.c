/* test: n=2,3,4 native=4
 * Buffers without content: what is sent from one leaves the receiver's buffer as it is, what is
 * received into one is dropped, operations are not called, and nothing crashes. Natively there is
 * no such buffer, and the same calls use real memory. */
#include "check.h"

extern void *orrery_hollow(void) __attribute__((weak));

enum { SMALL = 100, LARGE = 400000, MARK = 77 };

static char *hollow, real[LARGE], again[LARGE];
static int rank, size, calls;

static void fill(void)
{
    memset(real, MARK, sizeof real);
}

/* Nothing was written; natively the sender's zeros were. */
static void check_kept(int n)
{
    for (int i = 0; i < n; i++)
        CHECK(real[i] == (check_virtual() ? MARK : 0));
}

static void count_calls(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
    calls++;
}

/* Rank 0 sends in all modes to rank 1, which has a real buffer and then a hollow one. */
static void modes(int n)
{
    MPI_Request r;
    MPI_Status status;
    int got;

    for (int mode = 0; mode < 7; mode++) {
        if (rank == 0 && mode == 0)
            MPI_Send(hollow, n, MPI_CHAR, 1, mode, MPI_COMM_WORLD);
        else if (rank == 0 && mode == 1)
            MPI_Ssend(hollow, n, MPI_CHAR, 1, mode, MPI_COMM_WORLD);
        else if (rank == 0 && mode == 2)
            MPI_Bsend(hollow, n, MPI_CHAR, 1, mode, MPI_COMM_WORLD);
        else if (rank == 0 && mode == 3)
            MPI_Isend(hollow, n, MPI_CHAR, 1, mode, MPI_COMM_WORLD, &r);
        else if (rank == 0 && mode == 4)
            MPI_Issend(hollow, n, MPI_CHAR, 1, mode, MPI_COMM_WORLD, &r);
        else if (rank == 0 && mode == 5)
            MPI_Ibsend(hollow, n, MPI_CHAR, 1, mode, MPI_COMM_WORLD, &r);
        else if (rank == 0)
            MPI_Send(again, n, MPI_CHAR, 1, mode, MPI_COMM_WORLD);
        if (rank == 0 && mode >= 3 && mode < 6)
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        if (rank != 1)
            continue;
        fill();
        MPI_Recv(mode == 6 ? hollow : real, n, MPI_CHAR, 0, mode, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &got);
        CHECK(got == n);
        if (mode < 6)
            check_kept(n);
    }
}

/* Addresses computed from a hollow one, types with gaps, and absolute addresses. */
static void types(void)
{
    MPI_Datatype gaps, absolute;
    MPI_Aint at;
    int length = 1000, peer = rank ^ 1;

    MPI_Type_vector(1000, 3, 7, MPI_CHAR, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Get_address(hollow + 5000, &at);
    MPI_Type_create_hindexed(1, &length, &at, MPI_CHAR, &absolute);
    MPI_Type_commit(&absolute);
    if (peer < size && rank < 2) {
        MPI_Sendrecv(hollow + 3, 50, gaps, peer, 0, real, 150000, MPI_CHAR, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(real, 150000, MPI_CHAR, peer, 0, hollow - 3, 50, gaps, peer, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv_replace(hollow, 50, gaps, peer, 1, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fill();
        MPI_Sendrecv(MPI_BOTTOM, 1, absolute, peer, 2, real, 1000, MPI_CHAR, peer, 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_kept(1000);
        MPI_Sendrecv(real, 1000, MPI_CHAR, peer, 2, MPI_BOTTOM, 1, absolute, peer, 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(hollow, 50, gaps, 0, MPI_COMM_WORLD);
    MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD);
    MPI_Type_free(&gaps);
    MPI_Type_free(&absolute);
}

static void partitioned(void)
{
    MPI_Request r;
    MPI_Datatype gaps;

    MPI_Type_vector(10, 1, 2, MPI_CHAR, &gaps);
    MPI_Type_commit(&gaps);
    if (rank == 0) {
        MPI_Psend_init(hollow, 4, 5, gaps, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
        MPI_Start(&r);
        MPI_Pready_range(0, 3, r);
    } else if (rank == 1) {
        MPI_Precv_init(hollow, 2, 10, gaps, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
        MPI_Start(&r);
    }
    if (rank < 2) {
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Request_free(&r);
    }
    MPI_Type_free(&gaps);
}

/* The two buffers of a call may be the same hollow one. */
static void collectives(void)
{
    MPI_Op op;
    char *other = hollow + (check_virtual() ? 0 : LARGE / 2);

    MPI_Op_create(count_calls, 1, &op);
    MPI_Allreduce(hollow, other, LARGE / 2, MPI_CHAR, op, MPI_COMM_WORLD);
    MPI_Reduce(hollow, other, SMALL, MPI_CHAR, op, size - 1, MPI_COMM_WORLD);
    MPI_Scan(MPI_IN_PLACE, hollow, SMALL, MPI_CHAR, op, MPI_COMM_WORLD);
    MPI_Reduce_local(hollow, other, SMALL, MPI_CHAR, op);
    CHECK(!check_virtual() || calls == 0);
    MPI_Alltoall(hollow, SMALL, MPI_CHAR, other, SMALL, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Allgather(hollow, SMALL, MPI_CHAR, other, SMALL, MPI_CHAR, MPI_COMM_WORLD);
    /* Not used below the root: the call is one of real buffers. */
    fill();
    MPI_Gather(real, 1, MPI_CHAR, rank ? hollow : again, 1, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < size && rank == 0; i++)
        CHECK(again[i] == MARK);
    again[0] = again[1] = again[2] = again[3] = 0;
    MPI_Op_free(&op);
}

/* A window on a hollow base; hollow origins and results. */
static void windows(void)
{
    MPI_Win bare, memory;
    long zero = 0, *slot = (long *)again;
    int to = (rank + 1) % size;

    MPI_Win_create(hollow, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bare);
    MPI_Win_create(again, LARGE, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory);
    fill();
    MPI_Win_lock_all(0, bare);
    MPI_Win_lock_all(0, memory);
    MPI_Put(real, LARGE, MPI_CHAR, to, 0, LARGE, MPI_CHAR, bare);
    MPI_Win_flush(to, bare);
    if (check_virtual()) {
        MPI_Get(real, SMALL, MPI_CHAR, to, 1, SMALL, MPI_CHAR, bare);
        MPI_Accumulate(hollow, 4, MPI_LONG, to, 0, 4, MPI_LONG, MPI_SUM, memory);
        MPI_Fetch_and_op(hollow, hollow, MPI_LONG, to, 1, MPI_SUM, memory);
        MPI_Compare_and_swap(&zero, hollow, hollow, MPI_LONG, to, 2, memory);
        MPI_Compare_and_swap(&zero, &zero, hollow, MPI_LONG, to, 2, bare);
        MPI_Get_accumulate(hollow, 4, MPI_LONG, hollow, 4, MPI_LONG, to, 3, 4, MPI_LONG,
                           MPI_REPLACE, memory);
        MPI_Get(hollow, 4, MPI_LONG, to, 3, 4, MPI_LONG, memory);
    }
    MPI_Win_unlock_all(bare);
    MPI_Win_unlock_all(memory);
    CHECK(real[0] == MARK && real[SMALL - 1] == MARK);
    MPI_Win_free(&bare);
    MPI_Win_free(&memory);
    for (int i = 0; i < 8; i++)
        CHECK(slot[i] == 0);
}

/* Packing leaves the other side as it is; files refuse. */
static void others(void)
{
    MPI_File file;
    int position = 0, class = MPI_SUCCESS;

    fill();
    MPI_Pack(hollow, SMALL, MPI_CHAR, real, LARGE, &position, MPI_COMM_WORLD);
    CHECK(position == SMALL && (!check_virtual() || real[0] == MARK));
    position = 0;
    MPI_Unpack(real, LARGE, &position, hollow, SMALL, MPI_CHAR, MPI_COMM_WORLD);
    CHECK(position == SMALL);
    if (!check_virtual())
        return;
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Error_class(MPI_File_write_at(file, 0, hollow, 8, MPI_CHAR, MPI_STATUS_IGNORE), &class);
    CHECK(class == MPI_ERR_BUFFER);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    static char attached[LARGE + MPI_BSEND_OVERHEAD];

    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    hollow = orrery_hollow ? orrery_hollow() : NULL;
    CHECK(check_virtual() == (hollow != NULL));
    if (!hollow)
        hollow = (char *)calloc(1, 2 * LARGE) + LARGE / 2;
    if (check_virtual()) /* needs no room in an attached buffer */
        modes(SMALL);
    MPI_Buffer_attach(attached, sizeof attached);
    modes(SMALL);
    modes(LARGE);
    check_ok("modes");
    types();
    check_ok("types");
    if (check_virtual())
        partitioned();
    check_ok("partitions");
    collectives();
    check_ok("collectives");
    windows();
    check_ok("windows");
    others();
    check_ok("others");
    MPI_Finalize();
    return 0;
}
