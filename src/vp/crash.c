/*
 * crash.c - fatal signals, caught on a stack of their own so that a stack overflow can be told.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"
#include "vp/crash.h"
#include "vp/symbols.h"
#include "vp/vp_internal.h"

#define SIGNAL_STACK ((size_t)256 << 10)
#define FRAMES 40

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};

/* The first thread of a process that crashes reports. Others may follow just because of that (they are
 * no rank any more): they wait for the end. Returns 0 if reporting crashes, or the process is the child
 * of a rank and none of ours. */
static int is_first(void)
{
    int32_t me = (int32_t)syscall(SYS_gettid), before = 0;

    if (vp_private.is_child)
        return 0;
    if (__atomic_compare_exchange_n(&vp_private.dying, &before, me, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return 1;
    while (before != me)
        syscall(SYS_pause);
    return 0;
}

static void on_fatal(int sig, siginfo_t *info, void *context)
{
    struct vp_fibre *f = vp_current_fibre;

    (void)context;
    if (!is_first()) {
        signal(sig, SIG_DFL);
        syscall(SYS_tgkill, sys_getpid(), syscall(SYS_gettid), sig); /* when the handler is left */
        return;
    }
    vp_current_fibre = NULL; /* the shims are to do the real thing from here on */
    vp_hooks->crash(f, sig, info->si_addr);
}

void vp_crash_init(void)
{
    stack_t alt = {.ss_sp = mem_zalloc_private(SIGNAL_STACK), .ss_size = SIGNAL_STACK};
    struct sigaction act = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    void *frames[2];

    backtrace(frames, 2); /* loads what it needs now, not in a handler */
    sigaltstack(&alt, NULL);
    sigfillset(&act.sa_mask);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &act, NULL);
}

/* "main+0x1f in app", by exported or by file symbols; else the offset in the object. */
static void describe(void *frame, const Dl_info *where, char *out, size_t n)
{
    const char *slash = strrchr(where->dli_fname, '/');
    const char *file = slash ? slash + 1 : where->dli_fname;
    const struct link_map *map = NULL;
    char name[128];
    Dl_info again;
    int64_t into;
    uint64_t offset;

    if (where->dli_sname) {
        snprintf(out, n, "%s+0x%zx in %s", where->dli_sname,
                 (size_t)((char *)frame - (char *)where->dli_saddr), file);
        return;
    }
    dladdr1(frame, &again, (void **)&map, RTLD_DL_LINKMAP);
    offset = (uint64_t)((uintptr_t)frame - (map ? map->l_addr : (uintptr_t)where->dli_fbase));
    into = vp_symbol_find(map && !map->l_name[0] ? "/proc/self/exe" : where->dli_fname, offset, name,
                          sizeof name);
    if (into >= 0)
        snprintf(out, n, "%s+0x%llx in %s", name, (unsigned long long)into, file);
    else
        snprintf(out, n, "0x%llx in %s", (unsigned long long)offset, file);
}

size_t vp_backtrace(char *out, size_t n)
{
    void *frames[FRAMES];
    int count = backtrace(frames, FRAMES), shown = 0, repeated = 0;
    char line[256], last[256] = "";
    size_t len = 0;

    out[0] = '\0';
    for (int i = 0; i < count && len < n; i++) {
        Dl_info where;

        if (!dladdr(frames[i], &where) || !where.dli_fname)
            continue;
        if (shown == 0 && strstr(where.dli_fname, "liborrery"))
            continue; /* our own handler */
        describe(frames[i], &where, line, sizeof line);
        if (strcmp(line, last) == 0) {
            repeated++;
            continue;
        }
        if (repeated)
            len += (size_t)snprintf(out + len, n - len, "        (%d times)\n", repeated + 1);
        repeated = 0;
        if (len < n)
            len += (size_t)snprintf(out + len, n - len, "    #%d %s\n", shown++, line);
        memcpy(last, line, sizeof last);
    }
    if (repeated && len < n)
        len += (size_t)snprintf(out + len, n - len, "        (%d times and more)\n", repeated + 1);
    return len < n ? len : n - 1;
}
