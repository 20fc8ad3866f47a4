/*
 * guest_stash.c - messages that were taken from the real MPI before it was decided who gets them.
 *
 * A receive that is held is not posted, so a long message for it would hold up its sender, for
 * which the simulator may have to wait. So while a process waits for an answer it takes such
 * messages out of the real MPI. From then on, receives get them from here first. Messages of one
 * source, tag and communicator are here in the order in which they were sent.
 *
 * The program gets them through the real MPI, by a communicator of this process alone. A matched
 * probe claims one: its handle is that of a message of this communicator.
 */
#include "hybrid/guest.h"

#include "base/array.h"
#include "base/mem.h"

struct kept {
    MPI_Comm comm; /* of the program */
    int source, tag;
    MPI_Count bytes;
    void *data;
};

/* A message that a matched probe has found. */
struct claimed {
    MPI_Message handle;
    MPI_Request sent;
    struct kept what;
};

static struct {
    struct kept *items;
    uint32_t count, room;
    struct claimed *claimed;
    uint32_t claimed_count, claimed_room;
    MPI_Comm self; /* a message passes through the real MPI to the buffer of its receive */
    int has_self;
} stash;

int guest_stash_count(void)
{
    return (int)stash.count;
}

/* Is the next message one that the process has sent to itself? It holds up nobody else, and MPICH
 * 4.0 crashes in MPI_Mrecv if the send's request was freed. */
static int is_own(MPI_Comm handle, int source, int tag)
{
    const struct native_comm *comm = native_comm((uint32_t)handle);
    MPI_Status status;
    int is_there = 0;
    if (!comm || comm->is_inter || (source != MPI_ANY_SOURCE && source != comm->rank))
        return 0;
    native_real.MPI_Iprobe(source, tag, native_comm_real(handle), &is_there, &status);
    return is_there && status.MPI_SOURCE == comm->rank;
}

void guest_stash_pull(MPI_Comm comm, int source, int tag)
{
    while (!is_own(comm, source, tag)) {
        struct kept k = {.comm = comm};
        MPI_Message message;
        MPI_Status status;
        int is_there = 0;
        native_real.MPI_Improbe(source, tag, native_comm_real(comm), &is_there, &message, &status);
        if (!is_there)
            return;
        k.source = status.MPI_SOURCE;
        k.tag = status.MPI_TAG;
        native_real.MPI_Get_elements_x(&status, MPI_BYTE, &k.bytes);
        k.data = mem_alloc((size_t)k.bytes + 1);
        native_real.MPI_Mrecv_c(k.data, k.bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        ARRAY_RESERVE(stash.items, stash.room, stash.count + 1, 16);
        stash.items[stash.count++] = k;
    }
}

static struct kept *find(MPI_Comm comm, int source, int tag)
{
    for (uint32_t i = 0; i < stash.count; i++) {
        struct kept *k = &stash.items[i];
        if (k->comm == comm && k->source == source && k->tag == tag)
            return k;
    }
    return NULL;
}

static struct kept take(MPI_Comm comm, int source, int tag)
{
    struct kept *at = find(comm, source, tag), k = *at;
    stash.count--;
    for (; at < stash.items + stash.count; at++)
        at[0] = at[1];
    return k;
}

static void send_self(const struct kept *k, MPI_Request *sent)
{
    if (!stash.has_self) {
        native_real.MPI_Comm_dup(MPI_COMM_SELF, &stash.self);
        native_real.MPI_Comm_set_errhandler(stash.self, MPI_ERRORS_RETURN);
        stash.has_self = 1;
    }
    native_real.MPI_Isend_c(k->data, k->bytes, MPI_BYTE, 0, 0, stash.self, sent);
}

/* It was received, with that outcome, as if it had come from its source. */
static void finish(struct kept *k, MPI_Request *sent, MPI_Status *status, int rc)
{
    native_real.MPI_Wait(sent, MPI_STATUS_IGNORE);
    status->MPI_SOURCE = k->source;
    status->MPI_TAG = k->tag;
    if (rc != MPI_SUCCESS) /* as the real receive would */
        native_real.MPI_Comm_call_errhandler(native_comm_real(k->comm), rc);
    mem_free(k->data);
}

int guest_stash_receive(MPI_Comm comm, int source, int tag, const struct guest_buffer *to,
                        MPI_Status *status, int *rc)
{
    MPI_Status own;
    if (!find(comm, source, tag))
        return 0;
    struct kept k = take(comm, source, tag);
    MPI_Request sent;
    status = status ? status : &own;
    send_self(&k, &sent);
    *rc = native_real.MPI_Recv_c(to->at, to->count, to->type, 0, 0, stash.self, status);
    finish(&k, &sent, status, *rc);
    return 1;
}

static MPI_Message claim(struct kept k)
{
    struct claimed c = {.what = k};
    send_self(&k, &c.sent);
    native_real.MPI_Mprobe(0, 0, stash.self, &c.handle, MPI_STATUS_IGNORE);
    ARRAY_RESERVE(stash.claimed, stash.claimed_room, stash.claimed_count + 1, 16);
    stash.claimed[stash.claimed_count++] = c;
    return c.handle;
}

int guest_stash_receive_claimed(MPI_Message *message, const struct guest_buffer *to,
                                MPI_Status *status, int *rc)
{
    uint32_t i = 0;
    while (i < stash.claimed_count && stash.claimed[i].handle != *message)
        i++;
    if (i == stash.claimed_count)
        return 0;
    struct claimed c = stash.claimed[i];
    stash.claimed[i] = stash.claimed[--stash.claimed_count];
    *rc = native_real.MPI_Mrecv_c(to->at, to->count, to->type, message, status);
    finish(&c.what, &c.sent, status, *rc);
    return 1;
}

int guest_stash_probe(MPI_Comm comm, int source, int tag, MPI_Message *message, MPI_Status *status)
{
    const struct kept *k = find(comm, source, tag);
    if (!k)
        return 0;
    status->MPI_SOURCE = k->source;
    status->MPI_TAG = k->tag;
    native_real.MPI_Status_set_elements_x(status, MPI_BYTE, k->bytes);
    if (message)
        *message = claim(take(comm, source, tag));
    return 1;
}
