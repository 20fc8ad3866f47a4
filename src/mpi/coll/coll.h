/*
 * coll.h - collectives of the virtual MPI.
 *
 * An operation (enum mpi_coll_op) has several algorithms (coll_list.h). A selector (select_*.c)
 * picks one by message size and communicator size, as MPICH 4.0 or Open MPI 4.1 do, unless a rule
 * names one. Algorithms are plain code over mpi_coll_send/recv/... that runs and blocks on the
 * rank's own stack; a non-blocking collective is the same code in a strand (later.c).
 *
 * A million ranks may block in a collective at once, each keeping its live stack. So the arguments
 * are passed by one pointer, algorithms keep few values across a blocking call, temporaries are on
 * the heap, and only the caller's own buffers are O(size).
 *
 * All functions here may switch unless stated otherwise, and return an MPI error class without
 * raising it. On an intercommunicator mpi_coll_run uses the algorithms of inter.h.
 */
#ifndef MPI_COLL_COLL_H
#define MPI_COLL_COLL_H

#include <stdint.h>

#include "mpi/coll/coll_list.h"
#include "platform/lists.h"
#include "mpi_abi.h"

struct mpi_comm;
struct mpi_op;
struct mpi_rank;
struct mpi_type;

enum mpi_coll_op {
#define MPI_COLL_OP(operation) MPI_COLL_##operation,
    MPI_COLL_OPERATIONS(MPI_COLL_OP) /* MPI_COLL_barrier = 0, ..., MPI_COLL_exscan */
#undef MPI_COLL_OP
    MPI_COLL_neighbor_allgather, /* from here on: neighbours of a topology, not ranks */
    MPI_COLL_neighbor_allgatherv,
    MPI_COLL_neighbor_alltoall,
    MPI_COLL_neighbor_alltoallv,
    MPI_COLL_neighbor_alltoallw,
    MPI_COLL_OPS
};

/* How to read the arrays of a call. */
enum mpi_coll_arrays {
    COLL_WIDE_COUNTS = 1, /* counts are MPI_Count, not int */
    COLL_WIDE_DISPLS = 2, /* displacements are MPI_Aint, not int */
    COLL_WIDE = 3,
    COLL_OWN_TYPES = 4, /* types are struct mpi_type *, not handles */
};

/*
 * The arguments of one call as a rank made it. Broadcast uses the receive side only; reductions
 * describe their items by rbuf, rcount and rtype, and sbuf. MPI_IN_PLACE stays as it is. Arrays are
 * the program's and read through coll_count, coll_displ and coll_type (coll_internal.h).
 */
struct mpi_coll_args {
    const void *sbuf;
    void *rbuf;
    union {
        uint64_t scount;
        const void *scounts; /* v and w forms */
    };
    union {
        uint64_t rcount;
        const void *rcounts; /* v and w forms, reduce_scatter */
    };
    union {
        struct mpi_type *stype;
        const void *stypes; /* w form, checked */
    };
    union {
        struct mpi_type *rtype;
        const void *rtypes;
    };
    union {
        const void *sdispls;
        struct mpi_op *op; /* reductions */
    };
    const void *rdispls;
    int root;
    int rank, size;  /* mine in the communicator; its size (of the local group) */
    uint16_t op_id;  /* enum mpi_coll_op */
    uint16_t arrays; /* enum mpi_coll_arrays */
};

struct mpi_coll_algorithm {
    const char *operation; /* "bcast" */
    const char *name;      /* "binomial" */
    uint8_t op_id;         /* enum mpi_coll_op */
    uint8_t needs;         /* enum mpi_coll_need, or'ed */
    int (*run)(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a);
};

/* ---- the table ---- */

/* Makes an operation use one algorithm wherever it works, and the default elsewhere; "auto" removes
 * that and all rules of the operation. Returns 0, or -1 if there is no such operation or algorithm.
 * Never switches. */
int mpi_coll_force(const char *operation, const char *algorithm);

/* Adds a rule, which takes precedence over the others of its operation: for calls whose block (the
 * message, or what one rank contributes) and communicator are within its bounds. Returns as above.
 * Never switches. */
int mpi_coll_rule(const struct platform_rule *);

/* Sets whose choices apply where no rule does: "mpich" (the default), "openmpi", or "model" (see
 * mpi_coll_model). Returns 0, or -1 if the name is unknown. Never switches. */
int mpi_coll_select(const char *name);

/* From now on, collectives on one group of ranks cost what a model says (coll_model.c). */
void mpi_coll_model(vtime alpha, double ps_per_byte, double factor);
/* The least time from the last entry of a modelled collective to its end, for those that wait;
 * VTIME_NEVER without a model. The engine's lookahead must not be more. */
vtime mpi_coll_least_time(void);

/* Applies mpi.collectives, mpi.collective_factor, the algorithm of each operation and a platform's
 * rules. ERR_INPUT: a name is unknown. Once, before ranks run. */
int mpi_coll_init(const struct platform *, struct err *);

/* The algorithm for a call; size, rank and op_id of `a` are set, and there are several ranks. Never
 * switches. O(size) for allgatherv and reduce_scatter. */
const struct mpi_coll_algorithm *mpi_coll_choose(const struct mpi_comm *c,
                                                 const struct mpi_coll_args *a);

/* Picks an algorithm and runs it; rank, size and op_id of `a` are set. */
int mpi_coll_run(struct mpi_rank *self, struct mpi_comm *c, const struct mpi_coll_args *a);

/* The tag shift of the calling rank's next non-blocking collective on c. Call it once per
 * collective, in the order in which they are started. Never switches. */
int32_t mpi_coll_next_shift(struct mpi_rank *self, const struct mpi_comm *c);
/* The rank has freed the communicator. */
void mpi_coll_forget(struct mpi_rank *, MPI_Comm);

/* MPIX_Comm_agree: *flag becomes the bitwise and of all; raises errors, and is checked and observed
 * like MPI_Allreduce. */
int mpi_coll_agree(struct mpi_rank *self, MPI_Comm comm, int *flag);

/* ---- collectives for the rest of the virtual MPI; arguments are not checked ---- */

int mpi_coll_barrier(struct mpi_rank *self, struct mpi_comm *c);
int mpi_coll_bcast(struct mpi_rank *self, struct mpi_comm *c, void *buf, uint64_t count,
                   struct mpi_type *type, int root);
int mpi_coll_gather(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, uint64_t scount,
                    struct mpi_type *stype, void *rbuf, uint64_t rcount, struct mpi_type *rtype,
                    int root);
int mpi_coll_scatter(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, uint64_t scount,
                     struct mpi_type *stype, void *rbuf, uint64_t rcount, struct mpi_type *rtype,
                     int root);
int mpi_coll_reduce(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, void *rbuf,
                    uint64_t count, struct mpi_type *type, struct mpi_op *op, int root);
int mpi_coll_allreduce(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, void *rbuf,
                       uint64_t count, struct mpi_type *type, struct mpi_op *op);
int mpi_coll_exscan(struct mpi_rank *self, struct mpi_comm *c, const void *sbuf, void *rbuf,
                    uint64_t count, struct mpi_type *type, struct mpi_op *op);

#endif
