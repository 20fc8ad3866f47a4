/* test: n=1,2,5,16,300 native=4
 * Creating intercommunicators, and communicators from them: create with various leaders and peers,
 * groups and ranks, merge with every combination of high, dup, split and create with empty sides,
 * compare, names and error handlers, groups that are lists. */
#include "check.h"

static int rank, size;

static int remote_size(MPI_Comm comm)
{
    int n;
    MPI_Comm_remote_size(comm, &n);
    return n;
}

/* World rank of a member of the group. */
static int world_of(MPI_Group group, int r)
{
    MPI_Group world;
    int w;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, 1, &r, world, &w);
    MPI_Group_free(&world);
    return w;
}

/* Ranks with odd and even halves of a key; each side sorted by falling world rank if `turn`.
 * Leaders are the last of each side. Size must be at least 2. */
static MPI_Comm halves(int turn, MPI_Comm *local)
{
    MPI_Comm inter;
    int side = rank % 2, sides[2] = {(size + 1) / 2, size / 2};
    MPI_Comm_split(MPI_COMM_WORLD, side, turn ? -rank : rank, local);
    int last_other = turn ? 1 - side : 2 * (sides[1 - side] - 1) + 1 - side;
    MPI_Intercomm_create(*local, check_size_of(*local) - 1, MPI_COMM_WORLD, last_other, 17, &inter);
    return inter;
}

/* Every member sends to every remote member its world rank, and learns theirs by any source. */
static void exchange(MPI_Comm inter, int tag)
{
    int n = remote_size(inter), *got = calloc((size_t)n, sizeof *got), value;
    MPI_Request *reqs = malloc((size_t)n * sizeof *reqs);
    MPI_Status status;
    MPI_Group remote;
    MPI_Comm_remote_group(inter, &remote);
    for (int i = 0; i < n; i++)
        MPI_Isend(&rank, 1, MPI_INT, i, tag, inter, &reqs[i]);
    for (int i = 0; i < n; i++) {
        MPI_Recv(&value, 1, MPI_INT, n > 40 ? i : MPI_ANY_SOURCE, tag, inter, &status);
        CHECK(status.MPI_SOURCE >= 0 && status.MPI_SOURCE < n && !got[status.MPI_SOURCE]++);
        CHECK(n > 40 ? i != n - 1 || value == world_of(remote, i)
                     : value == world_of(remote, status.MPI_SOURCE));
    }
    MPI_Waitall(n, reqs, MPI_STATUSES_IGNORE);
    MPI_Group_free(&remote);
    free(reqs);
    free(got);
}

static void basics(int turn)
{
    MPI_Comm local, inter;
    MPI_Group a, b, both;
    int flag, result;
    inter = halves(turn, &local);
    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag == 1);
    CHECK(check_size_of(inter) == check_size_of(local) &&
          check_rank_in(inter) == check_rank_in(local));
    CHECK(remote_size(inter) == size - check_size_of(local));
    MPI_Comm_group(inter, &a);
    MPI_Comm_group(local, &both);
    MPI_Group_compare(a, both, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&both);
    MPI_Comm_remote_group(inter, &b);
    MPI_Group_intersection(a, b, &both);
    CHECK(both == MPI_GROUP_EMPTY);
    MPI_Group_union(a, b, &both);
    MPI_Group_size(both, &result);
    CHECK(result == size);
    MPI_Group_free(&a);
    MPI_Group_free(&b);
    MPI_Group_free(&both);
    MPI_Comm_compare(inter, inter, &result);
    CHECK(result == MPI_IDENT);
    MPI_Comm_compare(inter, local, &result);
    CHECK(result == MPI_UNEQUAL);
    exchange(inter, 5);
    MPI_Comm_free(&local); /* the intercommunicator does not need it */
    exchange(inter, 6);
    MPI_Comm_free(&inter);
    CHECK(inter == MPI_COMM_NULL);
}

static void merge(void)
{
    MPI_Comm local, inter, all;
    int side = rank % 2, sides[2] = {(size + 1) / 2, size / 2}, sum = 0;
    inter = halves(0, &local);
    for (int high0 = 0; high0 < 2; high0++)
        for (int high1 = 0; high1 < 2; high1++) {
            MPI_Intercomm_merge(inter, side ? high1 : high0, &all);
            CHECK(check_size_of(all) == size);
            if (high0 != high1) {
                int first = high0; /* side that comes first */
                CHECK(check_rank_in(all) == (side == first ? 0 : sides[first]) + rank / 2);
            } else {
                CHECK(check_rank_in(all) % sides[check_rank_in(all) >= sides[0]] >= 0);
            }
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
            CHECK(sum == size * (size - 1) / 2);
            MPI_Comm_free(&all);
        }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

static void duplicate(void)
{
    MPI_Comm local, inter, copy, info_copy;
    int result, length, value = -1;
    char name[MPI_MAX_OBJECT_NAME];
    inter = halves(1, &local);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_set_name(inter, "between");
    MPI_Comm_dup(inter, &copy);
    MPI_Comm_get_name(inter, name, &length);
    CHECK(strcmp(name, "between") == 0);
    MPI_Comm_get_name(copy, name, &length);
    CHECK(length == 0);
    MPI_Comm_compare(inter, copy, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_dup_with_info(inter, MPI_INFO_NULL, &info_copy);
    MPI_Comm_compare(info_copy, copy, &result);
    CHECK(result == MPI_CONGRUENT);
    /* The handler is inherited: a rank that does not exist is an error that returns. */
    CHECK(MPI_Send(&value, 1, MPI_INT, remote_size(copy), 0, copy) != MPI_SUCCESS);
    MPI_Comm_free(&info_copy);
    /* Messages do not mix. */
    if (check_rank_in(inter) == 0) {
        int one = 1, two = 2, first, second;
        MPI_Request reqs[2];
        MPI_Isend(&one, 1, MPI_INT, 0, 3, inter, &reqs[0]);
        MPI_Isend(&two, 1, MPI_INT, 0, 3, copy, &reqs[1]);
        MPI_Recv(&second, 1, MPI_INT, 0, 3, copy, MPI_STATUS_IGNORE);
        MPI_Recv(&first, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE);
        CHECK(first == 1 && second == 2);
        MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE);
    }
    MPI_Comm_free(&inter);
    exchange(copy, 5);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&local);
}

static int mine_is(int side, int color, int n)
{
    int count = 0;
    for (int r = side; r < size; r += 2)
        count += (r / 2) % n == color;
    return count;
}

static void split(void)
{
    MPI_Comm local, inter, part;
    int side = rank % 2, color = (rank / 2) % 3;
    inter = halves(0, &local);
    MPI_Comm_split(inter, color, -rank, &part);
    int mine = mine_is(side, color, 3), theirs = mine_is(1 - side, color, 3);
    CHECK((part == MPI_COMM_NULL) == (theirs == 0));
    if (part != MPI_COMM_NULL) {
        CHECK(check_size_of(part) == mine && remote_size(part) == theirs);
        CHECK(check_rank_in(part) == mine - 1 - rank / 2 / 3);
        exchange(part, 5);
        MPI_Comm_free(&part);
    }
    /* One side says MPI_UNDEFINED: nobody gets one. */
    MPI_Comm_split(inter, side ? MPI_UNDEFINED : 0, 0, &part);
    CHECK(part == MPI_COMM_NULL);
    /* Different colours on both sides. */
    MPI_Comm_split(inter, side, 0, &part);
    CHECK(part == MPI_COMM_NULL);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

static void create(void)
{
    MPI_Comm local, inter, part;
    MPI_Group group, some;
    int n, last, result;
    inter = halves(1, &local);
    n = check_size_of(local);
    last = n - 1;
    MPI_Comm_group(inter, &group);
    /* Both sides: the last and, if there are two, the first. */
    int picks[2] = {last, 0};
    MPI_Group_incl(group, n > 1 ? 2 : 1, picks, &some);
    MPI_Comm_create(inter, some, &part);
    CHECK((part != MPI_COMM_NULL) == (check_rank_in(inter) == last || check_rank_in(inter) == 0));
    if (part != MPI_COMM_NULL) {
        MPI_Group made;
        MPI_Comm_group(part, &made);
        MPI_Group_compare(made, some, &result);
        CHECK(result == MPI_IDENT && check_rank_in(part) == (check_rank_in(inter) == last ? 0 : 1));
        exchange(part, 5);
        MPI_Group_free(&made);
        MPI_Comm_free(&part);
    }
    /* An empty group on one side. */
    MPI_Comm_create(inter, rank % 2 ? MPI_GROUP_EMPTY : some, &part);
    CHECK(part == MPI_COMM_NULL);
    MPI_Group_free(&some);
    MPI_Group_free(&group);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

/* An intercommunicator as the peer of another: leaders name each other by remote ranks. */
static void nested(void)
{
    MPI_Comm local, inter, self_inter, all;
    inter = halves(0, &local);
    if (check_rank_in(inter) == 0) {
        MPI_Intercomm_create(MPI_COMM_SELF, 0, inter, 0, 1, &self_inter);
        CHECK(check_size_of(self_inter) == 1 && remote_size(self_inter) == 1);
        exchange(self_inter, 5);
        MPI_Intercomm_merge(self_inter, rank % 2 == 0, &all);
        CHECK(check_size_of(all) == 2 && check_rank_in(all) == (rank % 2 == 0));
        MPI_Comm_free(&all);
        MPI_Comm_free(&self_inter);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

/* From groups alone: the last third against the others, leaders in the middle. */
static void from_groups(void)
{
    MPI_Comm inter;
    MPI_Group world, parts[2];
    int cut = size - (size + 2) / 3, side = rank >= cut;
    int ranges[2][1][3] = {{{0, cut - 1, 1}}, {{size - 1, cut, -1}}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < 2; i++)
        MPI_Group_range_incl(world, 1, ranges[i], &parts[i]);
    int leaders[2] = {cut / 2, (size - cut) / 2};
    MPI_Intercomm_create_from_groups(parts[side], leaders[side], parts[1 - side], leaders[1 - side],
                                     "tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
    CHECK(check_size_of(inter) == (side ? size - cut : cut));
    CHECK(check_rank_in(inter) == (side ? size - 1 - rank : rank));
    CHECK(remote_size(inter) == (side ? cut : size - cut));
    exchange(inter, 5);
    MPI_Comm_free(&inter);
    MPI_Group_free(&parts[0]);
    MPI_Group_free(&parts[1]);
    MPI_Group_free(&world);
}

/* What intracommunicators refuse. */
static void refused(void)
{
    int n = -7;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (check_virtual()) { /* Debian's MPICH does not check */
        CHECK(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &comm) != MPI_SUCCESS);
        CHECK(MPI_Comm_remote_size(MPI_COMM_WORLD, &n) != MPI_SUCCESS && n == -7);
        CHECK(MPI_Comm_remote_group(MPI_COMM_WORLD, &group) != MPI_SUCCESS);
    }
    CHECK(MPI_Intercomm_create(MPI_COMM_SELF, 1, MPI_COMM_WORLD, 0, 0, &comm) != MPI_SUCCESS);
    CHECK(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, size, 0, &comm) != MPI_SUCCESS);
    CHECK(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, rank, 0, &comm) != MPI_SUCCESS);
    CHECK(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_NULL, 0, 0, &comm) != MPI_SUCCESS);
    CHECK(comm == MPI_COMM_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    refused();
    check_ok("refused");
    if (size > 1) {
        basics(0);
        basics(1);
        check_ok("basics");
        merge();
        check_ok("merge");
        duplicate();
        check_ok("duplicate");
        split();
        check_ok("split");
        create();
        check_ok("create");
        nested();
        check_ok("nested");
        from_groups();
        check_ok("from groups");
    }
    MPI_Finalize();
    return 0;
}
