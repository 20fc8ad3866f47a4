/*
 * observe.h - the hooks: each event is reported in one place. The hook for collectives is in
 * coll/entry_check.h.
 *
 * Statistics are always on and on the path of every message, so they are called directly; other
 * observers are called through their tables, if any wants the event.
 */
#ifndef MPI_OBSERVE_H
#define MPI_OBSERVE_H

#include "mpi/observer.h"
#include "mpi/stats.h"

struct mpi_comm;
struct mpi_msg;
struct mpi_req;

#define MPI_IS_SEEN(events) __builtin_expect((mpi_world.observed & (events)) != 0, 0)

/* Calls all observers of the event. */
#define MPI_EVENT(event, what)                                                 \
    void mpi_tell_##event(struct mpi_rank *self, vtime t, const struct what *) \
        __attribute__((cold));
MPI_EVENTS(MPI_EVENT)
#undef MPI_EVENT

static inline void mpi_observe_rank_begin(struct mpi_rank *self)
{
    if (MPI_IS_SEEN(MPI_SEES(rank_begin)))
        mpi_tell_rank_begin(self, self->ent.clock, &(struct mpi_seen_rank){0});
}

static inline void mpi_observe_rank_end(struct mpi_rank *self, int status)
{
    mpi_stats_rank_end(self);
    if (MPI_IS_SEEN(MPI_SEES(rank_end)))
        mpi_tell_rank_end(self, self->ent.clock, &(struct mpi_seen_rank){.status = status});
}

/* ---- calls: the generated entries have a second form for when this is so ---- */

/* `attentive` is set then. It is tested anyway, so the compiler needs no second test. */
#define MPI_CALLS_ARE_SEEN \
    (__builtin_expect(mpi_world.attentive, 0) && (mpi_world.observed & MPI_SEES_CALLS))

static inline void mpi_observe_enter(struct mpi_rank *self, enum mpi_fn fn, const uint64_t *args)
{
    if (MPI_IS_SEEN(MPI_SEES(enter)))
        mpi_tell_enter(self, self->ent.clock, &(struct mpi_seen_call){.fn = fn, .args = args});
}

static inline void mpi_observe_leave(struct mpi_rank *self, enum mpi_fn fn, const uint64_t *args,
                                     vtime t0, int rc)
{
    if (MPI_IS_SEEN(MPI_SEES(leave)))
        mpi_tell_leave(self, self->ent.clock,
                       &(struct mpi_seen_call){.fn = fn, .args = args, .began = t0, .rc = rc});
}

/* A handle as a number: an int in MPICH, but for files. 0: the program passed no pointer. */
#define MPI_HANDLE_AT(at) \
    ((at) ? (uint64_t)(uintptr_t) * (at) & (sizeof *(at) == 4 ? UINT32_MAX : UINT64_MAX) : 0)

static inline void mpi_observe_made(struct mpi_rank *self, enum mpi_fn fn, enum mpi_object kind,
                                    uint64_t handle)
{
    if (MPI_IS_SEEN(MPI_SEES(made)))
        mpi_tell_made(self, self->ent.clock, &(struct mpi_seen_object){fn, kind, handle, 0});
}

static inline void mpi_observe_freed(struct mpi_rank *self, enum mpi_fn fn, enum mpi_object kind,
                                     uint64_t handle)
{
    if (MPI_IS_SEEN(MPI_SEES(freed)))
        mpi_tell_freed(self, self->ent.clock, &(struct mpi_seen_object){fn, kind, handle, 0});
}

/* ---- messages (p2p/seen.c) ---- */

void mpi_see_sent(struct mpi_rank *self, uint32_t dst, int tag, uint32_t ctx, uint64_t bytes,
                  const struct mpi_req *) __attribute__((cold));
void mpi_see_received(struct mpi_rank *self, const struct mpi_msg *, const struct mpi_req *,
                      vtime t) __attribute__((cold));

/* Are messages numbered? */
#define MPI_MESSAGES_ARE_SEEN MPI_IS_SEEN(MPI_SEES(sent))

/* Called just before the message is created, which then carries its number. `req` may be NULL. */
static inline void mpi_observe_sent(struct mpi_rank *self, uint32_t dst, int tag, uint32_t ctx,
                                    uint64_t bytes, const struct mpi_req *req)
{
    mpi_stats_send(self, dst, bytes, ctx & 1);
    if (MPI_MESSAGES_ARE_SEEN)
        mpi_see_sent(self, dst, tag, ctx, bytes, req);
}

static inline void mpi_observe_received(struct mpi_rank *self, const struct mpi_msg *m,
                                        const struct mpi_req *req, vtime t)
{
    if (MPI_IS_SEEN(MPI_SEES(received)))
        mpi_see_received(self, m, req, t);
}

/* ---- requests (p2p/seen.c) ---- */

void mpi_see_request(struct mpi_rank *self, enum mpi_request_step, const struct mpi_req *)
    __attribute__((cold));
void mpi_see_new_request(struct mpi_rank *self, MPI_Request) __attribute__((cold));

static inline void mpi_observe_request(struct mpi_rank *self, enum mpi_request_step step,
                                       const struct mpi_req *req)
{
    if (MPI_IS_SEEN(MPI_SEES(request)))
        mpi_see_request(self, step, req);
}

/* A call returns this handle: it has created or started the request. */
static inline void mpi_observe_new_request(struct mpi_rank *self, MPI_Request request)
{
    if (MPI_IS_SEEN(MPI_SEES(request)) && mpi_world.frequent & MPI_NEW_REQUESTS)
        mpi_see_new_request(self, request);
}

/* ---- the rest ---- */

static inline void mpi_observe_access(struct mpi_rank *self, enum mpi_access what, uint32_t peer,
                                      uint64_t bytes)
{
    mpi_stats_access(self, what, peer, bytes);
    if (MPI_IS_SEEN(MPI_SEES(access)))
        mpi_tell_access(self, self->ent.clock, &(struct mpi_seen_access){what, peer, bytes});
}

static inline void mpi_observe_slice(struct mpi_rank *self, const struct mpi_seen_slice *s)
{
    if (MPI_IS_SEEN(MPI_SEES(slice)))
        mpi_tell_slice(self, self->ent.clock, s);
}

static inline void mpi_observe_region(struct mpi_rank *self, const char *name)
{
    if (MPI_IS_SEEN(MPI_SEES(region)))
        mpi_tell_region(self, self->ent.clock, &(struct mpi_seen_region){name});
}

#endif
