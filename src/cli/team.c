/*
 * Starting the workers, and the few things that make `orrery run` one of them.
 *
 * A launcher stands between us and the workers: it has its own idea of exit codes, of signals, of
 * what to print, and carries the output through its own pipes. Where the workers are on this machine
 * they and we go past it. We share a page of memory, and they inherit our standard streams:
 *
 *     starter --- page: status of the run, process ids of workers --- workers
 *        |  \____ standard input, output, error _____________________/
 *        `-- launcher (a session of its own; what it prints is shown only if nobody else explains)
 *
 * A signal to the starter goes to the workers, which end the run in order. A worker on another machine
 * finds neither page nor streams, and uses what the launcher gives it.
 */
#define _GNU_SOURCE 1
#include "cli/team.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "cli/cli.h"
#include "cli/libsearch.h"
#include "cli/placement.h"
#include "cli/program.h"
#include "cli/words.h"
#include "engine/place.h"

#define NATIVE_LIBRARY "libmpich.so.12"
#define FAILED 3
#define WORDS_MAX ((size_t)64 << 10) /* of the launcher's own words, kept */
#define LINGER_MS 200                /* how long its pipes are read after its end */

/* ---- the launcher's command line ---- */

static int command_line(struct cli_words *w, const struct cli_run *run, int argc, char **argv,
                        struct err *err)
{
    char text[32], self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    int rc = cli_words_split(w, "--launcher", run->launcher ? run->launcher : CLI_TEAM_LAUNCHER,
                             err);

    if (rc)
        return rc;
    if (n < 0)
        return err_set(err, ERR_SYSTEM, "cannot read '/proc/self/exe': %s", strerror(errno));
    self[n] = 0;
    cli_words_add(w, "-n");
    snprintf(text, sizeof text, "%u", run->opt.procs);
    cli_words_add(w, text);
    cli_words_add(w, self);
    cli_words_add(w, "run");
    cli_words_add(w, "--worker");
    if (run->progress < 0 && isatty(STDERR_FILENO) && !run->quiet)
        cli_words_add(w, "--progress");
    for (int i = 1; i < argc; i++)
        cli_words_add(w, argv[i]);
    return 0;
}

/* ---- what starter and workers share ---- */

#define PAGE_MAGIC 0x4f525254u /* "ORRT" */
#define STREAMS 3
#define WORKERS_MAX 1024 /* that get signals directly */
#define STREAM_FIRST 100 /* inherited streams are not in the way of others */

struct team_page {
    uint32_t magic;
    int32_t streams[STREAMS];     /* descriptors of our standard streams in every worker */
    volatile int32_t joined;      /* a worker uses them: the launcher carries no output of the run */
    int32_t worker_count;             /* workers on this machine ... */
    volatile int32_t workers[WORKERS_MAX]; /* ... and their process ids, 0: not there yet */
    volatile int32_t status, set; /* the status of the run, once it is known */
};

static struct team_page *page_map(int fd)
{
    struct team_page *page =
        mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return page == MAP_FAILED ? NULL : page;
}

static struct team_page *page_make(int *fd, struct err *err)
{
    struct team_page *page = NULL;

    *fd = memfd_create("orrery-team", MFD_CLOEXEC);
    if (*fd >= 0 && ftruncate(*fd, sizeof *page) == 0)
        page = page_map(*fd);
    if (!page) {
        err_set(err, ERR_SYSTEM, "cannot create a memory file: %s", strerror(errno));
        return NULL;
    }
    page->magic = PAGE_MAGIC;
    for (int i = 0; i < STREAMS; i++)
        page->streams[i] = fcntl(i, F_DUPFD, STREAM_FIRST);
    return page;
}

/* NULL on another machine. */
static struct team_page *page_find(void)
{
    static struct team_page *page;
    const char *path = getenv(ENV_TEAM);
    int fd = path && !page ? open(path, O_RDWR | O_CLOEXEC) : -1;

    if (fd >= 0) {
        page = page_map(fd);
        close(fd);
        if (page && page->magic != PAGE_MAGIC)
            page = NULL;
    }
    return page;
}

/* ---- running the launcher ---- */

/* Workers on this machine open our memory files by these names. */
static void name_file(const char *variable, pid_t owner, int fd)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)owner, fd);
    if (fd >= 0)
        setenv(variable, path, 1);
    else
        unsetenv(variable);
}

struct launcher {
    char **argv;
    const sigset_t *mask;
    int team, placement, machine; /* memory files */
    int out[2], err[2];  /* pipes for what it prints */
    pid_t pid;
};

_Noreturn static void become(const struct launcher *l, pid_t parent, int report)
{
    int error, null = open("/dev/null", O_RDONLY);

    setsid(); /* signals of the terminal are ours to handle */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        sys_exit(FAILED);
    dup2(null, 0);
    dup2(l->out[1], 1);
    dup2(l->err[1], 2);
    sigprocmask(SIG_SETMASK, l->mask, NULL);
    name_file(ENV_TEAM, parent, l->team);
    name_file(ENV_PLACEMENT, parent, l->placement);
    name_file(ENV_MACHINE, parent, l->machine);
    execvp(l->argv[0], l->argv);
    error = errno;
    sys_write_all(report, &error, sizeof error);
    sys_exit(2);
}

static int start(struct launcher *l, struct err *err)
{
    int report[2], error = 0;
    pid_t self = getpid();
    ssize_t got;

    if (pipe2(report, O_CLOEXEC) != 0 || pipe2(l->out, O_CLOEXEC) != 0 ||
        pipe2(l->err, O_CLOEXEC) != 0)
        return err_set(err, ERR_SYSTEM, "cannot create a pipe: %s", strerror(errno));
    l->pid = fork();
    if (l->pid == 0)
        become(l, self, report[1]);
    error = errno;
    close(report[1]);
    close(l->out[1]);
    close(l->err[1]);
    if (l->pid < 0) {
        close(report[0]);
        return err_set(err, ERR_SYSTEM, "cannot start a process: %s", strerror(error));
    }
    got = TEMP_FAILURE_RETRY(read(report[0], &error, sizeof error));
    close(report[0]);
    if (got <= 0)
        return 0;
    waitpid(l->pid, NULL, 0);
    return err_set(err, ERR_SYSTEM,
                   "cannot start the launcher '%s': %s; install mpich, or see --launcher",
                   l->argv[0], strerror(error));
}

/* Takes what the launcher prints: output of the run if the workers are elsewhere, else its own words,
 * which are kept. Returns 0 at the end. */
static int take_words(int fd, int to, const struct team_page *page, struct buf *words)
{
    char text[16384];
    ssize_t n = read(fd, text, sizeof text);

    if (n <= 0)
        return n < 0 && (errno == EINTR || errno == EAGAIN);
    if (!page->joined)
        sys_write_all(to, text, (size_t)n);
    else if (words->len < WORDS_MAX)
        buf_add(words, text, (size_t)n);
    return 1;
}

/* Passes signals on to the workers, or to the launcher if none is here; a second one kills all. */
static void signal_all(int fd, const struct team_page *page, pid_t launcher,
                       struct cli_outcome *outcome)
{
    int sig, count = page->worker_count < WORKERS_MAX ? page->worker_count : WORKERS_MAX;

    while ((sig = cli_watch_signal(fd)) != 0) {
        if (sig == SIGCHLD)
            continue;
        if (outcome->signal)
            sig = SIGKILL;
        for (int i = 0; i < count; i++)
            if (page->workers[i])
                kill(page->workers[i], sig);
        if (count == 0 || sig == SIGKILL)
            kill(launcher, sig);
        outcome->signal = outcome->signal ? outcome->signal : sig;
    }
}

/* Until the launcher has ended and all it printed is here. */
static void watch(struct launcher *l, const struct team_page *page, struct buf *words,
                  struct cli_outcome *outcome)
{
    struct pollfd fds[3] = {{l->out[0], POLLIN, 0}, {l->err[0], POLLIN, 0},
                            {cli_watch_signals(), POLLIN, 0}};
    int ended = 0;

    memset(outcome, 0, sizeof *outcome);
    while (!ended || fds[0].fd >= 0 || fds[1].fd >= 0) {
        int ready = poll(fds, 3, ended ? LINGER_MS : -1);

        if (ended && ready == 0)
            break; /* somebody has inherited the pipe and keeps it */
        for (int i = 0; i < 2; i++)
            if (fds[i].revents && !take_words(fds[i].fd, i + 1, page, words))
                fds[i].fd = -1;
        if (fds[2].revents)
            signal_all(fds[2].fd, page, l->pid, outcome);
        ended = ended || waitpid(l->pid, &outcome->status, WNOHANG) == l->pid;
    }
    close(fds[2].fd);
}

/* The status of the run, from process 0 or as far as the launcher tells. */
static int judge(const struct team_page *page, const struct cli_outcome *outcome,
                 const struct buf *words)
{
    int code = WIFEXITED(outcome->status) ? WEXITSTATUS(outcome->status) : -1;

    if (page->set)
        return page->status;
    sys_write_all(STDERR_FILENO, buf_str(words), words->len);
    if (outcome->signal)
        return 128 + outcome->signal;
    if (code == 2 || code == FAILED || (code == 0 && !page->joined))
        return code;
    if (code < 0)
        log_error("the launcher died of signal %d (%s): the run is not complete",
                  WTERMSIG(outcome->status), strsignal(WTERMSIG(outcome->status)));
    else
        log_error("the launcher ended with status %d, and no process reported the end of the run: one "
                  "of them was killed, or could not be started; see above", code);
    return FAILED;
}

int cli_team_run(const struct cli_run *run, int argc, char **argv, int *status, struct err *err)
{
    struct launcher l = {.team = -1, .placement = run->opt.place_fd,
                         .machine = run->opt.machine_fd};
    struct cli_outcome outcome;
    struct cli_words w = {0};
    struct buf words;
    sigset_t mask;
    int rc = command_line(&w, run, argc, argv, err);
    struct team_page *page = rc ? NULL : page_make(&l.team, err);

    buf_init(&words);
    if (rc == 0 && !page)
        rc = ERR_SYSTEM;
    if (rc == 0) {
        cli_watch_block(&mask);
        l.argv = w.at;
        l.mask = &mask;
        rc = start(&l, err);
    }
    if (rc == 0) {
        watch(&l, page, &words, &outcome);
        *status = judge(page, &outcome, &words);
    }
    buf_fini(&words);
    cli_words_fini(&w);
    return rc;
}

/* ---- being a worker ---- */

static int find_native(struct cli_run *run, struct err *err)
{
    const char *given = getenv(ENV_NATIVE_MPI);
    struct cli_libsearch_from none = {0};
    struct cli_libsearch search;
    size_t size = sizeof run->opt.native_path;
    int found;

    if (given && *given) {
        snprintf(run->opt.native_path, size, "%s", given);
        return access(given, R_OK) == 0 ? 0
                                        : err_set(err, ERR_SYSTEM, "%s: cannot read '%s': %s",
                                                  ENV_NATIVE_MPI, given, strerror(errno));
    }
    cli_libsearch_init(&search);
    found = cli_libsearch_find(&search, NATIVE_LIBRARY, &none, &none, cli_program_is_elf,
                               run->opt.native_path, size);
    cli_libsearch_fini(&search);
    return found ? 0
                 : err_set(err, ERR_SYSTEM,
                           "cannot find %s, the native MPI that --procs needs: install mpich, or set "
                           "%s", NATIVE_LIBRARY, ENV_NATIVE_MPI);
}

/* The table that who started us has computed; 0 if that is on another machine. */
static int open_list(struct cli_run *run)
{
    const char *path = getenv(ENV_PLACEMENT);
    int fd = path ? open(path, O_RDONLY) : -1;

    if (fd >= 0)
        run->opt.place_fd = fd;
    return fd >= 0;
}

static int make_list(struct cli_run *run, struct err *err)
{
    size_t bytes = (size_t)run->opt.ranks * sizeof(uint32_t);
    uint32_t *owner = MAP_FAILED;
    int fd = memfd_create("orrery-placement", 0), rc;

    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        owner = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (owner == MAP_FAILED)
        return err_set(err, ERR_SYSTEM, "cannot make room for the placement: %s", strerror(errno));
    rc = cli_placement_mincut(run->mincut, run->opt.ranks, run->opt.procs, owner, err);
    munmap(owner, bytes);
    run->opt.place_fd = fd;
    return rc;
}

int cli_team_prepare(struct cli_run *run, struct err *err)
{
    int rc;

    uint64_t most = run_room(&run->opt);

    if (run->opt.procs > most) /* a process without a rank would be of no use */
        run->opt.procs = (uint32_t)most;
    if (run->opt.procs <= 1)
        return 0;
    rc = find_native(run, err);
    if (rc == 0 && run->opt.placement == PLACE_LIST && !(run->worker && open_list(run)))
        rc = make_list(run, err);
    return rc;
}

int cli_team_judge(const struct run_page *page, const struct cli_outcome *outcome, pid_t pid)
{
    char machine[256] = "?", name[400];

    if (page->end.cause != RUN_CAUSE_NONE || outcome->signal)
        return 0;
    gethostname(machine, sizeof machine - 1);
    if (page->now.joined)
        snprintf(name, sizeof name, "process %u of %u (pid %d on %s)", page->now.proc,
                 page->opt.procs, (int)pid, machine);
    else
        snprintf(name, sizeof name, "a process (pid %d on %s)", (int)pid, machine);
    if (outcome->hung)
        log_error("%s does not respond%s: the run ends here", name,
                  outcome->hung == CLI_WATCH_STOPPED ? ", it was stopped by a signal" : "");
    else if (WIFSIGNALED(outcome->status))
        log_error("%s was killed by signal %d (%s): the run ends here", name,
                  WTERMSIG(outcome->status), strsignal(WTERMSIG(outcome->status)));
    else
        log_error("%s ended with status %d before its time: the run ends here", name,
                  WEXITSTATUS(outcome->status));
    return 1;
}

void cli_team_tell(int status)
{
    struct team_page *page = page_find();

    if (!page || page->set)
        return;
    page->status = status;
    page->set = 1;
}

/* Is this the worker of process 0? Process managers say so before the native MPI does. */
static int is_leader(void)
{
    static const char *const names[] = {"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]))
            return strcmp(getenv(names[i]), "0") == 0;
    return 0;
}

void cli_team_join(void)
{
    struct team_page *page = page_find();
    int leader = is_leader(), at;

    if (!page)
        return;
    for (int i = 0; i < STREAMS; i++) {
        if (page->streams[i] >= 0 && (i > 0 || leader))
            dup2(page->streams[i], i);
        close(page->streams[i]);
    }
    page->joined = 1;
    at = __atomic_fetch_add(&page->worker_count, 1, __ATOMIC_SEQ_CST);
    if (at < WORKERS_MAX)
        page->workers[at] = getpid();
}
