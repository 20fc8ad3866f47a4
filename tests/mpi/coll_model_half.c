/* test: n=5,8 native=4 measured=no schedules=5 run="--collectives model --set net.latency=100us,net.bandwidth=1Gbps,mpi.send_overhead=3us,mpi.recv_overhead=5us,mpi.clock_cost=1ps,mpi.collective_factor=0.5"
 * Collectives as a cost model, at half the cost. */
#define FACTOR 0.5
#include "coll_model.h"
