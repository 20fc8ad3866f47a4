/*
 * causes_match.c - what happens when a message meets its receive (channels: causes_channel.c; the
 * order of receives: causes_order.c).
 */
#include "analysis/causes_internal.h"

/* ---- pairs ---- */

static struct pair *pair_of(struct causes *r, uint32_t number, uint32_t generation, uint32_t from,
                            uint32_t to)
{
    if (generation != r->pairs.generation)
        number = pairs_find(&r->pairs, from, to);
    return &r->pairs.items[number];
}

/* ---- a message and its receive ---- */

void match_free_receive(struct causes *r, struct receive *v)
{
    if (v->is_matched && v->is_done)
        pool_free(&r->pool, v, sizeof *v);
}

void match_deliver(struct causes *r, struct lane *l, struct receive *v, int64_t leave)
{
    struct pair *pair = pair_of(r, v->pair, v->generation, (uint32_t)v->source, v->rank);
    pair->time += leave > v->sent ? (double)(leave - v->sent) : 0;
    if (r->watch && r->watch->transfer)
        r->watch->transfer(r->watch->context, (uint32_t)v->source, v->rank, v->bytes, v->sent,
                           leave);
    if (r->watch && r->watch->message)
        r->watch->message(r->watch->context, (uint32_t)v->source, v->rank, v->sent, leave);
    if (l) {
        ideal_reach(&l->ideal, v->ideal);
        if (r->has_delays && r->pairs.shift == 0)
            delays_snapshot(&r->delays, &pair->receiver, &l->sums);
    }
}

/* A call waited for a receiver until then. That is known only now, when the ranks can no longer be
 * compared. */
static void wait_in_the_past(struct causes *r, struct blocked *b, int64_t until)
{
    struct lane *l = &r->lanes[b->lane];
    causes_count(r, b, ANALYSIS_LATE_RECEIVER, until - b->until);
    if (r->has_delays)
        delays_attribute_unknown(&r->delays, &l->sums, until - b->until);
    if (b->is_current)
        l->waited += until - b->until;
    b->until = until;
}

/* The message of one of a call's receives is now known. If it was the last of them and was held
 * back, the call may have waited for a receiver longer than for any message. */
static void receive_known(struct causes *r, struct blocked *b)
{
    if (--b->receives || b->posted <= b->until || b->posted > b->leave)
        return;
    wait_in_the_past(r, b, b->posted);
}

/* A send begins, and the receive was posted before. */
static void meet_send(struct causes *r, struct lane *sender, const struct send *s,
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
        match_free_receive(r, v);
        return;
    }
    const struct delay_snapshot *then, *sender_then;
    struct lane *l = &r->lanes[b->lane];
    struct pair *pair = &r->pairs.items[number];
    causes_last_sync(l, pair->receiver, sender, pair->sender, &then, &sender_then);
    causes_wait(r, b, home->in_flight > 0 ? ANALYSIS_WRONG_ORDER : ANALYSIS_LATE_SENDER,
                sender->enter, sender, then, sender_then);
    match_deliver(r, b->is_current ? l : NULL, v, b->leave);
    receive_known(r, b);
    causes_unblock(r, b);
    v->waiter = NULL;
    match_free_receive(r, v);
}

/* The sender need not wait any longer. `receiver`: the lane that is posting the receive now, or
 * NULL. */
static void release_sender(struct causes *r, struct message *m, const struct receive *v,
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
            causes_last_sync(&r->lanes[b->lane], pair->sender, receiver, pair->receiver, &then,
                             &receiver_then);
            causes_wait(r, b, ANALYSIS_LATE_RECEIVER, v->posted, receiver, then, receiver_then);
        } else {
            wait_in_the_past(r, b, v->posted);
        }
    }
    causes_unblock(r, b);
}

/* A receive meets a message that was sent before. */
static void meet_message(struct causes *r, struct message *m, struct receive *v, struct lane *now)
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
        match_free_receive(r, v);
        return;
    }
    /* it was held back, and the call that completes it may have ended */
    home->in_flight--;
    struct lane *l = &r->lanes[b->lane];
    causes_wait(r, b, ANALYSIS_LATE_SENDER, v->sent, &r->lanes[v->source], NULL, NULL);
    match_deliver(r, b->is_current ? l : NULL, v, b->leave);
    receive_known(r, b);
    causes_unblock(r, b);
    v->waiter = NULL;
    match_free_receive(r, v);
}

void match_enter_channel(struct causes *r, struct receive *v, struct lane *now)
{
    struct channel *c = channel_get(r, v->comm, (uint32_t)v->source, v->rank, v->tag);
    struct message *m = c->first;
    if (m) {
        c->first = m->next;
        if (!c->first)
            c->last = NULL;
        meet_message(r, m, v, now);
        channel_release(r, c);
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

/* No receive has been posted for the message yet. */
static void keep_message(struct causes *r, struct lane *l, const struct send *s, struct channel *c,
                         uint32_t number)
{
    struct lane *home = &r->lanes[s->to];
    struct message *m = pool_alloc(&r->pool, sizeof *m);
    pool_prefetch(&r->pool, sizeof *m);
    *m = (struct message){.from = l->rank,
                          .pair = number,
                          .generation = r->pairs.generation,
                          .sent = l->enter,
                          .bytes = s->bytes,
                          .ideal = l->ideal,
                          .request = s->request};
    if (s->waits)
        m->sender = causes_block(r, l);
    if (s->request)
        s->request->message = m;
    if (home->peeks.is_on && !c->first && home->peeks.comm == s->comm &&
        home->peeks.from == l->rank && home->peeks.tag == s->tag && home->blocked) {
        causes_wait(r, home->blocked, ANALYSIS_LATE_SENDER, l->enter, l, home->world, l->world);
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

/* Generations start at 1: unused entries belong to another one. */
static uint32_t pair_to(struct causes *r, struct lane *l, uint32_t to)
{
    const struct near *near = causes_near(r, l, to);
    if (near)
        return near->number;
    uint32_t number = pairs_find(&r->pairs, l->rank, to);
    l->near[l->near_next++ % LANE_NEAR] = (struct near){to, number, r->pairs.generation};
    return number;
}

void match_send(struct causes *r, struct lane *l, const struct send *s)
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
        channel_release(r, c);
    } else if (r->is_there[s->to] && !home->is_over) {
        keep_message(r, l, s, c, number);
    } else {
        r->unmatched_sends++;
        channel_release(r, c);
    }
    if (r->has_delays && r->pairs.shift == 0)
        delays_snapshot(&r->delays, &r->pairs.items[number].sender, &l->sums);
}

void match_peek(struct causes *r, struct lane *l, uint32_t comm, uint32_t from, int32_t tag)
{
    struct channel *c = channel_find(r, comm, from, l->rank, tag);
    if ((c && c->first) || l != &r->lanes[l->rank])
        return;
    struct blocked *b = causes_block(r, l);
    b->must_wait = 1;
    causes_unblock(r, b); /* it remains as long as the lane is in the call */
    l->awaiting++;
    l->peeks.comm = comm;
    l->peeks.from = from;
    l->peeks.tag = tag;
    l->peeks.is_on = 1;
}
