/* test: n=2,5,16 */
/*
 * dyn_failure.c - what is left of failures on a machine without any. Natively these calls depend on
 * how the MPI was built, and are not made.
 */
#include "check.h"

static void check_shrink(MPI_Comm comm)
{
    MPI_Comm small;
    int result, me, mine;

    CHECK(MPIX_Comm_shrink(comm, &small) == MPI_SUCCESS);
    MPI_Comm_compare(comm, small, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_rank(small, &mine);
    CHECK(me == mine);
    MPI_Barrier(small);
    MPI_Comm_free(&small);
}

static void check_agree(void)
{
    int me = check_rank(), n = check_size(), flag = ~(1 << me);

    CHECK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag) == MPI_SUCCESS);
    CHECK(flag == ~((1 << n) - 1));
    flag = 12 | me << 8;
    CHECK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag) == MPI_SUCCESS);
    CHECK(flag == 12);
}

static void check_nobody(void)
{
    MPI_Group failed;
    int n = -1;

    CHECK(MPIX_Comm_failure_ack(MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &failed) == MPI_SUCCESS);
    MPI_Group_size(failed, &n);
    CHECK(n == 0);
    MPI_Group_free(&failed);
}

static void check_between(void)
{
    MPI_Comm half, inter;
    int odd = check_rank() % 2, flag;

    MPI_Comm_split(MPI_COMM_WORLD, odd, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !odd, 1, &inter);
    check_shrink(inter);
    flag = odd ? 6 : 3;
    CHECK(MPIX_Comm_agree(inter, &flag) == MPI_SUCCESS);
    CHECK(flag == (odd ? 3 : 6));
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void check_errors(void)
{
    MPI_Comm dup;
    int flag = 1;

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPIX_Comm_revoke(dup) == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(MPI_Barrier(dup) == MPI_SUCCESS);
    CHECK(MPIX_Comm_agree(dup, NULL) == MPI_ERR_ARG);
    CHECK(MPIX_Comm_agree(MPI_COMM_NULL, &flag) == MPI_ERR_COMM);
    CHECK(MPIX_Comm_shrink(MPI_COMM_NULL, &dup) == MPI_ERR_COMM);
    CHECK(MPIX_Comm_failure_ack(MPI_COMM_NULL) == MPI_ERR_COMM);
    MPI_Comm_free(&dup);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (check_virtual()) {
        check_shrink(MPI_COMM_WORLD);
        check_agree();
        check_nobody();
        check_between();
        check_errors();
    }
    check_ok("failure");
    MPI_Finalize();
    return 0;
}
