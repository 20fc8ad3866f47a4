/*
 * zygote.c - the process that forks the ranks' processes, waits for them and reports those that
 * die.
 *
 * It reads addresses of struct vp_process from a pipe. Ranks die with it, and it with the
 * scheduler.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "base/log.h"
#include "vp/libc/libc.h"
#include "vp/process.h"
#include "vp/remote.h"
#include "vp/vp_internal.h"

static struct {
    struct vp_process *_Atomic children; /* that are alive */
    int32_t pid, scheduler;
    int orders_in, orders_out; /* the pipe: the zygote's end, the scheduler's end */
    const struct vp_remotes *remotes;
} zygote;

/* ---- in the zygote and its children ---- */

void vp_process_disregard(int sig)
{
    (void)sig;
}

/* Signals that ask the run to end are for the scheduler. They are handled, not ignored: programs
 * that a rank starts would ignore them, too. */
void vp_process_signals(void)
{
    static const int asked[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t none;

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        REAL(signal)(asked[i], vp_process_disregard);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void die_with(int32_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if ((int32_t)syscall(SYS_getppid) != parent)
        sys_exit(0); /* the scheduler died before prctl */
}

/* The first of the connections of a rank; -1 if it is on this computer. */
static int connection_of(const struct vp_process *p)
{
    uint64_t number = vp_hooks->rank(p->rank);

    if (!vp_is_remote(number))
        return -1;
    return zygote.remotes->fd + (int)(number - zygote.remotes->first) * VP_CHANNELS;
}

/* Closes connections, except those of one rank: each must be open in one process only, so that the
 * other end notices the end of that. */
static void close_connections(int except)
{
    unsigned from = (unsigned)zygote.remotes->fd;
    unsigned to = from + zygote.remotes->count * VP_CHANNELS;

    if (except >= 0 && (unsigned)except > from)
        close_range(from, (unsigned)except - 1, 0);
    if (except >= 0)
        from = (unsigned)except + VP_CHANNELS;
    if (from < to)
        close_range(from, to - 1, 0);
}

static void close_own(int connection)
{
    if (connection >= 0)
        close_range((unsigned)connection, (unsigned)connection + VP_CHANNELS - 1, 0);
}

/* Only rank 0 has input: commands that others start have none either, as under mpiexec. */
static void empty_input(void)
{
    int empty = sys_open("/dev/null", O_RDONLY, 0);

    if (empty > 0) {
        syscall(SYS_dup3, empty, 0, 0);
        sys_close(empty);
    }
}

_Noreturn static void child(struct vp_process *p)
{
    int connection = connection_of(p);

    die_with(zygote.pid);
    if (vp_hooks->rank(p->rank) != 0)
        empty_input();
    sys_close(zygote.orders_in);
    close_connections(connection);
    vp_process_signals();
    if (connection >= 0)
        vp_proxy_main(p, connection);
    vp_process_main(p);
}

static void fork_rank(struct vp_process *p)
{
    pid_t pid = REAL(fork)();

    if (pid == 0)
        child(p);
    if (pid < 0) {
        p->error = errno;
        turn_give(&vp_turns.scheduler);
        return;
    }
    p->pid = pid;
    p->next = atomic_load(&zygote.children);
    atomic_store(&zygote.children, p);
    close_own(connection_of(p));
}

/* Makes the scheduler look at what happened, whoever has the turn. */
static void wake_scheduler(void)
{
    uint32_t was = TURN_ASLEEP;

    if (atomic_compare_exchange_strong(&vp_turns.scheduler, &was, TURN_NONE))
        turn_wake(&vp_turns.scheduler);
}

static void reap(void)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        struct vp_process **at = (struct vp_process **)&zygote.children, *p;

        while ((p = *at) && p->pid != pid)
            at = &p->next;
        if (!p)
            continue;
        *at = p->next;
        p->status = status;
        if (!p->rank->ended && !atomic_load(&vp_turns.finish)) {
            atomic_store(&vp_turns.dead, p);
            wake_scheduler();
        }
    }
}

static void on_child(int sig)
{
    (void)sig; /* interrupts ppoll */
}

/* Blocks SIGCHLD except during ppoll; returns the mask for ppoll. */
static sigset_t catch_children(void)
{
    struct sigaction act = {.sa_handler = on_child};
    sigset_t mask, open;

    vp_process_signals();
    sigaction(SIGCHLD, &act, NULL);
    sigemptyset(&open);
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    return open;
}

_Noreturn static void zygote_main(void)
{
    struct pollfd in = {.fd = zygote.orders_in, .events = POLLIN};
    sigset_t open;

    die_with(zygote.scheduler);
    zygote.pid = sys_getpid();
    vp_pin();
    open = catch_children();
    for (;;) {
        struct vp_process *p;
        int n = REAL(ppoll)(&in, 1, NULL, &open);

        reap();
        if (n <= 0)
            continue;
        if (sys_read(zygote.orders_in, &p, sizeof p) != (ssize_t)sizeof p)
            break; /* no more ranks */
        fork_rank(p);
    }
    while (waitpid(-1, NULL, 0) > 0)
        ;
    sys_exit(0);
}

/* ---- in the scheduler ---- */

int vp_zygote_start(const struct vp_remotes *remotes, struct err *err)
{
    int ends[2];
    pid_t pid;

    zygote.remotes = remotes;
    zygote.scheduler = sys_getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set(err, ERR_SYSTEM, "cannot create a pipe: %s", strerror(errno));
    zygote.orders_in = ends[0];
    zygote.orders_out = ends[1];
    pid = REAL(fork)();
    if (pid < 0)
        return err_set(err, ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
    if (pid == 0) {
        sys_close(ends[1]);
        zygote_main();
    }
    sys_close(ends[0]);
    close_connections(-1);
    zygote.pid = pid;
    return ERR_OK;
}

int vp_zygote_fork(struct vp_process *p)
{
    return sys_write_all(zygote.orders_out, &p, sizeof p);
}

static int all_ended(void)
{
    struct vp_process *p = atomic_load(&zygote.children);

    while (p && p->rank->ended)
        p = p->next;
    return !p;
}

void vp_zygote_kill(void)
{
    if (zygote.pid <= 0)
        return;
    if (all_ended())
        sys_close(zygote.orders_out);
    else
        kill(zygote.pid, SIGKILL);
    while (waitpid(zygote.pid, NULL, 0) < 0 && errno == EINTR)
        ;
    zygote.pid = 0;
    arena_unlock();
}

void vp_zygote_check(void)
{
    int status;

    if (waitpid(zygote.pid, &status, WNOHANG) != zygote.pid)
        return;
    zygote.pid = 0;
    log_fatal("the process that starts ranks was killed (signal %d)",
              WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

int32_t vp_zygote_pid(void)
{
    return zygote.pid;
}
