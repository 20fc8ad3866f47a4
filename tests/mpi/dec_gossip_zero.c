/* test: n=2,5,16 native=4 measured=no run="--set net.latency=0,net.bandwidth=inf"
 * The same on a network without any delay: all order comes from ties and their causes. */
#include "dec_gossip.c"
