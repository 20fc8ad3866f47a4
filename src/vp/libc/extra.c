/*
 * Per-rank libc state: allocation, release, and the state that belongs to the process and must be
 * set when ranks switch (working directory, umask, locale, blocked signals).
 *
 * Invariant: libc_process describes the process's current state. A switch compares and calls the
 * system only for what differs, so ranks that never changed anything switch for free.
 */
#include "vp/libc/libc.h"

#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

struct libc_process libc_process = {.cwd_fd = -1, .umask = -1, .base_cwd = -1};

struct vp_extra *vp_extra_get(void)
{
    return vp_extra_of(vp_current());
}

struct vp_extra *vp_extra_of(struct vp_rank *f)
{
    struct libc_extra *x;

    if (__builtin_expect(f->extra != NULL, 1))
        return f->extra;
    x = libc_alloc(sizeof *x);
    memset(x, 0, sizeof *x);
    x->pub.cwd_fd = -1;
    x->pub.umask = -1;
    f->extra = &x->pub;
    return f->extra;
}

/* The process stops using the rank's directory, umask and locale before they are released. */
void vp_extra_drop(struct vp_rank *f)
{
    struct vp_extra *x = f->extra;

    if (!x)
        return;
    f->extra = NULL;
    vp_extra_switch(vp_current() == f ? NULL : vp_current());
    libc_handlers_drop(x->handlers);
    if (!vp_private.host->own_process) /* else they were gone with its process */
        libc_streams_drop(x->streams);
    if (x->rand)
        libc_rand_drop(x->rand);
    if (x->getopt)
        libc_getopt_drop(x->getopt);
    if (x->env)
        libc_env_drop(x->env);
    if (x->signals)
        libc_signals_drop(x->signals);
    if (libc_extra_of(x)->global_locale)
        freelocale(libc_extra_of(x)->global_locale);
    if (x->cwd_fd >= 0)
        libc_cwd_unref(x->cwd_fd);
    libc_free(libc_extra_of(x), sizeof(struct libc_extra));
}

static void switch_cwd(int fd)
{
    if (fchdir(fd < 0 ? libc_process.base_cwd : fd) != 0)
        log_error("cannot change back to the directory of a rank: %s", strerror(errno));
    libc_process.cwd_fd = fd;
}

static void switch_umask(int mask)
{
    umask(mask < 0 ? (mode_t)libc_process.base_umask : (mode_t)mask);
    libc_process.umask = mask;
}

static void switch_locale(locale_t locale)
{
    uselocale(locale ? locale : LC_GLOBAL_LOCALE);
    libc_process.locale = locale;
}

/* The functions called here are the shims, which in a rank would change the rank's state, so the
 * current rank is set to NULL meanwhile. */
void vp_extra_switch(const struct vp_rank *f)
{
    static const struct vp_extra none = {.cwd_fd = -1, .umask = -1};
    const struct vp_extra *x = f && f->extra ? f->extra : &none;
    struct vp_rank *running = vp_private.current;
    int saved = errno;

    vp_private.current = NULL;
    if (x->cwd_fd != libc_process.cwd_fd)
        switch_cwd(x->cwd_fd);
    if (x->umask != libc_process.umask)
        switch_umask(x->umask);
    if (x->locale != libc_process.locale)
        switch_locale(x->locale);
    if (x->signals || libc_process.masked)
        libc_signals_switch(x->signals);
    vp_private.current = running;
    errno = saved;
}
