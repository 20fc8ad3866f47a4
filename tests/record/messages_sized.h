/* Messages, by functions that have a large-count form; see every.h. */

/* Every mode of sending, from rank 0 to rank 1, which has posted all receives. */
static void PART(modes)(void)
{
    enum { MODES = 12 };
    int out[3] = {1, 2, 3}, in[MODES][3], go = 0, flag;
    MPI_Request r[MODES];
    SIZE room;
    char *buffer = malloc(4096);
    void *old;
    if (rank == 1) {
        for (int i = 0; i < MODES; i++)
            F(Irecv)(in[i], 3, MPI_INT, 0, i, MPI_COMM_WORLD, &r[i]);
        F(Send)(&go, 1, MPI_INT, 0, 50, MPI_COMM_WORLD);
        MPI_Waitall(MODES, r, MPI_STATUSES_IGNORE);
        free(buffer);
        return;
    }
    F(Recv)(&go, 1, MPI_INT, 1, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    F(Buffer_attach)(buffer, 4096);
    F(Send)(out, 3, MPI_INT, 1, 0, MPI_COMM_WORLD);
    F(Ssend)(out, 3, MPI_INT, 1, 1, MPI_COMM_WORLD);
    F(Rsend)(out, 3, MPI_INT, 1, 2, MPI_COMM_WORLD);
    F(Bsend)(out, 3, MPI_INT, 1, 3, MPI_COMM_WORLD);
    F(Isend)(out, 3, MPI_INT, 1, 4, MPI_COMM_WORLD, &r[0]);
    F(Issend)(out, 3, MPI_INT, 1, 5, MPI_COMM_WORLD, &r[1]);
    F(Irsend)(out, 3, MPI_INT, 1, 6, MPI_COMM_WORLD, &r[2]);
    F(Ibsend)(out, 3, MPI_INT, 1, 7, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    F(Send_init)(out, 3, MPI_INT, 1, 8, MPI_COMM_WORLD, &r[0]);
    F(Ssend_init)(out, 3, MPI_INT, 1, 9, MPI_COMM_WORLD, &r[1]);
    F(Rsend_init)(out, 3, MPI_INT, 1, 10, MPI_COMM_WORLD, &r[2]);
    F(Bsend_init)(out, 3, MPI_INT, 1, 11, MPI_COMM_WORLD, &r[3]);
    MPI_Start(&r[0]);
    MPI_Startall(3, r + 1);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&r[i]);
    MPI_Request_get_status(MPI_REQUEST_NULL, &flag, MPI_STATUS_IGNORE);
    F(Buffer_detach)(&old, &room);
    free(buffer);
}

/* The messages of rank 0 arrive in order: those before a message that was received are there. */
static void PART(receives)(void)
{
    int value = 7, in[4] = {0}, flag;
    MPI_Message message;
    MPI_Request r;
    MPI_Status status;
    SIZE count;
    if (rank == 0) {
        for (int tag = 20; tag < 26; tag++)
            F(Send)(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    } else {
        F(Recv)(in, 4, MPI_INT, 0, 25, MPI_COMM_WORLD, &status);
        F(Get_count)(&status, MPI_INT, &count);
        F(Get_elements)(&status, MPI_INT, &count);
        MPI_Probe(MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &status);
        MPI_Iprobe(0, 20, MPI_COMM_WORLD, &flag, &status);
        MPI_Iprobe(0, 99, MPI_COMM_WORLD, &flag, &status);
        F(Recv)(in, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Mprobe(0, 21, MPI_COMM_WORLD, &message, &status);
        F(Mrecv)(in, 4, MPI_INT, &message, &status);
        MPI_Improbe(0, 22, MPI_COMM_WORLD, &flag, &message, &status);
        F(Imrecv)(in, 4, MPI_INT, &message, &r);
        MPI_Wait(&r, &status);
        MPI_Improbe(0, 99, MPI_COMM_WORLD, &flag, &message, &status);
        F(Recv_init)(in, 4, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
        for (int i = 0; i < 2; i++) {
            MPI_Start(&r);
            MPI_Wait(&r, &status);
        }
        MPI_Request_free(&r);
    }
}

static void PART(both_ways)(void)
{
    int out[2] = {1, 2}, in[2];
    MPI_Request r;
    MPI_Status status;
    F(Sendrecv)
    (out, 2, MPI_INT, 1 - rank, 30, in, 2, MPI_INT, 1 - rank, 30, MPI_COMM_WORLD, &status);
    F(Sendrecv_replace)(out, 2, MPI_INT, 1 - rank, 31, MPI_ANY_SOURCE, 31, MPI_COMM_WORLD, &status);
    /* Tags by which the test knows these: MPICH 4.0 does not say what they have received. */
    F(Isendrecv)(out, 2, MPI_INT, 1 - rank, 32, in, 2, MPI_INT, 1 - rank, 32, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    F(Isendrecv_replace)(out, 2, MPI_INT, 1 - rank, 33, 1 - rank, 33, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}
