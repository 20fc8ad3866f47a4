/* test: n=1,2,5 native=2
 * Wrong arguments of point-to-point calls raise the class that MPICH raises, through the handler of
 * the communicator that MPICH takes. */
#include "raises.h"

static void sending(MPI_Comm freed)
{
    int b[8] = {0}, size = check_size();
    MPI_Request rq;
    MPI_Datatype raw;

    MPI_Type_contiguous(3, MPI_INT, &raw);

    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Send(NULL, 1, MPI_INT, 0, 1, comm));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Send(b, -1, MPI_INT, 0, 1, comm));
    EXPECT(MPI_ERR_TYPE, BY_COMM, MPI_Send(b, 1, MPI_DATATYPE_NULL, 0, 1, comm));
    EXPECT(MPI_ERR_TYPE, BY_COMM, MPI_Send(b, 1, raw, 0, 1, comm));
    EXPECT(MPI_ERR_TYPE, BY_COMM, MPI_Send(b, 1, (MPI_Datatype)0x1234, 0, 1, comm));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Send(b, 1, MPI_INT, size, 1, comm));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Send(b, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Send(b, 1, MPI_INT, -9, 1, comm));
    EXPECT(MPI_ERR_TAG, BY_COMM, MPI_Send(b, 1, MPI_INT, 0, -1, comm));
    EXPECT(MPI_ERR_TAG, BY_COMM, MPI_Send(b, 1, MPI_INT, 0, -5, comm));
    EXPECT(MPI_ERR_TAG, BY_COMM, MPI_Send(b, 1, MPI_INT, MPI_PROC_NULL, -5, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Send(NULL, 1, MPI_INT, MPI_PROC_NULL, 1, comm));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Send(b, -1, MPI_INT, MPI_PROC_NULL, 1, comm));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Send(b, 1, MPI_INT, 0, 1, MPI_COMM_NULL));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Send(b, 1, MPI_INT, 0, 1, freed));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Ssend(b, -1, MPI_INT, 0, 1, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Ssend(NULL, 1, MPI_INT, 0, 1, comm));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Rsend(b, 1, MPI_INT, size, 1, comm));
    EXPECT(MPI_ERR_TYPE, BY_COMM, MPI_Bsend(b, 1, MPI_DATATYPE_NULL, 0, 1, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Bsend(b, 1, MPI_INT, 0, 1, comm));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Bsend(b, 1, MPI_INT, size, 1, comm));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Isend(NULL, 1, MPI_INT, 0, 1, comm, &rq));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Isend(b, -1, MPI_INT, 0, 1, comm, &rq));
    EXPECT(MPI_ERR_TYPE, BY_COMM, MPI_Isend(b, 1, raw, 0, 1, comm, &rq));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Isend(b, 1, MPI_INT, size, 1, comm, &rq));
    EXPECT(MPI_ERR_TAG, BY_COMM, MPI_Isend(b, 1, MPI_INT, 0, -1, comm, &rq));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Isend(b, 1, MPI_INT, 0, 1, MPI_COMM_NULL, &rq));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Isend(b, 1, MPI_INT, 0, 1, comm, NULL));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Issend(b, 1, MPI_INT, size, 1, comm, &rq));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Irsend(b, 1, MPI_INT, size, 1, comm, &rq));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Ibsend(b, 1, MPI_INT, size, 1, comm, &rq));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Send_init(b, 1, MPI_INT, size, 1, comm, &rq));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Send_init(b, -1, MPI_INT, 0, 1, comm, &rq));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Send_init(b, 1, MPI_INT, 0, 1, comm, NULL));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Bsend_init(b, 1, MPI_INT, size, 1, comm, &rq));
    MPI_Type_free(&raw);
}

static void receiving(MPI_Comm freed)
{
    int b[8] = {0}, size = check_size(), flag;
    MPI_Request rq;
    MPI_Status st;
    MPI_Message msg;
    MPI_Datatype raw;

    MPI_Type_contiguous(3, MPI_INT, &raw);

    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Recv(NULL, 1, MPI_INT, 0, 1, comm, &st));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Recv(b, -1, MPI_INT, 0, 1, comm, &st));
    EXPECT(MPI_ERR_TYPE, BY_COMM, MPI_Recv(b, 1, MPI_DATATYPE_NULL, 0, 1, comm, &st));
    EXPECT(MPI_ERR_TYPE, BY_COMM, MPI_Recv(b, 1, raw, 0, 1, comm, &st));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Recv(b, 1, MPI_INT, size, 1, comm, &st));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Recv(b, 1, MPI_INT, -9, 1, comm, &st));
    EXPECT(MPI_ERR_TAG, BY_COMM, MPI_Recv(b, 1, MPI_INT, 0, -7, comm, &st));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Recv(b, 1, MPI_INT, 0, 1, MPI_COMM_NULL, &st));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Recv(b, 1, MPI_INT, 0, 1, freed, &st));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Recv(b, 1, MPI_INT, 0, 1, comm, NULL));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Irecv(NULL, 1, MPI_INT, 0, 1, comm, &rq));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Irecv(b, -1, MPI_INT, 0, 1, comm, &rq));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Irecv(b, 1, MPI_INT, size, 1, comm, &rq));
    EXPECT(MPI_ERR_TAG, BY_COMM, MPI_Irecv(b, 1, MPI_INT, 0, -7, comm, &rq));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Irecv(b, 1, MPI_INT, 0, 1, comm, NULL));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Recv_init(b, 1, MPI_INT, size, 1, comm, &rq));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Recv_init(NULL, 1, MPI_INT, 0, 1, comm, &rq));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Recv_init(b, 1, MPI_INT, 0, 1, comm, NULL));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Probe(size, 1, comm, &st));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Probe(-9, 1, comm, &st));
    EXPECT(MPI_ERR_TAG, BY_COMM, MPI_Probe(0, -7, comm, &st));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Probe(0, 1, MPI_COMM_NULL, &st));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Probe(0, 1, comm, NULL));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Iprobe(size, 1, comm, &flag, &st));
    EXPECT(MPI_ERR_TAG, BY_COMM, MPI_Iprobe(0, -7, comm, &flag, &st));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Iprobe(0, 1, comm, NULL, &st));
    EXPECT(MPI_ERR_COMM, BY_WORLD, MPI_Iprobe(0, 1, MPI_COMM_NULL, &flag, &st));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Mprobe(size, 1, comm, &msg, &st));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Mprobe(0, 1, comm, NULL, &st));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Improbe(size, 1, comm, &flag, &msg, &st));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Improbe(0, 1, comm, NULL, &msg, &st));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Improbe(0, 1, comm, &flag, NULL, &st));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD,
           (msg = MPI_MESSAGE_NULL, MPI_Mrecv(b, 1, MPI_INT, &msg, &st)));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD,
           (msg = (MPI_Message)0x1234, MPI_Mrecv(b, 1, MPI_INT, &msg, &st)));
    EXPECT(MPI_ERR_COUNT, BY_WORLD,
           (msg = MPI_MESSAGE_NO_PROC, MPI_Mrecv(b, -1, MPI_INT, &msg, &st)));
    EXPECT(MPI_ERR_REQUEST, BY_WORLD,
           (msg = MPI_MESSAGE_NULL, MPI_Imrecv(b, 1, MPI_INT, &msg, &rq)));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Mrecv(b, 1, MPI_INT, NULL, &st));
    MPI_Type_free(&raw);
}

static void both(MPI_Comm freed)
{
    int b[8] = {0}, c[8], size = check_size();
    MPI_Request rq;
    MPI_Status st;
    MPI_Datatype raw;

    MPI_Type_contiguous(3, MPI_INT, &raw);

    EXPECT(MPI_ERR_COUNT, BY_COMM,
           MPI_Sendrecv(b, -1, MPI_INT, 0, 1, c, 1, MPI_INT, 0, 1, comm, &st));
    EXPECT(MPI_ERR_COUNT, BY_COMM,
           MPI_Sendrecv(b, 1, MPI_INT, 0, 1, c, -1, MPI_INT, 0, 1, comm, &st));
    EXPECT(MPI_ERR_RANK, BY_COMM,
           MPI_Sendrecv(b, 1, MPI_INT, size, 1, c, 1, MPI_INT, 0, 1, comm, &st));
    EXPECT(MPI_ERR_RANK, BY_COMM,
           MPI_Sendrecv(b, 1, MPI_INT, 0, 1, c, 1, MPI_INT, size, 1, comm, &st));
    EXPECT(MPI_ERR_TAG, BY_COMM,
           MPI_Sendrecv(b, 1, MPI_INT, 0, -2, c, 1, MPI_INT, 0, 1, comm, &st));
    EXPECT(MPI_ERR_TAG, BY_COMM,
           MPI_Sendrecv(b, 1, MPI_INT, 0, 1, c, 1, MPI_INT, 0, -2, comm, &st));
    EXPECT(MPI_ERR_TYPE, BY_COMM, MPI_Sendrecv(b, 1, raw, 0, 1, c, 1, MPI_INT, 0, 1, comm, &st));
    EXPECT(MPI_ERR_TYPE, BY_COMM,
           MPI_Sendrecv(b, 1, MPI_INT, 0, 1, c, 1, MPI_DATATYPE_NULL, 0, 1, comm, &st));
    EXPECT(MPI_ERR_BUFFER, BY_COMM,
           MPI_Sendrecv(NULL, 1, MPI_INT, 0, 1, c, 1, MPI_INT, 0, 1, comm, &st));
    EXPECT(MPI_ERR_COMM, BY_WORLD,
           MPI_Sendrecv(b, 1, MPI_INT, 0, 1, b, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_NULL, &st));
    EXPECT(MPI_ERR_COUNT, BY_COMM, MPI_Sendrecv_replace(b, -1, MPI_INT, 0, 1, 0, 1, comm, &st));
    EXPECT(MPI_ERR_BUFFER, BY_COMM, MPI_Sendrecv_replace(NULL, 1, MPI_INT, 0, 1, 0, 1, comm, &st));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Sendrecv_replace(b, 1, MPI_INT, size, 1, 0, 1, comm, &st));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Sendrecv_replace(b, 1, MPI_INT, 0, 1, size, 1, comm, &st));
    EXPECT(MPI_ERR_TYPE, BY_COMM, MPI_Sendrecv_replace(b, 1, raw, 0, 1, 0, 1, comm, &st));
    EXPECT(MPI_ERR_COUNT, BY_COMM,
           MPI_Isendrecv(b, -1, MPI_INT, 0, 1, c, 1, MPI_INT, 0, 1, comm, &rq));
    EXPECT(MPI_ERR_RANK, BY_COMM,
           MPI_Isendrecv(b, 1, MPI_INT, 0, 1, c, 1, MPI_INT, size, 1, comm, &rq));
    EXPECT(MPI_ERR_ARG, BY_COMM,
           MPI_Isendrecv(b, 1, MPI_INT, 0, 1, c, 1, MPI_INT, 0, 1, comm, NULL));
    EXPECT(MPI_ERR_RANK, BY_COMM, MPI_Isendrecv_replace(b, 1, MPI_INT, size, 1, 0, 1, comm, &rq));
    MPI_Type_free(&raw);
    (void)freed;
}

static void buffers_and_partitions(MPI_Comm freed)
{
    int b[8] = {0}, n, size = check_size();
    MPI_Request rq;
    void *p;

    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Buffer_attach(NULL, 100));
    EXPECT(MPI_ERR_BUFFER, BY_WORLD, MPI_Buffer_attach(b, 0));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Buffer_detach(NULL, &n));
    EXPECT(MPI_ERR_ARG, BY_WORLD, MPI_Buffer_detach(&p, NULL));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Psend_init(b, -1, 1, MPI_INT, 0, 1, comm, MPI_INFO_NULL, &rq));
    EXPECT(MPI_ERR_COUNT, BY_COMM,
           MPI_Psend_init(b, 1, -1, MPI_INT, 0, 1, comm, MPI_INFO_NULL, &rq));
    EXPECT(MPI_ERR_RANK, BY_COMM,
           MPI_Psend_init(b, 1, 1, MPI_INT, size, 1, comm, MPI_INFO_NULL, &rq));
    EXPECT(MPI_ERR_TAG, BY_COMM, MPI_Psend_init(b, 1, 1, MPI_INT, 0, -2, comm, MPI_INFO_NULL, &rq));
    EXPECT(MPI_ERR_COMM, BY_WORLD,
           MPI_Psend_init(b, 1, 1, MPI_INT, 0, 1, MPI_COMM_NULL, MPI_INFO_NULL, &rq));
    EXPECT(MPI_ERR_ARG, BY_COMM, MPI_Precv_init(b, -1, 1, MPI_INT, 0, 1, comm, MPI_INFO_NULL, &rq));
    EXPECT(MPI_ERR_RANK, BY_COMM,
           MPI_Precv_init(b, 1, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_INFO_NULL, &rq));
    EXPECT(MPI_ERR_TAG, BY_COMM,
           MPI_Precv_init(b, 1, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_INFO_NULL, &rq));
    EXPECT(MPI_ERR_RANK, BY_COMM,
           MPI_Precv_init(b, 1, 1, MPI_INT, size, 1, comm, MPI_INFO_NULL, &rq));
    (void)freed;
}

int main(int argc, char **argv)
{
    MPI_Comm freed;

    MPI_Init(&argc, &argv);
    freed = set_up();
    sending(freed);
    receiving(freed);
    both(freed);
    buffers_and_partitions(freed);
    MPI_Comm_free(&comm);
    check_ok("errors of point-to-point");
    MPI_Finalize();
    return 0;
}
