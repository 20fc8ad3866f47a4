/*
 * p2p.h - point-to-point communication inside the virtual MPI, on which collectives, communicators
 * and the MPI entry points build.
 *
 * All functions run in the context of `self`. Ranks are *world* ranks here (mpi_comm_world_rank
 * translates), contexts are (struct mpi_comm).ctx for user messages and ctx + 1 for collectives.
 * A struct mpi_req may live on the caller's stack for the duration of a blocking call.
 */
#ifndef MPI_P2P_P2P_H
#define MPI_P2P_P2P_H

#include "mpi/datatype/datatype.h"
#include "mpi/rank.h"

#define MPI_P2P_ANY (-2) /* any source, any tag: MPI_ANY_SOURCE and MPI_ANY_TAG as in MPICH */

enum mpi_req_kind {
    MPI_REQ_FREE = 0,
    MPI_REQ_SEND,
    MPI_REQ_RECV,
    MPI_REQ_NOOP, /* complete from the start: MPI_PROC_NULL */
    /* Of a collective, one-sided or file operation, which completes it (mpi_req_done); its status
     * has `bytes` and no source. */
    MPI_REQ_WORK,
    MPI_REQ_PAIR,  /* a send and a receive (MPI_Isendrecv) */
    MPI_REQ_GREQ,  /* generalized: the program completes it */
    MPI_REQ_PSEND, /* partitioned */
    MPI_REQ_PRECV,
};
enum mpi_send_mode {
    MPI_MODE_STANDARD = 0,
    MPI_MODE_BUFFERED,
    MPI_MODE_SYNC,
    MPI_MODE_READY,
    /* Of MPI_REQ_WORK: one-sided; `peer` is the target (-1: several), `buf` what is waited for in
     * words, or NULL. */
    MPI_MODE_ONE_SIDED,
    MPI_MODE_PORT, /* of MPI_REQ_WORK, for reports only: waits at a port, named in `buf` */
};

enum mpi_req_flag {
    MPI_REQ_DONE = 1, /* `complete` is known */
    MPI_REQ_PERSISTENT = 2,
    MPI_REQ_ACTIVE = 4, /* persistent and started */
    MPI_REQ_WILD = 8,   /* receive whose match is a decision, not taken yet */
    MPI_REQ_CANCELLED = 16,
    MPI_REQ_ORPHAN = 32,    /* freed by the user before completion */
    MPI_REQ_HEAP = 64,      /* has a handle; else on a stack */
    MPI_REQ_QUEUED = 128,   /* in the posted list */
    MPI_REQ_CHILD = 256,    /* part of another request, see p2p/compound.h */
    MPI_REQ_LATE = 2048,    /* its message came after it was posted (p2p/costs.c) */
    MPI_REQ_PENDING = 1024, /* a receive that is counted as pending (p2p/costs.c) */
    MPI_REQ_OWN_BUF = 512,  /* its buffer is from mem_alloc and goes with it */
    MPI_REQ_UNBOUND = 4096, /* p2p/bind.h: its source is not chosen yet; is WILD, too */
    MPI_REQ_BOUND = 8192,   /* its source was chosen */
    MPI_REQ_COSTS = 16384,  /* a receive that is done, and costs whoever completes it `cost` */
};

struct mpi_posted_kind;
struct mpi_partitions;
struct mpi_grequest;
struct mpi_req;

/* How an MPI_REQ_WORK request of a collective is started, and what is freed with it. */
struct mpi_work {
    void (*start)(struct mpi_rank *self, struct mpi_req *);
    void (*free)(struct mpi_rank *self, struct mpi_req *);
};

/* Two cache lines: the first is what posting and matching touch. */
struct mpi_req {
    struct mpi_req *next, *prev; /* list of posted receives */
    void *buf;
    uint64_t count;
    struct mpi_type *type;
    vtime posted; /* when the operation was started */
    int32_t peer; /* world rank or MPI_P2P_ANY */
    int32_t tag;
    uint32_t ctx;
    uint16_t flags;
    uint8_t kind, mode;
    union {
        vtime complete; /* when it completed, valid with MPI_REQ_DONE */
        uint64_t order; /* posted.c: while posted, its position in the order of posting */
    };
    union {
        uint64_t bytes; /* sent or received */
        /* p2p/costs.c: while a receive is posted, when the rank looked for messages before, + 1. */
        vtime looked;
    };
    union {
        struct mpi_msg *held; /* a message matched by MPI_Mprobe and not received yet; or NULL */
        struct mpi_req *same_kind; /* posted.c: while posted, the next of its kind */
        uint64_t parts; /* compound requests: parts that must end before it is complete */
        vtime cost;     /* MPI_REQ_COSTS: processor time that is still to be charged */
    };
    union {
        struct mpi_posted_kind *kind_of;   /* posted.c: while posted, its kind */
        struct mpi_partitions *partitions; /* MPI_REQ_PSEND, MPI_REQ_PRECV */
        struct mpi_grequest *grequest;     /* MPI_REQ_GREQ */
        const struct mpi_work *work;       /* MPI_REQ_WORK: of a collective, else NULL */
    };
    union {
        struct mpi_comm *kept;  /* its communicator, kept alive; NULL for requests on a stack */
        struct mpi_req *parent; /* MPI_REQ_CHILD */
    };
    uint32_t comm;    /* communicator handle, for errors, status and reports */
    int32_t got_peer; /* world rank that sent it */
    union {
        int32_t got_tag;
        uint32_t pending; /* p2p/costs.c: while posted, receives that were pending before it */
    };
    uint32_t id;    /* index in the request table (its handle), or protocol id */
    uint32_t owner; /* index of the rank */
    int16_t error;  /* MPI class */
    uint8_t persistent_kind;
};
_Static_assert(sizeof(struct mpi_req) == 128, "a request is two cache lines");

/* Sends all messages through this device; messages up to that many bytes are eager. The network and
 * the checks must be set up. */
void mpi_p2p_init(struct device, uint64_t eager_limit);

/* Starts a send and fills `req`. Never blocks. Buffered sends are complete at once, and so are
 * eager ones if the device does not hold them back. */
void mpi_p2p_isend(struct mpi_rank *self, struct mpi_req *req, const void *buf, uint64_t count,
                   struct mpi_type *type, uint32_t dst, int tag, uint32_t ctx, MPI_Comm comm,
                   enum mpi_send_mode mode);

/* Starts a receive from world rank src or MPI_P2P_ANY. Never blocks. */
void mpi_p2p_irecv(struct mpi_rank *self, struct mpi_req *req, void *buf, uint64_t count,
                   struct mpi_type *type, int32_t src, int tag, uint32_t ctx, MPI_Comm comm);

/* Sends at once and returns 1 if the message is eager and never held back (it is then complete),
 * else returns 0 and does nothing. */
int mpi_p2p_try_send(struct mpi_rank *self, const void *buf, uint64_t count, struct mpi_type *type,
                     uint32_t dst, int tag, uint32_t ctx, enum mpi_send_mode mode);

/* Sends a message that arrives now and costs no time; for coll/coll_model.c, which explains when
 * that is safe. Never blocks. */
void mpi_p2p_send_free(struct mpi_rank *self, const void *buf, uint64_t count,
                       const struct mpi_type *type, uint32_t dst, int tag, uint32_t ctx);

struct mpi_comm;
/* Blocking send and receive (may switch); return an MPI class, raise nothing. */
int mpi_p2p_send(struct mpi_rank *self, const void *buf, uint64_t count, struct mpi_type *type,
                 uint32_t dst, int tag, uint32_t ctx, MPI_Comm comm, enum mpi_send_mode mode);
int mpi_p2p_recv(struct mpi_rank *self, void *buf, uint64_t count, struct mpi_type *type,
                 int32_t src, int tag, uint32_t ctx, struct mpi_comm *c, MPI_Status *status);

/* Blocks until the request is complete and advances the clock to its completion (may switch).
 * Returns req->error. */
int mpi_p2p_wait(struct mpi_rank *self, struct mpi_req *req);

/* mpi_p2p_wait for n requests; returns the first error. */
int mpi_p2p_waitall(struct mpi_rank *self, struct mpi_req *reqs, uint32_t n);

#endif
