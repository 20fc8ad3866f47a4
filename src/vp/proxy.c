/*
 * proxy.c - the child of the zygote in the place of a rank's process on another computer (see
 * remote.h). A thread for each channel does here what the process asks for.
 *
 * All variables of this library are shared with other processes. So what a proxy needs is in memory
 * of its own.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "vp/libc/libc.h"
#include "vp/remote.h"
#include "vp/vp_internal.h"

#define PAGES_MOST 512 /* with more pages, those go that have not changed for long */
#define TURNS_KEPT 8   /* turns that count as long */
#define WHY 1024
#define STATUS_MS 3000 /* how long to wait until it is known how a process has ended */

struct vp_proxy {
    struct vp_process *process;
    int fd[VP_CHANNELS];
    pthread_mutex_t lock; /* of the pages */
    struct remote_pages pages;
    struct remote_bytes out;
    struct remote_bytes in[VP_CHANNELS];
    void (*call)(void);       /* what the scheduler is to call */
    _Atomic uint32_t awaits;  /* the main thread waits for the turn, and does not read */
    _Atomic uint32_t is_lost; /* its loss has been reported */
    char computer[256];
};

static struct vp_proxy *own(void)
{
    return vp_private.proxy;
}

/* ---- a lost process ---- */

_Noreturn static void wait_for_the_end(void)
{
    for (;;)
        syscall(SYS_pause);
}

_Noreturn static void lose(const char *why)
{
    struct vp_proxy *x = own();

    if (!atomic_exchange(&x->is_lost, 1))
        vp_hooks->lost(x->process->rank, why);
    wait_for_the_end();
}

/* How it has ended, from who has started it. */
static int knows_status(int *status)
{
    struct pollfd in = {.fd = own()->fd[REMOTE_STATUS], .events = POLLIN};
    int32_t told;

    if (REAL(poll)(&in, 1, STATUS_MS) != 1 || sys_read(in.fd, &told, sizeof told) != sizeof told)
        return 0;
    *status = told;
    return 1;
}

_Noreturn static void lose_connection(void)
{
    char why[WHY];
    int status;

    if (knows_status(&status) && !atomic_exchange(&own()->is_lost, 1)) {
        vp_hooks->died(own()->process->rank, status);
        wait_for_the_end();
    }
    snprintf(why, sizeof why,
             "its process on '%s' has died, or that computer cannot be reached any more",
             own()->computer);
    lose(why);
}

/* A process that has ended closes all connections. It said so before by that of the main thread,
 * unless it waits for the turn there. */
static void look_for_end(void)
{
    if (atomic_load(&own()->awaits))
        lose_connection();
}

/* ---- turns ---- */

static int is_old(const struct remote_pages *p, const struct remote_slot *s)
{
    return p->in_use > PAGES_MOST && p->turn - s->used > TURNS_KEPT;
}

/* Gives the process the turn. Others must not allocate meanwhile: the process has the lists of free
 * memory. */
static void grant(enum remote_channel to)
{
    struct vp_proxy *x = own();
    struct remote_pages *p = &x->pages;
    struct remote_head head = {.op = REMOTE_TURN, .arg = (uint64_t)x->process};
    int rc;

    arena_hold();
    pthread_mutex_lock(&x->lock);
    x->out.len = 0;
    p->turn++;
    for (uint32_t i = 0; i < p->top; i++) {
        struct remote_slot *s = &p->slots[i];

        if (!s->page)
            continue;
        if (to == REMOTE_MAIN && is_old(p, s)) { /* the program does not run */
            remote_add_drop(s, &x->out);
            remote_remove(p, s);
        } else {
            remote_add_changes(p, s, &x->out);
        }
    }
    rc = remote_send(x->fd[to], head, &x->out);
    pthread_mutex_unlock(&x->lock);
    if (rc != 0)
        lose_connection();
}

static void apply(const struct remote_bytes *changes)
{
    struct vp_proxy *x = own();

    pthread_mutex_lock(&x->lock);
    remote_apply(&x->pages, changes, NULL);
    pthread_mutex_unlock(&x->lock);
}

/* The process gives the turn back. */
static void take(const struct remote_bytes *changes)
{
    apply(changes);
    arena_release();
}

static void help(void)
{
    struct vp_proxy *x = own();
    struct remote_head head;

    for (;;) {
        grant(REMOTE_HELPER);
        if (remote_receive(x->fd[REMOTE_HELPER], &head, &x->in[REMOTE_HELPER]) != 0)
            lose_connection();
        take(&x->in[REMOTE_HELPER]);
        if (head.op != REMOTE_CALL)
            return;
        vp_private.host->call((void (*)(void))head.arg);
    }
}

static void call(void)
{
    vp_private.host->call(own()->call);
}

/* Waits for the turn, and passes it on. */
static void await(void (*how)(void))
{
    atomic_store(&own()->awaits, 1);
    how();
    atomic_store(&own()->awaits, 0); /* first: the process may end soon */
    grant(REMOTE_MAIN);
}

/* What the program's thread does. */
static void act(const struct remote_head *head)
{
    struct vp_proxy *x = own();

    apply(&x->in[REMOTE_MAIN]);
    if (head->op != REMOTE_COME_BACK && head->op != REMOTE_HELP)
        arena_release();
    switch ((enum remote_op)head->op) {
    case REMOTE_COME_BACK:
        await(vp_private.host->come_back);
        return;
    case REMOTE_SUSPEND:
        await(vp_private.host->suspend);
        return;
    case REMOTE_CALL:
        x->call = (void (*)(void))head->arg;
        await(call);
        return;
    case REMOTE_END:
        vp_private.host->end();
    case REMOTE_GO_OUT:
        vp_private.host->go_out();
        return;
    case REMOTE_HELP:
        vp_private.host->help(help);
        return;
    default:
        lose("its process has sent what nobody understands");
    }
}

/* ---- the other channels ---- */

static int is_zero(const char *page)
{
    return page[0] == 0 && memcmp(page, page + 1, REMOTE_PAGE - 1) == 0;
}

static int send_pages(char *page, uint32_t count)
{
    struct vp_proxy *x = own();
    struct remote_head head = {.op = REMOTE_GOT, .count = count};
    size_t flags = count;
    int rc;

    pthread_mutex_lock(&x->lock);
    x->out.len = 0;
    remote_extend(&x->out, flags);
    for (uint32_t i = 0; i < count; i++) {
        struct remote_slot *s = remote_find(&x->pages, page + i * REMOTE_PAGE);
        char *copy;

        if (!s)
            s = remote_add(&x->pages, page + i * REMOTE_PAGE);
        copy = remote_copy(&x->pages, s);
        memcpy(copy, s->page, REMOTE_PAGE);
        x->out.data[i] = !is_zero(copy);
        if (x->out.data[i])
            memcpy(remote_extend(&x->out, REMOTE_PAGE), copy, REMOTE_PAGE);
    }
    rc = remote_send(x->fd[REMOTE_PAGES], head, &x->out);
    pthread_mutex_unlock(&x->lock);
    return rc;
}

static void *serve_pages(void *unused)
{
    struct vp_proxy *x = own();
    struct remote_bytes *in = &x->in[REMOTE_PAGES];
    struct remote_head head;

    (void)unused;
    while (remote_receive(x->fd[REMOTE_PAGES], &head, in) == 0) {
        if (head.op == REMOTE_LEAVE) {
            apply(in);
            vp_private.host->leave((void (*)(void))head.arg);
        }
        if (send_pages((char *)head.arg, head.count) != 0)
            break;
    }
    for (;; sys_pause(1000))
        look_for_end();
    return NULL;
}

static void *serve_clock(void *unused)
{
    (void)unused;
    vp_hooks->serve_clock(own()->fd[REMOTE_CLOCK]);
    return NULL;
}

static void start_thread(void *(*fn)(void *))
{
    pthread_t thread;
    int rc = REAL(pthread_create)(&thread, NULL, fn, NULL);

    if (rc != 0)
        log_fatal("cannot start a thread for a rank: %s", strerror(rc));
}

/* ---- the beginning ---- */

static void meet(struct vp_proxy *x)
{
    struct remote_bytes *in = &x->in[REMOTE_MAIN];
    struct remote_head head;
    char why[WHY / 2], text[WHY];
    const char *line;

    snprintf(x->computer, sizeof x->computer, "?");
    if (remote_receive(x->fd[REMOTE_MAIN], &head, in) != 0 || head.op != REMOTE_HELLO)
        lose_connection();
    line = memchr(in->data, '\n', in->len);
    snprintf(x->computer, sizeof x->computer, "%.*s", (int)(line ? line - in->data : 0), in->data);
    if (remote_agrees(in, vp_hooks->rank(x->process->rank) >= vp_remotes()->others, why,
                      sizeof why))
        return;
    snprintf(text, sizeof text, "its process on '%s' cannot take part: %s", x->computer, why);
    lose(text);
}

void vp_proxy_main(struct vp_process *p, int fd)
{
    struct vp_proxy *x = remote_map(sizeof *x);
    struct remote_head head;

    x->process = p;
    for (int i = 0; i < VP_CHANNELS; i++)
        x->fd[i] = fd + i;
    pthread_mutex_init(&x->lock, NULL);
    vp_private.proxy = x;
    meet(x);
    remote_pages_open(&x->pages);
    turn_await(&p->turn);
    vp_private.current = p->rank;
    start_thread(serve_pages);
    start_thread(serve_clock);
    grant(REMOTE_MAIN);
    while (remote_receive(fd, &head, &x->in[REMOTE_MAIN]) == 0)
        act(&head);
    lose_connection();
}
