/*
 * group_memo.c - a direct-mapped table of MEMO_SLOTS operations; a new one evicts the old one of
 * its slot. It keeps at most MEMO_SLOTS groups alive.
 */
#include "mpi/comm/group_memo.h"

#include <string.h>

#include "base/hostile.h"
#include "base/mem.h"

#define MEMO_SLOTS HOSTILE(1, 64)
#define MEMO_ARGS_MAX 4096

struct memo {
    enum group_memo_op op;
    uint32_t n;
    uint64_t a, b; /* serial numbers; 0: none */
    int *args;
    struct mpi_group *result;
    int value;
};

static struct memo memos[MEMO_SLOTS];

static uint64_t serial(const struct mpi_group *g)
{
    return g ? g->serial : 0;
}

static struct memo *slot_of(const struct group_memo_key *k)
{
    uint64_t h = (serial(k->a) * 31 + serial(k->b)) * 31 + (uint64_t)k->op;

    for (uint32_t i = 0; i < k->n; i++)
        h = (h ^ (uint32_t)k->args[i]) * 0x9e3779b97f4a7c15u;
    h *= 0x9e3779b97f4a7c15u;
    return &memos[(h >> 58) % MEMO_SLOTS];
}

int group_memo_find(const struct group_memo_key *k, struct mpi_group **result, int *value)
{
    struct memo *m;

    if (k->n > MEMO_ARGS_MAX)
        return 0;
    m = slot_of(k);
    if (m->op != k->op || m->n != k->n || m->a != serial(k->a) || m->b != serial(k->b))
        return 0;
    if (k->n && memcmp(m->args, k->args, k->n * sizeof *k->args) != 0)
        return 0;
    if (result)
        *result = mpi_group_ref(m->result);
    if (value)
        *value = m->value;
    return 1;
}

void group_memo_store(const struct group_memo_key *k, struct mpi_group *result, int value)
{
    struct memo *m;

    if (k->n > MEMO_ARGS_MAX)
        return;
    m = slot_of(k);
    mem_free(m->args);
    if (result)
        mpi_group_ref(result);
    if (m->result)
        mpi_group_unref(m->result);
    *m = (struct memo){k->op, k->n, serial(k->a), serial(k->b), NULL, result, value};
    if (k->n) {
        m->args = mem_alloc(k->n * sizeof *k->args);
        memcpy(m->args, k->args, k->n * sizeof *k->args);
    }
}
