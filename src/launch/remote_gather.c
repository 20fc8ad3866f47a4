/*
 * remote_gather.c - see remote_internal.h: processes that join.
 *
 * Anybody may connect. Nothing is read from a connection but a hello, without waiting for it, and
 * nothing follows from one whose proof is wrong. So strangers cannot hold up the others, nor end
 * the run: they take one of PENDING_MOST slots until they are dropped.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "launch/remote_internal.h"
#include "launch/watch.h"
#include "run/run.h"

#define JOIN_S 120.0 /* for all processes to join */
#define HELLO_S 10.0 /* for a connection to say what it is */
#define PENDING_MOST 256
#define TICK_MS 200

/* A connection that has not said all of its hello. */
struct pending {
    int fd;
    double end;
    size_t got;
    struct remote_greeting greeting;
    struct remote_hello hello;
};

/* All that is waited for: the guard, signals, listeners, then pending connections, oldest first. */
enum { GUARD, SIGNALS, OTHERS };

struct crowd {
    struct remote_gathering *g;
    struct pending at[PENDING_MOST];
    unsigned count;
    struct pollfd fds[OTHERS + REMOTE_LISTENERS + PENDING_MOST];
};

static void forget(struct crowd *c, unsigned i, int keep)
{
    if (!keep)
        close(c->at[i].fd);
    memmove(&c->at[i], &c->at[i + 1], (--c->count - i) * sizeof c->at[0]);
}

/* Without random numbers there are no proofs: then nobody can join, which is an error. */
static void greet(struct crowd *c, int fd, struct err *err)
{
    struct pending p = {.fd = fd, .end = launch_watch_now() + HELLO_S};
    p.greeting.magic = REMOTE_MAGIC;
    remote_set_up(fd);
    if (sys_random(p.greeting.nonce, sizeof p.greeting.nonce) != 0)
        err_set(err, ERR_SYSTEM, "the system has no random numbers: %s", strerror(errno));
    else if (send(fd, &p.greeting, sizeof p.greeting, MSG_NOSIGNAL) == sizeof p.greeting) {
        if (c->count == PENDING_MOST)
            forget(c, 0, 0);
        c->at[c->count++] = p;
        return;
    }
    close(fd);
}

static void accept_from(struct crowd *c, int listener, struct err *err)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        greet(c, fd, err);
    else if ((errno == EMFILE || errno == ENFILE) && c->count > 0)
        forget(c, 0, 0);
    else if (errno == EMFILE || errno == ENFILE)
        err_set(err, ERR_SYSTEM, "too many connections to other computers: %s; see 'ulimit -n'",
                strerror(errno));
}

static struct remote_joined *find(struct remote_gathering *g, const struct remote_hello *h)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].process == h->process)
            return &g->at[i];
    if (g->count == g->wanted)
        return NULL;
    struct remote_joined *j = &g->at[g->count++];
    *j = (struct remote_joined){.process = h->process, .number = h->number};
    for (int i = 0; i < VP_CHANNELS; i++)
        j->fd[i] = -1;
    return j;
}

static int is_complete(const struct remote_joined *j)
{
    for (int i = 0; i < VP_CHANNELS; i++)
        if (j->fd[i] < 0)
            return 0;
    return 1;
}

/* It has the key. A process that connects again has lost its first connection, as to an address by
 * which it did not get an answer in time. */
static void join(struct remote_gathering *g, const struct pending *p, struct err *err)
{
    const struct remote_hello *h = &p->hello;
    struct remote_joined *j = h->page == sizeof(struct run_page) ? find(g, h) : NULL;
    struct remote_answer answer;
    if (!j) {
        err_set(err, ERR_SYSTEM,
                h->page != sizeof(struct run_page)
                    ? "another computer has another version of Orrery: all need the same one"
                    : "the launcher has started more processes than it was to: %u",
                g->wanted);
        close(p->fd);
        return;
    }
    remote_prove_answer(g->key, &p->greeting, h, answer.proof);
    int was = is_complete(j), flags = fcntl(p->fd, F_GETFL);
    if (j->fd[h->channel] >= 0)
        close(j->fd[h->channel]);
    j->fd[h->channel] = p->fd;
    g->complete += (uint32_t)(is_complete(j) - was);
    if (fcntl(p->fd, F_SETFL, flags & ~O_NONBLOCK) != 0 ||
        send(p->fd, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer)
        err_set(err, ERR_SYSTEM, "a process on another computer has gone again");
}

static int knows_key(const struct remote_gathering *g, const struct pending *p)
{
    unsigned char proof[SIPHASH_BYTES];
    remote_prove_hello(g->key, &p->greeting, &p->hello, proof);
    return p->hello.magic == REMOTE_MAGIC && remote_is_proof(proof, p->hello.proof) &&
           p->hello.channel >= 0 && p->hello.channel < VP_CHANNELS;
}

/* Reads what is there. */
static void hear(struct crowd *c, unsigned i, struct err *err)
{
    struct pending *p = &c->at[i];
    ssize_t n = recv(p->fd, (char *)&p->hello + p->got, sizeof p->hello - p->got, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    p->got += n > 0 ? (size_t)n : 0;
    if (n > 0 && p->got < sizeof p->hello)
        return;
    int joins = n > 0 && knows_key(c->g, p);
    if (joins)
        join(c->g, p, err);
    forget(c, i, joins);
}

static unsigned prepare(struct crowd *c)
{
    unsigned n = OTHERS;
    for (unsigned i = 0; i < c->g->listeners.count; i++)
        c->fds[n++] = (struct pollfd){c->g->listeners.fd[i], POLLIN, 0};
    for (unsigned i = 0; i < c->count; i++)
        c->fds[n++] = (struct pollfd){c->at[i].fd, POLLIN, 0};
    return n;
}

/* Pending connections first: accepting changes their order. */
static void serve(struct crowd *c, struct err *err)
{
    double now = launch_watch_now();
    unsigned listeners = c->g->listeners.count;
    for (unsigned i = c->count; i-- > 0 && err->code == ERR_OK;)
        if (c->fds[OTHERS + listeners + i].revents)
            hear(c, i, err);
    while (c->count > 0 && c->at[0].end < now)
        forget(c, 0, 0);
    for (unsigned i = 0; i < listeners && err->code == ERR_OK; i++)
        if (c->fds[OTHERS + i].revents)
            accept_from(c, c->g->listeners.fd[i], err);
}

static void take_signals(int fd, int *signal)
{
    for (int sig; (sig = launch_watch_signal(fd)) != 0;)
        if (sig != SIGCHLD)
            *signal = sig;
}

int remote_gather(struct remote_gathering *g, struct launch_guard *guard, int *signal,
                  struct err *err)
{
    struct crowd *c = mem_zalloc(sizeof *c);
    double end = launch_watch_now() + JOIN_S;
    c->g = g;
    c->fds[GUARD] = (struct pollfd){guard->fd, POLLIN, 0};
    c->fds[SIGNALS] = (struct pollfd){launch_watch_signals(), POLLIN, 0};
    err->code = ERR_OK;
    while (g->complete < g->wanted && err->code == ERR_OK) {
        int ready = poll(c->fds, prepare(c), TICK_MS);
        if (ready >= 0)
            serve(c, err);
        if (ready > 0 && c->fds[SIGNALS].revents)
            take_signals(c->fds[SIGNALS].fd, signal);
        if (*signal)
            err_set(err, ERR_INTERNAL, "ended by signal %d", *signal);
        else if (ready > 0 && c->fds[GUARD].revents && g->complete < g->wanted &&
                 err->code == ERR_OK)
            err_set(err, ERR_SYSTEM,
                    "the launcher has ended, and %u of %u processes have joined; see above",
                    g->complete, g->wanted);
        else if (launch_watch_now() > end && err->code == ERR_OK && g->complete < g->wanted)
            err_set(err, ERR_SYSTEM,
                    "only %u of %u processes have joined within %d s: does the launcher start "
                    "them, and can they reach this computer? See --listen",
                    g->complete, g->wanted, (int)JOIN_S);
    }
    while (c->count > 0)
        forget(c, c->count - 1, 0);
    close(c->fds[SIGNALS].fd);
    mem_free(c);
    return err->code;
}
