/* test: n=1,2,5 native=2 args="{tmp}/rep.dat" schedules=5
 * Data representations: external32 on disk is big-endian, also through views with holes; a
 * representation of the program's own. */
#include <stdint.h>

#include "check.h"

static int rank, size;

static void external32(const char *name)
{
    MPI_File f;
    int data[4], got[4];
    double x = 1.5 + rank, y = 0;
    unsigned char raw[8];
    MPI_Aint extent;

    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f) ==
          MPI_SUCCESS);
    CHECK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL) == MPI_SUCCESS);
    for (int i = 0; i < 4; i++)
        data[i] = rank * 0x1000000 + i * 0x10000 + 0x0203;
    CHECK(MPI_File_write_at(f, rank * 4, data, 4, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_read_at(f, rank * 4, got, 4, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(memcmp(data, got, sizeof data) == 0);
    CHECK(MPI_File_get_type_extent(f, MPI_INT, &extent) == MPI_SUCCESS && extent == 4);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_File_read_at(f, rank * 16 + 4, raw, 4, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(raw[0] == rank && raw[1] == 1 && raw[2] == 2 && raw[3] == 3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_view(f, 0, MPI_DOUBLE, MPI_DOUBLE, "external32", MPI_INFO_NULL);
    MPI_File_write_at(f, rank, &x, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_read_at(f, rank, &y, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    CHECK(x == y);
    MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(f, rank * 8, raw, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK((raw[0] == 0x3f || raw[0] == 0x40) && raw[7] == 0);
    MPI_File_close(&f);
}

/* The sizes of types differ: long is 4 bytes in external32. MPICH's views count 8. */
static void sizes(const char *name)
{
    MPI_File f;
    MPI_Datatype every_other;
    MPI_Aint extent;
    MPI_Offset at;
    long data[3] = {1, 2, 3 + rank}, got[3] = {0};
    unsigned char raw[4];

    CHECK(MPI_File_open(MPI_COMM_SELF, name,
                        MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &f) == MPI_SUCCESS);
    MPI_Type_vector(3, 1, 2, MPI_LONG, &every_other);
    MPI_Type_commit(&every_other);
    CHECK(MPI_File_set_view(f, 0, MPI_LONG, every_other, "external32", MPI_INFO_NULL) ==
          MPI_SUCCESS);
    MPI_Type_free(&every_other);
    MPI_File_get_type_extent(f, MPI_LONG, &extent);
    CHECK(extent == 4);
    MPI_File_get_byte_offset(f, 2, &at);
    CHECK(at == 16);
    CHECK(MPI_File_write(f, data, 3, MPI_LONG, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_File_get_position(f, &at);
    CHECK(at == 3);
    CHECK(MPI_File_read_at(f, 0, got, 3, MPI_LONG, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(memcmp(data, got, sizeof data) == 0);
    MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(f, 16, raw, 4, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(raw[0] == 0 && raw[2] == 0 && raw[3] == 3 + rank);
    MPI_File_close(&f);
}

/* The program's own: every int becomes 8 bytes of which the first 4 are its complement. */
static int to_file(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                   void *extra)
{
    int *from = user, *to = file;

    CHECK(type == MPI_INT && *(int *)extra == 42);
    for (int i = 0; i < count; i++) {
        to[2 * i] = ~from[position + i];
        to[2 * i + 1] = 7;
    }
    return MPI_SUCCESS;
}

static int from_file(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                     void *extra)
{
    int *to = user, *from = file;

    CHECK(type == MPI_INT && *(int *)extra == 42);
    for (int i = 0; i < count; i++)
        to[position + i] = ~from[2 * i];
    return MPI_SUCCESS;
}

static int extent_in_file(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    int bytes;

    (void)extra;
    MPI_Type_size(type, &bytes);
    *extent = 2 * bytes;
    return MPI_SUCCESS;
}

static void own(const char *name)
{
    static int extra = 42;
    MPI_File f;
    int data[3] = {rank, 5, 6}, got[3] = {0}, raw[6];

    if (!check_virtual()) /* MPICH takes no conversion functions */
        return;
    CHECK(MPI_Register_datarep("twice", from_file, to_file, extent_in_file, &extra) == MPI_SUCCESS);
    CHECK(MPI_Register_datarep("twice", from_file, to_file, extent_in_file, &extra) != MPI_SUCCESS);
    CHECK(MPI_File_open(MPI_COMM_SELF, name,
                        MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &f) == MPI_SUCCESS);
    CHECK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "twice", MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(MPI_File_write_at(f, 1, data, 3, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_File_read_at(f, 1, got, 3, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(memcmp(data, got, sizeof data) == 0);
    MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_at(f, 2, raw, 6, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(raw[0] == ~rank && raw[1] == 7 && raw[4] == ~6);
    MPI_File_close(&f);
}

int main(int argc, char **argv)
{
    char name[4096];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    external32(argv[1]);
    snprintf(name, sizeof name, "%.4000s.%d", argv[1], rank);
    if (check_virtual())
        sizes(name);
    own(name);
    check_ok("datarep");
    MPI_Finalize();
    return 0;
}
