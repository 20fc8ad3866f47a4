/* test: n=2,5 native=2 measured=no schedules=20 run="--set net.model=packet,net.packet.transport=message,net.packet.fabric=credit,net.latency=10us,net.bandwidth=8Gbps,net.hop_latency=0,net.packet.mtu=1026,net.packet.framing=0,net.packet.header=50,net.packet.send_buffer=20000,mpi.clock_cost=1ps,nodes.ranks=1"
 * The packet model on one switch against closed forms: packets that are stored and forwarded, a
 * send buffer that holds the sender back, rendezvous, and many messages to one rank. 8 Gbit/s are
 * 1 ns per byte; a packet carries 1000 bytes in 1026, and a message has 50 bytes more. */
#include "timing.h"

#define LATENCY (10 * US)
#define PACKET (1026 * NS)

enum { ONE = 950, TEN = 9950, MANY = 59950, LARGE = 999950 };

static void test_alone(void)
{
    together();
    if (rank == 0) {
        send(ONE, 1);
        receive(TEN, 1);
        took("one packet and back ten", 2 * LATENCY + (2 + 11) * PACKET);
    } else if (rank == 1) {
        receive(ONE, 0);
        send(TEN, 0);
    }
}

/* Sixty packets, of which twenty fit into the buffer. */
static void test_held_back(void)
{
    together();
    if (rank == 0) {
        send(MANY, 1);
        took("forty have left", 40 * PACKET);
    } else if (rank == 1) {
        receive(MANY, 0);
        took("sixty have come", LATENCY + 61 * PACKET);
    }
}

/* Announcement and answer are packets of 76 bytes. */
static void test_rendezvous(void)
{
    double small = 76 * NS, answered = 2 * (LATENCY + 2 * small);

    together();
    if (rank == 0) {
        send(LARGE, 1);
        took("all but twenty have left", answered + 980 * PACKET);
    } else if (rank == 1) {
        receive(LARGE, 0);
        took("a thousand have come", answered + LATENCY + 1001 * PACKET);
    }
}

static void test_incast(void)
{
    together();
    if (rank > 0) {
        send(TEN, 0);
        return;
    }
    for (int r = 1; r < size; r++)
        receive(TEN, r);
    took("all over one link", LATENCY + (10 * (size - 1) + 1) * PACKET);
}

int main(int argc, char **argv)
{
    timing_init(&argc, &argv);
    test_alone();
    test_held_back();
    test_rendezvous();
    test_incast();
    timing_finish();
    return 0;
}
