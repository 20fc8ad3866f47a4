/*
 * comm.h - communicators and groups inside the virtual MPI.
 *
 * Both are process-wide objects shared by all ranks that hold them. A group is a range with a
 * stride where possible, else a list; identical groups are one object. Nothing is O(size) per rank.
 * What a rank sets on a communicator for itself alone (error handler, name, attributes) lives in a
 * sparse per-rank table.
 */
#ifndef MPI_COMM_COMM_H
#define MPI_COMM_COMM_H

#include <mpi.h>
#include <stdint.h>

#include "mpi/rank.h"

enum mpi_group_kind {
    MPI_GROUP_RANGE = 0,
    MPI_GROUP_LIST,
    MPI_GROUP_SELF, /* of MPI_COMM_SELF only: the calling rank, whoever that is */
};

struct mpi_group {
    uint32_t size;
    uint32_t refs;
    uint8_t kind;          /* enum mpi_group_kind */
    int64_t first, stride; /* MPI_GROUP_RANGE: world rank of member i = first + i*stride */
    uint32_t *list;        /* world ranks, in group order */
    struct map *inverse;   /* world rank -> group rank, made when first needed */
    struct coll_nodes *nodes; /* who shares a node, made when first needed (coll/coll_nodes.c) */
    uint32_t index;        /* handle index */
    uint32_t handles;      /* part of refs that user programs hold; the handle is valid while > 0 */
    uint64_t hash;
    uint64_t serial;       /* never used twice */
    struct mpi_group *hash_next;
};

struct mpi_topo;

/* Point-to-point contexts are even. */
static inline int mpi_ctx_is_coll(uint32_t ctx)
{
    return ctx & 1;
}

struct mpi_comm {
    uint32_t ctx;            /* ctx: point-to-point, ctx + 1: collectives */
    uint32_t refs;           /* members of this process that hold it */
    MPI_Comm handle;
    struct mpi_group *group;
    struct mpi_group *remote; /* of an intercommunicator, else NULL */
    struct mpi_comm *local;   /* of an intercommunicator: its group as a communicator, see below */
    int high;                 /* of an intercommunicator: which side of it */
    struct mpi_topo *topo;
    MPI_Errhandler errhandler; /* what it was created with; a rank's own choice overrides it */
    char *name;                /* of the predefined ones; what ranks set is in object/names.c */
    const char *origin;        /* how it was made: "MPI_Comm_split of MPI_COMM_WORLD"; mpi_text_keep */
    const char *site;          /* where: "0x11f2 in app", likewise; NULL: not known */
    uint64_t *left;            /* one bit per member that has freed it; NULL: none has */
    uint32_t keeps;            /* uses inside the library that outlive the handle */
};

/*
 * An intercommunicator is two objects, one for each side, in every process that has members of that
 * side. Both have the same context. So does `local`, on which a side runs its own collectives: it
 * has no handle of its own and lives as long as its side. The groups are disjoint, so the sender
 * tells apart what belongs to whom: messages of a side come from the remote group, those of `local`
 * from the local group.
 */

/* NULL if the handle is not a communicator that the calling rank holds: junk, freed (also if other
 * ranks still hold it), or one the rank is no member of. O(1). */
struct mpi_comm *mpi_comm_get(MPI_Comm);

/* The object of a handle whoever holds it, freed by the caller or not; NULL if it is gone. For
 * requests that were started before MPI_Comm_free and are completed after it. O(1). */
struct mpi_comm *mpi_comm_at(MPI_Comm);

/* Keep the object (and its handle index) alive beyond MPI_Comm_free, for a pending operation. */
void mpi_comm_keep(struct mpi_comm *);
void mpi_comm_drop(struct mpi_comm *);

static inline uint32_t mpi_group_world_rank(const struct mpi_group *g, uint32_t r)
{
    if (__builtin_expect(g->kind == MPI_GROUP_RANGE, 1))
        return (uint32_t)(g->first + (int64_t)r * g->stride);
    return g->kind == MPI_GROUP_LIST ? g->list[r] : mpi_rank_id(mpi_self());
}
/* Group rank of a world rank, or MPI_UNDEFINED. O(1) amortised. */
int mpi_group_rank_of(struct mpi_group *g, uint32_t world);

/* My rank in c (local group). */
static inline int mpi_comm_my_rank(const struct mpi_comm *c, const struct mpi_rank *self)
{
    uint32_t w = mpi_rank_id(self);

    if (c->group->kind == MPI_GROUP_RANGE && c->group->stride == 1)
        return (int)(w - (uint32_t)c->group->first);
    return mpi_group_rank_of(c->group, w);
}
/* World rank of the peer that rank r of c means (remote group for an intercommunicator). */
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

/* ---- making communicators ---- */

/* A new communicator of all members of g (takes the caller's ref) with fresh contexts, held by each
 * of its members. Called by one rank; the others learn the handle through a descriptor. */
struct mpi_comm *mpi_comm_new(struct mpi_group *g, MPI_Errhandler);
/* A new intercommunicator between two disjoint groups (takes the caller's refs). Returns its low
 * side; the high side has the next descriptor. */
struct mpi_comm *mpi_comm_new_inter(struct mpi_group *low, struct mpi_group *high, MPI_Errhandler);
/* The same with the contexts it has elsewhere; remote is NULL but for a side of an
 * intercommunicator. Takes the refs. */
struct mpi_comm *mpi_comm_new_at(uint32_t ctx, int high, struct mpi_group *g,
                                 struct mpi_group *remote, MPI_Errhandler);
/* Members of the group in this process. */
uint32_t mpi_group_members_here(const struct mpi_group *);
/* Releases one that has no members here. */
void mpi_comm_discard(struct mpi_comm *);

/* The calling rank, a member, gives it up (MPI_Comm_free). Not for the predefined ones. */
void mpi_comm_leave(const struct mpi_rank *self, struct mpi_comm *);

/* The group as a group of world ranks that means the same to every rank (MPI_COMM_SELF's group is
 * the caller's rank); with a ref for the caller. */
struct mpi_group *mpi_comm_group_ref(const struct mpi_rank *self, const struct mpi_comm *);

/* The first n ranks of c as a group with a ref for the caller. */
struct mpi_group *mpi_comm_first_ranks(const struct mpi_rank *self, const struct mpi_comm *, int n);

/*
 * What one rank tells another about a new communicator (create/announce.c). The descriptor is its
 * context, unique over all processes; contexts are even, and the high side of an intercommunicator
 * has the next number. Every process that has members has an object of its own: describe, called
 * once by the rank that made the communicator, sends its groups to the other processes, beside the
 * virtual messages and outside of virtual time. The communicator (for an intercommunicator its low
 * side is given, both are meant) must not be touched after it: it is gone if no member is here. Reports
 * say that fn made it, of `parent` (or NULL).
 *
 * adopt gives the receiving rank its own view (it inherits the rank's error handler on the parent).
 * If the object is still under way it waits (may switch). MPI_COMM_DESC_NULL means MPI_COMM_NULL.
 */
typedef uint32_t mpi_comm_desc;
#define MPI_COMM_DESC_NULL UINT32_MAX
/* The descriptor for the high side, of one for the low side; null stays null. */
static inline mpi_comm_desc mpi_comm_desc_high(mpi_comm_desc low)
{
    return low | 1;
}
/* The communicator with this descriptor if it is in this process, or NULL. O(1). */
struct mpi_comm *mpi_comm_of_desc(mpi_comm_desc);
/* The communicator with this context, MPI_COMM_WORLD of the first ranks and MPI_COMM_SELF included; the
 * low side of an intercommunicator; or NULL. O(1). */
struct mpi_comm *mpi_comm_of_ctx(uint32_t ctx);
mpi_comm_desc mpi_comm_describe(struct mpi_comm *, enum mpi_fn fn, const struct mpi_comm *parent);
MPI_Comm mpi_comm_adopt(struct mpi_rank *self, const struct mpi_comm *parent, mpi_comm_desc);
/* The same for the MPI_COMM_WORLD of a rank that was spawned. */
struct mpi_comm *mpi_comm_adopt_world(struct mpi_rank *self, mpi_comm_desc);
/* Another process describes a communicator with members here. Scheduler context. */
void mpi_comm_learn(const void *data, size_t bytes);

/* A duplicate of a communicator in the making; the first two are the caller's to set. */
struct mpi_attr;
struct mpi_comm_copy {
    struct mpi_comm *c; /* of what */
    MPI_Comm *newcomm;  /* where to */
    struct mpi_attr *attributes;
    int failed; /* what an attribute copy function returned */
    mpi_comm_desc desc;
};
/* Copies the attributes (may switch), then makes it, called by all members of c (may switch).
 * Descriptors are received in *copy, which must not be on the stack of a strand. Returns an MPI
 * class or what an attribute copy function returned. */
void mpi_comm_copy_begin(struct mpi_rank *self, struct mpi_comm_copy *copy);
int mpi_comm_copy_make(struct mpi_rank *self, struct mpi_comm_copy *copy);

/* Gives the descriptor that rank 0 of `members` has to all of them, by a binomial tree on the
 * collective context of c. members NULL: the first n ranks of c; else n is its size and me the
 * caller's rank in it. May switch. Returns an MPI class. */
int mpi_comm_spread(struct mpi_rank *self, struct mpi_comm *c, struct mpi_group *members, int me,
                    int n, int tag, mpi_comm_desc *desc);

/* The same on an intercommunicator: rank 0 of the low side has the low descriptor of another one,
 * every rank gets the one for its side. May switch. */
int mpi_inter_spread(struct mpi_rank *self, struct mpi_comm *c, int tag, mpi_comm_desc *desc);

/* A new communicator with the groups of c: the descriptor for the caller's side of it. Called by
 * all ranks of c. May switch. Returns an MPI class. */
int mpi_comm_copy(struct mpi_rank *self, struct mpi_comm *c, mpi_comm_desc *desc);

/* MPI_Comm_split without argument checks, also of intercommunicators. May switch. */
int mpi_comm_divide(struct mpi_rank *self, struct mpi_comm *c, int color, int key, int tag,
                    MPI_Comm *out);

/* ---- groups (comm/group.c, comm/group_ops.c); nothing here switches ---- */

/* All return an interned group with one ref for the caller. */
struct mpi_group *mpi_group_make_range(int64_t first, int64_t stride, uint32_t size);
/* From distinct world ranks in heap memory (mem_alloc), which is taken over. O(n). */
struct mpi_group *mpi_group_make_list(uint32_t *ranks, uint32_t n);

struct mpi_group *mpi_group_ref(struct mpi_group *);
void mpi_group_unref(struct mpi_group *);

/* Turns a ref into a user handle; the object of a valid handle (borrowed) or NULL; drops one. */
MPI_Group mpi_group_publish(struct mpi_group *);
struct mpi_group *mpi_group_get(MPI_Group);
void mpi_group_retract(struct mpi_group *);

/* A group in a message: a fixed part, and a list of world ranks that may be empty. */
struct mpi_group_wire {
    int64_t first, stride; /* of a range */
    uint32_t size, kind;   /* enum mpi_group_kind */
};
struct mpi_group_wire mpi_group_to_wire(const struct mpi_group *);
/* Entries of the list that follows; it is g->list of the sender. */
static inline uint32_t mpi_group_wire_list(const struct mpi_group_wire *w)
{
    return w->kind == MPI_GROUP_LIST ? w->size : 0;
}
/* The group, with a ref for the caller. The list is copied. */
struct mpi_group *mpi_group_from_wire(const struct mpi_group_wire *, const void *list);

/* Sends a group to rank dst of c, or receives one (with a ref), on the collective context. May
 * switch. Return an MPI class. */
int mpi_group_send(struct mpi_rank *self, struct mpi_comm *c, struct mpi_group *g, int dst,
                   int tag);
int mpi_group_recv(struct mpi_rank *self, struct mpi_comm *c, int src, int tag,
                   struct mpi_group **g);

/* Group objects alive, the predefined ones not counted (for tests and leak reports). */
uint32_t mpi_group_live(void);

/* Set algebra in the order MPI prescribes; results have a ref for the caller. O(members). */
struct mpi_group *mpi_gset_union(struct mpi_group *a, struct mpi_group *b);
struct mpi_group *mpi_gset_intersection(struct mpi_group *a, struct mpi_group *b);
struct mpi_group *mpi_gset_difference(struct mpi_group *a, struct mpi_group *b);
/* Members `ranks` of g in that order; NULL if one is twice in the list or not in g (*bad). */
struct mpi_group *mpi_gset_pick(struct mpi_group *g, uint32_t n, const int *ranks, int *bad);
/* g without them; twice is allowed. */
struct mpi_group *mpi_gset_omit(struct mpi_group *g, uint32_t n, const int *ranks, int *bad);
/* Are all members of a in b? */
int mpi_gset_subset(struct mpi_group *a, struct mpi_group *b);
/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL. */
int mpi_gset_compare(struct mpi_group *a, struct mpi_group *b);

/* ---- error handlers (comm/errhandler.c) ---- */

/* The handler that errors on c go to: what is given, else that of MPI_COMM_WORLD, else fatal. */
MPI_Errhandler mpi_errhandler_of(const struct mpi_rank *, const struct mpi_comm *);
/* The handler that the rank has been given for c, to be inherited by what is made of c;
 * MPI_ERRHANDLER_NULL: none. */
MPI_Errhandler mpi_errhandler_given(const struct mpi_rank *, const struct mpi_comm *);
/* Sets it for this rank alone. */
void mpi_errhandler_set_for(const struct mpi_rank *, const struct mpi_comm *, MPI_Errhandler);

/* Forget what the rank set for itself on a communicator that it has freed. */
void mpi_errhandler_forget(uint32_t rank, MPI_Comm);
void mpi_names_forget(uint32_t rank, MPI_Comm);
void mpi_coll_forget(uint32_t rank, MPI_Comm);
/* The group goes. */
void mpi_coll_forget_nodes(struct coll_nodes *);

/* The last error code the rank uses (MPI_LASTUSEDCODE), as a place in memory that stays. */
int *mpi_errcode_last(const struct mpi_rank *);
/* "MPI_ERR_RANK". */
const char *mpi_errcode_name(int code);

/* Value of a key in an info object (borrowed), or NULL. */
const char *mpi_info_lookup(MPI_Info, const char *key);

/* Largest tag of user messages. */
#define MPI_TAG_LIMIT INT32_MAX

/* The name that the rank has given it, "" if none. */
const char *mpi_comm_name_for(const struct mpi_rank *, MPI_Comm);

/* How it came to be: "MPI_Comm_split of MPI_COMM_WORLD, 4 ranks"; and where: ", called at 0x11f2 in app". */
const char *mpi_comm_made_where(const struct mpi_comm *, char *out, size_t n);
const char *mpi_comm_made(const struct mpi_comm *, char *out, size_t n);

/* "MPI_COMM_WORLD", the name the rank gave it, or "communicator (MPI_Comm_dup of MPI_COMM_WORLD, 4
 * ranks)". */
const char *mpi_comm_label(MPI_Comm, char *out, size_t n);

/* One copy of a text that many objects share: to be given back by mpi_text_drop (NULL: nothing
 * happens). */
const char *mpi_text_keep(const char *text);
void mpi_text_drop(const char *text);

#endif
