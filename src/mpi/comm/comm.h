/*
 * comm.h - communicators inside the virtual MPI.
 *
 * They are process-wide objects, shared by all ranks that hold them. Nothing is O(size) per rank.
 * What a rank sets on a communicator for itself (error handler, name, attributes) is in a sparse
 * per-rank table.
 */
#ifndef MPI_COMM_COMM_H
#define MPI_COMM_COMM_H

#include <stdint.h>

#include "mpi/comm/group.h"
#include "mpi_abi.h"

struct mpi_topo; /* topology.h */

/* Identifies a communicator in messages (create/create.h): its context, unique over all processes;
 * contexts are even, and the high side of an intercommunicator has the next number. */
typedef uint32_t mpi_comm_desc;
#define MPI_COMM_DESC_NULL UINT32_MAX
/* The descriptor of the high side, from that of the low side; null stays null. */
static inline mpi_comm_desc mpi_comm_desc_high(mpi_comm_desc low)
{
    return low | 1;
}

/* Point-to-point contexts are even. */
static inline int mpi_ctx_is_coll(uint32_t ctx)
{
    return ctx & 1;
}

struct mpi_comm {
    uint32_t ctx;  /* ctx: point-to-point, ctx + 1: collectives */
    uint32_t refs; /* members of this process that hold it */
    MPI_Comm handle;
    struct mpi_group *group;
    struct mpi_group *remote; /* of an intercommunicator, else NULL */
    /* Of an intercommunicator: its local group as a communicator, see below. */
    struct mpi_comm *local;
    int high;      /* of an intercommunicator: which side of it */
    int is_window; /* it belongs to a window, which has the same number */
    struct mpi_topo *topo;
    MPI_Errhandler errhandler; /* what it was created with; a rank's own choice overrides it */
    char *name;                /* of the predefined ones; what ranks set is in comm/comm_names.c */
    const char *origin; /* how it was created: "MPI_Comm_split of MPI_COMM_WORLD"; mpi_text_keep */
    const char *site;   /* where: "0x11f2 in app", likewise; NULL: not known */
    uint64_t *left;     /* one bit per member that has freed it; NULL: none has */
    uint32_t keeps;     /* uses inside the library that outlive the handle */
};

/*
 * An intercommunicator is two objects, one for each side, in every process that has members of that
 * side. Both have the same context. So does `local`, on which a side runs its own collectives: it
 * has no handle and lives as long as its side. The groups are disjoint, so the sender distinguishes
 * the messages: those of a side come from the remote group, those of `local` from the local group.
 */

/* NULL if the handle is not a communicator that the calling rank holds: junk, freed (also if other
 * ranks still hold it), or one of which the rank is not a member. O(1). */
struct mpi_comm *mpi_comm_get(MPI_Comm);

/* The object of a handle, whether or not the caller has freed it; NULL if it no longer exists. For
 * requests that were started before MPI_Comm_free and are completed after it. O(1). */
struct mpi_comm *mpi_comm_at(MPI_Comm);

/* The object of a rank's handle, as mpi_comm_get finds it for the running rank. */
struct mpi_comm *mpi_comm_of(const struct mpi_rank *, MPI_Comm);

/* Keep the object (and its handle index) alive beyond MPI_Comm_free, for a pending operation. */
void mpi_comm_keep(struct mpi_comm *);
void mpi_comm_drop(struct mpi_comm *);

#define MPI_WIN_HANDLE 0xa0000000u
#define MPI_WIN_INDEX 0x03ffffffu
/* The window whose communicator this is, or MPI_WIN_NULL. */
static inline MPI_Win mpi_comm_window(const struct mpi_comm *c)
{
    if (!c || !c->is_window)
        return MPI_WIN_NULL;
    return (MPI_Win)(MPI_WIN_HANDLE | ((uint32_t)c->handle & MPI_WIN_INDEX));
}

/* My rank in c (local group). */
static inline int mpi_comm_my_rank(const struct mpi_comm *c, const struct mpi_rank *self)
{
    uint32_t w = mpi_rank_id(self);

    if (c->group->kind == MPI_GROUP_RANGE && c->group->stride == 1)
        return (int)(w - (uint32_t)c->group->first);
    return mpi_group_rank_of(c->group, w);
}
/* World rank of rank r of c (of the remote group for an intercommunicator). */
static inline uint32_t mpi_comm_world_rank(const struct mpi_comm *c, uint32_t r)
{
    return mpi_group_world_rank(c->remote ? c->remote : c->group, r);
}
/* Number of ranks that can be addressed. */
static inline uint32_t mpi_comm_peers(const struct mpi_comm *c)
{
    return (c->remote ? c->remote : c->group)->size;
}
static inline int mpi_comm_rank_of(const struct mpi_comm *c, uint32_t world)
{
    return mpi_group_rank_of(c->remote ? c->remote : c->group, world);
}

/* Makes MPI_COMM_WORLD, MPI_COMM_SELF (a special object: its group is the calling rank) and the
 * predefined groups and error handlers. Process context. */
void mpi_comm_init(uint32_t world_size);

/* ---- lifetime ---- */

/* A new communicator of all members of g (takes the caller's ref) with new contexts, held by each
 * of its members. Called by one rank; the others get the handle from a descriptor. */
struct mpi_comm *mpi_comm_new(struct mpi_group *g, MPI_Errhandler);
/* A new intercommunicator between two disjoint groups (takes the caller's refs). Returns its low
 * side; the high side has the next descriptor. */
struct mpi_comm *mpi_comm_new_inter(struct mpi_group *low, struct mpi_group *high, MPI_Errhandler);
/* A new communicator with the contexts that it has in other processes; remote is NULL except for a
 * side of an intercommunicator. Takes the refs. */
struct mpi_comm *mpi_comm_new_at(uint32_t ctx, int high, struct mpi_group *g,
                                 struct mpi_group *remote, MPI_Errhandler);
/* Releases a communicator that has no members here. */
void mpi_comm_discard(struct mpi_comm *);

/* The calling rank, a member, frees it (MPI_Comm_free). Not for the predefined ones. */
void mpi_comm_leave(struct mpi_rank *self, struct mpi_comm *);

/* The group in world ranks, the same for every rank (MPI_COMM_SELF's group is the caller's rank);
 * with a ref for the caller. */
struct mpi_group *mpi_comm_group_ref(const struct mpi_rank *self, const struct mpi_comm *);

/* The first n ranks of c as a group with a ref for the caller. */
struct mpi_group *mpi_comm_first_ranks(const struct mpi_rank *self, const struct mpi_comm *, int n);

/* The communicator with this descriptor if it is in this process, or NULL. O(1). */
struct mpi_comm *mpi_comm_of_desc(mpi_comm_desc);
/* The communicator with this context, MPI_COMM_WORLD of the first ranks and MPI_COMM_SELF included;
 * the low side of an intercommunicator; or NULL. O(1). */
struct mpi_comm *mpi_comm_of_ctx(uint32_t ctx);

/* Largest tag of user messages. */
#define MPI_TAG_LIMIT INT32_MAX

/* ---- names.c ---- */

/* Drops the rank's name for it. */
void mpi_names_forget(struct mpi_rank *, MPI_Comm);

/* The name that the rank has given it, "" if none. */
const char *mpi_comm_name_for(const struct mpi_rank *, MPI_Comm);

/* How it was created: "MPI_Comm_split of MPI_COMM_WORLD, 4 ranks". */
const char *mpi_comm_made(const struct mpi_comm *, char *out, size_t n);

/* "MPI_COMM_WORLD", the name the rank gave it, or "communicator (MPI_Comm_dup of MPI_COMM_WORLD, 4
 * ranks)". */
const char *mpi_comm_label(MPI_Comm, char *out, size_t n);

/* One copy of a text that many objects share; release it with mpi_text_drop (NULL is allowed). */
const char *mpi_text_keep(const char *text);
void mpi_text_drop(const char *text);

#endif
