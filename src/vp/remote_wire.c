/*
 * remote_wire.c - messages between a process on another computer and its proxy.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/log.h"
#include "base/sys.h"
#include "vp/remote.h"

#define FIRST_ROOM ((size_t)64 << 10)

void *remote_map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED)
        log_fatal("no memory for the connection to another computer");
    return at;
}

char *remote_extend(struct remote_bytes *b, size_t bytes)
{
    size_t room = b->room ? b->room : FIRST_ROOM;
    char *at;

    while (room - b->len < bytes)
        room *= 2;
    if (room != b->room) {
        char *more = remote_map(room);

        if (b->room) {
            memcpy(more, b->data, b->len);
            munmap(b->data, b->room);
        }
        b->data = more;
        b->room = room;
    }
    at = b->data + b->len;
    b->len += bytes;
    return at;
}

/* Sends all parts, which it changes. */
static int send_parts(int fd, struct iovec *part, size_t count)
{
    while (count > 0) {
        struct msghdr m = {.msg_iov = part, .msg_iovlen = count};
        ssize_t n = (ssize_t)syscall(SYS_sendmsg, fd, &m, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        while (count > 0 && (size_t)n >= part->iov_len) {
            n -= (ssize_t)part->iov_len;
            part++;
            count--;
        }
        if (count > 0) {
            part->iov_base = (char *)part->iov_base + n;
            part->iov_len -= (size_t)n;
        }
    }
    return 0;
}

int remote_send(int fd, struct remote_head head, const struct remote_bytes *b)
{
    struct iovec parts[2] = {{&head, sizeof head}, {b ? b->data : NULL, b ? b->len : 0}};

    head.bytes = parts[1].iov_len;
    return send_parts(fd, parts, head.bytes ? 2 : 1);
}

static int receive_all(int fd, char *at, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = (ssize_t)syscall(SYS_recvfrom, fd, at, bytes, MSG_WAITALL, NULL, NULL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        at += n;
        bytes -= (size_t)n;
    }
    return 0;
}

int remote_receive(int fd, struct remote_head *head, struct remote_bytes *b)
{
    b->len = 0;
    if (receive_all(fd, (char *)head, sizeof *head) != 0)
        return -1;
    return receive_all(fd, remote_extend(b, head->bytes), head->bytes);
}
