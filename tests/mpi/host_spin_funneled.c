/* test: n=2,3,5 native=2 measured=no host=threads flags="-pthread" run="--set net.model=flow,net.latency=10us,net.bandwidth=8Gbps,nodes.ranks=1,mpi.clock_cost=1ps"
 * The same where one thread of a rank calls MPI: the others are not waited for, so the times are
 * exact. */
#include <mpi.h>
#define LEVEL MPI_THREAD_FUNNELED
#include "host_spin.c"
