/*
 * Being a worker: `orrery run` for one of several processes, and what all of them need to find each other.
 */
#define _GNU_SOURCE 1
#include "cli/team.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "cli/team_internal.h"
#include "engine/place.h"
#include "partition/placement.h"
#include "program/libsearch.h"
#include "program/program.h"
#include "run/share.h"

#define NATIVE_LIBRARY "libmpich.so.12"

/* ---- the native MPI, and where ranks are ---- */

static int find_native(struct cli_run *run, struct err *err)
{
    const char *given = getenv(ENV_NATIVE_MPI);
    struct program_libsearch_from none = {0};
    struct program_libsearch search;
    size_t size = sizeof run->opt.native_path;
    int found;

    if (given && *given) {
        snprintf(run->opt.native_path, size, "%s", given);
        return access(given, R_OK) == 0 ? 0
                                        : err_set(err, ERR_SYSTEM, "%s: cannot read '%s': %s",
                                                  ENV_NATIVE_MPI, given, strerror(errno));
    }
    program_libsearch_init(&search);
    found = program_libsearch_find(&search, NATIVE_LIBRARY, &none, &none, program_is_elf,
                                   run->opt.native_path, size);
    program_libsearch_fini(&search);
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
    rc = partition_mincut(run->mincut, run->opt.ranks, run->opt.procs, owner, err);
    munmap(owner, bytes);
    run->opt.place_fd = fd;
    return rc;
}

/* Can a command be found, as execvp would? */
static int is_installed(const char *command)
{
    const char *path = getenv("PATH");
    char file[4096];

    if (strchr(command, '/'))
        return access(command, X_OK) == 0;
    for (path = path ? path : "/bin:/usr/bin"; *path; path += *path == ':') {
        size_t n = strcspn(path, ":");

        snprintf(file, sizeof file, "%.*s/%s", (int)n, path, command);
        if (access(file, X_OK) == 0)
            return 1;
        path += n;
    }
    return 0;
}

/* --procs auto: one process where several cannot be started. */
static void choose_procs(struct cli_run *run)
{
    struct err ignored;

    run->opt.procs = run_share_choose(run->opt.ranks, run_share_cores(), mem_available());
    if (run->opt.procs > 1 && ((!run->launcher && !is_installed(CLI_TEAM_LAUNCHER)) ||
                               find_native(run, &ignored) != 0))
        run->opt.procs = 1;
}

int cli_team_prepare(struct cli_run *run, struct err *err)
{
    int rc;

    uint64_t most = run_room(&run->opt);

    if (run->procs_auto && !run->opt.asan)
        choose_procs(run);
    if (run->opt.procs > most) /* a process without a rank would be of no use */
        run->opt.procs = (uint32_t)most;
    if (run->opt.procs <= 1)
        return 0;
    rc = find_native(run, err);
    if (rc == 0 && run->opt.placement == PLACE_LIST && !(run->worker && open_list(run)))
        rc = make_list(run, err);
    return rc;
}

/* ---- the page shared with the starter ---- */

struct team_page *team_page_map(int fd)
{
    struct team_page *page =
        mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return page == MAP_FAILED ? NULL : page;
}

/* NULL on another machine. */
static struct team_page *page_find(void)
{
    static struct team_page *page;
    const char *path = getenv(ENV_TEAM);
    int fd = path && !page ? open(path, O_RDWR | O_CLOEXEC) : -1;

    if (fd >= 0) {
        page = team_page_map(fd);
        close(fd);
        if (page && page->magic != TEAM_MAGIC)
            page = NULL;
    }
    return page;
}

static struct team_worker *find_self(struct team_page *page)
{
    for (int i = 0; i < team_workers(page); i++)
        if (page->workers[i].pid == getpid())
            return &page->workers[i];
    return NULL;
}

void cli_team_interrupt(int sig)
{
    struct team_page *page = page_find();

    if (page && !page->ending)
        page->ending = sig;
}

int team_claim(struct team_page *page)
{
    return __atomic_exchange_n(&page->claimed, 1, __ATOMIC_SEQ_CST) == 0;
}

int cli_team_claim(void)
{
    struct team_page *page = page_find();

    return !page || team_claim(page);
}

void cli_team_leave(void)
{
    struct team_page *page = page_find();
    struct team_worker *self = page ? find_self(page) : NULL;

    if (self)
        self->left = 1;
}

int cli_team_judge(const struct run_page *page, const struct run_outcome *outcome, pid_t pid)
{
    char machine[256] = "?", name[400];

    if (page->end.cause != RUN_CAUSE_NONE || outcome->signal)
        return 0;
    if (!cli_team_claim())
        return 1;
    gethostname(machine, sizeof machine - 1);
    if (page->now.joined)
        snprintf(name, sizeof name, "process %u of %u (pid %d on %s)", page->now.proc,
                 page->opt.procs, (int)pid, machine);
    else
        snprintf(name, sizeof name, "a process (pid %d on %s)", (int)pid, machine);
    if (outcome->hung)
        log_error("%s does not respond%s: the run ends here", name,
                  outcome->hung == RUN_STOPPED ? ", it was stopped by a signal" : "");
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
    char line[sizeof TEAM_MARK + 16];

    if (!page) {
        int n = snprintf(line, sizeof line, TEAM_MARK "%d\n", status);

        sys_write_all(STDERR_FILENO, line, (size_t)n);
        return;
    }
    if (page->set)
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
    if (page->ending)
        sys_exit(128 + page->ending);
    for (int i = 0; i < TEAM_STREAMS; i++) {
        if (page->streams[i] >= 0 && (i > 0 || leader))
            dup2(page->streams[i], i);
        close(page->streams[i]);
    }
    page->joined = 1;
    at = __atomic_fetch_add(&page->worker_count, 1, __ATOMIC_SEQ_CST);
    if (at < TEAM_WORKERS_MAX)
        page->workers[at].pid = getpid();
    if (page->ending) /* it came in between */
        sys_exit(128 + page->ending);
}
