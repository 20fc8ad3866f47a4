/*
 * team.c - several processes: joining, output, progress, and ending together.
 *
 * Output: each process sends process 0 the lines that none of its ranks can precede any more,
 * together with that bound; process 0 writes what is before the smallest bound of all.
 *
 * Ending early (a crash, a signal, out of memory): the process that finds out tells process 0,
 * which tells all; all then end as in a regular run. Those that do not answer are left to the
 * launcher, which ends them when process 0 is gone.
 */
#include "mpi/team.h"

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
    struct mpi_team_stop stop;
    struct mpi_team_status others;  /* process 0: the sum of ... */
    struct mpi_team_status *status; /* ... the last status of each process, ... */
    vtime *bounds;                  /* ... what it will not write before, ... */
    uint64_t *taken;                /* ... how many lines of it have come, ... */
    struct spawns *spawns;          /* ... its spawned ranks ... */
    struct buf *parts;              /* ... and its part of the result */
    uint8_t *has_part;
    uint32_t part_count;
    int all_parts;
    int has_result, result[2]; /* exit status, and whether all processes answered */
} team;

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
    procs_note(&team.procs, to, tag, native_copy(data, bytes), bytes);
}

static void note_all(int tag, const void *data, size_t bytes)
{
    for (uint32_t q = 1; q < team.procs.cfg.link.procs; q++)
        note(q, tag, data, bytes);
}

/* ---- output ---- */

static void ship(void)
{
    if (team.ship.len)
        note(0, MPI_TEAM_OUTPUT, team.ship.data, team.ship.len);
    buf_clear(&team.ship);
}

static void ship_line(void *owner, uint64_t rank, vtime when, int fd, const char *text, size_t n)
{
    struct shipped s = {when, rank, (uint32_t)fd, (uint32_t)n};

    (void)owner;
    if (team.ledger)
        output_ledger_add(team.ledger, team.shipped, rank, when, fd, text, n);
    team.shipped++;
    buf_add(&team.ship, &s, sizeof s);
    buf_add(&team.ship, text, n);
    if (team.ship.len > SHIP_MAX)
        ship();
}

void mpi_team_keep(int fd, off_t at)
{
    off_t size = lseek(fd, 0, SEEK_END);
    void *map = MAP_FAILED;

    if (size >= at + (off_t)OUTPUT_LEDGER_BYTES)
        map = mmap(NULL, OUTPUT_LEDGER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
    if (map != MAP_FAILED)
        team.ledger = map;
}

void mpi_team_output(struct output_config *cfg)
{
    if (team.ledger)
        atomic_store(&team.ledger->proc, (uint64_t)me() + 1);
    if (team.on && me() != 0)
        cfg->record = ship_line;
}

/* A process's bound on its future output, except for ranks whose spawn message is in flight. */
static void take_bound(uint32_t from, vtime bound, uint64_t known)
{
    struct spawns *b = &team.spawns[from];

    if (known == b->sent)
        b->first = VTIME_NEVER;
    team.bounds[from] = bound < b->first ? bound : b->first;
}

void team_spawned(uint32_t rank, vtime when)
{
    uint32_t proc = rank_map_proc(mpi_rank_map(), rank);
    struct spawns *b;

    if (proc == me())
        return;
    b = &team.spawns[proc];
    b->sent++;
    if (when < b->first)
        b->first = when;
    if (when < team.bounds[proc])
        team.bounds[proc] = when;
}

/* Those lines are in the book now: their process need not keep them any longer. */
static void acknowledge(uint32_t from, uint64_t lines)
{
    uint64_t *taken = &team.taken[from];

    *taken += lines;
    if (lines == 0)
        return;
    if (team.ledger && from < OUTPUT_LEDGER_PROCS)
        atomic_store(&team.ledger->taken[from], *taken);
    note(from, MPI_TEAM_TAKEN, taken, sizeof *taken);
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

void mpi_team_release(vtime bound)
{
    struct shipped s = {.when = bound, .rank = engine_spares_started(&mpi_world.engine)};

    if (!team.on) {
        output_release(&mpi_world.output, bound);
        return;
    }
    if (me() != 0) {
        output_release(&mpi_world.output, bound);
        if (bound == team.bound && !team.ship.len)
            return;
        team.bound = bound;
        buf_add(&team.ship, &s, sizeof s);
        ship();
        return;
    }
    for (uint32_t q = 1; q < mpi_rank_map()->procs; q++)
        if (team.bounds[q] < bound)
            bound = team.bounds[q];
    output_release(&mpi_world.output, bound);
}

/* ---- progress ---- */

static void add_status(struct mpi_team_status *to, const struct mpi_team_status *s)
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
    vtime latest = team.others.clock;

    memcpy(&team.status[from], data, sizeof team.status[from]);
    if (from != mpi_rank_map()->procs - 1)
        return; /* they all report equally often: sum them up once in a while */
    memset(&team.others, 0, sizeof team.others);
    team.others.clock = latest;
    for (uint32_t q = 1; q < mpi_rank_map()->procs; q++)
        add_status(&team.others, &team.status[q]);
}

void mpi_team_report(struct mpi_team_status *mine)
{
    if (!team.on)
        return;
    if (me() != 0) {
        if (wall() < team.next_report)
            return;
        team.next_report = wall() + REPORT_SECONDS;
        mine->memory = mem_peak_rss();
        note(0, MPI_TEAM_STATUS, mine, sizeof *mine);
        return;
    }
    add_status(mine, &team.others);
}

void team_item(uint32_t to, int tag, const void *data, size_t bytes)
{
    procs_item(&team.procs, to, tag, native_copy(data, bytes), bytes);
}

/* ---- ending ---- */

void mpi_team_abort(struct engine_due when)
{
    for (uint32_t q = 0; team.on && q < mpi_rank_map()->procs; q++)
        if (q != me())
            mpi_team_item(q, MPI_TEAM_ABORT, &when, sizeof when);
}

static void take_stop(const struct mpi_team_stop *stop)
{
    if (team.stop.cause == RUN_CAUSE_SIGNAL && strchr(stop->text, '\n'))
        memcpy(team.stop.text, stop->text,
               sizeof stop->text); /* all got the signal; this process knows where it was */
    if (team.stop.cause != RUN_CAUSE_NONE)
        return;
    team.stop = *stop;
    engine_stop(&mpi_world.engine);
    if (team.on && me() == 0)
        note_all(MPI_TEAM_STOP, stop, sizeof *stop);
}

/* Handles messages until *done is set, or the time is up (0: no limit). */
static int wait_for(const int *done, double seconds)
{
    double end = wall() + seconds;
    unsigned tries = 0;

    while (!*done && (seconds == 0 || wall() < end)) {
        if (procs_receive(&team.procs))
            tries = 0;
        else
            procs_pause(&team.procs, &tries);
    }
    return *done;
}

void mpi_team_end_early(const struct mpi_team_stop *stop)
{
    if (!team.on || me() == 0) {
        take_stop(stop);
        return;
    }
    if (team.stop.cause != RUN_CAUSE_NONE)
        return;
    note(0, MPI_TEAM_STOP, stop, sizeof *stop);
    wait_for(&team.stop.cause, STOP_SECONDS);
    if (team.stop.cause != RUN_CAUSE_NONE)
        return;
    team.stop = *stop; /* process 0 is busy: it will not report why */
    if (stop->text[0])
        log_error("%.*s", (int)strcspn(stop->text, "\n"), stop->text);
}

void mpi_team_threads(void)
{
    if (team.on)
        procs_spread(&team.procs);
}

uint64_t mpi_team_batches(void)
{
    return team.procs.batches;
}

const struct mpi_team_stop *mpi_team_stopped(void)
{
    return &team.stop;
}

static void take_part(uint32_t from, const void *data, size_t bytes)
{
    buf_add(&team.parts[from], data, bytes);
    if (!team.has_part[from]) {
        team.has_part[from] = 1;
        team.part_count++;
        team.all_parts = team.part_count == mpi_rank_map()->procs - 1;
    }
}

/* How long to wait for others at the end; 0: as long as it takes. */
static double patience(void)
{
    return team.stop.cause == RUN_CAUSE_NONE ? 0 : STOP_SECONDS;
}

int mpi_team_gather(struct buf *parts)
{
    if (!team.on)
        return 1;
    if (me() != 0) {
        ship();
        note(0, MPI_TEAM_PART, parts->data, parts->len);
        return 1;
    }
    wait_for(&team.all_parts, patience());
    for (uint32_t q = 1; q < mpi_rank_map()->procs; q++)
        parts[q] = team.parts[q];
    return team.all_parts;
}

int mpi_team_part(int *status, int complete)
{
    const struct native_link *link = &team.procs.cfg.link;

    if (!team.on)
        return 1;
    if (me() == 0) {
        int32_t result[2] = {*status, complete};

        note_all(MPI_TEAM_RESULT, result, sizeof result);
    } else if (wait_for(&team.has_result, patience())) {
        *status = team.result[0];
        complete = team.result[1];
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
    static struct mpi_team_stop stop; /* too large for a stack */
    struct engine_due abort;
    uint64_t taken;

    (void)owner;
    switch ((enum mpi_team_tag)tag) {
    case MPI_TEAM_OUTPUT:
        take_output(from, data, bytes);
        break;
    case MPI_TEAM_TAKEN:
        memcpy(&taken, data, sizeof taken);
        if (team.ledger)
            output_ledger_drop(team.ledger, taken);
        break;
    case MPI_TEAM_STATUS:
        take_status(from, data);
        break;
    case MPI_TEAM_STOP:
        memcpy(&stop, data, sizeof stop);
        take_stop(&stop);
        break;
    case MPI_TEAM_PART:
        take_part(from, data, bytes);
        break;
    case MPI_TEAM_RESULT:
        memcpy(team.result, data, sizeof team.result);
        team.has_result = 1;
        break;
    case MPI_TEAM_COMM:
        mpi_comm_learn(data, bytes);
        break;
    case MPI_TEAM_VERIFY:
        mpi_verify_learn(data, bytes);
        break;
    case MPI_TEAM_ABORT:
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
static const struct rank_map_part *make_parts(const struct run_options *o)
{
    struct rank_map_part *parts = mem_alloc(o->app_count * sizeof *parts), next = {0};

    for (uint32_t i = 0; i < o->app_count; i++) {
        next.count = o->apps[i].ranks;
        next.procs = o->apps[i].procs;
        parts[i] = next;
        next.first += next.count;
        next.proc += next.procs;
    }
    return parts;
}

/* Which ranks are here. A process runs one program, so it must be the one for these ranks. */
static void assign_ranks(const struct run_options *o, struct rank_map *map, uint32_t proc)
{
    const struct rank_map_part *parts;

    if (o->app_count <= 1) {
        rank_map_init(map, (enum rank_map_kind)o->placement, (uint32_t)o->ranks, o->procs, proc,
                      o->placement == RANK_MAP_LIST ? map_owners(o) : NULL);
        return;
    }
    parts = make_parts(o);
    if (proc - parts[o->app].proc >= parts[o->app].procs)
        log_fatal("the launcher said that this was a process of program %u, but it is process %u; "
                  "see --launcher",
                  o->app, proc);
    rank_map_init_parts(map, (enum rank_map_kind)o->placement, parts, o->app_count, proc);
}

void mpi_team_open(const struct run_options *o, struct rank_map *map)
{
    struct procs_config cfg = {.engine = &mpi_world.engine, .note = take_note};
    struct err err;

    if (o->live) {
        cfg.link = mpi_live_open(o);
        cfg.is_stuck = mpi_live_is_stuck;
    }
    if (o->procs <= 1) {
        rank_map_init(map, RANK_MAP_BLOCK, (uint32_t)o->ranks, 1, 0, NULL);
        rank_map_add_spares(map, mpi_world.room - mpi_world.size);
        return;
    }
    if (!o->live && native_open(&cfg.link, o->native_path, &err) != ERR_OK)
        log_fatal("%s", err.text);
    if (cfg.link.procs != o->procs)
        log_fatal("the launcher started %u processes instead of %u; see --launcher", cfg.link.procs,
                  o->procs);
    assign_ranks(o, map, cfg.link.proc);
    rank_map_add_spares(map, mpi_world.room - mpi_world.size);
    procs_init(&team.procs, &cfg);
    team.on = 1;
    buf_init(&team.ship);
    if (cfg.link.proc == 0) {
        team.status = mem_zalloc(o->procs * sizeof *team.status);
        team.bounds = mem_zalloc(o->procs * sizeof *team.bounds);
        team.spawns = mem_zalloc(o->procs * sizeof *team.spawns);
        team.taken = mem_zalloc(o->procs * sizeof *team.taken);
        for (uint32_t q = 0; q < o->procs; q++)
            team.spawns[q].first = VTIME_NEVER;
        team.parts = mem_zalloc(o->procs * sizeof *team.parts);
        team.has_part = mem_zalloc(o->procs);
    }
}

const struct engine_peers *mpi_team_peers(void)
{
    return team.on ? &team.procs.peers : NULL;
}
