/* test: n=2,5,16 native=4 measured=no schedules=20 run="--collectives model --set net.latency=100us,net.bandwidth=1Gbps,mpi.send_overhead=3us,mpi.recv_overhead=5us,mpi.clock_cost=1ps,mpi.collective_factor=0"
 * Collectives that cost nothing: ranks leave with the last entry. */
#define FACTOR 0.0
#include "coll_model.h"
