/* native=4 run="--set nodes.ranks=4": communicators, groups, topologies, attributes, error
 * handlers and info. */
#include "every.h"

/* All groups differ: the simulator has one handle for equal ones. */
static void groups(void)
{
    MPI_Group all, two, rest, made;
    int first[2] = {1, 0}, other[2], result, range[1][3] = {{0, 3, 3}}, number, zero = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, first, &two);
    MPI_Group_excl(all, 1, &zero, &rest);
    MPI_Group_size(two, &number);
    MPI_Group_rank(two, &number);
    MPI_Group_translate_ranks(all, 2, first, two, other);
    MPI_Group_compare(two, rest, &result);
    MPI_Group_union(two, rest, &made);
    MPI_Group_free(&made);
    MPI_Group_intersection(two, rest, &made);
    MPI_Group_free(&made);
    MPI_Group_difference(two, rest, &made);
    MPI_Group_free(&made);
    MPI_Group_range_incl(all, 1, range, &made);
    MPI_Group_free(&made);
    MPI_Group_range_excl(all, 1, range, &made);
    MPI_Group_free(&made);
    MPI_Group_free(&rest);
    MPI_Group_free(&two);
    MPI_Group_free(&all);
}

/* A communicator that was just made, by a message in it and by freeing it. */
static void use(MPI_Comm *comm)
{
    if (*comm == MPI_COMM_NULL)
        return;
    MPI_Barrier(*comm);
    MPI_Comm_free(comm);
}

static void communicators(void)
{
    MPI_Comm made, half, both;
    MPI_Group all, two;
    MPI_Request r;
    MPI_Info info;
    int first[2] = {0, 2}, result, length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, first, &two);
    MPI_Comm_create(MPI_COMM_WORLD, two, &made);
    use(&made);
    made = MPI_COMM_NULL;
    if (rank % 2 == 0)
        MPI_Comm_create_group(MPI_COMM_WORLD, two, 3, &made);
    use(&made);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_compare(MPI_COMM_WORLD, made, &result);
    MPI_Comm_set_name(made, "made");
    MPI_Comm_get_name(made, name, &length);
    MPI_Comm_get_info(made, &info);
    MPI_Comm_set_info(made, info);
    MPI_Info_free(&info);
    use(&made);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made);
    use(&made);
    MPI_Comm_idup(MPI_COMM_WORLD, &made, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    use(&made);
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    use(&made);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    MPI_Comm_free(&made);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &both);
    MPI_Comm_test_inter(both, &result);
    MPI_Comm_remote_size(both, &result);
    MPI_Group_free(&two);
    MPI_Comm_remote_group(both, &two);
    MPI_Intercomm_merge(both, rank % 2, &made);
    use(&made);
    use(&both);
    use(&half);
    MPI_Group_free(&two);
    MPI_Group_free(&all);
}

static void grid(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], number, from, to, keep[2] = {1, 0};
    MPI_Comm comm, row;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &number);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    MPI_Topo_test(comm, &number);
    MPI_Cartdim_get(comm, &number);
    MPI_Cart_get(comm, 2, dims, periods, coords);
    MPI_Cart_coords(comm, rank, 2, coords);
    MPI_Cart_rank(comm, coords, &number);
    MPI_Cart_shift(comm, 0, 1, &from, &to);
    MPI_Cart_sub(comm, keep, &row);
    use(&row);
    use(&comm);
}

static void graphs(void)
{
    int index[4] = {1, 2, 3, 4}, edges[4] = {1, 0, 3, 2}, nodes, number, list[2];
    int next = (rank + 1) % size, last = (rank + size - 1) % size, one = 1, weight = 5, weights[2];
    MPI_Comm comm;
    MPI_Graph_map(MPI_COMM_WORLD, 4, index, edges, &number);
    MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &comm);
    MPI_Graphdims_get(comm, &nodes, &number);
    MPI_Graph_get(comm, 4, 4, index, edges);
    MPI_Graph_neighbors_count(comm, rank, &number);
    MPI_Graph_neighbors(comm, rank, 1, list);
    use(&comm);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                          &comm);
    use(&comm);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &last, &weight, 1, &next, &weight,
                                   MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &nodes, &number, &one);
    MPI_Dist_graph_neighbors(comm, 1, list, weights, 1, list + 1, weights + 1);
    use(&comm);
}

static void attributes(void)
{
    int key, flag;
    void *value;
    MPI_Datatype type;
    MPI_Win win;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
    MPI_Comm_get_attr(MPI_COMM_SELF, key, &value, &flag);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_free_keyval(&key);
    MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL);
    MPI_Attr_put(MPI_COMM_SELF, key, &key);
    MPI_Attr_get(MPI_COMM_SELF, key, &value, &flag);
    MPI_Attr_delete(MPI_COMM_SELF, key);
    MPI_Attr_get(MPI_COMM_SELF, key, &value, &flag);
    MPI_Keyval_free(&key);
    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_set_attr(type, key, &key);
    MPI_Type_get_attr(type, key, &value, &flag);
    MPI_Type_delete_attr(type, key);
    MPI_Type_free_keyval(&key);
    MPI_Type_free(&type);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    MPI_Win_set_attr(win, key, &key);
    MPI_Win_get_attr(win, key, &value, &flag);
    MPI_Win_delete_attr(win, key);
    MPI_Win_free_keyval(&key);
    MPI_Win_free(&win);
}

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void on_win(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
}

static void on_file(MPI_File *file, int *code, ...)
{
    (void)file, (void)code;
}

static void handlers(void)
{
    MPI_Errhandler handler, old;
    MPI_Win win;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(on_comm, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_get_errhandler(comm, &old);
    MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    MPI_Errhandler_free(&old);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_create(on_comm, &handler);
    MPI_Errhandler_set(comm, handler);
    MPI_Errhandler_get(comm, &old);
    MPI_Errhandler_free(&old);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create_errhandler(on_win, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Win_get_errhandler(win, &old);
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    MPI_Errhandler_free(&old);
    MPI_Errhandler_free(&handler);
    MPI_Win_free(&win);
    MPI_File_create_errhandler(on_file, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    MPI_File_get_errhandler(MPI_FILE_NULL, &old);
    MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_OTHER);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&old);
    MPI_Errhandler_free(&handler);
}

static void errors(void)
{
    int class, code, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "mine");
    MPI_Error_class(MPI_ERR_OTHER, &length);
    MPI_Error_string(MPI_ERR_OTHER, text, &length);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(&code, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    MPI_Send(&code, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Bcast(&code, 1, MPI_INT, -7, MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void infos(int argc, char **argv)
{
    MPI_Info info, copy;
    char text[16];
    int number, flag;
    MPI_Info_create(&info);
    MPI_Info_set(info, "colour", "red");
    MPI_Info_get(info, "colour", sizeof text - 1, text, &flag);
    number = sizeof text;
    MPI_Info_get_string(info, "colour", &number, text, &flag);
    MPI_Info_get_valuelen(info, "colour", &number, &flag);
    MPI_Info_get_valuelen(info, "shape", &number, &flag);
    MPI_Info_get_nkeys(info, &number);
    MPI_Info_get_nthkey(info, 0, text);
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "colour");
    MPI_Info_free(&copy);
    MPI_Info_free(&info);
    MPI_Info_create_env(argc, argv, &info);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    groups();
    communicators();
    grid();
    graphs();
    attributes();
    handlers();
    errors();
    infos(argc, argv);
    finish();
    return 0;
}
