/*
 * verify.h - checks what the standard requires of several ranks together (--check): that a message
 * is received with the types it was sent with, that all ranks of a communicator or file call the
 * same collectives with consistent arguments, and that both sides of a one-sided or partitioned
 * operation describe the same data.
 *
 *     messages      carry the signature of what is sent after their payload (verify_message.c)
 *     collectives   are compared separately, in a table of the process, and finally in that of
 *                   process 0 (verify_coll.c)
 *     findings      are summed up and printed at the end (verify.c)
 *
 * None of it takes virtual time or switches. If mpi_world.checking is 0, nothing here is called.
 */
#ifndef MPI_VERIFY_H
#define MPI_VERIFY_H

#include "base/buf.h"
#include "base/json.h"
#include "mpi/rank.h"

struct mpi_coll_args;
struct mpi_comm;
struct mpi_type;

/* ---- messages ---- */

/* The type signature of what is sent: a sequence of basic types. */
struct mpi_sig {
    uint64_t hash;
    uint64_t elements;
    int32_t elem; /* the basic type if there is one only, else 0 */
    uint32_t fn;  /* enum mpi_fn: the call that sends it */
};
struct mpi_sig mpi_sig_of(const struct mpi_rank *self, const struct mpi_type *, uint64_t count);
/* Does anything match it (MPI_PACKED)? */
int mpi_sig_is_open(const struct mpi_sig *);

/* Are messages with this tag and context checked? Those of programs are, and those of collectives
 * that go from one buffer of a program to another. */
int mpi_verify_wants(int32_t tag, uint32_t ctx);

/* The rank receives the signed message with the request. */
struct mpi_req;
struct mpi_msg;
void mpi_verify_match(const struct mpi_rank *self, const struct mpi_req *, const struct mpi_msg *);

/* ---- collectives ---- */

enum mpi_verify_way {
    MPI_VERIFY_NOW = 0,
    MPI_VERIFY_LATER,
    MPI_VERIFY_PERSISTENT,
    MPI_VERIFY_WAYS
};

/* The rank calls a collective on c; arguments are checked, op_id, rank and size set. O(size) for
 * calls with a count for each rank, else O(1). */
void mpi_verify_coll(struct mpi_rank *self, const struct mpi_comm *c, const struct mpi_coll_args *,
                     enum mpi_verify_way);
/* The rank makes a collective call on c of which only the name is compared; findings call c
 * `what`. */
void mpi_verify_call(struct mpi_rank *self, const struct mpi_comm *c, const char *what);
/* Process 0: takes what ranks of another process have called. */
void mpi_verify_learn(const void *data, size_t bytes);

/* ---- two sides that one rank sees ---- */

/* A one-sided operation on the window of this name (NULL: none): what the rank has, and what it
 * says is at rank `target` of c. */
void mpi_verify_target(const struct mpi_rank *self, const struct mpi_comm *c, const char *window,
                       int target, const struct mpi_sig *own, const struct mpi_sig *there);
/* A partitioned receive was matched with its send, which has this many bytes in all. */
void mpi_verify_parts(const struct mpi_rank *self, const struct mpi_req *, uint64_t sent,
                      uint64_t received);

/* ---- findings ---- */

enum mpi_finding_kind {
    MPI_FINDING_TYPES = 0, /* sent and received as different types */
    MPI_FINDING_CALL,      /* different collectives */
    MPI_FINDING_ROOT,      /* this and the next two: different arguments of one collective */
    MPI_FINDING_OP,
    MPI_FINDING_DATA,
    MPI_FINDING_OWN,    /* what a rank sends to itself differs from what it receives */
    MPI_FINDING_ABSENT, /* some ranks do not call it */
    MPI_FINDING_TARGET, /* origin and target of a one-sided operation have different types */
    MPI_FINDING_PARTS,  /* a partitioned send and its receive have different sizes */
    MPI_FINDING_KINDS
};
/* Two sides: sender and receiver, or two ranks, the first in order of rank that disagree. */
struct mpi_finding {
    uint32_t kind;
    int32_t tag;     /* TYPES; -1: of a collective */
    uint32_t fn[2];  /* enum mpi_fn */
    int32_t rank[2]; /* in the communicator */
    uint32_t world[2];
    int32_t value[2];       /* root, operation or basic type; ABSENT: who calls it, of how many */
    uint64_t amount[2];     /* elements */
    uint64_t count;         /* how often */
    uint32_t serial, spare; /* which collective call on the communicator, from 0 */
    char comm[96];
};
/* Adds it to the findings. */
void mpi_verify_found(const struct mpi_finding *);
/* The name of a communicator in a finding. */
void mpi_verify_name(const struct mpi_rank *self, const struct mpi_comm *c, char *out, size_t n);

/* At the end of the run, process context: adds the findings of this process, and the collectives
 * that only some of its ranks have called. */
void mpi_verify_collect(struct buf *out);
/* Process 0: merges what a process has collected; then checks the rest, which is complete if all
 * ranks have ended. Returns the number of distinct findings. */
void mpi_verify_merge(const void *part, size_t bytes);
uint32_t mpi_verify_conclude(int complete);
/* Prints them on standard error, one line each; writes them as the member "findings". */
void mpi_verify_print(void);
void mpi_verify_json(struct json *);

#endif
