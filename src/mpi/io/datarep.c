/*
 * datarep.c - representations of data in files (MPI-4.0 14.5).
 *
 * "native" and "internal" are the same as in memory. "external32" is the portable form of
 * pack_external. Others belong to the program: a rank registers conversion functions. Types in
 * another representation have other sizes: if a view's layout depends on the sizes of basic types,
 * it is rebuilt.
 */
#include "mpi/io/io_internal.h"

#include <string.h>

#include "base/mem.h"
#include "mpi/datatype/external.h"
#include "mpi/state.h"
#include "mpi/user.h"
#include "mpi_impl.h"

enum rep_kind { REP_NATIVE = 0, REP_EXTERNAL32, REP_USER };

struct io_datarep {
    char name[MPI_MAX_DATAREP_STRING];
    enum rep_kind kind;
    int large; /* the functions take large counts */
    union {
        MPI_Datarep_conversion_function *read;
        MPI_Datarep_conversion_function_c *read_c;
    };
    union {
        MPI_Datarep_conversion_function *write;
        MPI_Datarep_conversion_function_c *write_c;
    };
    MPI_Datarep_extent_function *extent;
    void *extra;
    struct io_datarep *next;
};

static const struct io_datarep predefined[] = {
    {.name = "native"},
    {.name = "internal"},
    {.name = "external32", .kind = REP_EXTERNAL32},
};

const struct io_datarep *io_datarep_find(const struct mpi_rank *self, const char *name)
{
    for (size_t i = 0; i < sizeof predefined / sizeof predefined[0]; i++)
        if (strcasecmp(predefined[i].name, name) == 0)
            return &predefined[i];
    for (const struct io_datarep *r = self ? mpi_state_datareps(self) : NULL; r; r = r->next)
        if (strcmp(r->name, name) == 0)
            return r;
    return NULL;
}

const char *io_datarep_name(const struct io_datarep *r)
{
    return r->name;
}

int io_datarep_converts(const struct io_datarep *r)
{
    return r->kind != REP_NATIVE;
}

/* ---- sizes ---- */

int64_t io_datarep_extent(struct mpi_rank *self, const struct io_datarep *r, struct mpi_type *t,
                          int *rc)
{
    struct mpi_type *layout;
    MPI_Aint extent = 0;
    int64_t n;

    *rc = MPI_SUCCESS;
    if (r->kind == REP_USER && r->extent) {
        mpi_user_begin();
        *rc = r->extent(t->handle, &extent, r->extra);
        mpi_user_end();
        return extent;
    }
    layout = io_datarep_layout(self, r, t, rc);
    if (*rc)
        return 0;
    n = layout->extent;
    mpi_type_unref(layout);
    return n;
}

/* Bytes of a basic type in the file. */
static uint64_t basic_size(struct mpi_rank *self, const struct io_datarep *r, struct mpi_type *t,
                           int *rc)
{
    if (r->kind == REP_EXTERNAL32)
        return type_external_size(t);
    return r->kind == REP_USER ? (uint64_t)io_datarep_extent(self, r, t, rc) : t->size;
}

uint64_t io_datarep_size(struct mpi_rank *self, const struct io_datarep *r, struct mpi_type *t,
                         int *rc)
{
    struct mpi_type *layout = io_datarep_layout(self, r, t, rc);
    uint64_t n;

    if (*rc)
        return 0;
    n = layout->size;
    mpi_type_unref(layout);
    return n;
}

/* ---- layouts ---- */

static int rebuild(struct mpi_rank *self, const struct io_datarep *r, struct mpi_type *t,
                   struct mpi_type **out);

static int rebuild_basic(struct mpi_rank *self, const struct io_datarep *r, struct mpi_type *t,
                         struct mpi_type **out)
{
    int rc = MPI_SUCCESS;
    uint64_t n = basic_size(self, r, t, &rc);

    if (rc)
        return rc;
    if (n == t->size) {
        mpi_type_ref(t);
        *out = t;
        return MPI_SUCCESS;
    }
    return mpi_type_make_contiguous(1, (MPI_Count)n, mpi_type_get(MPI_BYTE), out);
}

/* All arguments of the constructor as one list: integers, counts, addresses. */
static MPI_Count *list_arguments(const struct mpi_type *t)
{
    MPI_Count *v = mem_alloc((size_t)(t->nints + t->ncounts + t->naints + 1) * sizeof *v), *at = v;

    for (MPI_Count i = 0; i < t->nints; i++)
        *at++ = t->ints[i];
    for (MPI_Count i = 0; i < t->ncounts; i++)
        *at++ = t->counts[i];
    for (MPI_Count i = 0; i < t->naints; i++)
        *at++ = t->aints[i];
    return v;
}

static int construct_subarray(const MPI_Count *v, int large, struct mpi_type *old,
                              struct mpi_type **out)
{
    MPI_Count n = v[0];
    const MPI_Count *sizes = large ? v + 2 : v + 1;

    return mpi_type_make_subarray(large, (int)n, sizes, sizes + n, sizes + 2 * n,
                                  (int)(large ? v[1] : sizes[3 * n]), old, out);
}

/* Displacements that count items follow the new extent; those in bytes stay. */
static int construct(const struct mpi_type *t, const MPI_Count *v, struct mpi_type *const *olds,
                     struct mpi_type **out)
{
    int large = t->ncounts > 0;
    struct mpi_type *old = olds[0];

    switch (t->kind) {
    case MPI_COMBINER_DUP:
        return mpi_type_make_contiguous(0, 1, old, out);
    case MPI_COMBINER_CONTIGUOUS:
        return mpi_type_make_contiguous(large, v[0], old, out);
    case MPI_COMBINER_VECTOR:
        return mpi_type_make_vector(large, v[0], v[1], v[2], old, out);
    case MPI_COMBINER_HVECTOR:
        return mpi_type_make_hvector(large, v[0], v[1], v[2], old, out);
    case MPI_COMBINER_INDEXED:
        return mpi_type_make_indexed(large, v[0], v + 1, v + 1 + v[0], old, out);
    case MPI_COMBINER_HINDEXED:
        return mpi_type_make_hindexed(large, v[0], v + 1, v + 1 + v[0], old, out);
    case MPI_COMBINER_INDEXED_BLOCK:
        return mpi_type_make_indexed_block(large, v[0], v[1], v + 2, old, out);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return mpi_type_make_hindexed_block(large, v[0], v[1], v + 2, old, out);
    case MPI_COMBINER_STRUCT:
        return mpi_type_make_struct(large, v[0], v + 1, v + 1 + v[0], olds, out);
    case MPI_COMBINER_SUBARRAY:
        return construct_subarray(v, large, old, out);
    case MPI_COMBINER_RESIZED:
        return mpi_type_make_resized(large, old, v[0], v[1], out);
    default:
        return MPI_ERR_UNSUPPORTED_DATAREP;
    }
}

static int rebuild_derived(struct mpi_rank *self, const struct io_datarep *r, struct mpi_type *t,
                           struct mpi_type **out)
{
    struct mpi_type **olds = mem_zalloc((size_t)t->ntypes * sizeof(struct mpi_type *));
    int rc = MPI_SUCCESS, changed = 0;
    MPI_Count done = 0;

    for (; done < t->ntypes && !rc; done++) {
        rc = rebuild(self, r, t->types[done], &olds[done]);
        changed |= !rc && olds[done] != t->types[done];
    }
    if (rc) {
        done--;
    } else if (changed) {
        MPI_Count *v = list_arguments(t);

        rc = construct(t, v, olds, out);
        mem_free(v);
    } else {
        mpi_type_ref(t);
        *out = t;
    }
    for (MPI_Count i = 0; i < done; i++)
        mpi_type_unref(olds[i]);
    mem_free(olds);
    return rc;
}

static int rebuild(struct mpi_rank *self, const struct io_datarep *r, struct mpi_type *t,
                   struct mpi_type **out)
{
    return t->builtin || !t->ntypes ? rebuild_basic(self, r, t, out)
                                    : rebuild_derived(self, r, t, out);
}

struct mpi_type *io_datarep_layout(struct mpi_rank *self, const struct io_datarep *r,
                                   struct mpi_type *filetype, int *rc)
{
    struct mpi_type *layout = filetype;

    *rc = MPI_SUCCESS;
    if (r->kind == REP_NATIVE || (r->kind == REP_USER && !r->extent))
        mpi_type_ref(filetype);
    else
        *rc = rebuild(self, r, filetype, &layout);
    return layout;
}

/* ---- converting ---- */

static int call_user(const struct io_datarep *r, int write, void *buf, uint64_t count,
                     const struct mpi_type *t, void *form)
{
    int rc;

    mpi_user_begin();
    if (r->large)
        rc = (write ? r->write_c : r->read_c)(buf, t->handle, (MPI_Count)count, form, 0, r->extra);
    else
        rc = (write ? r->write : r->read)(buf, t->handle, (int)count, form, 0, r->extra);
    mpi_user_end();
    return rc ? MPI_ERR_CONVERSION : MPI_SUCCESS;
}

int io_datarep_write(struct mpi_rank *self, const struct io_datarep *r, const void *buf,
                     uint64_t count, struct mpi_type *t, void *out)
{
    (void)self;
    if (r->kind == REP_EXTERNAL32)
        type_external_pack(t, count, buf, out);
    else if (r->write)
        return call_user(r, 1, (void *)(uintptr_t)buf, count, t, out);
    else
        mpi_type_pack(t, count, buf, out);
    return MPI_SUCCESS;
}

int io_datarep_read(struct mpi_rank *self, const struct io_datarep *r, void *buf, uint64_t count,
                    struct mpi_type *t, const void *in)
{
    (void)self;
    if (!count)
        return MPI_SUCCESS;
    if (r->kind == REP_EXTERNAL32)
        type_external_unpack(t, count, buf, in);
    else if (r->read)
        return call_user(r, 0, buf, count, t, (void *)(uintptr_t)in);
    else
        mpi_type_unpack(t, count, buf, in, count * t->size);
    return MPI_SUCCESS;
}

/* ---- registering ---- */

static int add(struct mpi_rank *self, const char *name, struct io_datarep *made)
{
    size_t n = name ? strlen(name) : 0;
    struct io_datarep *r;

    if (n == 0 || n >= MPI_MAX_DATAREP_STRING)
        return mpi_raise_file(self, MPI_FILE_NULL, MPI_ERR_ARG,
                              "the name of a data representation has 1 to %d characters",
                              MPI_MAX_DATAREP_STRING - 1);
    if (io_datarep_find(self, name))
        return mpi_raise_file(self, MPI_FILE_NULL, MPI_ERR_DUP_DATAREP,
                              "there is a data representation '%s' already", name);
    if (!made->extent)
        return mpi_raise_file(self, MPI_FILE_NULL, MPI_ERR_ARG,
                              "the function for the extent is a null pointer");
    r = mem_alloc(sizeof *r);
    *r = *made;
    memcpy(r->name, name, n + 1);
    r->kind = REP_USER;
    r->next = mpi_state_datareps(self);
    mpi_state_set(self, MPI_STATE_datareps, r);
    return MPI_SUCCESS;
}

int mpi_register_datarep(struct mpi_rank *self, const char *datarep,
                         MPI_Datarep_conversion_function *read_conversion_fn,
                         MPI_Datarep_conversion_function *write_conversion_fn,
                         MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    struct io_datarep made = {.read = read_conversion_fn,
                              .write = write_conversion_fn,
                              .extent = dtype_file_extent_fn,
                              .extra = extra_state};

    return add(self, datarep, &made);
}

int mpi_register_datarep_c(struct mpi_rank *self, const char *datarep,
                           MPI_Datarep_conversion_function_c *read_conversion_fn,
                           MPI_Datarep_conversion_function_c *write_conversion_fn,
                           MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    struct io_datarep made = {.large = 1, .extent = dtype_file_extent_fn, .extra = extra_state};

    made.read_c = read_conversion_fn;
    made.write_c = write_conversion_fn;
    return add(self, datarep, &made);
}
