/*
 * The random program of tests/random, for `orrery run` and `orrery hybrid`: what it computes, it
 * sleeps, which takes virtual time in both.
 */
#include <time.h>

#define orrery_compute sleep_for
#include "../random/random.c"

void sleep_for(double seconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(seconds * 1e9)}, NULL);
}
