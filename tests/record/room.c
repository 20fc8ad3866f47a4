/*
 * room.c - calls that get more room than they fill, or have nothing to say: what they leave
 * unchanged is no part of a trace. Before, the memory has other bytes natively than simulated.
 */
#include "../mpi/check.h"

enum { ROOM = 12 };

static int a[ROOM], b[ROOM], c[ROOM], d[ROOM];
static MPI_Aint addresses[ROOM];
static MPI_Datatype types[ROOM];

static void fill(void)
{
    int byte = check_virtual() ? 3 : 5;
    memset(a, byte, sizeof a);
    memset(b, byte, sizeof b);
    memset(c, byte, sizeof c);
    memset(d, byte, sizeof d);
    memset(addresses, byte, sizeof addresses);
    memset(types, byte, sizeof types);
}

static void ask_topologies(int rank, int size)
{
    int dims[2] = {size, 1}, periods[2] = {1, 0}, index[ROOM], edges[ROOM];
    int next = (rank + 1) % size, before = (rank + size - 1) % size, weight = rank + 1;
    MPI_Comm comm;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    fill();
    MPI_Cart_get(comm, ROOM, a, b, c);
    MPI_Cart_coords(comm, rank, ROOM, d);
    MPI_Comm_free(&comm);
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
    fill();
    MPI_Graph_get(comm, ROOM, ROOM, a, b);
    MPI_Graph_neighbors(comm, before, ROOM, c);
    MPI_Comm_free(&comm);
    for (int is_weighted = 0; is_weighted < 2; is_weighted++) {
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before,
                                       is_weighted ? &weight : MPI_UNWEIGHTED, 1, &next,
                                       is_weighted ? &weight : MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                       &comm);
        fill();
        MPI_Dist_graph_neighbors(comm, ROOM, a, b, ROOM, c, d);
        MPI_Comm_free(&comm);
    }
}

static void ask_types(void)
{
    MPI_Datatype type;
    MPI_Type_vector(2, 3, 4, MPI_INT, &type);
    fill();
    MPI_Type_get_contents(type, ROOM, ROOM, ROOM, a, addresses, types);
    MPI_Type_free(&type);
}

static void ask_requests(int rank)
{
    MPI_Request r[2];
    MPI_Status s[2];
    MPI_Message message;
    char value[64];
    int flag, word = 0, count;
    MPI_Info info;
    void *attribute;
    fill();
    memset(s, a[0], sizeof s);
    memset(&message, a[0], sizeof message);
    memset(&attribute, a[0], sizeof attribute);
    memset(value, 'x', sizeof value);
    count = b[0];
    MPI_Irecv(&word, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&word, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Test(&r[0], &flag, &s[0]);
    MPI_Testall(2, r, &flag, s);
    MPI_Testany(2, r, &c[0], &flag, &s[0]);
    MPI_Testsome(2, r, &count, c, s);
    MPI_Request_get_status(r[0], &flag, &s[0]);
    MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, &s[0]);
    MPI_Improbe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, &message, &s[0]);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &attribute, &flag);
    memset(&attribute, a[0], sizeof attribute);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &attribute, &flag);
    MPI_Info_create(&info);
    MPI_Info_get(info, "none", 8, value, &flag);
    MPI_Info_get_valuelen(info, "none", &d[0], &flag);
    MPI_Info_free(&info);
    for (int i = 0; i < 2; i++)
        MPI_Send(&word, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
    MPI_Waitall(2, r, s);
    MPI_Waitany(2, r, &c[0], &s[0]);
    MPI_Testsome(2, r, &count, c, s);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    ask_topologies(check_rank(), check_size());
    ask_types();
    ask_requests(check_rank());
    MPI_Finalize();
    return 0;
}
