/*
 * from_group.c - communicators from groups alone, without a parent (MPI-4.0 7.4.2, 7.6.2).
 *
 * The members communicate separately from MPI_COMM_WORLD's own collectives, with a tag derived from
 * the program's text: as in MPI_Comm_create_group, the first member creates the communicator and
 * tells the others by a binomial tree. For an intercommunicator the leader with the lower world
 * rank creates both sides; both leaders know both groups.
 */
#include "mpi/coll/message.h"
#include "mpi/comm/check.h"
#include "mpi/comm/errhandler.h"
#include "mpi/comm/errhandler_internal.h"
#include "mpi/create/create.h"
#include "mpi/p2p/p2p.h"
#include "mpi/p2p/tags.h"
#include "mpi_impl.h"

/* A tag in MPI_Comm_create_group's range: equal texts have equal tags. */
static int tag_of(const char *text)
{
    uint32_t hash = 0x811c9dc5u;

    while (*text)
        hash = (hash ^ (unsigned char)*text++) * 0x01000193u;
    return (int)(hash % MPI_TAG_CREATE_GROUP_FIRST);
}

static int check(struct mpi_rank *self, MPI_Group group, MPI_Errhandler errhandler,
                 struct mpi_group **g)
{
    int rc = mpi_check_group(self, group, g);

    if (!rc)
        rc = errhandler_check(self, MPI_COMM_NULL, errhandler, FOR_COMM);
    return rc;
}

int mpi_comm_create_from_group(struct mpi_rank *self, MPI_Group group, const char *stringtag,
                               MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    struct mpi_comm *world = mpi_comm_get(MPI_COMM_WORLD);
    struct mpi_group *g;
    mpi_comm_desc desc = 0;
    int rc = check(self, group, errhandler, &g), me;

    (void)info;
    if (rc)
        return rc;
    *newcomm = MPI_COMM_NULL;
    if (g->size == 0)
        return MPI_SUCCESS;
    me = mpi_group_rank_of(g, mpi_rank_id(self));
    if (me == MPI_UNDEFINED)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_GROUP,
                         "the calling rank is not in the group");
    if (me == 0)
        desc = mpi_comm_describe(mpi_comm_new(mpi_group_ref(g), errhandler), (enum mpi_fn)self->fn,
                                 NULL);
    /* The program may free the group in another rank meanwhile: hold it across the switch. */
    mpi_group_ref(g);
    rc = mpi_comm_bcast_desc(self, world, g, me, (int)g->size,
                             (int)MPI_TAG_CREATE_GROUP_FIRST + tag_of(stringtag), &desc);
    mpi_group_unref(g);
    if (rc)
        return rc;
    *newcomm = mpi_comm_adopt(self, world, desc);
    mpi_errhandler_set_for(self, mpi_comm_get(*newcomm), errhandler);
    return MPI_SUCCESS;
}

/* ---- intercommunicators ---- */

/* A leader: the descriptor for its side, null if the groups overlap. peer: the other's world
 * rank. */
static int lead(struct mpi_rank *self, struct mpi_group *g, struct mpi_group *other, uint32_t peer,
                int tag, MPI_Errhandler errhandler, mpi_comm_desc *desc)
{
    struct mpi_comm *world = mpi_comm_get(MPI_COMM_WORLD);
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);
    struct mpi_group *both;
    mpi_comm_desc high;

    if (mpi_rank_id(self) > peer)
        return mpi_coll_recv(self, world, desc, sizeof *desc, byte, (int)peer, tag);
    both = mpi_gset_intersection(g, other);
    if (both->size == 0)
        *desc = mpi_comm_describe(mpi_comm_new_inter(mpi_group_ref(g), mpi_group_ref(other),
                                                     errhandler),
                                  (enum mpi_fn)self->fn, NULL);
    mpi_group_unref(both);
    high = mpi_comm_desc_high(*desc);
    return mpi_coll_send(self, world, &high, sizeof high, byte, (int)peer, tag);
}

/* Checks the arguments that matter only at the leader; *peer: the other leader. */
static int check_remote(struct mpi_rank *self, MPI_Group remote_group, int remote_leader,
                        struct mpi_group **other, uint32_t *peer)
{
    int rc = mpi_check_group(self, remote_group, other);

    if (rc)
        return rc;
    if (remote_leader < 0 || (uint32_t)remote_leader >= (*other)->size)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_RANK,
                         "the remote leader %d is not in the remote group (size %u)", remote_leader,
                         (*other)->size);
    *peer = mpi_group_world_rank(*other, (uint32_t)remote_leader);
    if (*peer == mpi_rank_id(self))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_RANK,
                         "the remote leader %d is the local leader itself", remote_leader);
    return MPI_SUCCESS;
}

/* Distributes it from the leader to its group: to the first member, which tells the others. */
static int bcast_from(struct mpi_rank *self, struct mpi_group *g, int me, int leader, int tag,
                      mpi_comm_desc *desc)
{
    struct mpi_comm *world = mpi_comm_get(MPI_COMM_WORLD);
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);
    int rc = MPI_SUCCESS;

    if (leader && me == leader)
        rc = mpi_coll_send(self, world, desc, sizeof *desc, byte, (int)mpi_group_world_rank(g, 0),
                           tag);
    else if (leader && me == 0)
        rc = mpi_coll_recv(self, world, desc, sizeof *desc, byte,
                           (int)mpi_group_world_rank(g, (uint32_t)leader), tag);
    return rc ? rc : mpi_comm_bcast_desc(self, world, g, me, (int)g->size, tag, desc);
}

static int check_local(struct mpi_rank *self, const struct mpi_group *g, int me, int leader)
{
    if (me == MPI_UNDEFINED)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_GROUP,
                         "the calling rank is not in the local group");
    if (leader < 0 || (uint32_t)leader >= g->size)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_RANK,
                         "the local leader %d is not in the local group (size %u)", leader,
                         g->size);
    return MPI_SUCCESS;
}

int mpi_intercomm_create_from_groups(struct mpi_rank *self, MPI_Group local_group, int local_leader,
                                     MPI_Group remote_group, int remote_leader,
                                     const char *stringtag, MPI_Info info,
                                     MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
    struct mpi_group *g, *other = NULL;
    uint32_t peer = 0;
    mpi_comm_desc desc = MPI_COMM_DESC_NULL;
    int rc = check(self, local_group, errhandler, &g), me, tag;

    (void)info;
    if (rc)
        return rc;
    me = mpi_group_rank_of(g, mpi_rank_id(self));
    rc = check_local(self, g, me, local_leader);
    if (!rc && me == local_leader)
        rc = check_remote(self, remote_group, remote_leader, &other, &peer);
    if (rc)
        return rc;
    tag = (int)MPI_TAG_CREATE_GROUP_FIRST + tag_of(stringtag);
    mpi_group_ref(g); /* another rank may free it meanwhile */
    if (other)
        rc = lead(self, g, other, peer, tag, errhandler, &desc);
    if (!rc)
        rc = bcast_from(self, g, me, local_leader, tag, &desc);
    mpi_group_unref(g);
    if (rc)
        return rc;
    if (desc == MPI_COMM_DESC_NULL)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_GROUP, "the two groups have common members");
    *newintercomm = mpi_comm_adopt(self, mpi_comm_get(MPI_COMM_WORLD), desc);
    mpi_errhandler_set_for(self, mpi_comm_get(*newintercomm), errhandler);
    return MPI_SUCCESS;
}
