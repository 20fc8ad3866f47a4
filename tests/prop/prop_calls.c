/*
 * prop_calls.c - volumes of collectives against a naive oracle: a matrix of what each rank sends to
 * each other one by a linear algorithm, written down from the standard's text. Every collective
 * function of the list is tried, on random communicators, in place and not.
 *
 * usage: prop_calls [SEED]
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "calls/calls.h"
#include "tap.h"

#define RANKS 6 /* of both groups */
#define CASES 60

/* A collective call on all ranks. Ranks below `split` are the first group of an intercommunicator;
 * without one, split is 0. */
struct sample {
    unsigned ranks, split;
    unsigned root;
    int in_place;
    int64_t count, type;                  /* of a block, the same on all ranks */
    int64_t list[RANKS];                  /* of a vector collective of one rank with all */
    int64_t pairs[RANKS][RANKS];          /* of one with all ranks of all: from, to */
    int64_t to[RANKS][4], from[RANKS][4]; /* neighbours, or -1 */
    unsigned to_count[RANKS], from_count[RANKS];
    uint64_t sent[RANKS][RANKS]; /* the oracle's bytes */
};

static uint64_t rng;

static unsigned below(unsigned n)
{
    return (unsigned)(rng_splitmix(&rng) % n);
}

/* Datatype t has 2 t + 1 bytes. */
static uint64_t type_size(const void *none, int64_t type)
{
    (void)none;
    return type < 0 ? 0 : (uint64_t)(2 * type + 1);
}

static int is_first(const struct sample *s, unsigned rank)
{
    return rank < s->split;
}

/* Whether rank i sends to rank j in a collective of all with all. */
static int is_peer(const struct sample *s, unsigned i, unsigned j)
{
    return !s->split || is_first(s, i) != is_first(s, j);
}

/* The rank in its group. */
static unsigned local(const struct sample *s, unsigned rank)
{
    return rank < s->split ? rank : rank - s->split;
}

static unsigned group_size(const struct sample *s, unsigned rank)
{
    return !s->split ? s->ranks : is_first(s, rank) ? s->split : s->ranks - s->split;
}

/* ---- the oracle ---- */

static uint64_t one(const struct sample *s)
{
    return (uint64_t)s->count * type_size(NULL, s->type);
}

static uint64_t item(const struct sample *s, unsigned rank)
{
    return (uint64_t)s->list[local(s, rank)] * type_size(NULL, s->type);
}

static uint64_t between(const struct sample *s, int base, unsigned i, unsigned j)
{
    int is_root = i == s->root, to_root = j == s->root, keeps = s->in_place && i == j;
    switch (base) {
    case MPI_FN_BCAST:
        return is_root ? one(s) : 0;
    case MPI_FN_SCATTER:
        return is_root && !keeps ? one(s) : 0;
    case MPI_FN_SCATTERV:
        return is_root && !keeps ? item(s, j) : 0;
    case MPI_FN_GATHER:
        return to_root && !keeps ? one(s) : 0;
    case MPI_FN_GATHERV:
        return to_root && !keeps ? item(s, i) : 0;
    case MPI_FN_REDUCE:
        return to_root ? one(s) : 0;
    case MPI_FN_ALLREDUCE:
    case MPI_FN_ALLGATHER:
    case MPI_FN_ALLTOALL:
    case MPI_FN_REDUCE_SCATTER_BLOCK:
        return one(s);
    case MPI_FN_ALLGATHERV:
        return item(s, i);
    case MPI_FN_ALLTOALLV:
        return (uint64_t)s->pairs[i][j] * type_size(NULL, s->type);
    case MPI_FN_ALLTOALLW: /* each pair has a datatype of its own */
        return (uint64_t)s->pairs[i][j] * type_size(NULL, (int64_t)(local(s, i) + local(s, j)) % 3);
    case MPI_FN_REDUCE_SCATTER:
        return item(s, j);
    case MPI_FN_SCAN:
        return j >= i ? one(s) : 0;
    case MPI_FN_EXSCAN:
        return j > i ? one(s) : 0;
    default:
        return 0;
    }
}

static void send_to_neighbours(struct sample *s, int base, unsigned i)
{
    for (unsigned k = 0; k < s->to_count[i]; k++) {
        int64_t to = s->to[i][k];
        int is_own = base == MPI_FN_NEIGHBOR_ALLGATHER || base == MPI_FN_NEIGHBOR_ALLTOALL;
        if (to >= 0)
            s->sent[i][to] += is_own ? one(s) : (uint64_t)s->list[i] * type_size(NULL, s->type);
    }
}

static void fill_oracle(struct sample *s, const struct mpi_effect *e)
{
    memset(s->sent, 0, sizeof s->sent);
    for (unsigned i = 0; i < s->ranks; i++) {
        if (e->class == MPI_CLASS_NEIGHBOURS)
            send_to_neighbours(s, e->base, i);
        for (unsigned j = 0; j < s->ranks && e->class != MPI_CLASS_NEIGHBOURS; j++)
            if (is_peer(s, i, j))
                s->sent[i][j] = between(s, e->base, i, j);
    }
}

/* ---- the call of a rank, as a record ---- */

struct record {
    struct trace_event event;
    int64_t send_counts[RANKS], recv_counts[RANKS], send_types[RANKS], recv_types[RANKS];
};

static void set(struct record *r, int at, int64_t number)
{
    if (at >= 0)
        r->event.args[at].number = number;
}

static void set_items(struct record *r, int at, const int64_t *items, unsigned count)
{
    if (at >= 0) {
        r->event.args[at].items = items;
        r->event.args[at].count = count;
    }
}

/* Counts of vector collectives: a rank knows those with all its peers. */
static unsigned fill_counts(const struct sample *s, const struct mpi_effect *e, unsigned rank,
                            struct record *r)
{
    unsigned count = 0, is_pairs = e->base == MPI_FN_ALLTOALLV || e->base == MPI_FN_ALLTOALLW;
    int own_side = e->base == MPI_FN_REDUCE_SCATTER; /* items are those of the rank's own group */
    for (unsigned j = 0; j < s->ranks; j++) {
        if (own_side ? s->split && is_first(s, j) != is_first(s, rank) : !is_peer(s, rank, j))
            continue;
        r->send_counts[count] = is_pairs ? s->pairs[rank][j] : s->list[local(s, j)];
        r->recv_counts[count] = is_pairs ? s->pairs[j][rank] : s->list[local(s, j)];
        r->send_types[count] = r->recv_types[count] = (local(s, rank) + local(s, j)) % 3;
        count++;
    }
    return count;
}

/* Neighbours: what rank i sends to each of them is the same, and they know it. */
static void fill_neighbours(const struct sample *s, unsigned rank, struct record *r)
{
    for (unsigned k = 0; k < s->to_count[rank]; k++)
        r->send_counts[k] = s->list[rank], r->send_types[k] = s->type;
    for (unsigned k = 0; k < s->from_count[rank]; k++) {
        int64_t from = s->from[rank][k];
        r->recv_counts[k] = from < 0 ? 7 : s->list[from], r->recv_types[k] = s->type;
    }
}

static int64_t root_of(const struct sample *s, unsigned rank)
{
    if (!s->split)
        return s->root;
    return rank == s->root                             ? CALLS_ROOT
           : is_first(s, rank) == is_first(s, s->root) ? CALLS_PROC_NULL
                                                       : (int64_t)local(s, s->root);
}

/* Buffers that are MPI_IN_PLACE; where they are not allowed, the oracle's call is not in place. */
static void place_buffers(const struct sample *s, const struct mpi_effect *e, unsigned rank,
                          struct record *r, struct calls_place *p)
{
    int is_scatter = e->base == MPI_FN_SCATTER || e->base == MPI_FN_SCATTERV;
    int is_rooted = e->root >= 0;
    if (!s->in_place || (is_rooted && rank != s->root) || e->base == MPI_FN_BCAST)
        return;
    set(r, is_scatter ? e->recv_buf : e->send_buf, TRACE_BUFFER_IN_PLACE);
    p->sends_in_place = !is_scatter;
    p->receives_in_place = (uint8_t)is_scatter;
    if (!e->reduces && !is_scatter) { /* arguments of the buffer are ignored */
        set(r, e->send_count, 99);
        set(r, e->send_type, 1);
        for (unsigned i = 0; i < RANKS; i++)
            r->send_counts[i] = 99;
    }
}

static void fill(const struct sample *s, const struct mpi_effect *e, unsigned rank,
                 struct record *r, struct calls_place *p)
{
    *r = (struct record){0};
    unsigned peers = s->split ? s->ranks - group_size(s, rank) : s->ranks;
    *p = (struct calls_place){.size = group_size(s, rank),
                              .peers = peers,
                              .sources = peers,
                              .rank = local(s, rank),
                              .root = e->root >= 0 ? root_of(s, rank) : CALLS_PROC_NULL,
                              .is_inter = s->split > 0};
    int is_item = e->gives == MPI_VOLUME_BLOCK && e->gets_root + e->gives_root + e->spreads > 0 &&
                  e->gets == MPI_VOLUME_LIST; /* MPI_Gatherv, MPI_Allgatherv: its own item */
    int gets_item = e->gives == MPI_VOLUME_LIST && e->gives_root; /* MPI_Scatterv */
    int64_t mine = e->class == MPI_CLASS_NEIGHBOURS ? s->list[rank] : s->list[local(s, rank)];
    unsigned counts = fill_counts(s, e, rank, r);
    if (e->class == MPI_CLASS_NEIGHBOURS) {
        fill_neighbours(s, rank, r);
        calls_neighbours(p, s->to[rank], s->to_count[rank], s->from[rank], s->from_count[rank]);
    }
    set(r, e->send_count, is_item ? mine : s->count);
    if (e->recv_count != e->send_count)
        set(r, e->recv_count, gets_item ? mine : s->count);
    set(r, e->send_type, s->type);
    set(r, e->recv_type, s->type);
    set(r, e->root, p->root);
    int is_neighbour = e->class == MPI_CLASS_NEIGHBOURS;
    set_items(r, e->send_counts, r->send_counts, is_neighbour ? s->to_count[rank] : counts);
    set_items(r, e->recv_counts, r->recv_counts, is_neighbour ? s->from_count[rank] : counts);
    set_items(r, e->send_types, r->send_types, is_neighbour ? s->to_count[rank] : counts);
    set_items(r, e->recv_types, r->recv_types, is_neighbour ? s->from_count[rank] : counts);
    place_buffers(s, e, rank, r, p);
}

/* ---- cases ---- */

static void draw_neighbours(struct sample *s)
{
    memset(s->to_count, 0, sizeof s->to_count);
    memset(s->from_count, 0, sizeof s->from_count);
    for (unsigned k = 0; k < 2 * s->ranks; k++) {
        unsigned i = below(s->ranks), j = below(s->ranks);
        if (s->to_count[i] == 4 || s->from_count[j] == 4)
            continue;
        int is_gone = below(4) == 0; /* MPI_PROC_NULL at both ends */
        s->to[i][s->to_count[i]++] = is_gone ? -1 : (int64_t)j;
        s->from[j][s->from_count[j]++] = is_gone ? -1 : (int64_t)i;
    }
}

static struct sample draw(const struct mpi_effect *e)
{
    struct sample s = {.ranks = 1 + below(RANKS), .count = below(20), .type = below(3)};
    int may_be_inter = e->class != MPI_CLASS_SCAN && e->class != MPI_CLASS_NEIGHBOURS;
    s.split = may_be_inter && s.ranks > 1 && below(2) ? 1 + below(s.ranks - 1) : 0;
    s.root = below(s.ranks);
    s.in_place = !s.split && e->class != MPI_CLASS_NEIGHBOURS && below(2);
    for (unsigned i = 0; i < RANKS; i++)
        s.list[i] = below(9);
    for (unsigned i = 0; i < RANKS; i++)
        for (unsigned j = 0; j <= i; j++) {
            s.pairs[i][j] = below(9);
            s.pairs[j][i] = s.in_place ? s.pairs[i][j] : below(9);
        }
    /* Both groups scatter vectors of the same length. */
    if (s.split && e->base == MPI_FN_REDUCE_SCATTER)
        s.split = s.ranks % 2 ? 0 : s.ranks / 2;
    if (s.split && e->base == MPI_FN_REDUCE_SCATTER_BLOCK)
        s.split = s.ranks % 2 ? 0 : s.ranks / 2;
    draw_neighbours(&s);
    return s;
}

static int is_right(struct sample *s, const struct mpi_effect *e, unsigned rank)
{
    const struct calls_types types = {type_size, NULL};
    struct calls_place p;
    struct record r;
    uint64_t sent = 0, received = 0;
    fill(s, e, rank, &r, &p);
    for (unsigned j = 0; j < s->ranks; j++) {
        sent += s->sent[rank][j];
        received += s->sent[j][rank];
    }
    uint64_t gives = calls_share_bytes(e, &r.event, &p, calls_gives(e, &p), &types),
             gets = calls_share_bytes(e, &r.event, &p, calls_gets(e, &p), &types);
    if (gives * calls_copies_sent(e, &p) == sent && gets * calls_copies_received(e, &p) == received)
        return 1;
    diag("rank %u of %u, split %u, root %u, in place %d: sends %llu x %llu instead of %llu, "
         "receives %llu x %llu instead of %llu",
         rank, s->ranks, s->split, s->root, s->in_place, (unsigned long long)gives,
         (unsigned long long)calls_copies_sent(e, &p), (unsigned long long)sent,
         (unsigned long long)gets, (unsigned long long)calls_copies_received(e, &p),
         (unsigned long long)received);
    return 0;
}

static void try_function(const struct trace_schema *schema, const struct mpi_effect *shapes,
                         unsigned fn)
{
    const struct mpi_effect *e = &shapes[fn];
    int good = 1;
    for (int i = 0; i < CASES && good; i++) {
        struct sample s = draw(e);
        fill_oracle(&s, e);
        for (unsigned rank = 0; rank < s.ranks && good; rank++)
            good = is_right(&s, e, rank);
    }
    ok(good, "%s", schema->fns[fn].name);
}

int main(int argc, char **argv)
{
    struct trace_schema *schema = trace_schema_make();
    struct mpi_effect *shapes = calls_of(schema);
    unsigned tried = 0;
    plan_auto();
    rng = argc > 1 ? strtoull(argv[1], NULL, 0) : 24;
    diag("seed %llu", (unsigned long long)rng);
    for (unsigned i = 0; i < schema->count; i++)
        if (shapes[i].kind == MPI_DOES_COLLECTIVE && shapes[i].gives != MPI_VOLUME_NOTHING) {
            try_function(schema, shapes, i);
            tried++;
        }
    is_int(tried, 6 * (16 + 5), "blocking, nonblocking and persistent, with int and MPI_Count");
    mem_free(shapes);
    trace_schema_free(schema);
    return done_testing();
}
