/*
 * dynamic_api.c - processes that come and go (MPI-4.0, 11.8 and 11.10).
 *
 * The ranks of a run are those it starts with: none has a parent, and none can be added.
 * MPI_Comm_spawn fails as where no more processes are to be had, on all ranks of the communicator.
 */
#include "mpi/coll/coll.h"
#include "mpi/comm/check.h"
#include "mpi/p2p/request.h"
#include "mpi_impl.h"

int mpi_comm_get_parent(struct mpi_rank *self, MPI_Comm *parent)
{
    int rc = mpi_check_ptr(self, MPI_COMM_NULL, parent, "parent");

    if (!rc)
        *parent = MPI_COMM_NULL;
    return rc;
}

/* ---- MPI_Comm_disconnect ---- */

/* Waits until what the rank has under way on c is complete; the requests stay. May switch. */
static void finish_pending(struct mpi_rank *self, const struct mpi_comm *c)
{
    uint32_t from = 0;
    struct mpi_req *r;
    vtime due;

    for (;;) {
        mpi_drain(self);
        r = mpi_req_unfinished(self, c, &from);
        if (!r)
            return;
        if (!mpi_decide(self, VTIME_NEVER, &due))
            mpi_block(self, due, 1, &r, 1);
    }
}

int mpi_comm_disconnect(struct mpi_rank *self, MPI_Comm *comm)
{
    struct mpi_comm *c;
    int rc = mpi_check_ptr(self, MPI_COMM_NULL, comm, "comm");

    if (!rc)
        rc = mpi_check_comm(self, *comm, &c);
    if (rc)
        return rc;
    if (c->keeps) /* by some rank of this process */
        finish_pending(self, c);
    return mpi_comm_free(self, comm);
}

/* ---- starting ranks ---- */

/* All ranks of comm fail; `processes`, known at the root, is the length of the codes. */
static int spawn_nothing(struct mpi_rank *self, int processes, int root, MPI_Comm comm,
                         MPI_Comm *intercomm, int *codes)
{
    struct mpi_comm *c;
    int32_t n = processes;
    int rc = mpi_check_rooted(self, comm, root, intercomm, &c);

    if (!rc)
        rc = mpi_coll_bcast(self, c, &n, sizeof n, mpi_type_get(MPI_BYTE), root);
    if (rc)
        return rc;
    *intercomm = MPI_COMM_NULL;
    if (n < 0)
        return mpi_raise(self, comm, MPI_ERR_ARG,
                         "the number of processes at the root is negative, or an argument is a "
                         "null pointer");
    for (int32_t i = 0; codes != MPI_ERRCODES_IGNORE && i < n; i++)
        codes[i] = MPI_ERR_SPAWN;
    return mpi_raise(self, comm, MPI_ERR_SPAWN,
                     "no further ranks can be started in a run (%d asked for): start them all with "
                     "'orrery run -n'", n);
}

int mpi_comm_spawn(struct mpi_rank *self, const char *command, char *argv[], int maxprocs,
                   MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm,
                   int array_of_errcodes[])
{
    (void)argv;
    (void)info;
    return spawn_nothing(self, command ? maxprocs : -1, root, comm, intercomm, array_of_errcodes);
}

/* The sum of n counts, -1 if it cannot be. */
static int total(int n, const int *counts)
{
    int64_t sum = 0;

    if (n < 0 || (n && !counts))
        return -1;
    for (int i = 0; i < n; i++) {
        if (counts[i] < 0)
            return -1;
        sum += counts[i];
    }
    return sum <= INT32_MAX ? (int)sum : -1;
}

int mpi_comm_spawn_multiple(struct mpi_rank *self, int count, char *array_of_commands[],
                            char **array_of_argv[], const int array_of_maxprocs[],
                            const MPI_Info array_of_info[], int root, MPI_Comm comm,
                            MPI_Comm *intercomm, int array_of_errcodes[])
{
    struct mpi_comm *c;
    int processes = 0, rc = mpi_check_rooted(self, comm, root, intercomm, &c);

    (void)array_of_argv;
    (void)array_of_info;
    if (rc)
        return rc;
    if (mpi_comm_my_rank(c, self) == root) /* elsewhere the arrays need not be there */
        processes = array_of_commands ? total(count, array_of_maxprocs) : -1;
    return spawn_nothing(self, processes, root, comm, intercomm, array_of_errcodes);
}

int mpi_comm_join(struct mpi_rank *self, int fd, MPI_Comm *intercomm)
{
    int rc = mpi_check_ptr(self, MPI_COMM_NULL, intercomm, "intercomm");

    if (rc)
        return rc;
    *intercomm = MPI_COMM_NULL;
    return mpi_raise(self, MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION,
                     "the ranks of a run cannot be joined by the socket %d with processes outside",
                     fd);
}
