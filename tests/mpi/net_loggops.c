/* test: n=2,3,8 native=2 measured=no schedules=5 run="--set net.model=loggops,net.latency=10us,net.bandwidth=8Gbps,net.gap=2us,mpi.send_overhead=1us,mpi.recv_overhead=3us,mpi.send_per_kib=512ns,mpi.recv_per_kib=256ns,mpi.clock_cost=1ps"
 * The LogGOPS model against its definition: ping-pong, a train of messages, a message to each rank,
 * a large message, and a broadcast along a binomial tree. G = 1 ns, O = 0.5 and 0.25 ns per
 * byte. */
#include "timing.h"

#define L (10 * US)
#define G NS
#define GAP (2 * US)

enum { SMALL = 1000, LARGE = 1000000, TRAIN = 8, MOST = 64 };

static double send_cost(int bytes)
{
    return US + bytes * 0.5 * NS;
}

static double recv_cost(int bytes)
{
    return 3 * US + bytes * 0.25 * NS;
}

static void test_pingpong(void)
{
    for (int bytes = 0; bytes <= 4 * SMALL; bytes += SMALL) {
        together();
        if (rank == 0) {
            send(bytes, 1);
            took("a send", send_cost(bytes));
            receive(bytes, 1);
            took("ping-pong", 2 * (send_cost(bytes) + L + bytes * G + recv_cost(bytes)));
        } else if (rank == 1) {
            receive(bytes, 0);
            send(bytes, 0);
        }
    }
}

/* The adapter sends them one after the other, with a gap; the sender is done earlier. The other
 * adapter takes in a message when the processor has received the one before. */
static void test_train(void)
{
    double leaves = 0, arrived = 0, received = 0;

    together();
    for (int i = 0; i < TRAIN && rank == 0; i++) {
        send(SMALL, 1);
        took("sender of a train", (i + 1) * send_cost(SMALL));
    }
    for (int i = 0; i < TRAIN && rank == 1; i++) {
        leaves = fmax((i + 1) * send_cost(SMALL), i ? leaves + GAP + SMALL * G : 0);
        arrived = fmax(leaves + L, received) + SMALL * G;
        received = arrived + fmax(GAP, recv_cost(SMALL));
        receive(SMALL, 0);
        took("train", arrived + recv_cost(SMALL));
    }
}

/* The gap is between messages of one rank to anyone; many to one wait for each other. */
static void test_fan(void)
{
    double first = send_cost(SMALL), next = GAP + SMALL * G;
    double arrival = send_cost(SMALL) + L + SMALL * G;

    together();
    for (int to = 1; to < size && rank == 0; to++)
        send(SMALL, to);
    if (rank) {
        receive(SMALL, 0);
        took("one to all", first + (rank - 1) * next + L + SMALL * G + recv_cost(SMALL));
    }
    together();
    if (rank)
        send(SMALL, 0);
    for (int from = 1; from < size && rank == 0; from++) {
        receive(SMALL, from);
        took("all to one", arrival + from * recv_cost(SMALL) + (from - 1) * SMALL * G);
    }
}

/* Rank r's children in a binomial tree are r + 2^k, the farthest first. */
static void test_broadcast(void)
{
    double ready[MOST] = {0};

    for (int r = 0; r < size; r++) {
        int mask = 1, sent = 0;
        double free_at = 0;

        while (mask < size && !(r & mask))
            mask <<= 1;
        while ((mask >>= 1)) {
            double leaves = ready[r] + ++sent * send_cost(SMALL);

            if (r + mask >= size) {
                sent--;
                continue;
            }
            leaves = fmax(leaves, free_at);
            free_at = leaves + GAP + SMALL * G;
            ready[r + mask] = leaves + L + SMALL * G + recv_cost(SMALL);
        }
        ready[r] += sent * send_cost(SMALL);
    }
    together();
    MPI_Bcast(buffer, SMALL, MPI_CHAR, 0, MPI_COMM_WORLD);
    took("broadcast", ready[rank]);
}

int main(int argc, char **argv)
{
    timing_init(&argc, &argv);
    test_pingpong();
    test_train();
    test_fan();
    test_broadcast();
    timing_finish();
    return 0;
}
