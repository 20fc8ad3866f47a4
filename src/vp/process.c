/*
 * process.c - see process.h.
 *
 * Everyone who takes turns has a word that others set and that it waits for by futex:
 *
 *     AWAY    its owner has its turn, or is about to sleep
 *     ASLEEP  its owner sleeps, or is about to: to wake it takes a system call
 *     GO      it is its turn
 *
 * So a process that another has preempted when it woke it is not woken in vain, nor does it sleep. The
 * words, the list of processes and everything else here is in shared memory, but for vp_private.
 */
#include "vp/process.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "vp/libc/libc.h"
#include "vp/vp_internal.h"

#define WANT_NS 50000000 /* how long it sleeps when it waits for one that wants its turn */
#define CHECK_SECONDS 1 /* how often the scheduler looks whether the zygote is still there */

void vp_switch(void **save, void *load);
void *vp_switch_prepare(void *top, void (*entry)(void));

enum { AWAY = 0, GO, ASLEEP };
enum want { WANTS_NOT = 0, WANTS, WANTED /* it is in the list, but has got its turn */ };

/* A rank's process. */
struct vp_process {
    _Atomic uint32_t turn;
    _Atomic uint32_t dead; /* 1: it has ended otherwise than by vp_process_end */
    int32_t pid;
    int32_t status; /* as waitpid tells it */
    int32_t error;  /* of fork */
    struct vp_rank *fibre;
    struct vp_process *next; /* all that live */
    _Atomic uint32_t wants;  /* enum want: is it in the list of those with a thread that wants to run? */
    struct vp_process *next_wanted;
};

int vp_is_process_host;

static struct {
    _Atomic uint32_t back; /* the scheduler's turn */
    struct vp_process *on_stage; /* the rank's process that has, or had, its turn */
    uint64_t handed;             /* turns that ranks gave to each other */
    struct vp_process *_Atomic all; /* of the zygote: living children */
    struct vp_process *_Atomic casualty; /* one that died */
    struct vp_process *_Atomic wanted;   /* those with a thread that wants to run */
    _Atomic uint32_t awaits_want;        /* the scheduler sleeps until there is one */
    void (*_Atomic then)(void);          /* what the scheduler is to do next, and last */
    void (*errand)(void);                /* what it is to do for the rank that has the stage */
    int32_t zygote, scheduler;
    cpu_set_t processors; /* that the run may use ... */
    cpu_set_t processor;  /* ... and the one where scheduler and ranks take turns */
    int commands, orders; /* pipe to the zygote: where to write, where it reads */
    char *top;
    void (*entry)(void);
} host;

/* ---- shared memory ---- */

void vp_process_share(void)
{
    if (arena_open() != 0)
        log_fatal("no address space for memory that processes share; see 'ulimit -v'");
    vp_objects_share();
    vp_is_process_host = 1;
}

/* ---- waiting and waking ---- */

static void wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Goes to sleep unless it is one's turn, which it takes: returns 1. */
static int take_turn(_Atomic uint32_t *word)
{
    uint32_t was = AWAY;

    if (atomic_compare_exchange_strong(word, &was, ASLEEP) || was == ASLEEP)
        return 0;
    atomic_store_explicit(word, AWAY, memory_order_relaxed);
    return 1;
}

static void await(_Atomic uint32_t *word)
{
    while (!take_turn(word))
        syscall(SYS_futex, word, FUTEX_WAIT, ASLEEP, NULL, NULL, 0);
}

static void let_run(_Atomic uint32_t *word)
{
    if (atomic_exchange(word, GO) == ASLEEP)
        wake(word);
}

/* ---- a rank's process ---- */

static struct vp_process *own(void)
{
    return vp_private.current->stack;
}

/* A handler of the program's may do whatever the rank may, so it runs only when the rank has its turn. */
static void await_turn(struct vp_process *p)
{
    sigset_t all, before;

    if (!vp_private.handles) {
        await(&p->turn);
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    await(&p->turn);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int vp_pass_turn(void)
{
    struct vp_process *p = own();
    struct vp_rank *next = vp_hooks->next(p->fibre);

    host.handed += next != NULL;
    if (next == p->fibre)
        return 0;
    if (next) {
        host.on_stage = next->stack;
        let_run(&host.on_stage->turn);
    } else {
        let_run(&host.back);
    }
    return 1;
}

void vp_await_turn(void)
{
    await_turn(own());
}

void vp_process_suspend(void)
{
    int saved = errno;

    if (vp_pass_turn())
        await_turn(own());
    errno = saved;
}

void vp_process_end(void)
{
    let_run(&host.back);
    sys_exit(0);
}

void vp_process_leave(void (*fn)(void))
{
    atomic_store(&host.then, fn);
    let_run(&host.back);
    for (;;)
        syscall(SYS_pause);
}

int vp_is_main_thread(void)
{
    return (pid_t)syscall(SYS_gettid) == sys_getpid();
}

void vp_want(void)
{
    struct vp_process *p = own();

    if (atomic_exchange(&p->wants, WANTS) != WANTS_NOT)
        return; /* it is in the list */
    p->next_wanted = atomic_load(&host.wanted);
    while (!atomic_compare_exchange_weak(&host.wanted, &p->next_wanted, p))
        ;
    if (atomic_exchange(&host.awaits_want, 0))
        wake(&host.awaits_want);
}

void vp_unwant(void)
{
    uint32_t was = WANTS;

    atomic_compare_exchange_strong(&own()->wants, &was, WANTED);
}

/* The only one who takes from the list. */
struct vp_rank *vp_wanted(void)
{
    struct vp_process *p = atomic_load(&host.wanted);

    while (p) {
        while (!atomic_compare_exchange_weak(&host.wanted, &p, p->next_wanted))
            ;
        if (atomic_exchange(&p->wants, WANTS_NOT) == WANTS)
            return p->fibre;
        p = atomic_load(&host.wanted);
    }
    return NULL;
}

void vp_process_call(void (*fn)(void))
{
    int saved = errno;

    host.errand = fn;
    let_run(&host.back);
    await_turn(own());
    errno = saved;
}

/* Signals that ask the run to end are the scheduler's. */
static void quiet_signals(void)
{
    static const int asked[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t none;

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        signal(asked[i], SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void become(struct vp_process *p)
{
    void *here;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if ((int32_t)syscall(SYS_getppid) != host.zygote)
        sys_exit(0);
    sys_close(host.orders);
    quiet_signals();
    await(&p->turn);
    vp_private.current = p->fibre;
    vp_hooks->begun(p->fibre);
    vp_switch(&here, vp_switch_prepare(host.top, host.entry));
    __builtin_unreachable();
}

/* ---- the zygote ---- */

/* The scheduler is to look at what has happened, whoever has the turn. */
static void rouse(void)
{
    uint32_t was = ASLEEP;

    if (atomic_compare_exchange_strong(&host.back, &was, AWAY))
        wake(&host.back);
}

static void reap(void)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        struct vp_process **at = (struct vp_process **)&host.all, *p;

        while ((p = *at) && p->pid != pid)
            at = &p->next;
        if (!p)
            continue;
        *at = p->next;
        p->status = status;
        atomic_store(&p->dead, 1);
        if (p->fibre && !p->fibre->ended && !atomic_load(&host.then)) {
            atomic_store(&host.casualty, p);
            rouse();
        }
    }
}

static void start(struct vp_process *p)
{
    pid_t pid = REAL(fork)();

    if (pid == 0)
        become(p);
    if (pid < 0) {
        p->error = errno;
        let_run(&host.back);
        return;
    }
    p->pid = pid;
    p->next = atomic_load(&host.all);
    atomic_store(&host.all, p);
}

static void on_child(int sig)
{
    (void)sig; /* ends ppoll */
}

_Noreturn static void zygote(int commands)
{
    struct sigaction act = {.sa_handler = on_child};
    struct pollfd in = {.fd = commands, .events = POLLIN};
    sigset_t mask, open;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if ((int32_t)syscall(SYS_getppid) != host.scheduler)
        sys_exit(0);
    host.zygote = sys_getpid();
    vp_process_settle();
    quiet_signals();
    sigaction(SIGCHLD, &act, NULL);
    sigemptyset(&mask);
    sigprocmask(SIG_SETMASK, &mask, &open);
    sigaddset(&mask, SIGCHLD);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    sigemptyset(&open);
    for (;;) {
        struct vp_process *p;
        int n = REAL(ppoll)(&in, 1, NULL, &open);

        reap();
        if (n <= 0)
            continue;
        if (sys_read(commands, &p, sizeof p) != (ssize_t)sizeof p)
            break; /* no more ranks */
        start(p);
    }
    while (waitpid(-1, NULL, 0) > 0)
        ;
    sys_exit(0);
}

/* ---- the scheduler ---- */

/* Is there no process left of a rank that has not ended? */
static int all_ended(void)
{
    struct vp_process *p = atomic_load(&host.all);

    while (p && p->fibre->ended)
        p = p->next;
    return !p;
}

/* All ranks' processes die with the zygote; when it is gone, they have been told. If all have ended, it
 * sees them off, so that what they used is counted. */
void vp_process_still(void)
{
    if (host.zygote <= 0)
        return;
    if (all_ended())
        sys_close(host.commands);
    else
        kill(host.zygote, SIGKILL);
    while (waitpid(host.zygote, NULL, 0) < 0 && errno == EINTR)
        ;
    host.zygote = 0;
}

void vp_process_check(void)
{
    struct vp_process *p = atomic_load(&host.casualty);
    void (*then)(void) = atomic_load(&host.then);
    int status;

    if (then)
        vp_leave(then);
    if (p) {
        atomic_store(&host.casualty, NULL);
        if (!p->fibre->ended)
            vp_hooks->died(p->fibre, p->status);
    }
    if (waitpid(host.zygote, &status, WNOHANG) == host.zygote) {
        host.zygote = 0;
        log_fatal("the process that starts ranks was killed (signal %d)",
                  WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    }
}

/* Until somebody gives the stage back. */
static void stand_by(void)
{
    while (!take_turn(&host.back)) {
        struct timespec limit = {.tv_sec = CHECK_SECONDS};

        if (atomic_load(&host.casualty))
            vp_process_check();
        if (syscall(SYS_futex, &host.back, FUTEX_WAIT, ASLEEP, &limit, NULL, 0) != 0 &&
            errno == ETIMEDOUT)
            vp_process_check();
    }
    if (atomic_load(&host.then) || atomic_load(&host.casualty))
        vp_process_check();
}

void vp_await_want(void)
{
    struct timespec limit = {.tv_nsec = WANT_NS};

    atomic_store(&host.awaits_want, 1);
    if (!atomic_load(&host.wanted))
        syscall(SYS_futex, &host.awaits_want, FUTEX_WAIT, 1, &limit, NULL, 0);
    atomic_store(&host.awaits_want, 0);
    vp_process_check();
}

static void lend_stage(struct vp_process *p)
{
    host.on_stage = p;
    for (;;) {
        void (*errand)(void);

        let_run(&host.on_stage->turn);
        stand_by();
        errand = host.errand;
        if (!errand)
            break;
        host.errand = NULL;
        errand();
    }
    if (p->error)
        vp_hooks->unborn(p->fibre, p->error);
}

struct vp_rank *vp_process_resume(struct vp_rank *f)
{
    lend_stage(f->stack);
    f = host.on_stage->fibre;
    if (f->ended)
        f->stack = NULL; /* the process is freed by nobody: the zygote may still look at it */
    return f;
}

struct vp_rank *vp_process_start(struct vp_rank *f)
{
    struct vp_process *p = mem_zalloc(sizeof *p);

    p->fibre = f;
    f->stack = p;
    if (sys_write_all(host.commands, &p, sizeof p) != 0)
        vp_process_check(); /* says why, or it is ending */
    return vp_process_resume(f);
}

/*
 * Processes that take turns are faster on one processor: to wake another one takes longer than all the
 * rest. Several schedulers, started by a launcher, take different ones. A rank that starts threads
 * leaves (vp_process_spread).
 */
static void choose_processor(void)
{
    const char *number = getenv("PMI_RANK");
    unsigned cpu = 0;
    int skip = number ? atoi(number) : 0;

    if (syscall(SYS_sched_getaffinity, 0, sizeof host.processors, &host.processors) < 0 ||
        syscall(SYS_getcpu, &cpu, NULL, NULL) != 0)
        return;
    if (number) {
        skip %= CPU_COUNT(&host.processors);
        for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &host.processors) && skip-- == 0)
                break;
    }
    CPU_SET(cpu, &host.processor);
}

void vp_process_settle(void)
{
    if (CPU_COUNT(&host.processor) > 0)
        syscall(SYS_sched_setaffinity, 0, sizeof host.processor, &host.processor);
}

void vp_process_spread(void)
{
    if (CPU_COUNT(&host.processors) > 0)
        syscall(SYS_sched_setaffinity, 0, sizeof host.processors, &host.processors);
}

int vp_process_init(char *top, void (*entry)(void), struct err *err)
{
    int ends[2];
    pid_t pid;

    host.top = top;
    host.entry = entry;
    host.scheduler = sys_getpid();
    choose_processor();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set(err, ERR_SYSTEM, "cannot create a pipe: %s", strerror(errno));
    host.orders = ends[0];
    pid = REAL(fork)();
    if (pid < 0)
        return err_set(err, ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
    if (pid == 0) {
        sys_close(ends[1]);
        zygote(ends[0]);
    }
    sys_close(ends[0]);
    host.zygote = pid;
    host.commands = ends[1];
    return ERR_OK;
}

int32_t vp_process_zygote(void)
{
    return host.zygote;
}

uint64_t vp_process_handed(void)
{
    return host.handed;
}

int32_t vp_process_pid(const struct vp_rank *f)
{
    const struct vp_process *p = f->stack;

    return p ? p->pid : 0;
}
