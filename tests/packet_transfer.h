/*
 * packet_transfer.h - long transfers over a packet network, for tests of transports.
 */
#ifndef PACKET_TRANSFER_H
#define PACKET_TRANSFER_H

#include "net_medium.h"

__attribute__((unused)) static struct net_traffic traffic(void)
{
    struct net_traffic t;

    net_traffic(&net, &t);
    return t;
}

/* Sends so many messages of 64 KiB from each of the ranks 1 .. to rank 0; the arrival of the last
 * one of each. */
static vtime transfer(uint32_t senders, int messages, vtime *last)
{
    static uint64_t order[RANKS_MOST];
    vtime all = 0;

    for (int i = 0; i < messages; i++)
        for (uint32_t s = 1; s <= senders; s++)
            submit(s, 0, 65536, 0, PROGRAM, 0);
    advance_all();
    memset(order, 0, sizeof order);
    for (uint32_t i = 0; i < senders * (uint32_t)messages; i++) {
        struct engine_msg *m = engine_poll(&entities[0]);

        if (!m) {
            ok(0, "message %u is missing", i);
            return all;
        }
        last[m->src] = m->arrival;
        order[m->src]++;
        all = m->arrival > all ? m->arrival : all;
        engine_msg_free(&engine, m);
    }
    for (uint32_t s = 1; s <= senders; s++)
        if (order[s] != (uint64_t)messages)
            ok(0, "%llu messages from %u", (unsigned long long)order[s], s);
    return all;
}

/* ---- what all transports over a network that drops packets do ---- */

/* On a link that loses packets nothing is lost or out of order for MPI, and each run is the same
 * twice. */
__attribute__((unused)) static void survives_loss(const char *settings)
{
    vtime last[2], first = 0;

    for (int again = 0; again < 2; again++) {
        set_up(settings, 2);
        vtime t = transfer(1, 100, last);
        struct net_traffic counts = traffic();

        ok(counts.counts[NET_RETRANSMITTED] >= counts.counts[NET_DROPPED_ERROR] / 3 &&
               counts.counts[NET_DROPPED_ERROR] > 0,
           "%llu lost, %llu sent again, %llu timeouts, %.3f s",
           (unsigned long long)counts.counts[NET_DROPPED_ERROR],
           (unsigned long long)counts.counts[NET_RETRANSMITTED],
           (unsigned long long)counts.counts[NET_TIMEOUTS], vtime_to_seconds(t));
        if (again)
            is_int(t, first, "twice the same");
        first = t;
        tear_down();
    }
}

/* Four senders fill a queue and get equal shares of the link. */
__attribute__((unused)) static void shares_fairly(const char *settings)
{
    double sum = 0, squares = 0;
    vtime last[5];

    set_up(settings, 5);
    transfer(4, 600, last);
    for (int s = 1; s <= 4; s++) {
        double rate = 1 / vtime_to_seconds(last[s]);

        sum += rate;
        squares += rate * rate;
    }
    ok(sum * sum / (4 * squares) > 0.95, "Jain's index of four senders is %.4f",
       sum * sum / (4 * squares));
    ok(traffic().counts[NET_DROPPED_FULL] > 0, "the queue was full");
    tear_down();
}

/* Many to one, in a network that marks packets before it drops some. */
__attribute__((unused)) static void heeds_marks(const char *settings)
{
    vtime last[17];

    set_up(settings, 17);
    transfer(16, 40, last);
    is_int((long long)traffic().counts[NET_DROPPED_FULL], 0, "ecn: nothing is dropped");
    is_int((long long)traffic().counts[NET_RETRANSMITTED], 0, "nothing is sent again");
    ok(traffic().counts[NET_MARKED] > 0, "but marked");
    tear_down();
}

/* A small message from each of 64 nodes to each other one; returns how many pairs of nodes there
 * are. The network is still up. */
__attribute__((unused)) static uint64_t exchange_all(const char *settings)
{
    uint64_t cookie, pairs = 64 * 63 / 2, came = 0;

    set_up(settings, 64);
    for (uint32_t a = 0; a < 64; a++)
        for (uint32_t b = 0; b < 64; b++)
            if (a != b)
                submit(a, b, 64, 0, PROGRAM, 0);
    advance_all();
    for (uint32_t r = 0; r < 64; r++)
        while (take(r, &cookie) >= 0)
            came++;
    is_int((long long)came, 64 * 63, "all arrive");
    is_int((long long)traffic().counts[NET_CONNECTIONS], (long long)pairs, "connections");
    is_int((long long)traffic().counts[NET_IN_FLIGHT], 0, "no packet is left");
    return pairs;
}

#endif
