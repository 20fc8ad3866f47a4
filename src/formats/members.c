/*
 * members.c - converts ranks of communicators to and from ranks of MPI_COMM_WORLD (see members.h).
 */
#include <string.h>

#include "base/mem.h"
#include "formats/members.h"

#define SECOND_SIDE \
    (UINT64_C(1) << 40) /* added to keys of the other group of an intercommunicator */

void members_init(struct members *m, const struct trace *t)
{
    m->trace = t;
    m->inverse = mem_zalloc((t->definitions.comm_count + 1) * sizeof *m->inverse);
}

void members_fini(struct members *m)
{
    for (size_t i = 0; i < m->trace->definitions.comm_count; i++)
        map_fini(&m->inverse[i]);
    mem_free(m->inverse);
}

/* Whether the peers of `self` are the first group of the definition. In an intracommunicator they
 * are. */
static int peers_are_first(const struct trace_comm *c, const struct trace_local_item *item,
                           uint64_t self)
{
    if (c->kind != TRACE_COMM_INTER)
        return 1;
    return !(item->rank >= 0 && (uint64_t)item->rank < c->size &&
             c->ranks[item->rank] == (int64_t)self);
}

int64_t members_world(const struct members *m, const struct trace_local_item *item, uint64_t self,
                      int64_t peer)
{
    if (!item || peer < 0)
        return -1;
    if (item->identity == TRACE_COMM_WORLD)
        return (uint64_t)peer < m->trace->header.ranks ? peer : -1;
    if (item->identity == TRACE_COMM_SELF(self))
        return peer == 0 ? (int64_t)self : -1;
    const struct trace_comm *c = trace_definitions_comm(&m->trace->definitions, item->identity);
    if (!c)
        return -1;
    int first = peers_are_first(c, item, self);
    return (uint64_t)peer < (first ? c->size : c->other_size) ? (first ? c->ranks : c->others)[peer]
                                                              : -1;
}

static void fill(struct map *map, const int64_t *ranks, uint64_t count, uint64_t side)
{
    for (uint64_t i = 0; i < count; i++)
        *map_insert(map, (uint64_t)ranks[i] + side, NULL) = i + 1;
}

int64_t members_peer(struct members *m, const struct trace_local_item *item, uint64_t self,
                     int64_t world)
{
    if (!item || world < 0)
        return -1;
    if (item->identity == TRACE_COMM_WORLD)
        return world;
    if (item->identity == TRACE_COMM_SELF(self))
        return 0;
    const struct trace_comm *c = trace_definitions_comm(&m->trace->definitions, item->identity);
    if (!c)
        return -1;
    struct map *map = &m->inverse[c - m->trace->definitions.comms];
    if (map_count(map) == 0) {
        map_init(map);
        fill(map, c->ranks, c->size, 0);
        fill(map, c->others, c->other_size, SECOND_SIDE);
    }
    const uint64_t *found = map_find(map, (uint64_t)world +
                                              (peers_are_first(c, item, self) ? 0 : SECOND_SIDE));
    return found ? (int64_t)*found - 1 : -1;
}

uint64_t members_count(const struct members *m, const struct trace_local_item *item)
{
    (void)m;
    return !item ? 0 : item->other_size ? item->other_size : item->size;
}
