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

#endif
