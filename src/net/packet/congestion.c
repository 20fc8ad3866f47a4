/*
 * congestion.c - the table of algorithms for congestion control, and what they share. A new one is
 * one file and one line here.
 */
#include <string.h>

#include "net/packet/tcp.h"

static const struct tcp_congestion_ops *const algorithms[] = {&tcp_cubic_ops, &tcp_newreno_ops,
                                                              &tcp_dctcp_ops, &tcp_bbr_ops,
                                                              &tcp_swift_ops};
#define ALGORITHMS (sizeof algorithms / sizeof algorithms[0])

const char *tcp_congestion_name(unsigned i)
{
    return i < ALGORITHMS ? algorithms[i]->name : NULL;
}

const struct tcp_congestion_ops *tcp_congestion_find(const char *name)
{
    for (size_t i = 0; i < ALGORITHMS; i++)
        if (strcmp(algorithms[i]->name, name) == 0)
            return algorithms[i];
    return NULL;
}

uint32_t tcp_slow_start(struct tcp_half *h, uint32_t acked)
{
    uint32_t room = h->threshold > h->window ? h->threshold - h->window : 0;
    uint32_t now = acked < room ? acked : room;

    h->window += now;
    return acked - now;
}

void tcp_grow(struct tcp_half *h, uint32_t each, uint32_t acked)
{
    if (acked == 0)
        return;
    if (h->grown >= each) { /* it was larger before */
        h->grown = 0;
        h->window++;
    }
    h->grown += acked;
    h->window += h->grown / each;
    h->grown %= each;
}
