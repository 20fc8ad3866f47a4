/*
 * workers_health.c - checks that all needed processes are alive. The starter checks the processes
 * between it and the program; each worker watches its program (watch.c).
 *
 *     starter - guard - launcher (mpiexec) - helper (hydra_pmi_proxy) - workers - program
 *
 * A launcher should notice when a worker dies, and usually does; but while workers join the native
 * MPI, it may wait for ever instead, and so may its helper. Nobody else notices a stopped process.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "launch/proctree.h"
#include "launch/workers_internal.h"

#define LOOK_S 0.5
#define ABSENT_S 4.0 /* workers may be missing this long with no process left to start them */
#define LEFT_S 4.0   /* workers may have left this long ago without a report */

int workers_watched(const struct workers_page *page)
{
    return page->worker_count < WORKERS_MAX ? page->worker_count : WORKERS_MAX;
}

static int is_worker(const struct workers_page *page, pid_t pid)
{
    for (int i = 0; i < workers_watched(page); i++)
        if (page->workers[i].pid == pid)
            return 1;
    return 0;
}

/* ---- stopped processes ---- */

static int is_stopped(struct workers_health *h, pid_t pid, const char *what)
{
    struct launch_proc proc;
    if (!launch_proc_is_stopped(pid, &proc))
        return 0;
    snprintf(h->why, sizeof h->why,
             "%s ('%s', pid %d) does not respond, it was stopped by a signal: the run ends here",
             what, proc.name, (int)pid);
    return 1;
}

/* A process that has not become a worker yet. */
static int starter_stopped(struct workers_health *h)
{
    struct launch_proc *all;
    size_t count = (uint32_t)h->page->worker_count < h->procs ? launch_proc_below(h->guard, &all)
                                                              : 0;
    int found = 0;
    for (size_t i = 0; i < count && !found; i++)
        found = !is_worker(h->page, all[i].parent) &&
                is_stopped(h, all[i].pid, "a process that was to become a worker");
    if (count)
        mem_free(all);
    return found;
}

/* A worker's parent is the launcher's helper on this machine. */
static int someone_stopped(struct workers_health *h)
{
    struct launch_proc proc;
    pid_t helper = 0;
    if (is_stopped(h, h->guard, "a process of Orrery's") ||
        is_stopped(h, h->launcher, "the launcher"))
        return 1;
    for (int i = 0; i < workers_watched(h->page); i++) {
        pid_t pid = h->page->workers[i].pid;
        if (is_stopped(h, pid, "a worker"))
            return 1;
        if (pid <= 0 || launch_proc_read(pid, &proc) != 0 || proc.parent == helper)
            continue;
        helper = proc.parent;
        if (is_stopped(h, helper, "a process of the launcher's"))
            return 1;
    }
    return starter_stopped(h);
}

/* ---- dead processes ---- */

/* It was killed, or has ended and the guard tells how. A process that dies closes its connections,
 * which ends the workers, before it is a zombie, but has its status by then. */
static int launcher_died(const struct workers_health *h)
{
    struct launch_proc proc;
    return launch_proc_read(h->launcher, &proc) != 0 || WIFSIGNALED(proc.status);
}

/* Workers that died because the launcher did are not the reason. */
static int someone_dead(struct workers_health *h)
{
    for (int i = 0; i < workers_watched(h->page); i++) {
        const struct workers_one *w = &h->page->workers[i];
        struct launch_proc proc;
        pid_t pid = w->pid;
        if (pid <= 0 || w->left)
            continue;
        int there = launch_proc_read(pid, &proc) == 0 && proc.state != 'Z' && proc.state != 'X';
        if (there && proc.parent != h->guard)
            continue;
        if (w->left)
            continue; /* just now */
        if (launcher_died(h))
            return 0;
        snprintf(
            h->why, sizeof h->why,
            there
                ? "a process of the launcher's was killed (the parent of worker %d): the run ends "
                  "here"
                : "a worker (pid %d) was killed: the run ends here",
            (int)pid);
        return 1;
    }
    return 0;
}

/* At the end all workers leave, and that of process 0 reports how the run ended. */
static int someone_left(const struct workers_health *h)
{
    if ((uint32_t)h->page->worker_count != h->procs || h->page->claimed)
        return 0; /* process 0 may be elsewhere, or is about to report */
    for (int i = 0; i < workers_watched(h->page); i++)
        if (h->page->workers[i].left)
            return 1;
    return 0;
}

void workers_health_end_helpers(const struct workers_health *h)
{
    for (int i = 0; i < workers_watched(h->page); i++) {
        struct launch_proc worker, helper;
        pid_t pid = h->page->workers[i].pid;
        if (pid > 0 && launch_proc_read(pid, &worker) == 0 &&
            launch_proc_read(worker.parent, &helper) == 0 && launch_proc_is_helper(&helper))
            kill(helper.pid, SIGKILL);
    }
}

/* ---- missing workers ---- */

/* Are workers missing, with no process left that could become one, not even the helper? No answer
 * if other programs take part, since workers may then be started anywhere. */
static int none_can_come(struct workers_health *h)
{
    struct launch_proc *all;
    size_t count = launch_proc_below(h->guard, &all);
    int coming = 0, unknown = 0;
    for (size_t i = 0; i < count; i++) {
        int from_helper = 0, from_worker = is_worker(h->page, all[i].parent);
        if (all[i].pid == h->launcher || is_worker(h->page, all[i].pid) || from_worker ||
            all[i].state == 'Z')
            continue;
        for (size_t k = 0; k < i; k++)
            from_helper |= all[k].pid == all[i].parent && launch_proc_is_helper(&all[k]);
        if (from_helper)
            coming = 1;
        else if (launch_proc_is_helper(&all[i]))
            h->seen_helper = 1;
        else if (all[i].parent == h->launcher)
            unknown = 1;
    }
    mem_free(all);
    return h->seen_helper && !coming && !unknown;
}

static double since(double before, int is_so, double now)
{
    return !is_so ? 0 : before > 0 ? before : now;
}

int workers_health_check(struct workers_health *h, double now)
{
    if (now < h->next)
        return 0;
    h->next = now + LOOK_S;
    if (someone_dead(h))
        return 1;
    h->stopped = since(h->stopped, someone_stopped(h), now);
    if (h->stopped > 0 && now - h->stopped > LAUNCH_PROC_STOPPED_S)
        return 1;
    h->why[0] = '\0'; /* it may continue */
    h->left = since(h->left, someone_left(h), now);
    if (h->left > 0 && now - h->left > LEFT_S) {
        snprintf(h->why, sizeof h->why,
                 "a worker has left before the end of the run: the run ends here");
        return 1;
    }
    int missing = (uint32_t)h->page->worker_count < h->procs;
    h->absent = since(h->absent, missing && none_can_come(h), now);
    if (h->absent > 0 && now - h->absent > ABSENT_S) {
        snprintf(
            h->why, sizeof h->why,
            "%d of %u processes could be started, or one was killed at its start; see 'ulimit -u' "
            "and 'ulimit -n'",
            (int)h->page->worker_count, h->procs);
        return 1;
    }
    return 0;
}
