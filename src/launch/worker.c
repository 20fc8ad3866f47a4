/*
 * worker.c - being a worker: `orrery run` for one of several processes.
 */
#define _GNU_SOURCE 1
#include "launch/workers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "base/log.h"
#include "base/sys.h"
#include "engine/output_ledger.h"
#include "launch/native.h"
#include "launch/workers_internal.h"

#define REPORT_MS 5000 /* the process that reports has this long */
#define SPILL_MS 3000  /* the starter has this long to open a file: it looks some times a second */

/* ---- the page shared with the starter ---- */

struct workers_page *workers_page_map(int fd)
{
    struct workers_page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return page == MAP_FAILED ? NULL : page;
}

/* NULL on another machine. */
static struct workers_page *page_find(void)
{
    static struct workers_page *page;
    const char *path = getenv(ENV_WORKERS);
    int fd = path && !page ? open(path, O_RDWR | O_CLOEXEC) : -1;

    if (fd >= 0) {
        page = workers_page_map(fd);
        close(fd);
        if (page && page->magic != WORKERS_MAGIC)
            page = NULL;
    }
    return page;
}

static struct workers_one *find_self(struct workers_page *page)
{
    for (int i = 0; i < workers_watched(page); i++)
        if (page->workers[i].pid == getpid())
            return &page->workers[i];
    return NULL;
}

void launch_worker_interrupt(int sig)
{
    struct workers_page *page = page_find();

    if (page && !page->ending)
        page->ending = sig;
}

int workers_claim(struct workers_page *page)
{
    return __atomic_exchange_n(&page->claimed, 1, __ATOMIC_SEQ_CST) == 0;
}

int launch_worker_claim(void)
{
    struct workers_page *page = page_find();

    return !page || workers_claim(page);
}

void launch_worker_leave(void)
{
    struct workers_page *page = page_find();
    struct workers_one *self = page ? find_self(page) : NULL;

    if (self)
        self->left = 1;
}

int launch_worker_judge(const struct run_page *page, const struct run_outcome *outcome, pid_t pid)
{
    char machine[256] = "?", name[400];

    if (page->end.cause != RUN_CAUSE_NONE || outcome->signal)
        return 0;
    if (!launch_worker_claim() || outcome->is_lost)
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

void launch_worker_tell(int status)
{
    struct workers_page *page = page_find();
    char line[sizeof WORKERS_MARK + 16];

    if (!page) {
        int n = snprintf(line, sizeof line, WORKERS_MARK "%d\n", status);

        sys_write_all(STDERR_FILENO, line, (size_t)n);
        return;
    }
    if (page->set)
        return;
    page->status = status;
    page->set = 1;
}

void launch_worker_await_report(void)
{
    struct workers_page *page = page_find();

    for (int ms = 0; page && ms < REPORT_MS && !page->set && !page->ending; ms++)
        usleep(1000);
}

int launch_worker_slot(off_t *at)
{
    struct workers_page *page = page_find();
    const char *path = getenv(ENV_BOOKS);
    struct workers_one *self = page && path ? find_self(page) : NULL;
    int fd = self ? open(path, O_RDWR) : -1;
    off_t start = self ? (self - page->workers) * (off_t)OUTPUT_SLOT_BYTES : 0;

    if (fd < 0)
        return -1;
    if (lseek(fd, 0, SEEK_END) < start + (off_t)OUTPUT_SLOT_BYTES) {
        close(fd);
        return -1;
    }
    *at = start;
    return fd;
}

void launch_worker_show_spill(int fd)
{
    struct workers_page *page = page_find();
    struct workers_one *self = page ? find_self(page) : NULL;

    if (!self || fd < 0)
        return;
    self->spill = fd + 1;
    for (int ms = 0; ms < SPILL_MS && !self->spill_seen; ms++)
        usleep(1000);
}

void launch_worker_join(void)
{
    struct workers_page *page = page_find();
    int leader = launch_native_number() == 0, at;

    if (!page)
        return;
    if (page->ending)
        sys_exit(128 + page->ending);
    for (int i = 0; i < WORKERS_STREAMS; i++) {
        if (page->streams[i] >= 0 && (i > 0 || leader))
            dup2(page->streams[i], i);
        close(page->streams[i]);
    }
    page->joined = 1;
    at = __atomic_fetch_add(&page->worker_count, 1, __ATOMIC_SEQ_CST);
    if (at < WORKERS_MAX)
        page->workers[at].pid = getpid();
    if (page->ending) /* it came in between */
        sys_exit(128 + page->ending);
}
