/*
 * relay.c - a link with delay: passes frames between two TAP devices, each after a while.
 *
 *     relay LEFT RIGHT NANOSECONDS
 *
 * It creates both devices in its network namespace, prints "ready", and runs until its standard
 * input ends. A line there is a new delay. Frames of a direction keep their order, also when the
 * delay gets shorter. Devices carry segmentation offload, so a frame may be a segment of 64 KiB
 * of TCP, and the relay costs little at gigabits per second.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX (80 << 10)
#define QUEUE_MAX (64 << 20) /* bytes in flight; more are dropped, as a full switch does */
#define BURST 64             /* frames read at a time, so that due ones do not wait long */

struct frame {
    struct frame *next;
    int64_t due;
    size_t size;
    char bytes[];
};

/* Frames in flight from one device to the other. */
struct direction {
    int from, to;
    struct frame *first, **end;
    int64_t last_due;
    size_t bytes;
};

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void fail(const char *what, const char *subject)
{
    fprintf(stderr, "relay: cannot %s '%s': %s\n", what, subject, strerror(errno));
    exit(1);
}

static int open_tap(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        fail("open", "/dev/net/tun");
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    if (ioctl(fd, TUNSETIFF, &request) != 0)
        fail("create the device", name);
    if (ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) != 0)
        fail("set offloads of", name);
    return fd;
}

/* Takes what has arrived. */
static void take(struct direction *d, int64_t delay)
{
    char room[FRAME_MAX];
    for (int i = 0; i < BURST; i++) {
        ssize_t n = read(d->from, room, sizeof room);
        if (n <= 0)
            return;
        struct frame *f = d->bytes < QUEUE_MAX ? malloc(sizeof *f + (size_t)n) : NULL;
        if (!f)
            continue;
        int64_t due = now() + delay;
        d->last_due = f->due = due > d->last_due ? due : d->last_due;
        f->next = NULL;
        f->size = (size_t)n;
        memcpy(f->bytes, room, f->size);
        *d->end = f;
        d->end = &f->next;
        d->bytes += f->size;
    }
}

/* Hands on what is due. A device that is down refuses frames, which are lost then. */
static void give(struct direction *d)
{
    while (d->first && d->first->due <= now()) {
        struct frame *f = d->first;
        if (write(d->to, f->bytes, f->size) < 0 && errno == EAGAIN)
            return;
        d->first = f->next;
        if (!d->first)
            d->end = &d->first;
        d->bytes -= f->size;
        free(f);
    }
}

/* Reads new delays; returns 0 at the end of the input. */
static int listen_to(int fd, int64_t *delay)
{
    char text[64];
    ssize_t n = read(fd, text, sizeof text - 1);
    if (n <= 0)
        return 0;
    text[n] = 0;
    *delay = strtoll(text, NULL, 10);
    return 1;
}

static int64_t earliest(const struct direction *d)
{
    int64_t due = INT64_MAX;
    for (int i = 0; i < 2; i++)
        if (d[i].first && d[i].first->due < due)
            due = d[i].first->due;
    return due;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: relay LEFT RIGHT NANOSECONDS\n");
        return 2;
    }
    int64_t delay = strtoll(argv[3], NULL, 10);
    int left = open_tap(argv[1]), right = open_tap(argv[2]);
    struct direction d[2] = {{.from = left, .to = right}, {.from = right, .to = left}};
    d[0].end = &d[0].first;
    d[1].end = &d[1].first;
    prctl(PR_SET_TIMERSLACK, 1); /* by default timers may be 50 us late */
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        struct pollfd fds[] = {{left, POLLIN, 0}, {right, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
        int64_t due = earliest(d), wait = due - now();
        struct timespec t = {wait > 0 ? wait / 1000000000 : 0, wait > 0 ? wait % 1000000000 : 0};
        ppoll(fds, 3, due == INT64_MAX ? NULL : &t, NULL);
        for (int i = 0; i < 2; i++) {
            if (fds[i].revents & POLLIN)
                take(&d[i], delay);
            give(&d[i]);
        }
        if (fds[2].revents && !listen_to(STDIN_FILENO, &delay))
            return 0;
    }
}
