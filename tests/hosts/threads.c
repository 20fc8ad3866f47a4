/*
 * Faults of a thread, by argument 1, in the rank of argument 2. Its first thread waits for a
 * message that never arrives; the last rank creates a file `stays` and computes meanwhile, all
 * others wait, too. The thread continues when this file exists.
 *   segv      the thread writes to no address
 *   raise     it raises a signal that nobody handles, while the first thread makes calls
 *   exit      it calls exit(3)
 *   spin      it makes a file `spins` and computes for ever
 *   deadlock  it waits for ever, and no rank computes
 *   calls     it computes until the first thread, which computes for ever, sleeps nevertheless:
 *             it was asked where it is. Then it makes calls
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *how;
static volatile int forever = 1;

static void await_last(void)
{
    while (access("stays", F_OK) != 0)
        continue;
}

/* Whether the first thread sleeps, though its program never does. */
static int first_sleeps(void)
{
    char path[64], text[256] = "";
    const char *end;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    fd = open(path, O_RDONLY);
    if (fd < 0 || read(fd, text, sizeof text - 1) < 0)
        text[0] = 0;
    close(fd);
    end = strrchr(text, ')');
    return end && end[1] && end[2] == 'S';
}

static void call_late(void)
{
    int flag;

    fclose(fopen("spins", "w"));
    while (!first_sleeps())
        continue;
    while (forever)
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void *fail(void *unused)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    volatile int *nowhere = NULL;

    pthread_mutex_lock(&lock);
    while (!strcmp(how, "deadlock"))
        pthread_cond_wait(&never, &lock);
    await_last();
    if (!strcmp(how, "exit"))
        exit(3);
    if (!strcmp(how, "raise"))
        raise(SIGUSR2);
    if (!strcmp(how, "spin"))
        fclose(fopen("spins", "w"));
    while (!strcmp(how, "spin") && forever)
        continue;
    if (!strcmp(how, "calls"))
        call_late();
    *nowhere = 1;
    return unused;
}

int main(int argc, char **argv)
{
    int rank, size, provided, chosen = atoi(argv[2]);
    pthread_t thread;

    how = argv[1];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("hello from %d\n", rank);
    if (rank == chosen && pthread_create(&thread, NULL, fail, NULL) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1)
        fclose(fopen("stays", "w"));
    while (rank == size - 1 && strcmp(how, "deadlock") != 0 && strcmp(how, "exit") != 0 && forever)
        continue;
    while (rank == chosen && !strcmp(how, "raise") && forever)
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &provided, MPI_STATUS_IGNORE);
    MPI_Recv(&rank, 1, MPI_INT, chosen, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
