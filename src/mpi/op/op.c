/*
 * op.c - the table of operations, and applying one.
 *
 * Invariants: a user operation is in `by_key` and in `slots` exactly while refs > 0; its index is
 * that of its slot, and its handle is 0x98000000 + index. Free indices are reused, lowest first
 * known, so the table is as large as the most operations ever alive at once.
 */
#include "mpi/op/op.h"

#include <limits.h>
#include <stddef.h>

#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"
#include "mpi/datatype/datatype.h"
#include "mpi/error.h"
#include "mpi_impl.h"
#include "mpi/user.h"

#define HANDLE_PREDEFINED 0x58000000u
#define HANDLE_USER 0x98000000u
#define HANDLE_INDEX_MASK 0x03ffffffu

#define PREDEFINED(op, commutes) \
    [MPI_OP_##op] = {.handle = MPI_##op, .kind = MPI_OP_##op, .commute = commutes}

static struct mpi_op predefined[MPI_OP_KINDS] = {
    PREDEFINED(MAX, 1),     PREDEFINED(MIN, 1),   PREDEFINED(SUM, 1),    PREDEFINED(PROD, 1),
    PREDEFINED(LAND, 1),    PREDEFINED(BAND, 1),  PREDEFINED(LOR, 1),    PREDEFINED(BOR, 1),
    PREDEFINED(LXOR, 1),    PREDEFINED(BXOR, 1),  PREDEFINED(MINLOC, 1), PREDEFINED(MAXLOC, 1),
    PREDEFINED(REPLACE, 0), PREDEFINED(NO_OP, 0),
};

/* The user operations of the process. */
static struct {
    struct map by_key; /* function address * 4 + large * 2 + commute -> struct mpi_op * */
    struct mpi_op **slots;
    uint32_t nslots, live;
} table = {.by_key = {.shift = 64}};

static uint64_t key_of(const struct mpi_op *op)
{
    uint64_t address = op->fn_c ? (uint64_t)(uintptr_t)op->fn_c : (uint64_t)(uintptr_t)op->fn;
    return address << 2 | (op->fn_c ? 2u : 0u) | op->commute;
}

static uint32_t find_slot(void)
{
    uint32_t index = 0, before = table.nslots;
    ARRAY_RESERVE(table.slots, table.nslots, table.live + 1, 8);
    for (uint32_t i = before; i < table.nslots; i++)
        table.slots[i] = NULL;
    while (table.slots[index])
        index++;
    return index;
}

/* A new operation like `form`, without refs, in the table. */
static struct mpi_op *op_create(const struct mpi_op *form)
{
    uint32_t index = find_slot();
    struct mpi_op *op = (struct mpi_op *)mem_alloc(sizeof *op);

    *op = *form;
    op->handle = (MPI_Op)(HANDLE_USER + index);
    table.slots[index] = op;
    table.live++;
    return op;
}

static void op_destroy(struct mpi_op *op)
{
    map_remove(&table.by_key, key_of(op));
    table.slots[(uint32_t)op->handle & HANDLE_INDEX_MASK] = NULL;
    table.live--;
    mem_free(op);
}

struct mpi_op *mpi_op_get(MPI_Op handle)
{
    uint32_t bits = (uint32_t)handle, index = bits & HANDLE_INDEX_MASK;

    if ((bits & ~HANDLE_INDEX_MASK) == HANDLE_PREDEFINED)
        return index > 0 && index < MPI_OP_KINDS ? &predefined[index] : NULL;
    if ((bits & ~HANDLE_INDEX_MASK) != HANDLE_USER || index >= table.nslots)
        return NULL;
    struct mpi_op *op = table.slots[index];
    return op && op->handles ? op : NULL;
}

void mpi_op_ref(struct mpi_op *op)
{
    if (op->kind == MPI_OP_USER)
        op->refs++;
}

void mpi_op_unref(struct mpi_op *op)
{
    if (op->kind == MPI_OP_USER && --op->refs == 0)
        op_destroy(op);
}

/* The code for this operation and type, or NULL. The Fortran 90 types are what they are made of. */
static const struct mpi_op_kernel *find_kernel(const struct mpi_op *op, const struct mpi_type *type)
{
    MPI_Datatype basic = type->builtin ? type->elem : type->handle;

    return mpi_op_kernel_get((enum mpi_op_kind)op->kind, basic);
}

int mpi_op_check(const struct mpi_op *op, const struct mpi_type *type)
{
    if (op->kind == MPI_OP_USER)
        return MPI_SUCCESS;
    return find_kernel(op, type) ? MPI_SUCCESS : MPI_ERR_OP;
}

static void call_user(const struct mpi_op *op, const char *in, char *inout, uint64_t n,
                      MPI_Datatype handle)
{
    MPI_Count large = (MPI_Count)n;
    int len = (int)n;

    mpi_user_begin();
    if (op->fn_c)
        op->fn_c((void *)(uintptr_t)in, inout, &large, &handle);
    else if (op->cxx)
        op->cxx(in, inout, len, handle, op->fn);
    else
        op->fn((void *)(uintptr_t)in, inout, &len, &handle);
    mpi_user_end();
}

/* A user's function with int counts is called several times for larger counts. */
static void apply_user(const struct mpi_op *op, const char *in, char *inout, uint64_t count,
                       const struct mpi_type *type)
{
    uint64_t most = op->fn_c ? INT64_MAX : INT_MAX;

    while (count) {
        uint64_t n = count > most ? most : count;

        call_user(op, in, inout, n, type->handle);
        count -= n;
        in += (int64_t)n * type->extent;
        inout += (int64_t)n * type->extent;
    }
}

int mpi_op_apply(struct mpi_op *op, const void *in, void *inout, uint64_t count,
                 struct mpi_type *type)
{
    if (mpi_data_is_hollow(in, type) || mpi_data_is_hollow(inout, type))
        return MPI_SUCCESS;
    if (op->kind == MPI_OP_USER) {
        apply_user(op, (const char *)in, (char *)inout, count, type);
        return MPI_SUCCESS;
    }
    if (op->kind == MPI_OP_NO_OP)
        return MPI_SUCCESS;
    if (op->kind == MPI_OP_REPLACE) {
        mpi_type_copy(in, count, type, inout, count, type);
        return MPI_SUCCESS;
    }
    const struct mpi_op_kernel *k = find_kernel(op, type);
    if (!k)
        return MPI_ERR_OP;
    k->run(in, inout, count);
    return MPI_SUCCESS;
}

/* ---- MPI calls ---- */

/* A handle of the operation that `form` describes. */
static int create(const struct mpi_op *form, MPI_Op *op)
{
    int is_new;
    uint64_t *entry = map_insert(&table.by_key, key_of(form), &is_new);
    if (is_new)
        *entry = (uint64_t)(uintptr_t)op_create(form);
    struct mpi_op *found = (struct mpi_op *)(uintptr_t)*entry;
    found->refs++;
    found->handles++;
    *op = found->handle;
    return MPI_SUCCESS;
}

int mpi_op_create(struct mpi_rank *self, MPI_User_function *user_fn, int commute, MPI_Op *op)
{
    (void)self;
    return create(&(struct mpi_op){.fn = user_fn, .commute = commute != 0}, op);
}

int mpi_op_create_c(struct mpi_rank *self, MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{
    (void)self;
    return create(&(struct mpi_op){.fn_c = user_fn, .commute = commute != 0}, op);
}

int mpi_op_free(struct mpi_rank *self, MPI_Op *op)
{
    struct mpi_op *found = mpi_op_get(*op);

    if (!found)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_OP, "0x%08x is not an operation",
                         (unsigned)*op);
    if (found->kind != MPI_OP_USER)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_OP, "a predefined operation cannot be freed");
    found->handles--;
    mpi_op_unref(found);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

int mpi_op_commutative(struct mpi_rank *self, MPI_Op op, int *commute)
{
    struct mpi_op *found = mpi_op_get(op);

    if (!found)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_OP, "0x%08x is not an operation",
                         (unsigned)op);
    *commute = found->commute;
    return MPI_SUCCESS;
}

int mpi_reduce_local_c(struct mpi_rank *self, const void *inbuf, void *inoutbuf, MPI_Count count,
                       MPI_Datatype datatype, MPI_Op op)
{
    struct mpi_op *o = mpi_op_get(op);
    struct mpi_type *type = mpi_type_get(datatype);

    if (!o)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_OP, "0x%08x is not an operation",
                         (unsigned)op);
    if (!type)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_TYPE, "0x%08x is not a datatype",
                         (unsigned)datatype);
    if (mpi_op_check(o, type))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_OP, "the operation is not defined on %s",
                         *mpi_type_name(type) ? mpi_type_name(type) : "this datatype");
    if (!type->committed)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_TYPE, "datatype 0x%08x is not committed",
                         (unsigned)datatype);
    if (count && (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE ||
                  (inbuf == inoutbuf && inbuf != MPI_BOTTOM && !mpi_is_hollow(inbuf))))
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_BUFFER, "the buffers must be distinct");
    return mpi_op_apply(o, inbuf, inoutbuf, (uint64_t)count, type);
}

/* The C++ binding created the operation, which must be called through the binding. */
void mpii_op_set_cxx(struct mpi_rank *self, MPI_Op op, void (*call)(void))
{
    struct mpi_op *o = mpi_op_get(op);

    (void)self;
    if (o && o->kind == MPI_OP_USER)
        o->cxx = (mpi_op_cxx *)call;
}
