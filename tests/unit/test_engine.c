/*
 * The engine's contract, entity by entity: order of running, waking, grants, ends, messages. All of
 * it once with the scheduler between any two turns, and once with entities that hand over to each
 * other.
 */
#include "engine_actors.h"
#include "pool_live.h"

/* ---- running everybody ---- */

static int at_once(uint32_t id, struct actor *a)
{
    (void)id;
    (void)a;
    return 1;
}

static void test_all_run(void)
{
    int sorted = 1, all = 1;

    is_int(run(MANY, 10, 0, 0, at_once), ENGINE_END_DONE, "all end at once");
    for (int i = 0; i < MANY; i++)
        sorted &= order[i] == (uint32_t)i;
    ok(ran == MANY && sorted, "new entities start in order of their ids");
    engine_fini(&engine);
    run(MANY, 10, 0, 7, at_once);
    for (int i = 0; i < MANY; i++)
        all &= actors[i].runs == 1;
    ok(all, "a random schedule runs each of them once");
    engine_fini(&engine);
    is_int(run(0, 10, 0, 0, at_once), ENGINE_END_DONE, "no entities at all");
    engine_fini(&engine);
}

/* 0 goes out; 1 sends it a message, has something to decide, and 2 waits for 1. */
static int out(uint32_t id, struct actor *a)
{
    static int messages;

    if (id == 0 && a->runs == 1) {
        engine_go_out(&engine, &a->ent);
    } else if (id == 0) {
        messages = drain(a);
        return 1;
    } else if (a->runs == 1) {
        if (id == 1)
            post(1, 0, 5, 0);
        block(id, id == 1 ? 5 : VTIME_NEVER, 1);
    } else if (id == 1) {
        ok(actors[0].runs == 2 && messages == 1,
           "nothing is decided before the one that is out is back");
        post(1, 2, 20, 0);
        return 1;
    } else {
        return 1;
    }
    return 0;
}

static void test_out(void)
{
    awaited = 0;
    is_int(run(3, 10, 0, 0, out), ENGINE_END_DONE, "an entity runs without its turn");
    is_int(awaited, 1, "the scheduler waits for it when nobody else is ready");
    ok(engine.out == 0 && actors[0].runs == 2 && actors[2].runs == 2,
       "it is back, and all have ended");
    engine_fini(&engine);
}

/* 0 waits for three messages; 1 sends them one by one, an urgent one last if asked to. */
static uint32_t urgent;
static int seen_at_wake;

static int three(uint32_t id, struct actor *a)
{
    if (id == 0) {
        if (a->runs == 1) {
            block(0, VTIME_NEVER, 3);
            return 0;
        }
        seen_at_wake = drain(a);
        return 1;
    }
    post(1, 0, 10, a->runs == 2 ? urgent : 0);
    if (a->runs == 3)
        return 1;
    block(1, a->runs * 100, 1);
    return 0;
}

static void test_wake_after(void)
{
    urgent = 0;
    is_int(run(2, 5, 0, 0, three), ENGINE_END_DONE, "waits for three arrivals");
    is_int(actors[0].runs, 2, "two arrivals do not wake it");
    is_int(seen_at_wake, 3, "and it finds all three");
    is_int(pool_live(&engine.msgs), 0, "all messages are freed");
    engine_fini(&engine);
    urgent = ENGINE_MSG_URGENT;
    run(2, 5, 0, 0, three);
    is_int(seen_at_wake, 2, "an urgent message wakes at once");
    is_int(pool_live(&engine.msgs), 0, "a message to one that has ended is freed");
    engine_fini(&engine);
}

/* 0 waits for a message of 2; 1 sends it one before, urgent if asked to. */
static int from_two(uint32_t id, struct actor *a)
{
    if (id == 0 && a->runs == 1) {
        block(0, VTIME_NEVER, ENGINE_FROM | 2);
        return 0;
    }
    if (id == 0)
        seen_at_wake = drain(a);
    else
        post(id, 0, 10, id == 1 ? urgent : 0);
    return 1;
}

static void test_wake_from(void)
{
    urgent = 0;
    is_int(run(3, 5, 0, 0, from_two), ENGINE_END_DONE, "waits for a source");
    ok(actors[0].runs == 2 && seen_at_wake == 2, "a message from another does not wake it");
    engine_fini(&engine);
    urgent = ENGINE_MSG_URGENT;
    run(3, 5, 0, 0, from_two);
    is_int(seen_at_wake, 1, "unless it is urgent");
    engine_fini(&engine);
}

/* ---- groups of neighbours ---- */

/* The last one wakes all others, one of each group in turn. */
static int wake_all(uint32_t id, struct actor *a)
{
    drain(a);
    if (id == MANY - 1)
        for (uint32_t i = 0; i < MANY - 1; i++)
            post(id, i % 3 * ENGINE_GROUP + i / 3, 10, 0);
    else if (a->runs == 1)
        block(id, VTIME_NEVER, 1);
    return id == MANY - 1 || a->runs == 2;
}

enum { PAIRED = 32, TURNS = 1000 };
static int far_ran; /* how many turns there had been when an entity of another group had its own */

/* Pairs of one group wake each other again and again; one of them wakes the last one, which has
 * begun it all. */
static int keep_on(uint32_t id, struct actor *a)
{
    drain(a);
    if (id == MANY - 1 && a->runs == 2)
        far_ran = ran;
    if (id >= PAIRED && (id < MANY - 1 || a->runs == 2))
        return 1;
    if (id == MANY - 1)
        for (uint32_t i = 1; i < PAIRED; i += 2)
            post(id, i, 10, 0);
    else if (a->runs > 1)
        post(id, id ^ 1, 10, 0);
    if (id == 5 && a->runs == 20)
        post(id, MANY - 1, 10, 0);
    if (a->runs == TURNS)
        return 1;
    block(id, VTIME_NEVER, 1);
    return 0;
}

static void test_groups(void)
{
    int changes = 0, once = 1;

    is_int(run(MANY, 10, 0, 0, wake_all), ENGINE_END_DONE, "entities of three groups are woken");
    for (int i = MANY + 1; i < ran; i++)
        changes += order[i] / ENGINE_GROUP != order[i - 1] / ENGINE_GROUP;
    for (int i = 0; i < MANY - 1; i++)
        once &= actors[i].runs == 2;
    ok(once, "each of them runs");
    is_int(changes, 2, "one group after the other");
    engine_fini(&engine);
    far_ran = 0;
    is_int(run(MANY, 10, 0, 0, keep_on), ENGINE_END_DONE, "a group that keeps itself busy");
    ok(far_ran > 0 && far_ran < 10000, "does not keep others from running");
    engine_fini(&engine);
}

/* ---- order of a source's messages ---- */

static int fifo_good;

static int fifo(uint32_t id, struct actor *a)
{
    struct engine_msg *m;

    if (id == 1) {
        for (int i = 0; i < 50; i++)
            post(1, 0, 1000 - i, 0); /* later ones arrive earlier */
        return 1;
    }
    if (a->runs == 1) {
        block(0, VTIME_NEVER, 50);
        return 0;
    }
    fifo_good = 1;
    for (int i = 0; (m = engine_poll(&a->ent)); i++) {
        fifo_good &= m->arrival == 1000 - i;
        engine_msg_free(&engine, m);
    }
    return 1;
}

/* ---- grants ---- */

static vtime due_of(uint32_t id)
{
    return (vtime)(id * 37 % 10) * 10;
}

static vtime granted[MANY];
static uint32_t granted_id[MANY];
static int grants, unsafe;

static int decide_once(uint32_t id, struct actor *a)
{
    if (a->runs == 1) {
        unsafe += engine_is_safe(&engine, id, due_of(id) + 1000000);
        block(id, due_of(id), 1);
        return 0;
    }
    unsafe += a->ent.wake != ENGINE_WAKE_DECIDE || !engine_is_safe(&engine, id, due_of(id));
    granted[grants] = due_of(id);
    granted_id[grants++] = id;
    return 1;
}

static void test_grants(void)
{
    for (uint64_t schedule = 0; schedule < 3; schedule++) {
        int sorted = 1;
        grants = unsafe = 0;
        is_int(run(100, 0, 0, schedule, decide_once), ENGINE_END_DONE, "lookahead 0 ends");
        for (int i = 1; i < grants; i++)
            sorted &= granted[i - 1] < granted[i] ||
                      (granted[i - 1] == granted[i] && granted_id[i - 1] < granted_id[i]);
        ok(grants == 100 && sorted, "one at a time by (due, id)");
        is_int((long long)engine.rounds, 100, "a quiescence for each");
        is_int(unsafe, 0, "each may decide when it is woken, and not before");
        engine_fini(&engine);
    }
    grants = unsafe = 0;
    run(100, 35, 0, 0, decide_once);
    is_int((long long)engine.rounds, 3, "lookahead 35: 0..34, 40..74, 80..");
    is_int(unsafe, 0, "all of a round may decide");
    engine_fini(&engine);
}

/* A grant with lookahead 0 is for one decision only. */
static int second_free;

static int greedy(uint32_t id, struct actor *a)
{
    if (a->runs == 1) {
        block(id, 10, 1);
        return 0;
    }
    if (engine_is_safe(&engine, id, 10))
        second_free += engine_is_safe(&engine, id, 10);
    return 1;
}

/* ---- ends ---- */

static int forever(uint32_t id, struct actor *a)
{
    (void)a;
    block(id, VTIME_NEVER, 1);
    return 0;
}

static int poller(uint32_t id, struct actor *a)
{
    a->ent.clock += 100;
    block(id, a->ent.clock, 1);
    return 0;
}

/* Computes for long, then asks once. */
static int sleeper(uint32_t id, struct actor *a)
{
    if (a->runs == 1) {
        a->ent.clock = 1000000;
        block(id, a->ent.clock, 1);
        return 0;
    }
    return 1;
}

static int stopper(uint32_t id, struct actor *a)
{
    (void)a;
    if (id == 3)
        engine_stop(&engine);
    return 1;
}

static void test_ends(void)
{
    is_int(run(3, 10, 0, 0, forever), ENGINE_END_DEADLOCK, "all blocked for good: deadlock");
    engine_fini(&engine);
    is_int(run(3, 10, 5000, 0, poller), ENGINE_END_LIVELOCK, "all only poll: livelock");
    ok(engine.decisions.at[0].due > 5000, "not before the limit");
    engine_fini(&engine);
    is_int(run(3, 0, 5000, 0, poller), ENGINE_END_LIVELOCK, "livelock with lookahead 0");
    engine_fini(&engine);
    is_int(run(2, 10, 5000, 0, sleeper), ENGINE_END_DONE, "one question late is no livelock");
    engine_fini(&engine);
    is_int(run(9, 10, 0, 0, stopper), ENGINE_END_STOPPED, "stopped");
    is_int(ran, 4, "at the next switch");
    engine_fini(&engine);
}

/* ---- messages that bring a decision ---- */

/* 0 waits, for good or with a question of its own; 1 sends it something due at 50, then at 20. */
static vtime own_due;
static int brought[4], times;

static int bring(uint32_t id, struct actor *a)
{
    if (id == 1) {
        post(1, 0, 50, ENGINE_MSG_DUE);
        post(1, 0, 20, ENGINE_MSG_DUE);
        return 1;
    }
    if (a->runs == 1) {
        block(0, own_due, 1);
        return 0;
    }
    brought[0] = drain(a);
    brought[1] = engine_is_safe(&engine, 0, 20);
    brought[2] = engine_is_safe(&engine, 0, 50);
    brought[3] = a->ent.wake == ENGINE_WAKE_DECIDE;
    times = a->runs;
    return 1;
}

static void test_brought(void)
{
    static const vtime dues[] = {VTIME_NEVER, 30, 90};

    for (int i = 0; i < 6; i++) {
        own_due = dues[i % 3];
        memset(brought, 0, sizeof brought);
        is_int(run(2, i < 3 ? 5 : 0, 0, 0, bring), ENGINE_END_DONE, "decisions come by message");
        is_int(times, 2, "which do not wake by themselves");
        ok(brought[0] == 2 && brought[1] && !brought[2] && brought[3], "the first is taken first");
        is_int(engine.decisions.len, 0, "nothing is left to decide");
        engine_fini(&engine);
    }
}

/* ---- lower bound ---- */

static vtime bound_first, bound_later;

static int clocks(uint32_t id, struct actor *a)
{
    if (a->runs == 1) {
        bound_first = engine_lower_bound(&engine);
        a->ent.clock = 100 + id;
        if (id == 0)
            return 1;
        block(id, 200 + id, 1);
        return 0;
    }
    if (id == 1)
        bound_later = engine_lower_bound(&engine);
    return 1;
}

/* ---- spares ---- */

/* 0 lingers and serves 1, which it grants a spare: 1 asks by a message, 0 spawns 3 at 70. Before
 * that 1 sends to 3. Nobody needs 2. */
static int spare_saw, spare_runs_before;
static vtime spare_clock, spare_bound;

static int spawns(uint32_t id, struct actor *a)
{
    if (id == 0 && a->runs == 1) {
        a->ent.clock = 5;
        engine_linger(&engine, &a->ent);
    }
    if (id == 0) {
        if (drain(a)) {
            spare_runs_before = actors[3].runs;
            post(0, 3, 70, ENGINE_MSG_SPAWN | ENGINE_MSG_URGENT);
            post(0, 1, 80, 0);
        }
        block(0, VTIME_NEVER, 1);
        return 0;
    }
    if (id == 1 && a->runs == 1) {
        a->ent.clock = 90;
        post(1, 3, 60, 0);
        post(1, 0, 60, 0);
        block(1, VTIME_NEVER, 1);
        return 0;
    }
    if (id == 3) {
        spare_clock = a->ent.clock;
        spare_bound = engine_lower_bound(&engine);
        spare_saw = drain(a);
    }
    return 1;
}

static void test_spares(uint64_t schedule)
{
    spares = 2;
    is_int(run(2, 5, 0, schedule, spawns), ENGINE_END_DONE,
           "a lingering entity does not keep the run going");
    is_int(spare_runs_before, 0, "only a spawn message starts a spare");
    is_int(spare_clock, 70, "a spare's clock begins when its spawn message arrives");
    is_int(spare_bound, 70, "it holds the lower bound back, the lingering one does not");
    is_int(spare_saw, 2, "what came before its spawn message has waited");
    ok(engine.spawned == 1 && engine.done == 3 && actors[2].runs == 0, "a spare that nobody needs");
    engine_fini(&engine);
    spares = 0;
}

/* ---- entities that block while a thread of theirs runs ---- */

static int busy_sent;

/* 0 is busy until it has been woken three times to look, then sends what 1 waits for; 1 has a
 * decision to take before. */
static int busy(uint32_t id, struct actor *a)
{
    if (id == 1) {
        if (drain(a))
            return 1;
        block(1, a->runs == 1 ? 50 : VTIME_NEVER, 1);
        return 0;
    }
    if (a->runs < 4) {
        engine_block_busy(&engine, &a->ent, 0, VTIME_NEVER, 1);
        return 0;
    }
    busy_sent = (int)engine.reached;
    post(0, 1, engine.reached + 5, 0);
    return 1;
}

static int never_busy(uint32_t id, struct actor *a)
{
    if (id == 0 && a->runs < 4)
        engine_block_busy(&engine, &a->ent, 0, VTIME_NEVER, 1);
    else
        block(id, VTIME_NEVER, 1);
    return 0;
}

static void test_busy(void)
{
    is_int(run(2, 5, 0, 0, busy), ENGINE_END_DONE, "one that is busy is no deadlock");
    is_int(busy_sent, 50, "nothing waits for it: it goes on from what was reached");
    is_int((int)engine.busy, 0, "and is busy no more");
    engine_fini(&engine);
    is_int(run(2, 5, 0, 0, never_busy), ENGINE_END_DEADLOCK, "once nobody is busy, it is one");
    engine_fini(&engine);
}

static void test_all(void)
{
    test_all_run();
    test_out();
    test_wake_after();
    test_wake_from();
    test_groups();
    is_int(run(2, 5, 0, 0, fifo), ENGINE_END_DONE, "fifty messages");
    ok(fifo_good, "come in the order they were sent, whatever their arrival");
    engine_fini(&engine);
    test_grants();
    run(1, 0, 0, 0, greedy);
    is_int(second_free, 0, "a grant with lookahead 0 is good for one decision");
    engine_fini(&engine);
    test_ends();
    test_brought();
    run(3, 5, 0, 0, clocks);
    is_int(bound_first, 0, "the last new entity has a clock of 0");
    is_int(bound_later, 101, "ended entities do not hold the lower bound back");
    is_int(engine_lower_bound(&engine), VTIME_NEVER, "all ended: nothing can come");
    engine_fini(&engine);
    test_spares(0);
    test_spares(11);
    test_busy();
}

/* Two entities wait for each other a hundred times; the scheduler wants its turn after every
 * one. */
static int alternate(uint32_t id, struct actor *a)
{
    drain(a);
    post(id, 1 - id, 10, 0);
    engine.hand_until = 0;
    if (a->runs == 100)
        return 1;
    block(id, VTIME_NEVER, 1);
    return 0;
}

/* ---- what is outside waits, too ---- */

static int is_led, is_sure;

/* 0 is away, and 1 waits for it. */
static int lead(uint32_t id, struct actor *a)
{
    if (id == 0 && a->runs == 1) {
        if (is_led)
            engine_block_led(&engine, &a->ent, 0, VTIME_NEVER, is_sure);
        else
            engine_block_away(&engine, &a->ent, 0, VTIME_NEVER, 1);
        return 0;
    }
    if (id == 0) {
        post(0, 1, 5, 0);
        return 1;
    }
    if (drain(a))
        return 1;
    block(id, VTIME_NEVER, 1);
    return 0;
}

static void test_led(void)
{
    gives_up = 1;
    is_led = 0;
    is_int(run(2, 5, 0, 0, lead), ENGINE_END_DONE, "one that is away may come back");
    engine_fini(&engine);
    is_led = 1;
    is_int(run(2, 5, 0, 0, lead), ENGINE_END_DONE, "even if it seems to wait for others");
    engine_fini(&engine);
    is_sure = 1;
    is_int(run(2, 5, 0, 0, lead), ENGINE_END_DEADLOCK, "if it surely does, it is a deadlock");
    engine_fini(&engine);
    gives_up = 0;
    is_int(run(2, 5, 0, 0, lead), ENGINE_END_DONE, "but not before the owner gives up");
    engine_fini(&engine);
}

/* ---- real time ---- */

/* Entity 0 is away until it wants its turn; 1 has a decision due at 25, then at 60. */
static int in_real_time(uint32_t id, struct actor *a)
{
    if (id == 0 && a->runs == 1) {
        engine_block_away(&engine, &a->ent, 0, VTIME_NEVER, UINT32_MAX);
        return 0;
    }
    if (id == 0) {
        return 1;
    }
    if (a->runs < 3)
        block(id, a->runs == 1 ? 25 : 60, 1);
    return a->runs == 3;
}

static int stuck_in_real_time(uint32_t id, struct actor *a)
{
    (void)a;
    block(id, VTIME_NEVER, 1);
    return 0;
}

static void test_pace(void)
{
    is_paced = 1;
    real_time = paces = wants = 0;
    is_int(run(2, 0, 0, 0, in_real_time), ENGINE_END_DONE, "in real time: all end");
    ok(order[0] == 0 && order[1] == 1 && order[2] == 1 && order[3] == 0 && order[4] == 1,
       "a decision waits for its time, and a call is taken when it comes");
    ok(asked[0] == 25 && asked[1] == 25 && asked[2] == 25 && asked[3] == 60,
       "it waits for what is due next");
    is_int(real_time, 70, "and no longer: what is due at 60 happens after it");
    engine_fini(&engine);
    is_int(run(2, 0, 0, 0, stuck_in_real_time), ENGINE_END_DEADLOCK,
           "if nobody is away, there may be a deadlock");
    engine_fini(&engine);
    is_paced = 0;
}

int main(void)
{
    plan_auto();
    test_all();
    test_led();
    test_pace();
    is_int(handed, 0, "the scheduler ran between any two turns");
    handing = HANDING_FOR_TIME;
    test_all();
    ok(handed > 100, "entities handed over to each other");
    handed = 0;
    is_int(run(2, 5, 0, 0, alternate), ENGINE_END_DONE, "two that take turns");
    is_int(handed, 0, "when the time is over, the scheduler has its turn");
    engine_fini(&engine);
    handing = HANDING_FOR_TURNS;
    test_all();
    ok(handed > HOSTILE(-1, 100), "entities handed over to each other, and to the scheduler");
    is_int(mistaken, 0, "whoever ran, it was its turn");
    return done_testing();
}
