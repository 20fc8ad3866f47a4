/* table.c - the table of datatypes: handles of derived types, interning, lifetimes.
 * 
 * - Every derived type sits in mpi_type_slots at the index of its handle and in one bucket of the
 *   interning table, from table_add until its last ref goes.
 * - Indices of freed types wait in a queue and are used again only when QUARANTINE others have been
 *   freed after them, so that a stale handle is noticed rather than naming a new type.
 * - A derived type and its arguments are one allocation; the plan is another. */
#include <assert.h>
#include <string.h>

#include "base/array.h"
#include "base/hostile.h"
#include "base/mem.h"
#include "mpi/datatype/datatype_internal.h"

enum { QUARANTINE = 1024, FIRST_BUCKETS = 64 };

static struct {
    struct mpi_type **buckets;
    uint32_t nbuckets; /* power of two, or 0 */
    uint32_t ntypes;
    uint32_t slots_capacity; /* 0: mpi_type_slots is still the initial array */
    uint32_t *freed;         /* ring of freed indices */
    uint32_t freed_capacity; /* power of two, or 0 */
    uint32_t freed_first, freed_count;
} table;

/* Hash of a word sequence: multiply and fold. */
static uint64_t mix(uint64_t h, uint64_t x)
{
    uint64_t word = h ^ x ^ 0x9e3779b97f4a7c15u;
    unsigned __int128 product = (unsigned __int128)word * 0xd6e8feb86659fd93u;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t key_hash(const struct type_key *key)
{
    uint64_t h = mix((uint64_t)key->kind, (uint64_t)key->ntypes);
    for (int l = 0; l < key->nlists; l++) {
        h = mix(h, (uint64_t)key->list[l].kind);
        for (MPI_Count i = 0; i < key->list[l].n; i++)
            h = mix(h, (uint64_t)key->list[l].at[i]);
    }
    for (MPI_Count i = 0; i < key->ntypes; i++)
        h = mix(h, (uint32_t)key->types[i]->handle);
    return h;
}

/* Lengths of the key's lists, summed by kind. */
static void key_lengths(const struct type_key *key, MPI_Count n[TYPE_LIST_KINDS])
{
    memset(n, 0, TYPE_LIST_KINDS * sizeof *n);
    for (int l = 0; l < key->nlists; l++)
        n[key->list[l].kind] += key->list[l].n;
}

static MPI_Count argument(const struct mpi_type *t, enum type_list_kind kind, MPI_Count i)
{
    return kind == TYPE_LIST_INTS    ? t->ints[i]
           : kind == TYPE_LIST_AINTS ? t->aints[i]
                                     : t->counts[i];
}

static bool lists_match(const struct type_key *key, const struct mpi_type *t)
{
    MPI_Count at[TYPE_LIST_KINDS] = {0};
    for (int l = 0; l < key->nlists; l++) {
        const struct type_list *list = &key->list[l];
        for (MPI_Count i = 0; i < list->n; i++)
            if (list->at[i] != argument(t, list->kind, at[list->kind]++))
                return false;
    }
    return true;
}

static bool key_matches(const struct type_key *key, const struct mpi_type *t)
{
    MPI_Count n[TYPE_LIST_KINDS];
    key_lengths(key, n);
    if (key->kind != t->kind || n[TYPE_LIST_INTS] != t->nints || n[TYPE_LIST_AINTS] != t->naints ||
        n[TYPE_LIST_COUNTS] != t->ncounts || key->ntypes != t->ntypes)
        return false;
    for (MPI_Count i = 0; i < key->ntypes; i++)
        if (key->types[i] != t->types[i])
            return false;
    return lists_match(key, t);
}

static bool sharing_stopped;

void mpi_type_stop_sharing(void)
{
    sharing_stopped = true;
}

struct mpi_type *table_find(const struct type_key *key)
{
    if (!table.nbuckets || sharing_stopped)
        return NULL;
    uint64_t hash = key_hash(key);
    struct mpi_type *t = table.buckets[hash & (table.nbuckets - 1)];
    while (t && (t->hash != hash || !key_matches(key, t)))
        t = t->hash_next;
    return t;
}

static void bucket_push(struct mpi_type *t)
{
    struct mpi_type **bucket = &table.buckets[t->hash & (table.nbuckets - 1)];
    t->hash_next = *bucket;
    *bucket = t;
}

static void grow_buckets(void)
{
    struct mpi_type **old = table.buckets;
    uint32_t nold = table.nbuckets;
    table.nbuckets = nold ? 2 * nold : FIRST_BUCKETS;
    table.buckets = mem_zalloc(table.nbuckets * sizeof(struct mpi_type *));
    for (uint32_t i = 0; i < nold; i++) {
        for (struct mpi_type *t = old[i], *next; t; t = next) {
            next = t->hash_next;
            bucket_push(t);
        }
    }
    mem_free(old);
}

static void bucket_remove(struct mpi_type *t)
{
    struct mpi_type **at = &table.buckets[t->hash & (table.nbuckets - 1)];
    while (*at != t)
        at = &(*at)->hash_next;
    *at = t->hash_next;
}

static void grow_slots(void)
{
    uint32_t capacity = table.slots_capacity ? 2 * table.slots_capacity : 64;
    struct mpi_type **slots = mem_alloc(capacity * sizeof(struct mpi_type *));
    memcpy(slots, mpi_type_slots, mpi_type_nslots * sizeof(struct mpi_type *));
    if (table.slots_capacity)
        mem_free(mpi_type_slots);
    mpi_type_slots = slots;
    table.slots_capacity = capacity;
}

/* An index for a new type; false if all are in use. */
static bool take_index(uint32_t *out)
{
    bool full = mpi_type_nslots > MPI_TYPE_INDEX_MASK;
    if (table.freed_count > (full ? 0 : QUARANTINE)) {
        *out = table.freed[table.freed_first];
        table.freed_first = (table.freed_first + 1) & (table.freed_capacity - 1);
        table.freed_count--;
        return true;
    }
    if (full)
        return false;
    if (mpi_type_nslots >= table.slots_capacity)
        grow_slots();
    *out = mpi_type_nslots++;
    return true;
}

static void give_index(uint32_t index)
{
    ARRAY_RING_RESERVE(table.freed, table.freed_capacity, table.freed_first, table.freed_count, 64);
    uint32_t last = (table.freed_first + table.freed_count) & (table.freed_capacity - 1);
    table.freed[last] = index;
    table.freed_count++;
}

/* The key's lists into the three arrays of the type. */
static void copy_lists(const struct type_key *key, MPI_Aint *aints, MPI_Count *counts, int *ints)
{
    for (int l = 0; l < key->nlists; l++) {
        const struct type_list *list = &key->list[l];
        for (MPI_Count i = 0; i < list->n; i++) {
            if (list->kind == TYPE_LIST_INTS)
                *ints++ = (int)list->at[i];
            else if (list->kind == TYPE_LIST_AINTS)
                *aints++ = list->at[i];
            else
                *counts++ = list->at[i];
        }
    }
}

/* Copy the key behind the type: aints, counts, types, then ints, by falling alignment. */
static struct mpi_type *alloc_with_key(const struct type_key *key)
{
    MPI_Count n[TYPE_LIST_KINDS];
    key_lengths(key, n);
    size_t wide = (size_t)(n[TYPE_LIST_AINTS] + n[TYPE_LIST_COUNTS]) * sizeof(MPI_Count);
    size_t types_bytes = (size_t)key->ntypes * sizeof(struct mpi_type *);
    size_t ints_bytes = (size_t)n[TYPE_LIST_INTS] * sizeof(int);
    struct mpi_type *t = mem_alloc(sizeof *t + wide + types_bytes + ints_bytes);
    MPI_Aint *aints = (MPI_Aint *)(t + 1);
    MPI_Count *counts = aints + n[TYPE_LIST_AINTS];
    struct mpi_type **types = (struct mpi_type **)(counts + n[TYPE_LIST_COUNTS]);
    int *ints = (int *)(types + key->ntypes);
    *t = (struct mpi_type){.kind = (uint8_t)key->kind,
                           .refs = 1,
                           .name = "",
                           .nints = n[TYPE_LIST_INTS],
                           .naints = n[TYPE_LIST_AINTS],
                           .ncounts = n[TYPE_LIST_COUNTS],
                           .ntypes = key->ntypes,
                           .ints = ints,
                           .aints = aints,
                           .counts = counts,
                           .types = types};
    copy_lists(key, aints, counts, ints);
    for (MPI_Count i = 0; i < key->ntypes; i++) {
        types[i] = key->types[i];
        mpi_type_ref(types[i]);
    }
    return t;
}

struct mpi_type *table_add(const struct type_key *key)
{
    uint32_t index;
    if (!take_index(&index))
        return NULL;
    if (table.ntypes >= table.nbuckets)
        grow_buckets();
    struct mpi_type *t = alloc_with_key(key);
    t->hash = key_hash(key);
    t->handle = (MPI_Datatype)(MPI_TYPE_CLASS_DIRECT | index);
    bucket_push(t);
    mpi_type_slots[index] = t;
    table.ntypes++;
    return t;
}

static void set_name(struct mpi_type *t, const char *name, bool owned)
{
    if (t->name_owned)
        mem_free((void *)(uintptr_t)t->name);
    t->name = name;
    t->name_owned = owned;
}

void mpi_type_rename(struct mpi_type *t, const char *name)
{
    size_t n = strnlen(name, MPI_MAX_OBJECT_NAME - 1);
    char *copy = mem_alloc(n + 1);
    memcpy(copy, name, n);
    copy[n] = '\0';
    set_name(t, copy, true);
}

static void destroy(struct mpi_type *t)
{
    uint32_t index = (uint32_t)t->handle & MPI_TYPE_INDEX_MASK;
    bucket_remove(t);
    mpi_type_slots[index] = NULL;
    give_index(index);
    table.ntypes--;
    if (!t->ntypes || t->plan != t->types[0]->plan)
        plan_destroy((struct type_plan *)(uintptr_t)t->plan);
    for (MPI_Count i = 0; i < t->ntypes; i++)
        mpi_type_unref(t->types[i]);
    set_name(t, "", false);
    mem_free(t);
}

void mpi_type_ref(struct mpi_type *t)
{
    assert_hot(t->builtin || t->refs > 0);
    if (!t->builtin)
        t->refs++;
}

void mpi_type_unref(struct mpi_type *t)
{
    if (t->builtin)
        return;
    assert(t->refs > 0);
    if (--t->refs == 0)
        destroy(t);
}

MPI_Datatype mpi_type_publish(struct mpi_type *t)
{
    if (t->builtin)
        return t->handle;
    if (t->handles++ == 0) {
        t->committed = 0;
        set_name(t, "", false);
    }
    if (t->kind == MPI_COMBINER_DUP && t->types[0]->committed)
        t->committed = 1;
    return t->handle;
}

void mpi_type_retract(struct mpi_type *t)
{
    assert(!t->builtin && t->handles > 0);
    t->handles--;
    mpi_type_unref(t);
}

void mpi_type_set_committed(struct mpi_type *t)
{
    t->committed = 1;
}
