/*
 * from_group.c - communicators from groups alone, without a parent (MPI-4.0 7.4.2, 7.6.2).
 *
 * The members talk to each other beside MPI_COMM_WORLD's own collectives, under a tag that is made
 * from the text the program gives: as in MPI_Comm_create_group, the first member makes the
 * communicator and a binomial tree tells the others.
 */
#include "mpi/coll/tags.h"
#include "mpi/comm/check.h"
#include "mpi/comm/errhandler_internal.h"
#include "mpi_impl.h"

/* A tag of MPI_Comm_create_group's range: equal texts have equal ones. */
static int tag_of(const char *text)
{
    uint32_t hash = 0x811c9dc5u;

    while (*text)
        hash = (hash ^ (unsigned char)*text++) * 0x01000193u;
    return (int)(hash % MPI_TAG_CREATE_GROUP_FIRST);
}

static int check(struct mpi_rank *self, MPI_Group group, const char *stringtag,
                 MPI_Errhandler errhandler, const void *out, struct mpi_group **g)
{
    int rc = mpi_check_group(self, group, g);

    if (!rc)
        rc = mpi_check_ptr(self, MPI_COMM_NULL, stringtag, "stringtag");
    if (!rc)
        rc = mpi_check_ptr(self, MPI_COMM_NULL, out, "newcomm");
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
    int rc = check(self, group, stringtag, errhandler, newcomm, &g), me;

    (void)info;
    if (rc)
        return rc;
    *newcomm = MPI_COMM_NULL;
    if (g->size == 0)
        return MPI_SUCCESS;
    me = mpi_group_rank_of(g, mpi_rank_id(self));
    if (me == MPI_UNDEFINED)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_GROUP, "the calling rank is not in the group");
    if (me == 0)
        desc = mpi_comm_describe(mpi_comm_new(mpi_group_ref(g), errhandler));
    /* The program may free the group in another rank meanwhile: hold it across the switch. */
    mpi_group_ref(g);
    rc = mpi_comm_spread(self, world, g, me, (int)g->size,
                         (int)MPI_TAG_CREATE_GROUP_FIRST + tag_of(stringtag), &desc);
    mpi_group_unref(g);
    if (rc)
        return rc;
    *newcomm = mpi_comm_adopt(self, world, desc);
    mpi_errhandler_set_for(self, mpi_comm_get(*newcomm), errhandler);
    return MPI_SUCCESS;
}
