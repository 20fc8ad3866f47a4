/*
 * op.h - reduction operations of the virtual MPI.
 *
 * One table serves all ranks of the process. User operations are interned by (function, form,
 * commute): ranks that create the same operation hold the same handle. An operation counts
 *
 *     refs      everything that keeps it alive: user handles and pending requests
 *     handles   the part of refs that user programs hold (one per MPI_Op_create)
 *
 * A handle is valid while `handles` > 0; a handle freed too often by one rank is noticed only when
 * no other rank holds it. Handles keep MPICH's values: 0x58000001.. predefined, 0x98000000 + index
 * made by the user.
 *
 * No function here switches ranks (a user's function must not call MPI).
 */
#ifndef MPI_OP_OP_H
#define MPI_OP_OP_H

#include <stdint.h>

#include "mpi_abi.h"

struct mpi_type;

/* The predefined operations: the low byte of their handles. 0: made by the user. */
enum mpi_op_kind {
    MPI_OP_USER = 0,
    MPI_OP_MAX,
    MPI_OP_MIN,
    MPI_OP_SUM,
    MPI_OP_PROD,
    MPI_OP_LAND,
    MPI_OP_BAND,
    MPI_OP_LOR,
    MPI_OP_BOR,
    MPI_OP_LXOR,
    MPI_OP_BXOR,
    MPI_OP_MINLOC,
    MPI_OP_MAXLOC,
    MPI_OP_REPLACE,
    MPI_OP_NO_OP,
    MPI_OP_KINDS
};

/* How MPICH's C++ binding calls its functions. */
typedef void mpi_op_cxx(const void *in, void *inout, int len, MPI_Datatype, MPI_User_function *);

/* Fields are for reading. */
struct mpi_op {
    MPI_User_function *fn;     /* of the user, or NULL */
    MPI_User_function_c *fn_c; /* of the user, counting in MPI_Count; or NULL */
    mpi_op_cxx *cxx;           /* of the C++ binding: calls fn; else NULL */
    MPI_Op handle;
    uint8_t kind; /* enum mpi_op_kind */
    uint8_t commute;
    uint64_t refs, handles;
};

/* Combines n items: inout[i] = in[i] op inout[i]. The arrays do not overlap. */
struct mpi_op_kernel {
    void (*run)(const void *in, void *inout, uint64_t n);
};

/* The object of a handle (borrowed), or NULL if it is null, malformed or freed. */
struct mpi_op *mpi_op_get(MPI_Op);

/* Keep an operation for a pending request; nothing happens to predefined ones. */
void mpi_op_ref(struct mpi_op *);
void mpi_op_unref(struct mpi_op *);

/* MPI_SUCCESS if a reduction may use op on items of this type, else MPI_ERR_OP. MPI_REPLACE and
 * MPI_NO_OP are for one-sided communication only and are refused here. */
int mpi_op_check(const struct mpi_op *op, const struct mpi_type *type);

/* inout[i] = in[i] op inout[i] for `count` items; `in` is the left operand, the lower rank. The
 * buffers do not overlap. MPI_REPLACE copies, MPI_NO_OP does nothing, both for every type.
 * MPI_ERR_OP if the operation is not defined on the type. Nothing happens if
 * a buffer is hollow. O(count). */
int mpi_op_apply(struct mpi_op *op, const void *in, void *inout, uint64_t count,
                 struct mpi_type *type);

/* The code for a predefined operation on a predefined type, or NULL if the standard has none. */
const struct mpi_op_kernel *mpi_op_kernel_get(enum mpi_op_kind kind, MPI_Datatype type);

#endif
