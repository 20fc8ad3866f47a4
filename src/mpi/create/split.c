/*
 * split.c - MPI_Comm_split and what is built on it.
 *
 *     1  every rank's (color, key) goes up a binomial tree to rank 0 of the parent
 *     2  rank 0 sorts by (color, key, rank), makes one communicator per color
 *     3  descriptors go down the same tree
 *
 *     rank  0       1       2       3       4 ...       rank r owns the subtree [r, r + lowbit(r)),
 *           |<-----'|       |<-----'|       |           cut at the size; its items are contiguous
 *           |<--------------'               |
 *           |<------------------------------'
 *
 * Both sides of an intercommunicator do 1 and 3 for themselves; rank 0 of the high side sends the
 * items to rank 0 of the low side, which makes the communicators, and gets descriptors back.
 *
 * O(P log P) time in all. Items in flight are O(P) bytes at a time; while ranks wait for their
 * descriptors they hold 4 bytes for each rank of their subtree, of which pages beyond the first are
 * not touched before the descriptors come: some 20 bytes per rank.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mpi/coll/message.h"
#include "mpi/comm/check.h"
#include "mpi/comm/errhandler.h"
#include "mpi/create/create.h"
#include "mpi/info.h"
#include "mpi/p2p/p2p.h"
#include "mpi/p2p/tags.h"
#include "mpi_impl.h"

struct item {
    int32_t color, key;
};

struct entry {
    int32_t color;
    uint32_t high; /* side of an intercommunicator */
    int32_t key;
    uint32_t rank; /* in the parent, on its side */
};

/* A rank's position in the binomial tree. */
struct position {
    int me, n;
    int top;  /* lowest set bit of me; for rank 0 the power of two that covers n */
    int span; /* ranks in the subtree */
};

static struct position position_of(int me, int n)
{
    struct position p = {me, n, 1, 0};

    while (p.top < n && !(me & p.top))
        p.top <<= 1;
    p.span = n - me < p.top ? n - me : p.top;
    return p;
}

/* Ranks in the subtree of the child at distance `mask`, 0 if there is none. */
static uint64_t child_span(const struct position *p, int mask)
{
    int left = p->n - p->me - mask;

    return left <= 0 ? 0 : left < mask ? (uint64_t)left : (uint64_t)mask;
}

/* The communicator that the tree is in. */
static struct mpi_comm *tree_of(struct mpi_comm *c)
{
    return c->remote ? c->local : c;
}

/* Fills items[0..span) of the subtree; items[0] is the caller's. Sends them up unless rank 0. */
static int gather(struct mpi_rank *self, struct mpi_comm *c, const struct position *p,
                  struct item *items, int tag)
{
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);
    int rc = MPI_SUCCESS;

    for (int mask = 1; mask < p->top && !rc; mask <<= 1) {
        uint64_t count = child_span(p, mask);

        if (count)
            rc = mpi_coll_recv(self, c, items + mask, count * sizeof *items, byte, p->me + mask,
                               tag);
    }
    if (!rc && p->me)
        rc = mpi_coll_send(self, c, items, (uint64_t)p->span * sizeof *items, byte, p->me - p->top,
                           tag);
    return rc;
}

/* Sends the children their part of descs[0..span). */
static int scatter(struct mpi_rank *self, struct mpi_comm *c, const struct position *p,
                   const mpi_comm_desc *descs, int tag)
{
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);
    int rc = MPI_SUCCESS;

    for (int mask = p->top >> 1; mask && !rc; mask >>= 1) {
        uint64_t count = child_span(p, mask);

        if (count)
            rc = mpi_coll_send(self, c, descs + mask, count * sizeof *descs, byte, p->me + mask,
                               tag);
    }
    return rc;
}

static int entry_order(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->color != y->color)
        return x->color < y->color ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

/* Members entries[0..n), ranks in g. */
static struct mpi_group *make_group(const struct mpi_group *g, const struct entry *entries,
                                    uint32_t n)
{
    uint32_t *list = mem_alloc(n * sizeof *list);

    for (uint32_t i = 0; i < n; i++)
        list[i] = mpi_group_world_rank(g, entries[i].rank);
    return mpi_group_make_list(list, n);
}

/* The communicator of entries[0..n), which all have one color; the low descriptor. */
static mpi_comm_desc make_part(struct mpi_rank *self, const struct mpi_comm *c,
                               const struct entry *entries, uint32_t n)
{
    MPI_Errhandler handler = mpi_errhandler_given(self, c);
    uint32_t low = 0;

    if (!c->remote)
        return mpi_comm_describe(mpi_comm_new(make_group(c->group, entries, n), handler),
                                 (enum mpi_fn)self->fn, c);
    while (low < n && !entries[low].high)
        low++;
    if (low == 0 || low == n) /* nobody on the other side */
        return MPI_COMM_DESC_NULL;
    return mpi_comm_describe(mpi_comm_new_inter(make_group(c->group, entries, low),
                                                make_group(c->remote, entries + low, n - low),
                                                handler),
                             (enum mpi_fn)self->fn, c);
}

/* Rank 0 (of the low side): decides who goes where. items[r] and descs[r] are those of rank r of
 * c, those of the remote group come behind; n in all. */
static void assign(struct mpi_rank *self, const struct mpi_comm *c, const struct item *items,
                   uint32_t n, mpi_comm_desc *descs)
{
    struct entry *entries = mem_alloc(n * sizeof *entries);
    uint32_t used = 0, lows = c->group->size;

    for (uint32_t r = 0; r < n; r++) {
        uint32_t high = r >= lows;

        descs[r] = MPI_COMM_DESC_NULL;
        if (items[r].color != MPI_UNDEFINED)
            entries[used++] = (struct entry){items[r].color, high, items[r].key,
                                             high ? r - lows : r};
    }
    qsort(entries, used, sizeof *entries, entry_order);
    for (uint32_t i = 0, end; i < used; i = end) {
        for (end = i + 1; end < used && entries[end].color == entries[i].color;)
            end++;
        mpi_comm_desc desc = make_part(self, c, entries + i, end - i);
        for (uint32_t k = i; k < end; k++)
            descs[entries[k].rank + (entries[k].high ? lows : 0)] = entries[k].high
                                                                        ? mpi_comm_desc_high(desc)
                                                                        : desc;
    }
    mem_free(entries);
}

/* Rank 0 of the low side of an intercommunicator: the high items too, and back with descriptors. */
static int assign_both(struct mpi_rank *self, struct mpi_comm *c, const struct item *items,
                       mpi_comm_desc *descs, int tag)
{
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);
    size_t lows = c->group->size, highs = c->remote->size;
    struct item *all = mem_alloc((lows + highs) * sizeof *all);
    mpi_comm_desc *both = mem_alloc((lows + highs) * sizeof *both);
    int rc;

    memcpy(all, items, lows * sizeof *all);
    rc = mpi_coll_recv(self, c, all + lows, highs * sizeof *all, byte, 0, tag);
    if (!rc) {
        assign(self, c, all, (uint32_t)(lows + highs), both);
        memcpy(descs, both, lows * sizeof *descs);
        rc = mpi_coll_send(self, c, both + lows, highs * sizeof *both, byte, 0, tag);
    }
    mem_free(both);
    mem_free(all);
    return rc;
}

/* Rank 0's part after all items have come. */
static int decide(struct mpi_rank *self, struct mpi_comm *c, const struct position *p,
                  const struct item *items, int tag, MPI_Comm *out)
{
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);
    uint64_t n = (uint64_t)p->n;
    mpi_comm_desc *descs = mem_alloc(n * sizeof *descs);
    int rc = MPI_SUCCESS;

    if (!c->remote) {
        assign(self, c, items, (uint32_t)n, descs);
    } else if (!c->high) {
        rc = assign_both(self, c, items, descs, tag);
    } else {
        rc = mpi_coll_send(self, c, items, n * sizeof *items, byte, 0, tag);
        if (!rc)
            rc = mpi_coll_recv(self, c, descs, n * sizeof *descs, byte, 0, tag);
    }
    if (!rc)
        rc = scatter(self, tree_of(c), p, descs, tag);
    if (!rc)
        *out = mpi_comm_adopt(self, c, descs[0]);
    mem_free(descs);
    return rc;
}

/* The path up the tree; rank 0 does everything here. */
static __attribute__((noinline)) int ascend(struct mpi_rank *self, struct mpi_comm *c, int color,
                                            int key, int tag, MPI_Comm *out)
{
    struct position p = position_of(mpi_comm_my_rank(c, self), (int)c->group->size);
    struct item mine = {color, key}, *items = &mine;
    int rc;

    if (p.span > 1) { /* half of the ranks are leaves and need no memory */
        items = mem_alloc((size_t)p.span * sizeof *items);
        items[0] = mine;
    }
    rc = gather(self, tree_of(c), &p, items, tag);
    if (!rc && p.me == 0)
        rc = decide(self, c, &p, items, tag, out);
    if (items != &mine)
        mem_free(items);
    return rc;
}

/* The path down for all but rank 0: here most ranks wait for the slowest. */
static __attribute__((noinline)) int descend(struct mpi_rank *self, struct mpi_comm *c, int tag,
                                             MPI_Comm *out)
{
    mpi_comm_desc one, *descs = &one;
    struct position p = position_of(mpi_comm_my_rank(c, self), (int)c->group->size);
    int rc;

    if (p.span > 1)
        descs = mem_alloc((size_t)p.span * sizeof *descs);
    rc = mpi_coll_recv(self, tree_of(c), descs, (uint64_t)p.span * sizeof *descs,
                       mpi_type_get(MPI_BYTE), p.me - p.top, tag);
    if (!rc && p.span > 1) {
        p = position_of(mpi_comm_my_rank(c, self), (int)c->group->size);
        rc = scatter(self, tree_of(c), &p, descs, tag);
    }
    if (!rc)
        *out = mpi_comm_adopt(self, c, descs[0]);
    if (descs != &one)
        mem_free(descs);
    return rc;
}

/* Written so that a rank waiting for its descriptor has one frame here, and a small one. */
int mpi_comm_divide(struct mpi_rank *self, struct mpi_comm *c, int color, int key, int tag,
                    MPI_Comm *out)
{
    int rc = ascend(self, c, color, key, tag, out);

    if (rc || mpi_comm_my_rank(c, self) == 0)
        return rc;
    return descend(self, c, tag, out);
}

/* ---- the MPI calls ---- */

/* Raises what is wrong with the arguments of a split; MPI_SUCCESS if nothing is. */
static int check_split(struct mpi_rank *self, MPI_Comm comm)
{
    struct mpi_comm *c;

    return mpi_check_comm(self, comm, &c);
}

int mpi_comm_split(struct mpi_rank *self, MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    int rc = check_split(self, comm);

    if (rc)
        return rc;
    return mpi_comm_divide(self, mpi_comm_get(comm), color, key, MPI_TAG_COMM_SPLIT, newcomm);
}

static int node_of(const struct mpi_rank *self)
{
    return (int)net_node(&mpi_world.net, mpi_rank_id(self));
}

/* Does the hint ask for a resource that is a node here? The model has no smaller ones. */
static int is_node_hint(MPI_Info info)
{
    const char *type = mpi_info_lookup(info, "mpi_hw_resource_type");

    return type && (!strcmp(type, "mpi_shared_memory") || !strcmp(type, "machine"));
}

/* Splits by node; returns MPI_COMM_NULL if the part is no smaller than the whole (MPI-4.0, 7.4.2).
 * The info object, if there is one, tells what the parts are. */
static int split_unguided(struct mpi_rank *self, struct mpi_comm *c, int key, MPI_Info info,
                          MPI_Comm *newcomm)
{
    int rc = mpi_comm_divide(self, c, node_of(self), key, MPI_TAG_COMM_SPLIT_TYPE, newcomm);
    struct mpi_comm *part = rc ? NULL : mpi_comm_at(*newcomm);

    if (part && part->group->size == c->group->size) {
        mpi_comm_leave(self, part);
        *newcomm = MPI_COMM_NULL;
    } else if (part && info != MPI_INFO_NULL) {
        rc = mpi_info_set(self, info, "mpi_hw_resource_type", "mpi_shared_memory");
    }
    return rc;
}

/* A color for a text: equal texts have equal ones. */
static int color_of(const char *text)
{
    uint32_t hash = 0x811c9dc5u;

    while (*text)
        hash = (hash ^ (unsigned char)*text++) * 0x01000193u;
    return (int)(hash & INT32_MAX);
}

/* All ranks of a machine share its file systems. They get MPI_COMM_NULL unless all of them name one
 * directory. */
static int split_by_directory(struct mpi_rank *self, struct mpi_comm *c, int key, MPI_Info info,
                              MPI_Comm *newcomm)
{
    const char *name = mpi_info_lookup(info, "nbhd_common_dirname");
    int rc = mpi_comm_divide(self, c, name ? color_of(name) : MPI_UNDEFINED, key,
                             MPI_TAG_COMM_SPLIT_TYPE, newcomm);
    struct mpi_comm *part = rc ? NULL : mpi_comm_at(*newcomm);

    if (part && part->group->size < c->group->size) {
        mpi_comm_leave(self, part);
        *newcomm = MPI_COMM_NULL;
    }
    return rc;
}

static int split_by_type(struct mpi_rank *self, MPI_Comm comm, int split_type, int key,
                         MPI_Info info, MPI_Comm *newcomm)
{
    struct mpi_comm *c = mpi_comm_get(comm);
    int color;

    switch (split_type) {
    case MPI_COMM_TYPE_SHARED:
        color = node_of(self);
        break;
    case MPI_COMM_TYPE_HW_GUIDED:
        color = is_node_hint(info) ? node_of(self) : MPI_UNDEFINED;
        break;
    case MPI_COMM_TYPE_HW_UNGUIDED:
        return split_unguided(self, c, key, info, newcomm);
    case MPIX_COMM_TYPE_NEIGHBORHOOD:
        return split_by_directory(self, c, key, info, newcomm);
    case MPI_UNDEFINED:
        color = MPI_UNDEFINED;
        break;
    default:
        return mpi_raise(self, comm, MPI_ERR_ARG, "%d is not a split type that is supported",
                         split_type);
    }
    return mpi_comm_divide(self, c, color, key, MPI_TAG_COMM_SPLIT_TYPE, newcomm);
}

int mpi_comm_split_type(struct mpi_rank *self, MPI_Comm comm, int split_type, int key,
                        MPI_Info info, MPI_Comm *newcomm)
{
    int rc = check_split(self, comm);

    if (!rc && info != MPI_INFO_NULL && !mpi_info_exists(info))
        rc = mpi_raise(self, comm, MPI_ERR_INFO, "0x%08x is not an info object", (unsigned)info);
    if (!rc)
        rc = split_by_type(self, comm, split_type, key, info, newcomm);
    if (!rc && *newcomm != MPI_COMM_NULL)
        mpi_comm_hints_give(self, *newcomm, mpi_comm_hints_take(info));
    return rc;
}
