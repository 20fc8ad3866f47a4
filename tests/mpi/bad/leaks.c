/* Leaves one or more of all kinds of objects behind; with an argument it frees them all. */
#include <mpi.h>
#include <stdio.h>

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void on_comm_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

/* Objects of windows and files, and handles that calls return. */
static void others(int free_all)
{
    static int memory;
    int key[3];
    MPI_Errhandler handler, got;
    MPI_Info info, copy, of_win;
    MPI_Group group, of_win_group, of_file_group;
    MPI_Win win, allocated;
    MPI_File file;
    void *base;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key[0], NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key[1], NULL);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key[2], NULL);
    MPI_Comm_create_errhandler(on_comm_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Info_create(&info);
    MPI_Info_dup(info, &copy);
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &allocated);
    MPI_Win_get_info(win, &of_win);
    MPI_Win_get_group(win, &of_win_group);
    MPI_File_open(MPI_COMM_WORLD, "leaks.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                  &file);
    MPI_File_get_group(file, &of_file_group);
    MPI_Group_incl(of_file_group, 1, (int[]){0}, &group);
    if (!free_all)
        return;
    MPI_Comm_free_keyval(&key[0]);
    MPI_Type_free_keyval(&key[1]);
    MPI_Win_free_keyval(&key[2]);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&got);
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    MPI_Info_free(&of_win);
    MPI_Group_free(&of_win_group);
    MPI_Group_free(&of_file_group);
    MPI_Group_free(&group);
    MPI_Win_free(&win);
    MPI_Win_free(&allocated);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Comm comm, late, named;
    MPI_Group group;
    MPI_Datatype type[2], named_type, predefined;
    MPI_Op op;
    MPI_Info info;
    MPI_Request request[2];
    int rank, out = 1, in = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_idup(MPI_COMM_WORLD, &late, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &named);
    MPI_Comm_set_name(named, "workers");
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Type_vector(3, 1, 2, MPI_INT, &type[0]);
    MPI_Type_vector(4, 1, 2, MPI_INT, &type[1]);
    MPI_Type_commit(&type[1]);
    MPI_Type_contiguous(5, MPI_INT, &named_type);
    MPI_Type_set_name(named_type, "five");
    MPI_Type_create_f90_integer(9, &predefined); /* not to be freed */
    MPI_Op_create(add, 1, &op);
    MPI_Info_create(&info);
    MPI_Isend(&out, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Recv(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv_init(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request[1]);
    if (argc > 1) {
        MPI_Comm_free(&comm);
        MPI_Comm_free(&late);
        MPI_Comm_free(&named);
        MPI_Group_free(&group);
        MPI_Type_free(&type[0]);
        MPI_Type_free(&type[1]);
        MPI_Type_free(&named_type);
        MPI_Op_free(&op);
        MPI_Info_free(&info);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        MPI_Request_free(&request[1]);
    }
    others(argc > 1);
    MPI_Finalize();
    return 0;
}
