/*
 * pfc.c - a fabric that drops nothing because full buffers pause their senders: priority flow
 * control of Ethernet (IEEE 802.1Qbb), with virtual channels as its priorities.
 *
 *     0 ........ resume_below ........ pause_above ........ buffer      bytes of a channel's buffer
 *                     |  a sender that  |  senders pause   |
 *                     |  pauses resumes |  headroom        |
 *
 * When a packet makes a buffer fuller than net.packet.pause_above, its switch asks the sender at
 * the other end of the link to pause; when the buffer is down to net.packet.resume_below, it asks
 * for more. Either takes the delay of the link. Until then the sender goes on, so the buffer needs
 * headroom: what is sent in two delays, and two packets.
 */
#include "base/array.h"
#include "base/log.h"
#include "net/packet/lossless.h"

/* Bytes that may still come when a buffer asks for a pause. */
static uint64_t headroom(const struct packet_net *n, const struct packet_port *port)
{
    uint64_t frame = port->mtu + n->framing;
    vtime longest = vtime_add(vtime_add(port->delay, port->delay), n->jitter);
    vtime each = vtime_mul_q(frame, port->ps_per_byte);

    if (longest > 0 && each == 0)
        log_fatal_input(
            "net.packet.fabric: 'pfc' needs links of a finite bandwidth: without one, no "
            "buffer holds what is sent before a pause");
    return frame * (2 + (each > 0 ? (uint64_t)(longest / each) + 1 : 0));
}

static void set_limits(struct packet_net *n, struct packet_port *port)
{
    const struct platform_config *c = &n->machine->config;
    uint64_t frame = port->mtu + n->framing, need = headroom(n, port) + frame;
    uint64_t most = c->packet_buffer > need ? c->packet_buffer - need + frame : 0;

    port->pause_above = c->packet_pause_above ? c->packet_pause_above : most;
    if (port->pause_above > most || most == 0)
        log_fatal_input("net.packet.buffer: '%llu' bytes are too few for pfc: a link needs %llu for "
                        "what is sent before a pause, beside those of net.packet.pause_above",
                        (unsigned long long)c->packet_buffer, (unsigned long long)(need - frame));
    port->resume_below = port->pause_above > 2 * frame ? port->pause_above - 2 * frame : 0;
    if (c->packet_resume_below && c->packet_resume_below < port->pause_above)
        port->resume_below = c->packet_resume_below;
}

/* ---- what the sender hears ---- */

/* Signals arrive in the order in which they were sent. */
static void signal(struct packet_channel *c, vtime t, int pauses)
{
    if (c->signal_first == c->signal_count)
        c->signal_first = c->signal_count = 0;
    else if (t < c->signals[c->signal_count - 1].t)
        t = c->signals[c->signal_count - 1].t;
    ARRAY_RESERVE(c->signals, c->signal_room, c->signal_count + 1, 4);
    c->signals[c->signal_count++] = (struct packet_signal){t, (uint8_t)pauses};
}

/* What has left the buffer by now. */
static void settle(const struct packet_port *port, struct packet_channel *c, vtime now)
{
    while (c->returns.len > 0 && c->returns.at[0].t <= now) {
        struct packet_credit gone = packet_credits_pop(&c->returns);

        c->held -= gone.bytes;
        if (c->asked && c->held <= port->resume_below) {
            c->asked = 0;
            signal(c, vtime_add(gone.t, port->delay), 0);
        }
    }
}

static int may_send(struct packet_net *n, struct packet_port *port, struct packet_channel *c,
                    vtime now)
{
    (void)n;
    settle(port, c, now);
    for (; c->signal_first < c->signal_count && c->signals[c->signal_first].t <= now;
         c->signal_first++)
        c->is_paused = c->signals[c->signal_first].pauses;
    return !c->is_paused;
}

static vtime next(const struct packet_port *port, const struct packet_channel *c)
{
    if (c->signal_first < c->signal_count)
        return c->signals[c->signal_first].t;
    return c->returns.len > 0 ? vtime_add(c->returns.at[0].t, port->delay) : VTIME_NEVER;
}

/* ---- the buffer ---- */

static void arrived(struct packet_net *n, struct packet_port *port, struct packet_channel *c,
                    const struct packet *p, vtime now)
{
    settle(port, c, now);
    c->held += p->wire;
    if (c->held > n->machine->config.packet_buffer) {
        n->has_failed = 1;
        log_fatal_input(
            "net.packet.buffer: '%llu' bytes overflow: net.links has made a link longer or "
            "faster than it was at first",
            (unsigned long long)n->machine->config.packet_buffer);
    }
    if (c->held <= port->pause_above || c->asked)
        return;
    c->asked = 1;
    n->counts[NET_PAUSES]++;
    signal(c, vtime_add(now, port->delay), 1);
}

static void left(struct packet_net *n, struct packet_port *port, struct packet_channel *c,
                 const struct packet *p, vtime end)
{
    packet_credits_push(&c->returns, (struct packet_credit){end, p->wire});
    if (port->is_blocked)
        packet_port_wake(n, port, vtime_add(end, port->delay));
}

static const struct packet_flow_ops flow = {
    .may_send = may_send,
    .next = next,
    .arrived = arrived,
    .left = left,
};

static int init(struct packet_net *n, const struct platform_config *c, struct err *err)
{
    if (c->packet_resume_below && c->packet_pause_above &&
        c->packet_resume_below >= c->packet_pause_above)
        return err_set(err, ERR_INPUT,
                       "net.packet.resume_below: must be below net.packet.pause_above");
    return packet_lossless_init(n, c, err);
}

static const char *const uses[] = {"net.packet.buffer",      "net.packet.channels",
                                   "net.packet.pause_above", "net.packet.resume_below",
                                   "net.packet.red_low",     "net.packet.red_high",
                                   "net.packet.red_chance",  NULL};

const struct packet_fabric_ops packet_pfc_ops = {
    .name = "pfc",
    .uses = uses,
    .flow = &flow,
    .init = init,
    .enqueue = packet_lossless_enqueue,
    .advance = packet_lossless_advance,
    .port = set_limits,
};
