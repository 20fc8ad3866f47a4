/*
 * vp_standin.h - replaces vp in tests of src/mpi: ranks are coroutines, up to RANKS_MAX with STACK
 * bytes each. Each runs rank_main(rank), which sets vp.ended and suspends itself at the end. The
 * test defines all three before it includes this, once, in its only source file. Call standin_init
 * first.
 */
#ifndef VP_STANDIN_H
#define VP_STANDIN_H

#include <stdlib.h>
#include <ucontext.h>

#include "base/mem.h"
#include "mpi/rank.h"
#include "vp/crash.h"

struct vp_private vp_private;
static ucontext_t scheduler, contexts[RANKS_MAX];
static char *stacks[RANKS_MAX];

static void standin_init(void)
{
    for (int i = 0; i < RANKS_MAX; i++)
        stacks[i] = mem_alloc(STACK);
}

static int fibre_rank(const struct vp_rank *f)
{
    return (int)mpi_rank_id(mpi_rank_of((struct vp_rank *)f));
}

int vp_caller(char *out, size_t n)
{
    (void)out;
    (void)n;
    return 0;
}
uintptr_t vp_caller_address(const char *text)
{
    (void)text;
    return 0;
}

int vp_resume(struct vp_rank *f)
{
    int rank = fibre_rank(f);

    if (!f->started) {
        f->started = 1;
        getcontext(&contexts[rank]);
        contexts[rank].uc_stack.ss_sp = stacks[rank];
        contexts[rank].uc_stack.ss_size = STACK;
        makecontext(&contexts[rank], (void (*)(void))rank_main, 1, rank);
    }
    vp_private.current = f;
    swapcontext(&scheduler, &contexts[rank]);
    vp_private.current = NULL;
    return f->ended;
}

void vp_suspend(void)
{
    swapcontext(&contexts[fibre_rank(vp_private.current)], &scheduler);
}

/* Referred to by the files of mpi that run the simulation, whose run loop is not used here. */
void vp_side_suspend(void)
{
    abort();
}
void vp_suspend_computing(uint32_t waiting)
{
    (void)waiting;
    abort();
}
int vp_frame(const void *address, char *out, size_t n)
{
    (void)address, (void)out, (void)n;
    return 0;
}
int vp_exit_status(void)
{
    return 0;
}
int32_t vp_starter_pid(void)
{
    return 0;
}
void vp_expect(uint64_t ranks)
{
    (void)ranks;
}
void vp_leave(void (*fn)(void))
{
    (void)fn;
    abort();
}
int vp_ranks_are_processes(void)
{
    return 0;
}
int vp_passes_turns(void)
{
    return 0;
}
int vp_is_rank_running(void)
{
    return 0;
}
int vp_ask_where(const struct vp_rank *f)
{
    (void)f;
    return 0;
}
int vp_is_remote(uint64_t number)
{
    (void)number;
    return 0;
}

void vp_touch(void *ptr, size_t bytes)
{
    (void)ptr, (void)bytes;
}

void *vp_peer_memory(size_t bytes)
{
    return mem_try_alloc(bytes, 1);
}
int vp_is_main_thread(void)
{
    return 1;
}
int vp_threads_idle(uint32_t others)
{
    (void)others;
    return 0;
}
int vp_threads_sleep(int (*skip)(const void *, long), const void *arg)
{
    (void)skip;
    (void)arg;
    return 0;
}
int vp_thread_pin(void)
{
    return 0;
}
__thread int vp_thread_depth;
long vp_thread_tid(void)
{
    return 1;
}
int vp_thread_may_park(void)
{
    return 0;
}
void vp_thread_switch(struct vp_parked *me, struct vp_parked *next)
{
    (void)me, (void)next;
}
void vp_thread_park(struct vp_parked *me, plain_word *ring, vp_watch *watch)
{
    (void)me, (void)ring, (void)watch;
}
plain_word *vp_thread_resume(struct vp_parked *next)
{
    (void)next;
    return NULL;
}
int vp_threads_are_pinned(void)
{
    return 0;
}
void vp_threads_unpin(void)
{
}
void vp_request_turn(void)
{
}
void vp_withdraw_request(void)
{
}
void vp_await_request(int64_t ns)
{
    (void)ns;
}
uint32_t vp_thread_count(void)
{
    return 1;
}
void vp_go_out(void)
{
}
void vp_come_back(void)
{
}
void vp_help(void (*fn)(void))
{
    (void)fn;
}
int vp_pass_turn(void)
{
    return 0;
}
void vp_await_turn(void)
{
}
struct vp_rank *vp_next_request(void)
{
    return NULL;
}
void vp_call(void (*fn)(void))
{
    fn();
}
void vp_check(void)
{
}
void vp_kill(void)
{
}
int32_t vp_rank_pid(const struct vp_rank *f)
{
    (void)f;
    return 0;
}
/* No strands here. */
int vp_strand_start(struct vp_strand *s, void (*fn)(void *), void *arg)
{
    (void)s;
    (void)fn;
    (void)arg;
    abort();
}
int vp_strand_resume(struct vp_strand *s)
{
    (void)s;
    abort();
}
void vp_strand_suspend(void)
{
    abort();
}
void vp_rank_prefetch(const struct vp_rank *f)
{
    (void)f;
}
void vp_rank_prefetch_rest(const struct vp_rank *f)
{
    (void)f;
}
int vp_init(const struct vp_config *c, struct err *e)
{
    (void)c;
    (void)e;
    return -1;
}
int vp_stack_overflowed(const struct vp_rank *f, const void *a)
{
    (void)f;
    (void)a;
    return 0;
}
void vp_backtrace_take(const void *c, struct vp_backtrace *t)
{
    (void)c;
    (void)t;
}
const struct vp_stats *vp_stats(void)
{
    static struct vp_stats none;
    return &none;
}

#endif
