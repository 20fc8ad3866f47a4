/*
 * Observers: two of them beside statistics, attached to a small program of two ranks on the real
 * middleware. One writes down every event, in words; the other counts.
 */
#include "mpi/observer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mpi/above.h"
#include "mpi/clock.h"
#include "mpi/coll/coll.h"
#include "mpi/comm/comm.h"
#include "mpi/main/run.h"
#include "mpi/p2p/p2p.h"
#include "mpi/stats.h"
#include "mpi_roles.h"
#include "tap.h"

enum { RANKS_MAX = 2, STACK = 256 << 10, EAGER = 64, LARGE = 100 };
static void rank_main(int rank);
#include "mpi_abi_asserts.h" /* declares the entries */
#include "vp_standin.h"

/* ---- the first: all in words ---- */

static char story[RANKS_MAX][16384];
static MPI_Request handles[RANKS_MAX][8]; /* in the order of their first event */

__attribute__((format(printf, 2, 3))) static void say(struct mpi_rank *self, const char *format,
                                                      ...)
{
    char *to = story[mpi_rank_id(self)];
    size_t used = strlen(to);
    va_list args;

    va_start(args, format);
    vsnprintf(to + used, sizeof story[0] - used, format, args);
    va_end(args);
}

/* A small number instead of a handle; 0: none. */
static int number_of(struct mpi_rank *self, MPI_Request request)
{
    MPI_Request *h = handles[mpi_rank_id(self)];
    int i = 0;

    if (request == MPI_REQUEST_NULL)
        return 0;
    while (i < 7 && h[i] && h[i] != request)
        i++;
    h[i] = request;
    return i + 1;
}

static void on_begin(struct mpi_rank *self, vtime t, const struct mpi_seen_rank *s)
{
    (void)s;
    say(self, "begin at %lld\n", (long long)(t / VTIME_US));
}

static void on_end(struct mpi_rank *self, vtime t, const struct mpi_seen_rank *s)
{
    (void)t;
    say(self, "end %d\n", s->status);
}

static int is_told(const struct mpi_arg *a)
{
    return a->direction == MPI_DIRECTION_IN &&
           (a->role == MPI_ROLE_PEER || a->role == MPI_ROLE_TAG || a->role == MPI_ROLE_COUNT);
}

static void on_enter(struct mpi_rank *self, vtime t, const struct mpi_seen_call *s)
{
    const struct mpi_signature *f = &mpi_fn_signature[s->fn];

    say(self, "%s", mpi_fn_name[s->fn]);
    for (unsigned i = 0; i < f->count; i++)
        if (is_told(&f->args[i]))
            say(self, " %s=%d", f->args[i].name, (int)s->args[i]);
    say(self, "\n");
    ok(t == self->ent.clock && self->fn == s->fn, "the rank is in %s", mpi_fn_name[s->fn]);
}

static void on_leave(struct mpi_rank *self, vtime t, const struct mpi_seen_call *s)
{
    const struct mpi_signature *f = &mpi_fn_signature[s->fn];

    say(self, "  =%d", s->rc);
    for (unsigned i = 0; i < f->count; i++)
        if (f->args[i].role == MPI_ROLE_FLAG)
            say(self, " %s=%d", f->args[i].name, *(const int *)s->args[i]);
    say(self, "\n");
    ok(t >= s->began && self->ent.clock == t, "and leaves it");
}

static void say_message(struct mpi_rank *self, const char *what, uint32_t peer,
                        const struct mpi_seen_message *s)
{
    if (s->ctx & 1)
        return; /* of a collective: which ones is the algorithm's affair */
    say(self, "  %s %u tag %d, %llu B, #%llu, request %d\n", what, peer, s->tag,
        (unsigned long long)s->bytes, (unsigned long long)s->number, number_of(self, s->request));
}

static void on_sent(struct mpi_rank *self, vtime t, const struct mpi_seen_message *s)
{
    (void)t;
    say_message(self, "sent to", s->dst, s);
}

static void on_received(struct mpi_rank *self, vtime t, const struct mpi_seen_message *s)
{
    (void)t;
    say_message(self, "received from", s->src, s);
}

static void on_request(struct mpi_rank *self, vtime t, const struct mpi_seen_request *s)
{
    static const char *const steps[] = {"made",       "start",  "complete",
                                        "unfinished", "cancel", "free"};

    (void)t;
    say(self, "  request %d %s", number_of(self, s->request), steps[s->step]);
    if (s->step == MPI_REQUEST_COMPLETE && s->source >= 0)
        say(self, " from %d tag %d, %llu B", s->source, s->tag, (unsigned long long)s->bytes);
    say(self, "%s%s\n", s->persistent ? " persistent" : "", s->cancelled ? " cancelled" : "");
}

static void on_collective(struct mpi_rank *self, vtime t, const struct mpi_seen_collective *s)
{
    (void)t;
    say(self, "  collective %d %s, root %d, %llu B to %llu B\n", s->operation,
        s->ended ? "ends" : "begins", s->root == MPI_UNDEFINED ? -1 : s->root,
        (unsigned long long)s->sent, (unsigned long long)s->received);
}

static const char *const objects[MPI_OBJECTS] = {"communicator",  "group",       "datatype",
                                                 "operation",     "info object", "error handler",
                                                 "attribute key", "window",      "file"};

static void on_made(struct mpi_rank *self, vtime t, const struct mpi_seen_object *s)
{
    (void)t;
    say(self, "  %s made\n", objects[s->kind]);
}

static void on_freed(struct mpi_rank *self, vtime t, const struct mpi_seen_object *s)
{
    (void)t;
    ok(s->handle != 0, "what is freed has a handle");
    say(self, "  %s freed\n", objects[s->kind]);
}

static void on_access(struct mpi_rank *self, vtime t, const struct mpi_seen_access *s)
{
    (void)t;
    say(self, "  access %d to %u, %llu B\n", s->what, s->peer, (unsigned long long)s->bytes);
}

static void on_slice(struct mpi_rank *self, vtime t, const struct mpi_seen_slice *s)
{
    (void)t;
    say(self, "%s %lld us\n", s->declared ? "declares" : "computes",
        (long long)(s->charged / VTIME_US));
}

static void on_region(struct mpi_rank *self, vtime t, const struct mpi_seen_region *s)
{
    (void)t;
    say(self, "region %s\n", s->name ? s->name : "ends");
}

static const struct mpi_observer writer = {
    .name = "writer",
    .rank_begin = on_begin,
    .rank_end = on_end,
    .enter = on_enter,
    .leave = on_leave,
    .sent = on_sent,
    .received = on_received,
    .request = on_request,
    .collective = on_collective,
    .made = on_made,
    .freed = on_freed,
    .access = on_access,
    .slice = on_slice,
    .region = on_region,
};

/* ---- the second: pairs messages, and wants nothing else ---- */

static struct {
    uint64_t sent, received;
    vtime sent_at[RANKS_MAX][64];
    int wrong;
} pairs;

static void count_sent(struct mpi_rank *self, vtime t, const struct mpi_seen_message *s)
{
    pairs.wrong += s->src != mpi_rank_id(self) || s->number >= 64 ||
                   pairs.sent_at[s->src][s->number] != 0;
    pairs.sent_at[s->src][s->number % 64] = t + 1;
    pairs.sent++;
}

static void count_received(struct mpi_rank *self, vtime t, const struct mpi_seen_message *s)
{
    vtime *sent = &pairs.sent_at[s->src][s->number % 64];

    pairs.wrong += s->dst != mpi_rank_id(self) || *sent == 0 || t + 1 <= *sent;
    *sent = -1; /* received once */
    pairs.received++;
}

static const struct mpi_observer counter = {.name = "counter",
                                            .sent = count_sent,
                                            .received = count_received};

/* ---- the program ---- */

int orrery_region(const char *name);
void orrery_region_end(void);
void orrery_compute(double seconds);

static void objects_come_and_go(void)
{
    MPI_Datatype type;
    MPI_Group group;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_free(&type);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_free(&group);
}

static void window(int rank)
{
    int there = -1, mine = rank;
    MPI_Win win;

    MPI_Win_create(&there, sizeof there, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    ok(there == 1 - rank, "one-sided communication works, too");
}

static void sender(void)
{
    static char data[LARGE], never;
    MPI_Request request;

    MPI_Send(data, 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
    MPI_Isend(data, 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(data, LARGE, MPI_CHAR, 1, 6, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(&never, 1, MPI_CHAR, 1, 9, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send_init(data, 8, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    orrery_region("solve");
    orrery_compute(3e-6);
    orrery_region_end();
}

static void receiver(void)
{
    static char data[LARGE];
    MPI_Request request;
    int flag;

    MPI_Irecv(data, 8, MPI_CHAR, 0, 5, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(data, 8, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, LARGE, MPI_CHAR, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(data, 8, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void rank_main(int rank)
{
    struct mpi_rank *self = &mpi_world.ranks[rank];
    char text[4] = "app", *words[] = {text, NULL}, **argv = words;
    int argc = 1, value = rank, values[RANKS_MAX];

    mpi_vp_hooks.starting(&self->vp, &argc, &argv);
    self->phase = MPI_PHASE_ACTIVE;
    (rank == 0 ? sender : receiver)();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Allgather(&value, 1, MPI_INT, values, 1, MPI_INT, MPI_COMM_WORLD);
    ok(value == 1 && values[0] == 1 && values[1] == 1, "the program does what it should");
    objects_come_and_go();
    window(rank);
    self->vp.ended = 1;
    vp_suspend();
}

/* ---- what is to be told ---- */

#define COLLECTIVES(sent, received)                                 \
    "MPI_Barrier\n"                                                 \
    "  collective 0 begins, root -1, 0 B to 0 B\n"                  \
    "  collective 0 ends, root -1, 0 B to 0 B\n"                    \
    "  =0\n"                                                        \
    "MPI_Bcast count=1\n"                                           \
    "  collective 1 begins, root 1, " sent " B to " received " B\n" \
    "  collective 1 ends, root 1, " sent " B to " received " B\n"   \
    "  =0\n"                                                        \
    "MPI_Allgather sendcount=1 recvcount=1\n"                       \
    "  collective 6 begins, root -1, 4 B to 8 B\n"                  \
    "  collective 6 ends, root -1, 4 B to 8 B\n"                    \
    "  =0\n"
#define OBJECTS                                            \
    "MPI_Comm_dup\n  communicator made\n  =0\n"            \
    "MPI_Comm_free\n  communicator freed\n  =0\n"          \
    "MPI_Type_contiguous count=3\n  datatype made\n  =0\n" \
    "MPI_Type_free\n  datatype freed\n  =0\n"              \
    "MPI_Comm_group\n  group made\n  =0\n"                 \
    "MPI_Group_free\n  group freed\n  =0\n"

#define WINDOW(target)                                                                    \
    "MPI_Win_create\n  window made\n  =0\nMPI_Win_fence\n  =0\n"                          \
    "MPI_Put origin_count=1 target_rank=" target " target_count=1\n  access 2 to " target \
    ", 4 B\n  =0\n"                                                                       \
    "MPI_Win_fence\n  =0\nMPI_Win_free\n  window freed\n  =0\n"

static const char *const expected[RANKS_MAX] = {
    "begin at 0\n"
    "MPI_Send count=8 dest=1 tag=5\n  sent to 1 tag 5, 8 B, #1, request 0\n  =0\n"
    "MPI_Isend count=8 dest=1 tag=5\n  sent to 1 tag 5, 8 B, #2, request 1\n  request 1 start\n  =0\n"
    "MPI_Wait\n  request 1 complete\n  =0\n"
    "MPI_Isend count=100 dest=1 tag=6\n  sent to 1 tag 6, 100 B, #3, request 1\n  request 1 start\n  =0\n"
    "MPI_Wait\n  request 1 complete\n  =0\n"
    "MPI_Irecv count=1 source=1 tag=9\n  request 1 start\n  =0\n"
    "MPI_Cancel\n  request 1 cancel cancelled\n  =0\n"
    "MPI_Wait\n  request 1 complete cancelled\n  =0\n"
    "MPI_Send_init count=8 dest=1 tag=7\n  request 1 made persistent\n  =0\n"
    "MPI_Start\n  sent to 1 tag 7, 8 B, #4, request 1\n  request 1 start persistent\n  =0\n"
    "MPI_Wait\n  request 1 complete persistent\n  =0\n"
    "MPI_Request_free\n  request 1 free persistent\n  =0\n"
    "region solve\ndeclares 3 us\nregion ends\n" COLLECTIVES("0", "4")
        OBJECTS WINDOW("1") "end 0\n",
    "begin at 0\n"
    "MPI_Irecv count=8 source=0 tag=5\n  request 1 start\n  =0\n"
    "MPI_Test\n  request 1 unfinished\n  =0 flag=0\n"
    "MPI_Wait\n  received from 0 tag 5, 8 B, #1, request 1\n  request 1 complete from 0 tag 5, 8 B\n  =0\n"
    "MPI_Recv count=8 source=0 tag=5\n  received from 0 tag 5, 8 B, #2, request 0\n  =0\n"
    "MPI_Recv count=100 source=-2 tag=6\n  received from 0 tag 6, 100 B, #3, request 0\n  =0\n"
    "MPI_Recv count=8 source=0 tag=-1\n  received from 0 tag 7, 8 B, #4, request 0\n  =0\n" COLLECTIVES(
        "4", "0") OBJECTS WINDOW("0") "end 0\n",
};

/* ---- one run ---- */

static struct run_page page;

static void world_make(void)
{
    struct platform_config *c = &page.opt.platform;
    struct engine_config eng = {.stride = sizeof(struct mpi_rank), .ops = &mpi_engine_ops};
    struct err err;

    mpi_world.above = &mpi_above;
    mpi_world.page = &page;
    mpi_world.opt = &page.opt;
    mpi_world.size = mpi_world.room = RANKS_MAX;
    platform_config_init(c);
    strcpy(c->net_model, "constant");
    c->mpi_eager_limit = EAGER;
    page.opt.compute = RUN_COMPUTE_NONE;
    page.opt.needs = MPI_NEED_CANCEL;
    mpi_world.machine.config = *c;
    mpi_world.ranks = mem_map(RANKS_MAX * sizeof(struct mpi_rank), 1);
    rank_map_init(&eng.map, RANK_MAP_BLOCK, RANKS_MAX, 1, 0, NULL);
    pool_init(&mpi_world.pool, "extras");
    if (net_init(&mpi_world.net, &mpi_world.machine, RANKS_MAX, &err) != 0 ||
        mpi_coll_init(&mpi_world.machine, &err) != 0)
        abort();
    eng.base = mpi_world.ranks;
    eng.lookahead = mpi_world.net.lookahead;
    engine_init(&mpi_world.engine, &eng);
    mpi_p2p_init((struct device){mpi_world.net.device, &mpi_world.engine, &mpi_world.net}, EAGER);
    mpi_clock_init(&page.opt);
    mpi_stats_init(0);
    mpi_comm_init(RANKS_MAX);
    standin_init();
}

static void compare(const char *got, const char *want)
{
    while (*got && *got == *want)
        got++, want++;
    ok(*got == *want, "all that happens is told, in order");
    if (*got != *want)
        diag("instead of '%.60s' comes '%.60s'", want, got);
}

int main(void)
{
    plan_auto();
    world_make();
    is_int(mpi_world.observed, 0, "nobody observes");
    mpi_observer_attach(&writer);
    mpi_observer_attach(&counter);
    engine_run(&mpi_world.engine);
    for (int i = 0; i < RANKS_MAX; i++)
        compare(story[i], expected[i]);
    is_int(pairs.wrong, 0, "every message is received once, after it was sent");
    ok(pairs.sent == pairs.received && pairs.sent > 4, "and as many are received as sent");
    ok(mpi_world.stats->messages[0] == 4 + 2 && mpi_world.stats->access.rma_ops == 2 &&
           mpi_world.stats->messages[0] + mpi_world.stats->messages[1] == pairs.sent + 2,
       "statistics count the same, and what goes into windows as messages");
    ok(mpi_world.stats->calls[MPI_FN_WAIT] == 5 && mpi_world.stats->calls[MPI_FN_BARRIER] == 2,
       "and calls, too");
    return done_testing();
}
