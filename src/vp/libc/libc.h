/*
 * libc.h - declarations shared by the libc shims.
 *
 * Every shim has the same form: without a running rank (vp_current() is NULL: the simulator, or a
 * constructor before takeover) it calls the real function; in a rank it acts on the rank's virtual
 * state. Include this header first: fortified inline wrappers would clash with the definitions
 * here.
 */
#ifndef VP_LIBC_LIBC_H
#define VP_LIBC_LIBC_H

#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS /* it renames open to open64 and the like */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/mem.h"
#include "vp/vp_internal.h"

/* The real libc function of that name, looked up once per call site. */
#define REAL(name)                                              \
    (__extension__({                                            \
        static VP_OWN __typeof__(&name) real_function_;         \
        if (__builtin_expect(!real_function_, 0))               \
            real_function_ = (__typeof__(&name))vp_real(#name); \
        real_function_;                                         \
    }))

/* An exported second name of a shim defined in the same file. */
#if __has_attribute(copy)
#define ALIAS(name, target) \
    VP_EXPORT extern __typeof__(target) name __attribute__((alias(#target), copy(target)))
#else
#define ALIAS(name, target) VP_EXPORT extern __typeof__(target) name __attribute__((alias(#target)))
#endif

/* Small state of a rank. Ranks that are processes may allocate at the same time (arena_lock). */
static inline void *libc_alloc(size_t bytes)
{
    return vp_private.host->own_process ? mem_alloc(bytes) : pool_alloc(&vp_pool, bytes);
}
static inline void libc_free(void *at, size_t bytes)
{
    if (vp_private.host->own_process)
        mem_free(at);
    else
        pool_free(&vp_pool, at, bytes);
}

/* ---- thread.c ---- */
/* The program uses what belongs to a thread of the system: its threads stay on theirs. */
void libc_threads_settle(void);
/* pthread_kill of a rank that is a process. */
int libc_pthread_kill(pthread_t, int sig);

/* ---- extra.c ---- */
/* A rank's extra as the shims see it; the rest of vp sees only `pub`. */
struct libc_extra {
    struct vp_extra pub;
    locale_t global_locale;      /* set by setlocale, owned; NULL: that of the process */
    locale_t thread_locale;      /* set by uselocale, the program's; NULL: none */
    unsigned char at_random[16]; /* what getauxval(AT_RANDOM) points to */
    int has_at_random;           /* at_random is set: the program has asked for it */
};
static inline struct libc_extra *libc_extra_of(struct vp_extra *x)
{
    return (struct libc_extra *)x; /* pub comes first */
}
/* The state of the process as vp_extra_switch left it; the shims must keep it up to date. */
struct libc_process {
    int cwd_fd;      /* as in vp_extra */
    int umask;       /* as in vp_extra */
    locale_t locale; /* as in vp_extra */
    int base_cwd; /* O_PATH descriptor of the initial directory; -1 until a rank changes its own */
    int base_umask;            /* the initial umask; valid once a rank has changed its own */
    struct vp_signals *masked; /* of the rank whose mask of signals is in force, or NULL */
    sigset_t base_mask;        /* the mask that is in force if `masked` is NULL */
};
extern struct libc_process libc_process;

/* ---- parts of vp_extra_drop, one per owner; all take non-NULL ---- */
void libc_rand_drop(struct vp_rand *);
void libc_getopt_drop(struct vp_getopt *);
void libc_env_drop(struct vp_env *);
void libc_signals_drop(struct vp_signals *);
/* Switches to the mask of blocked signals of a rank, whose table may be NULL. */
void libc_signals_switch(struct vp_signals *);
void libc_handlers_drop(struct vp_handler *);
/* Releases a rank's reference to a directory descriptor (cwd_locale.c). */
void libc_cwd_unref(int fd);

/* ---- parts of vp_libc_early and vp_libc_init (init.c) ---- */
void libc_stdio_early(void);
void libc_stdio_init(void);
void libc_cxx_init(void);
/* libc_cxx_init for the C++ runtime of that name, which a rank has loaded. */
void libc_cxx_late(const char *name);
/* Libraries were loaded. */
void libc_runtimes_changed(void);
/* Is this return address in a language runtime (libstdc++, libgfortran)? */
int libc_from_runtime(const void *pc);

/* ---- process.c ---- */
#define LIBC_PID_BASE 1000
/* Virtual process id of the rank. */
pid_t libc_pid(struct vp_rank *);

/* ---- command.c ---- */
/* posix_spawn of a program that nobody waits for; fibre ranks. */
int libc_command_spawn(pid_t *, const char *path, char *const argv[], char *const envp[]);
/* Closes the streams of popen that the running rank left open. */
void libc_commands_end(void);

/* ---- signal.c ---- */
/* Does the running fibre rank ignore the signal? */
int libc_signal_is_ignored(int sig);

/* ---- entropy.c ---- */
/* Is it a rank's descriptor, open on a random device, whose reads are virtual? */
int libc_entropy_is(int fd);
/* Fills the buffer of a read from it; returns n. */
ssize_t libc_entropy_read(void *out, size_t n);
/* A stream whose reads are virtual random bytes. */
FILE *libc_entropy_stream(const char *mode);

/* ---- stdio.c: the streams that replace stdin, stdout and stderr ---- */
/* The running rank's replacement of that stream (freopen), or NULL. */
FILE *libc_stdio_own(int fd);
/* The rank has replaced the descriptor: drops such a stream. */
void libc_stdio_replaced(int fd);
/* Closes the streams that a rank left open when it ended. */
void libc_streams_drop(FILE **own);

/* ---- descriptor.c ---- */
/* Replaces a standard descriptor of a rank that is a process by a copy of `from`. */
int libc_descriptor_replace(int from, int to);
void libc_descriptor_init(void);

#endif
