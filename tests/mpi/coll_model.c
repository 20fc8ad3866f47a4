/* test: n=1,2,3,7,16 native=4 measured=no schedules=20 run="--collectives model --set net.latency=100us,net.bandwidth=1Gbps,mpi.send_overhead=3us,mpi.recv_overhead=5us,mpi.clock_cost=1ps"
 * Collectives as a cost model. */
#define FACTOR 1.0
#include "coll_model.h"
