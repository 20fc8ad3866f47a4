/*
 * group_api.c - the MPI_Group_* calls: argument checks around group_ops.c. All are local.
 */
#include "base/mem.h"
#include "mpi/comm/check.h"
#include "mpi/comm/group_memo.h"
#include "mpi_impl.h"

int mpi_group_size(struct mpi_rank *self, MPI_Group group, int *size)
{
    struct mpi_group *g;
    int rc = mpi_check_group(self, group, &g);

    if (!rc)
        *size = (int)g->size;
    return rc;
}

int mpi_group_rank(struct mpi_rank *self, MPI_Group group, int *rank)
{
    struct mpi_group *g;
    int rc = mpi_check_group(self, group, &g);

    if (!rc)
        *rank = mpi_group_rank_of(g, mpi_rank_id(self));
    return rc;
}

int mpi_group_free(struct mpi_rank *self, MPI_Group *group)
{
    struct mpi_group *g;
    int rc = mpi_check_group(self, *group, &g);
    if (rc)
        return rc;
    mpi_group_retract(g);
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

/* ---- two groups ---- */

static int check_two(struct mpi_rank *self, MPI_Group group1, MPI_Group group2,
                     struct group_memo_key *key)
{
    struct mpi_group *a, *b;
    int rc = mpi_check_group(self, group1, &a);

    if (!rc)
        rc = mpi_check_group(self, group2, &b);
    if (!rc) {
        key->a = a;
        key->b = b;
    }
    return rc;
}

typedef struct mpi_group *set_function(struct mpi_group *, struct mpi_group *);

static int combine(struct mpi_rank *self, MPI_Group group1, MPI_Group group2, MPI_Group *newgroup,
                   enum group_memo_op op, set_function *function)
{
    struct group_memo_key key = {.op = op};
    struct mpi_group *g;
    int rc = check_two(self, group1, group2, &key);

    if (rc)
        return rc;
    if (!group_memo_find(&key, &g, NULL)) {
        g = function((struct mpi_group *)key.a, (struct mpi_group *)key.b);
        group_memo_store(&key, g, 0);
    }
    *newgroup = mpi_group_publish(g);
    return MPI_SUCCESS;
}

int mpi_group_union(struct mpi_rank *self, MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine(self, group1, group2, newgroup, GROUP_MEMO_UNION, mpi_gset_union);
}

int mpi_group_intersection(struct mpi_rank *self, MPI_Group group1, MPI_Group group2,
                           MPI_Group *newgroup)
{
    return combine(self, group1, group2, newgroup, GROUP_MEMO_INTERSECTION, mpi_gset_intersection);
}

int mpi_group_difference(struct mpi_rank *self, MPI_Group group1, MPI_Group group2,
                         MPI_Group *newgroup)
{
    return combine(self, group1, group2, newgroup, GROUP_MEMO_DIFFERENCE, mpi_gset_difference);
}

int mpi_group_compare(struct mpi_rank *self, MPI_Group group1, MPI_Group group2, int *result)
{
    struct group_memo_key key = {.op = GROUP_MEMO_COMPARE};
    int rc = check_two(self, group1, group2, &key), answer;

    if (rc)
        return rc;
    if (!group_memo_find(&key, NULL, &answer)) {
        answer = mpi_gset_compare((struct mpi_group *)key.a, (struct mpi_group *)key.b);
        group_memo_store(&key, NULL, answer);
    }
    *result = answer;
    return MPI_SUCCESS;
}

int mpi_group_translate_ranks(struct mpi_rank *self, MPI_Group group1, int n, const int ranks1[],
                              MPI_Group group2, int ranks2[])
{
    struct mpi_group *a, *b;
    int rc = mpi_check_group(self, group1, &a);

    if (!rc)
        rc = mpi_check_group(self, group2, &b);
    if (rc)
        return rc;
    for (int i = 0; i < n; i++)
        if (ranks1[i] != MPI_PROC_NULL && (ranks1[i] < 0 || (uint32_t)ranks1[i] >= a->size))
            return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_RANK,
                             "rank %d is not in the group (size %u)", ranks1[i], a->size);
    for (int i = 0; i < n; i++)
        ranks2[i] = ranks1[i] == MPI_PROC_NULL
                        ? MPI_PROC_NULL
                        : mpi_group_rank_of(b, mpi_group_world_rank(a, (uint32_t)ranks1[i]));
    return MPI_SUCCESS;
}

/* ---- members by number ---- */

typedef struct mpi_group *member_function(struct mpi_group *, uint32_t, const int *, int *);

/* `ranks` selects members; `key` identifies the operation in the cache. */
static int select_members(struct mpi_rank *self, const struct group_memo_key *key, uint32_t n,
                          const int *ranks, MPI_Group *newgroup, member_function *function)
{
    int bad = 0;
    struct mpi_group *g = function((struct mpi_group *)key->a, n, ranks, &bad);

    if (!g && bad >= 0 && (uint32_t)bad < key->a->size)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_RANK, "rank %d is given twice", bad);
    if (!g)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_RANK, "rank %d is not in the group (size %u)",
                         bad, key->a->size);
    group_memo_store(key, g, 0);
    *newgroup = mpi_group_publish(g);
    return MPI_SUCCESS;
}

static int by_list(struct mpi_rank *self, MPI_Group group, int n, const int *ranks,
                   MPI_Group *newgroup, enum group_memo_op op, member_function *function)
{
    struct mpi_group *g, *found;
    int rc = mpi_check_group(self, group, &g);

    if (rc)
        return rc;
    struct group_memo_key key = {op, g, NULL, (uint32_t)n, ranks};
    if (!group_memo_find(&key, &found, NULL))
        return select_members(self, &key, (uint32_t)n, ranks, newgroup, function);
    *newgroup = mpi_group_publish(found);
    return MPI_SUCCESS;
}

int mpi_group_incl(struct mpi_rank *self, MPI_Group group, int n, const int ranks[],
                   MPI_Group *newgroup)
{
    return by_list(self, group, n, ranks, newgroup, GROUP_MEMO_INCL, mpi_gset_pick);
}

int mpi_group_excl(struct mpi_rank *self, MPI_Group group, int n, const int ranks[],
                   MPI_Group *newgroup)
{
    return by_list(self, group, n, ranks, newgroup, GROUP_MEMO_EXCL, mpi_gset_omit);
}

/* ---- members by ranges ---- */

/* Number of ranks in a checked range {first, last, stride}. */
static uint32_t range_count(const int *range)
{
    return (uint32_t)(((int64_t)range[1] - range[0]) / range[2]) + 1;
}

static int check_ranges(struct mpi_rank *self, const struct mpi_group *g, int n, int ranges[][3],
                        uint64_t *total)
{
    *total = 0;
    for (int i = 0; i < n; i++) {
        const int *r = ranges[i];

        if (r[2] == 0 || (r[1] != r[0] && (r[1] > r[0]) != (r[2] > 0)))
            return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG,
                             "the range %d to %d cannot have stride %d", r[0], r[1], r[2]);
        int64_t last = r[0] + (int64_t)(range_count(r) - 1) * r[2];
        if (r[0] < 0 || last < 0 || r[0] >= (int64_t)g->size || last >= (int64_t)g->size)
            return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG,
                             "the range %d to %d (stride %d) leaves the group (size %u)", r[0],
                             r[1], r[2], g->size);
        *total += range_count(r);
    }
    if (*total > g->size)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "the ranges overlap");
    return MPI_SUCCESS;
}

/* All ranks of the ranges, on the heap; NULL if two ranges overlap. */
static int *expand(const struct mpi_group *g, int n, int ranges[][3], uint64_t total)
{
    int *out = mem_alloc((total ? total : 1) * sizeof *out);
    unsigned char *seen = mem_zalloc(g->size + 1u);
    uint64_t k = 0;
    int clash = 0;

    for (int i = 0; i < n; i++)
        for (uint32_t j = 0, m = range_count(ranges[i]); j < m; j++) {
            int rank = (int)(ranges[i][0] + (int64_t)j * ranges[i][2]);

            clash |= seen[rank]++;
            out[k++] = rank;
        }
    mem_free(seen);
    if (!clash)
        return out;
    mem_free(out);
    return NULL;
}

static int by_ranges(struct mpi_rank *self, const struct group_memo_key *key, int n,
                     int ranges[][3], MPI_Group *newgroup, member_function *function)
{
    uint64_t total;
    int rc = check_ranges(self, key->a, n, ranges, &total);

    if (rc)
        return rc;
    int *ranks = expand(key->a, n, ranges, total);
    if (!ranks)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "the ranges overlap");
    rc = select_members(self, key, (uint32_t)total, ranks, newgroup, function);
    mem_free(ranks);
    return rc;
}

static int range_call(struct mpi_rank *self, MPI_Group group, int n, int ranges[][3],
                      MPI_Group *newgroup, enum group_memo_op op, member_function *function)
{
    struct mpi_group *g, *found;
    int rc = mpi_check_group(self, group, &g);

    if (rc)
        return rc;
    struct group_memo_key key = {op, g, NULL, (uint32_t)n * 3, n ? ranges[0] : NULL};
    if (!group_memo_find(&key, &found, NULL))
        return by_ranges(self, &key, n, ranges, newgroup, function);
    *newgroup = mpi_group_publish(found);
    return MPI_SUCCESS;
}

int mpi_group_range_incl(struct mpi_rank *self, MPI_Group group, int n, int ranges[][3],
                         MPI_Group *newgroup)
{
    return range_call(self, group, n, ranges, newgroup, GROUP_MEMO_RANGE_INCL, mpi_gset_pick);
}

int mpi_group_range_excl(struct mpi_rank *self, MPI_Group group, int n, int ranges[][3],
                         MPI_Group *newgroup)
{
    return range_call(self, group, n, ranges, newgroup, GROUP_MEMO_RANGE_EXCL, mpi_gset_omit);
}
