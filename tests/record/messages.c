/* native=2: messages, requests and their outcomes. */
#include "every.h"

#define F(name) MPI_##name
#define PART(name) name
#define SIZE int
#include "messages_sized.h"
#undef F
#undef PART
#undef SIZE
#define F(name) MPI_##name##_c
#define PART(name) large_##name
#define SIZE MPI_Count
#include "messages_sized.h"

/* Each call that completes requests, in vain and then not. Messages with tags 0 to 3 are there when
 * that with tag 4 is. */
static void completions(void)
{
    int value = 5, in[4], index, count, flag, indices[4], go = 0;
    MPI_Request r[4];
    MPI_Status statuses[4];
    for (int way = 0; way < 8; way++) {
        if (rank == 0) {
            MPI_Recv(&go, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int tag = 0; tag < 5; tag++)
                MPI_Send(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
            continue;
        }
        for (int i = 0; i < 4; i++)
            MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? 0 : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &r[i]);
        MPI_Test(&r[0], &flag, &statuses[0]);
        MPI_Testall(4, r, &flag, MPI_STATUSES_IGNORE);
        MPI_Testany(4, r, &index, &flag, &statuses[0]);
        MPI_Testsome(4, r, &count, indices, statuses);
        MPI_Request_get_status(r[2], &flag, &statuses[0]);
        MPI_Send(&go, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Request_get_status(r[2], &flag, &statuses[0]);
        if (way == 0)
            MPI_Test(&r[0], &flag, &statuses[0]);
        if (way == 1)
            MPI_Testall(4, r, &flag, statuses);
        if (way == 2)
            MPI_Testany(4, r, &index, &flag, &statuses[0]);
        if (way == 3)
            MPI_Testsome(4, r, &count, indices, statuses);
        if (way == 4)
            MPI_Wait(&r[1], &statuses[0]);
        if (way == 5)
            MPI_Waitany(4, r, &index, &statuses[0]);
        if (way == 6)
            MPI_Waitsome(4, r, &count, indices, statuses);
        MPI_Waitall(4, r, statuses);
        MPI_Waitsome(4, r, &count, indices, statuses); /* of no requests */
        MPI_Testany(4, r, &index, &flag, &statuses[0]);
    }
}

static void cancelled(void)
{
    int in;
    MPI_Request r;
    MPI_Status status;
    int flag;
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 40, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &status);
    MPI_Test_cancelled(&status, &flag);
}

static void statuses(void)
{
    MPI_Status status;
    MPI_Fint fortran[MPI_F_STATUS_SIZE];
    MPI_Count many;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements(&status, MPI_INT, 3);
    MPI_Status_set_elements_x(&status, MPI_INT, 4);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Get_elements_x(&status, MPI_INT, &many);
    MPI_Status_c2f(&status, fortran);
    MPI_Status_f2c(fortran, &status);
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 2);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int let_go(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static int poll_it(void *state, MPI_Status *status)
{
    (void)status;
    return MPI_Grequest_complete(*(MPI_Request *)state);
}

static int wait_for(int count, void **states, double timeout, MPI_Status *status)
{
    (void)timeout;
    for (int i = 0; i < count; i++)
        poll_it(states[i], status);
    return MPI_SUCCESS;
}

static void general(void)
{
    MPI_Request r;
    MPIX_Grequest_class class;
    MPI_Grequest_start(query, let_go, cancel, NULL, &r);
    MPI_Grequest_complete(r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPIX_Grequest_start(query, let_go, cancel, poll_it, wait_for, &r, &r);
    MPI_Grequest_complete(r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPIX_Grequest_class_create(query, let_go, cancel, poll_it, wait_for, &class);
    MPIX_Grequest_class_allocate(class, &r, &r);
    MPI_Grequest_complete(r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void partitions(void)
{
    int values[4] = {0}, list[2] = {1, 2}, flag;
    MPI_Request r;
    if (rank == 0) {
        MPI_Psend_init(values, 4, 1, MPI_INT, 1, 60, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
        MPI_Start(&r);
        MPI_Pready(0, r);
        MPI_Pready_list(2, list, r);
        MPI_Pready_range(3, 3, r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Precv_init(values, 4, 1, MPI_INT, 0, 60, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
        MPI_Start(&r);
        MPI_Parrived(r, 1, &flag); /* or not */
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&r);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    modes();
    large_modes();
    receives();
    large_receives();
    both_ways();
    large_both_ways();
    completions();
    cancelled();
    statuses();
    general();
    partitions();
    finish();
    return 0;
}
