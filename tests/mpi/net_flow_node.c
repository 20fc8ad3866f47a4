/* test: n=2,4,12 native=2 measured=no schedules=5 run="--set net.model=flow,net.latency=10us,net.bandwidth=8Gbps,nodes.ranks=4,net.intra.latency=1us,net.intra.bandwidth=16Gbps,net.intra.memory_bandwidth=24Gbps,mpi.clock_cost=1ps"
 * The flow model with four ranks on a node: a copy takes 0.5 ns per byte, all of a node together
 * 1/3 ns, and the node's link 1 ns. */
#include "timing.h"

enum { PART = 12000 };

#define INTRA US
#define INTER (10 * US)

/* One copy has its own limit, more share the memory. */
static void test_memory(void)
{
    for (int senders = 1; senders <= 4 && size >= 4; senders++) {
        double per_byte = senders == 1 ? 0.5 * NS : senders / 3.0 * NS;
        int place = rank % 4, first = rank - place;

        together();
        if (place < senders)
            send(PART, first + (place + 1) % 4);
        if (place && place <= senders) {
            receive(PART, rank - 1);
            took("in a node", INTRA + PART * per_byte);
        } else if (place == 0 && senders == 4) {
            receive(PART, first + 3);
            took("in a node, from the last", INTRA + PART * per_byte);
        }
    }
}

/* The ranks of a node share its link; the memory does not limit them. */
static void test_link(void)
{
    if (size != 12)
        return;
    together();
    shift(PART, (rank + 4) % 12, (rank + 8) % 12);
    took("node to node", INTER + 4 * PART * NS);
    together(); /* three stay in the node, one leaves */
    shift(PART, (rank + 1) % 12, (rank + 11) % 12);
    took("ring", rank % 4 ? INTRA + PART * NS : INTER + PART * NS);
}

int main(int argc, char **argv)
{
    timing_init(&argc, &argv);
    test_memory();
    test_link();
    timing_finish();
    return 0;
}
