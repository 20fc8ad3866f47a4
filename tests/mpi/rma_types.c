/*
 * Derived datatypes at both sides, nested and with negative strides; accumulates on them; pairs.
 *
 * test: n=1,2,5,16 schedules=20
 */
#include <stddef.h>

#include "check.h"

struct record {
    char tag;
    double value;
    int many[3];
};

struct pair {
    double value;
    int at;
};

static double matrix[10][10];
static struct record records[6];
static struct pair pairs[5];

static MPI_Datatype committed(MPI_Datatype t)
{
    MPI_Type_commit(&t);
    return t;
}

/* A column of the neighbour's matrix becomes a row here, a block a block; then sums into blocks. */
static void blocks(int me, int n)
{
    int to = (me + 1) % n, from = (me + n - 1) % n;
    int sizes[2] = {10, 10}, sub[2] = {3, 4}, at[2] = {5, 2};
    double row[10], block[12], many[15];
    MPI_Datatype column, backward, inner, upside_down;
    MPI_Win win;

    for (int i = 0; i < 10; i++)
        for (int k = 0; k < 10; k++)
            matrix[i][k] = 1000 * me + 10 * i + k;
    MPI_Type_vector(10, 1, 10, MPI_DOUBLE, &column);
    column = committed(column);
    MPI_Type_vector(5, 1, -2, MPI_DOUBLE, &backward);
    backward = committed(backward);
    MPI_Type_create_subarray(2, sizes, sub, at, MPI_ORDER_C, MPI_DOUBLE, &inner);
    inner = committed(inner);
    MPI_Type_create_hvector(3, 1, -20 * (MPI_Aint)sizeof(double), backward, &upside_down);
    upside_down = committed(upside_down);
    MPI_Win_create(matrix, sizeof matrix, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Get(row, 10, MPI_DOUBLE, to, 3, 1, column, win);
    MPI_Get(block, 12, MPI_DOUBLE, to, 0, 1, inner, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 10; i++)
        CHECK(row[i] == 1000 * to + 10 * i + 3);
    for (int i = 0; i < 12; i++)
        CHECK(block[i] == 1000 * to + 10 * (5 + i / 4) + 2 + i % 4);
    MPI_Accumulate(block, 12, MPI_DOUBLE, to, 0, 1, inner, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 12; i++)
        CHECK(matrix[5 + i / 4][2 + i % 4] == 2 * (1000 * me + 10 * (5 + i / 4) + 2 + i % 4));
    for (int i = 0; i < 10; i++)
        row[i] = 0.5 * i + me;
    for (int i = 0; i < 15; i++)
        many[i] = i - me;
    MPI_Win_fence(0, win);
    MPI_Put(row, 1, column, MPI_PROC_NULL, 0, 1, column, win);
    MPI_Put(row, 5, MPI_DOUBLE, to, 18, 1, backward, win);
    MPI_Put(many, 15, MPI_DOUBLE, to, 88, 1, upside_down, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 5; i++)
        CHECK(matrix[1][8 - 2 * i] == 0.5 * i + from);
    for (int i = 0; i < 15; i++)
        CHECK(matrix[8 - 2 * (i / 5)][8 - 2 * (i % 5)] == i - from);
    MPI_Win_fence(0, win); /* all have looked */
    MPI_Put(block, 12, MPI_DOUBLE, to, 66, 12, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    CHECK(matrix[6][6] == 1000 * me + 52 && matrix[7][7] == 1000 * me + 75);
    MPI_Win_free(&win);
    MPI_Type_free(&column);
    MPI_Type_free(&backward);
    MPI_Type_free(&inner);
    MPI_Type_free(&upside_down);
    check_ok("blocks");
}

/* Records with gaps, all of them or every second one. */
static void structs(int me, int n)
{
    int lengths[3] = {1, 1, 3}, to = (me + 1) % n, from = (me + n - 1) % n;
    MPI_Aint at[3] = {offsetof(struct record, tag), offsetof(struct record, value),
                      offsetof(struct record, many)};
    MPI_Datatype kinds[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, plain, record, second;
    struct record mine[3];
    MPI_Win win;

    memset(mine, 0, sizeof mine);
    for (int i = 0; i < 3; i++)
        mine[i] = (struct record){(char)('a' + i), me + 0.25 * i, {me, i, me * i}};
    MPI_Type_create_struct(3, lengths, at, kinds, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(struct record), &record);
    record = committed(record);
    MPI_Type_vector(3, 1, 2, record, &second);
    second = committed(second);
    memset(records, 0x55, sizeof records);
    MPI_Win_create(records, sizeof records, sizeof(struct record), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_fence(0, win);
    MPI_Put(mine, 3, record, to, 1, 1, second, win);
    MPI_Type_free(&second);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3; i++) {
        const struct record *r = &records[1 + 2 * i];

        CHECK(r->tag == 'a' + i && r->value == from + 0.25 * i);
        CHECK(r->many[0] == from && r->many[1] == i && r->many[2] == from * i);
        CHECK(records[2 * i].tag == 0x55);
    }
    MPI_Win_free(&win);
    MPI_Type_free(&plain);
    MPI_Type_free(&record);
    check_ok("structs");
}

/* The largest value of all and whose it is; every second pair by a derived type. */
static void locations(int me, int n)
{
    struct pair mine[3], old;
    MPI_Datatype second;
    MPI_Win win;

    memset(mine, 0, sizeof mine);
    memset(pairs, 0, sizeof pairs);
    for (int i = 0; i < 5; i++)
        pairs[i] = (struct pair){-1, -1};
    for (int i = 0; i < 3; i++)
        mine[i] = (struct pair){(me * 5 + i) % n, me};
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE_INT, &second);
    second = committed(second);
    MPI_Win_create(pairs, sizeof pairs, sizeof(struct pair), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(mine, 3, MPI_DOUBLE_INT, 0, 0, 1, second, MPI_MAXLOC, win);
    MPI_Win_fence(0, win);
    if (me == 0)
        for (int i = 0; i < 5; i++) {
            int best = -1, whose = -1;

            for (int r = 0; r < n && i % 2 == 0; r++)
                if ((r * 5 + i / 2) % n > best) {
                    best = (r * 5 + i / 2) % n;
                    whose = r;
                }
            CHECK(pairs[i].value == best && pairs[i].at == whose);
        }
    MPI_Win_fence(0, win);
    mine[0].value = -5;
    memset(&old, 0, sizeof old);
    MPI_Get_accumulate(mine, 1, MPI_DOUBLE_INT, &old, 1, MPI_DOUBLE_INT, me, 1, 1, MPI_DOUBLE_INT,
                       MPI_MINLOC, win);
    MPI_Win_fence(0, win);
    CHECK(old.value == -1 && old.at == -1 && pairs[1].value == -5 && pairs[1].at == me);
    MPI_Win_free(&win);
    MPI_Type_free(&second);
    check_ok("locations");
}

int main(int argc, char **argv)
{
    int me, n;

    MPI_Init(&argc, &argv);
    me = check_rank();
    n = check_size();
    blocks(me, n);
    structs(me, n);
    locations(me, n);
    MPI_Finalize();
    return 0;
}
