/* test: n=1,2,5 native=2 measured=no
 * All clocks of a rank agree and never go back; sleeping and declared computing advance them by
 * the time asked for; a message carries the sender's time to the receiver. */
#define _GNU_SOURCE
#include "check.h"

#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double monotonic(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double realtime(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_REALTIME, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double day_time(void)
{
    struct timeval now;
    CHECK(gettimeofday(&now, 0) == 0);
    return (double)now.tv_sec + (double)now.tv_usec * 1e-6;
}

static void sleep_half(int way)
{
    struct timespec part = {0, 20000000}, rest;
    if (way == 0)
        usleep(20000);
    else if (way == 1)
        nanosleep(&part, &rest);
    else if (way == 2)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &part, 0);
    else
        check_spend(0.02);
}

/* Slept 20 ms: exactly that in virtual time, at least that in real time. */
static void check_elapsed(double start, double end, double wanted)
{
    CHECK(end - start >= wanted - 2e-6);
    CHECK(!check_virtual() || end - start <= wanted + 1e-4);
}

static void sleeping(void)
{
    for (int way = 0; way < (check_virtual() ? 4 : 3); way++) {
        double w = MPI_Wtime(), m = monotonic(), r = realtime(), d = day_time();
        sleep_half(way);
        check_elapsed(w, MPI_Wtime(), 0.02);
        check_elapsed(m, monotonic(), 0.02);
        check_elapsed(r, realtime(), 0.02);
        check_elapsed(d, day_time(), 0.02);
    }
    time_t before = time(0);
    double start = MPI_Wtime();
    CHECK(sleep(1) == 0);
    time_t after = time(0);
    check_elapsed(start, MPI_Wtime(), 1.0);
    CHECK(after >= before + 1 && (!check_virtual() || after <= before + 2));
}

static void agreeing(void)
{
    double low = realtime(), middle = day_time(), high = realtime();
    CHECK(middle >= low - 1e-6 && middle <= high + 1e-6);
    CHECK((double)time(0) <= realtime());
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 0.01);
    double last = MPI_Wtime(), steady = monotonic();
    for (int i = 0; i < 100; i++) {
        double now = MPI_Wtime(), next = monotonic();
        CHECK(now >= last && next >= steady);
        last = now;
        steady = next;
    }
}

/* A polling loop on the clock must end: reading it costs time. */
static void polling(void)
{
    double start = MPI_Wtime();
    while (MPI_Wtime() < start + 1e-4)
        ;
    struct timespec resolution;
    CHECK(clock_getres(CLOCK_MONOTONIC, &resolution) == 0 && resolution.tv_sec == 0);
    CHECK(clock() != (clock_t)-1);
}

/* Rank 0 is late; nobody can know its message before it was sent. */
static void carried(int rank, int size)
{
    double sent = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        usleep(30000);
        sent = MPI_Wtime();
        for (int r = 1; r < size; r++)
            MPI_Send(&sent, 1, MPI_DOUBLE, r, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&sent, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(!check_virtual() || MPI_Wtime() >= sent);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    sleeping();
    check_ok("sleeping");
    agreeing();
    check_ok("agreeing");
    polling();
    check_ok("polling");
    carried(check_rank(), check_size());
    check_ok("carried");
    double end = MPI_Wtime();
    if (check_virtual() && check_rank() == 0)
        printf("virtual: ends at %.9f\n", end);
    MPI_Finalize();
    return 0;
}
