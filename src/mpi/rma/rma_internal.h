/*
 * rma_internal.h - windows and one-sided operations (MPI-4.0 chapter 12). Not included outside this
 * folder.
 *
 * A window is a communicator, whose context identifies it in every process, and a part at each of
 * its ranks (struct rma_win) which only that rank touches. No rank knows another's base, size or
 * displacement unit: they are applied at the target.
 *
 *     origin                                   agent of the target (service.h)
 *     PUT, ACCUMULATE      data  ------------> applied when it arrives; acknowledged with delay(0)
 *     GET, GET_ACCUMULATE,       ------------> answered with the data
 *       COMPARE_SWAP
 *     LOCK                       ------------> queued until granted, first come first served
 *     UNLOCK                     ------------> released, acknowledged
 *     COMPLETE                   ------------> counted for MPI_Win_wait, no answer
 *     (reply) POST               <------------ MPI_Win_post tells the origin; needs no order
 *
 * Messages of one origin to one target arrive in the order in which they were sent. Every operation
 * has an answer, which counts down `pending`; synchronising means waiting until a count is zero,
 * and continuing no earlier than the last answer that was waited for.
 */
#ifndef MPI_RMA_INTERNAL_H
#define MPI_RMA_INTERNAL_H

#include "mpi/p2p/service.h"
#include "mpi/rma/rma.h"

enum rma_kind {
    RMA_PUT = 1,
    RMA_GET,
    RMA_ACCUMULATE,
    RMA_GET_ACCUMULATE,
    RMA_COMPARE_SWAP,
    RMA_LOCK,
    RMA_UNLOCK,
    RMA_COMPLETE,
    RMA_POST,
};

/* What the rank may do to others at present. */
enum rma_epoch {
    RMA_EPOCH_NONE = 0,
    RMA_EPOCH_FENCED, /* a fence was called, nothing followed: any other epoch may start */
    RMA_EPOCH_FENCE,
    RMA_EPOCH_START,
    RMA_EPOCH_LOCK,
    RMA_EPOCH_LOCK_ALL,
};

struct rma_win;

/* A target that the rank is using at present. */
struct rma_peer {
    struct rma_peer *next; /* in the order they were met */
    struct rma_win *win;
    uint32_t world;
    int32_t rank;      /* in the window's group */
    int32_t pending;   /* operations without an answer */
    int32_t fetching;  /* those of them that bring data */
    int32_t answers;   /* counted down */
    int32_t unsent;    /* operations whose buffer is not free yet */
    int32_t unposted;  /* starts without a post; negative: a post without a start */
    uint8_t lock;      /* MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE or 0 */
    uint8_t unchecked; /* locked with MPI_MODE_NOCHECK: the target does not know */
    vtime last;        /* arrival of the last message to it */
    vtime done;        /* last answer */
    vtime local;       /* when all buffers given to operations are free, data in them */
    vtime posted;
};

/* Attached memory of a dynamic window. */
struct rma_region {
    struct rma_region *next;
    uintptr_t base;
    uint64_t size;
};

struct rma_shared;

struct rma_win {
    struct mpi_comm *comm;
    void *base;
    MPI_Aint size;
    MPI_Aint disp_unit;
    int disp_unit_int, flavor, model; /* as attributes */
    /* as origin */
    uint8_t epoch;       /* enum rma_epoch */
    uint8_t unchecked;   /* MPI_Win_lock_all with MPI_MODE_NOCHECK */
    uint32_t locks;      /* targets locked by MPI_Win_lock */
    struct map by_world; /* world rank -> struct rma_peer */
    struct rma_peer *first, *end;
    int32_t pending, fetching, unsent;
    uint64_t flying; /* bytes of operations since all were last waited for */
    vtime done, local;
    struct mpi_group *start; /* of MPI_Win_start */
    int error;               /* class of the first error that came back, 0 if none */
    uint32_t error_from;     /* the world rank it came from */
    vtime error_at;          /* when it came */
    /* as target */
    struct mpi_group *post; /* of MPI_Win_post */
    int32_t incomplete;     /* members of it that have not called MPI_Win_complete */
    vtime completed;
    int32_t holders;         /* -1: locked exclusively, else shared locks */
    struct mpi_msg *waiting; /* lock requests, oldest first: tail of a ring */
    struct rma_region *regions;
    struct rma_shared *shared;
    void *memory; /* of MPI_Win_allocate */
    char *name;
    MPI_Info info; /* hints that were set, or MPI_INFO_NULL */
};

/* An operation as called at its origin, with checked arguments. */
struct rma_access {
    enum rma_kind kind;
    const void *out, *compare; /* what is sent */
    uint64_t out_count;
    struct mpi_type *out_type;
    void *in; /* where the answer goes */
    uint64_t in_count;
    struct mpi_type *in_type;
    uint64_t count; /* at the target */
    struct mpi_type *type;
    MPI_Aint disp;
    int target;
    MPI_Op op;
    MPI_Win handle;
    struct mpi_req *req; /* of a request form, or NULL */
};

/* What an operation and its answer do not carry, since a buffer is hollow. */
enum rma_lacks {
    RMA_LACKS_DATA = 1,
    RMA_LACKS_RESULT = 2,
};

/* The fixed part of a message that carries an operation; image and data follow. */
struct rma_head {
    int64_t disp;
    uint64_t count;        /* items at the target */
    uint64_t bytes;        /* data */
    struct mpi_type *type; /* target type, with a ref; of the process that both ranks are in */
    MPI_Datatype handle;   /* or a predefined one; or 0: */
    uint32_t image;        /* bytes of its image (wire.c), padded to 16 */
    MPI_Op op;
    uint32_t lacks; /* enum rma_lacks */
};
_Static_assert(sizeof(struct rma_head) % 16 == 0, "what follows is aligned");

/* ---- windows (win.c) ---- */

/* The rank's part of a window, by its context; NULL if it holds no such window. */
struct rma_win *rma_win_find(const struct mpi_rank *self, uint32_t ctx);
MPI_Win rma_win_handle(const struct rma_win *);
/* rma_win_find by handle; raises MPI_ERR_WIN. */
int rma_check_win(struct mpi_rank *self, MPI_Win win, struct rma_win **out);
/* Not NULL? Raises MPI_ERR_ARG. */
int rma_check_ptr(struct mpi_rank *self, MPI_Win win, const void *p, const char *what);

/* Collective: a window over the ranks of `comm` with the caller's part; no memory yet. Not to be
 * used before rma_win_open. May switch. */
int rma_win_new(struct mpi_rank *self, struct mpi_comm *c, int flavor, MPI_Aint disp_unit,
                MPI_Info info, struct rma_win **out);
/* Collective: every part is ready. May switch. */
int rma_win_open(struct mpi_rank *self, struct rma_win *, MPI_Win *out);
/* Checks the arguments that all creating calls share; raises. */
int rma_check_create(struct mpi_rank *self, MPI_Comm comm, MPI_Aint size, MPI_Aint disp_unit,
                     MPI_Info info, struct mpi_comm **out);

/* ---- shared memory (win_shared.c) ---- */
void rma_shared_leave(struct rma_shared *);

/* ---- origin (origin.c) ---- */

/* The target's record, created if there is none. */
struct rma_peer *rma_peer_get(struct rma_win *, uint32_t world);
/* The target's record, or NULL. */
struct rma_peer *rma_peer_find(const struct rma_win *, int rank);
/* Drops targets without activity; the caller has waited for all answers. */
void rma_peers_trim(struct rma_win *);
void rma_peer_drop(struct rma_win *, struct rma_peer *);

/* Sends an operation; the epoch allows it. May switch (to take a lock). */
void rma_issue(struct mpi_rank *self, struct rma_win *, const struct rma_access *);
/* Sends a message without data: LOCK, UNLOCK (answered), COMPLETE (not). */
void rma_tell(struct mpi_rank *self, struct rma_peer *, enum rma_kind, int detail);

/* Waits until *count is no longer positive (may switch). `what` and the world rank (or -1) are for
 * the report of a deadlock: "waits `what` rank 3". The caller then moves its clock to an answer. */
void rma_await(struct mpi_rank *self, const struct rma_win *, const int32_t *count,
               const char *what, int64_t world);
/* Waits until the buffers given to operations are free; the caller then moves its clock to
 * `local`. */
void rma_await_sent(struct mpi_rank *self, const struct rma_win *, const int32_t *unsent);
/* Waits for the answers from one target, or all, to everything sent so far; continues no earlier
 * than the last of them. */
void rma_await_peer(struct mpi_rank *self, struct rma_peer *);
void rma_await_peers(struct mpi_rank *self, struct rma_win *);
/* Waits for answers from all targets until nothing is without one. */
void rma_await_all(struct mpi_rank *self, struct rma_win *);
/* Raises the error that was returned, if any. */
int rma_outcome(struct mpi_rank *self, struct rma_win *);

/* ---- datatypes in messages (wire.c) ---- */

/* Is a type sent as an image? Predefined types and types sent within this process are not. */
int rma_type_needs_image(const struct mpi_type *, uint32_t world);
struct buf;
void rma_type_encode(const struct mpi_type *, struct buf *out);
/* Creates *t from an image, which it uses and changes. */
void rma_type_decode(void *image, uint32_t bytes, struct mpi_type *t);

#endif
