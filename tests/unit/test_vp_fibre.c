/*
 * Fibres (vp/fibre.c, image.c, pack.c and the switch) without the libc layer: many fibres on the
 * shared stack and on stacks of their own, recursion to random depths, locals, private globals and
 * floating-point control words. Run once per kind of stack.
 */
#include <fenv.h>
#include <stdlib.h>

#include "base/rng.h"
#include "pool_live.h"
#include "tap.h"
#include "vp/crash.h"
#include "vp/vp_internal.h"

enum { FIBRES = 300, ROUNDS = 25, WORDS = 40 };

/* ---- what the rest of vp would do ---- */

struct vp_program vp_program;
void vp_objects_run(int fini, const struct vp_program *p)
{
    (void)fini, (void)p;
}
int vp_objects_exec_stack(void)
{
    return 0;
}
void vp_image_exclude_copies(void)
{
}
void vp_extra_switch(const struct vp_rank *f)
{
    (void)f;
}
void vp_extra_drop(struct vp_rank *f)
{
    (void)f;
}
struct vp_extra *vp_extra_of(struct vp_rank *f)
{
    (void)f;
    abort();
}
void vp_streams_end(void)
{
}
void vp_handlers_run(int status)
{
    (void)status;
}
void vp_libc_init(void)
{
}
void vp_entropy_init(int real, uint64_t seed)
{
    (void)real, (void)seed;
}
void vp_crash_init(void)
{
}
const struct vp_host vp_process_host = {.name = "process"};

/* ---- the program ---- */

static struct vp_rank fibres[FIBRES];
static int faults, ended;
static struct {
    uint64_t words[64];
    uint32_t first;
} global; /* private */
static const int modes[4] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

static void fault(const char *what)
{
    if (faults++ < 5)
        diag("fibre %d: %s", (int)(vp_private.current - fibres), what);
}

static void exiting(struct vp_rank *f, int status, int phase)
{
    if (f != vp_private.current || status != (int)(f - fibres) % 100)
        fault("exiting is told something else");
    ended += phase;
}

static const struct vp_hooks hooks = {.exiting = exiting};

/* Fills a frame, suspends at the bottom, and finds the frame unchanged on the way back. */
static __attribute__((noinline)) uint64_t dive(uint64_t key, int depth)
{
    volatile uint64_t words[WORDS];
    uint64_t sum = 0;

    for (int i = 0; i < WORDS; i++)
        words[i] = key * 31 + (uint64_t)(depth * 1000 + i);
    if (depth > 0)
        sum = dive(key + 1, depth - 1);
    else
        vp_suspend();
    for (int i = 0; i < WORDS; i++)
        if (words[i] != key * 31 + (uint64_t)(depth * 1000 + i)) {
            fault("a local has changed");
            break;
        }
    return sum + words[0];
}

static int program(int argc, char **argv, char **envp)
{
    int me = (int)(vp_private.current - fibres);
    struct rng r;

    (void)argc, (void)argv, (void)envp;
    rng_seed(&r, (uint64_t)me + 1);
    if (fegetround() != FE_TONEAREST)
        fault("starts with another's rounding");
    fesetround(modes[me % 4]);
    for (int i = 0; i < 64; i++)
        if (global.words[i] || global.first)
            fault("starts with another's globals");
    global.first = (uint32_t)me + 1;
    if (me % 3 == 0) /* ends without ever having been suspended */
        vp_rank_exit(me % 100);
    for (int round = 0; round < ROUNDS; round++) {
        int at = (int)rng_below(&r, 64), depth = (int)rng_below(&r, me % 7 == 1 ? 60 : 4);
        uint64_t mark = rng_next(&r);

        global.words[at] = mark;
        dive(mark, depth);
        if (global.words[at] != mark || global.first != (uint32_t)me + 1)
            fault("a global has changed");
        if (fegetround() != modes[me % 4])
            fault("the rounding has changed");
    }
    vp_rank_exit(me % 100);
}

static void run(enum vp_stacks stacks, uint64_t seed, const char *name)
{
    struct vp_config cfg = {.stack_size = 256 << 10, .stacks = stacks, .hooks = &hooks};
    struct err err;
    struct rng r;
    int live[FIBRES], n = FIBRES, statuses = 0, small = 0;

    rng_seed(&r, seed);
    memset(fibres, 0, sizeof fibres);
    ended = faults = 0;
    vp_program.main = program;
    is_int(vp_init(&cfg, &err), 0, name);
    vp_expect(FIBRES);
    for (int i = 0; i < FIBRES; i++)
        live[i] = i;
    while (n > 0) {
        int pick = (int)rng_below(&r, (uint64_t)n), id = live[pick];

        if (vp_resume(&fibres[id])) {
            statuses += vp_exit_status() != id % 100;
            live[pick] = live[--n];
        } else {
            small += fibres[id].live < WORDS * 8;
        }
        if (vp_current() || fegetround() != FE_TONEAREST)
            fault("the scheduler runs in a fibre's state");
    }
    is_int(faults, 0, "locals, globals and rounding are each fibre's own");
    is_int(ended, FIBRES, "all ended once");
    is_int(statuses, 0, "with their own status");
    is_int(small, 0, "the live bytes hold at least the innermost frame");
    ok(vp_stats()->live_max >= 60 * WORDS * 8 && vp_stats()->live_max < 256 << 10,
       "the deepest stack is accounted for: %llu", (unsigned long long)vp_stats()->live_max);
    is_int((long long)pool_live(&vp_pool), 0, "ended fibres hold no memory");
    for (int i = 0; i < FIBRES; i++)
        if (fibres[i].state || fibres[i].saved)
            fault("an ended fibre keeps something");
    is_int(faults, 0, "nor pointers");
}

/* ---- strands: many at once, suspended at random depths, resumed in random order ---- */

enum { STRANDS = 200 };

struct job {
    struct vp_strand strand;
    int depth, steps, seen;
};

static __attribute__((noinline)) void descend(struct job *j, int depth)
{
    volatile uint64_t words[8];

    for (int i = 0; i < 8; i++)
        words[i] = (uint64_t)(uintptr_t)j + (uint64_t)(depth * 8 + i);
    if (depth > 0) {
        descend(j, depth - 1);
    } else {
        for (int i = 0; i < j->steps; i++) {
            vp_strand_suspend();
            j->seen++;
        }
    }
    for (int i = 0; i < 8; i++)
        if (words[i] != (uint64_t)(uintptr_t)j + (uint64_t)(depth * 8 + i))
            fault("a strand's frame has changed");
}

static void job_main(void *arg)
{
    struct job *j = arg;

    descend(j, j->depth);
    j->seen++;
}

static void test_strands(void)
{
    static struct job jobs[STRANDS];
    struct rng rng;
    int live = 0, right = 0;

    rng_seed(&rng, 7);
    for (int i = 0; i < STRANDS; i++) {
        jobs[i].depth = (int)rng_below(&rng, 60);
        jobs[i].steps = (int)rng_below(&rng, 20);
        live += !vp_strand_start(&jobs[i].strand, job_main, &jobs[i]);
    }
    while (live > 0) {
        struct job *j = &jobs[rng_below(&rng, STRANDS)];

        if (!j->strand.ended)
            live -= vp_strand_resume(&j->strand);
    }
    for (int i = 0; i < STRANDS; i++)
        right += jobs[i].seen == jobs[i].steps + 1;
    is_int(right, STRANDS, "strands run to their ends, each as often as it suspends");
    is_int(faults, 0, "their stacks are as they left them");
}

/* ---- another host: one table, and everything goes through it ---- */

static struct {
    int starts, resumes, suspends;
} third;

static int third_start(struct vp_rank *f)
{
    f->state = &third;
    third.starts++;
    return 0;
}

static int third_resume(struct vp_rank *f)
{
    vp_private.current = f;
    vp_suspend();
    vp_private.current = NULL;
    f->ended = 1;
    third.resumes++;
    return 1;
}

static void third_suspend(void)
{
    third.suspends += !vp_current_sharing();
}

static int32_t third_pid(const struct vp_rank *f)
{
    return f->state ? 42 : 0;
}

static void test_third_host(void)
{
    static const struct vp_host host = {.name = "third",
                                        .own_process = 1,
                                        .start = third_start,
                                        .resume = third_resume,
                                        .suspend = third_suspend,
                                        .pid = third_pid};
    struct vp_rank f = {0};

    is_int(vp_ranks_are_processes(), 0, "fibres share a process");
    is_int(vp_rank_pid(&f), 0, "and have none of their own");
    vp_private.host = &host;
    is_int(vp_resume(&f), 0, "a host of its own kind starts a rank");
    is_int(vp_resume(&f), 1, "and resumes it to its end");
    is_int(third.starts * 100 + third.resumes * 10 + third.suspends, 111,
           "by its table; a rank with a process to itself has its libc to itself");
    is_int(vp_rank_pid(&f), 42, "which has a number");
    ok(vp_next_request() == NULL, "threads that nobody has do not ask for turns");
    vp_host_load("fibre");
    ok(vp_private.host == &vp_fibre_host, "hosts are found by their names");
}

int main(void)
{
    plan_auto();
    vp_image_add(&global, sizeof global);
    run(VP_STACKS_SHARED, 1, "shared stack");
    is_int((long long)vp_stats()->own_stacks, 0, "no stack of its own for any");
    run(VP_STACKS_OWN, 2, "own stacks");
    ok(vp_stats()->own_stacks > 0 && vp_stats()->own_stacks < FIBRES, "own stacks are reused");
    run(VP_STACKS_AUTO, 3, "automatic choice");
    test_strands();
    test_third_host();
    return done_testing();
}
