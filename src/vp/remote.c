/*
 * remote.c - a rank's process on another computer (see remote.h).
 *
 * All variables of this library are among the pages that are fetched. So what this file needs to
 * fetch them is in memory of its own, and nothing here may be interrupted by a handler that touches
 * such a page.
 */
#include "vp/remote.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/log.h"
#include "vp/libc/libc.h"
#include "vp/vp_internal.h"

#define AHEAD_MOST 64 /* pages fetched at a time, if those before them were */
#define AHEAD_SMALL 8 /* pages fetched at a time in small regions */
#define SMALL ((size_t)1 << 30)

struct vp_remote {
    int fd[VP_CHANNELS];
    struct remote_pages pages;
    _Atomic uint32_t lock; /* of the pages and the channel for them: 2, somebody waits */
    struct remote_bytes out, in_pages;
    struct remote_bytes in[2];                   /* MAIN, HELPER */
    struct sigaction handler;                    /* the program's, of faults that are its own */
    char *expected;                              /* what would be fetched next */
    uint32_t ahead;                              /* pages that were fetched last */
    char mine[REMOTE_PAGE], before[REMOTE_PAGE]; /* of a page that goes */
};

static __thread int is_helper;

/* The simulator is gone, and it has said why. */
_Noreturn static void give_up(void)
{
    sys_exit(0);
}

/* ---- excluding others ---- */

static void lock(struct vp_remote *r)
{
    uint32_t was = 0;

    if (atomic_compare_exchange_strong(&r->lock, &was, 1))
        return;
    while (atomic_exchange(&r->lock, 2) != 0)
        syscall(SYS_futex, &r->lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void unlock(struct vp_remote *r)
{
    if (atomic_exchange(&r->lock, 0) == 2)
        syscall(SYS_futex, &r->lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void block_signals(sigset_t *before)
{
    sigset_t all;

    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

static void restore_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* ---- pages ---- */

static void protect(char *page, size_t count, int rights)
{
    if (mprotect(page, count * REMOTE_PAGE, rights) != 0)
        log_fatal("cannot protect memory: %s; see 'sysctl vm.max_map_count'", strerror(errno));
}

/* How many pages are fetched with this one. */
static uint32_t window(struct vp_remote *r, const struct remote_region *region, char *page)
{
    uint32_t most = 1, n = 1;

    if (page == r->expected)
        most = 2 * r->ahead < AHEAD_MOST ? 2 * r->ahead : AHEAD_MOST;
    else if ((size_t)(region->end - region->start) < SMALL)
        most = AHEAD_SMALL;
    while (n < most && page + n * REMOTE_PAGE < region->end &&
           !remote_find(&r->pages, page + n * REMOTE_PAGE))
        n++;
    r->ahead = n;
    r->expected = page + n * REMOTE_PAGE;
    return n;
}

static void fetch(struct vp_remote *r, char *page, int is_write)
{
    uint32_t n = window(r, remote_region_of(&r->pages, page), page);
    struct remote_head head = {.op = REMOTE_FETCH, .count = n, .arg = (uint64_t)page};
    const char *data;

    if (remote_send(r->fd[REMOTE_PAGES], head, NULL) != 0 ||
        remote_receive(r->fd[REMOTE_PAGES], &head, &r->in_pages) != 0)
        give_up();
    data = r->in_pages.data + n;
    for (uint32_t i = 0; i < n; i++) {
        struct remote_slot *s = remote_add(&r->pages, page + i * REMOTE_PAGE);
        char *view = remote_view(&r->pages, s->page);

        s->is_writable = is_write != 0;
        if (r->in_pages.data[i]) {
            memcpy(view, data, REMOTE_PAGE);
            data += REMOTE_PAGE;
        } else {
            memset(view, 0, REMOTE_PAGE);
        }
        memcpy(remote_copy(&r->pages, s), view, REMOTE_PAGE);
    }
    protect(page, n, is_write ? PROT_READ | PROT_WRITE : PROT_READ);
}

int vp_remote_fault(const void *at, int is_write)
{
    struct vp_remote *r = vp_private.remote;
    char *page = (char *)((uintptr_t)at & ~(uintptr_t)(REMOTE_PAGE - 1));
    struct remote_slot *s;
    int saved = errno;

    if (!r || !remote_region_of(&r->pages, page))
        return 0;
    lock(r);
    s = remote_find(&r->pages, page);
    if (!s) {
        fetch(r, page, is_write);
    } else if (is_write && !s->is_writable) {
        s->is_writable = 1;
        protect(page, 1, PROT_READ | PROT_WRITE);
    }
    unlock(r);
    errno = saved;
    return 1;
}

void vp_remote_action(const struct sigaction *action, struct sigaction *old)
{
    struct vp_remote *r = vp_private.remote;

    if (old)
        *old = r->handler;
    if (action)
        r->handler = *action;
}

int vp_remote_handles(int sig, siginfo_t *info, void *context)
{
    const struct sigaction *h = &vp_private.remote->handler;

    if (h->sa_handler == SIG_DFL || h->sa_handler == SIG_IGN)
        return 0;
    if (h->sa_flags & SA_SIGINFO)
        h->sa_sigaction(sig, info, context);
    else
        h->sa_handler(sig);
    return 1;
}

static void remove_page(struct remote_pages *p, struct remote_slot *s)
{
    protect(s->page, 1, PROT_NONE);
    (void)madvise(remote_view(p, s->page), REMOTE_PAGE, MADV_REMOVE); /* on failure it stays */
    remote_remove(p, s);
}

/* What threads of the program are changing without the turn must not be lost: then the page is
 * fetched again, and gets these words. */
static void drop(struct remote_pages *p, struct remote_slot *s)
{
    char *page = s->page, *view = remote_view(p, page);
    char *mine = vp_private.remote->mine, *before = vp_private.remote->before;

    memcpy(mine, view, REMOTE_PAGE);
    memcpy(before, remote_copy(p, s), REMOTE_PAGE);
    remove_page(p, s);
    if (!memcmp(mine, before, REMOTE_PAGE))
        return;
    fetch(vp_private.remote, page, 1);
    for (size_t i = 0; i < REMOTE_PAGE; i += REMOTE_WORD)
        if (memcmp(mine + i, before + i, REMOTE_WORD) != 0)
            memcpy(view + i, mine + i, REMOTE_WORD);
}

/* ---- turns ---- */

static void collect(struct vp_remote *r)
{
    struct remote_pages *p = &r->pages;

    r->out.len = 0;
    for (uint32_t i = 0; i < p->top; i++) {
        struct remote_slot *s = &p->slots[i];

        if (s->page && s->is_writable)
            remote_add_changes(p, s, &r->out);
    }
}

static enum remote_channel channel(void)
{
    return is_helper ? REMOTE_HELPER : REMOTE_MAIN;
}

/* Sends what the process does with its turn, or without it, and what has changed. */
static void tell(enum remote_channel to, enum remote_op op, uint64_t arg)
{
    struct vp_remote *r = vp_private.remote;
    struct remote_head head = {.op = op, .arg = arg};
    int rc;

    lock(r);
    collect(r);
    rc = remote_send(r->fd[to], head, &r->out);
    unlock(r);
    if (rc != 0)
        give_up();
}

static uint64_t receive_turn(enum remote_channel from)
{
    struct vp_remote *r = vp_private.remote;
    struct remote_head head;

    if (remote_receive(r->fd[from], &head, &r->in[from]) != 0)
        give_up();
    lock(r);
    r->pages.turn++;
    remote_apply(&r->pages, &r->in[from], drop);
    unlock(r);
    return head.arg;
}

/* Returns when the process has the turn again. */
static void exchange(enum remote_op op, uint64_t arg)
{
    int saved = errno;
    sigset_t before;

    block_signals(&before);
    tell(channel(), op, arg);
    receive_turn(channel());
    restore_signals(&before);
    errno = saved;
}

static void suspend(void)
{
    exchange(REMOTE_SUSPEND, 0);
}

static void come_back(void)
{
    exchange(REMOTE_COME_BACK, 0);
}

static void call(void (*fn)(void))
{
    exchange(REMOTE_CALL, (uint64_t)fn);
}

static void go_out(void)
{
    sigset_t before;

    block_signals(&before);
    tell(REMOTE_MAIN, REMOTE_GO_OUT, 0);
    restore_signals(&before);
}

_Noreturn static void end(void)
{
    sigset_t before;

    block_signals(&before);
    tell(REMOTE_MAIN, REMOTE_END, 0);
    sys_exit(0);
}

/* Any thread may do so, whatever the others are doing. */
_Noreturn static void leave(void (*fn)(void))
{
    sigset_t before;

    block_signals(&before);
    tell(REMOTE_PAGES, REMOTE_LEAVE, (uint64_t)fn);
    for (;;)
        syscall(SYS_pause);
}

/* ---- threads of the library ---- */

static void *help_for_ever(void *fn)
{
    is_helper = 1;
    for (;;) {
        receive_turn(REMOTE_HELPER);
        ((void (*)(void))fn)();
        tell(REMOTE_HELPER, REMOTE_GO_OUT, 0);
    }
    return NULL;
}

static void *follow_clock(void *unused)
{
    (void)unused;
    vp_hooks->follow_clock(vp_private.remote->fd[REMOTE_CLOCK]);
    give_up();
}

/* They handle no signals but faults. */
static void start_thread(void *(*fn)(void *), void *arg)
{
    pthread_t thread;
    sigset_t before;
    int rc;

    block_signals(&before);
    rc = REAL(pthread_create)(&thread, NULL, fn, arg);
    restore_signals(&before);
    if (rc != 0)
        log_fatal("cannot start a thread for a rank: %s", strerror(rc));
}

static void help(void (*fn)(void))
{
    tell(REMOTE_MAIN, REMOTE_HELP, 0);
    start_thread(help_for_ever, (void *)fn);
    start_thread(follow_clock, NULL);
}

/* ---- becoming a rank ---- */

/* The lists of free memory are right only while the process has the turn. */
static void guard_enter(void)
{
    if (!is_helper && vp_private.current)
        vp_hooks->alone(1);
}

static void guard_leave(void)
{
    if (!is_helper && vp_private.current)
        vp_hooks->alone(0);
}

/* Nothing is shared any more; what was there can be had again from the proxy. */
static void detach(struct remote_region *region)
{
    size_t bytes = (size_t)(region->end - region->start);
    int fd = (int)syscall(SYS_memfd_create, "orrery-remote", 1u /* MFD_CLOEXEC */);
    void *view = MAP_FAILED;

    if (fd >= 0 && sys_ftruncate(fd, (off_t)bytes) == 0)
        view = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (view == MAP_FAILED || mmap(region->start, bytes, PROT_NONE,
                                   MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0) == MAP_FAILED)
        log_fatal("no memory to share with the processes of other computers: %s", strerror(errno));
    region->view = view;
    sys_close(fd);
}

struct vp_process *vp_remote_attach(int fd, int is_other)
{
    static const struct arena_guard around = {guard_enter, guard_leave};
    struct vp_remote *r = remote_map(sizeof *r);

    for (int i = 0; i < VP_CHANNELS; i++)
        r->fd[i] = fd + i;
    remote_describe(&r->out);
    if (remote_send(fd, (struct remote_head){.op = REMOTE_HELLO}, &r->out) != 0)
        give_up();
    remote_pages_open(&r->pages);
    vp_private.remote = r;
    vp_private.is_other = is_other != 0;
    vp_private.host = &vp_remote_host;
    vp_private.arena_guard = &around;
    for (unsigned i = 0; i < r->pages.region_count; i++)
        detach(&r->pages.regions[i]);
    return (struct vp_process *)receive_turn(REMOTE_MAIN);
}

void vp_touch(void *ptr, size_t bytes)
{
    char *end = (char *)ptr + bytes;

    if (!vp_private.remote || !arena_has(ptr))
        return;
    for (volatile char *at = ptr; at < end;
         at = (char *)(((uintptr_t)at | (REMOTE_PAGE - 1)) + 1)) /* the next page */
        *at = *at;
}

static int no(void)
{
    return 0;
}

static int32_t pid_of(const struct vp_rank *f)
{
    return vp_process_host.pid(f);
}

static char *stack_top(const struct vp_rank *f)
{
    return vp_process_host.stack_top(f);
}

const struct vp_host vp_remote_host = {
    .name = "remote",
    .own_process = 1,
    .passes_turns = 1,
    .suspend = suspend,
    .end = end,
    .call = call,
    .leave = leave,
    .is_running = no,
    .peer_memory = vp_host_peer_memory,
    .unpin = vp_host_nothing,
    .go_out = go_out,
    .come_back = come_back,
    .help = help,
    .pid = pid_of,
    .stack_top = stack_top,
};
