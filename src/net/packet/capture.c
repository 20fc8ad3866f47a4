/*
 * capture.c - see capture.h. The format of the files is that of libpcap with times in nanoseconds
 * (magic a1b23c4d), in the byte order of this computer, link type Ethernet.
 *
 * A queue knows when a packet will leave before it does, so records come with times in the future:
 * a piece holds what is not later than now, in order of (time, arrival of the record).
 */
#include "net/packet/capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sys.h"
#include "net/port_names.h"
#include "net/packet/packet_internal.h"

#define MAGIC_NS 0xa1b23c4du
#define LINK_ETHERNET 1
#define SNAP 262144               /* bytes of a packet that are kept at most: all */
#define PIECE ((size_t)1 << 20)   /* bytes of a tap that are written at once */
#define MEMORY ((size_t)64 << 20) /* of all taps */
#define FIRST_ADDRESS 0x0a000001u /* of node 0: 10.0.0.1 */
#define FIRST_PORT 1024
#define PORTS 64499 /* a prime, so that ranks of a node do not share a port */
#define TTL 64
#define DONT_FRAGMENT 0x4000
#define IP_HEADER 20
#define MTU_MOST 65500 /* the headers of a capture may be longer than those of the model */

struct record {
    vtime t;
    uint64_t at; /* in bytes; grows with each record */
    uint32_t size;
};

struct packet_tap {
    char *path, name[NET_NAME_MAX];
    struct path_file file;
    struct buf bytes; /* of the records that are not written */
    struct record *records;
    size_t count, room;
    size_t flush_at; /* bytes */
    uint64_t offset; /* in the file; 0: there is none yet */
};

struct packet_capture {
    const char *folder, *pattern;
    struct map tap_of; /* index + 1, by a hash of the name */
    struct packet_tap **taps;
    uint32_t count, room;
    size_t held, flush_at; /* bytes of all taps */
    struct buf piece;
    struct err err; /* code 0: no failure yet */
};

/* ---- bytes ---- */

void packet_put16(struct buf *out, uint32_t v)
{
    const uint8_t bytes[] = {(uint8_t)(v >> 8), (uint8_t)v};

    buf_add(out, bytes, sizeof bytes);
}

void packet_put32(struct buf *out, uint32_t v)
{
    packet_put16(out, v >> 16);
    packet_put16(out, v & 0xffff);
}

void packet_put_zeros(struct buf *out, size_t n)
{
    static const uint8_t zeros[1024];

    for (; n > sizeof zeros; n -= sizeof zeros)
        buf_add(out, zeros, sizeof zeros);
    buf_add(out, zeros, n);
}

uint16_t packet_capture_port_of(uint32_t rank)
{
    return (uint16_t)(FIRST_PORT + rank % PORTS);
}

/* RFC 1071. */
static uint32_t add_words(uint64_t sum, const void *data, size_t n)
{
    const uint8_t *at = data;

    for (; n > 1; n -= 2, at += 2)
        sum += (uint32_t)at[0] << 8 | at[1];
    sum += n ? (uint32_t)at[0] << 8 : 0;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint32_t)sum;
}

uint16_t packet_checksum(const struct packet_ends *ends, uint8_t protocol, const void *data,
                         size_t n)
{
    uint64_t sum = (ends->src >> 16) + (ends->src & 0xffff) + (ends->dst >> 16) +
                   (ends->dst & 0xffff) + protocol + n;

    return (uint16_t)~add_words(sum, data, n);
}

static uint32_t address_of(const struct packet_net *n, uint32_t rank)
{
    return FIRST_ADDRESS + net_node(n->net, rank);
}

/* An address that nobody owns (locally administered), with the IP address in it. */
static void put_mac(struct buf *out, uint32_t address)
{
    packet_put16(out, 0x0200);
    packet_put32(out, address);
}

/* RFC 3168: 2: able to take marks; 3: marked. */
static uint8_t ecn_of(const struct packet *p)
{
    return p->flags & PACKET_MARKED ? 3 : p->flags & PACKET_CAN_MARK ? 2 : 0;
}

static void put_frame(struct packet_net *n, const struct packet *p, struct buf *out)
{
    int is_back = p->flags & PACKET_CONTROL; /* from the receiver of the stream */
    const struct packet_ends ends = {address_of(n, is_back ? p->stream->dst : p->stream->src),
                                     address_of(n, is_back ? p->stream->src : p->stream->dst)};
    size_t ip;
    uint32_t sum, length;
    char *head;

    put_mac(out, ends.dst);
    put_mac(out, ends.src);
    packet_put16(out, 0x0800);
    ip = out->len;
    packet_put16(out, 0x4500u | ecn_of(p));
    packet_put16(out, 0); /* length */
    packet_put32(out, DONT_FRAGMENT);
    packet_put16(out, TTL << 8 | n->transport->protocol);
    packet_put16(out, 0); /* checksum */
    packet_put32(out, ends.src);
    packet_put32(out, ends.dst);
    n->transport->image(n, p, &ends, out);
    head = out->data + ip;
    length = (uint32_t)(out->len - ip);
    head[2] = (char)(length >> 8);
    head[3] = (char)length;
    sum = ~add_words(0, head, IP_HEADER);
    head[10] = (char)(sum >> 8);
    head[11] = (char)sum;
}

/* ---- files ---- */

static int write_at(int fd, const struct buf *b, uint64_t offset)
{
    for (size_t done = 0; done < b->len;) {
        ssize_t n = sys_pwrite(fd, b->data + done, b->len - done, (off_t)(offset + done));

        if (n < 0 && errno != EINTR)
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static void write_piece(struct packet_capture *c, struct packet_tap *tap)
{
    int fd = tap->offset ? path_reopen(tap->path, &tap->file, 0)
                         : path_create(tap->path, &tap->file, &c->err);

    if ((fd < 0 && tap->offset) || (fd >= 0 && write_at(fd, &c->piece, tap->offset)))
        err_set(&c->err, ERR_SYSTEM, "cannot write '%s': %s", tap->path, strerror(errno));
    if (fd >= 0)
        sys_close(fd);
    tap->offset += c->piece.len;
}

static int by_time(const void *a, const void *b)
{
    const struct record *x = a, *y = b;

    if (x->t != y->t)
        return x->t < y->t ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void put_head(struct buf *out)
{
    const struct {
        uint32_t magic;
        uint16_t major, minor;
        uint32_t zone, digits, snap, link;
    } head = {MAGIC_NS, 2, 4, 0, 0, SNAP, LINK_ETHERNET};

    buf_add(out, &head, sizeof head);
}

/* Keeps the records from `first` on. */
static void keep(struct packet_capture *c, struct packet_tap *tap, size_t first)
{
    struct buf rest;

    buf_init(&rest);
    for (size_t i = first; i < tap->count; i++) {
        uint64_t at = rest.len;

        buf_add(&rest, tap->bytes.data + tap->records[i].at, tap->records[i].size);
        tap->records[i - first] = (struct record){tap->records[i].t, at, tap->records[i].size};
    }
    tap->count -= first;
    c->held -= tap->bytes.len - rest.len;
    buf_fini(&tap->bytes);
    tap->bytes = rest;
    tap->flush_at = rest.len + PIECE;
}

/* Writes what was seen up to `now`. */
static void flush(struct packet_capture *c, struct packet_tap *tap, vtime now)
{
    size_t i = 0;

    qsort(tap->records, tap->count, sizeof *tap->records, by_time);
    buf_clear(&c->piece);
    if (tap->offset == 0)
        put_head(&c->piece);
    for (; i < tap->count && tap->records[i].t <= now; i++)
        buf_add(&c->piece, tap->bytes.data + tap->records[i].at, tap->records[i].size);
    if (i > 0 && c->err.code == 0)
        write_piece(c, tap);
    keep(c, tap, i);
}

static void flush_all(struct packet_capture *c, vtime now)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->taps[i]->count > 0)
            flush(c, c->taps[i], now);
    c->flush_at = c->held + MEMORY;
}

void packet_capture_take(struct packet_net *n, struct packet_tap *tap, const struct packet *p,
                         vtime t)
{
    struct packet_capture *c = n->capture;
    struct record r = {t, tap->bytes.len, 0};
    uint32_t head[4] = {(uint32_t)(t / VTIME_S), (uint32_t)(t % VTIME_S / VTIME_NS)};

    if (p->flags & PACKET_BACKGROUND)
        return; /* it has no content */
    buf_add(&tap->bytes, head, sizeof head);
    put_frame(n, p, &tap->bytes);
    r.size = (uint32_t)(tap->bytes.len - r.at);
    head[2] = head[3] = r.size - (uint32_t)sizeof head;
    memcpy(tap->bytes.data + r.at, head, sizeof head);
    ARRAY_RESERVE(tap->records, tap->room, tap->count + 1, 16);
    tap->records[tap->count++] = r;
    c->held += r.size;
    if (tap->bytes.len >= tap->flush_at)
        flush(c, tap, n->now);
    if (c->held >= c->flush_at)
        flush_all(c, n->now);
}

/* ---- taps ---- */

static struct packet_tap *new_tap(const char *folder, const char *name)
{
    struct packet_tap *tap = mem_zalloc(sizeof *tap);
    size_t size = strlen(folder) + strlen(name) + sizeof "/.pcap";

    tap->path = mem_alloc(size);
    snprintf(tap->path, size, "%s/%s.pcap", folder, name);
    snprintf(tap->name, sizeof tap->name, "%s", name);
    tap->flush_at = PIECE;
    return tap;
}

static uint64_t hash_of(const char *name)
{
    uint64_t state = 0;

    for (; *name; name++) {
        state ^= (uint8_t)*name;
        state = rng_splitmix(&state);
    }
    return state;
}

/* What a port of `vertex` that leads to `peer` shows; NULL: nobody wants it. */
static struct packet_tap *tap_at(struct packet_net *n, uint32_t vertex, uint32_t peer,
                                 uint32_t cable)
{
    struct packet_capture *c = n->capture;
    char name[NET_NAME_MAX];
    uint64_t *at, key;

    if (vertex < topo_nodes(n->net->topo))
        peer = vertex;
    net_port_name(n->net->topo, vertex, peer, cable, name, sizeof name);
    if (!net_name_matches(c->pattern, name))
        return NULL;
    for (key = hash_of(name); *(at = map_insert(&c->tap_of, key, NULL)); key++)
        if (strcmp(c->taps[*at - 1]->name, name) == 0)
            return c->taps[*at - 1];
    ARRAY_RESERVE(c->taps, c->room, c->count + 1, 16);
    c->taps[c->count] = new_tap(c->folder, name);
    *at = ++c->count;
    return c->taps[c->count - 1];
}

void packet_capture_port(struct packet_net *n, struct packet_port *port)
{
    uint32_t cable = net_link_cable(n->net->topo, port->link);

    port->leaves = tap_at(n, port->from, port->to, cable);
    port->arrives = tap_at(n, port->to, port->from, cable);
}

/* ---- all of it ---- */

int packet_capture_begin(struct packet_net *n, const char *folder, const char *pattern,
                         struct err *err)
{
    struct packet_capture *c;

    if (!n->transport->image)
        return err_set(err, ERR_INPUT,
                       "--pcap: packets of net.packet.transport '%s' cannot be shown",
                       n->transport->name);
    if (n->mtu_most > MTU_MOST)
        return err_set(err, ERR_INPUT,
                       "--pcap: net.packet.mtu: '%u' is too large: at most %d bytes", n->mtu_most,
                       MTU_MOST);
    c = mem_zalloc(sizeof *c);
    c->folder = folder;
    c->pattern = pattern;
    c->flush_at = MEMORY;
    map_init(&c->tap_of);
    n->capture = c;
    return 0;
}

int packet_capture_end(struct packet_net *n, struct err *err)
{
    struct packet_capture *c = n->capture;

    flush_all(c, VTIME_NEVER);
    if (c->count == 0)
        log_warn("--pcap-at: '%s' matches nothing that carried packets: hosts are n0, n1, ..., "
                 "ports of switches s0-n0, s0-s1, ...",
                 c->pattern);
    if (c->err.code)
        *err = c->err;
    return c->err.code;
}

void packet_capture_fini(struct packet_net *n)
{
    struct packet_capture *c = n->capture;

    if (!c)
        return;
    for (uint32_t i = 0; i < c->count; i++) {
        buf_fini(&c->taps[i]->bytes);
        mem_free(c->taps[i]->records);
        mem_free(c->taps[i]->path);
        mem_free(c->taps[i]);
    }
    map_fini(&c->tap_of);
    buf_fini(&c->piece);
    mem_free(c->taps);
    mem_free(c);
}
