/* test: n=1,2,5,16 native=4 args="{tmp}/forms.dat" schedules=10
 * Every form of an access writes the same file, and every form reads it back: explicit offset,
 * individual, collective, split, non-blocking, ordered; with large counts, too. Also atomic mode,
 * hints, several files at once, and requests that are tested, freed or completed late. */
#include <stdint.h>

#include "check.h"

#define N 50 /* doubles of a rank in each round */

enum form {
    AT,
    AT_ALL,
    ALONE,
    ALL,
    AT_SPLIT,
    SPLIT,
    ORDERED,
    ORDERED_SPLIT,
    I_AT,
    I_AT_ALL,
    I_ALONE,
    I_ALL,
    LARGE,
    FORMS
};

static int rank, size;

static void start_nonblocking(MPI_File f, enum form form, int write, MPI_Offset at, double *x,
                              MPI_Request *q)
{
    if (form == I_AT)
        (void)(write ? MPI_File_iwrite_at(f, at, x, N, MPI_DOUBLE, q)
                     : MPI_File_iread_at(f, at, x, N, MPI_DOUBLE, q));
    else if (form == I_AT_ALL)
        (void)(write ? MPI_File_iwrite_at_all(f, at, x, N, MPI_DOUBLE, q)
                     : MPI_File_iread_at_all(f, at, x, N, MPI_DOUBLE, q));
    else if (form == I_ALONE)
        (void)(write ? MPI_File_iwrite(f, x, N, MPI_DOUBLE, q)
                     : MPI_File_iread(f, x, N, MPI_DOUBLE, q));
    else
        (void)(write ? MPI_File_iwrite_all(f, x, N, MPI_DOUBLE, q)
                     : MPI_File_iread_all(f, x, N, MPI_DOUBLE, q));
}

static void finish_nonblocking(MPI_Request *q, int by_test, MPI_Status *s)
{
    int flag = 0;

    if (!by_test)
        MPI_Wait(q, s);
    while (by_test && !flag)
        MPI_Test(q, &flag, s);
    CHECK(*q == MPI_REQUEST_NULL);
}

static void access_split(MPI_File f, enum form form, int write, MPI_Offset at, double *x,
                         MPI_Status *s)
{
    if (form == AT_SPLIT && write) {
        MPI_File_write_at_all_begin(f, at, x, N, MPI_DOUBLE);
        MPI_File_write_at_all_end(f, x, s);
    } else if (form == AT_SPLIT) {
        MPI_File_read_at_all_begin(f, at, x, N, MPI_DOUBLE);
        MPI_File_read_at_all_end(f, x, s);
    } else if (form == SPLIT && write) {
        MPI_File_write_all_begin(f, x, N, MPI_DOUBLE);
        MPI_File_write_all_end(f, x, s);
    } else if (form == SPLIT) {
        MPI_File_read_all_begin(f, x, N, MPI_DOUBLE);
        MPI_File_read_all_end(f, x, s);
    } else if (write) {
        MPI_File_write_ordered_begin(f, x, N, MPI_DOUBLE);
        MPI_File_write_ordered_end(f, x, s);
    } else {
        MPI_File_read_ordered_begin(f, x, N, MPI_DOUBLE);
        MPI_File_read_ordered_end(f, x, s);
    }
}

static void access_file(MPI_File f, enum form form, int write, MPI_Offset at, double *x,
                        MPI_Status *s)
{
    MPI_Request q;

    switch (form) {
    case AT:
        (void)(write ? MPI_File_write_at(f, at, x, N, MPI_DOUBLE, s)
                     : MPI_File_read_at(f, at, x, N, MPI_DOUBLE, s));
        break;
    case AT_ALL:
        (void)(write ? MPI_File_write_at_all(f, at, x, N, MPI_DOUBLE, s)
                     : MPI_File_read_at_all(f, at, x, N, MPI_DOUBLE, s));
        break;
    case ALONE:
        (void)(write ? MPI_File_write(f, x, N, MPI_DOUBLE, s)
                     : MPI_File_read(f, x, N, MPI_DOUBLE, s));
        break;
    case ALL:
        (void)(write ? MPI_File_write_all(f, x, N, MPI_DOUBLE, s)
                     : MPI_File_read_all(f, x, N, MPI_DOUBLE, s));
        break;
    case LARGE:
        (void)(write ? MPI_File_write_at_all_c(f, at, x, N, MPI_DOUBLE, s)
                     : MPI_File_read_at_all_c(f, at, x, N, MPI_DOUBLE, s));
        break;
    case ORDERED:
        (void)(write ? MPI_File_write_ordered(f, x, N, MPI_DOUBLE, s)
                     : MPI_File_read_ordered(f, x, N, MPI_DOUBLE, s));
        break;
    case AT_SPLIT:
    case SPLIT:
    case ORDERED_SPLIT:
        access_split(f, form, write, at, x, s);
        break;
    default:
        start_nonblocking(f, form, write, at, x, &q);
        check_spend(1e-4 * rank);
        finish_nonblocking(&q, form == I_AT || form == I_ALL, s);
    }
}

static double value(int r, int round, int i)
{
    return round * 1e6 + r * 1e3 + i;
}

/* Round k writes the k-th part of the file, rank by rank. */
static void one_form(MPI_File f, enum form write, enum form read, int round)
{
    double x[N], y[N];
    MPI_Offset at = ((MPI_Offset)round * size + rank) * N;
    MPI_Status s;
    int n;

    for (int i = 0; i < N; i++)
        x[i] = value(rank, round, i);
    MPI_File_seek(f, at, MPI_SEEK_SET);
    MPI_File_seek_shared(f, (MPI_Offset)round * size * N, MPI_SEEK_SET);
    access_file(f, write, 1, at, x, &s);
    MPI_Get_count(&s, MPI_DOUBLE, &n);
    CHECK(n == N);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(f);
    /* the neighbour's, but where the order is that of the ranks */
    int who = read == ORDERED || read == ORDERED_SPLIT ? rank : (rank + 1) % size;
    at = ((MPI_Offset)round * size + who) * N;
    MPI_File_seek(f, at, MPI_SEEK_SET);
    MPI_File_seek_shared(f, (MPI_Offset)round * size * N, MPI_SEEK_SET);
    access_file(f, read, 0, at, y, &s);
    MPI_Get_count(&s, MPI_DOUBLE, &n);
    CHECK(n == N);
    for (int i = 0; i < N; i++)
        CHECK(y[i] == value(who, round, i));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* In atomic mode each write is there as a whole or not at all. */
static void atomic_mode(MPI_File f)
{
    int flag, mine[64], got[64];
    MPI_Datatype every_other;

    MPI_Type_vector(32, 2, 4, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    CHECK(MPI_File_set_atomicity(f, 1) == MPI_SUCCESS);
    MPI_File_get_atomicity(f, &flag);
    CHECK(flag);
    MPI_File_set_view(f, 0, MPI_INT, every_other, "native", MPI_INFO_NULL);
    for (int i = 0; i < 64; i++)
        mine[i] = rank;
    CHECK(MPI_File_write_at(f, 0, mine, 64, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_read_at(f, 0, got, 64, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(got[0] >= 0 && got[0] < size);
    for (int i = 1; i < 64; i++)
        CHECK(got[i] == got[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(f, 0, got, 64, MPI_INT, MPI_STATUS_IGNORE);
    if (rank == 0 && check_virtual())
        printf("virtual: the last writer is %d\n", got[0]);
    CHECK(MPI_File_set_atomicity(f, 0) == MPI_SUCCESS);
    MPI_Type_free(&every_other);
}

static void hints(const char *name)
{
    MPI_Info info, used;
    MPI_File f;
    char text[MPI_MAX_INFO_VAL + 1];
    int flag;

    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "123456");
    MPI_Info_set(info, "no_such_hint", "x");
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, info, &f) == MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK(MPI_File_get_info(f, &used) == MPI_SUCCESS);
    MPI_Info_get(used, "cb_buffer_size", MPI_MAX_INFO_VAL, text, &flag);
    CHECK(flag && strcmp(text, "123456") == 0);
    MPI_Info_get(used, "romio_ds_read", MPI_MAX_INFO_VAL, text, &flag);
    CHECK(flag && strcmp(text, "automatic") == 0);
    MPI_Info_free(&used);
    MPI_File_close(&f);
}

/* Halves of the ranks have files of their own, open at the same time as the common one. */
static void several(const char *name)
{
    char path[4096];
    MPI_Comm half;
    MPI_File f;
    int me, n, x, y = -1;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &n);
    snprintf(path, sizeof path, "%s.%d", name, rank % 2);
    CHECK(MPI_File_open(half, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &f) == MPI_SUCCESS);
    MPI_Comm_free(&half);
    x = 100 + me;
    CHECK(MPI_File_write_ordered(f, &x, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET) == MPI_SUCCESS);
    CHECK(MPI_File_read_at(f, me * 4, &y, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(y == x);
    MPI_File_close(&f);
}

int main(int argc, char **argv)
{
    MPI_File f;
    int round = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &f) == MPI_SUCCESS);
    CHECK(MPI_File_set_view(f, 16, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    for (int w = 0; w < FORMS; w++, round++)
        one_form(f, (enum form)w, (enum form)((w * 5 + 3) % FORMS), round);
    several(argv[1]);
    atomic_mode(f);
    MPI_File_close(&f);
    hints(argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(MPI_File_delete(argv[1], MPI_INFO_NULL) == MPI_SUCCESS);
    check_ok("forms");
    MPI_Finalize();
    return 0;
}
