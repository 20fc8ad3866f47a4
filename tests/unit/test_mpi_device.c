/*
 * The protocol over a device that does all that a device may do (line_device.h). Every program runs
 * with several schedules, which must not make a difference.
 */
#include <string.h>

#include "engine/waits.h"
#include "engine_fini.h"
#include "line_device.h"
#include "mpi/above.h"
#include "mpi/clock.h"
#include "mpi/comm/comm.h"
#include "mpi/stats.h"
#include "mpi_impl.h"

/* ---- ranks ---- */

static void (*body)(int rank, struct mpi_rank *self);
static vtime ended_at[RANKS_MAX];

static void rank_main(int rank)
{
    struct mpi_rank *self = &mpi_world.ranks[rank];

    self->phase = MPI_PHASE_ACTIVE;
    body(rank, self);
    ended_at[rank] = self->ent.clock;
    self->vp.ended = 1;
    vp_suspend();
}

static int resume(void *owner, uint32_t id)
{
    (void)owner;
    return vp_resume(&mpi_world.ranks[id].vp);
}

static void explain(void *owner, uint32_t id, struct engine_waits *out)
{
    (void)owner, (void)id, (void)out;
}

static const struct engine_ops ops = {.resume = resume, .explain = explain, .notice = mpi_notice};
static struct run_page page;

static void world_make(void)
{
    struct platform_config *c = &page.opt.platform;
    struct err err;

    mpi_world.above = &mpi_above;
    mpi_world.page = &page;
    mpi_world.opt = &page.opt;
    mpi_world.size = mpi_world.room = RANKS_MAX;
    rank_map_init(&mpi_world.engine.cfg.map, RANK_MAP_BLOCK, RANKS_MAX, 1, 0, NULL);
    platform_config_init(c);
    c->mpi_send_overhead = c->mpi_recv_overhead = 0;
    c->mpi_test_cost = TEST_COST;
    page.opt.compute = RUN_COMPUTE_NONE;
    mpi_world.machine.config = *c;
    mpi_world.ranks = mem_map(RANKS_MAX * sizeof(struct mpi_rank), 1);
    pool_init(&mpi_world.pool, "extras");
    mpi_stats_init(0);
    mpi_comm_init(RANKS_MAX);
    if (net_init(&mpi_world.net, &mpi_world.machine, RANKS_MAX, &err))
        abort();
    mpi_clock_init(&page.opt);
    mpi_p2p_init((struct device){&line_ops, &mpi_world.engine, NULL}, EAGER);
    standin_init();
}

/* Runs the program; how it ended. */
static enum engine_end run(void (*program)(int, struct mpi_rank *), uint64_t schedule)
{
    struct engine_config eng = {.base = mpi_world.ranks,
                                .stride = sizeof(struct mpi_rank),
                                .ops = &ops,
                                .random = schedule != 0,
                                .seed = schedule,
                                .medium = &medium};
    enum engine_end end;

    body = program;
    medium = (struct engine_medium){.submit = line_submit, .wait = line_wait};
    memset(mpi_world.ranks, 0, RANKS_MAX * sizeof(struct mpi_rank));
    memset(ended_at, 0, sizeof ended_at);
    rank_map_init(&eng.map, RANK_MAP_BLOCK, RANKS_MAX, 1, 0, NULL);
    engine_init(&mpi_world.engine, &eng);
    line_open();
    end = engine_run(&mpi_world.engine);
    line_close();
    engine_fini(&mpi_world.engine);
    return end;
}

/* ---- programs ---- */

static vtime at[8];
static int count_of(struct mpi_rank *self, const MPI_Status *s)
{
    int count = -1;

    mpi_get_count(self, s, MPI_BYTE, &count);
    return count;
}

static void send_bytes(struct mpi_rank *self, const void *buf, int n, int dst, int tag)
{
    mpi_p2p_send(self, buf, (uint64_t)n, mpi_type_get(MPI_BYTE), (uint32_t)dst, tag,
                 mpi_comm_get(MPI_COMM_WORLD)->ctx, MPI_COMM_WORLD, MPI_MODE_STANDARD);
}

static void recv_bytes(struct mpi_rank *self, void *buf, int n, int src, int tag, MPI_Status *s)
{
    mpi_p2p_recv(self, buf, (uint64_t)n, mpi_type_get(MPI_BYTE), src, tag,
                 mpi_comm_get(MPI_COMM_WORLD)->ctx, mpi_comm_get(MPI_COMM_WORLD), s);
}

/* The buffer is full: sends wait. */
static void pressed(int rank, struct mpi_rank *self)
{
    static char data[3][80], got[3][80];
    int flags;
    MPI_Request large, small;

    if (rank == 0) {
        for (int i = 0; i < 3; i++)
            memset(data[i], 'a' + i, sizeof data[i]);
        send_bytes(self, data[0], 80, 1, 0);
        at[0] = self->ent.clock;
        send_bytes(self, data[1], 80, 1, 1);
        at[1] = self->ent.clock;
        mpi_isend_c(self, data[2], 80, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &large);
        mpi_isend_c(self, data[2], 30, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &small);
        at[2] = self->ent.clock;
        mpi_test(self, &large, &flags, MPI_STATUS_IGNORE);
        mpi_wait(self, &small, MPI_STATUS_IGNORE);
        at[3] = self->ent.clock;
        if (large != MPI_REQUEST_NULL)
            mpi_wait(self, &large, MPI_STATUS_IGNORE);
        at[4] = self->ent.clock;
        at[5] = flags;
    } else if (rank == 1) {
        for (int i = 0; i < 3; i++)
            recv_bytes(self, got[i], 80, 0, i, MPI_STATUS_IGNORE);
        recv_bytes(self, got[0], 80, 0, 3, MPI_STATUS_IGNORE);
        at[6] = memcmp(got[1], data[1], 80) == 0 && memcmp(got[2], data[2], 80) == 0;
    }
}

static void test_pressure(void)
{
    for (uint64_t schedule = 0; schedule < 4; schedule++) {
        is_int(run(pressed, schedule), ENGINE_END_DONE, "a full buffer: the program ends");
        is_int(at[0], 0, "a message that fits is complete at once");
        is_int(at[1], 80 * VTIME_NS, "one that does not, when there is room");
        is_int(at[2], 80 * VTIME_NS, "non-blocking sends return at once");
        is_int(at[5], 0, "and are not complete");
        is_int(at[3], 180 * VTIME_NS, "the small one is, when the large one has been tested");
        is_int(at[4], 190 * VTIME_NS, "the large one when the small one has left");
        is_int((long long)line.held, 3, "three messages were held back");
        is_int((long long)line.swapped, 1, "one went in front of another one");
        is_int(at[6], 1, "all arrive");
    }
}

/* ---- messages without bytes ---- */

static int hollow;

static void sizes(int rank, struct mpi_rank *self)
{
    static char data[LARGE], got[LARGE];
    MPI_Status status;
    int n[] = {40, LARGE, 60};

    if (rank == 0) {
        memset(data, 'x', sizeof data);
        for (int i = 0; i < 3; i++)
            send_bytes(self, hollow ? MPI_HOLLOW : data, n[i], 1, i);
        at[0] = self->ent.clock;
    } else if (rank == 1) {
        memset(got, '.', sizeof got);
        at[1] = at[2] = 0;
        for (int i = 0; i < 3; i++) {
            recv_bytes(self, got, LARGE, i == 2 ? MPI_P2P_ANY : 0, i, &status);
            at[1] += count_of(self, &status) == n[i];
        }
        for (int i = 0; i < LARGE; i++)
            at[2] += got[i] == 'x';
        at[3] = self->ent.clock;
    }
}

static void test_hollow(void)
{
    vtime sent, received;

    hollow = 0;
    is_int(run(sizes, 0), ENGINE_END_DONE, "messages with their bytes");
    is_int(at[2], LARGE, "the bytes arrive");
    ok(line.most_carried > LARGE, "the device had them");
    sent = at[0];
    received = at[3];
    hollow = 1;
    for (uint64_t schedule = 0; schedule < 4; schedule++) {
        is_int(run(sizes, schedule), ENGINE_END_DONE, "messages without");
        is_int(at[1], 3, "the receiver sees their sizes");
        is_int(at[2], 0, "its buffer is left as it was");
        is_int(at[0], sent, "sending takes as long");
        is_int(at[3], received, "receiving takes as long");
        ok(line.most_carried <= sizeof(struct mpi_msg) + 8, "nothing but headers was sent");
    }
}

/* ---- the other end's clock ---- */

static void sources(int rank, struct mpi_rank *self)
{
    char data[64] = {0};
    MPI_Status status;
    int flag = 0;

    if (rank != 1) {
        mpi_clock_add(self, rank == 0 ? 500 * VTIME_NS : 0);
        send_bytes(self, data, 50, 1, 7);
        if (rank == 2)
            recv_bytes(self, data, 64, 1, 9, MPI_STATUS_IGNORE);
        return;
    }
    recv_bytes(self, data, 64, MPI_P2P_ANY, 7, &status);
    at[0] = status.MPI_SOURCE;
    at[1] = self->ent.clock;
    for (at[2] = 0; !flag; at[2]++)
        mpi_iprobe(self, 0, 7, MPI_COMM_WORLD, &flag, &status);
    at[3] = self->ent.clock;
    recv_bytes(self, data, 64, 0, 7, &status);
    send_bytes(self, data, 10, 2, 9);
}

static void test_clock(void)
{
    for (uint64_t schedule = 0; schedule < 4; schedule++) {
        is_int(run(sources, schedule), ENGINE_END_DONE, "messages come by themselves");
        is_int(at[0], 2, "from any source: the first by the other end's clock");
        is_int(at[1], LATENCY + 50 * VTIME_NS, "at its time");
        is_int(at[2], 5, "a probe fails until that clock says that the next is here");
        is_int(at[3], LATENCY + 550 * VTIME_NS, "and then succeeds");
        is_int(ended_at[2], LATENCY + 550 * VTIME_NS + LATENCY + 10 * VTIME_NS, "an answer");
    }
}

static void nothing_comes(int rank, struct mpi_rank *self)
{
    char data[8];

    if (rank == 1)
        recv_bytes(self, data, 8, 0, 0, MPI_STATUS_IGNORE);
}

/* ---- collectives and windows, by the same device ---- */

static void together(int rank, struct mpi_rank *self)
{
    static char sent[RANKS_MAX][90], got[RANKS_MAX][90], all[RANKS_MAX][3 * 90];

    memset(sent[rank], '0' + rank, 90);
    mpi_sendrecv_c(self, sent[rank], 90, MPI_BYTE, (rank + 1) % 3, 0, got[rank], 90, MPI_BYTE,
                   (rank + 2) % 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mpi_allgather_c(self, sent[rank], 90, MPI_BYTE, all[rank], 90, MPI_BYTE, MPI_COMM_WORLD);
    at[rank] = got[rank][0] == '0' + (rank + 2) % 3 && all[rank][0] == '0' &&
               all[rank][90] == '1' && all[rank][180] == '2';
    at[3 + rank] = self->ent.clock;
}

static char window[RANKS_MAX][256];

static void one_sided(int rank, struct mpi_rank *self)
{
    static char data[2][80];
    MPI_Request request;
    MPI_Win win;

    mpi_win_create_c(self, window[rank], sizeof window[rank], 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &win);
    if (rank == 0) {
        vtime start;

        memset(data, 'w', sizeof data);
        mpi_win_lock(self, MPI_LOCK_EXCLUSIVE, 1, 0, win);
        start = self->ent.clock;
        mpi_put_c(self, data[0], 80, MPI_BYTE, 1, 0, 80, MPI_BYTE, win);
        mpi_win_flush_local(self, 1, win);
        at[0] = self->ent.clock - start;
        mpi_put_c(self, data[1], 80, MPI_BYTE, 1, 80, 80, MPI_BYTE, win);
        mpi_win_flush_local(self, 1, win);
        at[1] = self->ent.clock - start;
        mpi_rput_c(self, data[1], 80, MPI_BYTE, 1, 160, 80, MPI_BYTE, win, &request);
        mpi_wait(self, &request, MPI_STATUS_IGNORE);
        at[2] = self->ent.clock - start;
        mpi_win_unlock(self, 1, win);
    }
    mpi_win_free(self, &win);
    if (rank == 1)
        at[3] = window[1][0] == 'w' && window[1][239] == 'w' && window[1][240] == 0;
}

static void test_others(void)
{
    vtime clock = 0;

    for (uint64_t schedule = 0; schedule < 4; schedule++) {
        is_int(run(together, schedule), ENGINE_END_DONE, "collectives with full buffers");
        ok(at[0] && at[1] && at[2], "bring the data");
        if (schedule)
            is_int(at[3] + at[4] + at[5], clock, "at the same time with every schedule");
        clock = at[3] + at[4] + at[5];
        memset(window, 0, sizeof window);
        is_int(run(one_sided, schedule), ENGINE_END_DONE, "one-sided operations");
        is_int(at[0], 0, "what fits has been taken at once");
        is_int(at[1], 80 * VTIME_NS, "what does not, when there is room");
        is_int(at[2], 160 * VTIME_NS, "so is the request of one");
        is_int(at[3], 1, "the data is there");
    }
}

int main(void)
{
    plan_auto();
    world_make();
    test_pressure();
    test_hollow();
    test_clock();
    is_int(run(nothing_comes, 0), ENGINE_END_DEADLOCK,
           "a deadlock is one when nothing comes any more");
    test_others();
    return done_testing();
}
