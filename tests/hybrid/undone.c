/*
 * Calls that the real MPI refuses or may not do, after which the program goes on with the same
 * objects: MPI_Win_free in an epoch, MPI_Comm_create with ranks that are not in the communicator,
 * which only those in the group learn, and MPI_Cancel of a send.
 */
#include <mpi.h>
#include <stdio.h>

static int rank, size, failures;

static void check(int is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "check failed: rank %d: %s\n", rank, what);
    failures++;
}

static void window(void)
{
    int word = rank, got = -1;
    MPI_Group all;
    MPI_Win win;
    MPI_Win_create(&word, sizeof word, sizeof word, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
    MPI_Get(&got, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    check(MPI_Win_free(&win) != MPI_SUCCESS, "freed in an epoch");
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    (void)got; /* MPICH 4.0 may have dropped the operation */
    check(MPI_Win_free(&win) == MPI_SUCCESS && win == MPI_WIN_NULL, "not freed");
    MPI_Group_free(&all);
}

/* The group has the last rank, and the communicator the others. */
static void group(void)
{
    int last = size - 1;
    MPI_Comm most, made = MPI_COMM_NULL;
    MPI_Group all, one;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &last, &one);
    MPI_Comm_split(MPI_COMM_WORLD, rank == last, 0, &most);
    MPI_Comm_set_errhandler(most, MPI_ERRORS_RETURN);
    if (rank != last)
        MPI_Comm_create(most, one, &made);
    if (made != MPI_COMM_NULL)
        check(0, "a communicator without its ranks");
    MPI_Barrier(most);
    MPI_Comm_free(&most);
    MPI_Group_free(&one);
    MPI_Group_free(&all);
}

/* Whether it is cancelled or not, its message is received or it is not there. */
static void cancel(void)
{
    MPI_Request sent, received;
    MPI_Status status;
    MPI_Issend(NULL, 0, MPI_BYTE, 0, 5, MPI_COMM_SELF, &sent);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status);
    check(status.MPI_TAG == 5, "another tag");
    MPI_Cancel(&sent);
    MPI_Request_free(&sent);
    MPI_Irecv(NULL, 0, MPI_BYTE, 0, 5, MPI_COMM_SELF, &received);
    MPI_Cancel(&received);
    MPI_Wait(&received, &status);
    check(received == MPI_REQUEST_NULL, "not complete");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    window();
    group();
    cancel();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("done\n");
    MPI_Finalize();
    return failures != 0;
}
