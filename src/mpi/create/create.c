/*
 * create.c - communicators with a group known beforehand: MPI_Comm_dup, MPI_Comm_create,
 * MPI_Comm_create_group.
 *
 * One rank creates the object and tells the others by a binomial tree: log2(n) steps, n - 1
 * messages. MPI_Comm_create of an intracommunicator is a split: each group is identified by the
 * rank of its first member in the parent, which is unique among disjoint groups, and members are
 * ordered by their rank in the group.
 */
#include "mpi/create/create.h"
#include "mpi/attr.h"
#include "mpi/coll/message.h"
#include "mpi/comm/check.h"
#include "mpi/comm/errhandler.h"
#include "mpi/comm/group_memo.h"
#include "mpi/comm/topology.h"
#include "mpi/info.h"
#include "mpi/p2p/p2p.h"
#include "mpi/p2p/tags.h"
#include "mpi_impl.h"

/* The rank in c of member i. */
static int peer(const struct mpi_comm *c, const struct mpi_group *members, int i)
{
    return members ? mpi_comm_rank_of(c, mpi_group_world_rank(members, (uint32_t)i)) : i;
}

int mpi_comm_bcast_desc(struct mpi_rank *self, struct mpi_comm *c, struct mpi_group *members,
                        int me, int n, int tag, mpi_comm_desc *desc)
{
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);
    int mask = 1, rc = MPI_SUCCESS;

    while (mask < n && !(me & mask))
        mask <<= 1;
    if (me)
        rc = mpi_coll_recv(self, c, desc, sizeof *desc, byte, peer(c, members, me - mask), tag);
    for (mask >>= 1; mask && !rc; mask >>= 1)
        if (me + mask < n)
            rc = mpi_coll_send(self, c, desc, sizeof *desc, byte, peer(c, members, me + mask), tag);
    return rc;
}

static int intra_only(struct mpi_rank *self, const struct mpi_comm *c)
{
    return !c->remote ? MPI_SUCCESS
                      : mpi_raise(self, c->handle, MPI_ERR_COMM,
                                  "the communicator is an intercommunicator");
}

int mpi_comm_copy(struct mpi_rank *self, struct mpi_comm *c, mpi_comm_desc *desc)
{
    int me = mpi_comm_my_rank(c, self);
    MPI_Errhandler handler = mpi_errhandler_given(self, c);

    *desc = MPI_COMM_DESC_NULL;
    if (me == 0 && !c->remote)
        *desc = mpi_comm_describe(mpi_comm_new(mpi_comm_group_ref(self, c), handler),
                                  (enum mpi_fn)self->fn, c);
    else if (me == 0 && !c->high)
        *desc = mpi_comm_describe(mpi_comm_new_inter(mpi_group_ref(c->group),
                                                     mpi_group_ref(c->remote), handler),
                                  (enum mpi_fn)self->fn, c);
    if (c->remote)
        return mpi_inter_bcast_desc(self, c, MPI_TAG_COMM_DUP, desc);
    return mpi_comm_bcast_desc(self, c, NULL, me, (int)c->group->size, MPI_TAG_COMM_DUP, desc);
}

void mpi_comm_copy_begin(struct mpi_rank *self, struct mpi_comm_copy *copy)
{
    copy->failed = mpi_attr_copy(self, copy->c->handle, &copy->attributes);
}

int mpi_comm_copy_make(struct mpi_rank *self, struct mpi_comm_copy *copy)
{
    struct mpi_comm *c = copy->c, *made;
    int rc = mpi_comm_copy(self, c, &copy->desc);

    if (rc)
        return rc;
    *copy->newcomm = mpi_comm_adopt(self, c, copy->desc);
    made = mpi_comm_at(*copy->newcomm);
    if (c->topo && !made->topo) /* the first member here does it for the others */
        made->topo = mpi_topo_ref(c->topo);
    if (!copy->failed) {
        mpi_attr_attach(self, *copy->newcomm, copy->attributes);
        return MPI_SUCCESS;
    }
    /* The others need this rank to create theirs, so it leaves only now. */
    mpi_comm_leave(self, made);
    *copy->newcomm = MPI_COMM_NULL;
    return copy->failed;
}

int mpi_comm_dup(struct mpi_rank *self, MPI_Comm comm, MPI_Comm *newcomm)
{
    struct mpi_comm_copy copy = {.newcomm = newcomm};
    int rc = mpi_check_comm(self, comm, &copy.c);

    if (rc)
        return rc;
    mpi_comm_copy_begin(self, &copy);
    rc = mpi_comm_copy_make(self, &copy);
    if (rc && rc == copy.failed)
        return mpi_raise(self, comm, rc, "an attribute copy function returned %d", rc);
    return rc;
}

/* Checks the arguments of both calls below; every member of g must be in c. */
static int check_create(struct mpi_rank *self, MPI_Comm comm, MPI_Group group, struct mpi_comm **c,
                        struct mpi_group **g)
{
    struct group_memo_key key = {.op = GROUP_MEMO_SUBSET};
    struct mpi_group *all;
    int rc = mpi_check_comm(self, comm, c), inside;

    if (!rc)
        rc = mpi_check_group(self, group, g);
    if (rc)
        return rc;
    all = mpi_comm_group_ref(self, *c);
    key.a = *g;
    key.b = all;
    if (!group_memo_find(&key, NULL, &inside)) {
        inside = mpi_gset_subset(*g, all);
        group_memo_store(&key, NULL, inside);
    }
    mpi_group_unref(all);
    if (!inside)
        return mpi_raise(self, comm, MPI_ERR_GROUP,
                         "the group has members outside the communicator%s",
                         (*c)->remote ? "'s local group" : "");
    return MPI_SUCCESS;
}

/* An intercommunicator of the two groups that the ranks 0 of c pass. */
static int create_inter(struct mpi_rank *self, struct mpi_comm *c, struct mpi_group *g,
                        MPI_Comm *newcomm)
{
    int rc = MPI_SUCCESS, leads = mpi_comm_my_rank(c, self) == 0;
    mpi_comm_desc desc = MPI_COMM_DESC_NULL;
    struct mpi_group *other = NULL;
    int inside = mpi_group_rank_of(g, mpi_rank_id(self)) != MPI_UNDEFINED;

    mpi_group_ref(g); /* another rank may free it meanwhile */
    if (leads && c->high)
        rc = mpi_group_send(self, c, g, 0, MPI_TAG_COMM_CREATE);
    else if (leads)
        rc = mpi_group_recv(self, c, 0, MPI_TAG_COMM_CREATE, &other);
    if (other && g->size && other->size)
        desc = mpi_comm_describe(mpi_comm_new_inter(mpi_group_ref(g), mpi_group_ref(other),
                                                    mpi_errhandler_given(self, c)),
                                 (enum mpi_fn)self->fn, c);
    if (other)
        mpi_group_unref(other);
    mpi_group_unref(g);
    if (!rc)
        rc = mpi_inter_bcast_desc(self, c, MPI_TAG_COMM_CREATE, &desc);
    if (!rc)
        *newcomm = mpi_comm_adopt(self, c, inside ? desc : MPI_COMM_DESC_NULL);
    return rc;
}

int mpi_comm_create(struct mpi_rank *self, MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    struct mpi_comm *c;
    struct mpi_group *g;
    int rc = check_create(self, comm, group, &c, &g), me, color = MPI_UNDEFINED;

    if (rc)
        return rc;
    if (c->remote)
        return create_inter(self, c, g, newcomm);
    me = mpi_group_rank_of(g, mpi_rank_id(self));
    if (me != MPI_UNDEFINED)
        color = mpi_comm_rank_of(c, mpi_group_world_rank(g, 0));
    return mpi_comm_divide(self, c, color, me, MPI_TAG_COMM_CREATE, newcomm);
}

int mpi_comm_create_group(struct mpi_rank *self, MPI_Comm comm, MPI_Group group, int tag,
                          MPI_Comm *newcomm)
{
    struct mpi_comm *c;
    struct mpi_group *g;
    mpi_comm_desc desc = 0;
    int rc = check_create(self, comm, group, &c, &g), me;

    if (!rc)
        rc = intra_only(self, c);
    if (rc)
        return rc;
    if (tag < 0)
        return mpi_raise(self, comm, MPI_ERR_TAG, "the tag is negative (%d)", tag);
    me = mpi_group_rank_of(g, mpi_rank_id(self));
    *newcomm = MPI_COMM_NULL;
    if (me == MPI_UNDEFINED)
        return MPI_SUCCESS;
    if (me == 0)
        desc = mpi_comm_describe(mpi_comm_new(mpi_group_ref(g), mpi_errhandler_given(self, c)),
                                 (enum mpi_fn)self->fn, c);
    /* The program may free the group in another rank meanwhile: hold it across the switch. */
    mpi_group_ref(g);
    tag = MPI_TAG_CREATE_GROUP_FIRST + tag % MPI_TAG_CREATE_GROUP_FIRST;
    rc = mpi_comm_bcast_desc(self, c, g, me, (int)g->size, tag, &desc);
    mpi_group_unref(g);
    if (!rc)
        *newcomm = mpi_comm_adopt(self, c, desc);
    return rc;
}

int mpi_comm_dup_with_info(struct mpi_rank *self, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    struct mpi_comm *c;
    int rc = mpi_check_comm(self, comm, &c);

    if (rc)
        return rc;
    if (info != MPI_INFO_NULL && !mpi_info_exists(info))
        return mpi_raise(self, comm, MPI_ERR_INFO, "0x%08x is not an info object", (unsigned)info);
    rc = mpi_comm_dup(self, comm, newcomm);
    if (!rc)
        mpi_comm_hints_give(self, *newcomm, mpi_comm_hints_take(info));
    return rc;
}
