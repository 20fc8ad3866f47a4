/*
 * fibre.c - fibres: their stacks, and switching between them and the scheduler.
 *
 * Two kinds of stack. An *own* stack is a guarded mapping; a switch only changes the stack
 * pointer. The *shared* stack is one guarded mapping on which all other fibres run in turn; when
 * another needs it, the live bytes of its present user are copied into a compact block:
 *
 *     low |guard|              ....              |live bytes of the present user| top
 *                                                 ^ sp when suspended
 *
 * Copying out is lazy: a fibre that is resumed with nobody in between finds its bytes in place.
 * The same goes for private data (image.c). The copies are compact: see pack.h.
 *
 * Which kind: own stacks for small runs, and for fibres that start after the live bytes seen so
 * far turned out large; shared otherwise. The scheduler runs on the process's own stack.
 */
#include <stdint.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "vp/crash.h"
#include "vp/pack.h"
#include "vp/vp_internal.h"

#define STACK_DEFAULT ((size_t)8 << 20)
#define STACK_MIN ((size_t)64 << 10)
#define GUARD ((size_t)256 << 20) /* address space only; larger than any frame should be */
#define PAGE ((size_t)4096)
#define OWN_RANKS 256          /* automatic choice: own stacks up to this many ranks */
#define OWN_MAX 24000u         /* mappings are limited by the system (vm.max_map_count) */
#define LIVE_LARGE 16384       /* mean live bytes above which own stacks pay off */
#define COLOURS 64             /* own stacks start at different cache lines */
#define AWAY UINT32_MAX        /* live bytes of a fibre that is on a stack that the program made */

void vp_switch(void **save, void *load);
void *vp_switch_prepare(void *top, void (*entry)(void));

struct vp_private vp_private;
const struct vp_hooks *vp_hooks;
struct pool vp_pool;
int64_t vp_epoch;

struct spare {
    struct spare *next;
};

static struct {
    void *scheduler;          /* its stack pointer while a fibre runs */
    void *suspended;          /* stack pointer of the fibre that just left */
    char *top;                /* of the shared stack */
    struct vp_rank *on_stack; /* whose bytes are on the shared stack */
    struct vp_rank *in_image; /* whose private data is in place */
    int extra_ran;             /* the last fibre run had an extra */
    size_t stack_size;
    int exec_stack; /* the program asks for it (nested functions) */
    int stacks;
    uint64_t ranks;
    int exit_status;
    struct spare *spare; /* own stacks of ended fibres, linked at their tops */
    struct vp_stats stats;
    pid_t process; /* the scheduler's */
} host;

/* Maps a guarded stack; returns its top or NULL. */
static char *stack_map(void)
{
    int access = PROT_READ | PROT_WRITE | (host.exec_stack ? PROT_EXEC : 0);
    size_t bytes = GUARD + host.stack_size;
    char *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    if (mprotect(p + GUARD, host.stack_size, access) != 0) {
        munmap(p, bytes);
        return NULL;
    }
    return p + bytes;
}

static int want_own(void)
{
    if (host.stacks != VP_STACKS_AUTO)
        return host.stacks == VP_STACKS_OWN;
    if (host.ranks <= OWN_RANKS && host.stats.own_stacks < OWN_RANKS)
        return 1;
    return host.stats.live_count >= 8 && host.stats.own_stacks < OWN_MAX &&
           host.stats.live_sum / host.stats.live_count > LIVE_LARGE;
}

/* Gives f a stack of its own if it should have one and one can be had. */
static int give_own(struct vp_rank *f)
{
    char *top;

    if (!want_own())
        return 0;
    if (host.spare) {
        top = (char *)host.spare + sizeof(struct spare);
        host.spare = host.spare->next;
    } else {
        top = stack_map();
        if (!top)
            return 0;
        top -= (host.stats.own_stacks % COLOURS) * 64;
        host.stats.own_stacks++;
    }
    f->own_stack = 1;
    f->stack = top;
    return 1;
}

static inline char *top_of(const struct vp_rank *f)
{
    return f->own_stack ? f->stack : host.top;
}

/* Makes the shared stack f's. */
static void take_stack(struct vp_rank *f)
{
    struct vp_rank *before = host.on_stack;

    if (before == f)
        return;
    if (before)
        before->stack = vp_pack(host.top - before->live, before->live);
    if (f->started) {
        vp_unpack(f->stack, host.top - f->live, f->live, before ? before->stack : NULL);
        f->stack = NULL;
    }
    host.on_stack = f;
}

static void take_image(struct vp_rank *f)
{
    if (host.in_image == f)
        return;
    if (host.in_image)
        vp_image_save(host.in_image);
    vp_image_load(f);
    host.in_image = f;
}

static void fibre_entry(void)
{
    struct vp_program mine = vp_program;

    if (vp_hooks->starting)
        vp_hooks->starting(vp_private.current, &mine.argc, &mine.argv);
    vp_objects_run(0, &mine);
    exit(mine.main(mine.argc, mine.argv, mine.envp));
}

static void release(struct vp_rank *f)
{
    if (f->own_stack) {
        struct spare *s = (struct spare *)((char *)f->stack - sizeof *s);

        s->next = host.spare;
        host.spare = s;
    } else {
        host.on_stack = NULL;
    }
    vp_image_note();
    host.in_image = NULL;
    vp_image_drop(f);
    if (f->extra)
        vp_extra_drop(f);
    f->stack = NULL;
}

/* The same for a rank that is a process. */
static int resume_process(struct vp_rank *f)
{
    host.stats.switches++;
    if (f->started) {
        f = vp_process_resume(f);
    } else {
        f->started = 1;
        f = vp_process_start(f);
    }
    if (f->ended && f->extra)
        vp_extra_drop(f);
    return f->ended;
}

/* The fibre has suspended itself on a stack that its program has made (makecontext, coroutines). That
 * is memory of the rank's; its real stack stays as it is, which the shared one cannot. */
static void leave_away(struct vp_rank *f)
{
    if (!f->own_stack)
        log_fatal("rank %llu called MPI on a stack that the program has made (makecontext, or a library "
                  "of coroutines), which ranks that share a stack cannot do; run it with --stacks own, or "
                  "with --host process", (unsigned long long)vp_hooks->rank(f));
    vp_extra_of(f)->away = host.suspended;
    f->live = AWAY;
}

int vp_resume(struct vp_rank *f)
{
    size_t live;
    void *sp;

    if (__builtin_expect(vp_is_process_host, 0))
        return resume_process(f);
    if (__builtin_expect(!f->started, 0)) {
        if (!give_own(f))
            take_stack(f);
        f->started = 1;
        sp = vp_switch_prepare(top_of(f), fibre_entry);
    } else {
        if (!f->own_stack)
            take_stack(f);
        sp = __builtin_expect(f->live == AWAY, 0) ? f->extra->away : top_of(f) - f->live;
    }
    take_image(f);
    if (f->extra || host.extra_ran)
        vp_extra_switch(f);
    host.stats.switches++;
    vp_private.current = f;
    vp_switch(&host.scheduler, sp);
    vp_private.current = NULL;
    host.extra_ran = f->extra != NULL;
    if (__builtin_expect(f->ended, 0)) {
        release(f);
        return 1;
    }
    live = (size_t)(top_of(f) - (char *)host.suspended);
    if (__builtin_expect(live > host.stack_size, 0)) {
        leave_away(f);
        return 0;
    }
    f->live = (uint32_t)live;
    host.stats.live_sum += f->live;
    host.stats.live_count++;
    if (f->live > host.stats.live_max)
        host.stats.live_max = f->live;
    return 0;
}

void vp_suspend(void)
{
    if (__builtin_expect(vp_is_process_host, 0))
        vp_process_suspend();
    else
        vp_switch(&host.suspended, host.scheduler);
}

int vp_ranks_are_processes(void)
{
    return vp_is_process_host;
}

void vp_leave(void (*fn)(void))
{
    vp_private.current = NULL; /* from here on libc's functions are themselves */
    if (vp_is_process_host && sys_getpid() != host.process)
        vp_process_leave(fn);
    vp_end();
    fn();
    __builtin_unreachable();
}

void vp_call(void (*fn)(void))
{
    if (vp_is_process_host && sys_getpid() != host.process)
        vp_process_call(fn);
    else
        fn();
}

void vp_check(void)
{
    if (vp_is_process_host)
        vp_process_check();
}

void vp_end(void)
{
    if (vp_is_process_host)
        vp_process_still();
}

int32_t vp_rank_pid(const struct vp_rank *f)
{
    return vp_is_process_host ? vp_process_pid(f) : 0;
}

void vp_rank_end(int status)
{
    struct vp_rank *f = vp_private.current;

    vp_hooks->exiting(f, status, 1);
    host.exit_status = status;
    f->ended = 1;
    if (vp_is_process_host) {
        host.stats.process_bytes += mem_own();
        vp_process_end();
    }
    vp_switch(&host.suspended, host.scheduler);
    __builtin_unreachable();
}

void vp_rank_exit(int status)
{
    struct vp_rank *f = vp_private.current;

    vp_hooks->exiting(f, status, 0);
    vp_handlers_run(status);
    if (!f->finishing) { /* a destructor may call exit, too */
        f->finishing = 1;
        vp_objects_run(1, &vp_program);
    }
    vp_streams_end();
    vp_rank_end(status);
}

int vp_stack_overflowed(const struct vp_rank *f, const void *addr)
{
    const char *end = top_of(f) - host.stack_size, *at = addr;

    return at < end + COLOURS * 64 && at >= end - COLOURS * 64 - GUARD;
}

int vp_exit_status(void)
{
    return host.exit_status;
}

void vp_rank_prefetch(const struct vp_rank *f)
{
    if (f->stack) {
        __builtin_prefetch(f->stack);
        __builtin_prefetch((char *)f->stack + 64);
    }
}

const struct vp_stats *vp_stats(void)
{
    static struct vp_stats stats;

    stats = host.stats;
    vp_image_stats(&stats);
    if (vp_is_process_host)
        stats.switches += vp_process_handed();
    return &stats;
}

int vp_init(const struct vp_config *cfg, struct err *err)
{
    size_t size = cfg->stack_size ? cfg->stack_size : STACK_DEFAULT;

    if (size < STACK_MIN)
        size = STACK_MIN;
    host.stack_size = (size + PAGE - 1) / PAGE * PAGE;
    host.stacks = cfg->stacks;
    host.exec_stack = vp_objects_exec_stack();
    vp_hooks = cfg->hooks;
    vp_epoch = cfg->epoch;
    vp_entropy_init(cfg->entropy_real, cfg->entropy_seed);
    pool_init(&vp_pool, "stacks and private data");
    host.top = stack_map();
    char *strands = stack_map();
    if (!host.top || !strands)
        return err_set(err, ERR_MEMORY, "cannot map a stack of %zu bytes; give a smaller --stack",
                       host.stack_size);
    vp_strand_init(strands);
    vp_crash_init();
    vp_image_exclude_copies();
    vp_libc_init();
    vp_image_reset();
    host.process = sys_getpid();
    return vp_is_process_host ? vp_process_init(host.top, fibre_entry, err) : ERR_OK;
}

void vp_expect(uint64_t ranks)
{
    host.ranks = ranks;
    if (vp_is_process_host)
        vp_process_settle();
}
