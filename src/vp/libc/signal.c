/*
 * Signals: the handlers of a fibre rank are recorded, not installed.
 *
 * Such a rank receives the signals it sends to itself (raise, kill of its own virtual process,
 * pthread_kill of itself): its recorded handler is called at once. It also receives its own faults
 * (crash.c). Signals from outside go to the simulator. A fatal signal without a handler ends in the
 * crash handler, which names the rank. A rank's table is allocated at its first change.
 *
 * The mask of blocked signals belongs to the process. A handler of a fault runs with that signal
 * blocked; if it waits in MPI or jumps out, the mask stays with its rank until it is again what it
 * was before: others would die of a blocked fault without a report.
 *
 * A rank that is a process has real handlers. The simulator's handlers there, for faults and for
 * signals that ask the run to end, appear to the rank as the default action, and are restored when
 * the rank sets that.
 */
#include "vp/libc/libc.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "vp/crash.h"
#include "vp/process.h"
#include "vp/remote.h"

struct vp_signals {
    struct sigaction action[NSIG]; /* zero is SIG_DFL */
    sigset_t mask;                 /* the rank's own, saved while it is suspended */
    int has_mask;                  /* it has its own */
};
#define MASK_BYTES ((NSIG - 1) / 8) /* of a sigset_t, which the system uses */

void libc_signals_drop(struct vp_signals *s)
{
    mem_free(s);
}

static const struct sigaction *recorded(int sig)
{
    static const struct sigaction none; /* SIG_DFL */
    const struct vp_extra *x = vp_current()->extra;

    return x && x->signals ? &x->signals->action[sig] : &none;
}

static void record(int sig, const struct sigaction *action)
{
    struct vp_extra *x = vp_extra_get();

    if (!x->signals)
        x->signals = mem_zalloc(sizeof *x->signals);
    x->signals->action[sig] = *action;
}

static int is_signal(int sig)
{
    return sig > 0 && sig < NSIG;
}

int libc_signal_is_ignored(int sig)
{
    return recorded(sig)->sa_handler == SIG_IGN;
}

static int fail(int code)
{
    errno = code;
    return -1;
}

int vp_signal_handler(int sig, struct sigaction *out)
{
    const struct sigaction none = {.sa_handler = SIG_DFL};

    *out = *recorded(sig);
    if (out->sa_handler == SIG_DFL || out->sa_handler == SIG_IGN)
        return 0;
    if (out->sa_flags & (int)SA_RESETHAND)
        record(sig, &none);
    return 1;
}

/* ---- the mask ---- */

void vp_signal_own_mask(const sigset_t *before)
{
    struct vp_signals *s = vp_current()->extra->signals;

    if (libc_process.masked == s)
        return;
    memcpy(&libc_process.base_mask, before, MASK_BYTES);
    s->has_mask = 1;
    libc_process.masked = s;
}

void libc_signals_switch(struct vp_signals *s)
{
    struct vp_signals *last = libc_process.masked, *next = s && s->has_mask ? s : NULL;
    sigset_t now;

    if (next == last)
        return;
    pthread_sigmask(SIG_SETMASK, next ? &next->mask : &libc_process.base_mask, &now);
    if (last) {
        last->mask = now;
        last->has_mask = memcmp(&now, &libc_process.base_mask, MASK_BYTES) != 0;
    }
    libc_process.masked = next;
}

/* ---- ranks that are processes ---- */

static int is_own(int sig)
{
    return (vp_private.own_signals & (uint64_t)1 << (sig - 1)) != 0;
}

static int asks_for_end(int sig)
{
    return sig == SIGINT || sig == SIGTERM || sig == SIGHUP;
}

static int is_ours(int sig)
{
    return asks_for_end(sig) || vp_crash_catches(sig);
}

static int set_real(int sig, const struct sigaction *action, struct sigaction *old)
{
    int was_own = is_signal(sig) && is_own(sig), rc;

    if (action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
        vp_private.handles = 1;
    if (!is_signal(sig) || !is_ours(sig))
        return REAL(sigaction)(sig, action, old);
    if (sig == SIGSEGV && vp_private.remote) {
        vp_remote_action(action, old);
        return 0;
    }
    if (action && action->sa_handler == SIG_DFL) {
        rc = REAL(sigaction)(sig, NULL, old);
        if (asks_for_end(sig))
            REAL(signal)(sig, vp_process_disregard);
        else
            vp_crash_catch(sig);
        vp_private.own_signals &= ~((uint64_t)1 << (sig - 1));
    } else {
        rc = REAL(sigaction)(sig, action, old);
        if (rc == 0 && action)
            vp_private.own_signals |= (uint64_t)1 << (sig - 1);
    }
    if (rc == 0 && old && !was_own)
        *old = (struct sigaction){.sa_handler = SIG_DFL};
    return rc;
}

/* ---- setting ---- */

VP_EXPORT int sigaction(int sig, const struct sigaction *restrict action,
                        struct sigaction *restrict old)
{
    if (!vp_current())
        return REAL(sigaction)(sig, action, old);
    if (!vp_current_sharing())
        return set_real(sig, action, old);
    if (!is_signal(sig) || (action && (sig == SIGKILL || sig == SIGSTOP)))
        return fail(EINVAL);
    struct sigaction before = *recorded(sig);
    if (action)
        record(sig, action);
    if (old)
        *old = before;
    return 0;
}
ALIAS(__sigaction, sigaction);

static sighandler_t set_handler(int sig, sighandler_t handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;

    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return sigaction(sig, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

VP_EXPORT sighandler_t signal(int sig, sighandler_t handler)
{
    if (!vp_current())
        return REAL(signal)(sig, handler);
    return set_handler(sig, handler, SA_RESTART);
}
ALIAS(bsd_signal, signal);
ALIAS(ssignal, signal);

VP_EXPORT sighandler_t sysv_signal(int sig, sighandler_t handler)
{
    if (!vp_current())
        return REAL(sysv_signal)(sig, handler);
    return set_handler(sig, handler, (int)SA_RESETHAND | SA_NODEFER);
}
ALIAS(__sysv_signal, sysv_signal);

/* ---- sending ---- */

static int is_ignored_by_default(int sig)
{
    return sig == SIGCHLD || sig == SIGURG || sig == SIGWINCH || sig == SIGCONT;
}

static void deliver(int sig, const struct sigaction *action)
{
    if (action->sa_flags & SA_SIGINFO) {
        siginfo_t info;
        memset(&info, 0, sizeof info);
        info.si_signo = sig;
        info.si_code = SI_USER;
        info.si_pid = libc_pid(vp_current());
        action->sa_sigaction(sig, &info, NULL);
    } else {
        action->sa_handler(sig);
    }
}

/* The default action of most signals ends the process, so the rank crashes. */
static int die_of(int sig)
{
    struct vp_rank *f = vp_current();

    if (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)
        return REAL(raise)(sig);
    if (vp_crash_is_first()) {
        vp_private.current = NULL;
        vp_hooks->crash(f, sig, NULL, NULL);
    }
    return 0;
}

/* For a rank that is a process: the default action is the same as for a fibre. */
static int raise_real(int sig)
{
    struct sigaction now;

    if (!is_signal(sig) || REAL(sigaction)(sig, NULL, &now) != 0)
        return fail(EINVAL);
    if (is_ours(sig) ? is_own(sig) : now.sa_handler != SIG_DFL)
        return REAL(raise)(sig);
    return is_ignored_by_default(sig) ? 0 : die_of(sig);
}

/* raise() in a rank. */
static int raise_here(int sig)
{
    if (!vp_current_sharing())
        return raise_real(sig);
    if (!is_signal(sig))
        return fail(EINVAL);
    struct sigaction action;
    if (vp_signal_handler(sig, &action))
        deliver(sig, &action);
    else if (action.sa_handler == SIG_DFL && !is_ignored_by_default(sig))
        return die_of(sig);
    return 0;
}

VP_EXPORT int raise(int sig)
{
    return vp_current() ? raise_here(sig) : REAL(raise)(sig);
}
ALIAS(gsignal, raise);

/* Another rank's virtual process cannot be distinguished from a real process of that number, so
 * both are refused. */
VP_EXPORT int kill(pid_t pid, int sig)
{
    struct vp_rank *f = vp_current();
    int itself = f && pid == libc_pid(f);

    if (!f || (!vp_current_sharing() && !itself))
        return REAL(kill)(pid, sig);
    if (!itself) {
        vp_refuse("kill() of another process", NULL);
        return fail(ESRCH);
    }
    return sig == 0 ? 0 : raise(sig);
}

VP_EXPORT int pthread_kill(pthread_t thread, int sig)
{
    if (!vp_current_sharing() || !pthread_equal(thread, pthread_self()))
        return libc_pthread_kill(thread, sig);
    if (sig == 0)
        return 0;
    return raise_here(sig) == 0 ? 0 : errno;
}

/* The signal stack belongs to the simulator; a rank's handlers are called as functions. */
VP_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
    if (!vp_current_sharing()) {
        if (vp_private.threaded)
            libc_threads_settle();
        return REAL(sigaltstack)(stack, old);
    }
    if (old)
        *old = (stack_t){.ss_flags = SS_DISABLE};
    return 0;
}
