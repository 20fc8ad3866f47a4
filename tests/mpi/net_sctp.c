/* test: n=2,5 native=4 args="11 4" schedules=8 measured=no run="--set net.model=packet,net.packet.transport=sctp,net.latency=10us,net.bandwidth=1Gbps,net.packet.error_rate=0.03,net.packet.min_rto=5ms,nodes.ranks=1"
 * Random traffic over SCTP on links that lose packets: nothing is lost or out of order for MPI, and
 * no schedule, host or number of processes changes a time. */
#include "fuzz_p2p.c"
