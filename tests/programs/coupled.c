/*
 * An ocean and an atmosphere that exchange fields: built with -DROLE=0 and -DROLE=1 it is two
 * programs, without it one program whose first argument is the number of ocean ranks. Output and
 * virtual times of both must be the same.
 *
 * arguments: [ocean ranks] steps [how it ends: crash, abort, deadlock, exit]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ROLE
#define FIRST 1
static int padding[ROLE ? 9000 : 3] = {1}; /* programs that differ in size and addresses */
#else
#define FIRST 2
static int padding[5] = {1};
#endif

enum { CELLS = 300, TAG = 7 };

static int rank, size, role, mine, mine_size, leader_there;
static MPI_Comm model, between;
static double field[CELLS], other[CELLS];

/* An operation of the program: each program has its own function. */
static void blend(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((double *)inout)[i] = ((double *)in)[i] * 0.5 + ((double *)inout)[i];
}

static void check_appnum(void)
{
    int *appnum, found;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &found);
#ifdef ROLE
    if (!found || *appnum != ROLE)
        MPI_Abort(MPI_COMM_WORLD, 9);
#endif
}

/* Neighbours in the model's ring, the wave of the ocean the other way round. */
static void step_model(int step)
{
    MPI_Request requests[2];
    int to = (mine + (role ? 1 : mine_size - 1)) % mine_size;
    int which;

    for (int i = 0; i < CELLS; i++)
        field[i] += (rank + 1) * (step + 1) * 0.25 + padding[0];
    MPI_Irecv(other, CELLS, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, model, &requests[0]);
    MPI_Isend(field, role ? CELLS : CELLS / 2, MPI_DOUBLE, to, TAG, model, &requests[1]);
    MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* The leaders exchange, then all know. */
static void couple(void)
{
    double sum[2] = {field[0], field[1]}, got[2];
    MPI_Op op;

    MPI_Op_create(blend, 1, &op);
    MPI_Allreduce(sum, got, 2, MPI_DOUBLE, op, model);
    MPI_Op_free(&op);
    MPI_Allreduce(got, other, 2, MPI_DOUBLE, MPI_SUM, between);
    field[2] += other[0];
}

/* Everybody counts at rank 0, in the other program for most. */
static void count_steps(MPI_Win win, int *total)
{
    int one = 1, before;

    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    MPI_Allreduce(&one, total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void end_badly(const char *how)
{
    if (!strcmp(how, "crash") && rank == size - 1)
        *(volatile int *)8 = 1;
    if (!strcmp(how, "abort") && rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, 5);
    if (!strcmp(how, "deadlock"))
        MPI_Recv(field, 1, MPI_DOUBLE, (rank + 1) % size, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(how, "exit") && role == 1) {
        MPI_Finalize();
        exit(3);
    }
}

int main(int argc, char **argv)
{
    int steps, total, *counter;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_appnum();
#ifdef ROLE
    role = ROLE;
#else
    role = rank >= atoi(argv[1]);
#endif
    steps = atoi(argv[FIRST]);
    MPI_Comm_split(MPI_COMM_WORLD, role, rank, &model);
    MPI_Comm_rank(model, &mine);
    MPI_Comm_size(model, &mine_size);
    leader_there = role ? 0 : mine_size;
    MPI_Intercomm_create(model, 0, MPI_COMM_WORLD, leader_there, 3, &between);
    MPI_Win_allocate(sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                     &win);
    *counter = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < steps; step++) {
        step_model(step);
        couple();
        count_steps(win, &total);
    }
    MPI_Win_fence(0, win);
    total += *counter;
    MPI_Win_free(&win);
    if (argc > FIRST + 1)
        end_badly(argv[FIRST + 1]);
    printf("%s %d: field %.3f %.3f, counted %d\n", role ? "atmosphere" : "ocean", mine, field[0],
           field[2], total);
    MPI_Comm_free(&between);
    MPI_Comm_free(&model);
    MPI_Finalize();
    return 0;
}
