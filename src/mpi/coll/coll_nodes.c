/*
 * coll_nodes.c - which ranks of a communicator share a node.
 *
 * Cached with the group, which all communicators and ranks of a process with the same members
 * share: computed at the first use, freed with the group. Nodes are numbered in the order of their
 * first ranks.
 *
 *     first     [nodes + 1]: where the ranks of a node begin in `member`
 *     member    [size]: ranks by node, in rank order; none if they are neighbours: then the ranks
 *               of node i are first[i] to first[i + 1] - 1
 *     lead      [nodes]: the first rank of each; leads: their world ranks
 *     node      [size]: the node of each rank, with `member`
 *
 * Nothing here switches.
 */
#include "base/map.h"
#include "mpi/coll/coll_internal.h"

struct coll_nodes {
    struct mpi_group_extra extra;
    int nodes, size;
    int *first, *member, *lead, *node;
    struct mpi_group leads;
};

static uint32_t node_of(const struct mpi_comm *c, int rank)
{
    return net_node(&mpi_world.net, mpi_group_world_rank(c->group, (uint32_t)rank));
}

/* Numbers the node of every rank; returns how many there are. */
static int number_nodes(const struct mpi_comm *c, int *node)
{
    struct map seen;
    int nodes = 0;

    map_init(&seen);

    for (int i = 0; i < (int)c->group->size; i++) {
        int is_new;
        uint64_t *at = map_insert(&seen, node_of(c, i), &is_new);
        if (is_new)
            *at = (uint64_t)nodes++;
        node[i] = (int)*at;
    }
    map_fini(&seen);
    return nodes;
}

/* Sorts ranks by node; `first` becomes as described above. */
static void sort_ranks(struct coll_nodes *n)
{
    for (int i = 0; i < n->size; i++)
        n->first[n->node[i] + 1]++;
    for (int i = 0; i < n->nodes; i++)
        n->first[i + 1] += n->first[i];
    for (int i = 0; i < n->size; i++)
        n->member[n->first[n->node[i]]++] = i;
    for (int i = n->nodes; i; i--)
        n->first[i] = n->first[i - 1];
    n->first[0] = 0;
}

static int is_consecutive(const struct coll_nodes *n)
{
    for (int i = 0; i < n->size; i++)
        if (n->member[i] != i)
            return 0;
    return 1;
}

static void *ints(int n)
{
    return mem_zalloc((size_t)n * sizeof(int));
}

static void nodes_drop(struct mpi_group_extra *extra)
{
    struct coll_nodes *n = (struct coll_nodes *)extra;

    mem_free(n->first);
    mem_free(n->member);
    mem_free(n->lead);
    mem_free(n->node);
    mem_free(n->leads.list);
    if (n->leads.nodes)
        nodes_drop(n->leads.nodes);
    mem_free(n);
}

static struct coll_nodes *nodes_make(const struct mpi_comm *c)
{
    struct coll_nodes *n = mem_zalloc(sizeof *n);

    n->extra.drop = nodes_drop;

    n->size = (int)c->group->size;
    n->node = ints(n->size);
    n->nodes = number_nodes(c, n->node);
    if (n->nodes == 1 || n->nodes == n->size) { /* the rest is not needed */
        mem_free(n->node);
        n->node = NULL;
        return n;
    }
    n->member = ints(n->size);
    n->first = ints(n->nodes + 1);
    n->lead = ints(n->nodes);
    sort_ranks(n);
    n->leads = (struct mpi_group){.size = (uint32_t)n->nodes,
                                  .kind = MPI_GROUP_LIST,
                                  .list = ints(n->nodes)};
    for (int i = 0; i < n->nodes; i++) {
        n->lead[i] = n->member[n->first[i]];
        n->leads.list[i] = mpi_group_world_rank(c->group, (uint32_t)n->lead[i]);
    }
    if (is_consecutive(n)) {
        mem_free(n->member);
        mem_free(n->node);
        n->member = n->node = NULL;
    }
    return n;
}

static struct coll_nodes *nodes_of(const struct mpi_comm *c)
{
    if (!c->group->nodes)
        c->group->nodes = &nodes_make(c)->extra;
    return (struct coll_nodes *)c->group->nodes;
}

int coll_nodes_shared(const struct mpi_comm *c)
{
    const struct platform_nodes *all = &mpi_world.net.nodes;

    if ((all->per_node == 1 && all->placement == PLATFORM_BLOCK) || c->group->size < 3)
        return 0;
    const struct coll_nodes *n = nodes_of(c);
    if (n->nodes == 1 || n->nodes == n->size)
        return 0;
    return n->member ? 1 : 2;
}

/* The node of a rank. O(log nodes) without a table. */
static int node_index(const struct coll_nodes *n, int rank)
{
    int lo = 0, hi = n->nodes - 1;

    if (n->node)
        return n->node[rank];
    while (lo < hi) {
        int mid = lo + (hi - lo + 1) / 2;
        if (n->first[mid] <= rank)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

/* The number of a rank on its node. O(log size) without neighbours. */
static int number_in(const struct coll_nodes *n, int node, int rank)
{
    int lo = n->first[node], hi = n->first[node + 1] - 1;

    if (!n->member)
        return rank - lo;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (n->member[mid] < rank)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo - n->first[node];
}

int coll_nodes_index(const struct mpi_comm *c, int rank)
{
    return node_index(nodes_of(c), rank);
}

int coll_nodes_number(const struct mpi_comm *c, int rank)
{
    return number_in(nodes_of(c), node_index(nodes_of(c), rank), rank);
}

void coll_nodes_team_of(const struct mpi_comm *c, int i, struct coll_team *node)
{
    const struct coll_nodes *n = nodes_of(c);

    *node = (struct coll_team){.member = n->member ? n->member + n->first[i] : NULL,
                               .base = n->first[i],
                               .n = n->first[i + 1] - n->first[i],
                               .me = -1};
}

int coll_nodes_team(const struct mpi_comm *c, int rank, struct coll_team *node)
{
    int mine = coll_nodes_index(c, rank);

    coll_nodes_team_of(c, mine, node);
    node->me = number_in(nodes_of(c), mine, rank);
    return mine;
}

void coll_nodes_leads(const struct mpi_comm *c, int me, struct coll_team *leads)
{
    const struct coll_nodes *n = nodes_of(c);

    *leads = (struct coll_team){.member = n->lead, .n = n->nodes, .me = me};
}

struct mpi_group *coll_nodes_group(const struct mpi_comm *c)
{
    return &nodes_of(c)->leads;
}
