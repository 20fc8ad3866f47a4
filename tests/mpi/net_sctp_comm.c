/* test: n=2,5 native=4 args="23 4" schedules=5 measured=no run="--set net.model=packet,net.packet.transport=sctp,net.packet.streams=communicator,net.latency=10us,net.bandwidth=1Gbps,net.packet.error_rate=0.03,net.packet.min_rto=5ms,nodes.ranks=1"
 * Random traffic over SCTP with a stream for each communicator: messages of one still come in
 * order, whatever tag they are received with. */
#include "fuzz_p2p.c"
