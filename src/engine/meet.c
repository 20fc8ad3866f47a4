/*
 * meet.c - a barrier over TCP. All calls block, with time limits, so neither a thread nor a signal
 * is needed.
 */
#define _GNU_SOURCE 1
#include "engine/meet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "base/mem.h"
#include "base/sys.h"

#define STRANGERS 64 /* connections of others than guests at a time */

/* Of the system: ranks are done, but clocks of libc may still be theirs. */
static double now(void)
{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (sys_random(out->key, sizeof out->key) != 0 ||
        bind(fd, (struct sockaddr *)&in, sizeof in) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, (struct sockaddr *)&in, &size) != 0) {
        sys_close(fd);
        return -1;
    }
    out->port = in.sin_port;
    find_addresses(out);
    return fd;
}

/* Those who have come. The first are known to have the key; the others have sent a part of it. */
struct crowd {
    struct guest {
        int fd;
        uint32_t got;
        unsigned char key[MEET_KEY];
    } * at;
    uint32_t count, known, room;
};

static void send_away(struct crowd *c, uint32_t i)
{
    sys_close(c->at[i].fd);
    memmove(&c->at[i], &c->at[i + 1], (--c->count - i) * sizeof c->at[0]);
}

/* When strangers fill the room, the first of them goes. */
static void let_in(struct crowd *c, int fd)
{
    int guest = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (guest < 0 && errno != EMFILE && errno != ENFILE)
        return;
    if ((guest < 0 || c->count == c->room) && c->count > c->known)
        send_away(c, c->known);
    if (guest >= 0)
        c->at[c->count++] = (struct guest){.fd = guest};
}

/* Reads what the guest has sent. */
static void look_at(struct crowd *c, uint32_t i, const unsigned char *key)
{
    struct guest *g = &c->at[i], known;
    ssize_t n = recv(g->fd, g->key + g->got, MEET_KEY - g->got, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    g->got += n > 0 ? (uint32_t)n : 0;
    if (n > 0 && g->got < MEET_KEY)
        return;
    if (n <= 0 || memcmp(g->key, key, MEET_KEY) != 0) {
        send_away(c, i);
        return;
    }
    known = *g;
    *g = c->at[c->known];
    c->at[c->known++] = known;
}

/* Waits for anything to happen until `end`, and handles it. Returns 0 if nothing does. */
static int serve(struct crowd *c, struct pollfd *fds, int fd, const unsigned char *key, double end)
{
    uint32_t strangers = c->count - c->known, first = c->known;
    double left = end - now();
    fds[0] = (struct pollfd){fd, POLLIN, 0};
    for (uint32_t i = 0; i < strangers; i++)
        fds[i + 1] = (struct pollfd){c->at[first + i].fd, POLLIN, 0};
    int ready = left > 0 ? poll(fds, strangers + 1, (int)(left * 1e3) + 1) : 0;
    if (ready <= 0)
        return ready < 0 && errno == EINTR;
    for (uint32_t i = strangers; i-- > 0;)
        if (fds[i + 1].revents)
            look_at(c, first + i, key);
    if (fds[0].revents)
        let_in(c, fd);
    return 1;
}

uint32_t meet_lead(int fd, const struct meet_address *at, uint32_t others, unsigned seconds)
{
    struct crowd c = {.room = others + STRANGERS};
    struct pollfd *fds = mem_alloc((c.room + 1) * sizeof *fds);
    double end = now() + seconds;
    c.at = mem_alloc(c.room * sizeof *c.at);
    while (c.known < others) {
        uint32_t before = c.known;
        if (!serve(&c, fds, fd, at->key, end))
            break;
        if (c.known > before)
            end = now() + seconds;
    }
    for (uint32_t i = 0; i < c.count; i++)
        sys_close(c.at[i].fd);
    sys_close(fd);
    mem_free(c.at);
    mem_free(fds);
    return c.known;
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
    (void)send(fd, at->key, sizeof at->key, MSG_NOSIGNAL); /* on failure it is not there any more */
    while (recv(fd, &nothing, 1, 0) < 0 && errno == EINTR)
        ;
    sys_close(fd);
    return 1;
}
