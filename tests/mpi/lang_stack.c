/* test: n=1,2,5,16,300 native=4
 * What lives on the stack survives a blocking call: frames of deep recursion, alloca and variable
 * arrays, jumps out of frames that have blocked, and callbacks of libc that block. */
#include "check.h"

#include <alloca.h>
#include <setjmp.h>

static int depth_sum(int level, int rank)
{
    volatile int mark[8];
    for (int i = 0; i < 8; i++)
        mark[i] = rank * 1000 + level * 8 + i;
    int all = 0, one = 1;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int below = level > 0 ? depth_sum(level - 1, rank) : 0;
    if (level % 10 == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 8; i++)
        CHECK(mark[i] == rank * 1000 + level * 8 + i);
    return below + all;
}

static void large_frames(int rank, int largest)
{
    for (int kib = 1; kib <= largest; kib *= 4) {
        size_t length = (size_t)kib * 1024 / sizeof(int);
        int *block = (int *)alloca(length * sizeof(int));
        int array[length];
        for (size_t i = 0; i < length; i++) {
            block[i] = (int)i + rank;
            array[i] = (int)i - rank;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (size_t i = 0; i < length; i++)
            CHECK(block[i] == (int)i + rank && array[i] == (int)i - rank);
    }
}

static jmp_buf back;

static void jump_from(int level, int value)
{
    char frame[300];
    memset(frame, value, sizeof frame);
    MPI_Barrier(MPI_COMM_WORLD);
    if (level > 0)
        jump_from(level - 1, value);
    else if (value != 0)
        longjmp(back, value + frame[0] - frame[299]);
}

static void jumps(int rank)
{
    volatile int rounds = 0;
    int value = setjmp(back);
    CHECK(value == (rounds ? rank % 50 + 1 : 0));
    MPI_Barrier(MPI_COMM_WORLD);
    rounds = rounds + 1;
    if (rounds <= 3)
        jump_from(rounds, rank % 50 + 1);
    CHECK(rounds == 4);
}

static int sign;

/* All ranks sort the same keys, so they call this equally often. */
static int compare(const void *left, const void *right)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const int *a = (const int *)left, *b = (const int *)right;
    return a[0] < b[0] ? -1 : a[0] > b[0];
}

static void sorted(int rank)
{
    int items[16][2];
    sign = rank + 1;
    for (int i = 0; i < 16; i++) {
        items[i][0] = i * 7 % 16;
        items[i][1] = items[i][0] * sign;
    }
    qsort(items, 16, sizeof items[0], compare);
    for (int i = 0; i < 16; i++)
        CHECK(items[i][0] == i && items[i][1] == i * (rank + 1));
    int key = 9, (*found)[2] = (int(*)[2])bsearch(&key, items, 16, sizeof items[0], compare);
    CHECK(found == &items[9] && sign == rank + 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = check_rank(), size = check_size();
    CHECK(depth_sum(60, rank) == 61 * size);
    check_ok("recursion");
    large_frames(rank, size > 100 ? 16 : 512);
    check_ok("large frames");
    jumps(rank);
    check_ok("longjmp");
    sorted(rank);
    check_ok("callbacks");
    MPI_Finalize();
    return 0;
}
