/*
 * supervise_tree.c - looks after the processes of a supervised command (see supervise_tree.h).
 *
 * Processes whose parent dies become children of the guard. If the parent was a helper of the
 * launcher, that may wait for ever; a program that makes daemons has the same effect, so only the
 * helper counts, which is known by its name.
 */
#include "launch/supervise_tree.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "base/mem.h"
#include "launch/proctree.h"

#define ORPHANS_S 1.0 /* what a helper has started ends soon after it if the run has ended */
#define RUN "orrery"  /* a run, which watches what it has started */

struct supervise_stopped {
    pid_t pid;
    double since;
    int is_reported, is_seen;
};

void supervise_tree_init(struct supervise_tree *t, pid_t guard, pid_t command)
{
    *t = (struct supervise_tree){.guard = guard, .command = command, .sees_all = !guard};
}

void supervise_tree_fini(struct supervise_tree *t)
{
    mem_free(t->stopped);
}

/* ---- stopped processes ---- */

static struct supervise_stopped *find_stopped(struct supervise_tree *t, pid_t pid)
{
    for (size_t i = 0; i < t->stopped_count; i++)
        if (t->stopped[i].pid == pid)
            return &t->stopped[i];
    ARRAY_EXTEND(t->stopped, t->stopped_count);
    t->stopped[t->stopped_count] = (struct supervise_stopped){.pid = pid};
    return &t->stopped[t->stopped_count++];
}

static void note_stopped(struct supervise_tree *t, const struct launch_proc *proc, double now)
{
    struct supervise_stopped *s = find_stopped(t, proc->pid);
    s->since = s->since > 0 ? s->since : now;
    s->is_seen = 1;
    if (s->is_reported || now - s->since <= LAUNCH_PROC_STOPPED_S)
        return;
    s->is_reported = 1;
    log_warn("%s ('%s', pid %d) was stopped by a signal: the run waits until it gets SIGCONT",
             proc->pid == t->guard     ? "a process of Orrery's"
             : proc->pid == t->command ? "the command that starts processes"
                                       : "a process",
             proc->name, (int)proc->pid);
}

/* Those that have continued or ended. */
static void forget_stopped(struct supervise_tree *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->stopped_count; i++)
        if (t->stopped[i].is_seen) {
            t->stopped[kept] = t->stopped[i];
            t->stopped[kept++].is_seen = 0;
        }
    t->stopped_count = kept;
}

/* ---- the helper ---- */

static void note_helper(struct supervise_tree *t, const struct launch_proc *proc)
{
    if (t->helper || !launch_proc_is_helper(proc)) /* it may have died before we looked */
        return;
    t->helper = proc->pid;
    memcpy(t->name, proc->name, sizeof t->name);
}

/* Has the helper gone, and left processes to the guard? */
static int helper_died(struct supervise_tree *t, const struct launch_proc *all, size_t count,
                       double now)
{
    int is_there = 0, orphans = 0;
    for (size_t i = 0; i < count; i++) {
        is_there |= all[i].pid == t->helper && all[i].state != 'Z';
        orphans |= all[i].parent == t->guard && all[i].pid != t->command && all[i].state != 'Z';
    }
    if (!t->helper || is_there || !orphans) {
        t->orphans = 0;
        return 0;
    }
    t->orphans = t->orphans > 0 ? t->orphans : now;
    if (now - t->orphans <= ORPHANS_S)
        return 0;
    log_error("a process of the launcher's ('%s', pid %d) was killed: the run ends here", t->name,
              (int)t->helper);
    return 1;
}

/* Is it below a run? Parents come before children. */
static int is_below_run(const struct launch_proc *all, const char *below, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (all[k].pid == all[i].parent)
            return below[k] || strcmp(all[k].name, RUN) == 0;
    return 0;
}

/* A launcher below a run starts its workers, and perhaps native ranks. */
static int is_rank(const struct launch_proc *all, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (all[k].pid == all[i].parent)
            return launch_proc_is_helper(&all[k]) && strcmp(all[i].name, RUN) != 0;
    return 0;
}

int supervise_tree_look(struct supervise_tree *t, double now)
{
    struct launch_proc *all;
    size_t count = launch_proc_below(getpid(), &all);
    char *below = mem_zalloc(count + 1);
    for (size_t i = 0; i < count; i++) {
        below[i] = (char)(!t->sees_all && is_below_run(all, below, i));
        if (below[i] && !(t->sees_ranks && is_rank(all, i)))
            continue;
        note_helper(t, &all[i]);
        if (all[i].state == 'T')
            note_stopped(t, &all[i], now);
    }
    forget_stopped(t);
    int died = t->guard && helper_died(t, all, count, now);
    mem_free(below);
    mem_free(all);
    return died;
}
