/*
 * fibre.c - the fibre host: ranks are fibres of one process, each with a stack and private data.
 *
 * Two kinds of stack. An *own* stack is a mapping; a switch only changes the stack pointer. The
 * *shared* stack is one mapping on which all other fibres run in turn. When another fibre needs it,
 * the live bytes of its present user are copied into a compact block:
 *
 *     low |guard|              ....              |live bytes of the present user| top
 *                                                 ^ sp when suspended
 *
 * Copying out is lazy: a fibre that is resumed before any other has run finds its bytes still
 * there. The same holds for private data (image.c). pack.h makes the copies compact.
 *
 * A fibre that suspends itself goes on to the next one (vp_hop), without the scheduler, but on its
 * stack: the shared one cannot be used while it is copied.
 *
 * Small runs use own stacks, and so do fibres that start after the live bytes turned out to be
 * large, if the address space has room for them. All others share. The scheduler runs on the
 * process's own stack.
 *
 * The `state` of a rank is the top of its own stack, or the packed bytes of the shared stack while
 * another fibre uses that.
 */
#include <assert.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/log.h"
#include "base/hostile.h"
#include "vp/host.h"
#include "vp/pack.h"
#include "vp/vp_internal.h"

#define OWN_RANKS HOSTILE(0u, 256u) /* automatic choice: own stacks up to this many ranks */
#define OWN_MAX 24000u              /* mappings are limited by the system (vm.max_map_count) */
#define OWN_PART 8                  /* stacks take at most 1 / 8 of what 'ulimit -v' allows */
#define LIVE_LARGE 16384            /* mean live bytes above which own stacks pay off */
#define COLOURS 64                  /* own stacks start at different cache lines */
/* live bytes of a fibre that suspended itself on a stack made by the program */
#define FOREIGN UINT32_MAX

void vp_switch(void **save, void *load);
void vp_hop(void *through, void *(*choose)(void *sp));
void *vp_switch_prepare(void *top, void (*entry)(void));

struct spare {
    struct spare *next;
};

static struct {
    void *scheduler;          /* its stack pointer while a fibre runs */
    char *top;                /* of the shared stack */
    struct vp_rank *on_stack; /* whose bytes are on the shared stack */
    struct vp_rank *in_image; /* whose private data is loaded */
    int extra_ran;            /* the fibre that ran last had an extra */
    int stacks;               /* enum vp_stacks */
    size_t stack_size;
    uint64_t own_most; /* own stacks */
    uint64_t ranks;
    struct spare *spare; /* own stacks of ended fibres, linked at their tops */
    struct vp_stats stats;
} fibres;

static int want_own(void)
{
    uint64_t few = fibres.own_most < OWN_RANKS ? fibres.own_most : OWN_RANKS;

    if (fibres.stacks != VP_STACKS_AUTO)
        return fibres.stacks == VP_STACKS_OWN;
    if (fibres.ranks <= few && fibres.stats.own_stacks < few)
        return 1;
    return fibres.stats.live_count >= 8 && fibres.stats.own_stacks < fibres.own_most &&
           fibres.stats.live_sum / fibres.stats.live_count > LIVE_LARGE;
}

/* Gives f its own stack, if it should have one and one can be mapped. */
static int give_own(struct vp_rank *f)
{
    char *top;

    if (!want_own())
        return 0;
    if (fibres.spare) {
        top = (char *)fibres.spare + sizeof(struct spare);
        fibres.spare = fibres.spare->next;
    } else {
        top = vp_stack_map(NULL);
        if (!top)
            return 0;
        top -= (fibres.stats.own_stacks % COLOURS) * 64;
        fibres.stats.own_stacks++;
    }
    f->own_stack = 1;
    f->state = top;
    return 1;
}

static inline char *top_of(const struct vp_rank *f)
{
    return f->own_stack ? f->state : fibres.top;
}

/* Makes the shared stack f's. */
static void take_stack(struct vp_rank *f)
{
    struct vp_rank *before = fibres.on_stack;

    if (before == f)
        return;
    assert_hot(!f->own_stack && (!before || (!before->own_stack && before->started)));
    if (before)
        before->state = vp_pack(fibres.top - before->live, before->live);
    if (f->state) { /* it has run before */
        vp_unpack(f->state, fibres.top - f->live, f->live, before ? before->state : NULL);
        f->state = NULL;
    }
    fibres.on_stack = f;
}

static void take_image(struct vp_rank *f)
{
    if (fibres.in_image == f)
        return;
    if (fibres.in_image)
        vp_image_save(fibres.in_image);
    vp_image_load(f);
    fibres.in_image = f;
}

static void release(struct vp_rank *f)
{
    assert(f->started && fibres.in_image == f);
    if (f->own_stack) {
        struct spare *s = (struct spare *)((char *)f->state - sizeof *s);

        s->next = fibres.spare;
        fibres.spare = s;
    } else {
        fibres.on_stack = NULL;
    }
    vp_image_note();
    fibres.in_image = NULL;
    vp_image_drop(f);
    if (f->extra)
        vp_extra_drop(f);
    f->state = NULL;
}

/* The fibre suspended itself on a stack that its program made (makecontext, coroutines). That stack
 * is the rank's memory. Its real stack must stay as it is, which is impossible with the shared
 * stack. */
static void leave_foreign(struct vp_rank *f, void *sp)
{
    if (!f->own_stack)
        log_fatal(
            "rank %llu called MPI on a stack that the program has made (makecontext, or a library "
            "of coroutines), which ranks that share a stack cannot do; run it with --stacks own, "
            "or "
            "with --host process",
            (unsigned long long)vp_hooks->rank(f));
    vp_extra_of(f)->foreign_sp = sp;
    f->live = FOREIGN;
}

/* Makes a new stack look like that of a fibre that suspended itself just before vp_rank_main. */
static void begin(struct vp_rank *f)
{
    if (!give_own(f))
        take_stack(f);
    f->started = 1;
    f->live = (uint32_t)(top_of(f) - (char *)vp_switch_prepare(top_of(f), vp_rank_main));
}

/*
 * Switching fibres is the hottest path of all: a call through the table, or even to another
 * function, costs a few percent of a run that does little else. So vp_resume and vp_suspend live
 * here, with one branch for all other hosts, whose turns take far longer than such a call.
 */
static inline int is_other_host(void)
{
    return __builtin_expect(vp_private.host != &vp_fibre_host, 0);
}

/* Loads what f has and returns its stack pointer: it is about to run. */
static inline void *load(struct vp_rank *f)
{
    void *sp;

    if (!f->own_stack)
        take_stack(f);
    sp = __builtin_expect(f->live == FOREIGN, 0) ? f->extra->foreign_sp : top_of(f) - f->live;
    take_image(f);
    if (f->extra || fibres.extra_ran)
        vp_extra_switch(f);
    fibres.stats.switches++;
    vp_private.current = f;
    return sp;
}

/* f has suspended itself, with this stack pointer. */
static inline void note(struct vp_rank *f, void *sp)
{
    size_t live = (size_t)(top_of(f) - (char *)sp);

    fibres.extra_ran = f->extra != NULL;
    if (__builtin_expect(live > fibres.stack_size, 0)) {
        leave_foreign(f, sp);
        return;
    }
    f->live = (uint32_t)live;
    fibres.stats.live_sum += f->live;
    fibres.stats.live_count++;
    if (f->live > fibres.stats.live_max)
        fibres.stats.live_max = f->live;
}

/* The running fibre has suspended itself with this stack pointer: returns the one to continue with,
 * that of the next fibre or of the scheduler, on whose stack this runs. */
static void *choose(void *sp)
{
    struct vp_rank *f = vp_private.current;

    assert_hot(f && (f->own_stack || fibres.on_stack == f) && fibres.in_image == f);
    vp_private.current = NULL;
    note(f, sp);
    f = vp_hooks->next ? vp_hooks->next(f) : NULL;
    return f ? load(f) : fibres.scheduler;
}

int vp_resume(struct vp_rank *f)
{
    if (is_other_host())
        return vp_host_resume(f);
    if (__builtin_expect(!f->started, 0))
        begin(f);
    assert_hot(!vp_private.current); /* the scheduler runs */
    vp_switch(&fibres.scheduler, load(f));
    f = vp_private.current;
    if (__builtin_expect(!f, 1))
        return 0;
    vp_private.current = NULL; /* it has ended */
    fibres.extra_ran = f->extra != NULL;
    release(f);
    return 1;
}

void vp_suspend(void)
{
    if (is_other_host())
        vp_private.host->suspend();
    else
        vp_hop(fibres.scheduler, choose);
}

_Noreturn static void end(void)
{
    void *unused;

    vp_switch(&unused, fibres.scheduler);
    __builtin_unreachable();
}

/* All ranks are in this process, so the scheduler's work can be done right here. */
static void call(void (*fn)(void))
{
    fn();
}

_Noreturn static void leave(void (*fn)(void))
{
    vp_private.current = NULL; /* from here on the shims call the real libc */
    fn();
    __builtin_unreachable();
}

static int is_running(void)
{
    return vp_private.current != NULL;
}

static int ask_where(const struct vp_rank *f)
{
    (void)f;
    return 0;
}

static int32_t no_process(void)
{
    return 0;
}

static char *stack_top(const struct vp_rank *f)
{
    return top_of(f);
}

static void add_stats(struct vp_stats *out)
{
    *out = fibres.stats;
}

/* Their guards are large, and count for 'ulimit -v'. */
static uint64_t own_most(void)
{
    struct rlimit l;
    uint64_t allowed = OWN_MAX;

    if (getrlimit(RLIMIT_AS, &l) == 0 && l.rlim_cur != RLIM_INFINITY)
        allowed = l.rlim_cur / OWN_PART / vp_stack_mapped();
    return allowed < OWN_MAX ? allowed : OWN_MAX;
}

static int init(const struct vp_config *cfg, struct err *err)
{
    fibres.stacks = cfg->stacks;
    fibres.own_most = own_most();
    fibres.stack_size = vp_stack_size();
    fibres.top = vp_stack_map(err);
    return fibres.top ? ERR_OK : ERR_MEMORY;
}

static void expect(uint64_t ranks)
{
    fibres.ranks = ranks;
}

const struct vp_host vp_fibre_host = {
    .name = "fibre",
    .load = vp_host_nothing,
    .init = init,
    .expect = expect,
    .start = vp_resume,
    .resume = vp_resume,
    .suspend = vp_suspend,
    .end = end,
    .call = call,
    .leave = leave,
    .kill = vp_host_nothing,
    .check = vp_host_nothing,
    .is_running = is_running,
    .ask_where = ask_where,
    .peer_memory = vp_host_peer_memory,
    .unpin = vp_host_nothing,
    .starter = no_process,
    .stack_top = stack_top,
    .stats = add_stats,
};
