/*
 * observer.c - attaches observers (see observer.h).
 */
#include "mpi/observer.h"

#include <assert.h>

#include "mpi/observe.h"

void mpi_observer_attach(const struct mpi_observer *o)
{
    assert(mpi_world.observer_count < MPI_OBSERVERS_MAX);
    mpi_world.observers[mpi_world.observer_count++] = o;
#define MPI_EVENT(event, what) mpi_world.observed |= o->event ? MPI_SEES(event) : 0;
    MPI_EVENTS(MPI_EVENT)
#undef MPI_EVENT
    mpi_world.frequent |= ((o->request ? MPI_NEW_REQUESTS : 0u) |
                           (o->received ? MPI_COLLECTIVE_MESSAGES : 0u)) &
                          ~o->ignores;
    if (mpi_world.observed & MPI_SEES_CALLS)
        mpi_world.attentive = 1;
    if (o->slice)
        mpi_world.plain = 0; /* the plain processor model reports nothing */
    if (o->sent_number)
        mpi_world.sent_number = o->sent_number;
    else if (o->request)
        mpi_world.own_requests = 1;
    if (o->prefetch)
        mpi_world.prefetch = o->prefetch;
    if (o->sent)
        mpi_world.plain_messages = mpi_world.plain_sends = 0; /* messages carry numbers */
}

#define MPI_EVENT(event, what)                                                     \
    void mpi_tell_##event(struct mpi_rank *self, vtime t, const struct what *seen) \
    {                                                                              \
        for (uint32_t i = 0; i < mpi_world.observer_count; i++)                    \
            if (mpi_world.observers[i]->event)                                     \
                mpi_world.observers[i]->event(self, t, seen);                      \
    }
MPI_EVENTS(MPI_EVENT)
#undef MPI_EVENT
