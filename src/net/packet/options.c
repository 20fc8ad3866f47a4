/*
 * options.c - the options of connections: those of net.packet, and for some connections those of
 * net.packet.connections.
 */
#include <string.h>

#include "base/mem.h"
#include "net/packet/tcp.h"

/* The largest window that a receiver can offer. */
static uint64_t within_scale(uint64_t bytes, const struct platform_config *c)
{
    uint64_t most = (uint64_t)UINT16_MAX << c->packet_window_scale;

    return bytes < most ? bytes : most;
}

static void set_all(struct packet_options *o, const struct platform_config *c)
{
    *o = (struct packet_options){.send_buffer = c->packet_send_buffer,
                                 .receive_buffer = within_scale(c->packet_receive_buffer, c),
                                 .congestion = tcp_congestion_find(c->packet_congestion),
                                 .initial_window = (uint32_t)c->packet_initial_window,
                                 .min_rto = c->packet_min_rto,
                                 .first_rto = c->packet_first_rto,
                                 .delayed_ack = c->packet_delayed_ack,
                                 .target_delay = c->packet_target_delay,
                                 .sack = c->packet_sack,
                                 .nagle = c->packet_nagle,
                                 .hystart = c->packet_hystart,
                                 .rack = c->packet_rack,
                                 .restart_idle = c->packet_restart_idle,
                                 .small_queue = c->packet_small_queue};
}

/* ---- items of the list ---- */

static void set_count(uint64_t *to, uint64_t given)
{
    if (given != UINT64_MAX)
        *to = given;
}

static void set_time(vtime *to, vtime given)
{
    if (given != VTIME_NEVER)
        *to = given;
}

static int set_flag(uint8_t *to, const char *given, const char *field, struct err *err)
{
    int is_true = strcmp(given, "true") == 0;

    if (!*given)
        return 0;
    if (!is_true && strcmp(given, "false") != 0)
        return err_set(err, ERR_INPUT, "net.packet.connections: %s: '%s' is neither true nor false",
                       field, given);
    *to = (uint8_t)is_true;
    return 0;
}

static int set_congestion(struct packet_options *o, const char *setting, const char *name,
                          struct err *err)
{
    if (!*name)
        return 0;
    o->congestion = tcp_congestion_find(name);
    return o->congestion ? 0 : topo_unknown(setting, name, tcp_congestion_name, err);
}

static int is_used(const struct packet_net *n, const char *field)
{
    for (const char *const *use = n->transport->uses; *use; use++)
        if (strcmp(*use + strlen("net.packet."), field) == 0)
            return 1;
    return 0;
}

/* What is given has an effect. */
static int check_given(const struct packet_net *n, const struct platform_connection *item,
                       struct err *err)
{
    const struct {
        const char *field;
        int is_given;
    } fields[] = {{"receive_buffer", item->receive_buffer != UINT64_MAX},
                  {"initial_window", item->initial_window != UINT64_MAX},
                  {"min_rto", item->min_rto != VTIME_NEVER},
                  {"first_rto", item->first_rto != VTIME_NEVER},
                  {"delayed_ack", item->delayed_ack != VTIME_NEVER},
                  {"congestion", *item->congestion != 0},
                  {"sack", *item->sack != 0},
                  {"nagle", *item->nagle != 0}};

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].is_given && !is_used(n, fields[i].field))
            return err_set(err, ERR_INPUT,
                           "net.packet.connections: %s: transport '%s' does not use it",
                           fields[i].field, n->transport->name);
    return 0;
}

static int set_item(struct packet_options *o, const struct platform_connection *item,
                    const struct platform_config *c, struct err *err)
{
    uint64_t first = o->initial_window, receive = o->receive_buffer;
    int rc;

    set_count(&o->send_buffer, item->send_buffer);
    set_count(&receive, item->receive_buffer);
    set_count(&first, item->initial_window);
    set_time(&o->min_rto, item->min_rto);
    set_time(&o->first_rto, item->first_rto);
    set_time(&o->delayed_ack, item->delayed_ack);
    o->receive_buffer = within_scale(receive, c);
    o->initial_window = (uint32_t)(first < UINT16_MAX ? first : UINT16_MAX);
    rc = set_flag(&o->sack, item->sack, "sack", err);
    rc = rc ? rc : set_flag(&o->nagle, item->nagle, "nagle", err);
    return rc ? rc : set_congestion(o, "net.packet.connections: congestion", item->congestion, err);
}

/* ---- all of them ---- */

static int check(const struct packet_net *n, const struct packet_options *o, struct err *err)
{
    if (o->send_buffer < n->mtu_most || o->receive_buffer < n->mtu_most)
        return err_set(err, ERR_INPUT,
                       "net.packet.%s_buffer: '%llu' bytes hold no packet (net.packet.mtu: %u)",
                       o->send_buffer < n->mtu_most ? "send" : "receive",
                       (unsigned long long)(o->send_buffer < n->mtu_most ? o->send_buffer
                                                                         : o->receive_buffer),
                       n->mtu_most);
    return n->transport->check ? n->transport->check(o, err) : 0;
}

int packet_options_init(struct packet_net *n, const struct platform *machine, struct err *err)
{
    const struct platform_list *list = &machine->lists[PLATFORM_CONNECTIONS];
    const struct platform_connection *item = list->items;
    const struct platform_config *c = &machine->config;
    int rc;

    n->options = mem_alloc((list->count + 1) * sizeof *n->options);
    set_all(&n->options[0], c);
    rc = net_inverse(c->packet_read_bandwidth, "net.packet.read_bandwidth",
                     &n->options[0].read_time, err);
    rc = rc ? rc
            : set_congestion(&n->options[0], "net.packet.congestion", c->packet_congestion, err);
    rc = rc ? rc : check(n, &n->options[0], err);
    for (size_t i = 0; i < list->count && rc == 0; i++) {
        n->options[i + 1] = n->options[0];
        rc = check_given(n, &item[i], err);
        rc = rc ? rc : set_item(&n->options[i + 1], &item[i], c, err);
        rc = rc ? rc : check(n, &n->options[i + 1], err);
    }
    if (rc)
        packet_options_fini(n);
    return rc;
}

void packet_options_fini(struct packet_net *n)
{
    mem_free(n->options);
}

static int is_between(uint32_t node, uint32_t first, uint32_t last)
{
    return first <= node && node <= last;
}

static int is_for(const struct platform_connection *item, uint32_t src, uint32_t dst)
{
    return is_between(src, item->from_first, item->from_last) &&
           is_between(dst, item->to_first, item->to_last);
}

const struct packet_options *packet_options_of(const struct packet_net *n, uint32_t src_node,
                                               uint32_t dst_node)
{
    const struct platform_list *list = &n->machine->lists[PLATFORM_CONNECTIONS];
    const struct platform_connection *item = list->items;

    for (size_t i = list->count; i-- > 0;)
        if (item[i].at <= n->now && (is_for(&item[i], src_node, dst_node) ||
                                     (item[i].both && is_for(&item[i], dst_node, src_node))))
            return &n->options[i + 1];
    return &n->options[0];
}
