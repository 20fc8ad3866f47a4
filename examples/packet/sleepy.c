/*
 * sleepy.c - a library to preload: MPICH polls while it waits, which is wrong for more ranks than
 * processors. With it a rank that finds nothing sleeps for a moment, short beside the delays of the
 * network.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <time.h>

#define PAUSE_NS 20000

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *);
    const struct timespec pause = {0, PAUSE_NS};
    unsigned count;

    if (!real)
        real = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    count = real(worker);
    if (count == 0)
        nanosleep(&pause, NULL);
    return count;
}
