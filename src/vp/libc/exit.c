/*
 * The end of a rank: exit and its handlers.
 *
 * A rank's handlers form one list, newest first. Three kinds share it, distinguished by `dso`: for
 * ordinary handlers it is the object that registered them, for those of thread_local objects and of
 * quick_exit it is a special mark. Handlers run in the rank's context, may add handlers and may
 * call exit again; each is taken off the list before it runs, so none runs twice.
 *
 * abort() stays libc's: it raises SIGABRT, which goes to the crash handler.
 */
#include "vp/libc/libc.h"

#include <stdlib.h>
#include <unistd.h>

static char mark_thread, mark_quick;

/* Declared by no header. */
int __cxa_atexit(void (*)(void *), void *, void *);
int __cxa_at_quick_exit(void (*)(void *), void *);
void __cxa_finalize(void *);
int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);

static void add(void (*fn)(void *), void (*fn2)(int, void *), void *arg, void *dso)
{
    struct vp_extra *x = vp_extra_get();
    struct vp_handler *h = libc_alloc(sizeof *h);

    *h = (struct vp_handler){x->handlers, fn, fn2, arg, dso};
    x->handlers = h;
}

/* Takes the newest handler that `want` selects off the list; 0 if there is none. */
static int take(int (*want)(const struct vp_handler *, const void *), const void *key,
                struct vp_handler *out)
{
    struct vp_rank *f = vp_current();

    if (!f->extra)
        return 0;
    for (struct vp_handler **p = &f->extra->handlers; *p; p = &(*p)->next) {
        struct vp_handler *h = *p;
        if (want(h, key)) {
            *out = *h;
            *p = h->next;
            libc_free(h, sizeof *h);
            return 1;
        }
    }
    return 0;
}

static void call(const struct vp_handler *h, int status)
{
    if (h->fn)
        h->fn(h->arg);
    else
        h->fn2(status, h->arg);
}

static int is_of(const struct vp_handler *h, const void *dso)
{
    return h->dso == dso;
}

static int is_ordinary(const struct vp_handler *h, const void *unused)
{
    (void)unused;
    return h->dso != &mark_quick && h->dso != &mark_thread;
}

void vp_handlers_run(int status)
{
    struct vp_handler h;

    while (take(is_of, &mark_thread, &h))
        call(&h, status);
    while (take(is_ordinary, NULL, &h))
        call(&h, status);
}

int vp_handlers_are_in(const void *from, const void *to)
{
    const struct vp_extra *x = vp_current()->extra;

    for (const struct vp_handler *h = x ? x->handlers : NULL; h; h = h->next)
        if (h->dso == &mark_thread && (uintptr_t)h->fn >= (uintptr_t)from &&
            (uintptr_t)h->fn < (uintptr_t)to)
            return 1;
    return 0;
}

void libc_handlers_drop(struct vp_handler *h)
{
    while (h) {
        struct vp_handler *next = h->next;
        libc_free(h, sizeof *h);
        h = next;
    }
}

/* ---- leaving ---- */

VP_EXPORT void exit(int status)
{
    if (!vp_current())
        REAL(exit)(status);
    vp_rank_exit(status);
}

VP_EXPORT void _exit(int status)
{
    if (!vp_current())
        REAL(_exit)(status);
    vp_rank_end(status);
}
ALIAS(_Exit, _exit);

VP_EXPORT void quick_exit(int status)
{
    struct vp_handler h;

    if (!vp_current())
        REAL(quick_exit)(status);
    while (take(is_of, &mark_quick, &h))
        call(&h, status);
    vp_rank_end(status);
}

/* ---- registering ---- */

VP_EXPORT int __cxa_atexit(void (*fn)(void *), void *arg, void *dso)
{
    if (!vp_current())
        return REAL(__cxa_atexit)(fn, arg, dso);
    add(fn, NULL, arg, dso);
    return 0;
}

/* Programs get atexit and at_quick_exit from the static part of glibc, which calls the __cxa forms.
 * These definitions serve code that looks the names up in a shared library. */
VP_EXPORT int atexit(void (*fn)(void))
{
    return __cxa_atexit((void (*)(void *))(uintptr_t)fn, NULL, NULL);
}

VP_EXPORT int __cxa_at_quick_exit(void (*fn)(void *), void *dso)
{
    if (!vp_current())
        return REAL(__cxa_at_quick_exit)(fn, dso);
    add(fn, NULL, NULL, &mark_quick);
    return 0;
}

VP_EXPORT int at_quick_exit(void (*fn)(void))
{
    return __cxa_at_quick_exit((void (*)(void *))(uintptr_t)fn, NULL);
}

VP_EXPORT int on_exit(void (*fn)(int, void *), void *arg)
{
    if (!vp_current())
        return REAL(on_exit)(fn, arg);
    add(NULL, fn, arg, NULL);
    return 0;
}

/* A thread that the rank has started runs its own when it ends. */
VP_EXPORT int __cxa_thread_atexit_impl(void (*fn)(void *), void *object, void *dso)
{
    if (!vp_current() || !vp_is_main_thread())
        return REAL(__cxa_thread_atexit_impl)(fn, object, dso);
    add(fn, NULL, object, &mark_thread);
    return 0;
}

/* The destructors of an object call this; when a rank ends, its handlers have run and none is left.
 * NULL means all of them. */
VP_EXPORT void __cxa_finalize(void *dso)
{
    struct vp_handler h;

    if (!vp_current()) {
        REAL(__cxa_finalize)(dso);
        return;
    }
    if (!dso)
        vp_handlers_run(0);
    else
        while (take(is_of, dso, &h))
            call(&h, 0);
}
