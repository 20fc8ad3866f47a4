/*
 * replay_match.c - messages and receives.
 *
 * MPI keeps messages of one source, destination, communicator and tag in order, so the first one sent is received by the
 * receive that was posted first, of those that received such a message. Which message a receive with wildcards has
 * got is known when it is complete. Until then, receives posted behind it that might have taken the same messages are
 * held back: each rank has them in order of posting.
 */
#include "analysis/replay_internal.h"
#include "base/rng.h"

#define WILD_SEEN 64 /* a receive behind more open wildcards than these is held back anyhow */

/* ---- channels ---- */

static uint64_t hash_of(uint32_t comm, uint32_t from, uint32_t to, int32_t tag)
{
    uint64_t state = (uint64_t)from << 32 | to;
    uint64_t hash = rng_splitmix(&state);
    state = hash ^ ((uint64_t)comm << 32 | (uint32_t)tag);
    return rng_splitmix(&state);
}

static int is_channel(const struct channel *c, uint32_t comm, uint32_t from, uint32_t to,
                      int32_t tag)
{
    return c->comm == comm && c->from == from && c->to == to && c->tag == tag;
}

static struct channel *channel_find(const struct replay *r, uint32_t comm, uint32_t from,
                                    uint32_t to, int32_t tag)
{
    const uint64_t *at = map_find(&r->channels, hash_of(comm, from, to, tag));
    struct channel *c = at ? (struct channel *)(uintptr_t)*at : NULL;
    while (c && !is_channel(c, comm, from, to, tag))
        c = c->chain;
    return c;
}

static struct channel *channel_get(struct replay *r, uint32_t comm, uint32_t from, uint32_t to,
                                   int32_t tag)
{
    uint64_t hash = hash_of(comm, from, to, tag), *at = map_insert(&r->channels, hash, NULL);
    struct channel *first = (struct channel *)(uintptr_t)*at, *c = first;
    while (c && !is_channel(c, comm, from, to, tag))
        c = c->chain;
    if (!c) {
        c = pool_alloc(&r->pool, sizeof *c);
        *c = (struct channel){.chain = first,
                              .hash = hash,
                              .comm = comm,
                              .from = from,
                              .to = to,
                              .tag = tag};
        *at = (uint64_t)(uintptr_t)c;
    }
    return c;
}

/* An empty channel goes: programs may use a tag once. */
static void channel_settle(struct replay *r, struct channel *c)
{
    if (c->first || c->first_receive)
        return;
    uint64_t *at = map_find(&r->channels, c->hash);
    struct channel *first = (struct channel *)(uintptr_t)*at;
    if (first == c && !c->chain) {
        map_remove(&r->channels, c->hash);
    } else if (first == c) {
        *at = (uint64_t)(uintptr_t)c->chain;
    } else {
        while (first->chain != c)
            first = first->chain;
        first->chain = c->chain;
    }
    pool_free(&r->pool, c, sizeof *c);
}

/* ---- pairs ---- */

static struct pair *pair_of(struct replay *r, uint32_t number, uint32_t generation, uint32_t from,
                            uint32_t to)
{
    if (generation != r->pairs.generation)
        number = pairs_find(&r->pairs, from, to);
    return &r->pairs.items[number];
}

/* Since when two ranks are compared: the last message of one to the other, or the last collective of all with all if
 * that was later. */
static void last_sync(const struct lane *a, struct delay_snapshot *a_pair, const struct lane *b,
                      struct delay_snapshot *b_pair, const struct delay_snapshot **a_then,
                      const struct delay_snapshot **b_then)
{
    int is_newest = a_pair && b_pair && a_pair->epoch == a->sums.epoch &&
                    b_pair->epoch == b->sums.epoch;
    int has_world = a->world && b->world && a->sums.epoch == b->sums.epoch;
    *a_then = is_newest || !has_world ? a_pair : a->world;
    *b_then = is_newest || !has_world ? b_pair : b->world;
}

/* ---- a message and its receive ---- */

static void free_receive(struct replay *r, struct receive *v)
{
    if (v->is_matched && v->is_done)
        pool_free(&r->pool, v, sizeof *v);
}

/* The receiver has the message in the call that ends at `leave`. */
static void deliver(struct replay *r, struct lane *l, struct receive *v, int64_t leave)
{
    struct pair *pair = pair_of(r, v->pair, v->generation, (uint32_t)v->source, v->rank);
    pair->time += leave > v->sent ? (double)(leave - v->sent) : 0;
    if (r->watch && r->watch->transfer)
        r->watch->transfer(r->watch->context, (uint32_t)v->source, v->rank, v->bytes, v->sent,
                           leave);
    if (r->watch && r->watch->message)
        r->watch->message(r->watch->context, (uint32_t)v->source, v->rank, v->sent, leave);
    if (l) {
        if (l->ideal < v->ideal)
            l->ideal = v->ideal;
        if (r->has_delays && r->pairs.shift == 0)
            delays_snapshot(&r->delays, &pair->receiver, &l->sums);
    }
}

/* A call waited for a receiver until then, which is known only now: nobody can be compared with anybody. */
static void wait_in_the_past(struct replay *r, struct blocked *b, int64_t until)
{
    struct lane *l = &r->lanes[b->lane];
    replay_count(r, b, ANALYSIS_LATE_RECEIVER, until - b->until);
    if (r->has_delays)
        delays_attribute_unknown(&r->delays, &l->sums, until - b->until);
    if (b->is_current)
        l->waited += until - b->until;
    b->until = until;
}

/* Which message one of the receives of a call has got is known. If it was the last of them, and was held back, the call
 * may have waited for a receiver longer than for any message. */
static void receive_known(struct replay *r, struct blocked *b)
{
    if (--b->receives || b->posted <= b->until || b->posted > b->leave)
        return;
    wait_in_the_past(r, b, b->posted);
}

/* A send begins, and the receive was posted before. */
static void meet_send(struct replay *r, struct lane *sender, const struct send *s,
                      struct receive *v, uint32_t number)
{
    struct lane *home = &r->lanes[s->to];
    v->is_matched = 1;
    v->is_queued = 0;
    v->sent = sender->enter;
    v->bytes = s->bytes;
    v->ideal = sender->ideal;
    v->pair = number;
    v->generation = r->pairs.generation;
    struct blocked *b = v->waiter;
    if (!b) {
        home->in_flight += !v->is_done;
        free_receive(r, v);
        return;
    }
    const struct delay_snapshot *then, *sender_then;
    struct lane *l = &r->lanes[b->lane];
    struct pair *pair = &r->pairs.items[number];
    last_sync(l, pair->receiver, sender, pair->sender, &then, &sender_then);
    replay_wait(r, b, home->in_flight > 0 ? ANALYSIS_WRONG_ORDER : ANALYSIS_LATE_SENDER,
                sender->enter, sender, then, sender_then);
    deliver(r, b->is_current ? l : NULL, v, b->leave);
    receive_known(r, b);
    replay_unblock(r, b);
    v->waiter = NULL;
    free_receive(r, v);
}

/* The sender need not wait any longer. `receiver`: it is posting the receive now. */
static void release_sender(struct replay *r, struct message *m, const struct receive *v,
                           struct lane *receiver, const struct pair *pair)
{
    struct blocked *b = m->sender;
    if (m->request)
        m->request->message = NULL;
    if (!b)
        return;
    if (b->receives) { /* a call that waits for messages, too, waits for these first */
        b->posted = v->posted > b->posted ? v->posted : b->posted;
    } else if (v->posted > b->until && v->posted <= b->leave) {
        const struct delay_snapshot *then = NULL, *receiver_then = NULL;
        if (receiver && b->is_current) {
            last_sync(&r->lanes[b->lane], pair->sender, receiver, pair->receiver, &then,
                      &receiver_then);
            replay_wait(r, b, ANALYSIS_LATE_RECEIVER, v->posted, receiver, then, receiver_then);
        } else {
            wait_in_the_past(r, b, v->posted);
        }
    }
    replay_unblock(r, b);
}

/* A receive meets a message that was sent before. */
static void meet_message(struct replay *r, struct message *m, struct receive *v, struct lane *now)
{
    struct lane *home = &r->lanes[v->rank];
    v->is_matched = 1;
    v->is_queued = 0;
    v->sent = m->sent;
    v->bytes = m->bytes;
    v->ideal = m->ideal;
    v->pair = m->pair;
    v->generation = m->generation;
    struct pair *pair = pair_of(r, m->pair, m->generation, m->from, v->rank);
    release_sender(r, m, v, now, pair);
    pool_free(&r->pool, m, sizeof *m);
    struct blocked *b = v->waiter;
    if (!b) {
        home->in_flight -= v->is_done;
        free_receive(r, v);
        return;
    }
    /* it was held back, and the call that completes it may be over */
    home->in_flight--;
    struct lane *l = &r->lanes[b->lane];
    replay_wait(r, b, ANALYSIS_LATE_SENDER, v->sent, &r->lanes[v->source], NULL, NULL);
    deliver(r, b->is_current ? l : NULL, v, b->leave);
    receive_known(r, b);
    replay_unblock(r, b);
    v->waiter = NULL;
    free_receive(r, v);
}

/* A receive whose source and tag are known. `now`: the lane that posts it at this moment, or NULL. */
static void enter_channel(struct replay *r, struct receive *v, struct lane *now)
{
    struct channel *c = channel_get(r, v->comm, (uint32_t)v->source, v->rank, v->tag);
    struct message *m = c->first;
    if (m) {
        c->first = m->next;
        if (!c->first)
            c->last = NULL;
        meet_message(r, m, v, now);
        channel_settle(r, c);
        return;
    }
    v->is_queued = 1;
    v->next = NULL;
    if (c->last_receive)
        c->last_receive->next = v;
    else
        c->first_receive = v;
    c->last_receive = v;
}

/* Nobody has posted a receive for it yet. */
static void keep_message(struct replay *r, struct lane *l, const struct send *s, struct channel *c,
                         uint32_t number)
{
    struct lane *home = &r->lanes[s->to];
    struct message *m = pool_alloc(&r->pool, sizeof *m);
    *m = (struct message){.from = l->rank,
                          .pair = number,
                          .generation = r->pairs.generation,
                          .sent = l->enter,
                          .bytes = s->bytes,
                          .ideal = l->ideal,
                          .request = s->request};
    if (s->waits)
        m->sender = replay_block(r, l);
    if (s->request)
        s->request->message = m;
    if (home->peeks.is_on && !c->first && home->peeks.comm == s->comm &&
        home->peeks.from == l->rank && home->peeks.tag == s->tag && home->blocked) {
        replay_wait(r, home->blocked, ANALYSIS_LATE_SENDER, l->enter, l, home->world, l->world);
        home->peeks.is_on = 0;
        home->awaiting--;
    }
    if (c->last)
        c->last->next = m;
    else
        c->first = m;
    c->last = m;
    home->in_flight++;
}

/* Generations begin with 1: what was never filled in is of another one. */
static uint32_t pair_to(struct replay *r, struct lane *l, uint32_t to)
{
    struct near *near = &l->near[to % LANE_NEAR];
    if (near->to != to || near->generation != r->pairs.generation) {
        near->number = pairs_find(&r->pairs, l->rank, to);
        near->to = to;
        near->generation = r->pairs.generation;
    }
    return near->number;
}

void match_send(struct replay *r, struct lane *l, const struct send *s)
{
    uint32_t number = pair_to(r, l, s->to);
    struct lane *home = &r->lanes[s->to];
    r->pairs.items[number].messages++;
    r->pairs.items[number].bytes += s->bytes;
    struct channel *c = channel_get(r, s->comm, l->rank, s->to, s->tag);
    struct receive *v = c->first_receive;
    if (v) {
        c->first_receive = v->next;
        if (!c->first_receive)
            c->last_receive = NULL;
        meet_send(r, l, s, v, number);
        channel_settle(r, c);
    } else if (home->is_there && !home->is_over) {
        keep_message(r, l, s, c, number);
    } else {
        r->unmatched_sends++;
        channel_settle(r, c);
    }
    if (r->has_delays && r->pairs.shift == 0)
        delays_snapshot(&r->delays, &r->pairs.items[number].sender, &l->sums);
}

void match_peek(struct replay *r, struct lane *l, uint32_t comm, uint32_t from, int32_t tag)
{
    struct channel *c = channel_find(r, comm, from, l->rank, tag);
    if ((c && c->first) || l != &r->lanes[l->rank])
        return;
    struct blocked *b = replay_block(r, l);
    b->must_wait = 1;
    replay_unblock(r, b); /* it stays as long as the lane is in the call */
    l->awaiting++;
    l->peeks.comm = comm;
    l->peeks.from = from;
    l->peeks.tag = tag;
    l->peeks.is_on = 1;
}

/* ---- the order of receives ---- */

static int overlaps(const struct receive *wild, const struct receive *v)
{
    return wild->comm == v->comm &&
           (wild->source == ANY_SOURCE || v->source == ANY_SOURCE || wild->source == v->source) &&
           (wild->tag == ANY_TAG || v->tag == ANY_TAG || wild->tag == v->tag);
}

static void list(struct lane *home, struct receive *v)
{
    v->is_listed = 1;
    v->behind = NULL;
    v->before = home->newest;
    if (home->newest)
        home->newest->behind = v;
    else
        home->oldest = v;
    home->newest = v;
}

static void unlist(struct lane *home, struct receive *v)
{
    if (v->before)
        v->before->behind = v->behind;
    else
        home->oldest = v->behind;
    if (v->behind)
        v->behind->before = v->before;
    else
        home->newest = v->before;
    v->is_listed = 0;
}

/* Those that no open wildcard holds back any more. */
static void drain(struct replay *r, struct lane *home)
{
    const struct receive *open[WILD_SEEN];
    unsigned count = 0;
    for (struct receive *v = home->oldest, *behind; v; v = behind) {
        int is_held = 0;
        behind = v->behind;
        if (v->is_wild) {
            if (count == WILD_SEEN)
                return;
            open[count++] = v;
            continue;
        }
        for (unsigned i = 0; i < count && !is_held; i++)
            is_held = overlaps(open[i], v);
        if (is_held)
            continue;
        unlist(home, v);
        enter_channel(r, v, NULL);
    }
}

struct receive *match_post(struct replay *r, struct lane *l, uint32_t comm, int64_t source,
                           int64_t tag)
{
    struct lane *home = &r->lanes[l->rank];
    struct receive *v = pool_alloc(&r->pool, sizeof *v);
    *v = (struct receive){.rank = l->rank,
                          .comm = comm,
                          .source = (int32_t)source,
                          .tag = (int32_t)tag,
                          .posted = l->enter,
                          .is_wild = source == ANY_SOURCE || tag == ANY_TAG};
    if (v->is_wild) {
        home->wild++;
        list(home, v);
    } else if (home->wild) {
        list(home, v);
        drain(r, home);
    } else if (r->lanes[source].is_there) {
        enter_channel(r, v, l);
    }
    return v;
}

static void resolve(struct replay *r, struct receive *v, const struct trace_status *status)
{
    struct lane *home = &r->lanes[v->rank];
    v->source = status->source;
    v->tag = status->tag;
    v->is_wild = 0;
    home->wild--;
    drain(r, home);
}

/* It gets no message. */
static void drop(struct replay *r, struct receive *v)
{
    struct lane *home = &r->lanes[v->rank];
    if (v->is_listed) {
        unlist(home, v);
        if (v->is_wild)
            home->wild--;
        pool_free(&r->pool, v, sizeof *v);
        drain(r, home);
        return;
    }
    if (v->is_queued) {
        struct channel *c = channel_find(r, v->comm, (uint32_t)v->source, v->rank, v->tag);
        struct receive **at = &c->first_receive, *last = NULL;
        while (*at && *at != v)
            last = *at, at = &(*at)->next;
        *at = v->next;
        if (c->last_receive == v)
            c->last_receive = last;
        channel_settle(r, c);
    }
    pool_free(&r->pool, v, sizeof *v);
}

void match_forget(struct replay *r, struct receive *v, int is_cancelled)
{
    if (v->is_wild || (is_cancelled && !v->is_matched)) {
        drop(r, v);
        return;
    }
    v->is_done = 1;
    r->lanes[v->rank].in_flight -= v->is_matched;
    free_receive(r, v);
}

void match_complete(struct replay *r, struct lane *l, struct receive *v,
                    const struct trace_status *status, int waits)
{
    struct lane *home = &r->lanes[v->rank];
    struct trace_status own = {v->source, v->tag, 0, 1, 0};
    if (!status->is_set && !v->is_wild)
        status = &own; /* some recorders do not tell what is known without it */
    if (!status->is_set || status->is_cancelled || status->source < 0 ||
        (uint64_t)status->source >= r->ranks) {
        if (v->is_matched)
            home->in_flight--;
        v->is_done = v->is_matched;
        if (v->is_done)
            free_receive(r, v);
        else
            drop(r, v);
        return;
    }
    v->is_done = 1;
    if (!v->is_matched && !v->is_wild && !v->is_listed &&
        !v->is_queued) { /* its source is not in the trace */
        r->unmatched_receives++;
        drop(r, v);
        return;
    }
    if (!v->is_matched) { /* when it is, the waiter is told */
        v->waiter = replay_block(r, l);
        v->waiter->receives++;
        v->waiter->must_wait = 1;
        if (!waits)
            v->waiter->until = v->waiter->leave;
        if (v->is_wild)
            resolve(r, v, status);
        return;
    }
    home->in_flight--;
    deliver(r, l, v, l->leave);
    free_receive(r, v);
}

/* ---- the end ---- */

/* Requests point to them, and are not used any more. */
void match_end(struct replay *r, struct lane *home)
{
    for (struct receive *v = home->oldest, *behind; v; v = behind) {
        behind = v->behind;
        if (v->is_wild)
            unlist(home, v);
    }
    home->wild = 0;
    drain(r, home);
}

void match_fini(struct replay *r)
{
    size_t it = 0;
    uint64_t at;
    while (map_next(&r->channels, &it, NULL, &at))
        for (const struct channel *c = (const struct channel *)(uintptr_t)at; c; c = c->chain) {
            for (const struct message *m = c->first; m; m = m->next)
                r->unmatched_sends++;
            for (const struct receive *v = c->first_receive; v; v = v->next)
                r->unmatched_receives += v->is_done;
        }
    map_fini(&r->channels);
}
