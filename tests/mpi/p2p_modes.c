/* test: n=1,2,5 native=4
 * Every send mode, blocking, non-blocking and persistent, by sizes on both sides of the eager
 * limit, against blocking and non-blocking receives. */
#include "check.h"

enum mode { STANDARD, SYNCHRONOUS, READY, BUFFERED, MODES };
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

static const int sizes[] = {0, 1, 8, 4096, 65535, 65536, 65537, 1 << 20};
static int rank, size, right, left;

static void fill(unsigned char *data, int length, int seed)
{
    for (int i = 0; i < length; i++)
        data[i] = (unsigned char)(i * 31 + seed);
}

static void verify(const unsigned char *data, int length, int seed)
{
    for (int i = 0; i < length; i++)
        CHECK(data[i] == (unsigned char)(i * 31 + seed));
    CHECK(data[length] == 0xEE);
}

static void send_blocking(enum mode mode, void *data, int length, int tag)
{
    int (*const calls[MODES])(const void *, int, MPI_Datatype, int, int,
                              MPI_Comm) = {MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend};
    CHECK(calls[mode](data, length, MPI_BYTE, right, tag, MPI_COMM_WORLD) == MPI_SUCCESS);
}

static void send_started(enum mode mode, enum form form, void *data, int length, int tag,
                         MPI_Request *request)
{
    typedef int call(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    call *const started[MODES] = {MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Ibsend};
    call *const lasting[MODES] = {MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};
    call *const *calls = form == PERSISTENT ? lasting : started;
    CHECK(calls[mode](data, length, MPI_BYTE, right, tag, MPI_COMM_WORLD, request) == MPI_SUCCESS);
    if (form == PERSISTENT)
        MPI_Start(request);
}

static void check_status(const MPI_Status *status, int length, int tag)
{
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK(status->MPI_SOURCE == left && status->MPI_TAG == tag && count == length);
}

static void finish_send(enum form form, MPI_Request *request)
{
    if (form == BLOCKING)
        return;
    MPI_Wait(request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT)
        MPI_Request_free(request);
    CHECK(*request == MPI_REQUEST_NULL);
}

/* The receive is posted before the send starts: needed for ready mode, and for self messages. */
static void posted_first(enum mode mode, enum form form, int length, unsigned char *out,
                         unsigned char *in)
{
    int tag = mode * 10 + form, token = 0;
    MPI_Request receive, send;
    MPI_Status status;
    in[length] = 0xEE;
    fill(out, length, rank + tag);
    MPI_Irecv(in, length, MPI_BYTE, left, tag, MPI_COMM_WORLD, &receive);
    MPI_Sendrecv(&token, 1, MPI_INT, left, 99, &token, 1, MPI_INT, right, 99, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (form == BLOCKING)
        send_blocking(mode, out, length, tag);
    else
        send_started(mode, form, out, length, tag, &send);
    MPI_Wait(&receive, &status);
    finish_send(form, &send);
    check_status(&status, length, tag);
    verify(in, length, left + tag);
}

/* The message has arrived, or is in flight, before the receive is posted. */
static void posted_last(enum mode mode, int length, unsigned char *out, unsigned char *in)
{
    MPI_Request send;
    MPI_Status status;
    in[length] = 0xEE;
    fill(out, length, rank + 77);
    send_started(mode, NONBLOCKING, out, length, 50, &send);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(in, length, MPI_BYTE, left, 50, MPI_COMM_WORLD, &status);
    finish_send(NONBLOCKING, &send);
    check_status(&status, length, 50);
    verify(in, length, left + 77);
}

int main(int argc, char **argv)
{
    static const char *const names[MODES] = {"standard", "synchronous", "ready", "buffered"};
    MPI_Init(&argc, &argv);
    rank = check_rank();
    size = check_size();
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    unsigned char *out = (unsigned char *)malloc((1 << 20) + 1);
    unsigned char *in = (unsigned char *)malloc((1 << 20) + 1);
    int space = 3 * ((1 << 20) + MPI_BSEND_OVERHEAD), detached = 0;
    void *buffer = malloc((size_t)space), *returned = 0;
    MPI_Buffer_attach(buffer, space);
    for (int mode = 0; mode < MODES; mode++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            for (int form = 0; form < FORMS; form++)
                posted_first((enum mode)mode, (enum form)form, sizes[i], out, in);
            if (mode != READY)
                posted_last((enum mode)mode, sizes[i], out, in);
        }
        check_ok(names[mode]);
    }
    MPI_Buffer_detach(&returned, &detached);
    CHECK(returned == buffer && detached == space);
    free(buffer);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
