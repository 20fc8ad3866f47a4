/*
 * process.c - how the scheduler and the ranks' processes pass turns to each other (see process.h).
 *
 * All state here is in shared memory, except vp_private.
 */
#include "vp/process.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "vp/crash.h"
#include "vp/libc/libc.h"
#include "vp/remote.h"
#include "vp/vp_internal.h"

#define CHECK_SECONDS 1 /* how often the scheduler checks that the zygote is alive */
/* How long a rank may keep the turn while its threads are pinned, and while others are stopped. */
#define TOGETHER_NS 20000000
#define HALTED_NS 200000000

void vp_switch(void **save, void *load);
void *vp_switch_prepare(void *top, void (*entry)(void));

/* Aligned, so that shared variables have pages without variables of a process's own (objects.c). */
struct vp_turns vp_turns __attribute__((aligned(4096)));

enum request {
    REQUEST_NONE = 0,
    REQUESTED,
    WITHDRAWN /* still in the list, but it has got its turn */
};

static VP_OWN char *stack_end; /* the top of the stack of a rank's process */

static struct {
    int32_t scheduler;                   /* its process id */
    int is_running;                      /* a rank has its turn, or is about to */
    void (*request)(void);               /* what the scheduler must do for the running rank */
    struct vp_process *_Atomic requests; /* processes with a thread that needs a turn */
    turn_word awaits_request;            /* the scheduler sleeps until there is one */
    uint64_t turns, passed; /* turns given by the scheduler; turns passed between ranks */
    uint64_t bytes;         /* memory of ended ranks' processes */
    int concurrent;         /* ranks may go out */
    struct vp_remotes remotes;
} host;

static __thread int is_helper; /* the thread of vp_help */

/* All processes share the simulator's memory. */
static void load(void)
{
    if (arena_open() != 0)
        log_fatal("no address space for memory that processes share; see 'ulimit -v'");
    vp_objects_share();
}

/* ---- a rank's process ---- */

static struct vp_process *own(void)
{
    return vp_private.current->state;
}

/* The word on which the calling thread waits for its turn. */
static turn_word *own_turn(void)
{
    return is_helper ? &own()->helper : &own()->turn;
}

static int in_rank(void)
{
    return sys_getpid() != host.scheduler;
}

/* The program's handler may do anything that the rank may, so it runs only while the rank has the
 * turn. */
static void await_turn(void)
{
    sigset_t all, before;

    if (!vp_private.handles) {
        turn_await(own_turn());
        vp_halt_others(own());
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    turn_await(own_turn());
    vp_halt_others(own());
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The process has its first turn. */
_Noreturn static void run_program(struct vp_process *p)
{
    void *here;

    vp_private.current = p->rank;
    vp_hooks->process_started(p->rank);
    vp_switch(&here, vp_switch_prepare(stack_end, vp_rank_main));
    __builtin_unreachable();
}

void vp_process_main(struct vp_process *p)
{
    turn_await(&p->turn);
    vp_halt_others(p);
    run_program(p);
}

/* No system call if the rank keeps the turn. */
static int pass_turn(void)
{
    struct vp_process *p = own();
    struct vp_rank *next = vp_hooks->next(p->rank);

    host.passed += next != NULL;
    if (next == p->rank)
        return 0;
    if (next) {
        vp_turns.running = next->state;
        vp_halt_over(vp_turns.running);
        turn_give(&vp_turns.running->turn);
    } else {
        turn_give(&vp_turns.scheduler);
    }
    return 1;
}

static void suspend(void)
{
    int saved = errno;

    if (pass_turn())
        await_turn();
    errno = saved;
}

static void suspend_computing(uint32_t waiting)
{
    uint32_t idle = waiting + vp_private.joining, all = vp_private.threads + 1;

    vp_halt_begin(own(), all > idle ? all - idle : 0);
    suspend();
    vp_halt_end(own());
}

/* ---- threads on one processor ---- */

static void unpin_rank(struct vp_process *p)
{
    if (!atomic_exchange(&p->pinned, 0))
        return;
    atomic_fetch_sub(&vp_turns.pinned, 1);
    vp_unpin_threads(p->pid);
}

static int pin_thread(void)
{
    int is_here = vp_pin_thread();

    if (!atomic_exchange(&own()->pinned, 1)) {
        atomic_fetch_add(&vp_turns.pinned, 1);
        turn_wake(&vp_turns.scheduler); /* to sleep for a shorter time */
    }
    return is_here;
}

static int threads_are_pinned(void)
{
    return atomic_load_explicit(&own()->pinned, memory_order_relaxed) != 0;
}

static void unpin_threads(void)
{
    unpin_rank(own());
}

/* The rank that has the turn has kept it for long: its threads compute. */
static void unpin_running(void)
{
    if (vp_turns.running)
        unpin_rank(vp_turns.running);
}

_Noreturn static void end(void)
{
    unpin_rank(own());
    host.bytes += mem_own();
    turn_give(&vp_turns.scheduler);
    sys_exit(0);
}

static void call(void (*fn)(void))
{
    int saved = errno;

    if (!in_rank()) {
        fn();
        return;
    }
    host.request = fn;
    turn_give(&vp_turns.scheduler);
    await_turn();
    errno = saved;
}

/* Other threads of the rank may be in a call, or about to make one: they wait until they are
 * killed. */
_Noreturn static void leave(void (*fn)(void))
{
    if (in_rank()) {
        atomic_store(&vp_turns.finish, fn);
        turn_give(&vp_turns.scheduler);
        for (;;)
            syscall(SYS_pause);
    }
    vp_private.current = NULL;
    vp_zygote_kill();
    fn();
    __builtin_unreachable();
}

static void request_turn(void)
{
    struct vp_process *p = own();

    if (atomic_exchange(&p->request, REQUESTED) != REQUEST_NONE)
        return; /* it is in the list already */
    p->next_request = atomic_load(&host.requests);
    while (!atomic_compare_exchange_weak(&host.requests, &p->next_request, p))
        ;
    if (atomic_exchange(&host.awaits_request, 0))
        turn_wake(&host.awaits_request);
}

static void withdraw_request(void)
{
    uint32_t was = REQUESTED;

    atomic_compare_exchange_strong(&own()->request, &was, WITHDRAWN);
}

/* ---- ranks that run at the same time ---- */

static void go_out(void)
{
    atomic_store(&own()->out, 1);
    turn_give(&vp_turns.scheduler);
}

/* From here on the turn goes to this thread. If the helper has it, the request remains. */
static void come_back(void)
{
    atomic_store(&own()->out, 0);
    request_turn();
    await_turn();
    withdraw_request();
}

static void *help_for_ever(void *fn)
{
    is_helper = 1;
    for (;;) {
        turn_await(&own()->helper);
        ((void (*)(void))fn)();
        turn_give(&vp_turns.scheduler);
    }
    return NULL;
}

/* Signals are for the program's threads. */
static void help(void (*fn)(void))
{
    sigset_t all, before;
    pthread_t thread;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = REAL(pthread_create)(&thread, NULL, help_for_ever, (void *)fn);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0)
        log_fatal("cannot start a thread for a rank: %s", strerror(rc));
}

/* ---- the scheduler ---- */

/* Only the scheduler takes from the list. */
static struct vp_rank *next_request(void)
{
    struct vp_process *p = atomic_load(&host.requests);

    while (p) {
        while (!atomic_compare_exchange_weak(&host.requests, &p, p->next_request))
            ;
        if (atomic_exchange(&p->request, REQUEST_NONE) == REQUESTED)
            return p->rank;
        p = atomic_load(&host.requests);
    }
    return NULL;
}

static void check(void)
{
    struct vp_process *p = atomic_load(&vp_turns.dead);
    void (*finish)(void) = atomic_load(&vp_turns.finish);

    if (finish)
        vp_leave(finish);
    if (p) {
        atomic_store(&vp_turns.dead, NULL);
        if (!p->rank->ended)
            vp_hooks->died(p->rank, p->status);
    }
    vp_zygote_check();
}

/* How long to sleep until something must be checked. */
static struct timespec check_after(void)
{
    struct timespec limit = {.tv_sec = CHECK_SECONDS};

    if (atomic_load(&vp_turns.halted))
        limit = (struct timespec){.tv_nsec = HALTED_NS};
    if (atomic_load(&vp_turns.pinned))
        limit = (struct timespec){.tv_nsec = TOGETHER_NS};
    return limit;
}

static void await_scheduler_turn(void)
{
    int64_t waited = 0;

    while (!turn_take(&vp_turns.scheduler)) {
        struct timespec limit = check_after();

        if (atomic_load(&vp_turns.dead))
            check();
        if (syscall(SYS_futex, &vp_turns.scheduler, FUTEX_WAIT, TURN_ASLEEP, &limit, NULL, 0) ==
                0 ||
            errno != ETIMEDOUT)
            continue;
        unpin_running();
        waited += limit.tv_sec * 1000000000 + limit.tv_nsec;
        if (waited >= HALTED_NS)
            vp_halt_all_over();
        check();
    }
    if (atomic_load(&vp_turns.finish) || atomic_load(&vp_turns.dead))
        check();
}

static void await_request(int64_t ns)
{
    struct timespec limit = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

    vp_halt_all_over();
    atomic_store(&host.awaits_request, 1);
    if (!atomic_load(&host.requests))
        syscall(SYS_futex, &host.awaits_request, FUTEX_WAIT, 1, &limit, NULL, 0);
    atomic_store(&host.awaits_request, 0);
    check();
}

/* A turn that was interrupted by a request goes on in the same thread. */
static void give(struct vp_process *p)
{
    vp_halt_over(p);
    turn_give(p->helped ? &p->helper : &p->turn);
}

/* Gives the rank the turn, and does what ranks request until the turn comes back. */
static void run(struct vp_process *p)
{
    void (*request)(void);

    vp_turns.running = p;
    p->helped = atomic_load(&p->out);
    do {
        host.is_running = 1;
        give(vp_turns.running);
        await_scheduler_turn();
        host.is_running = 0;
        request = host.request;
        host.request = NULL;
        if (request)
            request();
    } while (request);
    if (p->error)
        vp_hooks->start_failed(p->rank, p->error);
}

static int resume(struct vp_rank *f)
{
    host.turns++;
    run(f->state);
    f = vp_turns.running->rank;
    if (!f->ended)
        return 0;
    f->state = NULL;
    if (f->extra)
        vp_extra_drop(f);
    return 1;
}

static int start(struct vp_rank *f)
{
    struct vp_process *p = mem_zalloc(sizeof *p);

    p->rank = f;
    f->state = p;
    if (vp_zygote_fork(p) != 0)
        check(); /* reports why; otherwise the run is ending */
    return resume(f);
}

static int is_running(void)
{
    return host.is_running;
}

const struct vp_remotes *vp_remotes(void)
{
    return &host.remotes;
}

int vp_is_remote(uint64_t number)
{
    return number >= host.remotes.first && number - host.remotes.first < host.remotes.count;
}

static int32_t pid_of(const struct vp_rank *f)
{
    const struct vp_process *p = f->state;

    return p ? p->pid : 0;
}

static int ask_where(const struct vp_rank *f)
{
    vp_halt_all_over();
    vp_crash_ask(pid_of(f));
    return 1;
}

/* The top of a rank's stack: one address for all processes of a program. */
static char *stack_top(const struct vp_rank *f)
{
    (void)f;
    return stack_end;
}

static void add_stats(struct vp_stats *s)
{
    s->switches = host.turns + host.passed;
    s->process_bytes = host.bytes;
}

static int init(const struct vp_config *cfg, struct err *err)
{
    host.scheduler = sys_getpid();
    host.concurrent = cfg->concurrent;
    stack_end = vp_stack_map(err);
    if (!stack_end)
        return ERR_MEMORY;
    vp_crash_answer();
    if (host.concurrent)
        arena_lock(&vp_private.arena_guard);
    else
        vp_pin_init();
    host.remotes = cfg->remotes;
    if (cfg->remotes.is_here) {
        vp_process_signals();
        run_program(vp_remote_attach(cfg->remotes.fd, cfg->remotes.others == 0));
    }
    return vp_zygote_start(&host.remotes, err);
}

static void expect(uint64_t ranks)
{
    (void)ranks;
    vp_pin();
}

const struct vp_host vp_process_host = {
    .name = "process",
    .own_process = 1,
    .passes_turns = 1,
    .load = load,
    .init = init,
    .expect = expect,
    .start = start,
    .resume = resume,
    .suspend = suspend,
    .suspend_computing = suspend_computing,
    .end = end,
    .call = call,
    .leave = leave,
    .kill = vp_zygote_kill,
    .check = check,
    .is_running = is_running,
    .ask_where = ask_where,
    .peer_memory = vp_host_peer_memory,
    .unpin = vp_unpin,
    .pin_thread = pin_thread,
    .threads_are_pinned = threads_are_pinned,
    .unpin_threads = unpin_threads,
    .request_turn = request_turn,
    .withdraw_request = withdraw_request,
    .next_request = next_request,
    .await_request = await_request,
    .pass_turn = pass_turn,
    .await_turn = await_turn,
    .go_out = go_out,
    .come_back = come_back,
    .help = help,
    .pid = pid_of,
    .starter = vp_zygote_pid,
    .stack_top = stack_top,
    .stats = add_stats,
};
