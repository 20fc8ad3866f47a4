/*
 * Random point-to-point programs on the real middleware (src/mpi, src/engine, src/net), compared to
 * the picosecond with a sequential simulator that shares nothing with it (match_oracle.h).
 *
 * Ranks are coroutines that stand in for the fibres of vp. Every program runs with the plain and
 * with random schedules of the engine; all must see the same sources, tags, payloads, flags and
 * clocks as the oracle, also where the program deadlocks. With latency and overheads all 0 the
 * order at equal times is the engine's own: there the schedules are compared with each other.
 *
 *     prop_match [programs [first-seed]]      a single program is printed if it fails
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "match_oracle.h"
#include "match_program.h"
#include "mpi/clock.h"
#include "mpi/comm/comm.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/p2p/posted.h"
#include "mpi/stats.h"
#include "mpi_impl.h"
#include "engine_fini.h"
#include "tap.h"

enum { STACK = 128 << 10, SCHEDULES = 4 };

static void rank_main(int rank);
#include "match_rank.h"

/* ---- one run ---- */

static struct run_page page;

static int resume(void *owner, uint32_t id)
{
    (void)owner;
    return vp_resume(&mpi_world.ranks[id].vp);
}

static const struct engine_ops ops = {.resume = resume};

static void world_make(void)
{
    mpi_world.page = &page;
    mpi_world.opt = &page.opt;
    mpi_world.size = mpi_world.room = RANKS_MAX;
    rank_map_init(&mpi_world.engine.cfg.map, RANK_MAP_BLOCK, RANKS_MAX, 1, 0, NULL);
    platform_config_init(&page.opt.platform);
    strcpy(page.opt.platform.net_model, "constant");
    page.opt.compute = RUN_COMPUTE_NONE;
    mpi_world.ranks = mem_map(RANKS_MAX * sizeof(struct mpi_rank), 1);
    pool_init(&mpi_world.pool, "extras");
    mpi_stats_init(0);
    mpi_comm_init(RANKS_MAX);
    comms[0] = MPI_COMM_WORLD;
    vp_private.current = &mpi_world.ranks[0].vp;
    comms[1] = mpi_comm_new(mpi_comm_group_ref(&mpi_world.ranks[0], mpi_comm_get(MPI_COMM_WORLD)),
                            MPI_ERRORS_ARE_FATAL)
                   ->handle;
    vp_private.current = NULL;
    standin_init();
}

static void machine_set(void)
{
    struct platform_config *c = &page.opt.platform;
    struct err err;

    c->net_latency = params.latency;
    c->net_bandwidth = params.bandwidth;
    c->mpi_send_overhead = params.send_overhead;
    c->mpi_recv_overhead = params.recv_overhead;
    c->mpi_test_cost = params.test_cost;
    c->mpi_eager_limit = EAGER_LIMIT;
    page.opt.needs = params.cancel ? MPI_NEED_CANCEL : 0;
    if (mpi_world.net.ops)
        net_fini(&mpi_world.net);
    mpi_world.machine.config = *c;
    if (net_init(&mpi_world.net, &mpi_world.machine, params.ranks, &err) != 0)
        abort();
    mpi_p2p_init((struct device){mpi_world.net.device, &mpi_world.engine, &mpi_world.net},
                 EAGER_LIMIT);
    mpi_clock_init(&page.opt);
    mpi_costs_init(c);
}

/* Runs the program with a schedule (0: FIFO); the number of ranks that came to their end. */
static int simulate(uint64_t schedule)
{
    struct engine_config eng = {.base = mpi_world.ranks,
                                .stride = sizeof(struct mpi_rank),
                                .random = schedule != 0,
                                .seed = schedule,
                                .ops = &ops,
                                .lookahead = mpi_world.net.lookahead};
    int done = 0;

    memset(mpi_world.ranks, 0, RANKS_MAX * sizeof(struct mpi_rank));
    pool_fini(&mpi_world.pool);
    pool_init(&mpi_world.pool, "extras");
    rank_map_init(&eng.map, RANK_MAP_BLOCK, RANKS_MAX, 1, 0, NULL);
    engine_init(&mpi_world.engine, &eng);
    for (int k = 0; k < RANKS_MAX; k++) {
        logs[k].count = ended[k] = 0;
        for (int i = 0; i < SLOTS; i++)
            slots[k][i].request = MPI_REQUEST_NULL;
    }
    engine_run(&mpi_world.engine);
    for (int k = 0; k < params.ranks; k++) {
        done += ended[k];
        if (!ended[k])
            clocks[k] = mpi_world.ranks[k].ent.clock;
    }
    engine_fini(&mpi_world.engine);
    return done;
}

/* ---- comparing ---- */

static int verbose;

static int same(const char *what, const struct log *want, const vtime *want_clocks)
{
    int good = corrupt == 0;

    if (corrupt)
        diag("seed %llu: corrupt payload", (unsigned long long)params.seed);
    for (int k = 0; k < params.ranks; k++) {
        const struct log *a = &logs[k], *b = &want[k];
        int i = 0;

        while (i < a->count && i < b->count && a->at[i] == b->at[i])
            i++;
        if (i == a->count && i == b->count && clocks[k] == want_clocks[k])
            continue;
        good = 0;
        diag("seed %llu%s, %s: rank %d differs at entry %d of %d/%d: %lld, expected %lld; "
             "clock %lld, expected %lld",
             (unsigned long long)params.seed, params.cancel ? " (cancels)" : "", what, k, i,
             a->count, b->count, i < a->count ? (long long)a->at[i] : -99,
             i < b->count ? (long long)b->at[i] : -99, (long long)clocks[k],
             (long long)want_clocks[k]);
    }
    return good;
}

static void params_make(uint64_t seed, int cancel)
{
    static const vtime latencies[] = {0, 1, 1000, 50000, 1000000};
    struct rng r;

    rng_seed(&r, seed * 77 + 1);
    params = (struct params){.seed = seed, .ranks = 2 + (int)rng_below(&r, 5)};
    params.latency = latencies[rng_below(&r, 5)];
    params.bandwidth = rng_below(&r, 2) ? INFINITY : rng_below(&r, 2) ? 8e9 : 8e10;
    params.test_cost = 1 + (vtime)rng_below(&r, 3000);
    if (params.latency == 0 || rng_below(&r, 2)) {
        params.send_overhead = 1 + (vtime)rng_below(&r, 700);
        params.recv_overhead = 1 + (vtime)rng_below(&r, 700);
    }
    params.cancel = cancel;
    params.polls = rng_below(&r, 4) != 0;
    params.wildcards = rng_below(&r, 5) != 0;
}

static struct oracle oracle;
static int complete;

static int check(uint64_t seed, int cancel)
{
    static struct log want[RANKS_MAX];
    vtime want_clocks[RANKS_MAX];
    int good = 1;

    params_make(seed, cancel);
    program_make(&program, &params);
    machine_set();
    complete += oracle_run(&oracle, &params, &program, want, want_clocks) == params.ranks;
    for (uint64_t s = 0; s < SCHEDULES && good; s++) {
        char what[32];
        snprintf(what, sizeof what, "schedule %llu", (unsigned long long)s);
        simulate(s ? seed * 100 + s : 0);
        good = same(what, want, want_clocks);
    }
    if (!good && verbose)
        program_print(&program, &params);
    return good;
}

/* Everything happens at the same few times: only schedules are compared. */
static int check_instant(uint64_t seed)
{
    static struct log want[RANKS_MAX];
    vtime want_clocks[RANKS_MAX];
    int good = 1;

    params_make(seed, 0);
    params.latency = params.send_overhead = params.recv_overhead = 0;
    params.test_cost = 1000;
    params.bandwidth = INFINITY;
    program_make(&program, &params);
    machine_set();
    for (uint64_t s = 0; s < 2 * SCHEDULES && good; s++) {
        simulate(s ? seed * 100 + s : 0);
        if (s == 0) {
            memcpy(want, logs, sizeof want);
            memcpy(want_clocks, clocks, sizeof want_clocks);
        }
        good = same("instant", want, want_clocks);
    }
    return good;
}

/* Runs `how` for the seeds, up to 20 failures. */
static void check_all(uint64_t first, uint64_t programs, int (*how)(uint64_t), const char *name)
{
    long long bad = 0;

    for (uint64_t i = 0; i < programs && bad < 20; i++)
        bad += !how(first + i);
    is_int(bad, 0, name);
}

static int check_plain(uint64_t seed)
{
    return check(seed, 0);
}

static int check_cancels(uint64_t seed)
{
    return check(seed, 1);
}

int main(int argc, char **argv)
{
    uint64_t programs = argc > 1 ? strtoull(argv[1], NULL, 0) : 1500;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

    plan_auto();
    verbose = programs == 1;
    world_make();
    diag("seeds %llu to %llu", (unsigned long long)first,
         (unsigned long long)(first + programs - 1));
    check_all(first, programs, check_plain, "programs do what the oracle says, in any schedule");
    ok(complete * 5 >= (int)programs || verbose, "enough of them come to their end: %d", complete);
    check_all(first, (programs + 1) / 2, check_cancels, "so do programs that cancel receives");
    check_all(first, (programs + 1) / 2, check_instant, "without latency all schedules agree");
    mpi_posted_index_above = 1;
    check_all(first, (programs + 1) / 2, check_plain, "the same with an index of posted receives");
    check_all(first, (programs + 1) / 4, check_cancels, "and with cancelled ones");
    net_fini(&mpi_world.net);
    return done_testing();
}
