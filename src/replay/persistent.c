/*
 * persistent.c - persistent receives with wildcards in deterministic mode: every start gets the
 * message that it had got in the recording.
 *
 * A persistent request cannot change its source. So there is one for each source and tag, made when
 * a start first needs it, and the number of the request leads to the one that was started last.
 */
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "replay/replay.h"

/* A receive from a source alone. */
struct named {
    int64_t source, tag;
    MPI_Request handle;
};

struct replay_persistent {
    struct replay_persistent *next;
    int64_t number; /* of the request */
    int64_t comm;
    const struct replay_fn *fn; /* that made it, with these words */
    uint64_t words[REPLAY_ARGS];
    MPI_Request wild;
    struct named *items;
    size_t count;
    size_t current; /* the item that was started last, + 1; 0: the receive with wildcards */
};

void replay_persistent_add(struct replay_rank *k, const struct replay_fn *fn)
{
    const struct replay_request *r = replay_request_find(k, replay_arg(k, fn->request)->number);
    if (!r || fn->source < 0 || !replay_is_wild(k, fn))
        return;
    struct replay_persistent *p = mem_zalloc(sizeof *p);
    *p = (struct replay_persistent){.next = k->persistent,
                                    .number = r->number,
                                    .comm = r->comm,
                                    .fn = fn,
                                    .wild = r->handle};
    memcpy(p->words, k->words, sizeof p->words);
    k->persistent = p;
}

static size_t find_named(const struct replay_persistent *p, int64_t source, int64_t tag)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->items[i].source == source && p->items[i].tag == tag)
            return i + 1;
    return 0;
}

/* The receive from this source, + 1; a new one if there is none. */
static size_t get_named(struct replay_rank *k, struct replay_persistent *p, int64_t source,
                        int64_t tag)
{
    size_t found = find_named(p, source, tag);
    if (found)
        return found;
    MPI_Request made = MPI_REQUEST_NULL;
    memcpy(k->words, p->words, sizeof k->words);
    replay_set_word(k, p->fn, p->fn->source, source);
    replay_set_word(k, p->fn, p->fn->tag, tag);
    replay_set_word(k, p->fn, p->fn->request, (int64_t)(uintptr_t)&made);
    replay_check(k, p->fn->invoke(k->words));
    ARRAY_EXTEND(p->items, p->count);
    p->items[p->count++] = (struct named){source, tag, made};
    return p->count;
}

static void start(struct replay_rank *k, int64_t number)
{
    struct replay_persistent *p = k->persistent;
    struct replay_request *r = replay_request_find(k, number);
    struct trace_status was;
    if (!r || !r->receives)
        return;
    int is_known = whatif_got_take(&k->got, k->ahead, number, &was) && was.source >= 0;
    while (p && p->number != number)
        p = p->next;
    if (!p)
        return;
    p->current = is_known ? get_named(k, p, replay_comm_rank(k, p->comm, was.source), was.tag) : 0;
    r->handle = p->current ? p->items[p->current - 1].handle : p->wild;
}

void replay_persistent_start(struct replay_rank *k, const struct replay_fn *fn)
{
    const struct trace_value *v = replay_arg(k, fn->request);
    if (!fn->starts_all)
        start(k, v->number);
    for (uint64_t i = 0; fn->starts_all && i < v->count; i++)
        start(k, v->items[i]);
}

static void destroy(struct replay_persistent *p)
{
    mem_free(p->items);
    mem_free(p);
}

void replay_persistent_forget(struct replay_rank *k, int64_t number)
{
    struct replay_persistent **at = &k->persistent, *p;
    while ((p = *at) && p->number != number)
        at = &p->next;
    if (!p)
        return;
    *at = p->next;
    if (p->current)
        replay_check(k, PMPI_Request_free(&p->wild));
    for (size_t i = 0; i < p->count; i++)
        if (i + 1 != p->current)
            replay_check(k, PMPI_Request_free(&p->items[i].handle));
    destroy(p);
}

void replay_persistent_free(struct replay_rank *k)
{
    for (struct replay_persistent *p; (p = k->persistent);) {
        k->persistent = p->next;
        destroy(p);
    }
}
