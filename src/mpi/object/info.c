/*
 * info.c - info objects: ordered lists of key and value texts.
 *
 * There is one table for all ranks; a handle is 0x9c000000 + index as in MPICH, and MPI_INFO_ENV is
 * a predefined empty object that cannot be changed. A freed index is used again only after
 * INFO_REST others were freed, so that stale handles are noticed. Objects are not shared between
 * ranks, since programs change them.
 */
#include "mpi/info.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "mpi/check.h"
#include "mpi_impl.h"

#define INFO_HANDLE 0x9c000000u
#define HANDLE_CLASS 0xfc000000u
#define HANDLE_INDEX 0x03ffffffu
#define INFO_REST 64

struct pair {
    char *key, *value;
};

struct info {
    struct pair *pairs;
    int count;
    uint32_t next_free; /* while free: index + 1 of the next free one */
    uint8_t live;
};

static struct {
    struct info **at;
    uint32_t count, cap;
    uint32_t free_head, free_tail, free_count; /* head and tail: index + 1 */
} table;

static struct info env;

/* ---- objects ---- */

MPI_Info mpi_info_make(void)
{
    uint32_t index;

    if (table.free_count > INFO_REST) {
        index = table.free_head - 1;
        table.free_head = table.at[index]->next_free;
        table.free_count--;
    } else {
        ARRAY_RESERVE(table.at, table.cap, table.count + 1, 16);
        index = table.count++;
        table.at[index] = mem_alloc(sizeof(struct info));
    }
    *table.at[index] = (struct info){.live = 1};
    return (MPI_Info)(INFO_HANDLE | index);
}

static void info_release(struct info *in, uint32_t index)
{
    for (int i = 0; i < in->count; i++) {
        mem_free(in->pairs[i].key);
        mem_free(in->pairs[i].value);
    }
    mem_free(in->pairs);
    *in = (struct info){.live = 0};
    if (table.free_count++)
        table.at[table.free_tail - 1]->next_free = index + 1;
    else
        table.free_head = index + 1;
    table.free_tail = index + 1;
}

static struct info *info_get(MPI_Info info)
{
    uint32_t bits = (uint32_t)info, index = bits & HANDLE_INDEX;

    if (info == MPI_INFO_ENV)
        return &env;
    if ((bits & HANDLE_CLASS) != INFO_HANDLE || index >= table.count || !table.at[index]->live)
        return NULL;
    return table.at[index];
}

static struct pair *pair_find(const struct info *in, const char *key)
{
    for (int i = 0; i < in->count; i++)
        if (strcmp(in->pairs[i].key, key) == 0)
            return &in->pairs[i];
    return NULL;
}

static void pair_set(struct info *in, const char *key, const char *value)
{
    struct pair *p = pair_find(in, key);

    if (p) {
        char *old = p->value;

        p->value = mem_strdup(value);
        mem_free(old);
        return;
    }
    in->pairs = mem_realloc(in->pairs, (size_t)(in->count + 1) * sizeof *in->pairs);
    in->pairs[in->count++] = (struct pair){mem_strdup(key), mem_strdup(value)};
}

const char *mpi_info_lookup(MPI_Info info, const char *key)
{
    const struct info *in = info_get(info);
    const struct pair *p = in ? pair_find(in, key) : NULL;

    return p ? p->value : NULL;
}

void mpi_info_put(MPI_Info info, const char *key, const char *value)
{
    pair_set(info_get(info), key, value);
}

void mpi_info_drop(MPI_Info info)
{
    info_release(info_get(info), (uint32_t)info & HANDLE_INDEX);
}

int mpi_info_exists(MPI_Info info)
{
    return info_get(info) != NULL;
}

/* ---- checks ---- */

static int check_info(struct mpi_rank *self, MPI_Info info, struct info **out)
{
    *out = info_get(info);
    if (*out)
        return MPI_SUCCESS;
    if (info == MPI_INFO_NULL)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "the info object is MPI_INFO_NULL");
    return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_INFO, "0x%08x is not an info object",
                     (unsigned)info);
}

static int check_own(struct mpi_rank *self, MPI_Info info, struct info **out)
{
    int rc = check_info(self, info, out);

    if (!rc && *out == &env)
        rc = mpi_raise(self, MPI_COMM_NULL, MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed");
    return rc;
}

static int check_key(struct mpi_rank *self, const char *key)
{
    size_t n = key ? strnlen(key, MPI_MAX_INFO_KEY + 1) : 0;

    if (n == 0)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_INFO_KEY, "the key is empty");
    if (n > MPI_MAX_INFO_KEY)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_INFO_KEY,
                         "the key is longer than %d characters", MPI_MAX_INFO_KEY);
    return MPI_SUCCESS;
}

/* ---- the MPI calls ---- */

int mpi_info_create(struct mpi_rank *self, MPI_Info *info)
{
    (void)self;
    *info = mpi_info_make();
    return MPI_SUCCESS;
}

int mpi_info_free(struct mpi_rank *self, MPI_Info *info)
{
    struct info *in;
    int rc = check_own(self, *info, &in);
    if (rc)
        return rc;
    info_release(in, (uint32_t)*info & HANDLE_INDEX);
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

int mpi_info_dup(struct mpi_rank *self, MPI_Info info, MPI_Info *newinfo)
{
    struct info *in, *copy;
    int rc = check_info(self, info, &in);
    MPI_Info made;

    if (rc)
        return rc;
    made = mpi_info_make();
    copy = info_get(made);
    for (int i = 0; i < in->count; i++)
        pair_set(copy, in->pairs[i].key, in->pairs[i].value);
    *newinfo = made;
    return MPI_SUCCESS;
}

int mpi_info_set(struct mpi_rank *self, MPI_Info info, const char *key, const char *value)
{
    struct info *in;
    int rc = check_own(self, info, &in);

    if (!rc)
        rc = check_key(self, key);
    if (!rc)
        rc = mpi_check_ptr(self, MPI_COMM_NULL, value, "value");
    if (rc)
        return rc;
    if (strnlen(value, MPI_MAX_INFO_VAL + 1) > MPI_MAX_INFO_VAL)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_INFO_VALUE,
                         "the value is longer than %d characters", MPI_MAX_INFO_VAL);
    pair_set(in, key, value);
    return MPI_SUCCESS;
}

int mpi_info_delete(struct mpi_rank *self, MPI_Info info, const char *key)
{
    struct info *in;
    struct pair *p;
    int rc = check_own(self, info, &in);

    if (!rc)
        rc = check_key(self, key);
    if (rc)
        return rc;
    p = pair_find(in, key);
    if (!p)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_INFO_NOKEY, "the key '%s' is not set", key);
    mem_free(p->key);
    mem_free(p->value);
    in->count--;
    memmove(p, p + 1, (size_t)(in->pairs + in->count - p) * sizeof *p);
    return MPI_SUCCESS;
}

/* A value that does not fit is truncated and reported, as in MPICH 4.0. */
int mpi_info_get(struct mpi_rank *self, MPI_Info info, const char *key, int valuelen, char *value,
                 int *flag)
{
    struct info *in;
    struct pair *p;
    size_t n;
    int rc = check_info(self, info, &in);

    if (!rc)
        rc = check_key(self, key);
    if (!rc && valuelen < 0)
        rc = mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "the length is negative (%d)", valuelen);
    if (!rc)
        rc = mpi_check_ptr(self, MPI_COMM_NULL, value, "value");
    if (rc)
        return rc;
    p = pair_find(in, key);
    *flag = p != NULL;
    if (!p)
        return MPI_SUCCESS;
    n = strnlen(p->value, (size_t)valuelen);
    memcpy(value, p->value, n);
    value[n] = '\0';
    if (p->value[n])
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_INFO_VALUE,
                         "the value of '%s' is longer than %d characters", key, valuelen);
    return MPI_SUCCESS;
}

int mpi_info_get_valuelen(struct mpi_rank *self, MPI_Info info, const char *key, int *valuelen,
                          int *flag)
{
    struct info *in;
    struct pair *p;
    int rc = check_info(self, info, &in);

    if (!rc)
        rc = check_key(self, key);
    if (rc)
        return rc;
    p = pair_find(in, key);
    *flag = p != NULL;
    if (p)
        *valuelen = (int)strlen(p->value);
    return MPI_SUCCESS;
}

int mpi_info_get_nkeys(struct mpi_rank *self, MPI_Info info, int *nkeys)
{
    struct info *in;
    int rc = check_info(self, info, &in);

    if (!rc)
        *nkeys = in->count;
    return rc;
}

int mpi_info_get_nthkey(struct mpi_rank *self, MPI_Info info, int n, char *key)
{
    struct info *in;
    int rc = check_info(self, info, &in);

    if (!rc)
        rc = mpi_check_ptr(self, MPI_COMM_NULL, key, "key");
    if (rc)
        return rc;
    if (n < 0 || n >= in->count)
        return mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "there is no key %d (%d are set)", n,
                         in->count);
    strcpy(key, in->pairs[n].key);
    return MPI_SUCCESS;
}

/* buflen counts the terminating null, in and out (MPI-4.0 10). */
int mpi_info_get_string(struct mpi_rank *self, MPI_Info info, const char *key, int *buflen,
                        char *value, int *flag)
{
    struct info *in;
    struct pair *p;
    int rc = check_info(self, info, &in), length;

    if (!rc)
        rc = check_key(self, key);
    if (!rc && *buflen < 0)
        rc = mpi_raise(self, MPI_COMM_NULL, MPI_ERR_ARG, "the length is negative (%d)", *buflen);
    if (!rc && *buflen)
        rc = mpi_check_ptr(self, MPI_COMM_NULL, value, "value");
    if (rc)
        return rc;
    p = pair_find(in, key);
    *flag = p != NULL;
    if (!p)
        return MPI_SUCCESS;
    length = (int)strlen(p->value);
    if (*buflen) {
        int n = length < *buflen ? length : *buflen - 1;

        memcpy(value, p->value, (size_t)n);
        value[n] = '\0';
    }
    *buflen = length + 1;
    return MPI_SUCCESS;
}

/* MPI_INFO_ENV is empty, as in MPICH 4.0 without a process manager that fills it. */
int mpi_info_create_env(struct mpi_rank *self, int argc, char *argv[], MPI_Info *info)
{
    (void)argc;
    (void)argv;
    return mpi_info_dup(self, MPI_INFO_ENV, info);
}
