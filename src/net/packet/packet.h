/*
 * packet.h - the face of the packet network: names of its variants, for help and checks.
 *
 * The model itself is net_packet_ops, one line of the table in net.c.
 */
#ifndef NET_PACKET_PACKET_H
#define NET_PACKET_PACKET_H

/* The tables: names, and settings that only some variants use; NULL beyond the last. Static. */
const char *packet_transport_name(unsigned i);
const char *const *packet_transport_uses(unsigned i);
const char *packet_fabric_name(unsigned i);
const char *const *packet_fabric_uses(unsigned i);
/* Words of net.packet.streams, in the order of enum net_substreams, and of net.packet.congestion.
 * */
const char *packet_streams_name(unsigned i);
const char *tcp_congestion_name(unsigned i);
const char *message_control_name(unsigned i); /* of net.packet.rate_control */

#endif
