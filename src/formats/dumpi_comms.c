/*
 * dumpi_comms.c - the members of communicators. DUMPI does not record them, but all calls that
 * create communicators: the n-th such call on a communicator is the same operation on all its
 * members.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/rng.h"
#include "formats/dumpi_in.h"

void dumpi_comms_init(struct dumpi_comms *c, uint64_t ranks)
{
    *c = (struct dumpi_comms){.ranks = ranks};
    c->by_rank = mem_zalloc((ranks + 1) * sizeof *c->by_rank);
    for (uint64_t i = 0; i < ranks; i++)
        map_init(&c->by_rank[i].latest);
    ARRAY_EXTEND(c->comms, c->count);
    c->comms[c->count++] = (struct dumpi_comm){.count = ranks};
}

void dumpi_comms_fini(struct dumpi_comms *c)
{
    for (uint64_t i = 0; i < c->ranks; i++) {
        for (size_t k = 0; k < c->by_rank[i].count; k++)
            mem_free(c->by_rank[i].items[k].dims);
        mem_free(c->by_rank[i].items);
        map_fini(&c->by_rank[i].latest);
    }
    for (size_t i = 0; i < c->count; i++)
        mem_free(c->comms[i].ranks), mem_free(c->comms[i].dims);
    mem_free(c->by_rank);
    mem_free(c->comms);
}

void dumpi_comms_add(struct dumpi_comms *c, uint64_t rank, int64_t from, int64_t made,
                     struct dumpi_creation creation)
{
    struct dumpi_rank_creations *r = &c->by_rank[rank];
    const uint64_t *latest = map_find(&r->latest, (uint64_t)from);
    creation.from = from == 2   ? DUMPI_IS_WORLD
                    : from == 3 ? DUMPI_IS_SELF
                    : latest    ? (int64_t)*latest - 1
                                : DUMPI_IS_UNKNOWN;
    creation.is_null = made <= 1;
    creation.comm = -1;
    ARRAY_EXTEND(r->items, r->count);
    r->items[r->count++] = creation;
    if (!creation.is_null)
        *map_insert(&r->latest, (uint64_t)made, NULL) = r->count;
}

/* ---- one operation ---- */

/* What a member contributes. */
struct part {
    uint64_t rank; /* in the old communicator */
    int64_t world;
    struct dumpi_creation *creation;
};

/* An operation of all members of a communicator, and its calls so far. */
struct operation {
    size_t comm; /* the old one */
    uint64_t number;
    struct part *parts;
    size_t count;
};

static int by_split(const void *a, const void *b)
{
    const struct part *p = a, *q = b;
    if (p->creation->color != q->creation->color)
        return p->creation->color < q->creation->color ? -1 : 1;
    if (p->creation->key != q->creation->key)
        return p->creation->key < q->creation->key ? -1 : 1;
    return (p->rank > q->rank) - (p->rank < q->rank);
}

/* Distinguishes the parts into which Cart_sub divides a communicator, by the coordinates in the
 * dimensions that it drops. */
static void set_colors(const struct dumpi_comm *old, struct part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct dumpi_creation *c = parts[i].creation;
        uint64_t rest = parts[i].rank;
        int64_t color = 0;
        for (size_t d = old->ndims; d > 0; d--) {
            uint64_t size = old->dims[d - 1] > 0 ? (uint64_t)old->dims[d - 1] : 1;
            if (d > c->ndims || !c->dims[d - 1])
                color = (int64_t)((uint64_t)color * size + rest % size);
            rest /= size;
        }
        c->color = color;
        c->key = 0;
    }
}

static size_t new_comm(struct dumpi_comms *c, const struct part *parts, size_t count)
{
    struct dumpi_comm comm = {.count = count};
    uint64_t state = c->count;
    comm.identity = rng_splitmix(&state) & ~(UINT64_C(1) << 63);
    comm.ranks = mem_alloc((count + 1) * sizeof *comm.ranks);
    for (size_t i = 0; i < count; i++)
        comm.ranks[i] = parts[i].world;
    ARRAY_EXTEND(c->comms, c->count);
    c->comms[c->count++] = comm;
    return c->count - 1;
}

static void finish(struct dumpi_comms *c, const struct trace_schema *schema, struct operation *m)
{
    int number = schema->fns[m->parts[0].creation->fn].number;
    unsigned step = number < 0 ? MPI_STEP_NONE : mpi_fn_effect[number].step;
    size_t count = 0;
    for (size_t i = 0; i < m->count; i++)
        if (!m->parts[i].creation->is_null)
            m->parts[count++] = m->parts[i];
    if (step == MPI_STEP_SUBGRID)
        set_colors(&c->comms[m->comm], m->parts, count);
    else if (step != MPI_STEP_SPLIT)
        for (size_t i = 0; i < count; i++)
            m->parts[i].creation->color = m->parts[i].creation->key = 0;
    if (count)
        qsort(m->parts, count, sizeof *m->parts, by_split);
    for (size_t first = 0, last; first < count; first = last) {
        for (last = first + 1;
             last < count && m->parts[last].creation->color == m->parts[first].creation->color;)
            last++;
        size_t made = new_comm(c, m->parts + first, last - first);
        for (size_t i = first; i < last; i++)
            m->parts[i].creation->comm = (int64_t)made;
        const struct dumpi_creation *one = m->parts[first].creation;
        if (step == MPI_STEP_GRID && one->ndims) {
            c->comms[made].dims = mem_alloc(one->ndims * sizeof *one->dims);
            memcpy(c->comms[made].dims, one->dims, one->ndims * sizeof *one->dims);
            c->comms[made].ndims = one->ndims;
        }
    }
}

/* ---- all of them ---- */

struct resolving {
    struct dumpi_comms *c;
    const struct trace_schema *schema;
    struct operation *operations;
    size_t count;
    struct map open;  /* by old communicator and number: to the operation + 1 */
    struct map turns; /* by rank and old communicator: operations so far */
    size_t *next;     /* of each rank */
};

static uint64_t key(uint64_t a, uint64_t b)
{
    uint64_t state = a * RNG_SPLITMIX_STEP ^ b;
    return rng_splitmix(&state);
}

static int64_t rank_in(const struct dumpi_comm *comm, uint64_t rank)
{
    if (!comm->ranks)
        return (int64_t)rank;
    for (size_t i = 0; i < comm->count; i++)
        if (comm->ranks[i] == (int64_t)rank)
            return (int64_t)i;
    return -1;
}

/* The index of the communicator from which one is created, or -1 if it is not known yet. */
static int64_t known_from(const struct dumpi_comms *c, uint64_t rank,
                          const struct dumpi_creation *creation)
{
    if (creation->from == DUMPI_IS_WORLD)
        return 0;
    return creation->from < 0 ? -1 : c->by_rank[rank].items[creation->from].comm;
}

/* Processes as many operations of the rank as possible; returns whether there was one. */
static int advance(struct resolving *r, uint64_t rank)
{
    struct dumpi_rank_creations *own = &r->c->by_rank[rank];
    int some = 0, is_new;
    for (; r->next[rank] < own->count; r->next[rank]++) {
        struct dumpi_creation *creation = &own->items[r->next[rank]];
        int64_t from = known_from(r->c, rank, creation);
        if (from < 0 && creation->from >= 0 && own->items[creation->from].comm < 0)
            return some; /* it must be created first */
        if (from < 0)
            continue;
        uint64_t turn = (*map_insert(&r->turns, key(rank, (uint64_t)from), NULL))++;
        uint64_t *at = map_insert(&r->open, key((uint64_t)from + 1, turn), &is_new);
        if (is_new) {
            ARRAY_EXTEND(r->operations, r->count);
            r->operations[r->count++] = (struct operation){.comm = (size_t)from, .number = turn};
            *at = r->count;
        }
        struct operation *m = &r->operations[*at - 1];
        int64_t position = rank_in(&r->c->comms[from], rank);
        ARRAY_EXTEND(m->parts, m->count);
        m->parts[m->count++] = (struct part){position < 0 ? 0 : (uint64_t)position, (int64_t)rank,
                                             creation};
        some = 1;
        if (m->count == r->c->comms[from].count)
            finish(r->c, r->schema, m);
    }
    return some;
}

void dumpi_comms_resolve(struct dumpi_comms *c, const struct trace_schema *schema,
                         struct format_notes *notes)
{
    struct resolving r = {.c = c, .schema = schema};
    int some = 1;
    map_init(&r.open);
    map_init(&r.turns);
    r.next = mem_zalloc((c->ranks + 1) * sizeof *r.next);
    while (some) {
        some = 0;
        for (uint64_t rank = 0; rank < c->ranks; rank++)
            some |= advance(&r, rank);
        /* A rank is missing: continue with the others. */
        for (size_t i = 0; !some && i < r.count; i++)
            if (r.operations[i].count &&
                r.operations[i].count < c->comms[r.operations[i].comm].count &&
                r.operations[i].parts[0].creation->comm < 0 &&
                !r.operations[i].parts[0].creation->is_null) {
                format_note(notes, "left out: communicators that not all members created");
                finish(c, schema, &r.operations[i]);
                some = 1;
            }
    }
    for (size_t i = 0; i < r.count; i++)
        mem_free(r.operations[i].parts);
    mem_free(r.operations);
    mem_free(r.next);
    map_fini(&r.open);
    map_fini(&r.turns);
}
