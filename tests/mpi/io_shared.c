/* test: n=1,2,5,16 native=4 args="{tmp}/shared.dat" schedules=20 run="--set net.latency=3us"
 * Shared file pointers: every record is written and read once, by someone; ordered accesses are in
 * order of ranks; seeking and asking; the same with views and non-blocking. */
#include "check.h"

#define RECORDS 6

struct record {
    int writer, number, check, pad;
};

static int rank, size;

static MPI_File must_open(const char *name)
{
    MPI_File f;

    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f) ==
          MPI_SUCCESS);
    return f;
}

static void settle(MPI_File f)
{
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(f);
}

static struct record make(int number)
{
    return (struct record){rank, number, rank * 1000 + number, 7};
}

/* Reads the whole file: each record is there once, those of one writer in order. */
static void check_all(MPI_File f, int each)
{
    int total = each * size, *next = calloc((size_t)size, sizeof *next);
    struct record *all = malloc((size_t)total * sizeof *all);

    CHECK(MPI_File_read_at(f, 0, all, total * 4, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < total; i++) {
        CHECK(all[i].writer >= 0 && all[i].writer < size);
        CHECK(all[i].number == next[all[i].writer]++);
        CHECK(all[i].check == all[i].writer * 1000 + all[i].number && all[i].pad == 7);
    }
    for (int r = 0; r < size; r++)
        CHECK(next[r] == each);
    if (rank == 0 && check_virtual()) {
        printf("virtual: order");
        for (int i = 0; i < total; i++)
            printf(" %d", all[i].writer);
        printf("\n");
    }
    free(all);
    free(next);
}

static void scramble(const char *name)
{
    MPI_File f = must_open(name);
    MPI_Offset at;
    struct record r;
    int mine = 0, all;

    for (int i = 0; i < RECORDS; i++) {
        r = make(i);
        check_spend((rank * 7 + i * 5) % 11 * 1e-4);
        CHECK(MPI_File_write_shared(f, &r, 4, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    settle(f);
    MPI_File_get_position_shared(f, &at);
    CHECK(at == (MPI_Offset)(size * RECORDS * sizeof r));
    check_all(f, RECORDS);
    MPI_Barrier(MPI_COMM_WORLD);
    /* each record is read once */
    CHECK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET) == MPI_SUCCESS);
    for (int i = 0; i < RECORDS; i++) {
        MPI_Status status;
        int n;

        check_spend((rank * 3 + i) % 5 * 1e-4);
        CHECK(MPI_File_read_shared(f, &r, 4, MPI_INT, &status) == MPI_SUCCESS);
        MPI_Get_count(&status, MPI_INT, &n);
        CHECK(n == 4);
        mine += r.check;
    }
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == RECORDS * 1000 * (size * (size - 1) / 2) + size * (RECORDS * (RECORDS - 1) / 2));
    MPI_File_close(&f);
}

static void ordered(const char *name)
{
    MPI_File f = must_open(name);
    int data[64], got[64], before = 0;
    MPI_Offset at;

    CHECK(MPI_File_set_size(f, 0) == MPI_SUCCESS);
    CHECK(MPI_File_set_view(f, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    for (int round = 0; round < 3; round++) {
        int n = (rank + round) % 5, total = 0;

        before = 0;
        for (int r = 0; r < size; r++) {
            before += r < rank ? (r + round) % 5 : 0;
            total += (r + round) % 5;
        }
        for (int i = 0; i < n; i++)
            data[i] = round * 10000 + before + i;
        check_spend((size - rank) * 1e-4);
        CHECK(MPI_File_write_ordered(f, data, n, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        MPI_File_get_position_shared(f, &at);
        settle(f);
        MPI_File_seek_shared(f, -total, MPI_SEEK_CUR);
        CHECK(MPI_File_read_ordered_begin(f, got, n, MPI_INT) == MPI_SUCCESS);
        CHECK(MPI_File_read_ordered_end(f, got, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        for (int i = 0; i < n; i++)
            CHECK(got[i] == data[i]);
        settle(f);
    }
    CHECK(MPI_File_seek_shared(f, -1, MPI_SEEK_END) == MPI_SUCCESS);
    MPI_File_get_position_shared(f, &at);
    MPI_Offset bytes;
    MPI_File_get_size(f, &bytes);
    CHECK(at == (bytes - 8) / 4 - 1);
    MPI_File_close(&f);
}

static void nonblocking(const char *name)
{
    MPI_File f = must_open(name);
    struct record r[RECORDS];
    MPI_Request q[RECORDS];
    MPI_Status status[RECORDS];

    CHECK(MPI_File_set_size(f, 0) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < RECORDS; i++) {
        r[i] = make(i);
        CHECK(MPI_File_iwrite_shared(f, &r[i], 4, MPI_INT, &q[i]) == MPI_SUCCESS);
        check_spend((rank + i) % 3 * 1e-5);
        if (i % 2)
            MPI_Waitall(2, q + i - 1, status);
        int n;
        if (i % 2) {
            MPI_Get_count(&status[1], MPI_INT, &n);
            CHECK(n == 4);
        }
    }
    settle(f);
    check_all(f, RECORDS);
    MPI_File_close(&f);
    if (rank == 0)
        CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    scramble(argv[1]);
    ordered(argv[1]);
    nonblocking(argv[1]);
    check_ok("shared");
    MPI_Finalize();
    return 0;
}
