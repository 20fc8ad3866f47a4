/*
 * meet.c - a barrier over TCP. All calls block, with time limits of the sockets, so neither a
 * thread nor a signal is needed.
 */
#define _GNU_SOURCE 1
#include "engine/meet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/mem.h"
#include "base/sys.h"

static void limit(int fd, unsigned seconds)
{
    struct timeval most = {.tv_sec = seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most); /* connecting */
}

/* The addresses by which other machines may reach this one. */
static void find_addresses(struct meet_address *out)
{
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0)
        return;
    for (struct ifaddrs *at = all; at && out->count < MEET_ADDRESSES; at = at->ifa_next) {
        struct sockaddr_in in;
        if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET || at->ifa_flags & IFF_LOOPBACK ||
            !(at->ifa_flags & IFF_UP))
            continue;
        memcpy(&in, at->ifa_addr, sizeof in);
        out->ip[out->count++] = in.sin_addr.s_addr;
    }
    freeifaddrs(all);
}

int meet_open(struct meet_address *out)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    socklen_t size = sizeof in;
    memset(out, 0, sizeof *out);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&in, sizeof in) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, (struct sockaddr *)&in, &size) != 0) {
        sys_close(fd);
        return -1;
    }
    out->port = in.sin_port;
    find_addresses(out);
    return fd;
}

uint32_t meet_lead(int fd, uint32_t others, unsigned seconds)
{
    int *guests = mem_alloc((others + 1) * sizeof *guests);
    uint32_t count = 0;
    limit(fd, seconds);
    while (count < others) {
        int guest = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        if (guest >= 0)
            guests[count++] = guest;
        else if (errno != EINTR && errno != ECONNABORTED)
            break;
    }
    for (uint32_t i = 0; i < count; i++)
        sys_close(guests[i]);
    sys_close(fd);
    mem_free(guests);
    return count;
}

/* A connection to one of the addresses, or -1. */
static int reach(const struct meet_address *at, unsigned seconds)
{
    for (uint32_t i = 0; i < at->count && i < MEET_ADDRESSES; i++) {
        struct sockaddr_in in = {.sin_family = AF_INET,
                                 .sin_port = at->port,
                                 .sin_addr = {.s_addr = at->ip[i]}};
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
            return -1;
        limit(fd, seconds);
        if (connect(fd, (struct sockaddr *)&in, sizeof in) == 0)
            return fd;
        sys_close(fd);
    }
    return -1;
}

int meet_join(const struct meet_address *at, unsigned seconds)
{
    char nothing;
    int fd = reach(at, seconds);
    if (fd < 0)
        return 0;
    while (recv(fd, &nothing, 1, 0) < 0 && errno == EINTR)
        ;
    sys_close(fd);
    return 1;
}
