/*
 * crash.c - fatal signals, caught on a stack of their own so that a stack overflow can be told.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "vp/crash.h"
#include "vp/vp_internal.h"

#define SIGNAL_STACK ((size_t)256 << 10)
#define FRAMES 40

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};

static void on_fatal(int sig, siginfo_t *info, void *context)
{
    struct vp_fibre *f = vp_current_fibre;

    (void)context;
    vp_current_fibre = NULL; /* the shims are to do the real thing from here on */
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], SIG_DFL);
    vp_hooks->crash(f, sig, info->si_addr);
}

void vp_crash_init(void)
{
    stack_t alt = {.ss_sp = mem_alloc(SIGNAL_STACK), .ss_size = SIGNAL_STACK};
    struct sigaction act = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    void *frames[2];

    backtrace(frames, 2); /* loads what it needs now, not in a handler */
    sigaltstack(&alt, NULL);
    sigfillset(&act.sa_mask);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &act, NULL);
}

size_t vp_backtrace(char *out, size_t n)
{
    void *frames[FRAMES];
    int count = backtrace(frames, FRAMES), shown = 0;
    size_t len = 0;

    out[0] = '\0';
    for (int i = 0; i < count && len < n; i++) {
        Dl_info where;
        const char *file;

        if (!dladdr(frames[i], &where) || !where.dli_fname)
            continue;
        file = strrchr(where.dli_fname, '/');
        file = file ? file + 1 : where.dli_fname;
        if (strncmp(file, "liborrery", 9) == 0 && shown == 0)
            continue; /* our own handler */
        if (where.dli_sname)
            len += (size_t)snprintf(out + len, n - len, "    #%d %s+0x%zx in %s\n", shown,
                                    where.dli_sname,
                                    (size_t)((char *)frames[i] - (char *)where.dli_saddr), file);
        else
            len += (size_t)snprintf(out + len, n - len, "    #%d 0x%zx in %s\n", shown,
                                    (size_t)((char *)frames[i] - (char *)where.dli_fbase), file);
        shown++;
    }
    return len < n ? len : n - 1;
}
