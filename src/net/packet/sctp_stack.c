/*
 * sctp_stack.c - the stacks of nodes, and sockets on them.
 *
 * A rank has one socket, on which all its associations are, and one more for each further set of
 * options. What it sends to another rank goes to the address and port of that one's socket; the
 * stack opens the association when there is none.
 *
 * Addresses are those that usrsctp has for lower layers other than IP (AF_CONN). Such an address
 * stands for a link, and both ends of an association must use the same. So it is no address of a
 * node: it is 1 for all, and ports tell ranks apart; if there are more ranks than ports, the next
 * have address 2.
 *
 * Nothing is sent that does not serve a message: there are no heartbeats, and no search for the
 * largest packet, which is known. Retransmission never gives up, as TCP's does not here.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <usrsctp.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/packet/sctp.h"

/* Ports from 1024 on. The stack finds associations by the high byte of a port first: ranks that
 * follow each other differ in it. */
#define PORT_ROW_FIRST 4
#define PORT_ROWS (256 - PORT_ROW_FIRST)
#define PORTS (PORT_ROWS * 256)
#define RETRIES 65535   /* of the same packet */
#define CHUNKS 1000000  /* in a send buffer, which is limited in bytes */
#define RTO_MOST 60000u /* milliseconds */
#define BURST 4 /* packets sent at once; more if the first window is larger (RFC 9260, 6.1) */
/* The bits of ECN in an IP header: the packet may be marked, and it is. */
#define ECN_CAPABLE 2
#define ECN_MARKED 3

static void check(int rc, const char *what)
{
    if (rc < 0)
        log_fatal("SCTP: %s: %s", what, strerror(errno));
}

/* ---- a node ---- */

/* A power of two, about ranks / share. */
static uint32_t table_size(uint32_t ranks, uint32_t share, uint32_t least, uint32_t most)
{
    uint32_t size = least;

    while (size < most && size < ranks / share)
        size *= 2;
    return size;
}

void sctp_init_sysctls(void); /* of the stack */
void sctp_own_sctp_init_sysctls(void);

/* Tables by tag of an association have 31 times the first size, those of a socket the second. */
void sctp_own_sctp_init_sysctls(void)
{
    uint32_t ranks = sctp_system_host()->state->net->net->ranks;

    sctp_init_sysctls();
    usrsctp_tunable_set_sctp_hashtblsize(table_size(ranks, 16, 4, 1024));
    usrsctp_tunable_set_sctp_pcbtblsize(table_size(ranks, 4, 4, 1024));
    /* extensions that nobody would use */
    usrsctp_sysctl_set_sctp_auto_asconf(0);
    usrsctp_sysctl_set_sctp_asconf_enable(0);
    usrsctp_sysctl_set_sctp_auth_enable(0);
    usrsctp_sysctl_set_sctp_pr_enable(0);
    usrsctp_sysctl_set_sctp_reconfig_enable(0);
    usrsctp_sysctl_set_sctp_init_rtx_max_default(RETRIES);
    usrsctp_sysctl_set_sctp_assoc_rtx_max_default(RETRIES);
    usrsctp_sysctl_set_sctp_path_rtx_max_default(RETRIES);
    usrsctp_sysctl_set_sctp_max_chunks_on_queue(CHUNKS);
    usrsctp_sysctl_set_sctp_asoc_free_resc_limit(0); /* our pool keeps what is free */
}

static int output(void *address, void *data, size_t bytes, uint8_t tos, uint8_t keep_whole)
{
    (void)address, (void)keep_whole;
    sctp_output(sctp_system_end(), data, (uint32_t)bytes, (tos & ECN_MARKED) != 0);
    return 0;
}

static void *address_of(uint32_t link)
{
    return (void *)((uintptr_t)link + 1);
}

/* The node knows addresses up to this one. */
static void register_links(struct sctp_host *host, uint32_t link)
{
    for (; host->links <= link; host->links++) {
        sctp_system_enter(host, NULL);
        usrsctp_register_address(address_of(host->links));
        sctp_system_leave();
    }
}

static struct sctp_host *host_of(struct sctp_state *state, uint32_t node)
{
    uint64_t *at = map_insert(&state->host_of_node, node, NULL);
    struct sctp_host *host = (struct sctp_host *)(uintptr_t)*at;

    if (host)
        return host;
    host = mem_zalloc(sizeof *host);
    *at = (uintptr_t)host;
    host->state = state;
    host->node = node;
    sctp_system_enter(host, NULL);
    usrsctp_init_nothreads(0, output, NULL);
    usrsctp_enable_crc32c_offload(); /* links say whether a packet is broken */
    sctp_system_leave();
    return host;
}

/* ---- what the stack says ---- */

static int receive(struct socket *socket, union sctp_sockstore from, void *data, size_t bytes,
                   struct sctp_rcvinfo info, int flags, void *unused)
{
    struct sctp_end *end = sctp_system_end();

    (void)socket, (void)from, (void)unused;
    if (!data)
        log_fatal("the SCTP association between ranks %u and %u has ended", end->base.src,
                  end->base.dst);
    sctp_own_free(data);
    if (!(flags & MSG_NOTIFICATION))
        sctp_received(end, info.rcv_sid, bytes);
    return 1;
}

static int sent(struct socket *socket, uint32_t room, void *unused)
{
    struct sctp_end *end = sctp_system_end();

    (void)socket, (void)unused;
    sctp_acknowledged(end, end->endpoint->send_buffer - room);
    return 1;
}

/* ---- sockets ---- */

static void set(struct socket *s, int name, const void *value, size_t size, const char *what)
{
    check(usrsctp_setsockopt(s, IPPROTO_SCTP, name, value, (socklen_t)size), what);
}

static uint32_t milliseconds(vtime t)
{
    vtime ms = (t + VTIME_MS - 1) / VTIME_MS;

    return ms < RTO_MOST ? (uint32_t)ms : RTO_MOST;
}

static void set_times(struct socket *s, const struct packet_options *o)
{
    uint32_t least = milliseconds(o->min_rto), first = milliseconds(o->first_rto);
    struct sctp_rtoinfo rto = {.srto_min = least,
                               .srto_initial = first < least ? least : first,
                               .srto_max = RTO_MOST};
    struct sctp_sack_info sack = {.sack_delay = milliseconds(o->delayed_ack),
                                  .sack_freq = o->delayed_ack ? 2 : 1};

    set(s, SCTP_RTOINFO, &rto, sizeof rto, "retransmission times");
    set(s, SCTP_DELAYED_SACK, &sack, sizeof sack, "delayed acknowledgements");
}

static void set_options(struct socket *s, const struct packet_net *n, uint32_t mtu,
                        const struct packet_options *out, const struct packet_options *in)
{
    int send = (int)out->send_buffer, receive_buffer = (int)in->receive_buffer,
        at_once = !out->nagle;
    struct sctp_assoc_value burst = {
        .assoc_value = out->initial_window > BURST ? out->initial_window : BURST};
    struct sctp_initmsg streams = {.sinit_num_ostreams = (uint16_t)n->substreams,
                                   .sinit_max_instreams = (uint16_t)n->substreams};
    struct sctp_paddrparams path = {.spp_flags = SPP_HB_DISABLE | SPP_PMTUD_DISABLE,
                                    .spp_pathmtu = mtu - SCTP_IP_HEADER - SCTP_COMMON_HEADER};

    check(usrsctp_setsockopt(s, SOL_SOCKET, SO_SNDBUF, &send, sizeof send), "send buffer");
    check(usrsctp_setsockopt(s, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer),
          "receive buffer");
    set(s, SCTP_NODELAY, &at_once, sizeof at_once, "Nagle");
    set(s, SCTP_MAX_BURST, &burst, sizeof burst, "bursts");
    set(s, SCTP_INITMSG, &streams, sizeof streams, "streams");
    set(s, SCTP_PEER_ADDR_PARAMS, &path, sizeof path, "packet size");
    set_times(s, out);
}

/* The number of the rank, or the next one whose port is free at the node. */
static void choose_port(struct sctp_state *state, struct sctp_endpoint *e, uint32_t rank)
{
    for (uint32_t number = rank;; number++) {
        uint64_t port = (PORT_ROW_FIRST + number % PORT_ROWS) << 8 | number / PORT_ROWS % 256;
        int is_new;

        if (map_find(&state->ports, (uint64_t)e->host->node << 16 | port))
            continue;
        map_insert(&state->numbers, number, &is_new);
        if (!is_new)
            continue;
        map_insert(&state->ports, (uint64_t)e->host->node << 16 | port, NULL);
        e->port = (uint16_t)port;
        e->link = (uint16_t)(number / PORTS);
        return;
    }
}

static void fill_address(struct sockaddr_conn *a, void *link, uint16_t port)
{
    memset(a, 0, sizeof *a);
    a->sconn_family = AF_CONN;
    a->sconn_port = htons(port);
    a->sconn_addr = link;
}

static struct socket *open_socket(struct sctp_host *host, uint16_t port, uint32_t mtu,
                                  const struct packet_options *out, const struct packet_options *in)
{
    struct sockaddr_conn any;
    struct socket *s;

    sctp_system_enter(host, NULL);
    s = usrsctp_socket(AF_CONN, SOCK_SEQPACKET, IPPROTO_SCTP, receive, sent, 0, NULL);
    check(s ? 0 : -1, "socket");
    set_options(s, host->state->net, mtu, out, in);
    fill_address(&any, NULL, port);
    check(usrsctp_bind(s, (struct sockaddr *)&any, sizeof any), "bind");
    check(usrsctp_listen(s, 1), "listen");
    sctp_system_leave();
    return s;
}

/* A message's last piece ends with a packet that is not full, the others do not. */
static uint32_t piece_of(uint32_t mtu)
{
    uint32_t payload = mtu - SCTP_IP_HEADER - SCTP_COMMON_HEADER - SCTP_DATA_HEADER;

    payload -= payload % 4;
    return SCTP_PIECE - SCTP_PIECE % payload;
}

/* The number of a set of options. */
static uint64_t set_of(struct sctp_state *state, const struct packet_stream *out,
                       const struct packet_stream *in, uint32_t mtu)
{
    const struct packet_options *first = state->net->options;
    uint64_t key = (uint64_t)(out->options - first) << 40 | (uint64_t)(in->options - first) << 16 |
                   mtu;
    uint64_t *at = map_insert(&state->sets, key, NULL);

    if (*at == 0)
        *at = state->sets.count;
    return *at;
}

struct sctp_endpoint *sctp_stack_endpoint(struct sctp_state *state, const struct packet_stream *out,
                                          const struct packet_stream *in, uint32_t mtu)
{
    const struct packet_net *n = state->net;
    uint64_t key = set_of(state, out, in, mtu) << 32 | out->src;
    uint64_t *at = map_insert(&state->endpoints, key, NULL);
    struct sctp_endpoint *e = (struct sctp_endpoint *)(uintptr_t)*at;

    if (e)
        return e;
    e = mem_zalloc(sizeof *e);
    *at = (uintptr_t)e;
    e->host = host_of(state, net_node(n->net, out->src));
    choose_port(state, e, out->src);
    e->send_buffer = out->options->send_buffer;
    e->piece = piece_of(mtu);
    e->socket = open_socket(e->host, e->port, mtu, out->options, in->options);
    return e;
}

/* ---- sending and receiving ---- */

/* The window with which an association begins is a setting of the stack. */
static void enter(struct sctp_end *end)
{
    sctp_system_enter(end->endpoint->host, end);
    usrsctp_sysctl_set_sctp_initial_cwnd(end->base.options->initial_window);
}

int sctp_stack_send(struct sctp_end *end, uint32_t substream, uint32_t bytes)
{
    struct sctp_sndinfo info = {.snd_sid = (uint16_t)substream};
    const struct sctp_endpoint *e = end->endpoint, *to = end->peer->endpoint;
    struct sockaddr_conn address;
    ssize_t done;
    int is_full;

    register_links(e->host, to->link);
    fill_address(&address, address_of(to->link), to->port);
    enter(end);
    done = usrsctp_sendv(e->socket, e->host->state->zeros, bytes, (struct sockaddr *)&address, 1,
                         substream ? &info : NULL, substream ? sizeof info : 0,
                         substream ? SCTP_SENDV_SNDINFO : SCTP_SENDV_NOINFO, 0);
    is_full = done < 0 && (errno == EWOULDBLOCK || errno == EAGAIN);
    if (!is_full && done != (ssize_t)bytes)
        check(-1, "send");
    sctp_system_leave();
    return !is_full;
}

void sctp_stack_input(struct sctp_end *end, const struct sctp_packet *p)
{
    uint8_t ecn = p->base.flags & PACKET_MARKED     ? ECN_MARKED
                  : p->base.flags & PACKET_CAN_MARK ? ECN_CAPABLE
                                                    : 0;

    register_links(end->endpoint->host, end->peer->endpoint->link);
    enter(end);
    usrsctp_conninput(address_of(end->peer->endpoint->link), p->data, p->bytes, ecn);
    sctp_system_leave();
}

uint64_t sctp_stack_window(struct sctp_end *end)
{
    const struct sctp_endpoint *to = end->peer->endpoint;
    struct sctp_paddrinfo info = {0};
    socklen_t size = sizeof info;
    int rc;

    fill_address((struct sockaddr_conn *)&info.spinfo_address, address_of(to->link), to->port);
    enter(end);
    rc = usrsctp_getsockopt(end->endpoint->socket, IPPROTO_SCTP, SCTP_GET_PEER_ADDR_INFO, &info,
                            &size);
    sctp_system_leave();
    return rc < 0 ? 0 : info.spinfo_cwnd;
}

void sctp_stack_count(struct sctp_state *state, uint64_t *counts)
{
    uint64_t host;

    counts[NET_RETRANSMITTED] = counts[NET_TIMEOUTS] = 0;
    for (size_t it = 0; map_next(&state->host_of_node, &it, NULL, &host);) {
        struct sctpstat s;

        sctp_system_enter((struct sctp_host *)(uintptr_t)host, NULL);
        usrsctp_get_stat(&s);
        sctp_system_leave();
        counts[NET_RETRANSMITTED] += s.sctps_sendretransdata;
        counts[NET_TIMEOUTS] += s.sctps_timodata + s.sctps_timoinit + s.sctps_timocookie;
    }
}
