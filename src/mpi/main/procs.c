/*
 * procs.c - several processes: joining, output, progress, and ending together.
 *
 * Output: each process sends process 0 the lines that none of its ranks can precede any more,
 * together with that bound; process 0 writes what is before the smallest bound of all.
 *
 * Ending early (a crash, a signal, out of memory): the process that finds out tells process 0,
 * which tells all; all then end as in a regular run. Those that do not answer are left to the
 * launcher, which ends them when process 0 is gone.
 */
#include "mpi/procs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "engine/output_ledger.h"
#include "mpi/comm/comm.h"
#include "mpi/create/create.h"
#include "mpi/main/live.h"
#include "mpi/main/run.h"
#include "mpi/stats.h"
#include "mpi/verify.h"

#define SHIP_MAX ((size_t)1 << 20)
#define REPORT_SECONDS 0.25
#define STOP_SECONDS 3.0 /* how long others have to answer after an early end */

/* A line of output in flight, followed by its bytes; or a bound. */
struct shipped {
    vtime when;
    uint64_t rank; /* of a bound: how many spawned ranks it knows of */
    uint32_t fd;   /* 0: a bound */
    uint32_t bytes;
};

/* What process 0 knows about ranks being spawned in another process. */
struct spawns {
    uint64_t sent;
    vtime first; /* of those that the process has not confirmed */
};

static struct {
    struct procs procs;
    int on;                       /* there are others */
    struct buf ship;              /* lines for process 0 */
    uint64_t shipped;             /* how many there were so far */
    struct output_ledger *ledger; /* where they are until it has them, or NULL */
    vtime bound;                  /* last sent to process 0 */
    double next_report;
    struct mpi_procs_stop stop;
    /* Process 0, of each process: */
    struct mpi_procs_status *status; /* its last status */
    struct mpi_procs_status others;  /* the sum of these */
    vtime *bounds;                   /* it writes nothing before this time any more */
    uint64_t *taken;                 /* lines of it that have come */
    struct spawns *spawns;           /* its spawned ranks */
    struct buf *gathered;            /* its contribution to the result */
    uint8_t *has_given;
    uint32_t given_count;
    int all_given;
    int has_result, result[2]; /* exit status, and whether all processes answered */
} state;

static uint32_t me(void)
{
    return mpi_rank_map()->proc;
}

static double wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void note(uint32_t to, int tag, const void *data, size_t bytes)
{
    procs_note(&state.procs, to, tag, proc_link_copy(data, bytes), bytes);
}

static void note_all(int tag, const void *data, size_t bytes)
{
    for (uint32_t q = 1; q < state.procs.cfg.link.procs; q++)
        note(q, tag, data, bytes);
}

/* ---- output ---- */

static void ship(void)
{
    if (state.ship.len)
        note(0, MPI_PROCS_OUTPUT, state.ship.data, state.ship.len);
    buf_clear(&state.ship);
}

static void ship_line(void *owner, uint64_t rank, vtime when, int fd, const char *text, size_t n)
{
    struct shipped s = {when, rank, (uint32_t)fd, (uint32_t)n};

    (void)owner;
    if (state.ledger)
        output_ledger_add(state.ledger, state.shipped, rank, when, fd, text, n);
    state.shipped++;
    buf_add(&state.ship, &s, sizeof s);
    buf_add(&state.ship, text, n);
    if (state.ship.len > SHIP_MAX)
        ship();
}

void mpi_procs_keep(int fd, off_t at)
{
    off_t size = lseek(fd, 0, SEEK_END);
    void *map = MAP_FAILED;

    if (size >= at + (off_t)OUTPUT_LEDGER_BYTES)
        map = mmap(NULL, OUTPUT_LEDGER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
    if (map != MAP_FAILED)
        state.ledger = map;
}

void mpi_procs_output(struct output_config *cfg)
{
    if (state.ledger)
        atomic_store(&state.ledger->proc, (uint64_t)me() + 1);
    if (state.on && me() != 0)
        cfg->record = ship_line;
}

/* A process's bound on its future output, except for ranks whose spawn message is in flight. */
static void take_bound(uint32_t from, vtime bound, uint64_t known)
{
    struct spawns *b = &state.spawns[from];

    if (known == b->sent)
        b->first = VTIME_NEVER;
    state.bounds[from] = bound < b->first ? bound : b->first;
}

void run_spawned(uint32_t rank, vtime when)
{
    uint32_t proc = rank_map_proc(mpi_rank_map(), rank);
    struct spawns *b;

    if (proc == me())
        return;
    b = &state.spawns[proc];
    b->sent++;
    if (when < b->first)
        b->first = when;
    if (when < state.bounds[proc])
        state.bounds[proc] = when;
}

/* Those lines are in the book now: their process need not keep them any longer. */
static void acknowledge(uint32_t from, uint64_t lines)
{
    uint64_t *taken = &state.taken[from];

    *taken += lines;
    if (lines == 0)
        return;
    if (state.ledger && from < OUTPUT_LEDGER_PROCS)
        atomic_store(&state.ledger->taken[from], *taken);
    note(from, MPI_PROCS_TAKEN, taken, sizeof *taken);
}

static void take_output(uint32_t from, const char *data, size_t bytes)
{
    uint64_t lines = 0;
    struct shipped s;

    for (size_t at = 0; at < bytes; at += s.bytes) {
        memcpy(&s, data + at, sizeof s);
        at += sizeof s;
        lines += s.fd != 0;
        if (s.fd)
            output_add_line(&mpi_world.output, s.rank, s.when, (int)s.fd, data + at, s.bytes);
        else
            take_bound(from, s.when, s.rank);
    }
    acknowledge(from, lines);
    engine_idle_often(&mpi_world.engine, 1);
}

void mpi_procs_release(vtime bound)
{
    struct shipped s = {.when = bound, .rank = engine_spares_started(&mpi_world.engine)};

    if (!state.on) {
        output_release(&mpi_world.output, bound);
        return;
    }
    if (me() != 0) {
        output_release(&mpi_world.output, bound);
        if (bound == state.bound && !state.ship.len)
            return;
        state.bound = bound;
        buf_add(&state.ship, &s, sizeof s);
        ship();
        return;
    }
    for (uint32_t q = 1; q < mpi_rank_map()->procs; q++)
        if (state.bounds[q] < bound)
            bound = state.bounds[q];
    output_release(&mpi_world.output, bound);
}

/* ---- progress ---- */

static void add_status(struct mpi_procs_status *to, const struct mpi_procs_status *s)
{
    to->ranks_started += s->ranks_started;
    to->ranks_done += s->ranks_done;
    to->messages += s->messages;
    to->bytes += s->bytes;
    to->memory += s->memory;
    if (s->clock > to->clock)
        to->clock = s->clock;
}

static void take_status(uint32_t from, const void *data)
{
    vtime latest = state.others.clock;

    memcpy(&state.status[from], data, sizeof state.status[from]);
    if (from != mpi_rank_map()->procs - 1)
        return; /* they all report equally often: sum them up once in a while */
    memset(&state.others, 0, sizeof state.others);
    state.others.clock = latest;
    for (uint32_t q = 1; q < mpi_rank_map()->procs; q++)
        add_status(&state.others, &state.status[q]);
}

void mpi_procs_report(struct mpi_procs_status *mine)
{
    if (!state.on)
        return;
    if (me() != 0) {
        if (wall() < state.next_report)
            return;
        state.next_report = wall() + REPORT_SECONDS;
        mine->memory = mem_peak_rss();
        note(0, MPI_PROCS_STATUS, mine, sizeof *mine);
        return;
    }
    add_status(mine, &state.others);
}

void run_item(uint32_t to, int tag, const void *data, size_t bytes)
{
    procs_item(&state.procs, to, tag, proc_link_copy(data, bytes), bytes);
}

/* ---- ending ---- */

void mpi_procs_abort(struct engine_due when)
{
    for (uint32_t q = 0; state.on && q < mpi_rank_map()->procs; q++)
        if (q != me())
            mpi_procs_item(q, MPI_PROCS_ABORT, &when, sizeof when);
}

static void take_stop(const struct mpi_procs_stop *stop)
{
    if (state.stop.cause == RUN_CAUSE_SIGNAL && strchr(stop->text, '\n'))
        memcpy(state.stop.text, stop->text,
               sizeof stop->text); /* all got the signal; this process knows where it was */
    if (state.stop.cause != RUN_CAUSE_NONE)
        return;
    state.stop = *stop;
    engine_stop(&mpi_world.engine);
    if (state.on && me() == 0)
        note_all(MPI_PROCS_STOP, stop, sizeof *stop);
}

/* Handles messages until *done is set, or the time is up (0: no limit). */
static int wait_for(const int *done, double seconds)
{
    double end = wall() + seconds;
    unsigned tries = 0;

    while (!*done && (seconds == 0 || wall() < end)) {
        if (procs_receive(&state.procs))
            tries = 0;
        else
            procs_pause(&state.procs, &tries);
    }
    return *done;
}

void mpi_procs_end_early(const struct mpi_procs_stop *stop)
{
    if (!state.on || me() == 0) {
        take_stop(stop);
        return;
    }
    if (state.stop.cause != RUN_CAUSE_NONE)
        return;
    note(0, MPI_PROCS_STOP, stop, sizeof *stop);
    wait_for(&state.stop.cause, STOP_SECONDS);
    if (state.stop.cause != RUN_CAUSE_NONE)
        return;
    state.stop = *stop; /* process 0 is busy: it will not report why */
    if (stop->text[0])
        log_error("%.*s", (int)strcspn(stop->text, "\n"), stop->text);
}

void mpi_procs_threads(void)
{
    if (state.on)
        procs_spread(&state.procs);
}

uint64_t mpi_procs_batches(void)
{
    return state.procs.batches;
}

const struct mpi_procs_stop *mpi_procs_stopped(void)
{
    return &state.stop;
}

static void take_part(uint32_t from, const void *data, size_t bytes)
{
    buf_add(&state.gathered[from], data, bytes);
    if (!state.has_given[from]) {
        state.has_given[from] = 1;
        state.given_count++;
        state.all_given = state.given_count == mpi_rank_map()->procs - 1;
    }
}

/* How long to wait for others at the end; 0: as long as it takes. */
static double patience(void)
{
    return state.stop.cause == RUN_CAUSE_NONE ? 0 : STOP_SECONDS;
}

int mpi_procs_gather(struct buf *parts)
{
    if (!state.on)
        return 1;
    if (me() != 0) {
        ship();
        note(0, MPI_PROCS_GATHER, parts->data, parts->len);
        return 1;
    }
    wait_for(&state.all_given, patience());
    for (uint32_t q = 1; q < mpi_rank_map()->procs; q++)
        parts[q] = state.gathered[q];
    return state.all_given;
}

int mpi_procs_leave(int *status, int complete)
{
    const struct proc_link *link = &state.procs.cfg.link;

    if (!state.on)
        return 1;
    if (me() == 0) {
        int32_t result[2] = {*status, complete};

        note_all(MPI_PROCS_RESULT, result, sizeof result);
    } else if (wait_for(&state.has_result, patience())) {
        *status = state.result[0];
        complete = state.result[1];
    } else {
        complete = 0;
    }
    if (complete)
        link->close(link->owner);
    return complete;
}

/* ---- messages from others ---- */

static void take_note(void *owner, uint32_t from, int tag, const void *data, size_t bytes)
{
    static struct mpi_procs_stop stop; /* too large for a stack */
    struct engine_due abort;
    uint64_t taken;

    (void)owner;
    switch ((enum mpi_procs_tag)tag) {
    case MPI_PROCS_OUTPUT:
        take_output(from, data, bytes);
        break;
    case MPI_PROCS_TAKEN:
        memcpy(&taken, data, sizeof taken);
        if (state.ledger)
            output_ledger_drop(state.ledger, taken);
        break;
    case MPI_PROCS_STATUS:
        take_status(from, data);
        break;
    case MPI_PROCS_STOP:
        memcpy(&stop, data, sizeof stop);
        take_stop(&stop);
        break;
    case MPI_PROCS_GATHER:
        take_part(from, data, bytes);
        break;
    case MPI_PROCS_RESULT:
        memcpy(state.result, data, sizeof state.result);
        state.has_result = 1;
        break;
    case MPI_PROCS_COMM:
        mpi_comm_learn(data, bytes);
        break;
    case MPI_PROCS_VERIFY:
        mpi_verify_learn(data, bytes);
        break;
    case MPI_PROCS_ABORT:
        memcpy(&abort, data, sizeof abort);
        engine_abort_elsewhere(&mpi_world.engine, abort);
        break;
    }
}

/* ---- joining ---- */

/* The process of each rank, as the command has computed it. */
static const uint32_t *map_owners(const struct run_options *o)
{
    size_t bytes = (size_t)o->ranks * sizeof(uint32_t);
    void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, o->rank_map_fd, 0);
    uint32_t *owners;

    if (map == MAP_FAILED)
        log_fatal("the placement of ranks cannot be read");
    sys_close(o->rank_map_fd);
    if (!arena_is_open())
        return map;
    /* In memory that the ranks' processes see, too. */
    owners = memcpy(mem_alloc(bytes), map, bytes);
    munmap(map, bytes);
    return owners;
}

/* In memory that the ranks' processes see, too. */
static const struct rank_map_section *make_sections(const struct run_options *o)
{
    struct rank_map_section *sections = mem_alloc(o->app_count * sizeof *sections), next = {0};

    for (uint32_t i = 0; i < o->app_count; i++) {
        next.count = o->apps[i].ranks;
        next.procs = o->apps[i].procs;
        sections[i] = next;
        next.first += next.count;
        next.proc += next.procs;
    }
    return sections;
}

/* Which ranks are here. A process runs one program, so it must be the one for these ranks. */
static void assign_ranks(const struct run_options *o, struct rank_map *map, uint32_t proc)
{
    const struct rank_map_section *sections;

    if (o->app_count <= 1) {
        rank_map_init(map, (enum rank_map_kind)o->placement, (uint32_t)o->ranks, o->procs, proc,
                      o->placement == RANK_MAP_LIST ? map_owners(o) : NULL);
        return;
    }
    sections = make_sections(o);
    if (proc - sections[o->app].proc >= sections[o->app].procs)
        log_fatal("the launcher said that this was a process of program %u, but it is process %u; "
                  "see --launcher",
                  o->app, proc);
    rank_map_init_sections(map, (enum rank_map_kind)o->placement, sections, o->app_count, proc);
}

void mpi_procs_open(const struct run_options *o, struct rank_map *map)
{
    struct procs_config cfg = {.engine = &mpi_world.engine,
                               .note = take_note,
                               .in_step = mpi_world.net.ops->medium != NULL};
    struct err err;

    if (o->live) {
        cfg.link = mpi_live_open(o);
        cfg.is_stuck = mpi_live_is_stuck;
        cfg.asks = mpi_live_asks;
    }
    if (o->procs <= 1) {
        rank_map_init(map, RANK_MAP_BLOCK, (uint32_t)o->ranks, 1, 0, NULL);
        rank_map_add_spares(map, mpi_world.room - mpi_world.size);
        return;
    }
    if (!o->live && proc_link_open(&cfg.link, o->native_path, &err) != ERR_OK)
        log_fatal("%s", err.text);
    if (cfg.link.procs != o->procs)
        log_fatal("the launcher started %u processes instead of %u; see --launcher", cfg.link.procs,
                  o->procs);
    assign_ranks(o, map, cfg.link.proc);
    rank_map_add_spares(map, mpi_world.room - mpi_world.size);
    procs_init(&state.procs, &cfg);
    state.on = 1;
    buf_init(&state.ship);
    if (cfg.link.proc == 0) {
        state.status = mem_zalloc(o->procs * sizeof *state.status);
        state.bounds = mem_zalloc(o->procs * sizeof *state.bounds);
        state.spawns = mem_zalloc(o->procs * sizeof *state.spawns);
        state.taken = mem_zalloc(o->procs * sizeof *state.taken);
        for (uint32_t q = 0; q < o->procs; q++)
            state.spawns[q].first = VTIME_NEVER;
        state.gathered = mem_zalloc(o->procs * sizeof *state.gathered);
        state.has_given = mem_zalloc(o->procs);
    }
}

const struct engine_peers *mpi_procs_peers(void)
{
    return state.on ? &state.procs.peers : NULL;
}
