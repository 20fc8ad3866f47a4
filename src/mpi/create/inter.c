/*
 * inter.c - creates and merges intercommunicators (MPI-4.0, 7.6).
 *
 *     leader of one group                  leader of the other
 *       (its world rank is lower)            its group ------> . makes the intercommunicator, whose
 *                                                                low side is the maker's group
 *       desc <------------------------------ . the high descriptor
 *       broadcast in local_comm              broadcast in local_comm
 *
 * Rank 0 of each side leads everything later (dup, split, create, merge); that of the low side
 * creates the object, and sends the other its descriptor.
 */
#include "base/mem.h"
#include "mpi/coll/coll.h"
#include "mpi/coll/message.h"
#include "mpi/comm/check.h"
#include "mpi/comm/errhandler.h"
#include "mpi/create/create.h"
#include "mpi/p2p/p2p.h"
#include "mpi/p2p/tags.h"
#include "mpi_impl.h"

/* ---- groups and descriptors in messages ---- */

int mpi_group_send(struct mpi_rank *self, struct mpi_comm *c, struct mpi_group *g, int dst, int tag)
{
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);
    struct mpi_group_wire w = mpi_group_to_wire(g);
    uint64_t bytes = mpi_group_wire_list(&w) * sizeof *g->list;
    int rc = mpi_coll_send(self, c, &w, sizeof w, byte, dst, tag);

    return rc || !bytes ? rc : mpi_coll_send(self, c, g->list, bytes, byte, dst, tag);
}

int mpi_group_recv(struct mpi_rank *self, struct mpi_comm *c, int src, int tag,
                   struct mpi_group **g)
{
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);
    struct mpi_group_wire w;
    int rc = mpi_coll_recv(self, c, &w, sizeof w, byte, src, tag);
    uint64_t bytes = rc ? 0 : mpi_group_wire_list(&w) * sizeof(uint32_t);
    uint32_t *list = bytes ? mem_alloc(bytes) : NULL;

    if (bytes)
        rc = mpi_coll_recv(self, c, list, bytes, byte, src, tag);
    if (!rc)
        *g = mpi_group_from_wire(&w, list);
    mem_free(list);
    return rc;
}

int mpi_inter_bcast_desc(struct mpi_rank *self, struct mpi_comm *c, int tag, mpi_comm_desc *desc)
{
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);
    int me = mpi_comm_my_rank(c, self), rc = MPI_SUCCESS;

    if (me == 0 && c->high) {
        rc = mpi_coll_recv(self, c, desc, sizeof *desc, byte, 0, tag);
    } else if (me == 0) {
        /* must not be on the stack, which may be a strand's (MPI_Comm_idup) */
        mpi_comm_desc *high = mem_alloc(sizeof *high);

        *high = mpi_comm_desc_high(*desc);
        rc = mpi_coll_send(self, c, high, sizeof *high, byte, 0, tag);
        mem_free(high);
    }
    return rc ? rc : mpi_comm_bcast_desc(self, c->local, NULL, me, (int)c->group->size, tag, desc);
}

/* ---- MPI_Intercomm_create ---- */

/* The peer of a leader. */
struct peer {
    struct mpi_comm *comm;
    int rank, tag;
};

/* The leader with the lower world rank: receives the other group, makes the communicator. The
 * descriptor stays null if the groups overlap. */
static int lead_low(struct mpi_rank *self, const struct mpi_comm *local, const struct peer *p,
                    mpi_comm_desc *desc)
{
    struct mpi_group *mine = mpi_comm_group_ref(self, local), *other, *both;
    mpi_comm_desc high;
    int rc = mpi_group_recv(self, p->comm, p->rank, p->tag, &other);

    if (rc) {
        mpi_group_unref(mine);
        return rc;
    }
    both = mpi_gset_intersection(mine, other);
    if (both->size == 0) {
        *desc = mpi_comm_describe(mpi_comm_new_inter(mine, other,
                                                     mpi_errhandler_given(self, local)),
                                  (enum mpi_fn)self->fn, local);
    } else {
        mpi_group_unref(mine);
        mpi_group_unref(other);
    }
    mpi_group_unref(both);
    high = mpi_comm_desc_high(*desc);
    return mpi_coll_send(self, p->comm, &high, sizeof high, mpi_type_get(MPI_BYTE), p->rank,
                         p->tag);
}

static int lead_high(struct mpi_rank *self, const struct mpi_comm *local, const struct peer *p,
                     mpi_comm_desc *desc)
{
    struct mpi_group *mine = mpi_comm_group_ref(self, local);
    int rc = mpi_group_send(self, p->comm, mine, p->rank, p->tag);

    mpi_group_unref(mine);
    return rc ? rc
              : mpi_coll_recv(self, p->comm, desc, sizeof *desc, mpi_type_get(MPI_BYTE), p->rank,
                              p->tag);
}

/* The arguments that only the leader gives. */
static int check_peer(struct mpi_rank *self, MPI_Comm peer_comm, int remote_leader, int tag,
                      struct peer *p)
{
    int rc = mpi_check_comm(self, peer_comm, &p->comm);

    if (rc)
        return rc;
    if (remote_leader < 0 || (uint32_t)remote_leader >= mpi_comm_peers(p->comm))
        return mpi_raise(self, peer_comm, MPI_ERR_RANK,
                         "the remote leader %d is not in the peer communicator (size %u)",
                         remote_leader, mpi_comm_peers(p->comm));
    if (mpi_comm_world_rank(p->comm, (uint32_t)remote_leader) == mpi_rank_id(self))
        return mpi_raise(self, peer_comm, MPI_ERR_RANK,
                         "the remote leader %d is the local leader itself", remote_leader);
    p->rank = remote_leader;
    p->tag = MPI_TAG_CREATE_GROUP_FIRST + tag % MPI_TAG_CREATE_GROUP_FIRST;
    return MPI_SUCCESS;
}

static int lead(struct mpi_rank *self, const struct mpi_comm *local, const struct peer *p,
                mpi_comm_desc *desc)
{
    *desc = MPI_COMM_DESC_NULL;
    if (mpi_rank_id(self) < mpi_comm_world_rank(p->comm, (uint32_t)p->rank))
        return lead_low(self, local, p, desc);
    return lead_high(self, local, p, desc);
}

static int check_local(struct mpi_rank *self, MPI_Comm local_comm, int leader, int tag,
                       struct mpi_comm **c)
{
    int rc = mpi_check_comm(self, local_comm, c);

    if (rc)
        return rc;
    if ((*c)->remote)
        return mpi_raise(self, local_comm, MPI_ERR_COMM,
                         "the local communicator is an intercommunicator");
    if (leader < 0 || (uint32_t)leader >= (*c)->group->size)
        return mpi_raise(self, local_comm, MPI_ERR_RANK,
                         "the local leader %d is not in the local communicator (size %u)", leader,
                         (*c)->group->size);
    if (tag < 0)
        return mpi_raise(self, local_comm, MPI_ERR_TAG, "the tag is negative (%d)", tag);
    return MPI_SUCCESS;
}

int mpi_intercomm_create(struct mpi_rank *self, MPI_Comm local_comm, int local_leader,
                         MPI_Comm peer_comm, int remote_leader, int tag, MPI_Comm *newintercomm)
{
    struct mpi_comm *c;
    struct peer p = {NULL, 0, 0};
    mpi_comm_desc desc = MPI_COMM_DESC_NULL;
    int rc = check_local(self, local_comm, local_leader, tag, &c);

    if (!rc && mpi_comm_my_rank(c, self) == local_leader) {
        rc = check_peer(self, peer_comm, remote_leader, tag, &p);
        if (!rc)
            rc = lead(self, c, &p, &desc);
    }
    if (!rc)
        rc = mpi_coll_bcast(self, c, &desc, sizeof desc, mpi_type_get(MPI_BYTE), local_leader);
    if (rc)
        return rc;
    if (desc == MPI_COMM_DESC_NULL)
        return mpi_raise(self, local_comm, MPI_ERR_COMM, "the two groups have common members");
    *newintercomm = mpi_comm_adopt(self, c, desc);
    return MPI_SUCCESS;
}

/* ---- MPI_Intercomm_merge ---- */

static void put_members(const struct mpi_group *g, uint32_t *out)
{
    for (uint32_t i = 0; i < g->size; i++)
        out[i] = mpi_group_world_rank(g, i);
}

/* Members of a, then of b. */
static struct mpi_group *concatenate(const struct mpi_group *a, const struct mpi_group *b)
{
    uint32_t *list = mem_alloc(((size_t)a->size + b->size) * sizeof *list);

    put_members(a, list);
    put_members(b, list + a->size);
    return mpi_group_make_list(list, a->size + b->size);
}

/* Rank 0 of both sides: *desc, the same for both. The low side comes first if both say the same. */
static int merge_lead(struct mpi_rank *self, struct mpi_comm *c, int high, mpi_comm_desc *desc)
{
    struct mpi_type *byte = mpi_type_get(MPI_BYTE);
    int tag = MPI_TAG_INTERCOMM_MERGE, theirs = 0, rc;

    if (c->high) {
        rc = mpi_coll_send(self, c, &high, sizeof high, byte, 0, tag);
        return rc ? rc : mpi_coll_recv(self, c, desc, sizeof *desc, byte, 0, tag);
    }
    rc = mpi_coll_recv(self, c, &theirs, sizeof theirs, byte, 0, tag);
    if (rc)
        return rc;
    int after = high && !theirs;
    struct mpi_group *all = concatenate(after ? c->remote : c->group, after ? c->group : c->remote);
    *desc = mpi_comm_describe(mpi_comm_new(all, mpi_errhandler_given(self, c)),
                              (enum mpi_fn)self->fn, c);
    return mpi_coll_send(self, c, desc, sizeof *desc, byte, 0, tag);
}

int mpi_intercomm_merge(struct mpi_rank *self, MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
    struct mpi_comm *c;
    mpi_comm_desc desc = MPI_COMM_DESC_NULL;
    int rc = mpi_check_comm(self, intercomm, &c), me;

    if (!rc && !c->remote)
        rc = mpi_raise(self, intercomm, MPI_ERR_COMM,
                       "the communicator is not an intercommunicator");
    if (rc)
        return rc;
    me = mpi_comm_my_rank(c, self);
    if (me == 0)
        rc = merge_lead(self, c, high != 0, &desc);
    if (!rc)
        rc = mpi_comm_bcast_desc(self, c->local, NULL, me, (int)c->group->size,
                                 MPI_TAG_INTERCOMM_MERGE, &desc);
    if (!rc)
        *newintracomm = mpi_comm_adopt(self, c, desc);
    return rc;
}
