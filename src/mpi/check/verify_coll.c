/*
 * verify_coll.c - checks that all ranks of a communicator call the same collectives, with
 * consistent arguments.
 *
 * Every rank counts its collective calls on a communicator. The n-th calls of all ranks belong
 * together: they meet in an entry of a table,
 *
 *     (context, n) -> how many ranks have come; per aspect the first two, by rank, that differ
 *
 * where an aspect is the call itself, its root, its operation or its data. An entry costs a few
 * hundred bytes for any number of ranks, and is freed when all have come. With several processes,
 * each has a table for its own ranks, and sends each entry once to process 0 when it is complete,
 * in batches.
 *
 * Data is the type signature of a block, which must be the same on all ranks: what a rank of
 * MPI_Gather sends is what the root expects from it. Calls with a count for each rank, where blocks
 * differ, are checked through their messages (verify_message.c), except MPI_Allgatherv and
 * MPI_Reduce_scatter, where all ranks give all counts. The two sides of an intercommunicator may
 * move different data in MPI_Allgather and MPI_Alltoall, so it is not compared there.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "mpi/coll/coll_internal.h"
#include "mpi/state.h"
#include "mpi/procs.h"
#include "mpi/check/verify_internal.h"

#define TELL_ABOVE 16384 /* bytes of entries that are sent to process 0 together */

enum aspect { CALL = 0, ROOT, OP, DATA, ASPECTS };
_Static_assert(MPI_FINDING_CALL + (int)DATA == MPI_FINDING_DATA,
               "findings are in the order of aspects");

/* A rank's value of an aspect. */
struct said {
    uint64_t hash; /* equal if consistent */
    uint64_t amount;
    int32_t value; /* for the report */
    int32_t rank;
    uint32_t world;
    uint32_t is_set;
};

struct entry {
    uint32_t ctx, serial;
    uint32_t total, here; /* ranks of the communicator; ranks of it in this process */
    uint32_t came, spare; /* ranks that have called */
    struct said said[ASPECTS][2];
    char comm[96];
};

static struct {
    struct map here;   /* context, serial -> struct entry of the ranks of this process */
    struct map all;    /* process 0: of all processes, if there are several */
    struct buf outbox; /* struct entry, for process 0 */
} table;

/* ---- aspects of a call ---- */

static int is_rooted(int op_id)
{
    switch (op_id) {
    case MPI_COLL_bcast:
    case MPI_COLL_gather:
    case MPI_COLL_gatherv:
    case MPI_COLL_scatter:
    case MPI_COLL_scatterv:
    case MPI_COLL_reduce:
        return 1;
    default:
        return 0;
    }
}

static int is_reduction(int op_id)
{
    return op_id >= MPI_COLL_reduce && op_id <= MPI_COLL_exscan;
}

/* Roots are compared by world rank, which is the same for both sides of an intercommunicator. */
static void say_root(struct said *s, const struct mpi_rank *self, const struct mpi_comm *c,
                     const struct mpi_coll_args *a)
{
    if (!is_rooted(a->op_id) || a->root == MPI_PROC_NULL)
        return;
    s->is_set = 1;
    s->value = a->root == MPI_ROOT ? a->rank : a->root;
    s->hash = a->root == MPI_ROOT ? mpi_rank_id(self) : mpi_comm_world_rank(c, (uint32_t)a->root);
}

/* A hash that all processes agree on: of the file that the function is in, and its offset there. */
static uint64_t function_hash(const struct mpi_op *op)
{
    const void *function = op->fn ? (const void *)(uintptr_t)op->fn
                                  : (const void *)(uintptr_t)op->fn_c;
    const char *name;
    Dl_info info;
    uint64_t hash;

    if (!dladdr(function, &info) || !info.dli_fname)
        return MPI_OP_KINDS;
    name = strrchr(info.dli_fname, '/');
    hash = MPI_OP_KINDS + (uintptr_t)function - (uintptr_t)info.dli_fbase;
    for (name = name ? name + 1 : info.dli_fname; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return hash;
}

static void say_op(struct said *s, const struct mpi_coll_args *a)
{
    if (!is_reduction(a->op_id) || a->root == MPI_PROC_NULL || !a->op)
        return;
    s->is_set = 1;
    s->value = a->op->kind;
    s->hash = a->op->kind == MPI_OP_USER ? function_hash(a->op) + a->op->commute : a->op->kind;
}

static void say_block(struct said *s, const struct mpi_rank *self, const struct mpi_type *type,
                      uint64_t count)
{
    struct mpi_sig sig = mpi_sig_of(self, type, count);

    if (mpi_sig_is_open(&sig))
        return;
    s->is_set = 1;
    s->hash = sig.hash ^ (sig.elements << 1);
    s->amount = sig.elements;
    s->value = sig.elem;
}

/* A count for each rank: the hash of all of them, in elements. */
static void say_counts(struct said *s, const struct mpi_rank *self, const struct mpi_coll_args *a)
{
    const struct mpi_type *type = a->rtype;
    uint64_t hash = 0xcbf29ce484222325u, total = 0;

    if (type->elem == MPI_PACKED)
        return;
    for (int i = 0; i < a->size; i++) {
        uint64_t count = coll_count(a, a->rcounts, i);

        total += count * type->nelems;
        hash = (hash ^ (type->elem ? count * type->nelems : mpi_sig_of(self, type, count).hash)) *
               0x100000001b3u;
    }
    s->is_set = 1;
    s->hash = hash + (uint64_t)(total ? type->elem : 0);
    s->amount = total;
    s->value = total ? type->elem : 0;
}

/* Is the caller the root, which has the other side of the call? */
static int is_root(const struct mpi_comm *c, const struct mpi_coll_args *a)
{
    return c->remote ? a->root == MPI_ROOT : a->root == a->rank;
}

static void say_data(struct said *s, const struct mpi_rank *self, const struct mpi_comm *c,
                     const struct mpi_coll_args *a)
{
    if (is_rooted(a->op_id) && a->root == MPI_PROC_NULL)
        return;
    switch (a->op_id) {
    case MPI_COLL_bcast:
    case MPI_COLL_reduce:
    case MPI_COLL_allreduce:
    case MPI_COLL_scan:
    case MPI_COLL_exscan:
        say_block(s, self, a->rtype, a->rcount);
        break;
    case MPI_COLL_gather:
        say_block(s, self, is_root(c, a) ? a->rtype : a->stype,
                  is_root(c, a) ? a->rcount : a->scount);
        break;
    case MPI_COLL_scatter:
        say_block(s, self, is_root(c, a) ? a->stype : a->rtype,
                  is_root(c, a) ? a->scount : a->rcount);
        break;
    case MPI_COLL_allgather:
    case MPI_COLL_alltoall:
    case MPI_COLL_reduce_scatter_block:
        if (!c->remote)
            say_block(s, self, a->rtype, a->rcount);
        break;
    case MPI_COLL_allgatherv:
    case MPI_COLL_reduce_scatter:
        if (!c->remote)
            say_counts(s, self, a);
        break;
    }
}

/* Both sides of a call in which a rank sends to itself. */
static void check_own(const struct mpi_rank *self, const struct mpi_comm *c,
                      const struct mpi_coll_args *a, uint32_t serial)
{
    struct mpi_sig sent, got;
    struct mpi_finding f;

    switch (a->op_id) {
    case MPI_COLL_gather:
    case MPI_COLL_scatter:
        if (!is_root(c, a))
            return;
        break;
    case MPI_COLL_allgather:
    case MPI_COLL_alltoall:
        break;
    default:
        return;
    }
    if (c->remote || a->sbuf == MPI_IN_PLACE || a->rbuf == MPI_IN_PLACE)
        return;
    sent = mpi_sig_of(self, a->stype, a->scount);
    got = mpi_sig_of(self, a->rtype, a->rcount);
    if (mpi_sig_is_open(&sent) || mpi_sig_is_open(&got) ||
        (sent.hash == got.hash && sent.elements == got.elements))
        return;
    memset(&f, 0, sizeof f);
    f = (struct mpi_finding){.kind = MPI_FINDING_OWN,
                             .fn = {self->fn, self->fn},
                             .count = 1,
                             .rank = {a->rank, a->rank},
                             .serial = serial,
                             .world = {mpi_rank_id(self), mpi_rank_id(self)},
                             .value = {sent.elem, got.elem},
                             .amount = {sent.elements, got.elements}};
    mpi_verify_name(self, c, f.comm, sizeof f.comm);
    mpi_verify_found(&f);
}

/* ---- entries ---- */

/* Keeps the two distinct values whose first ranks are the smallest, in that order. A dropped value
 * returns if a smaller rank has it. */
static void add_said(struct said two[2], const struct said *s)
{
    struct said first = two[0];

    if (!s->is_set)
        return;
    if (!first.is_set || s->hash == first.hash) {
        if (!first.is_set || s->world < first.world)
            two[0] = *s;
    } else if (s->world < first.world) {
        two[0] = *s;
        two[1] = first;
    } else if (!two[1].is_set || s->world < two[1].world) {
        two[1] = *s;
    }
}

/* The first value may have become the second one, or vice versa. */
static void add_entry(struct entry *to, const struct entry *from)
{
    to->came += from->came;
    for (int i = 0; i < ASPECTS; i++) {
        add_said(to->said[i], &from->said[i][0]);
        add_said(to->said[i], &from->said[i][1]);
    }
}

static void judge(const struct entry *e, int complete)
{
    struct mpi_finding f;

    for (int i = 0; i < ASPECTS; i++) {
        const struct said *two = e->said[i];

        if (!two[1].is_set)
            continue;
        memset(&f, 0, sizeof f);
        f = (struct mpi_finding){.kind = (uint32_t)(MPI_FINDING_CALL + i),
                                 .count = 1,
                                 .tag = -1,
                                 .rank = {two[0].rank, two[1].rank},
                                 .world = {two[0].world, two[1].world},
                                 .value = {two[0].value, two[1].value},
                                 .amount = {two[0].amount, two[1].amount},
                                 .serial = e->serial};
        f.fn[0] = f.fn[1] = (uint32_t)e->said[CALL][0].value;
        if (i == CALL)
            f.fn[1] = (uint32_t)two[1].value;
        memcpy(f.comm, e->comm, sizeof f.comm);
        mpi_verify_found(&f);
        if (i == CALL)
            return; /* other calls have other arguments */
    }
    if (!complete || e->came == e->total)
        return;
    memset(&f, 0, sizeof f);
    f = (struct mpi_finding){.kind = MPI_FINDING_ABSENT,
                             .count = 1,
                             .serial = e->serial,
                             .rank = {e->said[CALL][0].rank, 0},
                             .world = {e->said[CALL][0].world, 0},
                             .value = {(int32_t)e->came, (int32_t)e->total}};
    f.fn[0] = (uint32_t)e->said[CALL][0].value;
    memcpy(f.comm, e->comm, sizeof f.comm);
    mpi_verify_found(&f);
}

static uint64_t key_of(uint32_t ctx, uint32_t serial)
{
    return (uint64_t)ctx << 32 | serial;
}

static struct entry *find(struct map *map, uint32_t ctx, uint32_t serial, int *is_new)
{
    uint64_t *at = map_insert(map, key_of(ctx, serial), is_new);

    if (*is_new) {
        struct entry *e = mem_zalloc(sizeof *e);

        e->ctx = ctx;
        e->serial = serial;
        *at = (uintptr_t)e;
    }
    return (struct entry *)(uintptr_t)*at;
}

static void drop(struct map *map, struct entry *e)
{
    map_remove(map, key_of(e->ctx, e->serial));
    mem_free(e);
}

/* ---- several processes ---- */

void mpi_verify_learn(const void *data, size_t bytes)
{
    for (const char *at = data; bytes; at += sizeof(struct entry), bytes -= sizeof(struct entry)) {
        struct entry from, *to;
        int is_new;

        memcpy(&from, at, sizeof from);
        to = find(&table.all, from.ctx, from.serial, &is_new);
        if (is_new) {
            to->total = from.total;
            memcpy(to->comm, from.comm, sizeof to->comm);
        }
        add_entry(to, &from);
        if (to->came == to->total) {
            judge(to, 1);
            drop(&table.all, to);
        }
    }
}

static void tell(const struct entry *e)
{
    if (mpi_rank_map()->proc == 0) {
        mpi_verify_learn(e, sizeof *e);
        return;
    }
    buf_add(&table.outbox, e, sizeof *e);
    if (table.outbox.len < TELL_ABOVE)
        return;
    mpi_procs_item(0, MPI_PROCS_VERIFY, table.outbox.data, table.outbox.len);
    table.outbox.len = 0;
}

/* ---- a call ---- */

static uint32_t members(const struct mpi_comm *c)
{
    return c->group->size + (c->remote ? c->remote->size : 0);
}

static uint32_t members_here(const struct mpi_comm *c)
{
    return mpi_group_members_here(c->group) + (c->remote ? mpi_group_members_here(c->remote) : 0);
}

/* The number of a call that the rank makes on c. */
static uint32_t next_serial(struct mpi_rank *self, const struct mpi_comm *c)
{
    return (uint32_t)(*mpi_state_insert(self, MPI_STATE_serials, c->ctx))++;
}

/* Compares the rank's call with those of the others. `what`: how findings name c; NULL: by its own
 * name. */
static void come(struct mpi_rank *self, const struct mpi_comm *c, uint32_t serial,
                 struct said s[ASPECTS], int rank, const char *what)
{
    struct entry *e;
    int is_new;

    e = find(&table.here, c->ctx, serial, &is_new);
    if (is_new) {
        e->total = members(c);
        e->here = members_here(c);
        if (what)
            snprintf(e->comm, sizeof e->comm, "%s", what);
        else
            mpi_verify_name(self, c, e->comm, sizeof e->comm);
    }
    for (int i = 0; i < ASPECTS; i++) {
        s[i].rank = rank;
        s[i].world = mpi_rank_id(self);
        add_said(e->said[i], &s[i]);
    }
    if (++e->came < e->here)
        return;
    if (e->came == e->total)
        judge(e, 1);
    else
        tell(e);
    drop(&table.here, e);
}

void mpi_verify_call(struct mpi_rank *self, const struct mpi_comm *c, const char *what)
{
    const char *name = mpi_fn_name[self->fn];
    size_t n = strlen(name);
    struct said s[ASPECTS];

    if (members(c) < 2)
        return;
    if (strcmp(name + n - 2, "_c") == 0)
        n -= 2; /* the same call, with large counts */
    memset(s, 0, sizeof s);
    s[CALL] = (struct said){.hash = 0xcbf29ce484222325u, .value = self->fn, .is_set = 1};
    for (size_t i = 0; i < n; i++)
        s[CALL].hash = (s[CALL].hash ^ (unsigned char)name[i]) * 0x100000001b3u;
    come(self, c, next_serial(self, c), s, mpi_comm_my_rank(c, self), what);
}

void verify_coll(struct mpi_rank *self, const struct mpi_comm *c, const struct mpi_coll_args *a,
                 enum mpi_verify_way way)
{
    struct said s[ASPECTS];
    uint32_t serial;

    if (members(c) < 2)
        return;
    serial = next_serial(self, c);
    memset(s, 0, sizeof s);
    s[CALL] = (struct said){.hash = (uint64_t)a->op_id * MPI_VERIFY_WAYS + way,
                            .value = self->fn,
                            .is_set = 1};
    say_root(&s[ROOT], self, c, a);
    say_op(&s[OP], a);
    say_data(&s[DATA], self, c, a);
    check_own(self, c, a, serial);
    come(self, c, serial, s, a->rank, NULL);
}

void verify_coll_forget(struct mpi_rank *self, uint32_t ctx)
{
    mpi_state_remove(self, MPI_STATE_serials, ctx);
}

/* ---- the end ---- */

static void collect_map(const struct map *map, struct buf *out)
{
    uint64_t key, value;
    size_t it = 0;

    while (map_next(map, &it, &key, &value))
        buf_add(out, (struct entry *)(uintptr_t)value, sizeof(struct entry));
}

void verify_coll_collect(struct buf *out)
{
    if (table.outbox.len)
        buf_add(out, table.outbox.data, table.outbox.len);
    collect_map(&table.here, out);
    table.outbox.len = 0;
}

void verify_coll_conclude(int complete)
{
    uint64_t key, value;
    size_t it = 0;

    while (map_next(&table.all, &it, &key, &value))
        judge((struct entry *)(uintptr_t)value, complete);
}
