/* test: n=2,5 native=2 host=threads flags="-fopenmp" output=sorted run="--set net.model=flow,net.latency=1us,net.bandwidth=10Gbps"
 * OpenMP on a network with contention. */
#include "host_openmp.c"
