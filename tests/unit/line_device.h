/*
 * A device that does all that a device may do: it holds messages back, it sees sizes only, and its
 * other end is another process, which says when they arrive.
 *
 *     rank -> buffer of 100 bytes -> a link of 1 byte/ns -> 1 us -> rank
 *                                    '--- in the other process ---'
 *
 * A message that does not fit into its sender's buffer waits; when there is room, the smallest that
 * fits goes first, so that notices come in another order than the messages were sent in. The buffer
 * belongs to the sender's rank.
 *
 * One test program is one translation unit that includes this header, and defines rank_main.
 */
#ifndef LINE_DEVICE_H
#define LINE_DEVICE_H

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/medium.h"
#include "mpi/p2p/p2p_internal.h"
#include "tap.h"

enum { RANKS_MAX = 3, STACK = 128 << 10 };

static void rank_main(int rank);
#include "vp_standin.h"

enum { BUFFER = 100, SLOTS = 64, EAGER = 1000, LARGE = 5000, POLL_MS = 60000 };
#define LATENCY VTIME_US
#define TEST_COST (100 * VTIME_NS)

/* ---- the other end ---- */

enum wire_kind { WIRE_SEND, WIRE_WAIT, WIRE_LEFT, WIRE_OUT, WIRE_CLOCK, WIRE_CLOSED };

struct wire {
    uint32_t kind, slot, src, spare;
    uint64_t bytes;
    vtime t;
};

struct link {
    struct wire events[2 * SLOTS];
    uint32_t count;
    vtime free_at[RANKS_MAX];
};

static void link_take(struct link *l, struct wire w)
{
    vtime *free_at = &l->free_at[w.src];

    *free_at = (w.t > *free_at ? w.t : *free_at) + (vtime)w.bytes * VTIME_NS;
    w.kind = WIRE_LEFT;
    w.t = *free_at;
    l->events[l->count++] = w;
    w.kind = WIRE_OUT;
    w.t += LATENCY;
    l->events[l->count++] = w;
}

static int wire_before(const struct wire *a, const struct wire *b)
{
    if (a->t != b->t)
        return a->t < b->t;
    return a->src != b->src ? a->src < b->src : a->kind < b->kind;
}

/* The first event up to `due`, or that the clock is there. */
static struct wire link_next(struct link *l, vtime due)
{
    uint32_t first = 0;
    struct wire w;

    for (uint32_t i = 1; i < l->count; i++)
        first = wire_before(&l->events[i], &l->events[first]) ? i : first;
    if (l->count == 0 || l->events[first].t > due)
        return (struct wire){.kind = due == VTIME_NEVER ? WIRE_CLOSED : WIRE_CLOCK, .t = due};
    w = l->events[first];
    memmove(&l->events[first], &l->events[first + 1], (--l->count - first) * sizeof w);
    return w;
}

/* The other process, until this one closes its end. */
static void link_run(int fd)
{
    static struct link l;
    struct wire w;

    while (read(fd, &w, sizeof w) == (ssize_t)sizeof w) {
        if (w.kind == WIRE_SEND) {
            link_take(&l, w);
            continue;
        }
        w = link_next(&l, w.t);
        if (write(fd, &w, sizeof w) != (ssize_t)sizeof w)
            break;
    }
    _exit(0);
}

/* ---- this end ---- */

struct slot {
    struct engine_msg *m;
    struct device_send how; /* while it waits in front of the buffer */
    uint64_t bytes, cookie;
    int held;
};

static struct wireline {
    int fd;
    pid_t pid;
    struct slot slots[SLOTS];
    uint64_t filled[RANKS_MAX];
    uint64_t held, swapped, most_carried;
} line;

static struct engine_medium medium;

static uint32_t slot_new(struct engine_msg *m)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        if (!line.slots[i].m) {
            line.slots[i] = (struct slot){.m = m};
            return i;
        }
    abort();
}

static void tell(struct wire w)
{
    if (write(line.fd, &w, sizeof w) != (ssize_t)sizeof w)
        abort();
}

static void line_submit(void *owner, struct engine_msg *m, const struct engine_call *call)
{
    uint32_t i = slot_new(m);

    (void)owner;
    line.slots[i].bytes = call->load;
    line.slots[i].cookie = call->cookie;
    tell((struct wire){.kind = WIRE_SEND,
                       .slot = i,
                       .src = m->src,
                       .bytes = call->load,
                       .t = m->arrival});
}

static int fits(uint32_t src, uint64_t bytes)
{
    return bytes == 0 || line.filled[src] == 0 || line.filled[src] + bytes <= BUFFER;
}

static void enter_buffer(struct engine_msg *m, const struct device_send *how, vtime t)
{
    struct engine_call call = {how->bytes, how->until == DEVICE_LEFT ? how->cookie : 0, how->order,
                               how->tie};

    line.filled[m->src] += how->bytes;
    m->arrival = t;
    engine_submit(&mpi_world.engine, m, &call);
}

static struct device_sent line_send(struct device *d, struct engine_msg *m,
                                    const struct device_send *how)
{
    uint32_t i;

    (void)d;
    if (m->size > line.most_carried)
        line.most_carried = m->size;
    if (fits(m->src, how->bytes)) {
        enter_buffer(m, how, how->t);
        return (struct device_sent){0, how->cookie && how->until == DEVICE_LEFT ? DEVICE_BY_NOTICE
                                                                                : how->t};
    }
    i = slot_new(m);
    line.slots[i].how = *how;
    line.slots[i].held = 1;
    line.held++;
    return (struct device_sent){0, how->cookie ? DEVICE_BY_NOTICE : how->t};
}

/* The smallest message that waits for room in the rank's buffer and fits; or SLOTS. */
static uint32_t first_held(uint32_t src)
{
    uint32_t best = SLOTS;

    for (uint32_t i = 0; i < SLOTS; i++) {
        const struct slot *s = &line.slots[i];

        if (s->m && s->held && s->m->src == src && fits(src, s->how.bytes) &&
            (best == SLOTS || s->how.bytes < line.slots[best].how.bytes))
            best = i;
    }
    return best;
}

static void room_is_free(uint32_t src, vtime t)
{
    uint32_t i;

    while ((i = first_held(src)) < SLOTS) {
        struct slot s = line.slots[i];

        for (uint32_t k = 0; k < i; k++)
            line.swapped += line.slots[k].m && line.slots[k].held && line.slots[k].m->src == src;
        line.slots[i].m = NULL;
        if (s.how.cookie && s.how.until == DEVICE_TAKEN)
            engine_notify(&mpi_world.engine, src, s.how.cookie, t);
        enter_buffer(s.m, &s.how, t);
    }
}

static vtime line_wait(void *owner, vtime due)
{
    struct pollfd fd = {.fd = line.fd, .events = POLLIN};
    struct wire w = {.kind = WIRE_WAIT, .t = due};
    struct slot *s;

    (void)owner;
    tell(w);
    if (poll(&fd, 1, POLL_MS) != 1 || read(line.fd, &w, sizeof w) != (ssize_t)sizeof w)
        abort();
    if (w.kind == WIRE_CLOSED)
        return VTIME_NEVER;
    if (w.kind == WIRE_CLOCK)
        return w.t + 1;
    s = &line.slots[w.slot];
    if (w.kind == WIRE_LEFT) {
        line.filled[w.src] -= w.bytes;
        if (s->cookie)
            engine_notify(&mpi_world.engine, w.src, s->cookie, w.t);
        room_is_free(w.src, w.t);
        return w.t;
    }
    s->m->arrival = w.t;
    engine_emerge(&mpi_world.engine, s->m);
    s->m = NULL;
    return w.t;
}

static const struct device_ops line_ops = {.name = "line", .may_hold = 1, .send = line_send};

static void line_open(void)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
        abort();
    memset(&line, 0, sizeof line);
    line.pid = fork();
    if (line.pid == 0) {
        close(ends[0]);
        link_run(ends[1]);
    }
    close(ends[1]);
    line.fd = ends[0];
}

static void line_close(void)
{
    close(line.fd);
    waitpid(line.pid, NULL, 0);
}

#endif
