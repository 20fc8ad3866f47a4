/*
 * tcp_rate.c - TCP: at which rate segments arrive, as Linux measures it (draft-cheng-iccrg-
 * delivery-rate-estimation), for congestion control that needs to know.
 *
 * Each segment remembers how many had arrived when it was sent, and when. When it has arrived
 * itself, so many more have arrived since, in the longer of two times: that in which they were
 * sent, and that in which they arrived.
 */
#include "net/packet/tcp.h"

#include "base/mem.h"

static struct tcp_sent *at(const struct tcp_rate *r, uint32_t number)
{
    return &r->at[number & (r->room - 1)];
}

/* As many as there is room for segments. */
static void reserve(struct tcp_rate *r, const struct tcp_segments *s)
{
    struct tcp_rate old = *r;

    if (r->room == s->room)
        return;
    r->room = s->room;
    r->at = mem_alloc(r->room * sizeof *r->at);
    for (uint32_t i = s->first; i != s->end; i++)
        *at(r, i) = tcp_segments_before(i, s->end - 1) && old.room > 0
                        ? *at(&old, i)
                        : (struct tcp_sent){.at = -1};
    mem_free(old.at);
}

void tcp_rate_sent(struct tcp_half *h, uint32_t number, vtime now)
{
    struct tcp_rate *r = &h->rate;

    reserve(r, &h->segments);
    if (tcp_segments_count(&h->segments) == 1 &&
        !(tcp_segments_at(&h->segments, number)->flags & TCP_SEGMENT_EVER))
        r->first_sent = r->delivered_at = now;
    *at(r, number) = (struct tcp_sent){.delivered = h->delivered,
                                       .at = now,
                                       .first = r->first_sent,
                                       .delivered_at = r->delivered_at,
                                       .is_limited = r->limited > 0};
}

void tcp_rate_arrived(struct tcp_half *h, uint32_t number, struct tcp_ack_news *news)
{
    struct tcp_rate_sample *s = &news->rate;
    const struct tcp_sent *sent = at(&h->rate, number);

    if (h->rate.room == 0 || sent->at < 0 || (s->interval > 0 && sent->at < s->last_sent))
        return;
    s->before = sent->delivered;
    s->delivered_at = sent->delivered_at;
    s->last_sent = sent->at;
    s->is_limited = sent->is_limited;
    s->interval = sent->at > sent->first ? sent->at - sent->first : 1;
    h->rate.first_sent = sent->at;
}

void tcp_rate_measure(struct tcp_half *h, struct tcp_ack_news *news)
{
    struct tcp_rate_sample *s = &news->rate;
    struct tcp_rate *r = &h->rate;

    if (r->limited > 0 && h->delivered > r->limited)
        r->limited = 0;
    if (news->arrived > 0)
        r->delivered_at = news->now;
    if (s->interval <= 0)
        return;
    s->delivered = h->delivered - s->before;
    if (news->now - s->delivered_at > s->interval)
        s->interval = news->now - s->delivered_at;
    if (s->interval < h->least_rtt)
        s->interval = 0;
}

void tcp_rate_limited(struct tcp_half *h)
{
    uint32_t in_flight = tcp_segments_in_flight(&h->segments);

    h->rate.limited = h->delivered + in_flight > 0 ? h->delivered + in_flight : 1;
}

void tcp_rate_forget(struct tcp_half *h)
{
    for (uint32_t i = 0; i < h->rate.room; i++)
        h->rate.at[i].at = -1;
}

void tcp_rate_fini(struct tcp_half *h)
{
    mem_free(h->rate.at);
    h->rate.at = NULL;
}
