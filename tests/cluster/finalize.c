/*
 * finalize.c - a library to preload, without which one in ten MPI programs hangs in MPI_Finalize
 * on several nodes.
 *
 * MPICH 4.0 closes its UCX connections there and waits until each is flushed, and then for all
 * other ranks in a barrier of its process manager, which blocks in read(). Flushing a TCP
 * connection of UCX needs an answer of the other end. A rank that is already in that barrier
 * gives none, so the others wait for it and it waits for them. This library makes the answers
 * come: from the first disconnect on, a thread polls UCX whenever the program has not done so for
 * a while.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define PAUSE_NS 10000000

static struct {
    void *worker;
    pthread_t thread;
    pthread_mutex_t lock; /* held in calls of UCX, once it is closing */
    volatile int is_closing, is_over;
    volatile unsigned calls; /* of the program */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The function that this library replaces. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void enter(void)
{
    if (state.is_closing) {
        pthread_mutex_lock(&state.lock);
        state.calls++;
    }
}

static void leave(void)
{
    if (state.is_closing)
        pthread_mutex_unlock(&state.lock);
}

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *);
    if (!real)
        real = REAL(ucp_worker_progress);
    enter();
    unsigned count = real(worker);
    leave();
    return count;
}

static void *poll_instead(void *unused)
{
    unsigned (*progress)(void *) = REAL(ucp_worker_progress), before = 0;
    const struct timespec pause = {0, PAUSE_NS};
    (void)unused;
    while (!state.is_over) {
        nanosleep(&pause, NULL);
        if (state.calls == before && pthread_mutex_trylock(&state.lock) == 0) {
            if (!state.is_over)
                progress(state.worker);
            pthread_mutex_unlock(&state.lock);
        }
        before = state.calls;
    }
    return NULL;
}

int ucp_worker_create(void *context, const void *params, void **worker)
{
    int status = REAL(ucp_worker_create)(context, params, worker);
    state.worker = *worker;
    return status;
}

void *ucp_disconnect_nb(void *ep)
{
    if (!state.is_closing && state.worker) {
        state.is_closing = 1;
        if (pthread_create(&state.thread, NULL, poll_instead, NULL) != 0)
            state.is_closing = 0;
    }
    enter();
    void *request = REAL(ucp_disconnect_nb)(ep);
    leave();
    return request;
}

void ucp_request_release(void *request)
{
    static void (*real)(void *);
    if (!real)
        real = REAL(ucp_request_release);
    enter();
    real(request);
    leave();
}

void ucp_request_free(void *request)
{
    static void (*real)(void *);
    if (!real)
        real = REAL(ucp_request_free);
    enter();
    real(request);
    leave();
}

void ucp_worker_destroy(void *worker)
{
    if (state.is_closing) {
        state.is_over = 1;
        pthread_join(state.thread, NULL);
        state.is_closing = 0;
    }
    REAL(ucp_worker_destroy)(worker);
}
