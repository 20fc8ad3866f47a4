/* test: n=1,2,5 native=2 args="{tmp}" schedules=5
 * Classes of errors, printed and compared with a real MPI. */
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static int rank;
static char path[4096], other[4096], folder[4096];

static void say(const char *what, int rc)
{
    char text[MPI_MAX_ERROR_STRING];
    int error_class, n;

    MPI_Error_class(rc, &error_class);
    MPI_Error_string(error_class, text, &n);
    if (rank == 0)
        printf("%s: %d\n", what, error_class);
}
#define SAY(call) say(#call, call)

static int open_as(const char *name, int amode, MPI_File *f)
{
    return MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, f);
}

static void open_errors(void)
{
    MPI_File f;

    SAY(open_as(path, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL, &f));
    SAY(open_as(path, MPI_MODE_RDONLY | MPI_MODE_RDWR, &f));
    SAY(open_as(path, MPI_MODE_CREATE, &f));
    SAY(open_as(path, MPI_MODE_RDONLY | MPI_MODE_CREATE, &f));
    SAY(open_as(path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, &f));
    SAY(open_as(other, MPI_MODE_RDWR, &f));
    SAY(open_as(folder, MPI_MODE_RDWR, &f));
    SAY(MPI_File_delete(other, MPI_INFO_NULL));
}

static void access_errors(void)
{
    MPI_File f;
    MPI_Status s;
    MPI_Offset at;
    int b[4] = {0};

    SAY(open_as(path, MPI_MODE_RDWR, &f));
    SAY(MPI_File_seek(f, -1000, MPI_SEEK_CUR));
    SAY(MPI_File_seek(f, 0, 99));
    SAY(MPI_File_set_size(f, -1));
    SAY(MPI_File_read_at(f, -1, b, 1, MPI_INT, &s));
    SAY(MPI_File_read_at(f, 0, b, -1, MPI_INT, &s));
    SAY(MPI_File_read_at(f, 0, b, 1, MPI_DATATYPE_NULL, &s));
    SAY(MPI_File_read_at(MPI_FILE_NULL, 0, b, 1, MPI_INT, &s));
    SAY(MPI_File_set_view(f, -1, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    SAY(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "nonsense", MPI_INFO_NULL));
    SAY(MPI_File_set_view(f, 0, MPI_INT, MPI_BYTE, "native", MPI_INFO_NULL));
    SAY(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native",
                          MPI_INFO_NULL));
    SAY(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    SAY(MPI_File_write_at(f, 0, b, 3, MPI_BYTE, &s));
    SAY(MPI_File_read_all_end(f, b, &s));
    SAY(MPI_File_read_all_begin(f, b, 1, MPI_INT));
    SAY(MPI_File_read_all_begin(f, b, 1, MPI_INT));
    SAY(MPI_File_read_all_end(f, b, &s));
    SAY(MPI_File_close(&f));
    SAY(open_as(path, MPI_MODE_RDONLY, &f));
    SAY(MPI_File_write_at(f, 0, b, 1, MPI_INT, &s));
    SAY(MPI_File_set_size(f, 3));
    SAY(MPI_File_close(&f));
    SAY(open_as(path, MPI_MODE_WRONLY, &f));
    SAY(MPI_File_read_at(f, 0, b, 1, MPI_INT, &s));
    SAY(MPI_File_close(&f));
    SAY(open_as(path, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, &f));
    SAY(MPI_File_write_at(f, 0, b, 1, MPI_INT, &s));
    SAY(MPI_File_write(f, b, 1, MPI_INT, &s));
    SAY(MPI_File_seek(f, 0, MPI_SEEK_SET));
    SAY(MPI_File_get_position_shared(f, &at));
    SAY(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    SAY(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native",
                          MPI_INFO_NULL));
    SAY(MPI_File_write_shared(f, b, 4, MPI_BYTE, &s));
    SAY(MPI_File_close(&f));
}

/* Displacements of filetypes do not decrease, and overlap only where nothing is written. */
static void bad_views(void)
{
    int blocks[2] = {3, 1}, displs[3][2] = {{-2, 2}, {3, 0}, {0, 1}};
    MPI_Datatype type;
    MPI_File f;

    SAY(open_as(path, MPI_MODE_RDWR, &f));
    for (int i = 0; i < 3; i++) {
        MPI_Type_indexed(2, blocks, displs[i], MPI_INT, &type);
        MPI_Type_commit(&type);
        SAY(MPI_File_set_view(f, 0, MPI_INT, type, "native", MPI_INFO_NULL));
        MPI_Type_free(&type);
    }
    SAY(MPI_File_close(&f));
    SAY(open_as(path, MPI_MODE_RDONLY, &f));
    MPI_Type_indexed(2, blocks, displs[2], MPI_INT, &type);
    MPI_Type_commit(&type);
    SAY(MPI_File_set_view(f, 0, MPI_INT, type, "native", MPI_INFO_NULL));
    MPI_Type_free(&type);
    SAY(MPI_File_close(&f));
}

static int calls;

static void forgive(MPI_File *f, int *code, ...)
{
    (void)f;
    calls++;
    *code = MPI_SUCCESS;
}

static void handlers(void)
{
    MPI_Errhandler forgiving;
    MPI_File f;
    int b = 0;

    MPI_File_create_errhandler(forgive, &forgiving);
    SAY(open_as(path, MPI_MODE_RDONLY, &f));
    MPI_File_set_errhandler(f, forgiving);
    MPI_File_write(f, &b, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(calls == 1);
    SAY(MPI_File_close(&f));
    MPI_File_set_errhandler(MPI_FILE_NULL, forgiving);
    SAY(open_as(other, MPI_MODE_RDONLY, &f));
    CHECK(calls == 2);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&forgiving);
}

int main(int argc, char **argv)
{
    MPI_File f;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(folder, sizeof folder, "%s", argv[1]);
    snprintf(path, sizeof path, "%.4000s/there.dat", argv[1]);
    snprintf(other, sizeof other, "%.4000s/not.dat", argv[1]);
    SAY(open_as(path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, &f));
    SAY(MPI_File_close(&f));
    open_errors();
    access_errors();
    bad_views();
    handlers();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(unlink(path) == 0);
    check_ok("errors");
    MPI_Finalize();
    return 0;
}
