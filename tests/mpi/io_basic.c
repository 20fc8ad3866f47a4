/* test: n=1,2,5,16 native=4 args="{tmp}/basic.dat" schedules=20
 * Opening, explicit offsets, individual file pointers, the end of a file, sizes, modes, deletion.
 * What rank 0 prints is compared with a real MPI. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define N 100

static int rank, size;
static const char *name;

static MPI_File must_open(MPI_Comm comm, int amode)
{
    MPI_File f;

    CHECK(MPI_File_open(comm, name, amode, MPI_INFO_NULL, &f) == MPI_SUCCESS);
    return f;
}

static int count_of(MPI_Status *status, MPI_Datatype type)
{
    int n;

    MPI_Get_count(status, type, &n);
    return n;
}

static void explicit_offsets(void)
{
    MPI_File f = must_open(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Status status;
    MPI_Offset bytes;
    int data[N], got[N];

    for (int i = 0; i < N; i++)
        data[i] = rank * N + i;
    CHECK(MPI_File_write_at(f, (MPI_Offset)(rank * sizeof data), data, N, MPI_INT, &status) ==
          MPI_SUCCESS);
    CHECK(count_of(&status, MPI_INT) == N && count_of(&status, MPI_BYTE) == 4 * N);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(f);
    int other = (rank + 1) % size;
    CHECK(MPI_File_read_at_all(f, (MPI_Offset)(other * sizeof data), got, N, MPI_INT, &status) ==
          MPI_SUCCESS);
    CHECK(count_of(&status, MPI_INT) == N);
    for (int i = 0; i < N; i++)
        CHECK(got[i] == other * N + i);
    MPI_File_get_size(f, &bytes);
    CHECK(bytes == (MPI_Offset)(size * sizeof data));
    /* across the end, and beyond it */
    memset(got, -1, sizeof got);
    CHECK(MPI_File_read_at(f, bytes - 8, got, N, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(count_of(&status, MPI_INT) == 2 && got[1] == size * N - 1 && got[2] == -1);
    CHECK(MPI_File_read_at(f, bytes - 6, got, N, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(count_of(&status, MPI_BYTE) == 6 && count_of(&status, MPI_INT) == MPI_UNDEFINED);
    CHECK(MPI_File_read_at(f, bytes + 100, got, N, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(count_of(&status, MPI_INT) == 0);
    CHECK(MPI_File_close(&f) == MPI_SUCCESS && f == MPI_FILE_NULL);
}

static void individual_pointers(void)
{
    MPI_File f = must_open(MPI_COMM_WORLD, MPI_MODE_RDONLY);
    MPI_Status status;
    MPI_Offset at;
    int got[N], turns = 0, amode;
    MPI_Group all, mine;

    CHECK(MPI_File_get_position(f, &at) == MPI_SUCCESS && at == 0);
    do {
        MPI_File_read(f, got, 7, MPI_INT, &status);
        turns++;
    } while (count_of(&status, MPI_INT) == 7);
    CHECK(count_of(&status, MPI_INT) == size * N % 7 && turns == size * N / 7 + 1);
    MPI_File_get_position(f, &at);
    CHECK(at == (MPI_Offset)size * N * 4);
    CHECK(MPI_File_seek(f, -4, MPI_SEEK_END) == MPI_SUCCESS);
    MPI_File_get_position(f, &at);
    CHECK(at == (MPI_Offset)(size * N) * 4 - 4);
    MPI_File_read_all(f, got, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(got[0] == size * N - 1);
    MPI_File_seek(f, 40, MPI_SEEK_SET);
    MPI_File_seek(f, -4, MPI_SEEK_CUR);
    MPI_File_read(f, got, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(got[0] == 9);
    MPI_File_get_position(f, &at);
    CHECK(at == 40);
    CHECK(MPI_File_seek(f, -41, MPI_SEEK_CUR) != MPI_SUCCESS);
    MPI_File_get_position(f, &at);
    CHECK(at == 40);
    MPI_File_get_amode(f, &amode);
    CHECK(amode == MPI_MODE_RDONLY);
    MPI_File_get_group(f, &mine);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    int same;
    MPI_Group_compare(all, mine, &same);
    CHECK(same == MPI_IDENT);
    MPI_Group_free(&all);
    MPI_Group_free(&mine);
    MPI_File_close(&f);
}

static void sizes(void)
{
    MPI_File f = must_open(MPI_COMM_WORLD, MPI_MODE_RDWR | MPI_MODE_APPEND);
    MPI_Offset bytes, at;
    char c = 'x';
    int flag;

    MPI_File_get_position(f, &at);
    CHECK(at == (MPI_Offset)size * N * 4);
    MPI_File_get_position_shared(f, &at);
    CHECK(at == (MPI_Offset)size * N * 4);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_set_size(f, 1000) == MPI_SUCCESS);
    MPI_File_get_size(f, &bytes);
    CHECK(bytes == 1000);
    CHECK(MPI_File_preallocate(f, 5000) == MPI_SUCCESS);
    MPI_File_get_size(f, &bytes);
    CHECK(bytes == 5000);
    CHECK(MPI_File_preallocate(f, 10) == MPI_SUCCESS);
    MPI_File_get_size(f, &bytes);
    CHECK(bytes == 5000);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1)
        CHECK(MPI_File_write_at(f, 9999, &c, 1, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(f, &bytes);
    CHECK(bytes == 10000);
    MPI_File_get_atomicity(f, &flag);
    CHECK(!flag);
    MPI_File_close(&f);
}

/* Each rank has a file of its own, all at once. */
static void own_files(const char *folder)
{
    char path[4096];
    MPI_File f;
    double x[3] = {rank, 2 * rank, 3 * rank}, y[3];
    struct stat st;

    snprintf(path, sizeof path, "%s.%d", folder, rank);
    CHECK(MPI_File_open(MPI_COMM_SELF, path,
                        MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &f) == MPI_SUCCESS);
    CHECK(MPI_File_write(f, x, 3, MPI_DOUBLE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_File_seek(f, 0, MPI_SEEK_SET);
    MPI_File_read(f, y, 3, MPI_DOUBLE, MPI_STATUS_IGNORE);
    CHECK(memcmp(x, y, sizeof x) == 0);
    CHECK(stat(path, &st) == 0);
    MPI_File_close(&f);
    CHECK(stat(path, &st) != 0);
}

/* The number of a file in Fortran depends only on the files of its rank. */
static void numbers(void)
{
    MPI_File first = must_open(MPI_COMM_SELF, MPI_MODE_RDONLY), second;
    int mine[2], all[2];

    mine[0] = MPI_File_c2f(first);
    second = must_open(MPI_COMM_SELF, MPI_MODE_RDONLY);
    mine[1] = MPI_File_c2f(second);
    CHECK(mine[0] != mine[1] && MPI_File_c2f(first) == mine[0]);
    CHECK(MPI_File_f2c(mine[0]) == first && MPI_File_f2c(mine[1]) == second);
    MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(all[0] == mine[0] && all[1] == mine[1]);
    MPI_File_close(&first);
    CHECK(MPI_File_f2c(mine[1]) == second);
    MPI_File_close(&second);
}

/* A relative name means something else in another directory. */
static void relative(void)
{
    char folder[4096], *slash;
    MPI_File f;
    struct stat st;

    snprintf(folder, sizeof folder, "%s", name);
    slash = strrchr(folder, '/');
    *slash = '\0';
    CHECK(chdir(folder) == 0);
    CHECK(MPI_File_open(MPI_COMM_WORLD, "ufs:relative.dat",
                        MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &f) == MPI_SUCCESS);
    CHECK(stat("relative.dat", &st) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_virtual()) /* a real MPI looks for it where the rank is now */
        CHECK(chdir("/") == 0);
    MPI_File_close(&f);
    CHECK(chdir(folder) == 0);
    CHECK(stat("relative.dat", &st) != 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    name = argv[1];
    explicit_offsets();
    individual_pointers();
    sizes();
    own_files(name);
    numbers();
    relative();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(MPI_File_delete(name, MPI_INFO_NULL) == MPI_SUCCESS);
    if (rank == 0)
        printf("done\n");
    MPI_Finalize();
    return 0;
}
