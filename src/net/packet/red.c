/*
 * red.c - random early detection (Floyd and Jacobson, "Random early detection gateways for
 * congestion avoidance", 1993): packets are dropped with a probability that grows with the mean
 * length of the queue, before it is full.
 *
 *     mean = (1 - weight) * mean + weight * length, at each arrival; while the port was idle it
 *            decays as if small packets had arrived to an empty queue
 *     p    = chance * (mean - low) / (high - low); p / (1 - count * p), so that drops are spread
 *
 * Only sums, products and quotients of doubles, which are the same on every computer.
 */
#include "net/packet/packet_internal.h"

/* base to the power n. */
static double power(double base, uint64_t n)
{
    double result = 1;

    for (; n > 0; n >>= 1, base *= base)
        if (n & 1)
            result *= base;
    return result;
}

static void update_mean(const struct platform_config *c, struct packet_port *port,
                        const struct packet *p, vtime now)
{
    double weight = c->packet_red_weight;
    vtime each = vtime_mul_q(p->wire, port->ps_per_byte);

    if (now > port->free_at && each > 0)
        port->mean *= power(1 - weight, (uint64_t)((now - port->free_at) / each));
    port->mean += weight * ((double)port->queued - port->mean);
}

static int chance_hits(struct packet_net *n, const struct platform_config *c,
                       struct packet_port *port)
{
    double low = (double)c->packet_red_low, high = (double)c->packet_red_high;
    double p = c->packet_red_chance * (port->mean - low) / (high - low);
    double spread = 1 - port->since_drop * p;

    port->since_drop++;
    return spread <= 0 || rng_double(&n->rng) < p / spread;
}

static enum packet_verdict admit(struct packet_net *n, struct packet_port *port,
                                 const struct packet *p, vtime now)
{
    const struct platform_config *c = &n->machine->config;
    int is_full = now < port->free_at && port->queued + p->wire > c->packet_queue;

    update_mean(c, port, p, now);
    if (port->mean < (double)c->packet_red_low) {
        port->since_drop = 0;
        return is_full ? PACKET_REFUSE : PACKET_TAKE;
    }
    if (!is_full && port->mean < (double)c->packet_red_high && !chance_hits(n, c, port))
        return PACKET_TAKE;
    port->since_drop = 0;
    return PACKET_REFUSE;
}

static void enqueue(struct packet_net *n, struct packet *p, vtime now)
{
    packet_queue_enqueue(n, p, now, admit);
}

static int init(struct packet_net *n, const struct platform_config *c, struct err *err)
{
    if (c->packet_red_low >= c->packet_red_high)
        return err_set(err, ERR_INPUT, "net.packet.red_low: must be below net.packet.red_high");
    if (c->packet_red_weight > 1 || c->packet_red_chance > 1)
        return err_set(err, ERR_INPUT, "net.packet.red_%s: must be at most 1",
                       c->packet_red_weight > 1 ? "weight" : "chance");
    return packet_queue_init(n, c, err);
}

static const char *const uses[] = {"net.packet.queue", "net.packet.red_*", NULL};

const struct packet_fabric_ops packet_red_ops = {
    .name = "red",
    .uses = uses,
    .init = init,
    .enqueue = enqueue,
};
