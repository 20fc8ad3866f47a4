/*
 * sizes.c - sizes of packets and error rates of links: those of net.packet for all links, and for
 * some links those of net.links and of the graph's file. Are they possible?
 *
 * The largest packet of a route is the least MTU of its links. Transports know it without a search,
 * as if path MTU discovery had found it before the first packet.
 */
#include <math.h>

#include "net/packet/packet_internal.h"

#define FRAMING_MOST 1024
#define HEADER_MOST 65535

static int take_mtu(struct packet_net *n, uint64_t mtu, const char *section, struct err *err)
{
    const struct packet_transport_ops *t = n->transport;

    if (mtu < t->mtu_least)
        return err_set(err, ERR_INPUT,
                       "%smtu: '%llu' is too small: transport '%s' needs at least %u bytes",
                       section, (unsigned long long)mtu, t->name, t->mtu_least);
    if (mtu > t->mtu_most)
        return err_set(err, ERR_INPUT, "%smtu: at most %u bytes with transport '%s'", section,
                       t->mtu_most, t->name);
    if (mtu < n->mtu_least || n->mtu_least == 0)
        n->mtu_least = (uint32_t)mtu;
    if (mtu > n->mtu_most)
        n->mtu_most = (uint32_t)mtu;
    return 0;
}

/* What is not given is NAN or UINT64_MAX. */
static int take(struct packet_net *n, uint64_t mtu, double error_rate, const char *section,
                struct err *err)
{
    if (error_rate >= 1)
        return err_set(err, ERR_INPUT, "%serror_rate: must be below 1", section);
    if (error_rate > 0 && n->transport->needs_lossless)
        return err_set(err, ERR_INPUT,
                       "%serror_rate: transport '%s' needs a network that loses nothing: use tcp, "
                       "or no error rate",
                       section, n->transport->name);
    return mtu == UINT64_MAX ? 0 : take_mtu(n, mtu, section, err);
}

static int take_links(struct packet_net *n, const struct platform_list *list, struct err *err)
{
    const struct platform_link *item = list->items;

    for (size_t i = 0; i < list->count; i++) {
        int rc = take(n, item[i].mtu, item[i].error_rate, "", err);

        if (rc) {
            err_prefix(err, "net.links[%zu]", i);
            return rc;
        }
    }
    return 0;
}

static int take_edges(struct packet_net *n, const struct platform_list *list, struct err *err)
{
    const struct platform_edge *item = list->items;
    int rc = 0;

    for (size_t i = 0; i < list->count && rc == 0; i++)
        rc = take(n, item[i].mtu, item[i].error_rate, "net.topology.file: ", err);
    return rc;
}

int packet_sizes_init(struct packet_net *n, const struct platform *machine, struct err *err)
{
    const struct platform_config *c = &machine->config;
    int rc;

    if (c->packet_framing > FRAMING_MOST)
        return err_set(err, ERR_INPUT, "net.packet.framing: at most %d bytes", FRAMING_MOST);
    if (c->packet_header > HEADER_MOST)
        return err_set(err, ERR_INPUT, "net.packet.header: at most %d bytes", HEADER_MOST);
    n->framing = (uint32_t)c->packet_framing;
    n->header = (uint32_t)c->packet_header;
    rc = take(n, c->packet_mtu, c->packet_error_rate, "net.packet.", err);
    rc = rc ? rc : take_links(n, &machine->lists[PLATFORM_LINKS], err);
    return rc ? rc : take_edges(n, &machine->lists[PLATFORM_EDGES], err);
}
