/*
 * watch.c - the parent's loop: all signals are blocked and taken one by one with sigtimedwait, so
 * there are no handlers and no races.
 *
 * Ctrl-C on the terminal reaches the program directly, since it is in our process group: only
 * signals sent to us alone are passed on.
 */
#include "launch/watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/log_module.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/units.h"
#include "launch/backtrace.h"
#include "launch/proctree.h"
#include "launch/supervise_tree.h"
#include "run/memory_need.h"

#define TICK_NS 250000000
/* A tick counts at most that much: if this process had to wait longer, so had others. */
#define TICK_MOST_S 0.5
#define WATCHDOG_S 60.0
#define SILENT_S \
    60.0 /* one of several processes may neither compute nor wait for the others this long */
#define SIGNAL_S 6.0            /* the program may take this long to end after a signal */
#define HURRY_S 2               /* then this process may take this long to report it */
#define STALLED_S 5.0           /* a rank may be in one system call this long before it is named */
#define MEMORY_TICK_NS 25000000 /* how often memory is checked while there is little */
#define MEMORY_NEAR 8           /* that is: so many times what must stay free */
#define MEMORY_S 15.0           /* the program may take this long to end for lack of memory */
#define MEMORY_LAST 4           /* 1 / 4 of the reserve: with less left, it is killed at once */
#define OVERDUE_S 3.0           /* a rank may compute this long after another has aborted the run */

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP};

struct watch {
    pid_t pid;
    struct run_page *page;
    int progress;
    double last;    /* host time of the last tick */
    double watched; /* time during which this process looked: of ticks in time */
    uint64_t last_messages;
    double rate;
    struct launch_watchdog dog;
    double stopped_since, silent_since; /* 0: it is not */
    double signal_at;                   /* when the first one came */
    int warned;                         /* of a stopped process */
    double cpu;                         /* processor time at the last tick */
    uint64_t beats;                     /* the scheduler's count at the last tick */
    /* Since when a rank has been in one system call, and when the next warning is due. */
    double stalled_since, stalled_next;
    uint64_t stalled_seen; /* the counter at that time */
    /* Since when the run has been aborted without any rank giving up its turn. */
    double overdue_since;
    uint64_t overdue_seen;
    uint64_t reserve;    /* memory that must stay free; 0: none */
    int is_near;         /* there is not much more than that */
    double memory_since; /* when the program was told to end because of it; 0: it was not */
    const struct launch_guard *launcher; /* or NULL */
    pid_t witness;                       /* or 0 */
    struct supervise_tree tree;          /* of an emulation */
    struct run_outcome *out;
};

double launch_watch_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void wanted_signals(sigset_t *set)
{
    struct sigaction action;
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++) {
        if (sigaction(passed_on[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(set, passed_on[i]);
    }
}

void launch_watch_block(sigset_t *old)
{
    sigset_t set;
    signal(SIGCHLD, SIG_DFL);
    wanted_signals(&set);
    sigprocmask(SIG_BLOCK, &set, old);
}

/* ---- facts from /proc ---- */

static uint64_t resident_bytes(pid_t pid)
{
    char path[64], text[128];
    unsigned long long total, resident;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    if (sys_read_text(path, text, sizeof text) < 0 ||
        sscanf(text, "%llu %llu", &total, &resident) != 2)
        return 0;
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* User and system time of the process, fields 14 and 15 of its stat; the name may hold anything, so
 * counting starts after its closing bracket. */
static double cpu_seconds(pid_t pid)
{
    char path[64], text[1024];
    unsigned long long user, system;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (sys_read_text(path, text, sizeof text) < 0)
        return 0;
    const char *after = strrchr(text, ')');
    if (!after || sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
                         &system) != 2)
        return 0;
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* ---- progress ---- */

/* Changes the state of the progress line; 0 if the program has changed it meanwhile. */
static int take_line(struct watch *watch, uint32_t from)
{
    return atomic_compare_exchange_strong(&watch->page->now.line, &from, RUN_LINE_BUSY);
}

static void erase_line(struct watch *watch)
{
    if (!take_line(watch, RUN_LINE_DRAWN))
        return;
    sys_write_all(STDERR_FILENO, RUN_LINE_ERASE, strlen(RUN_LINE_ERASE));
    atomic_store(&watch->page->now.line, RUN_LINE_NONE);
}

static size_t columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 3 ? size.ws_col - 3u : 77;
}

static void draw_line(struct watch *watch)
{
    const struct run_page *page = watch->page;
    char done[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX], clock[UNITS_TEXT_MAX];
    char rate[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX], line[256];
    uint64_t ranks = page->now.ranks_started; /* more than at the start if some were spawned */
    snprintf(line, sizeof line, "%s of %s ranks done, at %s, %s messages/s, %s",
             units_format_count(done, sizeof done, page->now.ranks_done),
             units_format_count(all, sizeof all, ranks > page->opt.ranks ? ranks : page->opt.ranks),
             units_format_time(clock, sizeof clock, page->now.clock),
             units_format_count(rate, sizeof rate, (uint64_t)watch->rate),
             units_format_bytes(memory, sizeof memory,
                                resident_bytes(watch->pid) + page->now.memory_elsewhere));
    size_t room = columns(), length = strlen(line);
    struct buf out;
    buf_init(&out);
    buf_addf(&out, "\r%.*s\033[K  ", (int)(length < room ? length : room), line);
    if (take_line(watch, RUN_LINE_NONE) || take_line(watch, RUN_LINE_DRAWN)) {
        sys_write_all(STDERR_FILENO, buf_str(&out), out.len);
        atomic_store(&watch->page->now.line, RUN_LINE_DRAWN);
    }
    buf_fini(&out);
}

/* ---- watchdog ---- */

double launch_watchdog_step(struct launch_watchdog *dog, double now, double cpu, uint64_t counter)
{
    if (counter != dog->seen || dog->warn_at == 0) {
        *dog = (struct launch_watchdog){counter, now, cpu, WATCHDOG_S};
        return 0;
    }
    double span = now - dog->since;
    if (span < dog->warn_at || cpu - dog->cpu < span / 10)
        return 0;
    while (dog->warn_at <= span)
        dog->warn_at *= 2;
    return span;
}

/* System calls that wait, and what for. */
static const struct {
    long number;
    const char *name;
} blocking[] = {
    {SYS_accept, "accept()"},
    {SYS_accept4, "accept4()"},
    {SYS_connect, "connect()"},
    {SYS_read, "read()"},
    {SYS_readv, "readv()"},
    {SYS_write, "write()"},
    {SYS_writev, "writev()"},
    {SYS_recvfrom, "recv()"},
    {SYS_recvmsg, "recvmsg()"},
    {SYS_sendto, "send()"},
    {SYS_sendmsg, "sendmsg()"},
    {SYS_ppoll, "poll()"},
    {SYS_pselect6, "select()"},
    {SYS_epoll_pwait, "epoll_wait()"},
    {SYS_wait4, "wait()"},
    {SYS_waitid, "waitid()"},
    {SYS_flock, "flock()"},
    {SYS_fcntl, "fcntl()"},
    {SYS_openat, "open()"},
    {SYS_futex, "a lock (futex)"},
    {SYS_msgrcv, "msgrcv()"},
    {SYS_semop, "semop()"},
    {SYS_semtimedop, "semtimedop()"},
    {SYS_rt_sigsuspend, "sigsuspend()"},
    {SYS_rt_sigtimedwait, "sigwait()"},
    {SYS_mq_timedreceive, "mq_receive()"},
#ifdef __x86_64__
    {SYS_poll, "poll()"},
    {SYS_select, "select()"},
    {SYS_epoll_wait, "epoll_wait()"},
    {SYS_pause, "pause()"},
    {SYS_open, "open()"},
#endif
};

/* The system call that the process waits in, and its first argument; -1: none, or unknown. */
static long system_call(pid_t pid, unsigned long *argument)
{
    char path[64], text[256];
    long number = -1;
    *argument = 0;
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    if (sys_read_text(path, text, sizeof text) < 0 ||
        sscanf(text, "%ld 0x%lx", &number, argument) < 1)
        return -1;
    return number;
}

/* Does the process wait for input, or for a command that it has started? Then it is not lost. */
static int is_waiting(pid_t pid)
{
    unsigned long argument;
    long call = system_call(pid, &argument);
    return call == SYS_read || call == SYS_wait4 || call == SYS_waitid;
}

/* Nor if it waits for the user, or for the reader of its output. */
static int is_standard(long call, unsigned long fd)
{
    return (call == SYS_read && fd == 0) || (call == SYS_write && (fd == 1 || fd == 2));
}

static double since(double before, int is_so, double now)
{
    return !is_so ? 0 : before > 0 ? before : now;
}

/* The process id of a relevant process of the program that is stopped, or 0. */
static pid_t find_stopped(const struct watch *watch, const char **what)
{
    const struct run_page *page = watch->page;
    const pid_t pids[] = {watch->pid, page->now.current_pid, page->now.zygote_pid};
    static const char *const names[] = {"the program", "the rank that is to run",
                                        "the process that starts ranks"};
    struct launch_proc proc;
    for (size_t i = 0; i < sizeof pids / sizeof pids[0]; i++) {
        *what = names[i];
        if (launch_proc_is_stopped(pids[i], &proc))
            return pids[i];
    }
    return 0;
}

/* Nobody else would notice; all would just wait. */
static void look_for_stop(struct watch *watch, double now)
{
    const char *what;
    pid_t stopped = find_stopped(watch, &what);
    watch->stopped_since = since(watch->stopped_since, stopped != 0, now);
    if (!stopped)
        watch->warned = 0;
    if (!stopped || watch->warned || now - watch->stopped_since <= LAUNCH_PROC_STOPPED_S)
        return;
    watch->warned = 1;
    if (watch->page->opt.procs > 1) {
        watch->out->hung = RUN_STOPPED;
        kill(watch->pid, SIGKILL);
        return;
    }
    erase_line(watch);
    log_warn("%s (pid %d) was stopped by a signal: the run waits until it gets SIGCONT", what,
             (int)stopped);
}

/* One of several processes: kills it if the others would wait for it for ever. */
static void look_for_hang(struct watch *watch, double now, double cpu)
{
    uint64_t beats = watch->page->now.beats;
    int32_t rank = watch->page->now.current_pid;
    int silent = watch->page->now.joined && beats == watch->beats && cpu == watch->cpu;
    watch->beats = beats;
    watch->silent_since = since(watch->silent_since,
                                silent && !is_waiting(watch->pid) && !(rank && is_waiting(rank)),
                                now);
    if (watch->silent_since > 0 && now - watch->silent_since > SILENT_S) {
        watch->out->hung = RUN_SILENT;
        kill(watch->pid, SIGKILL);
    }
}

/* A rank that waits in a system call holds up all others, and may be waiting for one of them. A
 * process whose ranks have ended may wait for other processes. */
static void look_for_stall(struct watch *watch, double now, double cpu, uint64_t counter)
{
    int32_t rank = watch->page->now.current_pid;
    unsigned long argument;
    long call, other = SYS_futex;
    char name[32];
    const char *said = name;
    if (counter + watch->page->now.beats != watch->stalled_seen || cpu != watch->cpu ||
        watch->page->now.switches == 0 || watch->page->now.ended || watch->page->now.crashing) {
        watch->stalled_seen = counter + watch->page->now.beats;
        watch->stalled_since = now;
        watch->stalled_next = STALLED_S;
        return;
    }
    if (now - watch->stalled_since < watch->stalled_next)
        return;
    watch->stalled_next *= 2;
    call = system_call(rank ? rank : watch->pid, &argument);
    if (rank) /* then the scheduler waits only for this rank */
        other = system_call(watch->pid, &(unsigned long){0});
    if (call < 0 || other != SYS_futex || is_standard(call, argument))
        return;
    snprintf(name, sizeof name, "system call %ld", call);
    for (size_t i = 0; i < sizeof blocking / sizeof blocking[0]; i++)
        if (blocking[i].number == call)
            said = blocking[i].name;
    erase_line(watch);
    log_warn(
        "rank %llu has been waiting in %s for %.0f s; meanwhile no other rank can run, so it must "
        "not wait for one of them but in MPI",
        (unsigned long long)watch->page->now.current_rank, said, now - watch->stalled_since);
}

/* The run was aborted, but the rank with the turn keeps computing: tells the program to end without
 * it. */
static void look_for_abort(struct watch *watch, double now)
{
    uint64_t turns = watch->page->now.switches;
    if (!watch->page->now.aborting || watch->overdue_since < 0)
        return;
    if (watch->overdue_since == 0 || turns != watch->overdue_seen) {
        watch->overdue_since = now;
        watch->overdue_seen = turns;
    } else if (now - watch->overdue_since > OVERDUE_S) {
        watch->overdue_since = -1;
        kill(watch->pid, SIGALRM);
    }
}

static uint64_t memory_use(const struct watch *watch)
{
    int32_t rank = watch->page->now.current_pid;
    uint64_t use = resident_bytes(watch->pid) + watch->page->now.memory_use;
    uint64_t running = rank ? resident_bytes(rank) : 0;
    return use > running ? use : running;
}

/* A rank can use up the memory without giving up its turn. The program ends itself, with what its
 * ranks have written; if it cannot, it is killed before the system kills something else. */
static void look_for_memory(struct watch *watch, double now)
{
    struct run_page *page = watch->page;
    uint64_t left = watch->reserve && page->now.switches ? mem_available() : 0;
    if (left == 0)
        return;
    watch->is_near = left / MEMORY_NEAR < watch->reserve;
    if (watch->memory_since == 0) {
        if (!run_memory_is_short(page->opt.memory_reserve, watch->reserve, left, memory_use(watch)))
            return;
        watch->memory_since = now;
        if (page->now.memory_left || page->now.crashing || page->dying.status)
            return; /* it is ending */
        page->now.memory_left = left;
        kill(watch->pid, SIGALRM);
    } else if (page->end.cause == RUN_CAUSE_NONE && (now - watch->memory_since > MEMORY_S ||
                                                     (page->opt.memory_reserve == RUN_MEMORY_AUTO &&
                                                      left < watch->reserve / MEMORY_LAST))) {
        watch->out->memory_left = left;
        kill(watch->pid, SIGKILL);
    }
}

/* A guard ends by itself when its command has ended, perhaps before the simulator has. */
static int was_killed(pid_t own)
{
    siginfo_t how = {0};
    return waitid(P_PID, (id_t)own, &how, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           (how.si_pid && how.si_code != CLD_EXITED);
}

/* The run ends if a process of ours was killed, beside the program. */
static void look_at_own(struct watch *watch)
{
    pid_t own[] = {watch->launcher ? watch->launcher->pid : 0, watch->witness};
    for (int i = 0; i < 2 && !watch->out->is_lost; i++) {
        if (!own[i] || !was_killed(own[i]))
            continue;
        erase_line(watch);
        log_error("a process of Orrery's (pid %d) was killed: the run ends here", (int)own[i]);
        watch->out->is_lost = 1;
        kill(watch->pid, SIGKILL);
    }
}

/* All ranks of an emulation run at the same time, and a launcher may have started them. */
static void look_at_all(struct watch *watch, double now)
{
    if (watch->out->is_lost)
        return;
    erase_line(watch);
    watch->out->is_lost = supervise_tree_look(&watch->tree, now);
    if (watch->out->is_lost)
        kill(watch->pid, SIGKILL);
}

static void tick(struct watch *watch)
{
    const struct run_page *page = watch->page;
    double now = launch_watch_now();
    int32_t rank = page->now.current_pid;
    uint64_t messages = page->now.messages;
    /* one of these changes with almost every call; a single rank never switches */
    uint64_t counter = page->now.switches + messages + (uint64_t)page->now.clock +
                       page->now.ranks_done;
    if (now - watch->last < TICK_NS * 0.5e-9)
        return;
    watch->rate = (double)(messages - watch->last_messages) / (now - watch->last);
    watch->last_messages = messages;
    watch->watched += now - watch->last < TICK_MOST_S ? now - watch->last : TICK_MOST_S;
    watch->last = now;
    double cpu = cpu_seconds(watch->pid) +
                 (rank ? cpu_seconds(rank) : 0); /* the scheduler waits for the rank */
    double stuck = launch_watchdog_step(&watch->dog, now, cpu, counter);
    if (stuck > 0 && !page->opt.quiet) {
        erase_line(watch);
        log_warn("rank %llu has run for %.0f s without an MPI call",
                 (unsigned long long)page->now.current_rank, stuck);
    }
    if (page->opt.factor > 0)
        look_at_all(watch, now);
    else
        look_for_stop(watch, watch->watched);
    look_at_own(watch);
    look_for_stall(watch, watch->watched, cpu, counter);
    look_for_abort(watch, now);
    if (page->opt.procs > 1)
        look_for_hang(watch, watch->watched, cpu);
    watch->cpu = cpu;
    if (watch->out->signal && now - watch->signal_at > SIGNAL_S)
        kill(watch->pid, SIGKILL);
    if (watch->progress && (page->opt.procs <= 1 || (page->now.joined && page->now.proc == 0)))
        draw_line(watch);
}

/* ---- the loop ---- */

static void pass_on(struct watch *watch, const siginfo_t *info, struct run_outcome *out)
{
    int from_terminal = info->si_code == SI_KERNEL;
    if (out->signal) {
        if (launch_watch_now() - watch->signal_at > LAUNCH_WATCH_AGAIN_S)
            kill(watch->pid, SIGKILL);
        return;
    }
    if (!from_terminal)
        kill(watch->pid, info->si_signo);
    kill(watch->pid, SIGCONT); /* a stopped process handles no signals */
    out->signal = info->si_signo;
    watch->signal_at = launch_watch_now();
}

void launch_watch_wait(pid_t pid, struct launch_page *page, const struct launch_guard *launcher,
                       pid_t witness, int progress, double start, struct run_outcome *out)
{
    struct watch watch = {.pid = pid,
                          .page = page->page,
                          .progress = progress,
                          .last = start,
                          .launcher = launcher,
                          .witness = witness,
                          .out = out};
    struct rusage usage;
    sigset_t set;
    memset(out, 0, sizeof *out);
    watch.reserve = run_memory_reserve(page->page->opt.memory_reserve, mem_available());
    supervise_tree_init(&watch.tree, launcher ? launcher->pid : 0,
                        launcher ? launcher->command : 0);
    watch.tree.sees_all = 1;
    wanted_signals(&set);
    for (;;) {
        siginfo_t info;
        struct timespec interval = {0, watch.is_near ? MEMORY_TICK_NS : TICK_NS};
        int sig = sigtimedwait(&set, &info, &interval);
        if (sig > 0 && sig != SIGCHLD)
            LOG_LINE(LAUNCH, INFO, LOG_NO_RANK, VTIME_NEVER, "signal %d is passed on", sig);
        if (sig > 0 && sig != SIGCHLD)
            pass_on(&watch, &info, out);
        launch_backtrace_answer(page, pid);
        if (wait4(pid, &out->status, WNOHANG, &usage) == pid)
            break;
        look_for_memory(&watch, launch_watch_now());
        tick(&watch);
    }
    supervise_tree_fini(&watch.tree);
    erase_line(&watch);
    LOG_LINE(LAUNCH, INFO, LOG_NO_RANK, VTIME_NEVER, "process %ld of the system has ended, %s %d",
             (long)pid, WIFSIGNALED(out->status) ? "by signal" : "with status",
             WIFSIGNALED(out->status) ? WTERMSIG(out->status) : WEXITSTATUS(out->status));
    out->wall_s = launch_watch_now() - start;
    out->peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
}

static volatile sig_atomic_t hurry_status;

static void give_up(int sig)
{
    (void)sig;
    sys_exit(hurry_status);
}

void launch_watch_hurry(const struct run_outcome *outcome)
{
    struct sigaction act = {.sa_handler = give_up};
    sigset_t set;
    if (!outcome->signal)
        return;
    hurry_status = 128 + outcome->signal;
    sigaction(SIGALRM, &act, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    sys_alarm(HURRY_S);
}

void launch_watch_relax(void)
{
    sys_alarm(0);
    signal(SIGALRM, SIG_IGN); /* it may be pending */
}

/* Sets the action of those signals in `set` that are passed on. */
static void act_on_signals(const sigset_t *set, void (*take)(int))
{
    struct sigaction act = {.sa_handler = take, .sa_flags = SA_RESTART, .sa_mask = *set};
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
        if (sigismember(set, passed_on[i]))
            sigaction(passed_on[i], &act, NULL);
}

void launch_watch_drop(void)
{
    struct timespec now = {0};
    sigset_t set;
    wanted_signals(&set);
    sigdelset(&set, SIGCHLD);
    while (sigtimedwait(&set, NULL, &now) > 0)
        ;
}

void launch_watch_handle(void (*take)(int), sigset_t *old)
{
    sigset_t set;
    wanted_signals(&set);
    sigdelset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, old);
    launch_watch_drop();
    act_on_signals(&set, take);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void launch_watch_unhandle(const sigset_t *old)
{
    sigset_t set;
    wanted_signals(&set);
    sigprocmask(SIG_SETMASK, old, NULL);
    act_on_signals(&set, SIG_DFL);
}

int launch_watch_signals(void)
{
    sigset_t set;
    wanted_signals(&set);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int launch_watch_signal(int fd)
{
    struct signalfd_siginfo info;
    return read(fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}
