/* test: n=1,3 native=2
 * Error handlers of communicators and files: kinds are kept apart, a handler is called with the
 * handle it was raised on. Added error codes and their deletion. */
#include <string.h>

#include "check.h"

static int comm_calls, file_calls, code_seen;
static MPI_Comm comm_seen;
static MPI_File file_seen;

static int class_of(int error)
{
    int error_class = -1;
    MPI_Error_class(error, &error_class);
    return error_class;
}

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    comm_calls++;
    comm_seen = *comm;
    code_seen = *code;
}

static void on_file(MPI_File *file, int *code, ...)
{
    file_calls++;
    file_seen = *file;
    code_seen = *code;
}

static void on_win(MPI_Win *win, int *code, ...)
{
    (void)win;
    (void)code;
}

static void kinds(void)
{
    MPI_Errhandler comm, file, win, got;
    MPI_Comm dup;
    MPI_Comm_create_errhandler(on_comm, &comm);
    MPI_File_create_errhandler(on_file, &file);
    MPI_Win_create_errhandler(on_win, &win);
    CHECK(comm != file && file != win && comm != win);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_errhandler(dup, comm);
    MPI_Comm_get_errhandler(dup, &got);
    CHECK(got == comm);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&comm);
    CHECK(comm == MPI_ERRHANDLER_NULL);
    CHECK(MPI_Comm_call_errhandler(dup, MPI_ERR_TOPOLOGY) == MPI_SUCCESS);
    CHECK(comm_calls == 1 && comm_seen == dup && class_of(code_seen) == MPI_ERR_TOPOLOGY);
    CHECK(class_of(MPI_Send(NULL, -1, MPI_INT, 0, 0, dup)) == MPI_ERR_COUNT);
    CHECK(comm_calls == 2 && class_of(code_seen) == MPI_ERR_COUNT);
    if (check_virtual()) { /* MPICH does not see the difference */
        CHECK(class_of(MPI_Comm_set_errhandler(dup, file)) == MPI_ERR_ARG);
        CHECK(class_of(MPI_Comm_set_errhandler(dup, win)) == MPI_ERR_ARG);
    }
    MPI_Comm_free(&dup);
    MPI_Errhandler_free(&file);
    MPI_Errhandler_free(&win);
}

static void files(void)
{
    MPI_Errhandler file, got;
    MPI_File_get_errhandler(MPI_FILE_NULL, &got);
    CHECK(got == MPI_ERRORS_RETURN);
    MPI_File_create_errhandler(on_file, &file);
    MPI_File_set_errhandler(MPI_FILE_NULL, file);
    MPI_File_get_errhandler(MPI_FILE_NULL, &got);
    CHECK(got == file);
    MPI_Errhandler_free(&got);
    CHECK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO) == MPI_SUCCESS);
    CHECK(file_calls == 1 && file_seen == MPI_FILE_NULL && class_of(code_seen) == MPI_ERR_IO);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    CHECK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO) == MPI_SUCCESS);
    CHECK(file_calls == 1);
    MPI_Errhandler_free(&file);
}

static void added(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int class1, class2, code, length;
    MPI_Add_error_class(&class1);
    MPI_Add_error_code(class1, &code);
    MPI_Add_error_string(code, "the bucket has a hole");
    CHECK(class_of(code) == class1);
    MPI_Error_string(code, text, &length);
    CHECK(!strcmp(text, "the bucket has a hole"));
    CHECK(MPIX_Delete_error_string(code) == MPI_SUCCESS);
    MPI_Error_string(code, text, &length);
    CHECK(!length && !text[0]);
    CHECK(MPIX_Delete_error_code(code) == MPI_SUCCESS);
    CHECK(MPIX_Delete_error_code(code) != MPI_SUCCESS);
    CHECK(MPIX_Delete_error_class(class1) == MPI_SUCCESS);
    CHECK(MPIX_Delete_error_class(MPI_ERR_ARG) != MPI_SUCCESS);
    MPI_Add_error_class(&class2);
    CHECK(class_of(class2) == class2);
}

static void forgive(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    *code = *code == MPI_ERR_RANK || class_of(*code) == MPI_ERR_RANK ? MPI_SUCCESS
                                                                     : MPI_ERR_UNKNOWN;
}

/* A call returns the code that the handler leaves. */
static void changed(void)
{
    MPI_Errhandler handler;
    MPI_Comm comm;
    int data = 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(forgive, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    CHECK(MPI_Send(&data, 1, MPI_INT, 9999, 0, comm) == MPI_SUCCESS);
    CHECK(MPI_Send(&data, -1, MPI_INT, 0, 0, comm) == MPI_ERR_UNKNOWN);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Send(&data, -1, MPI_INT, 0, 0, comm)) == MPI_ERR_COUNT);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Errhandler got;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Win_get_errhandler(MPI_WIN_NULL, &got)) == MPI_ERR_WIN);
    kinds();
    check_ok("kinds");
    files();
    check_ok("files");
    added();
    changed();
    check_ok("added");
    MPI_Finalize();
    return 0;
}
