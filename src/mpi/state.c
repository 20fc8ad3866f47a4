/*
 * state.c - state that only some ranks keep (see state.h). The array of pointers has an even
 * capacity, since the pool allocates multiples of 16 bytes.
 */
#include "mpi/state.h"

#include <string.h>

#include "base/mem.h"

static size_t kept_bytes(uint32_t have)
{
    return (((size_t)__builtin_popcount(have) + 1) & ~(size_t)1) * sizeof(void *);
}

static uint32_t bit(enum mpi_state kind)
{
    return UINT32_C(1) << kind;
}

/* Copies the pointers before and after the kind to a new array, with or without an entry for it. */
static void move(struct mpi_ext *x, enum mpi_state kind, uint32_t have)
{
    uint32_t before = (uint32_t)__builtin_popcount(x->have & (bit(kind) - 1));
    uint32_t behind = (uint32_t)__builtin_popcount(x->have) - before - (x->have >> kind & 1);
    void **kept = have ? pool_alloc(&mpi_world.pool, kept_bytes(have)) : NULL;

    if (before)
        memcpy(kept, x->kept, before * sizeof *kept);
    if (behind)
        memcpy(kept + before + (have >> kind & 1), x->kept + before + (x->have >> kind & 1),
               behind * sizeof *kept);
    if (x->have)
        pool_free(&mpi_world.pool, x->kept, kept_bytes(x->have));
    x->kept = kept;
    x->have = have;
}

void mpi_state_set(struct mpi_rank *self, enum mpi_state kind, void *state)
{
    struct mpi_ext *x = self->ext;

    if (!state && (!x || !(x->have & bit(kind))))
        return;
    if (!x)
        x = mpi_ext_make(self);
    if (!state)
        move(x, kind, x->have & ~bit(kind));
    else if (!(x->have & bit(kind)))
        move(x, kind, x->have | bit(kind));
    if (state)
        x->kept[__builtin_popcount(x->have & (bit(kind) - 1))] = state;
}

void *mpi_state_make(struct mpi_rank *self, enum mpi_state kind, size_t bytes)
{
    void *state = mpi_state_get(self, kind);

    if (!state) {
        state = mem_zalloc(bytes);
        mpi_state_set(self, kind, state);
    }
    return state;
}

void mpi_state_free(struct mpi_rank *self, enum mpi_state kind)
{
    mem_free(mpi_state_get(self, kind));
    mpi_state_set(self, kind, NULL);
}

/* ---- pairs ---- */

uint64_t *mpi_state_find(const struct mpi_rank *self, enum mpi_state kind, uint64_t key)
{
    return pairs_find(mpi_state_get(self, kind), key);
}

uint64_t *mpi_state_insert(struct mpi_rank *self, enum mpi_state kind, uint64_t key)
{
    struct pairs *p = mpi_state_get(self, kind);
    uint64_t *val = pairs_insert(&p, &mpi_world.pool, key);

    mpi_state_set(self, kind, p);
    return val;
}

void mpi_state_remove(struct mpi_rank *self, enum mpi_state kind, uint64_t key)
{
    struct pairs *p = mpi_state_get(self, kind);

    if (p && pairs_remove(&p, &mpi_world.pool, key))
        mpi_state_set(self, kind, p);
}
