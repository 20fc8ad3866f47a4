/* test: n=2,5,16 native=4 measured=no run="--set net.latency=0,net.bandwidth=inf"
 * The same on a network without any delay, where candidates of one time are told apart by rank. */
#include "dec_any_source.c"
