/*
 * fibre.c - the fibre host: ranks are fibres of one process, each with a stack and private data.
 *
 * Two kinds of stack. An *own* stack is a mapping; a switch only changes the stack pointer. The *shared*
 * stack is one mapping on which all other fibres run in turn; when another needs it, the live bytes of its
 * present user are copied into a compact block:
 *
 *     low |guard|              ....              |live bytes of the present user| top
 *                                                 ^ sp when suspended
 *
 * Copying out is lazy: a fibre that is resumed with nobody in between finds its bytes in place.
 * The same goes for private data (image.c). The copies are compact: see pack.h.
 *
 * Which kind: own stacks for small runs, and for fibres that start after the live bytes seen so
 * far turned out large; shared otherwise. The scheduler runs on the process's own stack.
 *
 * The `state` of a rank is its own stack's top, or the packed bytes of the shared stack while these are
 * not in place.
 */
#include <stdint.h>

#include "base/log.h"
#include "vp/host.h"
#include "vp/pack.h"
#include "vp/vp_internal.h"

#define OWN_RANKS 256      /* automatic choice: own stacks up to this many ranks */
#define OWN_MAX 24000u     /* mappings are limited by the system (vm.max_map_count) */
#define LIVE_LARGE 16384   /* mean live bytes above which own stacks pay off */
#define COLOURS 64         /* own stacks start at different cache lines */
#define FOREIGN UINT32_MAX /* live bytes of a fibre that is on a stack that the program made */

void vp_switch(void **save, void *load);
void *vp_switch_prepare(void *top, void (*entry)(void));

struct spare {
    struct spare *next;
};

static struct {
    void *scheduler;          /* its stack pointer while a fibre runs */
    void *suspended;          /* stack pointer of the fibre that just left */
    char *top;                /* of the shared stack */
    struct vp_rank *on_stack; /* whose bytes are on the shared stack */
    struct vp_rank *in_image; /* whose private data is in place */
    int extra_ran;            /* the last fibre run had an extra */
    int stacks;               /* enum vp_stacks */
    size_t stack_size;
    uint64_t ranks;
    struct spare *spare; /* own stacks of ended fibres, linked at their tops */
    struct vp_stats stats;
} fibres;

static int want_own(void)
{
    if (fibres.stacks != VP_STACKS_AUTO)
        return fibres.stacks == VP_STACKS_OWN;
    if (fibres.ranks <= OWN_RANKS && fibres.stats.own_stacks < OWN_RANKS)
        return 1;
    return fibres.stats.live_count >= 8 && fibres.stats.own_stacks < OWN_MAX &&
           fibres.stats.live_sum / fibres.stats.live_count > LIVE_LARGE;
}

/* Gives f a stack of its own if it should have one and one can be had. */
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
    if (before)
        before->state = vp_pack(fibres.top - before->live, before->live);
    if (f->state) { /* it has been here before */
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

/* The fibre has suspended itself on a stack that its program has made (makecontext, coroutines). That
 * is memory of the rank's; its real stack stays as it is, which the shared one cannot. */
static void leave_foreign(struct vp_rank *f)
{
    if (!f->own_stack)
        log_fatal(
            "rank %llu called MPI on a stack that the program has made (makecontext, or a library "
            "of coroutines), which ranks that share a stack cannot do; run it with --stacks own, or "
            "with --host process",
            (unsigned long long)vp_hooks->rank(f));
    vp_extra_of(f)->foreign_sp = fibres.suspended;
    f->live = FOREIGN;
}

/* Looks like a fibre that suspended itself just before vp_rank_main. */
static void begin(struct vp_rank *f)
{
    if (!give_own(f))
        take_stack(f);
    f->started = 1;
    f->live = (uint32_t)(top_of(f) - (char *)vp_switch_prepare(top_of(f), vp_rank_main));
}

/*
 * The switch of fibres is the hottest path there is, and a call through the table, or just to another
 * function, costs some percent of a run that does little else. So vp_resume and vp_suspend are here, with one
 * branch for all other hosts, which take far longer for a turn than for such a call.
 */
static inline int is_other_host(void)
{
    return __builtin_expect(vp_host != &vp_fibre_host, 0);
}

int vp_resume(struct vp_rank *f)
{
    size_t live;
    void *sp;

    if (is_other_host())
        return vp_host_resume(f);
    if (__builtin_expect(!f->started, 0))
        begin(f);
    if (!f->own_stack)
        take_stack(f);
    sp = __builtin_expect(f->live == FOREIGN, 0) ? f->extra->foreign_sp : top_of(f) - f->live;
    take_image(f);
    if (f->extra || fibres.extra_ran)
        vp_extra_switch(f);
    fibres.stats.switches++;
    vp_private.current = f;
    vp_switch(&fibres.scheduler, sp);
    vp_private.current = NULL;
    fibres.extra_ran = f->extra != NULL;
    if (__builtin_expect(f->ended, 0)) {
        release(f);
        return 1;
    }
    live = (size_t)(top_of(f) - (char *)fibres.suspended);
    if (__builtin_expect(live > fibres.stack_size, 0)) {
        leave_foreign(f);
        return 0;
    }
    f->live = (uint32_t)live;
    fibres.stats.live_sum += f->live;
    fibres.stats.live_count++;
    if (f->live > fibres.stats.live_max)
        fibres.stats.live_max = f->live;
    return 0;
}

void vp_suspend(void)
{
    if (is_other_host())
        vp_host->suspend();
    else
        vp_switch(&fibres.suspended, fibres.scheduler);
}

_Noreturn static void end(void)
{
    vp_switch(&fibres.suspended, fibres.scheduler);
    __builtin_unreachable();
}

/* All ranks are in this process: nothing has to be done elsewhere. */
static void call(void (*fn)(void))
{
    fn();
}

_Noreturn static void leave(void (*fn)(void))
{
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

static int init(const struct vp_config *cfg, struct err *err)
{
    fibres.stacks = cfg->stacks;
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
    .await_request = vp_host_nothing,
    .starter = no_process,
    .stack_top = stack_top,
    .stats = add_stats,
};
