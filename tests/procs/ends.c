/*
 * Ways to end, by argument 1; argument 2 is a rank:
 *   abort     it calls MPI_Abort(7) after 11 of the steps (argument 3) in which all exchange
 *             messages and write
 *   quit      it calls MPI_Abort(7); the others exchange messages for ever
 *   ties      every rank calls MPI_Abort at the same time; all have written at that time
 *   segv      it crashes while the others exchange messages
 *   exit      it calls exit(3) without MPI_Finalize; the others end well
 *   codes     every rank returns 10 + its number, the higher ones earlier; it returns 0
 *   fatal     it makes an invalid call under MPI_ERRORS_ARE_FATAL; the others wait for it
 *   deadlock  all wait for a message of the next but this one, which waits for any
 *   livelock  all test for a message that never comes
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void orrery_compute(double seconds) __attribute__((weak));

static int rank, size, chosen, steps, a, b;

static void end_abort(void)
{
    for (int i = 0; i < steps; i++) {
        printf("rank %d step %d\n", rank, i);
        orrery_compute(1e-4);
        MPI_Sendrecv(&a, 1, MPI_INT, rank ^ 1, 0, &b, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (rank == chosen && i == 10)
            MPI_Abort(MPI_COMM_WORLD, 7);
    }
}

static void end_quit(void)
{
    orrery_compute(1e-3);
    if (rank == chosen)
        MPI_Abort(MPI_COMM_WORLD, 7);
    while (rank / 2 != chosen / 2)
        MPI_Sendrecv(&a, 1, MPI_INT, rank ^ 1, 0, &b, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
}

static void end_ties(void)
{
    orrery_compute(1e-3);
    printf("rank %d aborts\n", rank);
    fprintf(stderr, "rank %d aborts, too\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 20 + rank);
}

static void end_segv(void)
{
    volatile int *nowhere = NULL;

    for (int i = 0; i < steps; i++) {
        MPI_Sendrecv(&a, 1, MPI_INT, rank ^ 1, 0, &b, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (rank == chosen && i == 10)
            *nowhere = 1;
    }
}

static void end_fatal(void)
{
    orrery_compute(1e-3);
    if (rank == chosen)
        MPI_Send(&a, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
    MPI_Recv(&a, 1, MPI_INT, chosen, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void end_deadlock(void)
{
    int from = rank == chosen ? MPI_ANY_SOURCE : (rank + 1) % size;

    printf("rank %d waits\n", rank);
    if (rank % 3 == 0)
        MPI_Ssend(&a, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
    MPI_Recv(&a, 1, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void end_livelock(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Irecv(&a, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    int status = 0;

    chosen = atoi(argv[2]);
    steps = argc > 3 ? atoi(argv[3]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(how, "abort"))
        end_abort();
    else if (!strcmp(how, "quit"))
        end_quit();
    else if (!strcmp(how, "ties"))
        end_ties();
    else if (!strcmp(how, "segv"))
        end_segv();
    else if (!strcmp(how, "fatal"))
        end_fatal();
    else if (!strcmp(how, "deadlock"))
        end_deadlock();
    else if (!strcmp(how, "livelock"))
        end_livelock();
    else if (!strcmp(how, "exit") && rank == chosen)
        exit(3);
    else if (!strcmp(how, "codes")) {
        orrery_compute(1e-3 * (size - rank));
        status = rank == chosen ? 0 : 10 + rank;
    }
    printf("rank %d ends", rank); /* and without a newline */
    MPI_Finalize();
    return status;
}
