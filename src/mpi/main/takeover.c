/*
 * takeover.c - the library's main program: takes over the process, sets up the simulation and runs
 * it.
 *
 * With several processes each runs all of this for its own ranks; ending.c merges the results.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/env.h"
#include "base/log.h"
#include "base/log_module.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/units.h"
#include "engine/output_book.h"
#include "mpi/clock.h"
#include "mpi/coll/coll.h"
#include "mpi/comm/comm.h"
#include "mpi/datatype/datatype.h"
#include "mpi/leaks.h"
#include "mpi/main/emulate.h"
#include "mpi/main/line.h"
#include "mpi/main/memory_watch.h"
#include "mpi/main/run.h"
#include "mpi/above.h"
#include "mpi/main/backtrace.h"
#include "mpi/observe.h"
#include "mpi/p2p/p2p.h"
#include "mpi/record/record.h"

#define RELEASE_SECONDS 1.0 /* output is released at least this often */
#define MEMORY_SECONDS 0.1  /* how often memory is checked */
#define HAND_NS 5e6         /* ranks that pass turns on do so for this long without the scheduler */
#define PARK_SECONDS \
    2.0 /* an aborted run ends by itself, or after this long without the ranks that
                             * are beyond the time of the abort */

struct mpi_run mpi_run;

static struct {
    double release, check, park; /* when each is due next */
    int early;                   /* the first ranks start: each first turn is checked */
    int started;                 /* there was one */
} next;

static double wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- now and then ---- */

void mpi_run_progress(void)
{
    struct run_page *page = mpi_world.page;
    const struct mpi_stats *s = mpi_world.stats;
    struct mpi_procs_status t = {
        .ranks_started = engine_started(&mpi_world.engine),
        .ranks_done = mpi_run.end.now.ranks_done,
        .messages = s->messages[0] + s->messages[1],
        .bytes = s->bytes[0] + s->bytes[1],
        .clock = mpi_run.last ? mpi_run.last->ent.clock : 0,
    };

    mpi_run.end.now = t;
    mpi_procs_report(&t);
    page->now.ranks_started = t.ranks_started;
    page->now.ranks_done = t.ranks_done;
    page->now.messages = t.messages;
    page->now.bytes = t.bytes;
    page->now.clock = t.clock;
    page->now.memory_elsewhere = t.memory;
    page->now.beats++;
}

void mpi_run_starts(void)
{
    if (!next.early)
        return;
    next.started = 1;
    engine_idle_often(&mpi_world.engine, 1);
}

static void idle(void *owner)
{
    int saved = errno; /* the program's errno: the last rank's data is still loaded */
    double now = wall();

    (void)owner;
    mpi_run_progress();
    vp_check();
    if (mpi_world.output.failed[1] == EPIPE)
        engine_stop(&mpi_world.engine); /* nobody reads the output */
    if (now >= next.check || next.started) {
        mpi_memory_check();
        next.check = now + MEMORY_SECONDS;
        if (next.started)
            engine_idle_often(&mpi_world.engine, !output_is_empty(&mpi_world.output));
        next.started = 0;
        next.early = next.early && mpi_memory_is_early();
    }
    if (engine_ended_by(&mpi_world.engine).due != VTIME_NEVER) {
        next.park = next.park > 0 ? next.park : now + PARK_SECONDS;
        mpi_world.parking = now >= next.park;
    }
    if (now >= next.release) {
        mpi_procs_release(engine_lower_bound(&mpi_world.engine));
        engine_idle_often(&mpi_world.engine, !output_is_empty(&mpi_world.output));
        next.release = wall() + RELEASE_SECONDS;
    }
    errno = saved;
}

/* ---- set-up ---- */

/* Where memory files are, below the arena. Lists of the machine may be long. */
#define PAGE_BELOW ((size_t)1 << 30)
#define BOOK_BELOW ((size_t)2 << 30)
#define MACHINE_BELOW ((size_t)1 << 40)
_Static_assert(sizeof(struct run_page) <= PAGE_BELOW &&
                   OUTPUT_BOOK_BYTES <= BOOK_BELOW - PAGE_BELOW,
               "they fit");

static void map_page(void)
{
    const char *text = getenv(ENV_RUN_FD);
    int fd = text ? atoi(text) : -1;
    struct run_page *page = mmap(arena_near(PAGE_BELOW), sizeof *page, PROT_READ | PROT_WRITE,
                                 MAP_SHARED, fd, 0);

    if (page == MAP_FAILED || page->magic != RUN_MAGIC || page->size != sizeof *page)
        log_fatal("the library was not started by a matching 'orrery run'; check the installation");
    sys_close(fd);
    unsetenv(ENV_RUN_FD);
    if (getenv(ENV_PROGRAMS))
        mpi_world.programs = mem_strdup(getenv(ENV_PROGRAMS));
    unsetenv(ENV_PROGRAMS);
    mpi_world.above = page->opt.factor > 0 ? &mpi_above_paced
                      : page->opt.live     ? &mpi_above_live
                                           : &mpi_above;
    mpi_world.page = page;
    mpi_world.opt = &page->opt;
    mpi_world.size = (uint32_t)page->opt.ranks;
    mpi_world.room = (uint32_t)run_room(&page->opt);
    mpi_world.checking = page->opt.check;
    mpi_world.hollow = page->opt.payload == RUN_PAYLOAD_NONE;
}

/* The lists stay in the command's memory file. */
static void map_machine(void)
{
    int fd = mpi_world.opt->machine_fd;
    off_t size = lseek(fd, 0, SEEK_END);
    void *bytes = mmap(arena_near(MACHINE_BELOW), size > 0 ? (size_t)size : 1, PROT_READ,
                       MAP_SHARED, fd, 0);
    struct err err;

    if (bytes == MAP_FAILED)
        log_fatal("cannot map the machine: %s", strerror(errno));
    if (platform_unpack(&mpi_world.machine, bytes, (size_t)size, &err) != ERR_OK)
        log_fatal("%s", err.text);
    sys_close(fd);
}

/* Pending output is shared with the watcher, which writes it if this process dies. */
static void map_book(struct output_config *out)
{
    int fd = mpi_world.opt->book_fd;
    off_t at = mpi_world.opt->book_at;
    void *book;

    if (fd < 0)
        return;
    book = mmap(arena_near(BOOK_BELOW), OUTPUT_BOOK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                at);
    if (book != MAP_FAILED)
        out->book = book;
    if (mpi_world.opt->procs > 1 && book != MAP_FAILED)
        mpi_procs_keep(fd, at + (off_t)OUTPUT_BOOK_BYTES);
    sys_close(fd);
}

/* The watcher opens the file, too, while this process has it open. */
static void spill(void)
{
    int had_file = mpi_world.output.spill_fd >= 0;

    output_spill(&mpi_world.output);
    if (!had_file && mpi_world.output.spill_fd >= 0 && mpi_world.output.book)
        mpi_ask(RUN_ASK_SPILL);
}

/* The file must be open in the process that finally writes the output. */
static void make_room(void *owner)
{
    (void)owner;
    vp_call(spill);
}

/* Joins the other processes, if any, and determines which ranks are here. */
static void join(struct engine_config *eng)
{
    struct run_page *page = mpi_world.page;

    mpi_procs_open(mpi_world.opt, &eng->map);
    eng->peers = mpi_procs_peers();
    mpi_world.shared = eng->peers != NULL;
    if (mpi_world.shared)
        log_modules_process(eng->map.proc);
    page->now.proc = eng->map.proc;
    page->now.joined = 1;
}

/* Process 0 has all packets. */
static void watch_packets(const struct run_options *o, struct err *err)
{
    const struct net_watch what = {.pcap = o->pcap_path[0] ? o->pcap_path : NULL,
                                   .pcap_at = o->pcap_at,
                                   .vectors = o->vectors_at[0] ? o->vectors_at : NULL};

    if ((what.pcap || what.vectors) && net_watch(&mpi_world.net, &what, err) != ERR_OK)
        log_fatal_input("%s", err->text);
}

static void set_up_net(const struct run_options *o, struct err *err)
{
    struct platform *machine = &mpi_world.machine;

    if (mpi_coll_init(machine, err) != ERR_OK)
        log_fatal("%s", err->text);
    machine->later = mpi_world.room - mpi_world.size;
    /* Free messages and processes outside bring ranks back to where others are. */
    machine->rewinds = mpi_world.free_collectives || o->live || o->factor > 0;
    if (net_init(&mpi_world.net, machine, run_fit(o), err) != ERR_OK)
        log_fatal("%s", err->text);
    if (o->trace_path[0])
        net_meter(&mpi_world.net);
}

/* The first rank of another program than the simulator's; all are, in a process of another one. */
static uint32_t first_other(const struct run_options *o)
{
    return o->app_count <= 1 ? UINT32_MAX : o->app ? 0 : o->apps[0].ranks;
}

static void set_up(void)
{
    const struct run_options *o = mpi_world.opt;
    struct err err;
    struct output_config out = {.labels = o->labels,
                                .only_error = o->only_error,
                                .ranks = mpi_world.room,
                                .full = make_room};
    struct vp_config vp = {.stack_size = o->stack_size,
                           .stacks = o->stacks,
                           .epoch = o->epoch,
                           .entropy_real = o->entropy_real,
                           .entropy_seed = o->entropy_seed,
                           .concurrent = o->factor > 0,
                           .remotes = {.first = (uint32_t)(o->ranks - o->remote_count),
                                       .count = o->remote_count,
                                       .fd = o->remote_fd,
                                       .is_here = o->remote_here,
                                       .others = first_other(o)},
                           .hooks = &mpi_vp_hooks};
    struct engine_config eng = {.stride = sizeof(struct mpi_rank),
                                .idle_limit = o->idle_limit,
                                .random = o->random,
                                .seed = o->seed,
                                .ops = o->factor > 0 ? &mpi_engine_ops_paced : &mpi_engine_ops};

    pool_init(&mpi_world.pool, "ranks' extras");
    map_book(&out);
    set_up_net(o, &err);
    mpi_p2p_init((struct device){mpi_world.net.device, &mpi_world.engine, &mpi_world.net},
                 o->platform.mpi_eager_limit);
    if (vp_init(&vp, &err) != ERR_OK)
        log_fatal("%s", err.text);
    mpi_world.page->now.zygote_pid = vp_starter_pid();
    join(&eng);
    vp_expect(eng.map.count);
    mpi_world.ranks = mem_map((size_t)eng.map.room * sizeof(struct mpi_rank), 1);
    if (!mpi_world.ranks)
        log_fatal("cannot reserve memory for %u ranks", eng.map.room);
    eng.base = mpi_world.ranks;
    eng.lookahead = mpi_coll_least_time() < mpi_world.net.lookahead ? mpi_coll_least_time()
                                                                    : mpi_world.net.lookahead;
    if (mpi_world.net.ops->medium &&
        (eng.map.proc == 0 || mpi_world.net.ops->split == NET_SPLIT_MEDIA)) {
        mpi_world.net.ops->medium(&mpi_world.net, &mpi_world.engine, &mpi_world.medium);
        eng.medium = &mpi_world.medium;
        if (eng.map.proc == 0)
            watch_packets(o, &err);
    }
    if (vp_passes_turns() && !o->factor)
        eng.hand_ticks = (uint64_t)(HAND_NS * ticks_per_ns());
    engine_init(&mpi_world.engine, &eng);
    engine_set_idle(&mpi_world.engine, idle);
    mpi_procs_output(&out);
    mpi_line_init(&out);
    output_init(&mpi_world.output, &out);
    mpi_clock_init(o);
    mpi_costs_init(&o->platform);
    if (o->factor > 0)
        mpi_emulate_init(o);
    if (o->needs & MPI_NEED_TYPE_KEYS)
        mpi_type_stop_sharing();
    mpi_stats_init(o->detail);
    if (o->check_leaks)
        mpi_leaks_init();
    mpi_comm_init(mpi_world.size);
    if (o->trace_path[0] && mpi_record_begin(&err) != ERR_OK)
        log_fatal_input("%s", err.text);
}

/* What users ask of the library by the environment, which the command has checked. */
static void read_environment(void)
{
    struct err err;

    if (log_modules_init(&err) != ERR_OK)
        log_fatal_input("%s", err.text);
    (void)mem_fail_at(getenv(ENV_FAIL_ALLOCATION));
}

int vp_takeover(void)
{
    double start = wall();
    enum engine_end end;

    read_environment();
    map_page();
    map_machine();
    set_up();
    mpi_stop_init();
    mpi_memory_init();
    next.early = 1;
    mpi_world.page->end.startup_s = wall() - start;
    end = engine_run(&mpi_world.engine);
    mpi_world.page->now.ended = 1;
    if (end == ENGINE_END_STOPPED && mpi_procs_stopped()->cause == RUN_CAUSE_NONE)
        mpi_stop();
    mpi_run_progress();
    mpi_end(&mpi_run.end, end);
}
