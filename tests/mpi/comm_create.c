/* test: n=1,2,5,16,300 native=4
 * Making, comparing and freeing communicators: dup, split with keys and MPI_UNDEFINED, create,
 * create_group, split_type, names; messages on different communicators do not mix. */
#include "check.h"

static int rank, size;

static void split(void)
{
    MPI_Comm comm, inner;
    int members, sum = 0, result;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3, -rank, &comm);
    members = (size - rank % 3 + 2) / 3;
    CHECK(check_size_of(comm) == members && check_rank_in(comm) == members - 1 - rank / 3);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == members * (rank % 3) + 3 * members * (members - 1) / 2);
    MPI_Comm_split(comm, check_rank_in(comm) % 2 ? MPI_UNDEFINED : 0, 0, &inner);
    CHECK((inner == MPI_COMM_NULL) == (check_rank_in(comm) % 2 == 1));
    if (inner != MPI_COMM_NULL) {
        CHECK(check_size_of(inner) == (members + 1) / 2 &&
              check_rank_in(inner) == check_rank_in(comm) / 2);
        MPI_Comm_free(&inner);
        CHECK(inner == MPI_COMM_NULL);
    }
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    CHECK(size == 1 ? result == MPI_CONGRUENT : result != MPI_IDENT);
    MPI_Comm_free(&comm);
    /* Equal keys keep the old order; all in one colour with reversed keys reverses it. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, 5, &comm);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    CHECK(check_rank_in(comm) == rank && result == MPI_CONGRUENT);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comm);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    CHECK(check_rank_in(comm) == size - 1 - rank &&
          result == (size > 1 ? MPI_SIMILAR : MPI_CONGRUENT));
    MPI_Comm_free(&comm);
}

static void duplicate(void)
{
    MPI_Comm copy, other = MPI_COMM_WORLD;
    int result, length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_compare(copy, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_CONGRUENT && check_rank_in(copy) == rank && check_size_of(copy) == size);
    MPI_Comm_compare(other, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_IDENT);
    MPI_Comm_set_name(copy, "a copy");
    MPI_Comm_get_name(copy, name, &length);
    CHECK(length == 6 && strcmp(name, "a copy") == 0);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    int inter = -1;
    MPI_Comm_test_inter(copy, &inter);
    CHECK(inter == 0);
    MPI_Comm_free(&copy);
}

static void from_groups(void)
{
    MPI_Group world, evens;
    MPI_Comm comm;
    int count = (size + 1) / 2, *members = (int *)malloc((size_t)count * sizeof(int)), sum = 0;
    for (int i = 0; i < count; i++)
        members[i] = 2 * (count - 1 - i);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, count, members, &evens);
    MPI_Comm_create(MPI_COMM_WORLD, evens, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank % 2 == 1));
    if (comm != MPI_COMM_NULL) {
        CHECK(check_size_of(comm) == count && check_rank_in(comm) == count - 1 - rank / 2);
        MPI_Comm_free(&comm);
    }
    /* Only the members call this one. */
    if (rank % 2 == 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, evens, 17, &comm);
        CHECK(check_rank_in(comm) == count - 1 - rank / 2);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == count * (count - 1));
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&evens);
    MPI_Group_free(&world);
    free(members);
}

/* Kinds of parts that hints name. */
static void hinted(void)
{
    MPI_Info info;
    MPI_Comm part;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, rank, MPI_INFO_NULL, &part);
    CHECK(part == MPI_COMM_NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, rank, info, &part);
    CHECK(part != MPI_COMM_NULL);
    MPI_Comm_free(&part);
    MPI_Info_free(&info);
    MPI_Info_create(&info);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, rank, info, &part);
    if (part != MPI_COMM_NULL) {
        char type[64];
        int flag;
        CHECK(check_size_of(part) < size);
        MPI_Info_get(info, "mpi_hw_resource_type", 63, type, &flag);
        CHECK(flag);
        MPI_Comm_free(&part);
    }
    MPI_Info_set(info, "nbhd_common_dirname", ".");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPIX_COMM_TYPE_NEIGHBORHOOD, -rank, info, &part);
    if (part != MPI_COMM_NULL) {
        CHECK(check_size_of(part) == size);
        MPI_Comm_free(&part);
    }
    CHECK(part == MPI_COMM_NULL);
    MPI_Info_set(info, "nbhd_common_dirname", rank == 0 ? "nobody's" : "nor mine");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPIX_COMM_TYPE_NEIGHBORHOOD, rank, info, &part);
    CHECK(part == MPI_COMM_NULL || size == 1);
    if (part != MPI_COMM_NULL)
        MPI_Comm_free(&part);
    MPI_Info_free(&info);
}

static void by_type(void)
{
    MPI_Comm node;
    int largest = 0, members;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    CHECK(node != MPI_COMM_NULL && check_size_of(node) >= 1 && check_size_of(node) <= size);
    members = check_rank_in(node) == 0 ? check_size_of(node) : 0;
    MPI_Allreduce(&members, &largest, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(largest == size);
    MPI_Comm_free(&node);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, rank, MPI_INFO_NULL, &node);
    CHECK(node == MPI_COMM_NULL);
    hinted();
}

/* Messages with one tag on three communicators, received in another order than sent. */
static void isolated(void)
{
    MPI_Comm comms[3] = {MPI_COMM_WORLD};
    MPI_Request requests[3];
    int out[3], in, right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_dup(comms[1], &comms[2]);
    for (int i = 0; i < 3; i++) {
        out[i] = rank * 10 + i;
        MPI_Isend(&out[i], 1, MPI_INT, right, 4, comms[i], &requests[i]);
    }
    for (int i = 2; i >= 0; i--) {
        MPI_Recv(&in, 1, MPI_INT, i == 1 ? MPI_ANY_SOURCE : left, MPI_ANY_TAG, comms[i],
                 MPI_STATUS_IGNORE);
        CHECK(in == left * 10 + i);
    }
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    /* Freed with a message pending: it still arrives. */
    MPI_Irecv(&in, 1, MPI_INT, left, 5, comms[2], &requests[0]);
    MPI_Isend(&out[2], 1, MPI_INT, right, 5, comms[2], &requests[1]);
    MPI_Comm_free(&comms[2]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in == left * 10 + 2);
    MPI_Comm_free(&comms[1]);
}

/* Handles are reused without end. */
static void many(void)
{
    for (int i = 0; i < 60; i++) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, (rank + i) % 2, rank, &comm);
        int smallest = -1;
        MPI_Allreduce(&rank, &smallest, 1, MPI_INT, MPI_MIN, comm);
        CHECK(smallest == ((rank + i) % 2 + i) % 2);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    split();
    check_ok("split");
    duplicate();
    check_ok("dup");
    from_groups();
    check_ok("groups");
    by_type();
    check_ok("split type");
    isolated();
    check_ok("isolated");
    many();
    check_ok("many");
    MPI_Finalize();
    return 0;
}
