/*
 * comm_api.c - the local calls on communicators: size, rank, group, comparison, freeing.
 */
#include "mpi/attr.h"
#include "mpi/comm/check.h"
#include "mpi/comm/group_memo.h"
#include "mpi_impl.h"

int mpi_comm_size(struct mpi_rank *self, MPI_Comm comm, int *size)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc)
        *size = (int)c->group->size;
    return rc;
}

int mpi_comm_rank(struct mpi_rank *self, MPI_Comm comm, int *rank)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc)
        *rank = mpi_comm_my_rank(c, self);
    return rc;
}

int mpi_comm_test_inter(struct mpi_rank *self, MPI_Comm comm, int *flag)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc)
        *flag = c->remote != NULL;
    return rc;
}

int mpi_comm_group(struct mpi_rank *self, MPI_Comm comm, MPI_Group *group)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (!rc)
        *group = mpi_group_publish(mpi_comm_group_ref(self, c));
    return rc;
}

/* Only intercommunicators have a remote group. */
static int check_inter(struct mpi_rank *self, MPI_Comm comm, struct mpi_comm **c)
{
    int rc = mpi_check_comm(self, comm, c);

    if (!rc && !(*c)->remote)
        rc = mpi_raise(self, comm, MPI_ERR_COMM, "the communicator is not an intercommunicator");
    return rc;
}

int mpi_comm_remote_size(struct mpi_rank *self, MPI_Comm comm, int *size)
{
    struct mpi_comm *c;
    int rc = check_inter(self, comm, &c);

    if (!rc)
        *size = (int)c->remote->size;
    return rc;
}

int mpi_comm_remote_group(struct mpi_rank *self, MPI_Comm comm, MPI_Group *group)
{
    struct mpi_comm *c;
    int rc = check_inter(self, comm, &c);

    if (!rc)
        *group = mpi_group_publish(mpi_group_ref(c->remote));
    return rc;
}

/* Compares two groups; the result is cached. */
static int compare_groups(struct mpi_group *a, struct mpi_group *b)
{
    struct group_memo_key key = {.op = GROUP_MEMO_COMPARE, .a = a, .b = b};
    int answer;

    if (!group_memo_find(&key, NULL, &answer)) {
        answer = mpi_gset_compare(a, b);
        group_memo_store(&key, NULL, answer);
    }
    return answer;
}

int mpi_comm_compare(struct mpi_rank *self, MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    struct mpi_comm *a, *b;
    int rc = mpi_check_comm(self, comm1, &a);

    if (!rc)
        rc = mpi_check_comm(self, comm2, &b);
    if (rc)
        return rc;
    if (a == b) {
        *result = MPI_IDENT;
    } else if (!a->remote != !b->remote) {
        *result = MPI_UNEQUAL;
    } else {
        struct mpi_group *ga = mpi_comm_group_ref(self, a), *gb = mpi_comm_group_ref(self, b);
        int local = compare_groups(ga, gb);
        int remote = a->remote ? compare_groups(a->remote, b->remote) : MPI_IDENT;
        int worse = local > remote ? local : remote;

        *result = worse == MPI_IDENT ? MPI_CONGRUENT : worse;
        mpi_group_unref(ga);
        mpi_group_unref(gb);
    }
    return MPI_SUCCESS;
}

int mpi_comm_free(struct mpi_rank *self, MPI_Comm *comm)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, *comm, &c);
    if (rc)
        return rc;
    if (*comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF)
        return mpi_raise(self, *comm, MPI_ERR_COMM, "%s cannot be freed", c->name);
    rc = mpi_attr_delete_all(self, *comm);
    if (rc)
        return mpi_raise(self, *comm, rc, "an attribute delete function returned %d", rc);
    mpi_comm_leave(self, c);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
