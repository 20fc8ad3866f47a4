/* test: n=2,5,16 */
/*
 * dyn_connect.c - MPI_Comm_accept and MPI_Comm_connect between groups of ranks of one run,
 * MPI_Comm_disconnect. Natively only what does not need a second job.
 */
#include "check.h"

/* The communicator between two groups carries messages both ways, and merges. */
static void check_inter(MPI_Comm inter, int local, int remote, int tag)
{
    MPI_Comm merged;
    int n, is_inter, me, sum = 0, one = 1, got = -1;

    MPI_Comm_test_inter(inter, &is_inter);
    CHECK(is_inter);
    MPI_Comm_size(inter, &n);
    CHECK(n == local);
    MPI_Comm_remote_size(inter, &n);
    CHECK(n == remote);
    MPI_Comm_rank(inter, &me);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == remote);
    if (me == 0) {
        MPI_Sendrecv(&tag, 1, MPI_INT, 0, tag, &got, 1, MPI_INT, 0, tag, inter, MPI_STATUS_IGNORE);
        CHECK(got == tag);
    }
    MPI_Intercomm_merge(inter, 0, &merged);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK(sum == local + remote);
    MPI_Comm_free(&merged);
}

/* The odd ranks connect to the even ones; the port's name comes by a published name. Roots are the
 * last ranks. */
static void check_halves(void)
{
    MPI_Comm half, inter;
    char port[MPI_MAX_PORT_NAME] = "";
    int odd = check_rank() % 2, n, me;

    MPI_Comm_split(MPI_COMM_WORLD, odd, 0, &half);
    MPI_Comm_size(half, &n);
    MPI_Comm_rank(half, &me);
    if (!odd && me == n - 1) {
        MPI_Open_port(MPI_INFO_NULL, port);
        CHECK(MPI_Publish_name("dyn-halves", MPI_INFO_NULL, port) == MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (odd && me == n - 1)
        CHECK(MPI_Lookup_name("dyn-halves", MPI_INFO_NULL, port) == MPI_SUCCESS);
    for (int i = 0; i < 3; i++) {
        if (odd)
            MPI_Comm_connect(port, MPI_INFO_NULL, n - 1, half, &inter);
        else
            MPI_Comm_accept(port, MPI_INFO_NULL, n - 1, half, &inter);
        check_inter(inter, n, check_size() - n, 7 + i);
        MPI_Comm_disconnect(&inter);
        CHECK(inter == MPI_COMM_NULL);
    }
    if (!odd && me == n - 1) {
        MPI_Unpublish_name("dyn-halves", MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
    MPI_Comm_free(&half);
}

/* Rank 0 accepts one client after the other; they come in order of virtual time: the highest rank
 * first. */
static void check_order(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int me = check_rank(), n = check_size(), who;
    MPI_Comm inter;

    if (me == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (me == 0) {
        for (int i = 1; i < n; i++) {
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
            MPI_Recv(&who, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
            CHECK(who == n - i);
            MPI_Comm_disconnect(&inter);
        }
        MPI_Close_port(port);
    } else {
        check_spend(n - me);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Send(&me, 1, MPI_INT, 0, 0, inter);
        MPI_Comm_disconnect(&inter);
    }
}

/* A port that is closed while somebody waits at it, one that is closed before, and none. All ranks
 * of the communicator learn of it. */
static void check_errors(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm others, inter = MPI_COMM_NULL;
    int me = check_rank(), n;

    MPI_Comm_split(MPI_COMM_WORLD, me != 0, 0, &others);
    MPI_Comm_set_errhandler(others, MPI_ERRORS_RETURN);
    MPI_Comm_size(others, &n);
    if (me == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (me == 0) {
        check_spend(1);
        MPI_Close_port(port);
        CHECK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, others, &inter) == MPI_ERR_PORT);
    } else {
        CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, n - 1, others, &inter) == MPI_ERR_PORT);
        CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, others, &inter) == MPI_ERR_PORT);
        CHECK(MPI_Comm_connect("nowhere", MPI_INFO_NULL, 0, others, &inter) == MPI_ERR_PORT);
        CHECK(MPI_Comm_connect(port, MPI_INFO_NULL, n, others, &inter) == MPI_ERR_ROOT);
    }
    CHECK(inter == MPI_COMM_NULL);
    MPI_Comm_free(&others);
}

/* Disconnecting waits for pending messages: the buffer is filled when it returns. */
static void check_disconnect(void)
{
    MPI_Comm comm;
    MPI_Request reqs[2];
    int me = check_rank(), n = check_size(), count = 100000;
    int *out = malloc((size_t)count * sizeof *out), *in = calloc((size_t)count, sizeof *in);

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < count; i++)
        out[i] = me + i;
    MPI_Irecv(in, count, MPI_INT, (me + n - 1) % n, 3, comm, &reqs[0]);
    MPI_Isend(out, count, MPI_INT, (me + 1) % n, 3, comm, &reqs[1]);
    if (check_virtual()) {
        MPI_Comm_disconnect(&comm);
        CHECK(in[count - 1] == (me + n - 1) % n + count - 1);
        MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE);
    } else {
        MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE);
        MPI_Comm_disconnect(&comm);
    }
    CHECK(comm == MPI_COMM_NULL);
    for (int i = 0; i < count; i++)
        CHECK(in[i] == (me + n - 1) % n + i);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_disconnect();
    check_ok("disconnect");
    if (check_virtual())
        check_halves();
    check_ok("halves");
    if (check_virtual())
        check_order();
    check_ok("order");
    if (check_virtual())
        check_errors();
    check_ok("errors");
    MPI_Finalize();
    return 0;
}
