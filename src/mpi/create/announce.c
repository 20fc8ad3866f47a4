/*
 * announce.c - announces a new communicator to its members in other processes.
 *
 *     maker's process                      another process with members
 *     mpi_comm_new, mpi_comm_describe
 *       one item per such process -------> mpi_comm_learn: the object, and wakes who waits for it
 *       the descriptor, as a virtual
 *       message, maybe through others ---> mpi_comm_adopt: finds the object, or waits for it
 *
 * Items are not part of virtual time, and there is no quiescence while one is in flight: a rank
 * that waits for one never counts as deadlocked.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/errhandler.h"
#include "mpi/create/create.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/procs.h"

#define ORIGIN_MAX 112 /* bytes of the text of how a communicator was created; truncated */
#define SITE_MAX 48    /* bytes of the text of where it was created; truncated */

struct announcement {
    uint32_t ctx;
    int32_t errhandler;
    uint32_t groups; /* that follow: 1, or those of the low and the high side */
    char origin[ORIGIN_MAX], site[SITE_MAX];
};

static struct {
    uint32_t *ranks; /* indices of ranks that wait for a communicator */
    uint32_t count, cap;
} waiting;

/* ---- announcing ---- */

static void encode_group(const struct mpi_group *g, struct buf *out)
{
    struct mpi_group_wire w = mpi_group_to_wire(g);

    buf_add(out, &w, sizeof w);
    buf_add(out, g->list, mpi_group_wire_list(&w) * sizeof *g->list);
}

static void encode(const struct mpi_comm *c, struct buf *out)
{
    struct announcement a;

    memset(&a, 0, sizeof a);
    a.ctx = c->ctx;
    /* handlers of programs are known only in their process; members use their own anyway */
    a.errhandler = c->errhandler == MPI_ERRORS_RETURN || c->errhandler == MPI_ERRORS_ARE_FATAL
                       ? c->errhandler
                       : MPI_ERRHANDLER_NULL;
    a.groups = c->remote ? 2 : 1;
    snprintf(a.origin, sizeof a.origin, "%s", c->origin);
    snprintf(a.site, sizeof a.site, "%s", c->site ? c->site : "");
    buf_add(out, &a, sizeof a);
    encode_group(c->group, out);
    if (c->remote)
        encode_group(c->remote, out);
}

static void mark(uint8_t *has, uint32_t rank)
{
    has[rank_map_proc(mpi_rank_map(), rank)] = 1;
}

/* Which processes have members. */
static void find_processes(const struct mpi_group *g, uint8_t *has)
{
    uint32_t a = mpi_group_world_rank(g, 0), b = mpi_group_world_rank(g, g->size - 1);

    if (g->kind == MPI_GROUP_RANGE && mpi_rank_map()->kind == RANK_MAP_BLOCK &&
        (g->stride == 1 || g->stride == -1) && a < mpi_world.size && b < mpi_world.size) {
        uint32_t from = rank_map_proc(mpi_rank_map(), a < b ? a : b);
        uint32_t to = rank_map_proc(mpi_rank_map(), a < b ? b : a);

        memset(has + from, 1, to - from + 1);
        return;
    }
    for (uint32_t i = 0; i < g->size; i++)
        mark(has, mpi_group_world_rank(g, i));
}

static void announce(const struct mpi_comm *c)
{
    const struct rank_map *map = mpi_rank_map();
    uint8_t *has = mem_zalloc(map->procs);
    struct buf text;

    find_processes(c->group, has);
    if (c->remote)
        find_processes(c->remote, has);
    buf_init(&text);
    encode(c, &text);
    for (uint32_t q = 0; q < map->procs; q++)
        if (has[q] && q != map->proc)
            mpi_procs_item(q, MPI_PROCS_COMM, text.data, text.len);
    buf_fini(&text);
    mem_free(has);
}

/* "MPI_Comm_split of MPI_COMM_WORLD": the parent by its name, or by its own origin. */
static void format_origin(char *out, size_t n, enum mpi_fn fn, const struct mpi_comm *parent)
{
    const struct mpi_rank *self = mpi_self();
    const char *of = parent && self ? mpi_comm_name_for(self, parent->handle) : "";

    if (parent && !*of && parent->origin)
        of = parent->origin;
    snprintf(out, n, "%s%s%s", mpi_fn_name[fn], *of ? " of " : "", of);
}

/* Where the calling rank made its present call. A call on several ranks may create many
 * communicators at one time: the site is looked up once. */
static const char *find_site(const struct mpi_rank *self, const struct mpi_comm *parent)
{
    static struct {
        const struct mpi_rank *rank;
        vtime clock;
        uint16_t fn;
        char text[SITE_MAX];
    } last;

    if (!parent || parent->group->size == 1 || last.rank != self || last.clock != self->ent.clock ||
        last.fn != self->fn) {
        last.rank = self;
        last.clock = self->ent.clock;
        last.fn = self->fn;
        if (!vp_caller(last.text, sizeof last.text))
            last.text[0] = '\0';
    }
    return last.text;
}

static void set_origin(struct mpi_comm *c, const char *origin, const char *site)
{
    c->origin = mpi_text_keep(origin);
    c->site = *site ? mpi_text_keep(site) : NULL;
}

mpi_comm_desc mpi_comm_describe(struct mpi_comm *c, enum mpi_fn fn, const struct mpi_comm *parent)
{
    const struct mpi_rank *self = mpi_self();
    const char *site;
    char origin[ORIGIN_MAX];
    struct mpi_comm *high = c->remote ? mpi_comm_of_desc(mpi_comm_desc_high(c->ctx)) : NULL;
    mpi_comm_desc desc = c->ctx;

    format_origin(origin, sizeof origin, fn, parent);
    site = self && self->fn == fn ? find_site(self, parent) : "";
    set_origin(c, origin, site);
    if (high)
        set_origin(high, origin, site);
    if (c->refs < c->group->size || (high && high->refs < high->group->size))
        announce(c);
    if (high)
        mpi_comm_discard(high);
    mpi_comm_discard(c);
    return desc;
}

/* ---- learning ---- */

static void wake_waiting(void)
{
    uint32_t n = waiting.count;

    waiting.count = 0;
    for (uint32_t i = 0; i < n; i++)
        engine_wake(&mpi_world.engine, waiting.ranks[i]);
}

/* Reads the group at *at, and advances. */
static struct mpi_group *decode_group(const char **at)
{
    struct mpi_group_wire w;
    const char *list = *at + sizeof w;

    memcpy(&w, *at, sizeof w);
    *at = list + mpi_group_wire_list(&w) * sizeof(uint32_t);
    return mpi_group_from_wire(&w, list);
}

void mpi_comm_learn(const void *data, size_t bytes)
{
    const char *at = (const char *)data + sizeof(struct announcement);
    struct announcement a;
    struct mpi_group *g, *remote = NULL;
    struct mpi_comm *c;

    memcpy(&a, data, sizeof a);
    assert(bytes >= sizeof a && a.groups >= 1 && a.groups <= 2);
    g = decode_group(&at);
    if (a.groups > 1) {
        remote = decode_group(&at);
        c = mpi_comm_new_at(a.ctx, 1, mpi_group_ref(remote), mpi_group_ref(g), a.errhandler);
        set_origin(c, a.origin, a.site);
        mpi_comm_discard(c);
    }
    c = mpi_comm_new_at(a.ctx, 0, g, remote, a.errhandler);
    set_origin(c, a.origin, a.site);
    mpi_comm_discard(c);
    wake_waiting();
}

static struct mpi_comm *await(struct mpi_rank *self, mpi_comm_desc desc)
{
    struct mpi_comm *c;

    while (!(c = mpi_comm_of_desc(desc))) {
        ARRAY_RESERVE(waiting.ranks, waiting.cap, waiting.count + 1, 64);
        waiting.ranks[waiting.count++] = mpi_rank_index(self);
        mpi_drain(self);
        mpi_block(self, VTIME_NEVER, 1, NULL);
    }
    return c;
}

MPI_Comm mpi_comm_adopt(struct mpi_rank *self, const struct mpi_comm *parent, mpi_comm_desc desc)
{
    struct mpi_comm *c;
    MPI_Errhandler mine;

    if (desc == MPI_COMM_DESC_NULL)
        return MPI_COMM_NULL;
    c = await(self, desc);
    mine = mpi_errhandler_given(self, parent);
    if (mine != c->errhandler)
        mpi_errhandler_set_for(self, c, mine);
    return c->handle;
}

struct mpi_comm *mpi_comm_adopt_world(struct mpi_rank *self, mpi_comm_desc desc)
{
    const struct mpi_comm *first = mpi_comm_at(MPI_COMM_WORLD);
    struct mpi_comm *c;

    mpi_comm_adopt(self, first, desc);
    c = mpi_comm_of_desc(desc);
    c->handle = MPI_COMM_WORLD;
    c->name = first->name;
    mpi_world.has_spawned = 1;
    return c;
}
