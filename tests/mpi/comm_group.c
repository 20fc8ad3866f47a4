/* test: n=1,5,16 native=4 schedules=10
 * The algebra of groups against arrays handled by brute force, over random subsets in random
 * order. */
#include "check.h"

enum { MOST = 64 };

struct set {
    int count, members[MOST];
    MPI_Group group;
};

static int size;
static MPI_Group world;
static unsigned state = 12345;

static int pick(int below)
{
    state = state * 1103515245u + 12345u;
    return (int)(state >> 16) % below;
}

static int find(const struct set *set, int member)
{
    for (int i = 0; i < set->count; i++)
        if (set->members[i] == member)
            return i;
    return -1;
}

static void make(struct set *set)
{
    set->count = 0;
    int wanted = pick(size + 1);
    while (set->count < wanted) {
        int member = pick(size);
        if (find(set, member) < 0)
            set->members[set->count++] = member;
    }
    MPI_Group_incl(world, set->count, set->members, &set->group);
}

/* The group must hold these world ranks in this order. */
static void verify(MPI_Group group, const struct set *expected)
{
    int count = -1, all[MOST], ranks[MOST], own = -1;
    MPI_Group_size(group, &count);
    CHECK(count == expected->count);
    for (int i = 0; i < count; i++)
        all[i] = i;
    MPI_Group_translate_ranks(group, count, all, world, ranks);
    for (int i = 0; i < count; i++)
        CHECK(ranks[i] == expected->members[i]);
    MPI_Group_rank(group, &own);
    int position = find(expected, check_rank());
    CHECK(own == (position < 0 ? MPI_UNDEFINED : position));
}

static void algebra(const struct set *a, const struct set *b)
{
    struct set both = {0}, common = {0}, only = {0};
    for (int i = 0; i < a->count; i++) {
        struct set *where = find(b, a->members[i]) < 0 ? &only : &common;
        both.members[both.count++] = a->members[i];
        where->members[where->count++] = a->members[i];
    }
    for (int i = 0; i < b->count; i++)
        if (find(a, b->members[i]) < 0)
            both.members[both.count++] = b->members[i];
    MPI_Group_union(a->group, b->group, &both.group);
    MPI_Group_intersection(a->group, b->group, &common.group);
    MPI_Group_difference(a->group, b->group, &only.group);
    verify(both.group, &both);
    verify(common.group, &common);
    verify(only.group, &only);
    int result, expected = MPI_IDENT;
    MPI_Group_compare(a->group, b->group, &result);
    if (a->count != b->count || common.count != a->count)
        expected = MPI_UNEQUAL;
    else if (memcmp(a->members, b->members, (size_t)a->count * sizeof(int)) != 0)
        expected = MPI_SIMILAR;
    CHECK(result == expected);
    MPI_Group *made[] = {&both.group, &common.group, &only.group};
    for (int i = 0; i < 3; i++)
        if (*made[i] != MPI_GROUP_EMPTY)
            MPI_Group_free(made[i]);
}

static void translated(const struct set *a, const struct set *b)
{
    int all[MOST], ranks[MOST];
    for (int i = 0; i < a->count; i++)
        all[i] = i;
    MPI_Group_translate_ranks(a->group, a->count, all, b->group, ranks);
    for (int i = 0; i < a->count; i++) {
        int position = find(b, a->members[i]);
        CHECK(ranks[i] == (position < 0 ? MPI_UNDEFINED : position));
    }
}

static void excluded(const struct set *a)
{
    struct set rest = {0};
    MPI_Group_excl(world, a->count, a->members, &rest.group);
    for (int i = 0; i < size; i++)
        if (find(a, i) < 0)
            rest.members[rest.count++] = i;
    verify(rest.group, &rest);
    if (rest.group != MPI_GROUP_EMPTY)
        MPI_Group_free(&rest.group);
}

static void ranges(void)
{
    int triplets[2][3] = {{size - 1, 0, -2}, {0, size - 1, 2}};
    struct set picked = {0}, rest = {0};
    for (int i = size - 1; i >= 0; i -= 2)
        picked.members[picked.count++] = i;
    MPI_Group_range_incl(world, 1, triplets, &picked.group);
    verify(picked.group, &picked);
    for (int i = 0; i < size; i++)
        if (find(&picked, i) < 0)
            rest.members[rest.count++] = i;
    MPI_Group_range_excl(world, 1, triplets, &rest.group);
    verify(rest.group, &rest);
    if (rest.group != MPI_GROUP_EMPTY)
        MPI_Group_free(&rest.group);
    MPI_Group_free(&picked.group);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    size = check_size();
    CHECK(size <= MOST);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int round = 0; round < 200; round++) {
        struct set a, b;
        make(&a);
        make(&b);
        verify(a.group, &a);
        algebra(&a, &b);
        translated(&a, &b);
        excluded(&a);
        if (a.group != MPI_GROUP_EMPTY)
            MPI_Group_free(&a.group);
        if (b.group != MPI_GROUP_EMPTY)
            MPI_Group_free(&b.group);
    }
    check_ok("algebra");
    ranges();
    check_ok("ranges");
    MPI_Group_free(&world);
    CHECK(world == MPI_GROUP_NULL);
    MPI_Finalize();
    return 0;
}
