/*
 * capture.h - packets as pcap files, at hosts and ports of switches (--pcap). Never included
 * outside net/packet/.
 *
 * A *tap* is a place where packets are seen: a host ("n3": what its link sends and receives), or a
 * port of a switch ("s0-n3": the port that leads to node 3; "s0-s1#1": the second cable to switch
 * 1). Each has a file, which is made when it sees its first packet. A packet is seen when it begins
 * to leave, and when its last byte has arrived.
 *
 *     Ethernet 14 | IPv4 20 | what the transport says (packet_transport_ops.image)
 *
 * Records are kept in memory, sorted by time and written in pieces. A file is opened anew for every
 * piece: the processes of ranks may write it in turn, which share memory but no descriptors.
 */
#ifndef NET_PACKET_CAPTURE_H
#define NET_PACKET_CAPTURE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/vtime.h"

struct packet;
struct packet_net;
struct packet_port;
struct packet_tap;

/* Captures from now on. `folder` is an absolute path, `pattern` a list of shell patterns of taps,
 * separated by commas; both are borrowed. ERR_INPUT: packets cannot be shown. */
int packet_capture_begin(struct packet_net *, const char *folder, const char *pattern,
                         struct err *);
/* Writes what is left; returns the first failure, if there was one. */
int packet_capture_end(struct packet_net *, struct err *);
void packet_capture_fini(struct packet_net *);

/* The port is new: finds its taps. */
void packet_capture_port(struct packet_net *, struct packet_port *);
/* The tap sees the packet at t. */
void packet_capture_take(struct packet_net *, struct packet_tap *, const struct packet *, vtime t);

/* ---- for the images of transports ---- */

/* Between whom a packet goes: IPv4 addresses. */
struct packet_ends {
    uint32_t src, dst;
};

/* The port of a rank, the same for all its connections. */
uint16_t packet_capture_port_of(uint32_t rank);
/* Appends integers in network order. */
void packet_put16(struct buf *, uint32_t);
void packet_put32(struct buf *, uint32_t);
void packet_put_zeros(struct buf *, size_t);
/* The checksum of TCP and UDP over the bytes, with the pseudo-header of IPv4. The field of the
 * checksum is 0 in them. */
uint16_t packet_checksum(const struct packet_ends *, uint8_t protocol, const void *, size_t);

#endif
