/*
 * adapters.c - queues at adapters (see adapters.h).
 *
 * Speed: usually all messages that were submitted since the last step are due in this one, and few
 * of them at the same adapter. So they are kept in an array, in the order of submission, and need
 * no sorting. Those that are due later go to a heap, once.
 */
#include "net/adapters.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/heap.h"
#include "base/hostile.h"
#include "base/mem.h"

#define AHEAD 8   /* entries to prefetch ahead */
#define LEFT 256u /* in engine_msg.flags: it has left its sender's adapter */

enum stage { LEAVES = 0, REACHES, STAGES };

struct adapter {
    vtime free[STAGES];   /* when it has done with what it has sent, and received */
    uint64_t sent;        /* messages so far */
    uint32_t waiting;     /* submitted here, and not sent yet */
    uint32_t due[STAGES]; /* while a step is handled: the last entry of the chain + 1 */
};

/* A message at one of its two adapters. */
struct entry {
    struct engine_msg *msg;
    vtime event;    /* when it is due */
    uint64_t order; /* as in engine_call; when it reaches its receiver: adapter.sent */
    uint64_t tie;   /* as in engine_call */
    uint64_t bytes;
    uint64_t cookie;
    uint32_t source; /* rank that sends it; when it reaches its receiver: the other adapter */
    uint32_t number; /* counts submissions here */
    uint32_t adapter;
    uint32_t next; /* in the chain of the adapter */
    uint8_t stage; /* enum stage */
};

struct later {
    vtime event;
    struct entry *entry;
};
HEAP_STRUCT(later_heap, struct later);

struct adapters {
    struct net *net;
    struct engine *engine;
    vtime gap;
    uint64_t free_bytes;
    vtime early[2];      /* L - l, within a node and between nodes: see adapters.h */
    int lone;            /* each rank is alone on its node */
    size_t bytes;        /* of all adapters */
    struct adapter *all; /* of nodes, then of ranks to the memory of their node */
    vtime now;           /* the last event that was handled */
    uint64_t notices;
    uint32_t number;
    struct entry *fresh; /* submitted since the last step */
    uint32_t fresh_len, fresh_cap;
    vtime fresh_first; /* the first event of them */
    struct later_heap later;
    struct entry *due; /* in this step */
    uint32_t due_len, due_cap;
    struct entry **chain; /* of one adapter */
    uint32_t chain_cap;
    struct pool pool;     /* entries in the heap */
    uint32_t *first_rank; /* PLATFORM_LIST: of each node */
};

static inline int later_before(const struct later *a, const struct later *b)
{
    return a->event < b->event;
}
HEAP_FUNCTIONS(later_heap, struct later, 4, 64, later_before, HEAP_UNTRACKED);

/* ---- which adapter ---- */

static inline uint32_t adapter_of(const struct net *net, uint32_t rank, int within)
{
    return within ? net->nodes.count + rank : net_node(net, rank);
}

static inline int is_within(const struct net *net, const struct engine_msg *m)
{
    return net_node(net, m->src) == net_node(net, m->dst);
}

static uint32_t first_rank(const struct adapters *s, uint32_t adapter)
{
    const struct platform_nodes *n = &s->net->nodes;

    if (adapter >= n->count)
        return adapter - n->count;
    if (n->placement == PLATFORM_BLOCK)
        return adapter * n->per_node;
    return n->placement == PLATFORM_CYCLIC ? adapter : s->first_rank[adapter];
}

/* The process where the message is due next. */
static uint32_t place(void *owner, const struct engine_msg *m)
{
    const struct adapters *s = owner;
    uint32_t rank = m->flags & LEFT ? m->dst : m->src;

    return rank_map_proc(engine_map(s->engine),
                         first_rank(s, adapter_of(s->net, rank, is_within(s->net, m))));
}

/* ---- submitting ---- */

static struct entry *new_entry(struct adapters *s, vtime event)
{
    ARRAY_RESERVE(s->fresh, s->fresh_cap, s->fresh_len + 1, HOSTILE(1, 1024));
    if (event < s->fresh_first)
        s->fresh_first = event;
    return &s->fresh[s->fresh_len++];
}

static void submit(void *owner, struct engine_msg *m, const struct engine_call *call)
{
    struct adapters *s = owner;
    int has_left = (m->flags & LEFT) != 0;

    s->notices += call->cookie != 0;
    *new_entry(s, m->arrival) = (struct entry){.msg = m,
                                               .event = m->arrival,
                                               .order = call->order,
                                               .tie = has_left ? 0 : call->tie,
                                               .bytes = call->load,
                                               .cookie = call->cookie,
                                               .source = has_left ? (uint32_t)call->tie : m->src,
                                               .number = s->number++,
                                               .adapter = adapter_of(s->net,
                                                                     has_left ? m->dst : m->src,
                                                                     is_within(s->net, m)),
                                               .stage = has_left ? REACHES : LEAVES};
}

static vtime next(void *owner)
{
    const struct adapters *s = owner;

    return s->later.len && s->later.at[0].event < s->fresh_first ? s->later.at[0].event
                                                                 : s->fresh_first;
}

static uint64_t notices(void *owner)
{
    return ((const struct adapters *)owner)->notices;
}

/* ---- one message at one adapter ---- */

static inline vtime max(vtime a, vtime b)
{
    return a > b ? a : b;
}

static inline vtime min(vtime a, vtime b)
{
    return a < b ? a : b;
}

static inline const struct net_piece *piece_of(const struct net *net, int within, uint64_t bytes)
{
    return net_curve_at(within ? &net->intra : &net->inter, bytes);
}

/* How long the message takes an adapter. */
static inline vtime service(const struct adapters *s, const struct net_piece *p, uint64_t bytes)
{
    return bytes > s->free_bytes ? vtime_mul_q(bytes - s->free_bytes, p->ps_per_byte) : 0;
}

/* The message begins to leave the adapter as soon as that is free, but not before t: passes it on
 * to the other adapter. Returns when its last byte has left. */
static vtime leave(struct adapters *s, struct engine_msg *m, uint32_t adapter, int within,
                   uint64_t bytes, vtime t)
{
    struct adapter *a = &s->all[adapter];
    vtime from = max(t, a->free[LEAVES]);
    vtime left = vtime_add(from, service(s, piece_of(s->net, within, bytes), bytes));
    struct engine_call call = {.load = bytes, .order = ++a->sent, .tie = adapter};

    a->free[LEAVES] = vtime_add(left, within ? 0 : s->gap);
    m->flags |= LEFT;
    m->arrival = vtime_add(from, s->early[within]);
    engine_submit(s->engine, m, &call);
    return left;
}

static void handle_leaving(struct adapters *s, struct entry *e)
{
    vtime left = leave(s, e->msg, e->adapter, is_within(s->net, e->msg), e->bytes, e->event);

    s->all[e->adapter].waiting--;
    if (!e->cookie)
        return;
    s->notices--;
    engine_notify(s->engine, e->source, e->cookie, left);
}

/* How long the adapter is busy after a message that has come in. */
static vtime pause_after(const struct adapters *s, int within, const struct net_piece *p,
                         uint64_t bytes)
{
    vtime cost = vtime_add(p->recv, vtime_mul_q(bytes, p->recv_per_byte));

    if (within)
        return 0;
    return s->lone ? max(s->gap, cost) : s->gap;
}

static void handle_reaching(struct adapters *s, struct entry *e)
{
    struct adapter *a = &s->all[e->adapter];
    int within = e->adapter >= s->net->nodes.count;
    const struct net_piece *p = piece_of(s->net, within, e->bytes);
    vtime first = vtime_add(e->event - s->early[within], p->latency);

    e->msg->arrival = vtime_add(max(first, a->free[REACHES]), service(s, p, e->bytes));
    a->free[REACHES] = vtime_add(e->msg->arrival, pause_after(s, within, p, e->bytes));
    e->msg->flags &= ~(uint64_t)LEFT;
    engine_emerge(s->engine, e->msg);
}

/* ---- a step ---- */

/* The order at one adapter. Messages of a program that it sends at the same time keep their order,
 * whoever gets them, and go before those that have none, whether they may leave at once or not;
 * these are told apart by their receivers and ties. */
static int is_before(const struct entry *a, const struct entry *b)
{
    if (a->event != b->event)
        return a->event < b->event;
    if (a->source != b->source)
        return a->source < b->source;
    if (a->order != b->order)
        return a->order - 1 < b->order - 1; /* 0: last */
    if (!a->order && a->msg->dst != b->msg->dst)
        return a->msg->dst < b->msg->dst;
    if (!a->order && a->tie != b->tie)
        return a->tie < b->tie;
    return (int32_t)(a->number - b->number) < 0;
}

static int compare(const void *a, const void *b)
{
    return is_before(*(struct entry *const *)a, *(struct entry *const *)b) ? -1 : 1;
}

static inline void handle(struct adapters *s, struct entry *e)
{
    if (e->stage == LEAVES)
        handle_leaving(s, e);
    else
        handle_reaching(s, e);
}

/* Several messages at one adapter; `last` as in struct adapter. */
static void handle_chain(struct adapters *s, uint32_t last)
{
    uint32_t n = 0;

    for (uint32_t i = last; i; i = s->due[i - 1].next, n++) {
        ARRAY_RESERVE(s->chain, s->chain_cap, n + 1, 64);
        s->chain[n] = &s->due[i - 1];
    }
    qsort(s->chain, n, sizeof s->chain[0], compare);
    for (uint32_t i = 0; i < n; i++)
        handle(s, s->chain[i]);
}

static void put_off(struct adapters *s, const struct entry *e)
{
    struct entry *kept = pool_alloc(&s->pool, sizeof *kept);

    *kept = *e;
    later_heap_push(&s->later, (struct later){e->event, kept});
}

/* Keeps what is due before `end`. */
static void keep_due(struct adapters *s, vtime end)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->due_len; i++) {
        if (s->due[i].event >= end)
            put_off(s, &s->due[i]);
        else if (n++ < i)
            s->due[n - 1] = s->due[i];
    }
    s->due_len = n;
}

/* Moves what is due before `end` to s->due, and the rest of what is fresh to the heap. */
static void collect(struct adapters *s, vtime end)
{
    struct entry *fresh = s->fresh;
    uint32_t cap = s->fresh_cap;

    s->fresh = s->due;
    s->fresh_cap = s->due_cap;
    s->due = fresh;
    s->due_cap = cap;
    s->due_len = s->fresh_len;
    s->fresh_len = 0;
    s->fresh_first = VTIME_NEVER;
    keep_due(s, end);
    while (s->later.len && s->later.at[0].event < end) {
        struct entry *e = later_heap_pop(&s->later).entry;

        ARRAY_RESERVE(s->due, s->due_cap, s->due_len + 1, HOSTILE(1, 1024));
        s->due[s->due_len++] = *e;
        pool_free(&s->pool, e, sizeof *e);
    }
}

static vtime leaving_time(const struct adapters *s, const struct entry *e)
{
    return service(s, piece_of(s->net, is_within(s->net, e->msg), e->bytes), e->bytes);
}

/* A sender that gets a notice may submit something at that time: later events must wait. Those at
 * `first` need not. */
static vtime find_notice(const struct adapters *s, vtime first, vtime end)
{
    for (uint32_t i = 0; i < s->due_len; i++) {
        const struct entry *e = &s->due[i];

        if (e->stage == LEAVES && e->cookie)
            end = min(end, max(first + 1, vtime_add(e->event, leaving_time(s, e))));
    }
    return end;
}

/* What is due at the same adapter in the same stage forms a chain. */
static void chain_due(struct adapters *s)
{
    for (uint32_t i = 0; i < s->due_len; i++) {
        struct entry *e = &s->due[i];
        uint32_t *last = &s->all[e->adapter].due[e->stage];

        e->next = *last;
        *last = i + 1;
    }
}

static void handle_due(struct adapters *s)
{
    for (uint32_t i = 0; i < s->due_len; i++) {
        struct entry *e = &s->due[i];
        uint32_t *last = &s->all[e->adapter].due[e->stage], chain = *last;

        if (i + AHEAD < s->due_len)
            __builtin_prefetch(s->due[i + AHEAD].msg, 1);
        if (e->event > s->now)
            s->now = e->event;
        if (!chain)
            continue; /* it was handled with an earlier entry of its chain */
        *last = 0;
        if (s->due[chain - 1].next)
            handle_chain(s, chain);
        else
            handle(s, e);
    }
}

static vtime advance(void *owner, vtime first, vtime limit)
{
    struct adapters *s = owner;
    vtime end = vtime_add(first, max(s->net->lookahead, 1));

    s->now = max(s->now, first); /* here or at the adapters of another process */
    if (limit < end)
        end = max(limit, first) + 1;
    collect(s, end);
    if (s->notices)
        keep_due(s, find_notice(s, first, end));
    chain_due(s);
    handle_due(s);
    return s->now;
}

/* ---- the device ---- */

/* Is there nothing that could leave before this message? */
static int may_leave(const struct adapters *s, const struct adapter *a,
                     const struct device_send *how)
{
    return s->lone && how->alone && how->until != DEVICE_LEFT && !a->waiting;
}

static struct device_sent send(struct device *d, struct engine_msg *m,
                               const struct device_send *how)
{
    struct net *net = d->owner;
    struct adapters *s = net->state;
    int within = is_within(net, m), waits = how->cookie && how->until == DEVICE_LEFT;
    uint32_t adapter = adapter_of(net, m->src, within);
    struct adapter *a = &s->all[adapter];

    if ((within && s->lone) || (how->bytes == 0 && !how->order))
        return device_formula_send(d, m, how);
    if (may_leave(s, a, how)) {
        leave(s, m, adapter, within, how->bytes, how->t);
    } else {
        struct engine_call call = {how->bytes, waits ? how->cookie : 0, how->order, how->tie};

        a->waiting += s->lone;
        m->arrival = how->t;
        engine_submit(d->engine, m, &call);
    }
    return (struct device_sent){0, waits ? DEVICE_BY_NOTICE : how->t};
}

const struct device_ops device_adapters_ops = {.name = "adapters", .send = send};

/* ---- the medium ---- */

/* With a list of nodes: the first rank of each that has one. */
static void find_first_ranks(struct adapters *s)
{
    const struct platform_nodes *n = &s->net->nodes;

    if (n->placement != PLATFORM_LIST)
        return;
    s->first_rank = mem_zalloc(n->count * sizeof s->first_rank[0]);
    for (uint32_t i = n->map_len; i-- > 0;)
        s->first_rank[n->map[i]] = i;
}

int adapters_init(struct net *net, vtime gap, uint64_t free_bytes, struct err *err)
{
    struct adapters *s = mem_zalloc(sizeof *s);

    s->bytes = ((size_t)net->nodes.count + net->ranks) * sizeof(struct adapter);
    s->all = mem_map(s->bytes, 1); /* touched only where ranks of this process communicate */
    if (!s->all) {
        mem_free(s);
        return err_set(err, ERR_MEMORY, "cannot reserve memory for %u ranks", net->ranks);
    }
    s->net = net;
    s->gap = gap;
    s->free_bytes = free_bytes;
    s->early[0] = net_curve_least_latency(&net->inter) - net->lookahead;
    s->early[1] = net_curve_least_latency(&net->intra) - net->lookahead;
    s->lone = net_has_lone_ranks(net);
    s->fresh_first = VTIME_NEVER;
    pool_init(&s->pool, "messages at adapters");
    find_first_ranks(s);
    net->state = s;
    return 0;
}

void adapters_fini(struct net *net)
{
    struct adapters *s = net->state;

    mem_unmap(s->all, s->bytes);
    mem_free(s->fresh);
    mem_free(s->due);
    mem_free(s->chain);
    mem_free(s->later.at);
    mem_free(s->first_rank);
    pool_fini(&s->pool);
    mem_free(s);
}

void adapters_medium(struct net *net, struct engine *engine, struct engine_medium *out)
{
    struct adapters *s = net->state;

    s->engine = engine;
    *out = (struct engine_medium){.owner = s,
                                  .submit = submit,
                                  .next = next,
                                  .notices = notices,
                                  .advance = advance,
                                  .place = place};
}
