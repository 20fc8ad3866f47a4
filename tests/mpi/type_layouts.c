/* test: n=1,2,5 native=4
 * Derived datatypes: sizes and extents, layouts sent as bytes and received as another layout of
 * the same signature, columns, subarrays, resized types in collectives, nested types. */
#include "check.h"

#include <stddef.h>

enum { N = 12 };

static int rank, size, right, left;

struct particle {
    char kind;
    double position[3];
    int id;
    short flags[2];
};

static MPI_Datatype particle_type(void)
{
    MPI_Datatype plain, type;
    int lengths[4] = {1, 3, 1, 2};
    MPI_Aint offsets[4] = {offsetof(struct particle, kind), offsetof(struct particle, position),
                           offsetof(struct particle, id), offsetof(struct particle, flags)};
    MPI_Datatype types[4] = {MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT};
    MPI_Type_create_struct(4, lengths, offsets, types, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(struct particle), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&plain);
    return type;
}

static void structs(void)
{
    enum { COUNT = 3000 };
    struct particle *out = (struct particle *)calloc(COUNT, sizeof *out);
    struct particle *in = (struct particle *)calloc(COUNT, sizeof *in);
    MPI_Datatype type = particle_type();
    MPI_Status status;
    MPI_Aint lower, extent;
    int bytes, count;
    MPI_Type_size(type, &bytes);
    MPI_Type_get_extent(type, &lower, &extent);
    CHECK(bytes == 33 && lower == 0 && extent == sizeof(struct particle));
    for (int i = 0; i < COUNT; i++) {
        struct particle p = {(char)i, {i * 0.5, rank, -i}, i + rank, {(short)i, (short)rank}};
        out[i] = p;
    }
    MPI_Sendrecv(out, COUNT, type, right, 1, in, COUNT, type, left, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, type, &count);
    CHECK(count == COUNT);
    MPI_Get_elements(&status, type, &count);
    CHECK(count == 7 * COUNT);
    for (int i = 0; i < COUNT; i++) {
        CHECK(in[i].kind == (char)i && in[i].position[0] == i * 0.5 && in[i].position[1] == left);
        CHECK(in[i].position[2] == -i && in[i].id == i + left && in[i].flags[1] == left);
    }
    MPI_Type_free(&type);
    free(out);
    free(in);
}

/* The last column of mine becomes the first of my neighbour's; the rest must not be touched. */
static void columns(void)
{
    int matrix[N][N];
    MPI_Datatype column;
    for (int i = 0; i < N * N; i++)
        matrix[i / N][i % N] = rank * 1000 + i;
    MPI_Type_vector(N, 1, N, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(&matrix[0][N - 1], 1, column, right, 1, &matrix[0][0], 1, column, left, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            CHECK(matrix[i][k] == (k ? rank * 1000 + i * N + k : left * 1000 + i * N + N - 1));
    MPI_Type_free(&column);
}

/* Packed on one side, spread on the other: the signature is what counts. */
static void indexed(void)
{
    int lengths[4] = {2, 0, 3, 1}, offsets[4] = {5, 0, 10, 0}, in[20], out[6], blocks[2] = {8, 2};
    MPI_Aint bytes[4] = {20, 0, 40, 0};
    MPI_Datatype types[3];
    static const int order[6] = {5, 6, 10, 11, 12, 0};
    MPI_Type_indexed(4, lengths, offsets, MPI_INT, &types[0]);
    MPI_Type_create_hindexed(4, lengths, bytes, MPI_INT, &types[1]);
    MPI_Type_create_indexed_block(2, 3, blocks, MPI_INT, &types[2]);
    for (int t = 0; t < 3; t++) {
        MPI_Type_commit(&types[t]);
        for (int i = 0; i < 20; i++)
            in[i] = -1;
        for (int i = 0; i < 6; i++)
            out[i] = rank * 10 + i;
        MPI_Sendrecv(out, 6, MPI_INT, right, t, in, 1, types[t], left, t, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        int touched = 0;
        for (int i = 0; i < 6; i++)
            CHECK(in[t == 2 ? blocks[i / 3] + i % 3 : order[i]] == left * 10 + i);
        for (int i = 0; i < 20; i++)
            touched += in[i] != -1;
        CHECK(touched == 6);
        int reversed[20] = {0}, packed[6];
        for (int i = 0; i < 20; i++)
            reversed[i] = rank * 100 + i;
        MPI_Sendrecv(reversed, 1, types[t], right, 9, packed, 6, MPI_INT, left, 9, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int i = 0; i < 6; i++)
            CHECK(packed[i] == left * 100 + (t == 2 ? blocks[i / 3] + i % 3 : order[i]));
        MPI_Type_free(&types[t]);
        CHECK(types[t] == MPI_DATATYPE_NULL);
    }
}

static void subarrays(void)
{
    double cube[4][5][6], block[2][3][2];
    int sizes[3] = {4, 5, 6}, parts[3] = {2, 3, 2}, starts[3] = {1, 2, 3};
    MPI_Datatype type;
    for (int i = 0; i < 120; i++)
        (&cube[0][0][0])[i] = rank * 1000 + i;
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    CHECK(lower == 0 && extent == (MPI_Aint)sizeof cube);
    MPI_Sendrecv(cube, 1, type, right, 1, block, 12, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 2; k++)
                CHECK(block[i][j][k] == left * 1000 + (i + 1) * 30 + (j + 2) * 6 + k + 3);
    MPI_Type_free(&type);
}

/* Each rank's pair becomes a column of the gathered matrix. */
static void transposed(void)
{
    int *all = (int *)malloc((size_t)(size * 2) * sizeof(int));
    MPI_Datatype column, narrow;
    MPI_Type_vector(2, 1, size, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &narrow);
    MPI_Type_commit(&narrow);
    int pair[2] = {rank, -rank};
    MPI_Allgather(pair, 2, MPI_INT, all, 1, narrow, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        CHECK(all[i] == i && all[size + i] == -i);
    MPI_Type_free(&narrow);
    MPI_Type_free(&column);
    free(all);
}

static void packed(void)
{
    char buffer[200];
    int position = 0, bytes, values[3] = {rank, rank + 1, rank + 2}, got[3];
    double real = 0;
    MPI_Pack_size(3, MPI_INT, MPI_COMM_WORLD, &bytes);
    CHECK(bytes >= 12);
    double mine = rank * 0.25;
    MPI_Pack(values, 3, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Pack(&mine, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    int used = position;
    MPI_Sendrecv_replace(buffer, used, MPI_PACKED, right, 1, left, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    position = 0;
    MPI_Unpack(buffer, used, &position, got, 3, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(buffer, used, &position, &real, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(position == used && got[0] == left && got[2] == left + 2 && real == left * 0.25);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    structs();
    check_ok("struct");
    columns();
    check_ok("vector");
    indexed();
    check_ok("indexed");
    subarrays();
    check_ok("subarray");
    transposed();
    check_ok("resized");
    packed();
    check_ok("pack");
    MPI_Finalize();
    return 0;
}
