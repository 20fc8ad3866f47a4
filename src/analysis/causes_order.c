/*
 * causes_order.c - the order of receives.
 *
 * MPI delivers messages of one source, destination, communicator and tag in order, so the first one
 * sent belongs to the receive that was posted first, of those that received such a message. What a
 * receive with wildcards has received is known when it is complete. Until then, receives posted
 * behind it that might have taken the same messages are held back: each rank lists them in the
 * order in which they were posted.
 */
#include "analysis/causes_internal.h"

#define WILD_SEEN 64 /* a receive behind more open wildcards than this is held back in any case */

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

/* Matches the receives that no open wildcard holds back any longer. */
static void drain(struct causes *r, struct lane *home)
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
        match_enter_channel(r, v, NULL);
    }
}

struct receive *match_post(struct causes *r, struct lane *l, uint32_t comm, int64_t source,
                           int64_t tag)
{
    struct lane *home = &r->lanes[l->rank];
    struct receive *v = pool_alloc(&r->pool, sizeof *v);
    pool_prefetch(&r->pool, sizeof *v);
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
    } else if (r->is_there[source]) {
        match_enter_channel(r, v, l);
    }
    return v;
}

static void resolve(struct causes *r, struct receive *v, const struct trace_status *status)
{
    struct lane *home = &r->lanes[v->rank];
    v->source = status->source;
    if (status->tag >= 0) /* else it is the tag that was asked for */
        v->tag = status->tag;
    v->is_wild = 0;
    home->wild--;
    drain(r, home);
}

/* The receive gets no message. */
static void drop(struct causes *r, struct receive *v)
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
        channel_release(r, c);
    }
    pool_free(&r->pool, v, sizeof *v);
}

void match_forget(struct causes *r, struct receive *v, int is_cancelled)
{
    if (v->is_wild || (is_cancelled && !v->is_matched)) {
        drop(r, v);
        return;
    }
    v->is_done = 1;
    r->lanes[v->rank].in_flight -= v->is_matched;
    match_free_receive(r, v);
}

void match_complete(struct causes *r, struct lane *l, struct receive *v,
                    const struct trace_status *status, int waits)
{
    struct lane *home = &r->lanes[v->rank];
    struct trace_status own = {v->source, v->tag, 0, 1, 0};
    if (!status->is_set && !v->is_wild)
        status = &own; /* some recorders leave out what is known anyway */
    if (!status->is_set || status->is_cancelled || status->source < 0 ||
        (uint64_t)status->source >= r->ranks) {
        if (v->is_matched)
            home->in_flight--;
        v->is_done = v->is_matched;
        if (v->is_done)
            match_free_receive(r, v);
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
    if (!v->is_matched) { /* matching will end the wait */
        v->waiter = causes_block(r, l);
        v->waiter->receives++;
        v->waiter->must_wait = 1;
        if (!waits)
            v->waiter->until = v->waiter->leave;
        if (v->is_wild)
            resolve(r, v, status);
        return;
    }
    home->in_flight--;
    match_deliver(r, l, v, l->leave);
    match_free_receive(r, v);
}

/* Requests still point to these receives, but are no longer used. */
void match_end(struct causes *r, struct lane *home)
{
    for (struct receive *v = home->oldest, *behind; v; v = behind) {
        behind = v->behind;
        if (v->is_wild)
            unlist(home, v);
    }
    home->wild = 0;
    drain(r, home);
}
