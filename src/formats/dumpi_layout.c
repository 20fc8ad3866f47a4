/*
 * dumpi_layout.c - the numbers of DUMPI's functions, and the layout of their arguments.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "calls/calls.h"
#include "formats/dumpi.h"
#include "mpi_roles.h"

/* By number; without "MPI_". */
static const char *const names[] = {
    "Send",
    "Recv",
    "Get_count",
    "Bsend",
    "Ssend",
    "Rsend",
    "Buffer_attach",
    "Buffer_detach",
    "Isend",
    "Ibsend",
    "Issend",
    "Irsend",
    "Irecv",
    "Wait",
    "Test",
    "Request_free",
    "Waitany",
    "Testany",
    "Waitall",
    "Testall",
    "Waitsome",
    "Testsome",
    "Iprobe",
    "Probe",
    "Cancel",
    "Test_cancelled",
    "Send_init",
    "Bsend_init",
    "Ssend_init",
    "Rsend_init",
    "Recv_init",
    "Start",
    "Startall",
    "Sendrecv",
    "Sendrecv_replace",
    "Type_contiguous",
    "Type_vector",
    "Type_hvector",
    "Type_indexed",
    "Type_hindexed",
    "Type_struct",
    "Address",
    "Type_extent",
    "Type_size",
    "Type_lb",
    "Type_ub",
    "Type_commit",
    "Type_free",
    "Get_elements",
    "Pack",
    "Unpack",
    "Pack_size",
    "Barrier",
    "Bcast",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Reduce",
    "Op_create",
    "Op_free",
    "Allreduce",
    "Reduce_scatter",
    "Scan",
    "Group_size",
    "Group_rank",
    "Group_translate_ranks",
    "Group_compare",
    "Comm_group",
    "Group_union",
    "Group_intersection",
    "Group_difference",
    "Group_incl",
    "Group_excl",
    "Group_range_incl",
    "Group_range_excl",
    "Group_free",
    "Comm_size",
    "Comm_rank",
    "Comm_compare",
    "Comm_dup",
    "Comm_create",
    "Comm_split",
    "Comm_free",
    "Comm_test_inter",
    "Comm_remote_size",
    "Comm_remote_group",
    "Intercomm_create",
    "Intercomm_merge",
    "Keyval_create",
    "Keyval_free",
    "Attr_put",
    "Attr_get",
    "Attr_delete",
    "Topo_test",
    "Cart_create",
    "Dims_create",
    "Graph_create",
    "Graphdims_get",
    "Graph_get",
    "Cartdim_get",
    "Cart_get",
    "Cart_rank",
    "Cart_coords",
    "Graph_neighbors_count",
    "Graph_neighbors",
    "Cart_shift",
    "Cart_sub",
    "Cart_map",
    "Graph_map",
    "Get_processor_name",
    "Get_version",
    "Errhandler_create",
    "Errhandler_set",
    "Errhandler_get",
    "Errhandler_free",
    "Error_string",
    "Error_class",
    "Wtime",
    "Wtick",
    "Init",
    "Finalize",
    "Initialized",
    "Abort",
    "Pcontrol",
    "Close_port",
    "Comm_accept",
    "Comm_connect",
    "Comm_disconnect",
    "Comm_get_parent",
    "Comm_join",
    "Comm_spawn",
    "Comm_spawn_multiple",
    "Lookup_name",
    "Open_port",
    "Publish_name",
    "Unpublish_name",
    "Accumulate",
    "Get",
    "Put",
    "Win_complete",
    "Win_create",
    "Win_fence",
    "Win_free",
    "Win_get_group",
    "Win_lock",
    "Win_post",
    "Win_start",
    "Win_test",
    "Win_unlock",
    "Win_wait",
    "Alltoallw",
    "Exscan",
    "Add_error_class",
    "Add_error_code",
    "Add_error_string",
    "Comm_call_errhandler",
    "Comm_create_keyval",
    "Comm_delete_attr",
    "Comm_free_keyval",
    "Comm_get_attr",
    "Comm_get_name",
    "Comm_set_attr",
    "Comm_set_name",
    "File_call_errhandler",
    "Grequest_complete",
    "Grequest_start",
    "Init_thread",
    "Is_thread_main",
    "Query_thread",
    "Status_set_cancelled",
    "Status_set_elements",
    "Type_create_keyval",
    "Type_delete_attr",
    "Type_dup",
    "Type_free_keyval",
    "Type_get_attr",
    "Type_get_contents",
    "Type_get_envelope",
    "Type_get_name",
    "Type_set_attr",
    "Type_set_name",
    "Type_match_size",
    "Win_call_errhandler",
    "Win_create_keyval",
    "Win_delete_attr",
    "Win_free_keyval",
    "Win_get_attr",
    "Win_get_name",
    "Win_set_attr",
    "Win_set_name",
    "Alloc_mem",
    "Comm_create_errhandler",
    "Comm_get_errhandler",
    "Comm_set_errhandler",
    "File_create_errhandler",
    "File_get_errhandler",
    "File_set_errhandler",
    "Finalized",
    "Free_mem",
    "Get_address",
    "Info_create",
    "Info_delete",
    "Info_dup",
    "Info_free",
    "Info_get",
    "Info_get_nkeys",
    "Info_get_nthkey",
    "Info_get_valuelen",
    "Info_set",
    "Pack_external",
    "Pack_external_size",
    "Request_get_status",
    "Type_create_darray",
    "Type_create_hindexed",
    "Type_create_hvector",
    "Type_create_indexed_block",
    "Type_create_resized",
    "Type_create_struct",
    "Type_create_subarray",
    "Type_get_extent",
    "Type_get_true_extent",
    "Unpack_external",
    "Win_create_errhandler",
    "Win_get_errhandler",
    "Win_set_errhandler",
    "File_open",
    "File_close",
    "File_delete",
    "File_set_size",
    "File_preallocate",
    "File_get_size",
    "File_get_group",
    "File_get_amode",
    "File_set_info",
    "File_get_info",
    "File_set_view",
    "File_get_view",
    "File_read_at",
    "File_read_at_all",
    "File_write_at",
    "File_write_at_all",
    "File_iread_at",
    "File_iwrite_at",
    "File_read",
    "File_read_all",
    "File_write",
    "File_write_all",
    "File_iread",
    "File_iwrite",
    "File_seek",
    "File_get_position",
    "File_get_byte_offset",
    "File_read_shared",
    "File_write_shared",
    "File_iread_shared",
    "File_iwrite_shared",
    "File_read_ordered",
    "File_write_ordered",
    "File_seek_shared",
    "File_get_position_shared",
    "File_read_at_all_begin",
    "File_read_at_all_end",
    "File_write_at_all_begin",
    "File_write_at_all_end",
    "File_read_all_begin",
    "File_read_all_end",
    "File_write_all_begin",
    "File_write_all_end",
    "File_read_ordered_begin",
    "File_read_ordered_end",
    "File_write_ordered_begin",
    "File_write_ordered_end",
    "File_get_type_extent",
    "Register_datarep",
    "File_set_atomicity",
    "File_get_atomicity",
    "File_sync",
    "MPIO_Test",
    "MPIO_Wait",
    "MPIO_Testall",
    "MPIO_Waitall",
    "MPIO_Testany",
    "MPIO_Waitany",
    "MPIO_Waitsome",
    "MPIO_Testsome",
};
#define NAMES (sizeof names / sizeof names[0])

/*
 * Functions whose record does not follow the prototype: names of arguments, and
 *
 *     @rank @size   the caller's rank in the communicator, and its size
 *     #NAME         the length of an array
 *     ?NAME         only at the root
 *     NAME:4        with that many bytes
 *
 * An argument that the call reads and writes is recorded twice: before and after the call.
 */
static const struct {
    const char *name, *fields;
} others[] = {
    {"Gather", "@rank sendcount sendtype root comm ?recvcount ?recvtype"},
    {"Gatherv", "@rank @size sendcount sendtype root comm ?recvcounts ?displs recvtype"},
    {"Scatter", "@rank recvcount recvtype root comm ?sendcount ?sendtype"},
    {"Scatterv", "@rank @size sendtype recvcount recvtype root comm ?sendcounts ?displs"},
    {"Allgatherv", "@size sendcount sendtype recvcounts displs recvtype comm"},
    {"Alltoallv", "@size sendcounts sdispls sendtype recvcounts rdispls recvtype comm"},
    {"Alltoallw", "@size sendcounts sdispls sendtypes recvcounts rdispls recvtypes comm"},
    {"Reduce_scatter", "@size recvcounts datatype op comm"},
    {"Pack", "incount datatype outsize position position comm"},
    {"Unpack", "insize position position outcount datatype comm"},
    {"Pack_external", "datarep incount datatype outsize position position"},
    {"Unpack_external", "datarep insize position position outcount datatype"},
    {"Dims_create", "nnodes ndims dims dims"},
    {"Graph_create", "#edges comm_old nnodes indx edges reorder comm_graph"},
    {"Graph_get", "#edges #indx comm maxindex maxedges indx edges"},
    {"Cart_get", "#dims comm maxdims dims periods coords"},
    {"Cart_rank", "#coords comm coords rank"},
    {"Cart_coords", "#coords comm rank maxdims coords"},
    {"Graph_neighbors", "#neighbors comm rank maxneighbors neighbors"},
    {"Cart_sub", "#remain_dims comm remain_dims newcomm"},
    {"Graph_map", "#edges comm nnodes indx edges newrank"},
    {"Type_get_contents",
     "#array_of_datatypes #array_of_addresses #array_of_integers datatype max_integers "
     "max_addresses max_datatypes array_of_integers array_of_addresses array_of_datatypes"},
    {"Attr_put", "comm keyval:4"},
    {"Attr_get", "comm keyval:4 flag"},
    {"Attr_delete", "comm keyval:4"},
    {"Init", "argv"},
    {"Init_thread", "argv required provided"},
    {"Comm_spawn", "@rank root comm intercomm ?command ?argv ?maxprocs ?info ?array_of_errcodes"},
    {"Comm_spawn_multiple",
     "#array_of_errcodes @rank root comm intercomm ?count ?array_of_commands ?array_of_argv ?array_of_maxprocs "
     "?array_of_info ?array_of_errcodes"},
    {"File_get_type_extent", "fh datatype extent:4"},
    {"Pcontrol", ""},
    {"MPIO_Testany", "count array_of_requests flag indx status"},
};

unsigned dumpi_functions(void)
{
    return NAMES;
}

const char *dumpi_function_name(unsigned number, char *text, size_t size)
{
    const char *name = number < NAMES ? names[number] : "";
    snprintf(text, size, "MPI_%s", strncmp(name, "MPIO_", 5) == 0 ? name + 5 : name);
    return text;
}

/* ---- fields ---- */

/* Bytes of an item. */
static unsigned width_of(const char *function, const struct mpi_arg *arg)
{
    static const char *const bytes[] = {"combiner",  "amode",
                                        "lock_type", "order",
                                        "required",  "provided",
                                        "typeclass", "whence",
                                        "assert",    "array_of_distribs"};
    switch (arg->role) {
    case MPI_ROLE_COMM:
    case MPI_ROLE_DATATYPE:
    case MPI_ROLE_GROUP:
    case MPI_ROLE_WIN:
    case MPI_ROLE_FILE:
    case MPI_ROLE_INFO:
    case MPI_ROLE_ERRHANDLER:
    case MPI_ROLE_KEYVAL:
        return 2;
    case MPI_ROLE_OP:
        return 1;
    default:
        break;
    }
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
        if (strcmp(arg->name, bytes[i]) == 0)
            return 1;
    if (strstr(function, "_compare") || strcmp(function, "Topo_test") == 0)
        return arg->role == MPI_ROLE_VALUE ? 1 : 4;
    return arg->bytes == 8 && strncmp(function, "File_", 5) == 0 ? 8 : 4; /* offsets */
}

static int is_left_out(const struct mpi_arg *arg)
{
    return arg->role == MPI_ROLE_BUFFER || arg->role == MPI_ROLE_CALLBACK ||
           arg->role == MPI_ROLE_POINTER || arg->role == MPI_ROLE_TOOL;
}

static struct dumpi_field field_of(const char *function, const struct trace_fn *fn,
                                   const struct mpi_arg *arg)
{
    struct dumpi_field f = {.width = (uint8_t)width_of(function, arg),
                            .name = arg->name,
                            .role = arg->role,
                            .arg = (int8_t)calls_arg(fn, arg->name)};
    if (arg->role == MPI_ROLE_STATUS)
        f.primitive = DUMPI_STATUS;
    else if (strcmp(arg->name, "ranges") == 0)
        f.primitive = DUMPI_ROWS;
    else if (strcmp(arg->name, "array_of_argv") == 0)
        f.primitive = DUMPI_TEXTS_OF;
    else if (strcmp(arg->name, "argv") == 0 || strcmp(arg->name, "array_of_commands") == 0)
        f.primitive = DUMPI_TEXTS;
    else if (arg->role == MPI_ROLE_TEXT)
        f.primitive = DUMPI_TEXT;
    else if (arg->length != MPI_LENGTH_NONE)
        f.primitive = DUMPI_ARRAY;
    return f;
}

static const struct mpi_arg *find_arg(const struct mpi_signature *s, const char *name,
                                      size_t length)
{
    for (unsigned i = 0; i < s->count; i++)
        if (strncmp(s->args[i].name, name, length) == 0 && !s->args[i].name[length])
            return &s->args[i];
    return NULL;
}

/* A word of the table. */
static struct dumpi_field read_word(const char *function, const struct trace_fn *fn,
                                    const struct mpi_signature *s, const char *word, size_t length)
{
    const char *colon = memchr(word, ':', length);
    int is_length = *word == '#', at_root = *word == '?';
    if (*word == '@')
        return (struct dumpi_field){.primitive = word[1] == 'r' ? DUMPI_COMM_RANK : DUMPI_COMM_SIZE,
                                    .width = 4,
                                    .arg = -1};
    word += is_length || at_root;
    length -= is_length || at_root;
    const struct mpi_arg *arg = find_arg(s, word, colon ? (size_t)(colon - word) : length);
    struct dumpi_field f = {.width = 4, .arg = -1};
    if (arg)
        f = field_of(function, fn, arg);
    if (is_length)
        f = (struct dumpi_field){.primitive = DUMPI_LENGTH, .width = 4, .arg = f.arg};
    if (colon)
        f.width = (uint8_t)(colon[1] - '0');
    f.at_root = (uint8_t)at_root;
    return f;
}

static void lay_out(const char *function, const struct trace_fn *fn, const struct mpi_signature *s,
                    struct dumpi_layout *l)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(others[i].name, function) != 0)
            continue;
        for (const char *at = others[i].fields; *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            l->fields[l->count++] = read_word(function, fn, s, at, length);
            at += length;
        }
        return;
    }
    for (unsigned i = 0; i < s->count; i++)
        if (!is_left_out(&s->args[i]))
            l->fields[l->count++] = field_of(function, fn, &s->args[i]);
}

struct dumpi_layout *dumpi_layouts_make(const struct trace_schema *schema)
{
    struct dumpi_layout *layouts = mem_zalloc(NAMES * sizeof *layouts);
    for (unsigned i = 0; i < NAMES; i++) {
        char name[64];
        layouts[i].fn = trace_schema_find(schema, dumpi_function_name(i, name, sizeof name));
        if (layouts[i].fn < 0 || schema->fns[layouts[i].fn].number < 0) {
            layouts[i].fn = -1;
            continue;
        }
        const struct trace_fn *fn = &schema->fns[layouts[i].fn];
        lay_out(names[i], fn, &mpi_fn_signature[fn->number], &layouts[i]);
    }
    return layouts;
}
