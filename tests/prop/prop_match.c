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
#include "vp_standin.h"

/* ---- one rank ---- */

static struct params params;
static struct program program;
static MPI_Comm comms[COMMS];
static struct log logs[RANKS_MAX];
static vtime clocks[RANKS_MAX];
static int ended[RANKS_MAX], corrupt;

struct slot {
    MPI_Request request;
    int send;
    unsigned char buf[BYTES_MAX];
};
static struct slot slots[RANKS_MAX][SLOTS];

static void payload_fill(unsigned char *buf, uint32_t bytes, uint64_t id)
{
    for (uint32_t i = 0; i < bytes; i++)
        buf[i] = i < 8 ? (unsigned char)(id >> 8 * i) : (unsigned char)(id * 31 + i);
}

static uint64_t payload_id(const unsigned char *buf, uint32_t bytes)
{
    unsigned char want[BYTES_MAX];
    uint64_t id = 0;

    if (bytes < 8)
        return 0;
    memcpy(&id, buf, 8);
    payload_fill(want, bytes, id);
    corrupt += memcmp(buf, want, bytes) != 0;
    return id;
}

static void log_status(int rank, const MPI_Status *s, const unsigned char *buf)
{
    struct log *l = &logs[rank];
    int cancelled, count;

    mpi_test_cancelled(&mpi_world.ranks[rank], s, &cancelled);
    mpi_get_count(&mpi_world.ranks[rank], s, MPI_BYTE, &count);
    log_add(l, cancelled);
    if (cancelled)
        return;
    log_add(l, s->MPI_SOURCE);
    log_add(l, s->MPI_TAG);
    log_add(l, count);
    log_add(l, (int64_t)payload_id(buf, (uint32_t)count));
}

static void log_slot(int rank, int i, const MPI_Status *s)
{
    if (!slots[rank][i].send)
        log_status(rank, s, slots[rank][i].buf);
}

static int source(const struct op *o)
{
    return o->peer == ANY ? MPI_ANY_SOURCE : o->peer;
}

static int tag(int t)
{
    return t == ANY_TAG ? MPI_ANY_TAG : t;
}

static void start(int rank, struct mpi_rank *self, const struct op *o)
{
    struct slot *s = &slots[rank][o->slot];
    MPI_Comm comm = comms[o->comm];

    if (s->request != MPI_REQUEST_NULL)
        return;
    s->send = o->kind != OP_IRECV;
    if (s->send)
        payload_fill(s->buf, o->bytes, o->id);
    if (o->kind == OP_IRECV)
        mpi_irecv_c(self, s->buf, BYTES_MAX, MPI_BYTE, source(o), tag(o->tag), comm, &s->request);
    else if (o->kind == OP_ISEND)
        mpi_isend_c(self, s->buf, (int)o->bytes, MPI_BYTE, o->peer, o->tag, comm, &s->request);
    else if (o->kind == OP_ISSEND)
        mpi_issend_c(self, s->buf, (int)o->bytes, MPI_BYTE, o->peer, o->tag, comm, &s->request);
    else
        mpi_ibsend_c(self, s->buf, (int)o->bytes, MPI_BYTE, o->peer, o->tag, comm, &s->request);
}

/* The slots of the mask as arrays. */
static int gather(int rank, uint32_t mask, MPI_Request *requests, int *index)
{
    int n = 0;

    for (int i = 0; i < SLOTS; i++)
        if (mask >> i & 1) {
            index[n] = i;
            requests[n++] = slots[rank][i].request;
        }
    return n;
}

static void wait_several(int rank, struct mpi_rank *self, const struct op *o)
{
    MPI_Request requests[SLOTS];
    MPI_Status statuses[SLOTS];
    int index[SLOTS], done[SLOTS], n = gather(rank, o->mask, requests, index), count = 0;

    if (o->kind == OP_WAITANY) {
        mpi_waitany(self, n, requests, &done[0], &statuses[0]);
        count = done[0] != MPI_UNDEFINED;
    } else if (o->kind == OP_WAITSOME) {
        mpi_waitsome(self, n, requests, &count, done, statuses);
        if (count == MPI_UNDEFINED)
            count = 0;
    } else {
        mpi_waitall(self, n, requests, statuses);
        for (int i = 0; i < n; i++)
            if (slots[rank][index[i]].request != MPI_REQUEST_NULL)
                log_slot(rank, index[i], &statuses[i]);
    }
    for (int i = 0; i < count; i++) {
        log_add(&logs[rank], index[done[i]]);
        log_slot(rank, index[done[i]], &statuses[i]);
    }
    for (int i = 0; i < n; i++)
        slots[rank][index[i]].request = requests[i];
}

static void finish_one(int rank, struct mpi_rank *self, const struct op *o)
{
    struct slot *s = &slots[rank][o->slot];
    MPI_Status status;
    int flag = 1;

    if (s->request == MPI_REQUEST_NULL || (o->kind == OP_CANCEL && s->send))
        return;
    if (o->kind == OP_TEST) {
        mpi_test(self, &s->request, &flag, &status);
        log_add(&logs[rank], flag);
    } else {
        if (o->kind == OP_CANCEL)
            mpi_cancel(self, &s->request);
        mpi_wait(self, &s->request, &status);
    }
    if (flag)
        log_slot(rank, o->slot, &status);
}

static void log_probe(int rank, int flag, const MPI_Status *s)
{
    int count;

    log_add(&logs[rank], flag);
    if (!flag)
        return;
    mpi_get_count(&mpi_world.ranks[rank], s, MPI_BYTE, &count);
    log_add(&logs[rank], s->MPI_SOURCE);
    log_add(&logs[rank], s->MPI_TAG);
    log_add(&logs[rank], count);
}

static void look(int rank, struct mpi_rank *self, const struct op *o)
{
    MPI_Comm comm = comms[o->comm];
    MPI_Status s = {.MPI_SOURCE = -77, .MPI_TAG = -77};
    MPI_Message message;
    unsigned char buf[BYTES_MAX];
    int flag = 1;

    if (o->kind == OP_PROBE)
        mpi_probe(self, source(o), tag(o->tag), comm, &s);
    else if (o->kind == OP_MPROBE)
        mpi_mprobe(self, source(o), tag(o->tag), comm, &message, &s);
    else
        mpi_iprobe(self, source(o), tag(o->tag), comm, &flag, &s);
    log_probe(rank, flag, &s);
    if (!flag || o->kind == OP_PROBE || o->kind == OP_IPROBE)
        return;
    if (o->kind == OP_MPROBE)
        mpi_mrecv_c(self, buf, BYTES_MAX, MPI_BYTE, &message, &s);
    else
        mpi_recv_c(self, buf, BYTES_MAX, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, comm, &s);
    log_status(rank, &s, buf);
}

static void blocking(int rank, struct mpi_rank *self, const struct op *o)
{
    MPI_Comm comm = comms[o->comm];
    unsigned char out[BYTES_MAX], in[BYTES_MAX];
    MPI_Status s;

    payload_fill(out, o->bytes, o->id);
    if (o->kind == OP_SEND) {
        mpi_send_c(self, out, (int)o->bytes, MPI_BYTE, o->peer, o->tag, comm);
        return;
    }
    if (o->kind == OP_RECV)
        mpi_recv_c(self, in, BYTES_MAX, MPI_BYTE, source(o), tag(o->tag), comm, &s);
    else
        mpi_sendrecv_c(self, out, (int)o->bytes, MPI_BYTE, o->peer, o->tag, in, BYTES_MAX, MPI_BYTE,
                       o->peer2 == ANY ? MPI_ANY_SOURCE : o->peer2, tag(o->tag2), comm, &s);
    log_status(rank, &s, in);
}

static void perform(int rank, struct mpi_rank *self, const struct op *o)
{
    switch (o->kind) {
    case OP_COMPUTE:
        mpi_clock_spend(self, o->arg);
        break;
    case OP_ISEND:
    case OP_ISSEND:
    case OP_IBSEND:
    case OP_IRECV:
        start(rank, self, o);
        break;
    case OP_SEND:
    case OP_RECV:
    case OP_SENDRECV:
        blocking(rank, self, o);
        break;
    case OP_WAITALL:
    case OP_WAITANY:
    case OP_WAITSOME:
        wait_several(rank, self, o);
        break;
    case OP_WAIT:
    case OP_TEST:
    case OP_CANCEL:
        finish_one(rank, self, o);
        break;
    default:
        look(rank, self, o);
        break;
    }
}

/* The program, and then on duty for the protocol until nothing moves any more. */
static void rank_main(int rank)
{
    struct mpi_rank *self = &mpi_world.ranks[rank];
    static char room[RANKS_MAX][1 << 16];

    self->phase = MPI_PHASE_ACTIVE;
    if (rank < params.ranks) {
        mpi_buffer_attach_c(self, room[rank], sizeof room[rank]);
        for (int i = 0; i < program.count[rank]; i++) {
            perform(rank, self, &program.ops[rank][i]);
            log_add(&logs[rank], self->ent.clock);
        }
        ended[rank] = 1;
    }
    clocks[rank] = self->ent.clock;
    mpi_drain(self);
    while (!mpi_decision_step(self, VTIME_LIMIT - 1, NULL))
        ;
    self->vp.ended = 1;
    vp_suspend();
}

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
