/*
 * attr_table.c - attribute keys and values (MPI-4.0 7.7) of all kinds of object.
 *
 * Keys belong to the rank that created them, as in real processes: it keeps an array of keys, and
 * maps an object to the list of its attributes, the newest first (state.h).
 *
 * A key lives until it is freed and no attribute uses it. Its handle is 0xa4000000 + the kind of
 * object + its index in the rank's array, as in MPICH.
 *
 * The program's functions may set and delete attributes, also on the same object: after each call
 * the list is looked up again.
 */
#include "mpi/attr.h"

#include "base/mem.h"
#include "mpi/attr_internal.h"
#include "mpi/state.h"
#include "mpi/user.h"
#include "mpi_impl.h"

#define KEY_HANDLE 0xa4000000u
#define KEY_KIND_SHIFT 22
#define KEY_INDEX 0x003fffffu

struct key {
    void (*copy)(void), (*delete)(void);
    attr_copy_proxy *copy_proxy;
    attr_delete_proxy *delete_proxy;
    void *extra;
    uint32_t uses; /* attributes, and a running call */
    uint8_t kind;  /* enum attr_kind; 0: the slot is free */
    uint8_t freed; /* by the program */
};

struct own_keys {
    uint32_t count, unused; /* unused: free slots below count */
    struct key *at;
};

struct mpi_attr {
    struct mpi_attr *next;
    int keyval;
    int form;
    MPI_Aint value;
};

/* ---- keys ---- */

static struct key *key_at(const struct mpi_rank *self, int keyval)
{
    return &mpi_state_attr_keys(self)->at[(uint32_t)keyval & KEY_INDEX];
}

int attr_key_create(struct mpi_rank *self, enum attr_kind kind, void (*copy)(void),
                    void (*delete)(void), void *extra)
{
    struct own_keys *own = mpi_state_make(self, MPI_STATE_attr_keys, sizeof *own);
    uint32_t i = 0;

    while (own->unused && own->at[i].kind)
        i++;
    if (own->unused) {
        own->unused--;
    } else {
        i = own->count++;
        own->at = mem_realloc(own->at, own->count * sizeof *own->at);
    }
    own->at[i] = (struct key){.copy = copy, .delete = delete, .extra = extra, .kind = (uint8_t)kind};
    return (int)(KEY_HANDLE | (uint32_t)kind << KEY_KIND_SHIFT | i);
}

int attr_key_valid(struct mpi_rank *self, enum attr_kind kind, int keyval)
{
    struct own_keys *own = mpi_state_attr_keys(self);
    uint32_t bits = (uint32_t)keyval, i = bits & KEY_INDEX;

    return own && (bits & ~KEY_INDEX) == (KEY_HANDLE | (uint32_t)kind << KEY_KIND_SHIFT) &&
           i < own->count && own->at[i].kind == kind;
}

/* Frees its slot if nothing uses it. */
static void key_release(const struct mpi_rank *self, struct key *k)
{
    if (k->freed && !k->uses) {
        *k = (struct key){.kind = 0};
        mpi_state_attr_keys(self)->unused++;
    }
}

static void key_unuse(const struct mpi_rank *self, int keyval)
{
    struct key *k = key_at(self, keyval);

    k->uses--;
    key_release(self, k);
}

void attr_key_free(struct mpi_rank *self, int keyval)
{
    struct key *k = key_at(self, keyval);

    k->freed = 1;
    key_release(self, k);
}

void attr_key_proxy(struct mpi_rank *self, int keyval, attr_copy_proxy *copy,
                    attr_delete_proxy *delete)
{
    struct key *k = key_at(self, keyval);

    k->copy_proxy = copy;
    k->delete_proxy = delete;
}

/* ---- the program's functions ---- */

/* The value as passed to a C function: what Fortran has set is passed by address. */
static void *c_value(struct mpi_attr *a)
{
    return a->form == ATTR_POINTER ? (void *)a->value : &a->value;
}

/* Calls the copy function: with *flag the duplicate gets the attribute *out. Returns the code of
 * the function. */
static int call_copy(struct mpi_rank *self, int handle, struct mpi_attr *a, struct mpi_attr *out,
                     int *flag)
{
    struct key k = *key_at(self, a->keyval);
    void *value = (void *)a->value;
    uint16_t fn = self->fn;
    int rc;

    *out = *a;
    *flag = 0;
    if (!k.copy)
        return MPI_SUCCESS;
    if (k.copy == (void (*)(void))MPIR_Dup_fn && !k.copy_proxy) {
        *flag = 1;
        return MPI_SUCCESS;
    }
    mpi_user_begin();
    if (k.copy_proxy) {
        rc = k.copy_proxy(k.copy, handle, a->keyval, k.extra, a->form, value, &value, flag);
    } else {
        rc = ((attr_copy_fn *)k.copy)(handle, a->keyval, k.extra, c_value(a), &value, flag);
        out->form = ATTR_POINTER;
    }
    mpi_user_end();
    self->fn = fn;
    out->value = (MPI_Aint)value;
    return rc;
}

static int call_delete(struct mpi_rank *self, int handle, struct mpi_attr *a)
{
    struct key k = *key_at(self, a->keyval);
    uint16_t fn = self->fn;
    int rc;

    if (!k.delete)
        return MPI_SUCCESS;
    mpi_user_begin();
    if (k.delete_proxy)
        rc = k.delete_proxy(k.delete, handle, a->keyval, a->form, (void *)a->value, k.extra);
    else
        rc = ((attr_delete_fn *)k.delete)(handle, a->keyval, c_value(a), k.extra);
    mpi_user_end();
    self->fn = fn;
    return rc;
}

/* ---- values ---- */

static struct mpi_attr *first(const struct mpi_rank *self, int handle)
{
    const uint64_t *at = mpi_state_find(self, MPI_STATE_attrs, (uint32_t)handle);

    return at ? (struct mpi_attr *)(uintptr_t)*at : NULL;
}

static struct mpi_attr *find(const struct mpi_rank *self, int handle, int keyval)
{
    struct mpi_attr *a = first(self, handle);

    while (a && a->keyval != keyval)
        a = a->next;
    return a;
}

void mpi_attr_attach(struct mpi_rank *self, int to, struct mpi_attr *list)
{
    if (list)
        *mpi_state_insert(self, MPI_STATE_attrs, (uint32_t)to) = (uint64_t)(uintptr_t)list;
}

static struct mpi_attr *attr_new(const struct mpi_rank *self, const struct mpi_attr *like)
{
    struct mpi_attr *a = pool_alloc(&mpi_world.pool, sizeof *a);

    *a = *like;
    a->next = NULL;
    key_at(self, a->keyval)->uses++;
    return a;
}

static void attr_free(const struct mpi_rank *self, struct mpi_attr *a)
{
    key_unuse(self, a->keyval);
    pool_free(&mpi_world.pool, a, sizeof *a);
}

/* Removes the attribute from the object's list, if it is still there. */
static void unlink_attr(struct mpi_rank *self, int handle, int keyval)
{
    struct mpi_attr *list = first(self, handle), **at = &list, *a;

    while (*at && (*at)->keyval != keyval)
        at = &(*at)->next;
    a = *at;
    if (!a)
        return;
    *at = a->next;
    if (list)
        *mpi_state_find(self, MPI_STATE_attrs, (uint32_t)handle) = (uint64_t)(uintptr_t)list;
    else
        mpi_state_remove(self, MPI_STATE_attrs, (uint32_t)handle);
    attr_free(self, a);
}

/* Calls the delete function of an attribute of the object. */
static int release(struct mpi_rank *self, int handle, struct mpi_attr *a)
{
    int keyval = a->keyval, rc; /* the function may delete the attribute itself */

    key_at(self, keyval)->uses++;
    rc = call_delete(self, handle, a);
    key_unuse(self, keyval);
    return rc;
}

int attr_delete(struct mpi_rank *self, int handle, int keyval)
{
    struct mpi_attr *a = find(self, handle, keyval);
    int rc;

    if (!a)
        return MPI_SUCCESS;
    rc = release(self, handle, a);
    if (!rc)
        unlink_attr(self, handle, keyval);
    return rc;
}

int attr_set(struct mpi_rank *self, int handle, int keyval, void *value, int form)
{
    struct mpi_attr like = {.keyval = keyval, .form = form, .value = (MPI_Aint)value};
    struct mpi_attr *a = find(self, handle, keyval);

    if (a) {
        int rc = release(self, handle, a);

        if (rc)
            return rc;
        a = find(self, handle, keyval);
    }
    if (a) {
        a->form = form;
        a->value = like.value;
    } else {
        a = attr_new(self, &like);
        a->next = first(self, handle);
        mpi_attr_attach(self, handle, a);
    }
    return MPI_SUCCESS;
}

int attr_get(struct mpi_rank *self, int handle, int keyval, int form, void *value)
{
    struct mpi_attr *a = find(self, handle, keyval);

    if (a)
        *(void **)value = form == ATTR_POINTER ? c_value(a) : (void *)a->value;
    return a != NULL;
}

/* ---- all attributes of an object ---- */

/* Drops them, without calling delete functions. */
static void drop(struct mpi_rank *self, struct mpi_attr *list)
{
    while (list) {
        struct mpi_attr *next = list->next;

        attr_free(self, list);
        list = next;
    }
}

int mpi_attr_delete_all(struct mpi_rank *self, int handle)
{
    struct mpi_attr *a;

    while ((a = first(self, handle))) {
        int rc = attr_delete(self, handle, a->keyval);

        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

/* The keys of the attributes the object has, in order; *n of them, on the heap. */
static int *keys_on(const struct mpi_rank *self, int handle, int *n)
{
    int *keys, i = 0;

    *n = 0;
    for (struct mpi_attr *a = first(self, handle); a; a = a->next)
        ++*n;
    keys = mem_alloc((size_t)*n * sizeof *keys);
    for (struct mpi_attr *a = first(self, handle); a; a = a->next)
        keys[i++] = a->keyval;
    return keys;
}

int mpi_attr_copy(struct mpi_rank *self, int from, struct mpi_attr **out)
{
    struct mpi_attr *list = NULL, **end = &list, *a, copy;
    int n, *keys, rc = MPI_SUCCESS, flag;

    *out = NULL;
    if (!first(self, from))
        return MPI_SUCCESS;
    keys = keys_on(self, from, &n);
    for (int i = 0; i < n && !rc; i++) {
        a = find(self, from, keys[i]);
        if (!a)
            continue;
        key_at(self, keys[i])->uses++;
        rc = call_copy(self, from, a, &copy, &flag);
        if (!rc && flag) {
            *end = attr_new(self, &copy);
            end = &(*end)->next;
        }
        key_unuse(self, keys[i]);
    }
    mem_free(keys);
    if (rc)
        drop(self, list);
    else
        *out = list;
    return rc;
}

int mpi_attr_copy_all(struct mpi_rank *self, int from, int to)
{
    struct mpi_attr *list;
    int rc = mpi_attr_copy(self, from, &list);

    mpi_attr_attach(self, to, list);
    return rc;
}
