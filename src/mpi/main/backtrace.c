/*
 * backtrace.c - asks the watcher for backtraces (see backtrace.h).
 */
#include "mpi/main/backtrace.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/sys.h"
#include "mpi/rank.h"

#define FIRST_FRAME "    #0 "
#define ANSWER_SECONDS 10 /* reading debug information of a large program takes a while */

int mpi_ask(enum run_ask what)
{
    struct run_question *q = &mpi_world.page->ask;
    struct timespec limit = {.tv_sec = ANSWER_SECONDS};
    long rc;

    if (vp_private.remote)
        return 0; /* the watcher is on another computer, or does not share this page */
    __atomic_store_n(&q->what, (uint32_t)what, __ATOMIC_RELEASE);
    if (syscall(SYS_kill, mpi_world.page->watcher, SIGCHLD) != 0)
        return 0;
    do
        rc = syscall(SYS_futex, &q->what, FUTEX_WAIT, (uint32_t)what, &limit, NULL, 0);
    while (rc != 0 && errno == EINTR);
    return __atomic_load_n(&q->what, __ATOMIC_ACQUIRE) == RUN_ASK_NOTHING;
}

/* Without the watcher. Addresses in a process that it does not see are those within files. */
static size_t bare(const struct vp_backtrace *t, char *out, size_t n)
{
    char where[512];
    size_t len = 0;

    for (size_t i = 0; i < t->count && len < n; i++) {
        if (!vp_private.remote || !vp_frame(t->frames[i], where, sizeof where))
            snprintf(where, sizeof where, "%p", t->frames[i]);
        len += (size_t)snprintf(out + len, n - len, "    #%zu %s\n", i, where);
    }
    return len < n ? len : n - 1;
}

size_t mpi_backtrace_text(const struct vp_backtrace *t, char *out, size_t n)
{
    struct run_question *q = &mpi_world.page->ask;
    size_t len;

    q->pid = sys_getpid();
    q->exact = t->exact;
    q->count = (uint32_t)(t->count < RUN_FRAMES ? t->count : RUN_FRAMES);
    for (uint32_t i = 0; i < q->count; i++)
        q->frames[i] = (uintptr_t)t->frames[i];
    if (mpi_ask(RUN_ASK_BACKTRACE))
        len = (size_t)snprintf(out, n, "%.*s", (int)sizeof q->answer, q->answer);
    else
        len = bare(t, out, n);
    if (t->damaged && len < n)
        len += (size_t)snprintf(out + len, n - len, "    (the stack is damaged)\n");
    return len < n ? len : n - 1;
}

/* The watcher answers "    #0 main+0x1c in app (FILE:7)". */
const char *mpi_site_text(const char *site, char *out, size_t n)
{
    struct run_question *q = &mpi_world.page->ask;
    uintptr_t address = vp_caller_address(site);

    if (!address)
        return site;
    q->pid = sys_getpid();
    q->exact = 1;
    q->count = 1;
    q->frames[0] = address;
    if (!mpi_ask(RUN_ASK_BACKTRACE) || strncmp(q->answer, FIRST_FRAME, sizeof FIRST_FRAME - 1) != 0)
        return site;
    snprintf(out, n, "%s", q->answer + sizeof FIRST_FRAME - 1);
    out[strcspn(out, "\n")] = '\0';
    return out;
}
