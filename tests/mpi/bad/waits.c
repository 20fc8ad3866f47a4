/* Known waiting: argv[1] says where. Mostly rank 1 computes 10 ms in each of 10 steps, and the
 * others compute nothing. */
#include <mpi.h>
#include <orrery.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 10

static int rank, size;
static const char *program;

/* Neighbours in a ring. */
static int left(void)
{
    return (rank + size - 1) % size;
}

static int right(void)
{
    return (rank + 1) % size;
}

static void step(void)
{
    if (rank == 1)
        orrery_compute(0.010);
}

static void neighbours(void)
{
    int periodic = 1, send[2] = {0}, receive[2];
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    for (int k = 0; k < STEPS; k++) {
        step();
        MPI_Neighbor_alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, ring);
    }
    MPI_Comm_free(&ring);
}

/* Each rank sends to the next one: only that waits for rank 1, then the next for that one. */
static void directed(void)
{
    int from = left(), to = right(), send = 0, receive;
    MPI_Comm ring;
    MPI_Request request;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &ring);
    for (int k = 0; k < STEPS; k++) {
        step();
        MPI_Ineighbor_allgather(&send, 1, MPI_INT, &receive, 1, MPI_INT, ring, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&ring);
}

static void fence(void)
{
    int *memory, value = rank;
    MPI_Win other, win;
    MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &other);
    MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    for (int k = 0; k < STEPS; k++) {
        step();
        MPI_Put(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win);
    MPI_Win_free(&other);
}

/* ---- general active target ---- */

/* The group of rank 1, or of all others. */
static MPI_Group group_of(int is_one)
{
    int one = 1;
    MPI_Group world, group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (is_one)
        MPI_Group_incl(world, 1, &one, &group);
    else
        MPI_Group_excl(world, 1, &one, &group);
    MPI_Group_free(&world);
    return group;
}

/* All others access rank 1, which posts late. */
static void post(void)
{
    int memory = 0;
    MPI_Win win;
    MPI_Group group = group_of(rank != 1);
    MPI_Win_create(&memory, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int k = 0; k < STEPS; k++) {
        step();
        if (rank == 1) {
            MPI_Win_post(group, 0, win);
            MPI_Win_wait(win);
        } else {
            MPI_Win_start(group, 0, win);
            if (rank == 0)
                MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
            MPI_Win_complete(win);
        }
    }
    MPI_Group_free(&group);
    MPI_Win_free(&win);
}

/* Rank 1 accesses all others: it puts after 4 ms, and completes after another 6 ms. */
static void complete(void)
{
    int memory = 0;
    MPI_Win win;
    MPI_Group group = group_of(rank != 1);
    MPI_Win_create(&memory, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int k = 0; k < STEPS; k++) {
        if (rank == 1) {
            MPI_Win_start(group, 0, win);
            orrery_compute(0.004);
            for (int i = 0; i < size; i++)
                if (i != 1)
                    MPI_Put(&rank, 1, MPI_INT, i, 0, 1, MPI_INT, win);
            orrery_compute(0.006);
            MPI_Win_complete(win);
        } else {
            MPI_Win_post(group, 0, win);
            MPI_Win_wait(win);
        }
    }
    MPI_Group_free(&group);
    MPI_Win_free(&win);
}

/* ---- passive target ---- */

/* All ranks compute while they have the same lock: one after the other. */
static void lock(void)
{
    int memory = 0;
    MPI_Win win;
    MPI_Win_create(&memory, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int k = 0; k < STEPS; k++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        orrery_compute(0.010);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

/* Rank 1 has the lock of rank 0 for 10 ms. After 1 ms rank 2 wants to share it, and rank 3 accesses
 * rank 0 having locked all ranks. */
static void shared(void)
{
    int memory = 0;
    MPI_Win win;
    MPI_Win_create(&memory, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int k = 0; k < STEPS; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            orrery_compute(0.010);
            MPI_Win_unlock(0, win);
            continue;
        }
        orrery_compute(rank == 0 ? 0.010 : 0.001);
        if (rank == 2) {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            MPI_Win_unlock(0, win);
        } else if (rank == 3) {
            MPI_Win_lock_all(0, win);
            MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
            MPI_Win_unlock_all(win);
        }
    }
    MPI_Win_free(&win);
}

/* ---- making and freeing ---- */

static void make(void)
{
    MPI_Comm made;
    for (int k = 0; k < STEPS; k++) {
        step();
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made);
        MPI_Comm_free(&made);
    }
}

static void window(void)
{
    int memory;
    MPI_Win win;
    for (int k = 0; k < STEPS; k++) {
        step();
        MPI_Win_create(&memory, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        step();
        MPI_Win_free(&win);
    }
}

/* Only the members of the group wait for each other: rank 2 for rank 1. */
static void group(void)
{
    int members[] = {1, 2};
    MPI_Group world, two;
    MPI_Comm made;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, members, &two);
    for (int k = 0; k < STEPS; k++) {
        step();
        if (rank == 1 || rank == 2) {
            MPI_Comm_create_group(MPI_COMM_WORLD, two, 0, &made);
            MPI_Comm_free(&made);
        }
    }
    MPI_Group_free(&two);
    MPI_Group_free(&world);
}

/* Two more ranks, of which the second computes 20 ms before all meet. */
static void spawn(void)
{
    MPI_Comm parent, children;
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        char *arguments[] = {"spawn", NULL};
        step();
        MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
        MPI_Barrier(children);
        MPI_Comm_disconnect(&children);
    } else {
        orrery_compute(rank == 1 ? 0.020 : 0);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Barrier(parent);
        MPI_Comm_disconnect(&parent);
    }
}

/* ---- non-blocking and partitioned ---- */

/* The others compute 4 ms between the start of a collective and the wait for it. */
static void icollective(void)
{
    int mine = 1, sum;
    MPI_Request request[2];
    MPI_Status statuses[2];
    for (int k = 0; k < STEPS; k++) {
        step();
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[0]);
        MPI_Ibcast(&mine, 1, MPI_INT, 1, MPI_COMM_WORLD, &request[1]);
        if (rank != 1)
            orrery_compute(0.004);
        MPI_Waitall(2, request, statuses);
    }
}

/* Rank 1 sends a message in five parts, each ready after another 2 ms, the third and fourth
 * together. Rank 2 waits for it. */
static void parts(void)
{
    int data[5] = {0}, later[] = {3, 2};
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 1)
        MPI_Psend_init(data, 5, 1, MPI_INT, 2, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else if (rank == 2)
        MPI_Precv_init(data, 5, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int k = 0; k < STEPS && (rank == 1 || rank == 2); k++) {
        MPI_Start(&request);
        if (rank == 1) {
            orrery_compute(0.002);
            MPI_Pready(4, request);
            orrery_compute(0.002);
            MPI_Pready_range(0, 1, request);
            orrery_compute(0.006);
            MPI_Pready_list(2, later, request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
}

/* Two messages with one tag: they belong to the receives that were made in the same order, though
 * the second one is ready 10 ms before the first one. */
static void partners(void)
{
    int data[2] = {0};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    if (rank != 1 && rank != 2)
        return;
    for (int i = 0; i < 2 && rank == 1; i++)
        MPI_Psend_init(&data[i], 1, 1, MPI_INT, 2, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    for (int i = 0; i < 2 && rank == 2; i++)
        MPI_Precv_init(&data[i], 1, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    for (int k = 0; k < STEPS; k++) {
        MPI_Startall(2, requests);
        if (rank == 1) {
            MPI_Pready(0, requests[1]);
            step();
            MPI_Pready(0, requests[0]);
            MPI_Waitall(2, requests, statuses);
        } else {
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        }
    }
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&requests[i]);
}

/* ---- of some of the ranks ---- */

/* Ranks 0 and 1 exchange something, and so do 2 and 3, which computes longer than rank 1: rank 0
 * does not wait for that. In the end it computes until 3 is there, and 1 ms more. */
static void some(void)
{
    int counts[4] = {0}, displacements[4] = {0}, mine = 0, other;
    counts[rank ^ 1] = 1;
    for (int k = 0; k < STEPS; k++) {
        step();
        orrery_compute(rank == 3 ? 0.0203 : 0);
        MPI_Alltoallv(&mine, counts, displacements, MPI_INT, &other, counts, displacements, MPI_INT,
                      MPI_COMM_WORLD);
    }
    orrery_compute(rank == 0 ? 0.104 : 0);
}

/* Rank 1 is the first of its group, for which rank 0 waits, and so does rank 3, the first of the
 * other group. Nobody waits for rank 2; when it is there, rank 0 computes 1 ms more. */
static void merge(void)
{
    MPI_Comm half, both, all;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 3 : 1, 7, &both);
    step();
    orrery_compute(rank == 2 ? 0.020 : 0);
    MPI_Intercomm_merge(both, rank / 2, &all);
    orrery_compute(rank == 0 ? 0.011 : 0);
}

/* Ranks 2 and 3 send to rank 0, and rank 1, which is in its group, takes no part. */
static void idle(void)
{
    int mine = 1, sum, root = rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0;
    MPI_Comm half, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 7, &both);
    for (int k = 0; k < STEPS; k++) {
        step();
        orrery_compute(rank == 3 ? 0.004 : 0);
        MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, both);
    }
    orrery_compute(rank == 0 ? 0.061 : 0);
}

/* ---- files ---- */

static void file(void)
{
    char byte = 0;
    MPI_File f;
    step();
    MPI_File_open(MPI_COMM_WORLD, "waits.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    for (int k = 0; k < STEPS - 1; k++) {
        MPI_Offset at = rank;
        MPI_Request request;
        step();
        if (k % 3 == 0) {
            MPI_File_write_at_all(f, at, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE);
        } else if (k % 3 == 1) {
            MPI_File_write_at_all_begin(f, at, &byte, 1, MPI_CHAR);
            MPI_File_write_at_all_end(f, &byte, MPI_STATUS_IGNORE);
        } else {
            MPI_File_iwrite_at_all(f, at, &byte, 1, MPI_CHAR, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    MPI_File_close(&f);
}

/* Nobody waits for rank 2 where all write, but all do when they close the file: ranks 0 and 1 for
 * 10 ms, of which rank 2 has lost all before it wrote; rank 3 for 4 ms. */
static void written(void)
{
    char byte = 0;
    MPI_File f;
    MPI_Request request;
    MPI_File_open(MPI_COMM_WORLD, "waits.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    orrery_compute(rank == 2 ? 0.010 : 0);
    MPI_File_write_at_all(f, rank, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    orrery_compute(rank == 3 ? 0.010 : 0);
    MPI_File_iread_at_all(f, rank, &byte, 1, MPI_CHAR, &request);
    orrery_compute(rank == 3 ? 0 : 0.004);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
}

/* In order of ranks: the higher ones wait for rank 1, and then all do. */
static void ordered(void)
{
    char byte = 0;
    MPI_File f;
    MPI_File_open(MPI_COMM_WORLD, "waits.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    for (int k = 0; k < STEPS; k++) {
        step();
        MPI_File_write_ordered(f, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&f);
}

/* Some MPIs wait for others in the first half of a split collective. */
static void begun(void)
{
    char byte = 0;
    MPI_File f;
    MPI_File_open(MPI_COMM_WORLD, "waits.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    for (int k = 0; k < STEPS; k++) {
        step();
        MPI_File_write_ordered_begin(f, &byte, 1, MPI_CHAR);
        orrery_compute(0.001);
        MPI_File_write_ordered_end(f, &byte, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&f);
}

/* Nobody waits for anybody: a file takes time. */
static void alone(void)
{
    static char data[1000000];
    MPI_File f;
    orrery_compute(0.010);
    MPI_File_open(MPI_COMM_SELF, "waits.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_write_at(f, 0, data, sizeof data, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"neighbours", neighbours},
    {"directed", directed},
    {"fence", fence},
    {"post", post},
    {"complete", complete},
    {"lock", lock},
    {"shared", shared},
    {"make", make},
    {"window", window},
    {"group", group},
    {"spawn", spawn},
    {"icollective", icollective},
    {"parts", parts},
    {"partners", partners},
    {"some", some},
    {"merge", merge},
    {"idle", idle},
    {"file", file},
    {"written", written},
    {"ordered", ordered},
    {"begun", begun},
    {"alone", alone},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    program = argv[0];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            modes[i].run();
    MPI_Finalize();
    return 0;
}
