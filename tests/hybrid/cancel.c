/*
 * Receives that are cancelled before and after their message has come in virtual time, while it is
 * there in real time or not. The message of a cancelled receive is for the next one.
 *
 *     cancel FOLDER        prints for each receive whether it was cancelled
 */
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROOM = 100000, SOURCE = 1, TAG = 5 };

/* The message is sent 1 s after the beginning of its round. */
static const struct form {
    const char *name;
    int count, is_persistent;
    int is_sent;      /* in real time, before the receive is cancelled; -1: nobody knows */
    unsigned seconds; /* when it is cancelled */
} forms[] = {
    {"sent", 2, 0, 1, 0},       {"sent", 2, 0, 1, 2},     {"persistent", 2, 1, 1, 0},
    {"persistent", 2, 1, 1, 2}, {"not sent", 2, 0, 0, 0}, {"long", ROOM, 0, -1, 2},
    {"long", ROOM, 0, -1, 0},
};

static const char *folder;
static int rank, in[ROOM], out[ROOM];

static void fail(const char *what)
{
    fprintf(stderr, "rank %d: check failed: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static const char *file(int round)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%d", folder, round);
    return path;
}

/* In real time: something has been done, and whether it has. */
static void mark(int round)
{
    fclose(fopen(file(round), "w"));
}

static int is_marked(int round)
{
    return access(file(round), F_OK) == 0;
}

static int is_cancelled(MPI_Request *request, MPI_Status *status)
{
    int found;
    MPI_Cancel(request);
    MPI_Wait(request, status);
    MPI_Test_cancelled(status, &found);
    return found;
}

static void receive(const struct form *f, int round)
{
    int found, got;
    MPI_Request request;
    MPI_Status status;
    in[0] = -1;
    if (f->is_persistent) {
        MPI_Recv_init(in, f->count, MPI_INT, SOURCE, TAG, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
    } else {
        MPI_Irecv(in, f->count, MPI_INT, SOURCE, TAG, MPI_COMM_WORLD, &request);
    }
    while (f->is_sent == 1 && !is_marked(round)) /* the real MPI receives the message */
        MPI_Iprobe(SOURCE, TAG + 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    sleep(f->seconds);
    found = is_cancelled(&request, &status);
    if (f->is_sent == 0)
        mark(round);
    printf("%s, after %u s: %s\n", f->name, f->seconds, found ? "cancelled" : "received");
    if (found && in[0] != -1)
        fail("a cancelled receive has written to its buffer");
    if (found)
        MPI_Recv(in, f->count, MPI_INT, SOURCE, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &got);
    if (got != f->count || status.MPI_SOURCE != SOURCE || in[0] != round || in[got - 1] != -round)
        fail("not the message");
    if (f->is_persistent)
        MPI_Request_free(&request);
}

static void send(const struct form *f, int round)
{
    out[0] = round;
    out[f->count - 1] = -round;
    sleep(1);
    if (f->is_sent == 0) {
        int found; /* the simulator learns how late it is here */
        MPI_Iprobe(0, TAG + 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        while (!is_marked(round))
            poll(NULL, 0, 1);
    }
    MPI_Ssend(out, f->count, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    if (f->is_sent == 1)
        mark(round);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    folder = argv[1];
    for (int i = 0; i < (int)(sizeof forms / sizeof forms[0]); i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            receive(&forms[i], i + 1);
        else if (rank == SOURCE)
            send(&forms[i], i + 1);
    }
    MPI_Finalize();
    return 0;
}
