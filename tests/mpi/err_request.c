/* test: n=1,2,5 native=2
 * Wrong arguments of request calls raise the class that MPICH raises, through the handler of
 * the communicator that MPICH takes. */
#include "raises.h"

static void single(MPI_Comm freed)
{
    int flag, c = 0;
    MPI_Request rq, active, reqs[2], null_request = MPI_REQUEST_NULL;
    MPI_Status st;

    reqs[0] = reqs[1] = MPI_REQUEST_NULL;
    MPI_Irecv(&c, 1, MPI_INT, 0, 77, MPI_COMM_SELF, &active);
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, (rq = (MPI_Request)0x1234, MPI_Wait(&rq, &st)));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, (rq = (MPI_Request)0x1234, MPI_Test(&rq, &flag, &st)));
    EXPECT(MPI_ERR_ARG, BY_WORLD, (rq = MPI_REQUEST_NULL, MPI_Wait(&rq, NULL)));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Wait(NULL, &st));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Test(NULL, &flag, &st));
    EXPECT(MPI_ERR_ARG, BY_WORLD, (rq = MPI_REQUEST_NULL, MPI_Test(&rq, NULL, &st)));
    EXPECT(MPI_ERR_ARG, BY_WORLD, (rq = MPI_REQUEST_NULL, MPI_Test(&rq, &flag, NULL)));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, (rq = MPI_REQUEST_NULL, MPI_Request_free(&rq)));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, (rq = (MPI_Request)0x1234, MPI_Request_free(&rq)));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Request_free(NULL));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, (rq = MPI_REQUEST_NULL, MPI_Cancel(&rq)));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, (rq = (MPI_Request)0x1234, MPI_Cancel(&rq)));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Cancel(NULL));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, (rq = MPI_REQUEST_NULL, MPI_Start(&rq)));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, (rq = (MPI_Request)0x1234, MPI_Start(&rq)));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Start(NULL));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Start(&active));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Startall(-1, reqs));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Startall(1, NULL));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Startall(1, &null_request));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Request_get_status((MPI_Request)0x1234, &flag, &st));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Request_get_status(MPI_REQUEST_NULL, NULL, &st));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Request_get_status(MPI_REQUEST_NULL, &flag, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Test_cancelled(NULL, &flag));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Test_cancelled(&st, NULL));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Status_set_cancelled(NULL, 1));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Grequest_complete(MPI_REQUEST_NULL));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Grequest_complete((MPI_Request)0x1234));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Grequest_complete(active));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Grequest_start(NULL, NULL, NULL, NULL, NULL));
    MPI_Cancel(&active);
    MPI_Wait(&active, MPI_STATUS_IGNORE);
    (void)freed;
}

static void arrays(MPI_Comm freed)
{
    int n, flag, idx[2];
    MPI_Request reqs[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Request bad[2] = {MPI_REQUEST_NULL, (MPI_Request)0x1234};
    MPI_Status st, sts[2];

    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Waitall(-1, reqs, sts));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Waitall(1, NULL, sts));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Waitall(2, reqs, NULL));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Waitall(2, bad, sts));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Waitany(-1, reqs, &n, &st));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Waitany(1, NULL, &n, &st));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Waitany(2, reqs, NULL, &st));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Waitany(2, reqs, &n, NULL));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Waitany(2, bad, &n, &st));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Waitsome(-1, reqs, &n, idx, sts));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Waitsome(1, NULL, &n, idx, sts));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Waitsome(2, reqs, NULL, idx, sts));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Waitsome(2, reqs, &n, NULL, sts));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Waitsome(2, reqs, &n, idx, NULL));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Waitsome(2, bad, &n, idx, sts));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Testall(-1, reqs, &flag, sts));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Testall(1, NULL, &flag, sts));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Testall(2, reqs, NULL, sts));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Testall(2, reqs, &flag, NULL));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Testall(2, bad, &flag, sts));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Testany(-1, reqs, &n, &flag, &st));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Testany(1, NULL, &n, &flag, &st));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Testany(2, reqs, NULL, &flag, &st));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Testany(2, reqs, &n, NULL, &st));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Testany(2, reqs, &n, &flag, NULL));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Testany(2, bad, &n, &flag, &st));
    EXPECT(MPI_ERR_COUNT, BY_WORLD, MPI_Testsome(-1, reqs, &n, idx, sts));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Testsome(1, NULL, &n, idx, sts));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Testsome(2, reqs, NULL, idx, sts));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Testsome(2, reqs, &n, NULL, sts));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Testsome(2, reqs, &n, idx, NULL));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Testsome(2, bad, &n, idx, sts));
    (void)freed;
}

static void partitioned(MPI_Comm freed)
{
    int b[8] = {0}, flag, idx[1] = {0};
    MPI_Request active, psend, precv;

    MPI_Irecv(b, 1, MPI_INT, 0, 77, MPI_COMM_SELF, &active);
    MPI_Psend_init(b, 2, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_INFO_NULL, &psend);
    MPI_Precv_init(b + 4, 2, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_INFO_NULL, &precv);
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Pready(0, MPI_REQUEST_NULL));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Pready(0, active));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Pready(0, psend));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Pready(2, psend));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Pready(-1, psend));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Pready_range(1, 0, psend));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Pready_range(0, 7, psend));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Pready_list(-1, idx, psend));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Pready_list(1, NULL, psend));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Parrived(precv, 9, &flag));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Parrived(precv, -1, &flag));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Parrived(precv, 0, NULL));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Parrived(psend, 0, &flag));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Parrived(active, 0, &flag));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD, MPI_Parrived(precv, 0, &flag));
    MPI_Request_free(&psend);
    MPI_Request_free(&precv);
    MPI_Cancel(&active);
    MPI_Wait(&active, MPI_STATUS_IGNORE);
    (void)freed;
}

/* Messages take a while. */
static int test_all(MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    int rc;

    do
        rc = MPI_Testall(2, requests, flag, statuses);
    while (rc == MPI_SUCCESS && !*flag);
    return rc;
}

/* A message that is too long fails the receive; what is behind it stays pending in MPI_Waitall. */
static void truncated(void)
{
    int out[3] = {1, 2, 3}, in[3] = {0, 0, 0}, count, flag, indices[2];
    MPI_Request send, request[2];
    MPI_Status status[2];

    MPI_Isend(out, 3, MPI_INT, 0, 1, MPI_COMM_SELF, &send);
    EXPECT(MPI_ERR_TRUNCATE, BY_SELF, MPI_Recv(in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, status));
    MPI_Get_count(&status[0], MPI_INT, &count);
    CHECK(count == 1 && in[1] == 0);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    for (int call = 0; call < 4; call++) {
        MPI_Irecv(&in[0], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request[0]);
        MPI_Irecv(&in[1], 1, MPI_INT, 0, 2, MPI_COMM_SELF, &request[1]);
        MPI_Send(out, 3, MPI_INT, 0, 1, MPI_COMM_SELF);
        MPI_Send(out, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
        if (check_virtual())
            check_spend(1.0);
        if (call == 0) {
            EXPECT(MPI_ERR_TRUNCATE, BY_SELF, MPI_Wait(&request[0], &status[0]));
            MPI_Wait(&request[1], MPI_STATUS_IGNORE);
        } else if (call == 1) {
            EXPECT(MPI_ERR_IN_STATUS, BY_WORLD, MPI_Waitall(2, request, status));
            CHECK(status[1].MPI_ERROR == MPI_ERR_PENDING && request[1] != MPI_REQUEST_NULL);
            MPI_Wait(&request[1], MPI_STATUS_IGNORE);
        } else if (call == 2) {
            EXPECT(MPI_ERR_IN_STATUS, BY_WORLD, MPI_Waitsome(2, request, &count, indices, status));
            CHECK(count == 2 && status[1].MPI_ERROR == MPI_SUCCESS);
        } else {
            EXPECT(MPI_ERR_IN_STATUS, BY_WORLD, test_all(request, &flag, status));
            CHECK(flag && status[1].MPI_ERROR == MPI_SUCCESS);
        }
        if (call) {
            MPI_Error_class(status[0].MPI_ERROR, &count);
            CHECK(count == MPI_ERR_TRUNCATE);
        }
    }
}

/* If one of several fails, the statuses of the others say that they have not; else they keep what
 * was there, or say the same. */
static void errors_of_some(int tests, int is_truncated)
{
    int out[3] = {1, 2, 3}, in[2] = {0, 0}, count, indices[2], rc;
    MPI_Request request[2];
    MPI_Status status[2];

    MPI_Irecv(&in[0], 1, MPI_INT, 0, 1, comm, &request[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, 0, 2, comm, &request[1]);
    MPI_Send(out, 1, MPI_INT, 0, 1, comm);
    MPI_Send(out, is_truncated ? 3 : 1, MPI_INT, 0, 2, comm);
    for (double start = MPI_Wtime(); MPI_Wtime() < start + 0.01;) {
    }
    status[0].MPI_ERROR = status[1].MPI_ERROR = -1;
    rc = (tests ? MPI_Testsome : MPI_Waitsome)(2, request, &count, indices, status);
    CHECK(count == 2 && rc == (is_truncated ? MPI_ERR_IN_STATUS : MPI_SUCCESS));
    CHECK(status[0].MPI_ERROR == MPI_SUCCESS || (!is_truncated && status[0].MPI_ERROR == -1));
    if (!is_truncated)
        CHECK(status[1].MPI_ERROR == status[0].MPI_ERROR);
    MPI_Error_class(status[1].MPI_ERROR, &rc);
    CHECK(!is_truncated || rc == MPI_ERR_TRUNCATE);
}

static void errors_in_statuses(void)
{
    MPI_Comm all = comm;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++)
        errors_of_some(i & 1, i >> 1);
    MPI_Comm_free(&comm);
    comm = all;
}

int main(int argc, char **argv)
{
    MPI_Comm freed;

    MPI_Init(&argc, &argv);
    freed = set_up();
    single(freed);
    arrays(freed);
    partitioned(freed);
    truncated();
    errors_in_statuses();
    MPI_Comm_free(&comm);
    check_ok("errors of requests");
    MPI_Finalize();
    return 0;
}
