/* test: n=1,2,5,16 native=4 schedules=3
 * Neighbourhood collectives of all kinds and forms on Cartesian, graph and distributed graph
 * topologies: neighbours that do not exist, the same neighbour twice, oneself as a neighbour. */
#include "check.h"

enum op { GATHER, GATHERV, TOALL, TOALLV, TOALLW, OPS };
enum { MOST = 12, COUNT = 5, UNTOUCHED = -77, PENDING = 3, STARTS = 2 };

/* A topology as a rank sees it, and which of its blocks a source sends to this rank. */
struct view {
    MPI_Comm comm;
    int in, out, sources[MOST], destinations[MOST];
    int sent_as[MOST]; /* by source: the number of the block there */
};

struct call {
    int op, form, wide, id;
    const struct view *v;
    int send[MOST * (COUNT + 1) * 2], recv[MOST * (COUNT + 1) * 2];
    int scounts[MOST], rcounts[MOST], displs[MOST];
    MPI_Count scounts_c[MOST], rcounts_c[MOST];
    MPI_Aint displs_c[MOST];
    MPI_Datatype types[MOST];
    MPI_Request request;
};

static int rank, size;
static unsigned state = 99;
static MPI_Datatype gap_type;

static int pick(int below)
{
    state = state * 1103515245u + 12345u;
    return (int)(state >> 16) % below;
}

/* ---- what goes where ---- */

static int value(const struct call *k, int from, int block, int i)
{
    return k->id * 10007 + from * 101 + block * 11 + i;
}

/* Items of a block; all blocks of a gather are the same. */
static int items(const struct call *k, int from, int block)
{
    if (k->op == GATHERV)
        return (from + k->id) % (COUNT + 1);
    return k->op >= TOALLV ? (from * 3 + block + k->id) % (COUNT + 1) : COUNT;
}

static int block_of(const struct call *k, int slot)
{
    return k->op <= GATHERV ? 0 : k->v->sent_as[slot];
}

static void prepare(struct call *k)
{
    int most = k->v->in > k->v->out ? k->v->in : k->v->out;

    for (int i = 0; i < MOST * (COUNT + 1) * 2; i++)
        k->send[i] = k->recv[i] = UNTOUCHED;
    for (int b = 0; b < most; b++) {
        k->displs[b] = b * (COUNT + (k->op != GATHER && k->op != TOALL));
        if (k->op == TOALLW)
            k->displs[b] *= 2 * (int)sizeof(int);
        k->displs_c[b] = k->displs[b];
        k->types[b] = gap_type;
        k->scounts_c[b] = k->scounts[b] = items(k, rank, b);
        if (b < k->v->in && k->v->sources[b] >= 0)
            k->rcounts[b] = items(k, k->v->sources[b], block_of(k, b));
        else
            k->rcounts[b] = COUNT;
        k->rcounts_c[b] = k->rcounts[b];
    }
}

static int *place(const struct call *k, const int *buf, int b)
{
    return (int *)buf + (k->op == TOALLW ? k->displs[b] / (int)sizeof(int) : 2 * k->displs[b]);
}

static void fill(struct call *k)
{
    int blocks = k->op <= GATHERV ? 1 : k->v->out;

    for (int i = 0; i < MOST * (COUNT + 1) * 2; i++)
        k->recv[i] = UNTOUCHED;
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < items(k, rank, b); i++)
            place(k, k->send, b)[2 * i] = value(k, rank, b, i);
}

static void verify(const struct call *k)
{
    for (int b = 0; b < k->v->in; b++) {
        const int *at = place(k, k->recv, b);
        for (int i = 0; i < k->rcounts[b]; i++) {
            CHECK(
                at[2 * i] ==
                (k->v->sources[b] < 0 ? UNTOUCHED : value(k, k->v->sources[b], block_of(k, b), i)));
            CHECK(at[2 * i + 1] == UNTOUCHED);
        }
    }
}

/* ---- the call ---- */

#define FORMS(name, c, ...)                                              \
    (k->form == 0 ? MPI_Neighbor_##name##c(__VA_ARGS__, k->v->comm)      \
     : k->form == 1                                                      \
         ? MPI_Ineighbor_##name##c(__VA_ARGS__, k->v->comm, &k->request) \
         : MPI_Neighbor_##name##_init##c(__VA_ARGS__, k->v->comm, MPI_INFO_NULL, &k->request))

static void call(struct call *k)
{
    MPI_Datatype t = gap_type;
    int n = items(k, rank, 0);

    switch (k->op) {
    case GATHER:
        (void)(k->wide ? FORMS(allgather, _c, k->send, n, t, k->recv, COUNT, t)
                       : FORMS(allgather, , k->send, n, t, k->recv, COUNT, t));
        break;
    case GATHERV:
        (void)(k->wide ? FORMS(allgatherv, _c, k->send, n, t, k->recv, k->rcounts_c, k->displs_c, t)
                       : FORMS(allgatherv, , k->send, n, t, k->recv, k->rcounts, k->displs, t));
        break;
    case TOALL:
        (void)(k->wide ? FORMS(alltoall, _c, k->send, COUNT, t, k->recv, COUNT, t)
                       : FORMS(alltoall, , k->send, COUNT, t, k->recv, COUNT, t));
        break;
    case TOALLV:
        (void)(k->wide ? FORMS(alltoallv, _c, k->send, k->scounts_c, k->displs_c, t, k->recv,
                               k->rcounts_c, k->displs_c, t)
                       : FORMS(alltoallv, , k->send, k->scounts, k->displs, t, k->recv, k->rcounts,
                               k->displs, t));
        break;
    default:
        (void)(k->wide ? FORMS(alltoallw, _c, k->send, k->scounts_c, k->displs_c, k->types, k->recv,
                               k->rcounts_c, k->displs_c, k->types)
                       : FORMS(alltoallw, , k->send, k->scounts, k->displs_c, k->types, k->recv,
                               k->rcounts, k->displs_c, k->types));
    }
}

/* Several pending at once on one topology; persistent ones are started twice. */
static void exercise(const struct view *v)
{
    static struct call calls[PENDING];

    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < PENDING; i++) {
            struct call *k = &calls[i];
            k->op = pick(OPS);
            k->form = pick(3);
            k->wide = pick(2);
            k->id = pick(1000);
            k->v = v;
            k->request = MPI_REQUEST_NULL;
            prepare(k);
            fill(k);
            call(k);
        }
        for (int start = 0; start < STARTS; start++) {
            for (int i = 0; i < PENDING; i++)
                if (calls[i].form == 2) {
                    fill(&calls[i]);
                    MPI_Start(&calls[i].request);
                }
            for (int i = PENDING - 1; i >= 0; i--) {
                MPI_Wait(&calls[i].request, MPI_STATUS_IGNORE);
                verify(&calls[i]);
            }
        }
        for (int i = 0; i < PENDING; i++)
            if (calls[i].form == 2)
                MPI_Request_free(&calls[i].request);
    }
}

/* ---- topologies ---- */

/* What is sent in one direction comes from the other. */
static void cartesian(int ndims, int periodic)
{
    struct view v = {.in = 2 * ndims, .out = 2 * ndims};
    int dims[3] = {0, 0, 0}, periods[3];

    MPI_Dims_create(size, ndims, dims);
    for (int d = 0; d < ndims; d++) /* MPICH 4.0 matches alltoallv of few ranks otherwise */
        periods[d] = (periodic || d % 2) && (check_virtual() || dims[d] > 2);
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &v.comm);
    for (int d = 0; d < ndims; d++)
        MPI_Cart_shift(v.comm, d, 1, &v.sources[2 * d], &v.sources[2 * d + 1]);
    for (int i = 0; i < 2 * ndims; i++)
        v.sent_as[i] = i ^ 1;
    exercise(&v);
    MPI_Comm_free(&v.comm);
}

/* A ring, each rank with the one before it and the one after it. */
static void graph(void)
{
    struct view v = {.in = 2, .out = 2, .sent_as = {1, 0}};
    int *index = malloc(sizeof(int) * size), *edges = malloc(sizeof(int) * 2 * size);

    for (int r = 0; r < size; r++) {
        index[r] = 2 * (r + 1);
        edges[2 * r] = (r + size - 1) % size;
        edges[2 * r + 1] = (r + 1) % size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &v.comm);
    v.sources[0] = edges[2 * rank];
    v.sources[1] = edges[2 * rank + 1];
    exercise(&v);
    MPI_Comm_free(&v.comm);
    free(index), free(edges);
}

/* Rank r sends to r + shift for each shift; `times` edges each. */
static void dist_graph(int nshifts, const int *shifts, int times)
{
    struct view v = {.in = nshifts * times, .out = nshifts * times};

    for (int i = 0; i < v.out; i++) {
        int shift = shifts[i % nshifts] % size;
        v.destinations[i] = (rank + shift) % size;
        v.sources[i] = (rank + size - shift) % size;
        v.sent_as[i] = i;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, v.in, v.sources, MPI_UNWEIGHTED, v.out,
                                   v.destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &v.comm);
    exercise(&v);
    MPI_Comm_free(&v.comm);
}

int main(int argc, char **argv)
{
    static const int shifts[] = {1, 0, 3};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gap_type);
    MPI_Type_commit(&gap_type);
    for (int ndims = 1; ndims <= 3; ndims++) {
        cartesian(ndims, 0);
        cartesian(ndims, 1);
    }
    if (size > 2)
        graph();
    if (size > 3)
        dist_graph(3, shifts, 1);
    dist_graph(0, shifts, 1);
    if (check_virtual()) /* MPICH 4.0 matches multiple edges backwards */
        dist_graph(2, shifts, 3);
    MPI_Type_free(&gap_type);
    if (rank == 0)
        printf("ok\n");
    MPI_Finalize();
    return 0;
}
