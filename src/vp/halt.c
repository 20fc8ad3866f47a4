/*
 * halt.c - stops the threads of ranks that do not have the turn, if there are too many.
 *
 * A rank whose threads compute while others of it wait in MPI gives its turn away now and then.
 * What its threads do meanwhile may be useful, if there are processors for them. If there are not,
 * they only keep the rank that has the turn from running, most of all if they spin: until one of
 * them gets what the rank's waiting thread waits for, which needs the turn of other ranks. So if
 * more threads compute than there are processors, the process is stopped (SIGSTOP), and continued
 * when it gets the turn. The time that it computes is measured in processor time, so it stays the
 * same.
 *
 * The process that has the turn stops and continues others, so there is only one that does: first
 * it sends the signal to stop, then it says so in `halt`; whoever takes that back must send the
 * signal to continue. Besides, the scheduler continues all when it waits for requests, and when a
 * rank has kept its turn for long: that may wait for one that is stopped, for instance for a lock
 * of a file.
 *
 *     HALT_NONE      not stopped
 *     HALT_STOPPED   in the list vp_turns.halted
 *     HALT_OVER      continued, but still in the list, from which only the scheduler takes
 */
#include <signal.h>

#include "vp/process.h"

enum { HALT_NONE = 0, HALT_STOPPED, HALT_OVER };

static void send(const struct vp_process *p, int sig)
{
    syscall(SYS_kill, p->pid, sig);
}

void vp_halt_begin(struct vp_process *p, uint32_t computing)
{
    p->computing = computing;
    vp_turns.computing += computing;
    if (vp_turns.computing >= vp_pin_processors())
        vp_turns.to_halt = p;
}

void vp_halt_end(struct vp_process *p)
{
    vp_turns.computing -= p->computing;
    p->computing = 0;
}

void vp_halt_others(const struct vp_process *self)
{
    struct vp_process *p = vp_turns.to_halt;

    vp_turns.to_halt = NULL;
    if (!p || p == self || p->rank->ended)
        return;
    send(p, SIGSTOP);
    if (atomic_exchange(&p->halt, HALT_STOPPED) != HALT_NONE)
        return; /* it is in the list already */
    p->next_halted = atomic_load(&vp_turns.halted);
    while (!atomic_compare_exchange_weak(&vp_turns.halted, &p->next_halted, p))
        ;
}

void vp_halt_over(struct vp_process *p)
{
    uint32_t was = HALT_STOPPED;

    if (atomic_load_explicit(&p->halt, memory_order_relaxed) == HALT_STOPPED &&
        atomic_compare_exchange_strong(&p->halt, &was, HALT_OVER))
        send(p, SIGCONT);
}

void vp_halt_all_over(void)
{
    struct vp_process *p = atomic_load(&vp_turns.halted);

    while (p) {
        while (!atomic_compare_exchange_weak(&vp_turns.halted, &p, p->next_halted))
            ;
        if (atomic_exchange(&p->halt, HALT_NONE) == HALT_STOPPED)
            send(p, SIGCONT);
        p = atomic_load(&vp_turns.halted);
    }
}
