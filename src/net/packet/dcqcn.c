/*
 * dcqcn.c - rate control for networks that lose nothing (Zhu and others, "Congestion control for
 * large-scale RDMA deployments", SIGCOMM 2015): switches mark packets, the receiver tells the
 * sender, at most every 50 us, and the sender's rate falls by a share that follows how often it is
 * told.
 *
 *     told:            target = rate, rate * (1 - alpha / 2), alpha moves to 1 by 1/256
 *     55 us not told:  alpha moves to 0 by 1/256
 *     every 55 us, and every 10 MB: rate = (rate + target) / 2, and the target is raised, after
 *     five such steps of one kind by STEP, after five of both by LEAP
 *
 * Steps of time are made up for when the rate is needed, so no stream has a timer for them. The
 * paper has 40 Mbit/s for links of 40 Gbit/s as STEP; here it is a share of the link.
 */
#include "net/packet/message.h"

#define WHOLE (1u << 20) /* alpha */
#define SHIFT 8          /* alpha moves by 1/256 */
#define PERIOD (55 * VTIME_US)
#define PORTION 10000000u /* bytes */
#define QUICK 5           /* steps that only return to the target */
#define STEP 1000         /* of the link's rate */
#define LEAP 100
#define LEAST 1000

static void init(struct message_rate *r)
{
    r->rate = r->target = r->line;
    r->alpha = WHOLE;
}

static void raise(struct message_rate *r)
{
    uint32_t least = r->by_time < r->by_bytes ? r->by_time : r->by_bytes;

    if (least > QUICK)
        r->target += r->line / LEAP * (least - QUICK);
    else if (r->by_time > QUICK || r->by_bytes > QUICK)
        r->target += r->line / STEP;
    if (r->target > r->line)
        r->target = r->line;
    r->rate = (r->rate + r->target + 1) / 2;
}

/* What time has done since. A sender at full rate has nothing to make up for. */
static void catch_up(struct message_rate *r, vtime now)
{
    if (r->rate >= r->line)
        return;
    for (; r->alpha > 0 && now - r->alpha_at >= PERIOD; r->alpha_at += PERIOD)
        r->alpha -= (r->alpha >> SHIFT) + 1;
    for (; r->rate < r->line && now - r->raised_at >= PERIOD; r->raised_at += PERIOD) {
        r->by_time++;
        raise(r);
    }
}

static void on_signal(struct message_rate *r, vtime now)
{
    uint64_t least = r->line / LEAST;

    catch_up(r, now);
    r->target = r->rate;
    r->rate -= (uint64_t)((unsigned __int128)r->rate * r->alpha / (2 * WHOLE));
    r->rate = r->rate > least ? r->rate : least;
    r->alpha += (WHOLE - r->alpha) >> SHIFT;
    r->alpha_at = r->raised_at = now;
    r->by_time = r->by_bytes = 0;
    r->counted = 0;
}

static void on_sent(struct message_rate *r, uint32_t bytes, vtime now)
{
    catch_up(r, now);
    if (r->rate >= r->line)
        return;
    for (r->counted += bytes; r->counted >= PORTION; r->counted -= PORTION) {
        r->by_bytes++;
        raise(r);
    }
}

const struct message_control_ops message_dcqcn_ops = {
    .name = "dcqcn",
    .init = init,
    .on_signal = on_signal,
    .on_sent = on_sent,
};
