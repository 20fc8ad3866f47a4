/*
 * Random one-sided programs: every kind of epoch and operation, files with a shared pointer,
 * messages of a rank to itself, beside non-blocking collectives. Each rank prints what it has
 * fetched and when: both depend on the order in which agents serve their rank, to the last
 * picosecond.
 *
 *     onesided SEED [spawn]     spawn: with ranks that come later
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void orrery_compute(double seconds) __attribute__((weak));

#define ROUNDS 6
#define LARGE 5000 /* longs: above the eager limit */
#define TASKS 40

/* The window of a rank: a counter, a sum, a word to swap, then a slot for each origin. */
enum { COUNTER, SUM, WORD, SLOTS };

static int rank, size;
static uint64_t common, own, found;
static long *memory, large[LARGE];
static MPI_Win win;

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
}

static void note(long value)
{
    double now = MPI_Wtime();
    uint64_t bits;

    memcpy(&bits, &now, sizeof bits);
    found = (found ^ (uint64_t)value ^ bits) * 1099511628211u;
}

/* Often the rank itself. */
static int someone(void)
{
    return draw(&own, 3) == 0 ? rank : (int)draw(&own, (uint64_t)size);
}

/* An operation whose result, if there is one, comes with the next synchronisation. */
static void operate(int target, long *result)
{
    static long one = 1, two = 2;
    long compare = (long)draw(&own, 4), next = compare + 1;

    switch (draw(&own, 8)) {
    case 0:
        MPI_Put(&two, 1, MPI_LONG, target, SLOTS + rank, 1, MPI_LONG, win);
        break;
    case 1:
        MPI_Get(result, 1, MPI_LONG, target, SLOTS + rank, 1, MPI_LONG, win);
        break;
    case 2:
        MPI_Accumulate(&two, 1, MPI_LONG, target, SUM, 1, MPI_LONG, MPI_SUM, win);
        break;
    case 3:
        MPI_Get_accumulate(&two, 1, MPI_LONG, result, 1, MPI_LONG, target, SUM, 1, MPI_LONG,
                           MPI_SUM, win);
        break;
    case 4:
        MPI_Compare_and_swap(&next, &compare, result, MPI_LONG, target, WORD, win);
        MPI_Win_flush_local(target, win); /* its arguments are on the stack */
        break;
    case 5:
        MPI_Get_accumulate(NULL, 0, MPI_LONG, result, 1, MPI_LONG, target, SUM, 1, MPI_LONG,
                           MPI_NO_OP, win);
        break;
    default:
        MPI_Fetch_and_op(&one, result, MPI_LONG, target, COUNTER, MPI_SUM, win);
    }
}

static void locks(void)
{
    for (int i = 0; i < 8; i++) {
        int target = someone(), mode = draw(&own, 2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
        long result = 0;

        MPI_Win_lock(mode, target, 0, win);
        operate(target, &result);
        if (draw(&own, 2))
            MPI_Win_flush(target, win);
        operate(target, &result);
        MPI_Win_unlock(target, win);
        note(result);
    }
}

/* Ranks take tasks from a common counter. */
static void tasks(void)
{
    int owner = (int)draw(&common, (uint64_t)size), mine = 0;
    long one = 1, task = 0;

    if (rank == owner)
        memory[COUNTER] = 0;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (;; mine++) {
        MPI_Fetch_and_op(&one, &task, MPI_LONG, owner, COUNTER, MPI_SUM, win);
        if (draw(&own, 2))
            MPI_Win_flush(owner, win);
        else
            MPI_Win_flush_all(win);
        note(task);
        if (task >= TASKS)
            break;
        orrery_compute(1e-7 * (double)draw(&own, 20));
    }
    MPI_Win_unlock_all(win);
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (mine != TASKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
}

static void requests(void)
{
    MPI_Request r[6];
    long results[6] = {0}, two = 2;

    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 6; i++) {
        int target = someone();

        switch (draw(&own, 4)) {
        case 0:
            MPI_Rput(&two, 1, MPI_LONG, target, SLOTS + rank, 1, MPI_LONG, win, &r[i]);
            break;
        case 1:
            MPI_Rget(&results[i], 1, MPI_LONG, target, SLOTS + rank, 1, MPI_LONG, win, &r[i]);
            break;
        case 2:
            MPI_Raccumulate(&two, 1, MPI_LONG, target, SUM, 1, MPI_LONG, MPI_SUM, win, &r[i]);
            break;
        default:
            MPI_Rget_accumulate(&two, 1, MPI_LONG, &results[i], 1, MPI_LONG, target, SUM, 1,
                                MPI_LONG, MPI_SUM, win, &r[i]);
        }
    }
    for (int i = 0, which = 0; i < 6; i++) {
        MPI_Waitany(6, r, &which, MPI_STATUS_IGNORE);
        note(which);
    }
    MPI_Win_flush_local_all(win);
    MPI_Win_unlock_all(win);
    for (int i = 0; i < 6; i++)
        note(results[i]);
}

static void fences(void)
{
    long results[6] = {0}, two = 2;

    MPI_Win_fence(0, win);
    for (int i = 0; i < 6; i++)
        MPI_Get_accumulate(&two, 1, MPI_LONG, &results[i], 1, MPI_LONG, someone(), SUM, 1, MPI_LONG,
                           MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 6; i++)
        note(results[i]);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

/* Each rank lets its neighbour, and itself, access its window. */
static void neighbours(void)
{
    int to[2] = {(rank + 1) % size, rank}, from[2] = {(rank + size - 1) % size, rank}, flag = 0;
    MPI_Group world, targets, origins;
    long results[2] = {0}, two = 2;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, size > 1 ? 2 : 1, to, &targets);
    MPI_Group_incl(world, size > 1 ? 2 : 1, from, &origins);
    MPI_Win_post(origins, 0, win);
    MPI_Win_start(targets, 0, win);
    for (int i = 0; i < 2; i++)
        MPI_Get_accumulate(&two, 1, MPI_LONG, &results[i], 1, MPI_LONG, to[i], SUM, 1, MPI_LONG,
                           MPI_SUM, win);
    MPI_Win_complete(win);
    while (!flag && draw(&own, 3))
        MPI_Win_test(win, &flag);
    if (!flag)
        MPI_Win_wait(win);
    note(results[0]);
    note(results[1]);
    MPI_Group_free(&targets);
    MPI_Group_free(&origins);
    MPI_Group_free(&world);
}

/* Messages to itself, and what depends on them at others. */
static void itself(void)
{
    int count = draw(&common, 2) ? LARGE : 1, right = (rank + 1) % size;
    long got;
    MPI_Request r[2];
    MPI_Status status;

    for (int i = 0; i < 3; i++) {
        MPI_Isend(large, count, MPI_LONG, rank, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Recv(large, count, MPI_LONG, rank, 1, MPI_COMM_WORLD, &status);
        MPI_Isend(&rank, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &r[1]);
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        note(status.MPI_SOURCE);
    }
}

/* A file whose shared pointer a rank's agent holds. */
static void file(void)
{
    MPI_File f;
    MPI_Offset at;
    int number = rank;

    MPI_File_open(MPI_COMM_WORLD, "onesided.data",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    for (int i = 0; i < 3; i++) {
        orrery_compute(1e-7 * (double)draw(&own, 20));
        MPI_File_write_shared(f, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_get_position_shared(f, &at);
        note((long)at);
    }
    MPI_File_close(&f);
}

/* Operations while a collective is in flight; a strand drives it. */
static void beside(void)
{
    long sum = rank, all, result = 0;
    MPI_Request r;

    MPI_Iallreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 4; i++) {
        int target = someone();

        operate(target, &result);
        MPI_Win_flush(target, win);
        note(result);
    }
    MPI_Win_unlock_all(win);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    note(all);
}

/* Parents and children talk; ranks that come later share nodes with others. */
static void talk(MPI_Comm others)
{
    int peers, got = 0;

    MPI_Comm_remote_size(others, &peers);
    for (int i = 0; i < 10; i++) {
        MPI_Request r[64];
        MPI_Status status;

        for (int k = 0; k < peers; k++)
            MPI_Isend(&rank, 1, MPI_INT, (rank + k) % peers, 3, others, &r[k]);
        for (int k = 0; k < peers; k++) {
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, others, &status);
            note(status.MPI_SOURCE);
            orrery_compute(1e-7 * (double)draw(&own, 9));
        }
        MPI_Waitall(peers, r, MPI_STATUSES_IGNORE);
    }
}

static void epoch(void)
{
    static void (*const kinds[])(void) = {locks,      tasks,  requests, fences,
                                          neighbours, itself, file,     beside};

    kinds[draw(&common, sizeof kinds / sizeof kinds[0])]();
}

int main(int argc, char **argv)
{
    MPI_Comm parent = MPI_COMM_NULL;
    const char *who = "rank";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    common = strtoull(argv[1], NULL, 10);
    own = common * 1000003 + (uint64_t)rank;
    if (argc > 2)
        MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        who = "child";
        talk(parent);
    } else if (argc > 2) {
        MPI_Comm_spawn(argv[0], argv + 1, size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent,
                       MPI_ERRCODES_IGNORE);
        talk(parent);
    }
    MPI_Win_allocate((SLOTS + size) * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, (size_t)(SLOTS + size) * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; i++) {
        epoch();
        printf("%s %d round %d: %016llx\n", who, rank, i, (unsigned long long)found);
        if (draw(&common, 2))
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
