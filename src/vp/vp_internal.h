/*
 * vp_internal.h - declarations shared by the files of vp.
 */
#ifndef VP_VP_INTERNAL_H
#define VP_VP_INTERNAL_H

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/pool.h"
#include "vp/host.h"

#define VP_EXPORT __attribute__((visibility("default")))

/* ---- the program, as passed to __libc_start_main (start.c) ---- */
struct vp_program {
    int (*main)(int, char **, char **);
    int argc;
    char **argv; /* a block of our own; part of the private image */
    char **envp;
};
extern struct vp_program vp_program;

/* ---- private data (image.c, objects.c) ---- */
/* Finds the writable data of all private objects and takes its present content as the base.
 * Constructor time. */
void vp_image_capture(void);
/* Excludes what the program holds for shared objects by COPY relocations. Takeover time: it calls
 * dlopen, which in a constructor would initialise libc too early. */
void vp_image_exclude_copies(void);
/* Adds [addr, addr+len) with its present content as the base: that of ranks which have not run yet,
 * and of those that are suspended. */
void vp_image_add(void *addr, size_t len);
/* vp_image_add for whole anonymous pages that were zero-filled when the program was loaded: pages
 * not touched since cost neither time nor memory. */
void vp_image_add_zeros(void *addr, size_t len);
/* Removes [addr, addr+len) from the private data. */
void vp_image_exclude(void *addr, size_t len);
/* Restores the base content everywhere; scheduler context, before the first fibre. */
void vp_image_reset(void);
/* Restores the base content of [addr, addr+len) for the running fibre. */
void vp_image_restore(char *addr, size_t len);
/* Saves what the running fibre changed to f->saved / loads f's data. */
void vp_image_save(struct vp_rank *f);
void vp_image_load(struct vp_rank *f);
void vp_image_drop(struct vp_rank *f);
/* Does not save the running fibre, but makes sure that the data it changed is restored when others
 * are loaded. */
void vp_image_note(void);
void vp_image_stats(struct vp_stats *);

/* The stack of all strands (strand.c). */
void vp_strand_init(char *top);

/* Makes this library's variables memory that is shared with processes forked later. */
void vp_objects_share(void);

/* The running rank if it shares its process, hence its libc, with other ranks; else NULL. */
static inline struct vp_rank *vp_current_sharing(void)
{
    return vp_private.host->own_process ? NULL : vp_private.current;
}

/* Does any object need executable stacks (gcc's nested functions)? */
int vp_objects_exec_stack(void);

/* Runs constructors (fini = 0, dependencies first; they get the arguments) or destructors of all
 * private objects. */
void vp_objects_run(int fini, const struct vp_program *);

/* ---- per-rank libc state, allocated when first needed (libc/extra.c) ---- */
struct vp_handler {
    struct vp_handler *next;
    void (*fn)(void *); /* __cxa_atexit form; on_exit form when is_on_exit */
    void (*fn2)(int, void *);
    void *arg, *dso;
};

struct vp_extra {
    struct vp_handler *handlers; /* newest first */
    struct vp_rand *rand;        /* libc/random.c */
    struct vp_getopt *getopt;    /* libc/getopt.c */
    char *strtok;                /* strtok's save pointer */
    struct vp_env *env;          /* libc/environ.c */
    struct vp_signals *signals;  /* libc/signal.c */
    FILE *streams[3];            /* the rank's replacements of stdin, stdout, stderr, or NULL */
    void *foreign_sp;            /* stack pointer on a stack that the program made (fibre.c) */
    int cwd_fd;                  /* O_PATH descriptor, -1: that of the process */
    int umask;                   /* -1: that of the process */
    locale_t locale;             /* NULL: that of the process */
    uint64_t entropy;            /* words of random bytes drawn (libc/entropy.c) */
};
/* The extra of the running fibre, or of f; allocated on first use. */
struct vp_extra *vp_extra_get(void);
struct vp_extra *vp_extra_of(struct vp_rank *);
/* Frees everything; called when the fibre has ended. */
void vp_extra_drop(struct vp_rank *);
/* Switches to the cwd, umask, locale and mask of f if they differ from the current ones. Only
 * called when f or the fibre before it has an extra. */
void vp_extra_switch(const struct vp_rank *f);

/* The handler that the running fibre has set for the signal; 0 if there is none. Resets a one-shot
 * handler (SA_RESETHAND). Signal stack. */
int vp_signal_handler(int sig, struct sigaction *out);
/* The running fibre is about to call its handler of a fault. The signals blocked from here on are
 * its own: others are resumed with the mask `before`. Signal stack. */
void vp_signal_own_mask(const sigset_t *before);

/* Runs the exit handlers of the running fibre, newest first; handlers may add handlers. */
void vp_handlers_run(int status);

/* The running fibre ends as by exit(): flushes its files. */
void vp_streams_end(void);

/* Called once at takeover in process context: hooks the stdout and stderr streams, registers
 * private libc variables with vp_image_add (errno, optind and the like, environ, C++ stream
 * objects). */
void vp_libc_init(void);
/* Called in the constructor, before any other constructor runs. */
void vp_libc_early(void);
/* Whether random bytes are the system's, and otherwise the seed they are derived from. */
void vp_entropy_init(int real, uint64_t seed);

extern const struct vp_hooks *vp_hooks;
extern struct pool vp_pool; /* stacks, saved data, extras */
extern int64_t vp_epoch;

/* The next definition of a libc function after ours; never NULL (fatal). */
void *vp_real(const char *name);

/* Reports, once for each `what`, that a rank may not do it: "rank 3 called fork(), which ..." */
void vp_refuse(const char *what, const char *advice);

#endif
