/*
 * options.c - the options of connections: those of net.packet, for all.
 */
#include "base/mem.h"
#include "net/packet/packet_internal.h"

static void set_all(struct packet_options *o, const struct platform_config *c)
{
    *o = (struct packet_options){.send_buffer = c->packet_send_buffer};
}

int packet_options_init(struct packet_net *n, const struct platform *machine, struct err *err)
{
    (void)err;
    n->option_count = 1;
    n->options = mem_alloc(sizeof *n->options);
    set_all(n->options, &machine->config);
    return 0;
}

void packet_options_fini(struct packet_net *n)
{
    mem_free(n->options);
}

const struct packet_options *packet_options_of(const struct packet_net *n, uint32_t src_node,
                                               uint32_t dst_node)
{
    (void)src_node, (void)dst_node;
    return n->options;
}
