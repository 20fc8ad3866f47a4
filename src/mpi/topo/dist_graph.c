/*
 * dist_graph.c - distributed graphs (MPI-4.0, 8.5.4): a rank keeps only its own neighbours.
 *
 * MPI_Dist_graph_create lets any rank name any edge. Each edge goes to both of its ends as a
 * record, by a route of at most log2(P) hops: in round k a record that is still at a distance
 * (modulo P) with bit k set goes 2^k ranks ahead. So every rank exchanges messages with 2 log2(P)
 * fixed ranks, nothing is O(P), and no order depends on time.
 *
 *     rank 1 names 6 -> 3, P = 8: the record for rank 6 is at distance 5 = 101b
 *         round 0: 1 -> 2 (distance 4), round 1: stays, round 2: 2 -> 6
 *
 * Neighbours are in the order in which edges were named: by naming rank, then in the order it gave.
 * Weights are stored and returned; info and reorder are hints that are not used.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "mpi/coll/message.h"
#include "mpi/comm/check.h"
#include "mpi/p2p/p2p.h"
#include "mpi/p2p/tags.h"
#include "mpi/topo/topo.h"
#include "mpi_impl.h"

/* One end of an edge, in transit to that rank. */
struct record {
    int32_t to;     /* the rank that it is for */
    int32_t is_out; /* that rank is the source of the edge */
    int32_t peer;   /* the rank at the other end */
    int32_t weight;
    uint32_t origin, number; /* the rank that named it, and its number there */
};

struct records {
    struct record *at;
    uint64_t count, cap;
};

static void add(struct records *r, const struct record *one)
{
    ARRAY_RESERVE(r->at, r->cap, r->count + 1, 8);
    r->at[r->count++] = *one;
}

/* ---- routing ---- */

/* Moves records at a distance with the bit `step` from `have` to `out`. */
static void take_out(struct records *have, struct records *out, int me, int size, int step)
{
    uint64_t kept = 0;

    for (uint64_t i = 0; i < have->count; i++) {
        int64_t distance = ((int64_t)have->at[i].to + size - me) % size;

        if (distance & step)
            add(out, &have->at[i]);
        else
            have->at[kept++] = have->at[i];
    }
    have->count = kept;
}

/* Sends `out` to dst and adds what comes from src to `have`. */
static int exchange(struct mpi_rank *self, struct mpi_comm *c, const struct records *out, int dst,
                    struct records *have, int src)
{
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);
    uint64_t coming = 0;
    int tag = MPI_TAG_DIST_GRAPH, rc;

    rc = mpi_coll_sendrecv(self, c, &out->count, sizeof out->count, byte, dst, &coming,
                           sizeof coming, byte, src, tag);
    if (rc)
        return rc;
    ARRAY_RESERVE(have->at, have->cap, have->count + coming, 8);
    rc = mpi_coll_sendrecv(self, c, out->at, out->count * sizeof *out->at, byte, dst,
                           have->at + have->count, coming * sizeof *have->at, byte, src, tag);
    have->count += coming;
    return rc;
}

/* Routes all records to their destinations. */
static int route(struct mpi_rank *self, struct mpi_comm *c, struct records *have)
{
    int64_t size = c->group->size, me = mpi_comm_my_rank(c, self);
    int rc = MPI_SUCCESS;

    for (int64_t step = 1; step < size && !rc; step <<= 1) {
        struct records out = {NULL, 0, 0};

        take_out(have, &out, (int)me, (int)size, (int)step);
        rc = exchange(self, c, &out, (int)((me + step) % size), have,
                      (int)((me + size - step) % size));
        mem_free(out.at);
    }
    return rc;
}

/* ---- a rank's own neighbours ---- */

static struct mpi_dist *dist_new(int in, int out, int weighted)
{
    size_t n = ((size_t)in + (size_t)out) * (weighted ? 2 : 1);
    struct mpi_dist *d = mem_alloc(sizeof *d + n * sizeof(int));

    *d = (struct mpi_dist){in, out, weighted};
    return d;
}

/* The first part of a list where there is no room for all (MPI-4.0, 8.5.5). */
static void copy_part(int *to, const int *from, int have, int max)
{
    int n = have < max ? have : max;

    if (n > 0)
        memcpy(to, from, (size_t)n * sizeof *to);
}

/* Creates the communicator, and adds the caller's neighbours (taking ownership) to its topology. */
static int make_comm(struct mpi_rank *self, struct mpi_comm *c, struct mpi_dist *own, MPI_Comm *out)
{
    struct mpi_comm *made;
    int rc = mpi_topo_make_comm(self, c, (int)c->group->size, MPI_TAG_DIST_GRAPH, &made);

    if (rc) {
        mem_free(own);
        return rc;
    }
    if (!made->topo) {
        made->topo = mem_zalloc(sizeof *made->topo);
        made->topo->refs = 1;
        made->topo->kind = MPI_TOPO_DIST_GRAPH;
        map_init(&made->topo->own);
    }
    *map_insert(&made->topo->own, (uint64_t)mpi_comm_my_rank(made, self), NULL) = (uintptr_t)own;
    *out = made->handle;
    return MPI_SUCCESS;
}

static int record_order(const void *a, const void *b)
{
    const struct record *x = a, *y = b;

    if (x->is_out != y->is_out)
        return x->is_out - y->is_out;
    if (x->origin != y->origin)
        return x->origin < y->origin ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Sorted records: the edges that come in, then those that go out. */
static struct mpi_dist *dist_from_records(struct records *r, int weighted)
{
    struct mpi_dist *d;
    uint64_t in = 0;

    if (r->count)
        qsort(r->at, r->count, sizeof *r->at, record_order);
    while (in < r->count && !r->at[in].is_out)
        in++;
    d = dist_new((int)in, (int)(r->count - in), weighted);
    for (uint64_t i = 0; i < r->count; i++) {
        d->numbers[i] = r->at[i].peer;
        if (weighted)
            d->numbers[r->count + i] = r->at[i].weight;
    }
    return d;
}

/* ---- creating ---- */

static int check_ranks(struct mpi_rank *self, const struct mpi_comm *c, int n, const int *ranks,
                       const char *what)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; !rc && i < n; i++)
        if (ranks[i] < 0 || (uint32_t)ranks[i] >= c->group->size)
            rc = mpi_raise(self, c->handle, MPI_ERR_RANK,
                           "%s: %d is not in the communicator (size %u)", what, ranks[i],
                           c->group->size);
    return rc;
}

/* Weights of n edges: none, an array, or MPI_WEIGHTS_EMPTY where there are no edges. */
static int check_weights(struct mpi_rank *self, const struct mpi_comm *c, int n, const int *weights)
{
    if (weights == MPI_UNWEIGHTED || !n || (weights && weights != MPI_WEIGHTS_EMPTY))
        return MPI_SUCCESS;
    return mpi_raise(self, c->handle, MPI_ERR_ARG, "there are no weights for %d edges", n);
}

int mpi_dist_graph_create_adjacent(struct mpi_rank *self, MPI_Comm comm_old, int indegree,
                                   const int sources[], const int sourceweights[], int outdegree,
                                   const int destinations[], const int destweights[], MPI_Info info,
                                   int reorder, MPI_Comm *comm_dist_graph)
{
    struct mpi_comm *c;
    struct mpi_dist *d;
    int rc = mpi_check_intra(self, comm_old, &c);

    (void)info;
    (void)reorder;
    if (!rc)
        rc = check_ranks(self, c, indegree, sources, "sources");
    if (!rc)
        rc = check_ranks(self, c, outdegree, destinations, "destinations");
    if (!rc)
        rc = check_weights(self, c, indegree, sourceweights);
    if (!rc)
        rc = check_weights(self, c, outdegree, destweights);
    if (!rc && (sourceweights == MPI_UNWEIGHTED) != (destweights == MPI_UNWEIGHTED))
        rc = mpi_raise(self, comm_old, MPI_ERR_ARG, "only one of the two has weights");
    if (rc)
        return rc;
    d = dist_new(indegree, outdegree, sourceweights != MPI_UNWEIGHTED);
    copy_part(mpi_dist_sources(d), sources, indegree, indegree);
    copy_part(mpi_dist_destinations(d), destinations, outdegree, outdegree);
    if (d->weighted) {
        copy_part(mpi_dist_source_weights(d), sourceweights, indegree, indegree);
        copy_part(mpi_dist_destination_weights(d), destweights, outdegree, outdegree);
    }
    return make_comm(self, c, d, comm_dist_graph);
}

/* The edges that the caller names. */
static int check_edges(struct mpi_rank *self, const struct mpi_comm *c, int n, const int *sources,
                       const int *degrees, const int *destinations, const int *weights)
{
    int rc = check_ranks(self, c, n, sources, "sources");
    int64_t count = 0;

    for (int i = 0; i < n; i++)
        count += degrees[i];
    if (!rc && count > INT32_MAX)
        rc = mpi_raise(self, c->handle, MPI_ERR_ARG, "too many edges");
    if (!rc)
        rc = check_ranks(self, c, (int)count, destinations, "destinations");
    return rc ? rc : check_weights(self, c, (int)count, weights);
}

static void name_edges(int me, int n, const int *sources, const int *degrees,
                       const int *destinations, const int *weights, struct records *out)
{
    uint32_t number = 0;

    for (int i = 0; i < n; i++)
        for (int k = 0; k < degrees[i]; k++, number++) {
            int weight = weights == MPI_UNWEIGHTED ? 0 : weights[number];
            struct record tail = {sources[i],   1,     destinations[number], weight,
                                  (uint32_t)me, number};
            struct record head = {destinations[number], 0,     sources[i], weight,
                                  (uint32_t)me,         number};

            add(out, &tail);
            add(out, &head);
        }
}

int mpi_dist_graph_create(struct mpi_rank *self, MPI_Comm comm_old, int n, const int sources[],
                          const int degrees[], const int destinations[], const int weights[],
                          MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
    struct mpi_comm *c;
    struct mpi_dist *own;
    struct records records = {NULL, 0, 0};
    int rc = mpi_check_intra(self, comm_old, &c);

    (void)info;
    (void)reorder;
    if (!rc)
        rc = check_edges(self, c, n, sources, degrees, destinations, weights);
    if (rc)
        return rc;
    name_edges(mpi_comm_my_rank(c, self), n, sources, degrees, destinations, weights, &records);
    rc = route(self, c, &records);
    own = rc ? NULL : dist_from_records(&records, weights != MPI_UNWEIGHTED);
    mem_free(records.at);
    return rc ? rc : make_comm(self, c, own, comm_dist_graph);
}

/* ---- queries ---- */

static int find_own(struct mpi_rank *self, MPI_Comm comm, struct mpi_dist **own)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc && (!c->topo || c->topo->kind != MPI_TOPO_DIST_GRAPH))
        rc = mpi_raise(self, comm, MPI_ERR_TOPOLOGY,
                       "the communicator has no distributed graph topology");
    if (!rc)
        *own = mpi_topo_dist_of(c->topo, mpi_comm_my_rank(c, self));
    return rc;
}

int mpi_dist_graph_neighbors_count(struct mpi_rank *self, MPI_Comm comm, int *indegree,
                                   int *outdegree, int *weighted)
{
    struct mpi_dist *own;
    int rc = find_own(self, comm, &own);

    if (rc)
        return rc;
    *indegree = own->in;
    *outdegree = own->out;
    *weighted = own->weighted;
    return MPI_SUCCESS;
}

int mpi_dist_graph_neighbors(struct mpi_rank *self, MPI_Comm comm, int maxindegree, int sources[],
                             int sourceweights[], int maxoutdegree, int destinations[],
                             int destweights[])
{
    struct mpi_dist *own;
    int rc = find_own(self, comm, &own);

    if (rc)
        return rc;
    copy_part(sources, mpi_dist_sources(own), own->in, maxindegree);
    copy_part(destinations, mpi_dist_destinations(own), own->out, maxoutdegree);
    if (own->weighted && sourceweights && sourceweights != MPI_UNWEIGHTED)
        copy_part(sourceweights, mpi_dist_source_weights(own), own->in, maxindegree);
    if (own->weighted && destweights && destweights != MPI_UNWEIGHTED)
        copy_part(destweights, mpi_dist_destination_weights(own), own->out, maxoutdegree);
    return MPI_SUCCESS;
}
