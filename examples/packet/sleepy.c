/*
 * sleepy.c - a library to preload, for MPICH on a cluster that is one computer.
 *
 * MPICH polls while it waits, which is wrong for more ranks than processors. With this library a
 * rank that finds nothing sleeps for a moment, short beside the delays of the network. And its TCP
 * connections use CUBIC, whatever the computer's default is: only single sockets can be told so in
 * a network namespace.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 20000
#define CONGESTION "cubic"

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

/* Fails where there is no CUBIC: the comparison would be with something else. */
int socket(int domain, int type, int protocol)
{
    static int (*real)(int, int, int);
    int fd;

    if (!real)
        real = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
    fd = real(domain, type, protocol);
    if (fd < 0 || domain != AF_INET || (type & 0xf) != SOCK_STREAM)
        return fd;
    if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, CONGESTION, strlen(CONGESTION)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}
