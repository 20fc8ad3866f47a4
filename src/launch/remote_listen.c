/*
 * remote_listen.c - see remote_internal.h: at which addresses of this computer processes can join.
 * There is a socket for each address, so nothing is open at the others.
 */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/remote_internal.h"

#define EVERYWHERE "all"

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static int is_loopback(const struct sockaddr *a)
{
    const union address *u = (const union address *)a;
    return a->sa_family == AF_INET ? (ntohl(u->v4.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET
                                   : IN6_IS_ADDR_LOOPBACK(&u->v6.sin6_addr);
}

static int is_usable(const struct sockaddr *a)
{
    return a && (a->sa_family == AF_INET ||
                 (a->sa_family == AF_INET6 &&
                  !IN6_IS_ADDR_LINKLOCAL(&((const union address *)a)->v6.sin6_addr)));
}

/* Returns 0, or an errno. */
static int listen_at(struct remote_listeners *l, const struct sockaddr *a, struct buf *out)
{
    union address at = {0};
    char text[INET6_ADDRSTRLEN];
    socklen_t size = a->sa_family == AF_INET ? sizeof at.v4 : sizeof at.v6;
    memcpy(&at, a, size);
    if (a->sa_family == AF_INET)
        at.v4.sin_port = 0;
    else
        at.v6.sin6_port = 0;
    int fd = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, &at.any, size) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, &at.any, &size) != 0) {
        int cause = errno;
        if (fd >= 0)
            close(fd);
        return cause;
    }
    l->fd[l->count++] = fd;
    if (a->sa_family == AF_INET)
        buf_addf(out, " %s/%d", inet_ntop(AF_INET, &at.v4.sin_addr, text, sizeof text),
                 ntohs(at.v4.sin_port));
    else
        buf_addf(out, " %s/%d", inet_ntop(AF_INET6, &at.v6.sin6_addr, text, sizeof text),
                 ntohs(at.v6.sin6_port));
    return 0;
}

/* Addresses of an interface, or of all (NULL): loopback first, at which no other computer answers.
 * Returns 0 or an errno; ENODEV if there is no such interface. */
static int listen_at_interface(struct remote_listeners *l, const char *name, struct buf *out)
{
    struct ifaddrs *all;
    int cause = ENODEV;
    if (getifaddrs(&all) != 0)
        return errno;
    for (int loopback = 1; loopback >= 0; loopback--)
        for (struct ifaddrs *i = all; i && l->count < REMOTE_LISTENERS; i = i->ifa_next)
            if (is_usable(i->ifa_addr) && (i->ifa_flags & IFF_UP) &&
                is_loopback(i->ifa_addr) == loopback && (!name || strcmp(name, i->ifa_name) == 0)) {
                int failed = listen_at(l, i->ifa_addr, out);
                cause = cause == ENODEV || !failed ? failed : cause;
            }
    freeifaddrs(all);
    return l->count ? 0 : cause;
}

/* Addresses of a host name; with `outside`, only those by which others may reach this computer, and
 * which it has. Returns 0 or an errno; ENODEV if the name is unknown. */
static int listen_at_host(struct remote_listeners *l, const char *name, int outside,
                          struct buf *out)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *all;
    int cause = ENODEV;
    if (getaddrinfo(name, NULL, &hints, &all) != 0)
        return ENODEV;
    for (struct addrinfo *i = all; i && l->count < REMOTE_LISTENERS; i = i->ai_next)
        if (is_usable(i->ai_addr) && !(outside && is_loopback(i->ai_addr)))
            cause = listen_at(l, i->ai_addr, out);
    freeaddrinfo(all);
    return l->count ? 0 : cause;
}

/* Where other computers know this one by its name; else everywhere. */
static int listen_by_name(struct remote_listeners *l, struct buf *out)
{
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) == 0 && listen_at_host(l, name, 1, out) == 0)
        return 0;
    return listen_at_interface(l, NULL, out);
}

int remote_listen(struct remote_listeners *l, const char *where, struct buf *out, struct err *err)
{
    int cause;
    l->count = 0;
    if (!where)
        cause = listen_by_name(l, out);
    else if (strcmp(where, EVERYWHERE) == 0)
        cause = listen_at_interface(l, NULL, out);
    else if ((cause = listen_at_interface(l, where, out)) == ENODEV)
        cause = listen_at_host(l, where, 0, out);
    if (cause && where)
        return err_set(err, ERR_INPUT, "--listen: cannot listen at '%s': %s", where,
                       cause == ENODEV || cause == EADDRNOTAVAIL
                           ? "it is neither an interface nor an address of this computer; see "
                             "'ip address'"
                           : strerror(cause));
    return cause ? err_set(err, ERR_SYSTEM, "cannot listen for processes on other computers: %s",
                           strerror(cause))
                 : 0;
}

void remote_listen_end(struct remote_listeners *l)
{
    while (l->count > 0)
        close(l->fd[--l->count]);
}
