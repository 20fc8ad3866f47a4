/*
 * procs_link.h - an adversarial link between engines that live in one process.
 *
 * It promises what struct proc_link does and no more: messages of one pair of processes come in
 * the order they were sent. Otherwise each message is held back for a random number of looks, by
 * its kind, so that a verdict may be overtaken by what others did because of it, or a batch by
 * reports.
 *
 * The engines run either in threads, or one at a time in contexts of their own that are switched at
 * random whenever the link is looked at. The latter finds more in less time, and the same for the
 * same seed.
 */
#ifndef PROCS_LINK_H
#define PROCS_LINK_H

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "base/rng.h"
#include "engine/procs.h"

enum { LINK_PROCS = 6, LINK_STACK = 256 << 10 };
enum { LINK_BATCH = 1, LINK_REPORT, LINK_VERDICT, LINK_OTHER, LINK_KINDS };
#define LINK_WAIT_NS 20000u
#define LINK_LOST 50000000ull /* looks in vain after which nothing more will come */

struct parcel {
    struct parcel *next;
    int tag;
    void *data;
    size_t bytes;
};

/* What has been sent to one process. */
struct mailbox {
    pthread_mutex_t lock;
    struct parcel *first[LINK_PROCS], **last[LINK_PROCS];
    int hold[LINK_PROCS]; /* looks before the first is given out; -1: not drawn yet */
};

struct net {
    uint32_t procs;
    int stepped;               /* contexts, not threads */
    uint32_t slow[LINK_KINDS]; /* most looks that a message is held back */
    struct mailbox box[LINK_PROCS];
    ucontext_t home, at[LINK_PROCS]; /* stepped */
    char *stack[LINK_PROCS];
    int finished[LINK_PROCS];
    uint32_t finished_count;
    uint64_t vain;                  /* looks in a row that gave nothing */
    uint64_t seed;                  /* for messages only */
    uint64_t delivered[LINK_KINDS]; /* stepped only */
};

struct port {
    struct net *net;
    uint32_t proc;
    struct rng rng;
};

static int link_kind(int tag)
{
    return tag < LINK_OTHER ? tag : LINK_OTHER;
}

/* Lets another engine go on. */
static void link_step(struct port *p)
{
    if (p->net->stepped)
        swapcontext(&p->net->at[p->proc], &p->net->home);
    else
        sched_yield();
}

static void link_send(void *owner, uint32_t to, int tag, void *data, size_t bytes)
{
    struct port *p = owner;
    struct mailbox *b = &p->net->box[to];
    struct parcel *m = malloc(sizeof *m);

    *m = (struct parcel){NULL, tag, data, bytes};
    pthread_mutex_lock(&b->lock);
    *b->last[p->proc] = m;
    b->last[p->proc] = &m->next;
    pthread_mutex_unlock(&b->lock);
}

/* One of the first of each source that need not be held any longer, or NULL. The lock is held. */
static struct parcel *link_pick(struct port *p, struct mailbox *b, uint32_t *from)
{
    uint32_t ready[LINK_PROCS], n = 0;
    struct parcel *m;

    for (uint32_t q = 0; q < p->net->procs; q++) {
        if (!b->first[q])
            continue;
        if (b->hold[q] < 0)
            b->hold[q] = (int)rng_below(&p->rng, p->net->slow[link_kind(b->first[q]->tag)] + 1u);
        if (b->hold[q] == 0)
            ready[n++] = q;
        else
            b->hold[q]--;
    }
    if (n == 0)
        return NULL;
    *from = ready[rng_below(&p->rng, n)];
    m = b->first[*from];
    b->first[*from] = m->next;
    if (!m->next)
        b->last[*from] = &b->first[*from];
    b->hold[*from] = -1;
    return m;
}

static int link_recv(void *owner, uint32_t *from, int *tag, void **data, size_t *bytes)
{
    struct port *p = owner;
    struct net *net = p->net;
    struct mailbox *b = &net->box[p->proc];
    struct parcel *m = NULL;

    if (rng_below(&p->rng, 4) == 0)
        link_step(p);
    if (rng_below(&p->rng, 8)) {
        pthread_mutex_lock(&b->lock);
        m = link_pick(p, b, from);
        pthread_mutex_unlock(&b->lock);
    }
    if (net->stepped && ++net->vain > LINK_LOST) {
        printf("Bail out! nothing moves any more: seed %llu\n", (unsigned long long)net->seed);
        exit(1);
    }
    if (!m) {
        link_step(p);
        return 0;
    }
    if (net->stepped) {
        net->vain = 0;
        net->delivered[link_kind(m->tag)]++;
    }
    *tag = m->tag;
    *data = m->data;
    *bytes = m->bytes;
    free(m);
    return 1;
}

static void link_close(void *owner)
{
    (void)owner;
}

static void net_start(struct net *net, uint32_t procs, int stepped, uint64_t seed)
{
    static const uint32_t slowness[] = {0, 0, 2, 10, 60};
    struct rng rng;

    memset(net, 0, sizeof *net);
    rng_seed(&rng, seed);
    net->procs = procs;
    net->stepped = stepped;
    net->seed = seed;
    for (int k = 0; k < LINK_KINDS; k++)
        net->slow[k] = slowness[rng_below(&rng, stepped ? 5 : 3)];
    for (uint32_t to = 0; to < procs; to++) {
        struct mailbox *b = &net->box[to];

        pthread_mutex_init(&b->lock, NULL);
        for (uint32_t q = 0; q < procs; q++) {
            b->last[q] = &b->first[q];
            b->hold[q] = -1;
        }
    }
}

/* Frees what was never received; returns how much of it are batches or items, which must not be. */
static int net_finish(struct net *net)
{
    int lost = 0;

    for (uint32_t to = 0; to < net->procs; to++) {
        for (uint32_t q = 0; q < net->procs; q++) {
            for (struct parcel *m; (m = net->box[to].first[q]);) {
                net->box[to].first[q] = m->next;
                lost += m->tag == LINK_BATCH || m->tag >= PROCS_ITEM;
                proc_link_free(m->data);
                free(m);
            }
        }
        pthread_mutex_destroy(&net->box[to].lock);
    }
    return lost;
}

/* ---- running all engines ---- */

struct link_task {
    struct net *net;
    uint32_t proc;
    void (*run)(void *);
    void *arg;
};

static void link_enter(unsigned high, unsigned low)
{
    struct link_task *t = (struct link_task *)((uintptr_t)high << 32 | low);

    t->run(t->arg);
    t->net->finished[t->proc] = 1;
    t->net->finished_count++;
}

static void link_make_context(struct net *net, struct link_task *t)
{
    ucontext_t *c = &net->at[t->proc];
    uintptr_t arg = (uintptr_t)t;

    net->stack[t->proc] = malloc(LINK_STACK);
    getcontext(c);
    c->uc_stack.ss_sp = net->stack[t->proc];
    c->uc_stack.ss_size = LINK_STACK;
    c->uc_link = &net->home;
    makecontext(c, (void (*)(void))link_enter, 2, (unsigned)(arg >> 32), (unsigned)arg);
}

static void link_resume(struct net *net, uint32_t proc)
{
    if (!net->finished[proc])
        swapcontext(&net->home, &net->at[proc]);
}

static void net_run_stepped(struct net *net, struct link_task *tasks)
{
    struct rng rng;

    rng_seed(&rng, ~net->seed);
    for (uint32_t i = 0; i < net->procs; i++)
        link_make_context(net, &tasks[i]);
    while (net->finished_count < net->procs)
        link_resume(net, (uint32_t)rng_below(&rng, net->procs));
    for (uint32_t i = 0; i < net->procs; i++)
        free(net->stack[i]);
}

static void *link_thread(void *arg)
{
    struct link_task *t = arg;

    t->run(t->arg);
    return NULL;
}

/* Calls run(args[i]) for each process, all at the same time. */
static void net_run(struct net *net, void (*run)(void *), void **args)
{
    struct link_task tasks[LINK_PROCS];
    pthread_t threads[LINK_PROCS];

    for (uint32_t i = 0; i < net->procs; i++)
        tasks[i] = (struct link_task){net, i, run, args[i]};
    if (net->stepped) {
        net_run_stepped(net, tasks);
        return;
    }
    for (uint32_t i = 0; i < net->procs; i++)
        pthread_create(&threads[i], NULL, link_thread, &tasks[i]);
    for (uint32_t i = 0; i < net->procs; i++)
        pthread_join(threads[i], NULL);
}

static void link_wait(void *owner, uint64_t ns)
{
    struct port *p = owner;
    struct timespec t = {0, (long)(ns < LINK_WAIT_NS ? ns : LINK_WAIT_NS)};

    if (p->net->stepped)
        link_step(p);
    else
        nanosleep(&t, NULL);
}

static struct proc_link net_link(struct port *p, int crowded)
{
    return (struct proc_link){.owner = p,
                              .proc = p->proc,
                              .procs = p->net->procs,
                              .crowded = crowded,
                              .send = link_send,
                              .recv = link_recv,
                              .wait = link_wait,
                              .close = link_close};
}

#endif
