/*
 * goal_coll.c - collectives as messages, as GOAL has nothing else: trees for broadcast and
 * reduction, dissemination for barrier and all-reduce (log2 n steps), a ring for all-gather,
 * pairwise exchange for all-to-all, a chain for scans, and direct messages with the root for gather
 * and scatter.
 */
#include "formats/goal.h"

struct group {
    struct goal_out *o;
    const struct action *a;
    const struct members *members;
    uint64_t self, n, me, tag;
};

static uint64_t world(const struct group *g, uint64_t rank)
{
    int64_t found = members_world(g->members, g->a->comm, g->self, (int64_t)(rank % g->n));
    return found < 0 ? 0 : (uint64_t)found;
}

static uint64_t send(const struct group *g, uint64_t to, uint64_t bytes)
{
    return goal_send(g->o, world(g, to), bytes, g->tag);
}

static uint64_t recv(const struct group *g, uint64_t from, uint64_t bytes)
{
    return goal_recv(g->o, world(g, from), bytes, g->tag);
}

static uint64_t sent_to(const struct group *g, uint64_t rank)
{
    const struct action_blocks *b = &g->a->blocks;
    return b->each ? b->each[rank % g->n] : b->sent;
}

static uint64_t received_from(const struct group *g, uint64_t rank)
{
    const struct action_blocks *b = &g->a->blocks;
    return b->each ? b->each[b->n + rank % g->n] : b->received;
}

static void exchange(const struct group *g, uint64_t distance, uint64_t out, uint64_t in)
{
    uint64_t sent = send(g, g->me + distance, out),
             got = recv(g, g->me + g->n - distance % g->n, in);
    goal_wait(g->o, sent);
    goal_wait(g->o, got);
}

static void disseminate(const struct group *g, uint64_t bytes)
{
    for (uint64_t distance = 1; distance < g->n; distance *= 2)
        exchange(g, distance, bytes, bytes);
}

static void all_pairs(const struct group *g)
{
    for (uint64_t distance = 1; distance < g->n; distance++)
        exchange(g, distance, sent_to(g, g->me + distance),
                 received_from(g, g->me + g->n - distance));
}

/* Each rank passes on what it got in the step before; first its own block. */
static void ring(const struct group *g)
{
    for (uint64_t step = 1; step < g->n; step++)
        exchange(g, 1, received_from(g, g->me + g->n - step + 1),
                 received_from(g, g->me + g->n - step));
}

/* A binomial tree, from the root or to it. */
static void tree(const struct group *g, uint64_t bytes, int from_root)
{
    uint64_t root = g->a->root < 0 ? 0 : (uint64_t)g->a->root, me = (g->me + g->n - root) % g->n;
    uint64_t top = 1;
    while (top < g->n)
        top *= 2;
    if (from_root) {
        uint64_t bit = 1;
        while (bit < top && !(me & bit))
            bit *= 2;
        if (me)
            goal_wait(g->o, recv(g, (me - bit) + root, bytes));
        for (bit /= 2; bit > 0; bit /= 2)
            if (me + bit < g->n)
                goal_wait(g->o, send(g, me + bit + root, bytes));
        return;
    }
    for (uint64_t bit = 1; bit < top; bit *= 2) {
        if (me & bit) {
            goal_wait(g->o, send(g, me - bit + root, bytes));
            return;
        }
        if (me + bit < g->n)
            goal_wait(g->o, recv(g, me + bit + root, bytes));
    }
}

/* All ranks send to the root, or the root to all. */
static void star(const struct group *g, int to_root)
{
    uint64_t root = g->a->root < 0 ? 0 : (uint64_t)g->a->root;
    if (g->me != root) {
        goal_wait(g->o, to_root ? send(g, root, sent_to(g, root))
                                : recv(g, root, received_from(g, root)));
        return;
    }
    uint64_t before = g->o->last, last = before;
    for (uint64_t i = 1; i < g->n; i++) { /* all at once */
        uint64_t label = to_root ? recv(g, root + i, received_from(g, root + i))
                                 : send(g, root + i, sent_to(g, root + i));
        uint64_t all = g->o->last;
        g->o->last = last;
        goal_wait(g->o, label);
        last = g->o->last;
        g->o->last = all;
    }
    g->o->last = last;
}

static void chain(const struct group *g, uint64_t bytes)
{
    if (g->me > 0)
        goal_wait(g->o, recv(g, g->me - 1, bytes));
    if (g->me + 1 < g->n)
        goal_wait(g->o, send(g, g->me + 1, bytes));
}

int goal_collective(struct goal_out *o, const struct action *a, const struct members *members,
                    uint64_t self, uint64_t tag)
{
    struct group g = {o, a, members, self, members_count(members, a->comm), 0, tag};
    if (!a->comm || a->comm->rank < 0 || a->comm->other_size || !g.n ||
        (a->blocks.each && a->blocks.n != g.n))
        return 0;
    g.me = (uint64_t)a->comm->rank;
    switch (a->does->base) {
    case MPI_FN_ALLREDUCE:
        disseminate(&g, a->blocks.sent);
        return 1;
    case MPI_FN_BCAST:
        tree(&g, a->received, 1);
        return 1;
    case MPI_FN_REDUCE:
        tree(&g, a->sent, 0);
        return 1;
    case MPI_FN_GATHER:
    case MPI_FN_GATHERV:
        star(&g, 1);
        return 1;
    case MPI_FN_SCATTER:
    case MPI_FN_SCATTERV:
        star(&g, 0);
        return 1;
    case MPI_FN_ALLGATHER:
    case MPI_FN_ALLGATHERV:
        ring(&g);
        return 1;
    case MPI_FN_ALLTOALL:
    case MPI_FN_ALLTOALLV:
    case MPI_FN_ALLTOALLW:
    case MPI_FN_REDUCE_SCATTER:
    case MPI_FN_REDUCE_SCATTER_BLOCK:
        all_pairs(&g);
        return 1;
    case MPI_FN_SCAN:
    case MPI_FN_EXSCAN:
        chain(&g, a->blocks.sent);
        return 1;
    default:
        break;
    }
    if (a->does->class == MPI_CLASS_NEIGHBOURS || a->does->class == MPI_CLASS_GROUP ||
        (a->does->class == MPI_CLASS_JOINT && a->does->group >= 0))
        return 0;
    disseminate(&g, 1); /* a barrier; a new communicator or window */
    return 1;
}
