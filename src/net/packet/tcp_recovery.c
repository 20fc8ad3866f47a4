/*
 * tcp_recovery.c - TCP: what a sender does about losses and marks, as Linux does it.
 *
 *               marks                        something is lost
 *     NORMAL ----------> REDUCING    NORMAL, REDUCING ----------> FAST     any --(timer)--> TIMEOUT
 *
 * Each ends when all that was sent before it is acknowledged. In REDUCING and FAST the window falls
 * to the threshold in step with what arrives (proportional rate reduction, RFC 6937): so many
 * segments are sent that as many remain in flight in the end. After a timeout all that was not sent
 * lately is lost, and the window begins with one segment.
 *
 * A recovery is undone if nothing was lost: if what is acknowledged was sent before anything was
 * sent again, by its timestamp (RFC 3522), if the receiver got twice all that was sent again
 * (D-SACK), or if after a timeout something arrives that was sent once (F-RTO, RFC 5682): after the
 * first segment new data is sent, and its acknowledgements tell.
 */
#include "base/log_module.h"
#include "net/packet/tcp.h"

#define PERSISTS 16

/* ---- the window ---- */

uint32_t tcp_recovery_threshold(const struct tcp_half *h)
{
    uint32_t kept = h->window / 2 + h->window / 4;

    if (tcp_recovery_reduces(h))
        return h->threshold;
    return kept > h->threshold ? kept : h->threshold;
}

/* The window shall fall to this, and not again before what was sent is acknowledged. */
static void begin_reduction(struct tcp_half *h, uint32_t threshold)
{
    struct tcp_repair *r = &h->repair;

    r->end = h->next;
    h->probed = 0;
    h->grown = 0;
    r->window = h->window;
    r->delivered = r->sent = 0;
    h->threshold = threshold;
    h->has_reduced = 1;
}

void tcp_recovery_reduce(struct tcp_half *h, const struct tcp_ack_news *news)
{
    struct tcp_repair *r = &h->repair;
    uint32_t flight = tcp_segments_in_flight(&h->segments);
    int64_t count, room = (int64_t)h->threshold - flight;

    if (news->arrived == 0 || r->window == 0 || h->base.options->congestion->sets_window)
        return;
    r->delivered += news->arrived;
    if (room < 0) {
        count = (int64_t)(((uint64_t)h->threshold * r->delivered + r->window - 1) / r->window) -
                r->sent;
    } else {
        count = (int64_t)r->delivered - r->sent;
        if (count < news->arrived)
            count = news->arrived;
        count += news->advances && news->lost == 0;
        count = count < room ? count : room;
    }
    if (count < 1) /* what is lost is sent again at once */
        count = r->sent == 0;
    h->window = flight + (uint32_t)count;
}

static void end_reduction(struct tcp_half *h)
{
    if (h->threshold != TCP_UNLIMITED && !h->base.options->congestion->sets_window &&
        (h->recovery == TCP_REDUCING || h->repair.undo_from != UINT64_MAX))
        h->window = h->threshold;
}

/* ---- undo ---- */

static void begin_undo(struct tcp_half *h)
{
    h->repair.undo_from = h->base.acked;
    h->repair.undo_left = h->segments.again > 0 ? (int64_t)h->segments.again : -1;
}

static void undo(struct tcp_half *h, int is_all)
{
    struct tcp_repair *r = &h->repair;

    if (is_all)
        tcp_segments_unlose(&h->segments);
    if (r->threshold > 0 && !h->base.options->congestion->sets_window) {
        if (h->window < r->window)
            h->window = r->window;
        if (h->threshold < r->threshold) {
            h->threshold = r->threshold;
            h->has_reduced = 0;
        }
    }
    r->undo_from = UINT64_MAX;
    h->rack.advanced = 1;
}

/* What is acknowledged was sent before anything was sent again. */
static int was_late(const struct tcp_half *h, const struct tcp_ack_news *news)
{
    return h->repair.resent_at < 0 || news->packet->echo < h->repair.resent_at;
}

static int may_undo(const struct tcp_half *h, const struct tcp_ack_news *news)
{
    return h->repair.undo_from != UINT64_MAX && (h->repair.undo_left == 0 || was_late(h, news));
}

static int undo_by_twice(struct tcp_half *h)
{
    if (h->repair.undo_from == UINT64_MAX || h->repair.undo_left != 0)
        return 0;
    h->rack.persists += h->rack.persists < PERSISTS;
    undo(h, 0);
    return 1;
}

/* The end of a recovery. */
static void undo_in_the_end(struct tcp_half *h, const struct tcp_ack_news *news)
{
    if (may_undo(h, news))
        undo(h, 0);
    else
        h->rack.persists -= h->rack.persists > 0;
}

/* ---- states ---- */

static void be_normal(struct tcp_half *h)
{
    h->recovery = TCP_NORMAL;
    h->repair.is_trial = h->repair.only_new = 0;
}

/* Without selective acknowledgements, duplicates of what was sent before do not begin another
 * recovery (RFC 6582): it ends when something behind it is acknowledged. */
static int must_stay(const struct tcp_half *h)
{
    return !h->base.options->sack && h->base.acked == h->repair.end && h->next > h->repair.end;
}

static void begin_fast(struct tcp_half *h, int is_echo, vtime now)
{
    struct tcp_repair *r = &h->repair;

    begin_undo(h);
    if (!tcp_recovery_reduces(h)) {
        r->threshold = is_echo ? 0 : tcp_recovery_threshold(h);
        begin_reduction(h, h->base.options->congestion->on_loss(h, now));
    } else {
        r->threshold = 0;
    }
    h->recovery = TCP_FAST;
    h->probe_at = VTIME_NEVER;
}

void tcp_recovery_begin(struct tcp_half *h, vtime now)
{
    const struct tcp_ack_news news = {.now = now, .arrived = 1, .lost = 1};

    if (h->recovery == TCP_FAST)
        return;
    begin_fast(h, 0, now);
    tcp_recovery_reduce(h, &news);
}

void tcp_recovery_note(struct tcp_half *h, vtime now)
{
    if (h->recovery != TCP_NORMAL)
        return;
    begin_reduction(h, h->base.options->congestion->on_loss(h, now));
    if (!h->base.options->congestion->sets_window)
        h->window = h->threshold;
}

/* Nothing is lost: the window may have to fall because of marks. */
static void stay_normal(struct tcp_half *h, const struct tcp_ack_news *news)
{
    if (h->recovery != TCP_NORMAL || !news->is_echo)
        return;
    h->repair.undo_from = UINT64_MAX;
    begin_reduction(h, h->base.options->congestion->on_ecn(h, news->now));
    h->recovery = TCP_REDUCING;
}

/* ---- timeouts ---- */

/* What was sent less than a round trip ago may still arrive. */
static void lose_all(struct tcp_half *h, vtime now)
{
    struct tcp_segments *s = &h->segments;

    if (!h->base.options->sack)
        s->sacked = 0;
    for (uint32_t i = s->first; i != s->end; i++) {
        const struct tcp_segment *seg = tcp_segments_at(s, i);
        int is_new = h->base.options->rack && seg->sent + h->rack.rtt > now && i != s->first;

        if (tcp_segment_waits(seg) && !is_new)
            tcp_segments_lose(s, i);
    }
}

void tcp_recovery_time_out(struct tcp_half *h, vtime now)
{
    struct tcp_repair *r = &h->repair;
    int is_first = h->recovery < TCP_FAST;

    LOG_LINE(NET, INFO, LOG_NO_RANK, now, "TCP: nothing was acknowledged in time, %u in a row",
             r->timeouts + 1);
    lose_all(h, now);
    if (is_first || r->end <= h->base.acked || (h->recovery == TCP_TIMEOUT && r->timeouts == 0)) {
        r->threshold = tcp_recovery_threshold(h);
        r->window = h->window;
        h->threshold = h->base.options->congestion->on_loss(h, now);
        begin_undo(h);
    }
    h->window = tcp_segments_in_flight(&h->segments) + 1;
    h->grown = 0;
    h->recovery = TCP_TIMEOUT;
    if (h->base.options->congestion->on_timeout)
        h->base.options->congestion->on_timeout(h, now);
    r->end = h->next;
    r->is_trial = is_first || r->timeouts > 0;
    r->only_new = 0;
    r->timeouts++;
    h->probed = 0;
    h->has_reduced = 1;
    h->reorder_at = h->probe_at = VTIME_NEVER;
}

static int undo_timeout(struct tcp_half *h, const struct tcp_ack_news *news, int is_sure)
{
    if (!is_sure && !may_undo(h, news))
        return 0;
    undo(h, 1);
    h->repair.timeouts = 0;
    if (is_sure || h->base.options->sack)
        be_normal(h);
    return 1;
}

/* An acknowledgement after a timeout. */
static void go_on(struct tcp_half *h, const struct tcp_ack_news *news)
{
    struct tcp_repair *r = &h->repair;
    int is_over = h->base.acked >= r->end;

    if (news->advances && undo_timeout(h, news, 0))
        return;
    if (r->is_trial && news->is_plain && h->base.options->sack && undo_timeout(h, news, 1))
        return;
    if (r->is_trial && h->next > r->end) {
        if (news->reports || !news->advances)
            r->is_trial = 0; /* it was right */
    } else if (r->is_trial && news->advances && !is_over) {
        r->end = h->next;
        r->is_trial = r->only_new = tcp_next_new(h) > 0;
        if (r->is_trial)
            return;
    }
    if (is_over) {
        undo_in_the_end(h, news);
        if (!must_stay(h))
            be_normal(h);
    }
}

/* ---- acknowledgements ---- */

static void leave(struct tcp_half *h, const struct tcp_ack_news *news)
{
    if (h->recovery == TCP_REDUCING) {
        /* The packet that says that it was reduced shall have arrived. */
        if (h->base.acked == h->repair.end)
            return;
        end_reduction(h);
        be_normal(h);
    } else if (h->recovery == TCP_FAST) {
        if (!h->base.options->sack)
            h->segments.sacked = 0;
        end_reduction(h);
        undo_in_the_end(h, news);
        if (!must_stay(h))
            be_normal(h);
    }
}

/* Something is acknowledged, but not all: if it was late and nothing else was sent again, nothing
 * was lost. Returns true if there is nothing more to do. */
static int undo_partly(struct tcp_half *h, const struct tcp_ack_news *news)
{
    if (h->repair.undo_from == UINT64_MAX || !was_late(h, news))
        return 0;
    h->has_reordered = h->base.options->sack;
    if (h->segments.again > 0)
        return 1;
    undo(h, 1);
    be_normal(h);
    return 0;
}

static void find(struct tcp_half *h, struct tcp_ack_news *news)
{
    uint32_t losses = h->segments.losses, again = h->segments.again;

    tcp_rack_find(h, news->now);
    news->lost += h->segments.losses - losses;
    news->lost_again |= h->segments.again < again;
}

void tcp_recovery_ack(struct tcp_half *h, struct tcp_ack_news *news)
{
    if (news->is_echo)
        h->repair.threshold = 0;
    if (h->recovery == TCP_NORMAL)
        h->repair.resent_at = h->segments.again > 0 || h->probed > 0 ? h->repair.resent_at : -1;
    else if (h->base.acked >= h->repair.end)
        leave(h, news);
    if (h->recovery == TCP_FAST) {
        if (news->advances && undo_partly(h, news))
            return;
        if (undo_by_twice(h))
            be_normal(h);
        find(h, news);
        if (h->recovery != TCP_FAST && h->segments.lost > 0)
            begin_fast(h, news->is_echo, news->now);
        return;
    }
    if (h->recovery == TCP_TIMEOUT) {
        h->repair.only_new = 0;
        go_on(h, news);
        find(h, news);
        if (h->recovery != TCP_NORMAL && !news->lost_again)
            return;
    } else {
        undo_by_twice(h);
        find(h, news);
    }
    if (h->segments.lost > 0)
        begin_fast(h, news->is_echo, news->now);
    else
        stay_normal(h, news);
}
