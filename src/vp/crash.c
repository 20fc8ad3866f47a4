/*
 * crash.c - handles fatal signals. The handler runs on a signal stack, so it can report a stack
 * overflow.
 *
 * The report must not depend on memory that the crash has damaged. Code that may touch such memory
 * is *guarded*: a fault there only ends the guarded call.
 *
 * A rank that shares its process may have set a handler for the signal (libc/signal.c). That
 * handler runs on the rank's stack, so that it may jump out or call MPI. If it returns, the rank
 * resumes at the fault:
 *
 *     rank's stack     ... | main | f |* fault     | run_handler, copy of | the program's handler
 *     signal stack                     | on_fatal  <------------- back ----'
 *
 * While a handler waits in MPI, other ranks may have faults of their own, which use the signal
 * stack again: hence the copy.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "base/mem.h"
#include "base/sys.h"
#include "vp/crash.h"
#include "vp/remote.h"
#include "vp/vp_internal.h"

#define SIGNAL_STACK ((size_t)256 << 10)
#define RED_ZONE 128         /* below the stack pointer, in use */
#define WHERE (SIGRTMAX - 3) /* asks a rank's process where it is */

void vp_switch(void **save, void *load);
void *vp_switch_prepare(void *top, void (*entry)(void));

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};

/* ---- the interrupted context ---- */

#if defined(__x86_64__)
static uintptr_t pc_of(const ucontext_t *u)
{
    return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
}

static uintptr_t sp_of(const ucontext_t *u)
{
    return (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
}

/* After a call through a bad function pointer: where the call came from. May fault. */
static uintptr_t caller_of(const ucontext_t *u)
{
    return *(const uintptr_t *)sp_of(u);
}

static void step_back(ucontext_t *u, uintptr_t caller)
{
    u->uc_mcontext.gregs[REG_RIP] = (greg_t)caller;
    u->uc_mcontext.gregs[REG_RSP] += (greg_t)sizeof(uintptr_t);
}

/* Was it a write that faulted? */
static int is_write(const ucontext_t *u)
{
    return (u->uc_mcontext.gregs[REG_ERR] & 2) != 0;
}
#elif defined(__aarch64__)
static uintptr_t pc_of(const ucontext_t *u)
{
    return u->uc_mcontext.pc;
}

static uintptr_t sp_of(const ucontext_t *u)
{
    return u->uc_mcontext.sp;
}

static uintptr_t caller_of(const ucontext_t *u)
{
    return u->uc_mcontext.regs[30];
}

static void step_back(ucontext_t *u, uintptr_t caller)
{
    u->uc_mcontext.pc = caller;
}

static int is_write(const ucontext_t *u)
{
    (void)u;
    return 1; /* it may be */
}
#endif

/* ---- guarded work ---- */

struct guard {
    sigjmp_buf out;
    long thread;
};

/* Calls fn(arg); returns 0 if a fault ended it. */
static int guarded(void (*fn)(void *), void *arg)
{
    struct guard here = {.thread = syscall(SYS_gettid)};
    sigset_t open, before;

    sigemptyset(&open);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaddset(&open, fatal[i]);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    if (sigsetjmp(here.out, 0) != 0) {
        vp_private.guard = NULL;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        return 0;
    }
    vp_private.guard = &here;
    pthread_sigmask(SIG_UNBLOCK, &open, NULL);
    fn(arg);
    vp_private.guard = NULL;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return 1;
}

/* ---- where it happened ---- */

static int is_code(uintptr_t pc)
{
    Dl_info where;

    return dladdr((void *)pc, &where) != 0;
}

/* A call through a bad function pointer: the unwinder cannot handle that address, but may handle
 * the caller's. */
static void find_caller(void *arg)
{
    ucontext_t *u = arg;
    uintptr_t caller = caller_of(u);

    if (is_code(caller))
        step_back(u, caller);
}

static void unwind(void *arg)
{
    struct vp_backtrace *t = arg;

    t->count = (size_t)backtrace(t->frames, (int)(sizeof t->frames / sizeof *t->frames));
}

/* Drops the frames before `pc`, which are the handler's; none if `pc` is not among the frames. */
static void start_at(struct vp_backtrace *t, uintptr_t pc)
{
    size_t i = 0;

    while (i < t->count && (uintptr_t)t->frames[i] != pc)
        i++;
    memmove(t->frames, t->frames + i, (t->count - i) * sizeof *t->frames);
    t->count -= i;
}

void vp_backtrace_take(const void *context, struct vp_backtrace *t)
{
    ucontext_t *u = (ucontext_t *)(uintptr_t)context;
    uintptr_t pc = u ? pc_of(u) : 0;

    memset(t, 0, sizeof *t);
    if (u && !is_code(pc))
        guarded(find_caller, u);
    if (!guarded(unwind, t)) {
        t->damaged = 1;
        while (t->count < sizeof t->frames / sizeof *t->frames && t->frames[t->count])
            t->count++;
    }
    if (!u)
        return;
    t->exact = 1;
    start_at(t, pc_of(u));
    if (pc == pc_of(u) && t->count > 0)
        return;
    if (t->count == sizeof t->frames / sizeof *t->frames)
        t->count--;
    memmove(t->frames + 1, t->frames, t->count * sizeof *t->frames);
    t->frames[0] = (void *)pc;
    t->count++;
}

/* ---- the program's own handler ---- */

struct handling {
    struct sigaction action;
    int sig;
    siginfo_t *info;
    void *context;
    void *back; /* stack pointer of on_fatal */
};

static void call_handler(const struct handling *h)
{
    sigset_t mask = ((ucontext_t *)h->context)->uc_sigmask;

    sigorset(&mask, &mask, &h->action.sa_mask);
    if (!(h->action.sa_flags & SA_NODEFER))
        sigaddset(&mask, h->sig);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (h->action.sa_flags & SA_SIGINFO)
        h->action.sa_sigaction(h->sig, h->info, h->context);
    else
        h->action.sa_handler(h->sig);
}

/* On the rank's stack. The handler gets the copy of the context and may change it. */
static void run_handler(void)
{
    struct handling h = *vp_private.handling;
    const stack_t *alt = &((ucontext_t *)h.context)->uc_stack;
    size_t size = (size_t)((char *)alt->ss_sp + alt->ss_size - (char *)h.back);
    char *copy = alloca(size);
    void *unused;

    memcpy(copy, h.back, size);
    h.info = (siginfo_t *)(copy + ((char *)h.info - (char *)h.back));
    h.context = copy + ((char *)h.context - (char *)h.back);
    call_handler(&h);
    memcpy(h.back, copy, size);
    vp_switch(&unused, h.back);
    __builtin_unreachable();
}

/* Returns 0 if the rank has none. */
static int has_handled(struct vp_rank *f, int sig, siginfo_t *info, void *context)
{
    struct handling h = {.sig = sig, .info = info, .context = context};

    if (!f || vp_private.host->own_process || vp_private.dying ||
        !vp_signal_handler(sig, &h.action))
        return 0;
    vp_signal_own_mask(&((ucontext_t *)context)->uc_sigmask);
    vp_private.handling = &h;
    if (vp_stack_overflowed(f, info->si_addr))
        call_handler(&h);
    else
        vp_switch(&h.back, vp_switch_prepare((void *)((sp_of(context) - RED_ZONE) & ~(uintptr_t)15),
                                             run_handler));
    return sig != SIGABRT; /* abort() does not return */
}

/* ---- signals ---- */

int vp_crash_is_first(void)
{
    int32_t me = (int32_t)syscall(SYS_gettid), before = 0;

    if (vp_private.parent)
        return 0;
    if (__atomic_compare_exchange_n(&vp_private.dying, &before, me, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return 1;
    while (before != me)
        syscall(SYS_pause);
    return 0;
}

/* The run ends in an orderly way, so this process does not die of the signal. If the user wants
 * core files, a forked copy does. */
static void dump_core(int sig)
{
    struct rlimit limit;
    sigset_t open;
    pid_t copy;

    if (getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_cur == 0)
        return;
    copy = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (copy > 0)
        syscall(SYS_wait4, copy, NULL, 0, NULL);
    if (copy != 0)
        return;
    signal(sig, SIG_DFL);
    sigemptyset(&open);
    sigaddset(&open, sig);
    pthread_sigmask(SIG_UNBLOCK, &open, NULL);
    syscall(SYS_kill, sys_getpid(), sig);
    sys_exit(1);
}

/* On another computer the report, too, touches pages that are not there. */
static int has_fetched(int sig, siginfo_t *info, void *context)
{
    sigset_t faults;

    if (!vp_private.remote)
        return 0;
    if (sig == SIGSEGV && vp_remote_fault(info->si_addr, is_write(context)))
        return 1;
    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
    return sig == SIGSEGV && vp_remote_handles(sig, info, context);
}

static void on_fatal(int sig, siginfo_t *info, void *context)
{
    struct vp_rank *f = vp_private.current;
    struct guard *guard = vp_private.guard;
    int error = errno; /* the program's: it may tell why */

    if (has_fetched(sig, info, context))
        return;
    if (guard && guard->thread == syscall(SYS_gettid))
        siglongjmp(guard->out, 1);
    if (has_handled(f, sig, info, context))
        return;
    if (!vp_crash_is_first()) {
        signal(sig, SIG_DFL);
        /* delivered when the handler returns */
        syscall(SYS_tgkill, sys_getpid(), plain_call(SYS_gettid, 0, 0, 0, 0), sig);
        return;
    }
    vp_private.current = NULL; /* from here on the shims call the real libc */
    if (vp_hooks->crashing)
        vp_hooks->crashing();
    dump_core(sig);
    errno = error;
    vp_hooks->crash(f, sig, info->si_addr, context);
}

/* The run ends; the rank does not resume. Other threads of it stop at their next call, as after a
 * crash. */
static void on_where(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    vp_crash_is_first();
    vp_private.current = NULL;
    vp_hooks->where(context);
    for (;;)
        syscall(SYS_pause);
}

void vp_crash_ask(int32_t pid)
{
    if (pid > 0)
        syscall(SYS_tgkill, pid, pid, WHERE);
}

int vp_crash_catches(int sig)
{
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (fatal[i] == sig)
            return 1;
    return 0;
}

static void catch (int sig, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction act = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct vp_rank *f = vp_private.current;

    sigfillset(&act.sa_mask);
    vp_private.current = NULL; /* the real one */
    sigaction(sig, &act, NULL);
    vp_private.current = f;
}

void vp_crash_catch(int sig)
{
    catch (sig, on_fatal);
}

void vp_crash_init(void)
{
    stack_t alt = {.ss_sp = mem_zalloc_private(SIGNAL_STACK), .ss_size = SIGNAL_STACK};
    void *frames[2];

    backtrace(frames, 2); /* loads what it needs now, not in a handler */
    sigaltstack(&alt, NULL);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        catch (fatal[i], on_fatal);
}

void vp_crash_answer(void)
{
    catch (WHERE, on_where);
}
