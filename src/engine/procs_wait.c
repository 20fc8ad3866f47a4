/*
 * procs_wait.c - how a process waits for others: it polls, then sleeps, and shares a processor with
 * them if others want the processors.
 */

#include "base/sys.h"
#include "base/ticks.h"
#include "engine/procs_internal.h"

/* How long to poll before sleeping. If a message ends the sleep: about as long as waking up takes,
 * so that at most twice the least possible time is spent. If not: longer, or else each process
 * would sleep while the other wakes up (a millisecond in a virtual machine), for ever. */
#define SPIN_NS 100000.0
#define SPIN_DEAF_NS 3000000.0
/* How long to poll when others want the processor, perhaps the very process that is waited for. */
#define GLANCE_NS 2000.0
#define GLANCE_DEAF_NS 50000.0
#define SLEEP_NS 1000000       /* the first sleep if a message ends it */
#define SLEEP_DEAF_NS 20000    /* the first sleep if a message does not end it */
#define SLEEP_MAX_NS 5000000   /* each sleep is twice the one before, up to this */
#define PRESSURE_NS 10000000.0 /* how often to check whether others want the processor */
#define PRESSED_NS 100000000.0 /* how long the answer holds if they do */
/* Others want the processor if this thread had to wait for it for this fraction of the time. */
#define PRESSED_PART 0.05
#define GATHERED_NS 2000000000.0 /* how long processes share one processor */
#define GATHER_PART 0.2          /* they do if they slept for this fraction of the time */

/*
 * When others want the processors, a process that wakes up must wait for a processor, however short
 * its work: every round then takes some time slices of the others. Processes that share one
 * processor hand it to each other instead. That pays only if they mostly wait. While they share,
 * the time that they keep each other waiting says nothing about others, so sharing ends after a
 * while, to check again.
 */
static void gather(struct procs *p, uint64_t now, double passed)
{
    struct procs_wait *w = &p->wait;
    int together = w->pressed && (double)w->slept / ticks_per_ns() > GATHER_PART * passed;

    w->slept = 0;
    if (!p->cfg.link.gather || together == (w->gathered_until != 0))
        return;
    p->cfg.link.gather(p->cfg.link.owner, together);
    w->gathered_until = together ? now + (uint64_t)(GATHERED_NS * ticks_per_ns()) : 0;
}

/* Do others want the processor, so that polling takes it from those that are waited for? */
static int is_pressed(struct procs *p, uint64_t now)
{
    struct procs_wait *w = &p->wait;
    double passed = (double)(now - w->asked) / ticks_per_ns();
    uint64_t kept;

    if (p->cfg.link.crowded)
        return 1;
    if (now < w->pressed_next)
        return w->pressed;
    if (now < w->gathered_until)
        return 1;
    kept = sys_kept_waiting("/proc/thread-self/schedstat");
    w->pressed = !w->gathered_until && w->asked && (double)(kept - w->kept) > PRESSED_PART * passed;
    gather(p, now, passed);
    w->asked = now;
    w->kept = kept;
    w->pressed_next = now + (uint64_t)((w->pressed ? PRESSED_NS : PRESSURE_NS) * ticks_per_ns());
    return w->pressed;
}

static uint64_t sleep_ns(const struct procs *p)
{
    uint64_t first = p->cfg.link.wakes ? SLEEP_NS : SLEEP_DEAF_NS;
    unsigned n = p->wait.sleeps;

    return n < 16 && first << n < SLEEP_MAX_NS ? first << n : SLEEP_MAX_NS;
}

void procs_pause(struct procs *p, unsigned *tries)
{
    struct procs_wait *w = &p->wait;
    uint64_t now = ticks_now();

    if ((*tries)++ == 0) {
        w->since = now;
        w->sleeps = 0;
    }
    if (now - w->since < w->glance || (now - w->since < w->spin && !is_pressed(p, now)))
        return;
    p->cfg.link.wait(p->cfg.link.owner, sleep_ns(p));
    w->slept += ticks_now() - now;
    w->sleeps++;
}

void procs_spread(struct procs *p)
{
    if (p->cfg.link.gather && p->wait.gathered_until)
        p->cfg.link.gather(p->cfg.link.owner, 0);
    p->cfg.link.gather = NULL;
    p->wait.gathered_until = 0;
}

void procs_wait_init(struct procs_wait *w, int wakes)
{
    w->spin = (uint64_t)((wakes ? SPIN_NS : SPIN_DEAF_NS) * ticks_per_ns());
    w->glance = (uint64_t)((wakes ? GLANCE_NS : GLANCE_DEAF_NS) * ticks_per_ns());
}
