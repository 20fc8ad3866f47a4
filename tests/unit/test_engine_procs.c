/*
 * Two processes' halves of the protocol, one step at a time: the order of messages and items, large
 * messages, messages to entities that have ended, that nothing is kept, that nothing is forced
 * before all have looked, and that a process does not sleep when it has work.
 */
#include "engine/procs.h"
#include "base/ticks.h"
#include "engine_fini.h"
#include "pool_live.h"
#include "tap.h"

enum { PROCS = 2, QUEUE = 100, ITEM = PROCS_ITEM, NOTE = PROCS_NOTE };

struct parcel {
    uint32_t from;
    int tag;
    void *data;
    size_t bytes;
};

static struct parcel queue[PROCS][QUEUE];
static int head[PROCS], tail[PROCS];
static struct engine engines[PROCS];
static struct procs procs[PROCS];
static struct engine_entity entities[PROCS][2]; /* 0 and 1, 2 and 3 */
static int inbox_at_item[QUEUE], items, notes;
static int looks_until_wake; /* then a look of process 0 wakes its first entity */
static int sleeps;

static void send(void *owner, uint32_t to, int tag, void *data, size_t bytes)
{
    queue[to][tail[to]++] = (struct parcel){(uint32_t)(uintptr_t)owner, tag, data, bytes};
}

static int recv(void *owner, uint32_t *from, int *tag, void **data, size_t *bytes)
{
    uint32_t me = (uint32_t)(uintptr_t)owner;
    struct parcel p;

    if (me == 0 && looks_until_wake && --looks_until_wake == 0)
        engine_wake(&engines[0], 0);
    if (head[me] == tail[me])
        return 0;
    p = queue[me][head[me]++];
    *from = p.from;
    *tag = p.tag;
    *data = p.data;
    *bytes = p.bytes;
    return 1;
}

static void wait(void *owner, uint64_t ns)
{
    (void)owner;
    (void)ns;
    sleeps++;
}

static int count_inbox(const struct engine_entity *x)
{
    const struct engine_msg *m = x->inbox;
    int n = 0;

    if (m)
        do {
            n++;
            m = m->next;
        } while (m != x->inbox);
    return n;
}

static void note(void *owner, uint32_t from, int tag, const void *data, size_t bytes)
{
    (void)owner;
    (void)from;
    (void)data;
    (void)bytes;
    notes += tag == NOTE;
    if (tag == ITEM)
        inbox_at_item[items++] = count_inbox(&entities[1][0]);
}

/* ---- entities outside ---- */

/* An entity is away with a smaller clock than the first decision has. */
static const struct engine_status away = {.first = {10, 0},
                                          .abort = {VTIME_NEVER, UINT32_MAX},
                                          .medium = VTIME_NEVER,
                                          .away = 1,
                                          .away_clock = 5};

/* Entities are away, and all wait for others. */
static const struct engine_status led = {.first = {VTIME_NEVER, UINT32_MAX},
                                         .abort = {VTIME_NEVER, UINT32_MAX},
                                         .medium = VTIME_NEVER,
                                         .away = 1,
                                         .led = 1,
                                         .away_clock = VTIME_NEVER};

enum { PATIENCE = 100, STATE = 7 };
static int asked; /* how often the coordinator has asked whether those outside wait */
static const struct engine_status *other; /* the status of process 1 */

static void stop(void *owner)
{
    (void)owner;
    engines[1].stop = 1;
}

/* Process 1 takes what has arrived, and reports. */
static void run_other(void)
{
    struct engine_status all;

    engines[1].stop = 0;
    engines[1].idle = stop;
    procs[1].peers.settle(&procs[1], other, &all);
}

/* Process 1 seldom runs. */
static uint64_t is_stuck(void *owner, uint64_t serial)
{
    (void)owner;
    (void)serial;
    if (++asked % PATIENCE == 0)
        run_other(); /* gets the question, and the next time answers */
    return STATE;
}

static int asks(void *owner)
{
    (void)owner;
    return 1;
}

static void set_up(void)
{
    memset(entities, 0, sizeof entities);
    memset(head, 0, sizeof head);
    memset(tail, 0, sizeof tail);
    items = notes = 0;
    for (uint32_t i = 0; i < PROCS; i++) {
        struct proc_link link = {.owner = (void *)(uintptr_t)i,
                                 .proc = i,
                                 .procs = PROCS,
                                 .send = send,
                                 .recv = recv,
                                 .wait = wait};
        struct procs_config pc = {.engine = &engines[i],
                                  .link = link,
                                  .note = note,
                                  .is_stuck = i == 0 ? is_stuck : NULL,
                                  .asks = asks};
        struct engine_config cfg = {.base = entities[i],
                                    .stride = sizeof entities[i][0],
                                    .peers = &procs[i].peers};

        procs_init(&procs[i], &pc);
        rank_map_init(&cfg.map, RANK_MAP_BLOCK, 4, PROCS, i, NULL);
        engine_init(&engines[i], &cfg);
        engines[i].next_poll = UINT64_MAX;
    }
}

static void tear_down(void)
{
    for (uint32_t i = 0; i < PROCS; i++) {
        procs_fini(&procs[i]);
        engine_fini(&engines[i]);
    }
}

/* From entity 0 to entity `dst`. */
static void post(uint32_t dst, size_t size, uint8_t fill)
{
    struct engine_msg *m = engine_msg_alloc(&engines[0], sizeof *m + size);

    m->src = 0;
    m->dst = dst;
    m->arrival = 5;
    memset(m + 1, fill, size);
    engine_inject(&engines[0], m);
}

static void post_item(void)
{
    procs_item(&procs[0], 1, ITEM, proc_link_alloc(8), 8);
}

/* Takes the next message of entity 2 of process 1: its size if it is all `fill`, else -1. */
static long long taken(uint8_t fill)
{
    struct engine_msg *m = engine_poll(&entities[1][0]);
    long long size;

    if (!m)
        return -1;
    size = (long long)(m->size - sizeof *m);
    for (long long i = 0; i < size; i++)
        if (((uint8_t *)(m + 1))[i] != fill)
            size = -1;
    engine_msg_free(&engines[1], m);
    return size;
}

static void test_order(void)
{
    set_up();
    post(2, 8, 1);
    post(2, 9, 2);
    post_item();
    post(2, 0, 3);
    post_item();
    post_item();
    post(2, 10, 4);
    procs_flush(&procs[0]);
    procs_receive(&procs[1]);
    is_int(items, 3, "all items come");
    ok(inbox_at_item[0] == 2 && inbox_at_item[1] == 3 && inbox_at_item[2] == 3,
       "each behind the messages sent before it");
    ok(taken(1) == 8 && taken(2) == 9 && taken(3) == 0 && taken(4) == 10, "messages are in order");
    ok(procs[0].sent == procs[1].received && procs[0].sent != 0, "and all are accounted for");
    tear_down();
}

static void test_sizes(void)
{
    static const size_t sizes[] = {65000, 600, 65536, 70000, 1, 3000000, 65496, 65497, 0, 131072};
    const int n = sizeof sizes / sizeof sizes[0];
    int good = 1;

    set_up();
    for (int i = 0; i < n; i++)
        post(2, sizes[i], (uint8_t)i);
    ok(engines[0].unsent, "full boxes are to be sent soon");
    is_int(tail[1], 0, "but not before the scheduler says so");
    procs_flush(&procs[0]);
    ok(!engines[0].unsent, "then nothing is left");
    procs_receive(&procs[1]);
    for (int i = 0; i < n; i++)
        good &= taken((uint8_t)i) == (long long)sizes[i];
    ok(good, "messages around and above the size of a box");
    ok(procs[0].sent == procs[1].received, "all are accounted for");
    is_int(pool_live(&engines[0].msgs) + pool_live(&engines[1].msgs), 0, "and freed");
    tear_down();
}

static void test_ended(void)
{
    set_up();
    entities[1][0].state = ENGINE_DONE;
    post(2, 100, 1);
    post(3, 100, 1);
    procs_flush(&procs[0]);
    procs_receive(&procs[1]);
    ok(!entities[1][0].inbox && entities[1][1].inbox, "an entity that has ended gets nothing");
    ok(procs[0].sent == procs[1].received, "what it does not get is accounted for");
    engine_msg_free(&engines[1], engine_poll(&entities[1][1]));
    is_int(pool_live(&engines[1].msgs), 0, "and freed");
    tear_down();
}

static void test_notes(void)
{
    set_up();
    procs_note(&procs[0], 1, NOTE, proc_link_alloc(8), 8);
    procs_receive(&procs[1]);
    is_int(notes, 1, "a note comes at once");
    ok(procs[0].sent == 0 && procs[1].received == 0, "and counts for nothing");
    post(2, 8, 1); /* left in a box, as after an early end */
    post_item();
    tear_down();
}

/* Process 1 has not taken the step that process 0 has; then its engine is stopped. */
static void test_stopped(void)
{
    set_up();
    procs[0].cfg.in_step = procs[1].cfg.in_step = 1;
    procs[0].epoch = procs[1].epoch + 1;
    post(2, 8, 1);
    procs_flush(&procs[0]);
    procs_note(&procs[0], 1, NOTE, proc_link_alloc(8), 8);
    procs_receive(&procs[1]);
    ok(notes == 0 && !entities[1][0].inbox, "what is ahead of a process waits");
    engines[1].stop = 1;
    procs_note(&procs[0], 1, NOTE, proc_link_alloc(8), 8);
    procs_receive(&procs[1]);
    is_int(notes, 2, "no note waits for a process that was stopped");
    ok(!entities[1][0].inbox, "which gets no message any more");
    engines[1].stop = 0;
    tear_down();
}

static void test_stuck(void)
{
    struct engine_status all = {0};

    set_up();
    asked = 0;
    other = &away;
    run_other();
    is_int(procs[0].peers.settle(&procs[0], &away, &all), 1, "the coordinator decides in the end");
    is_int((long long)all.forced, ENGINE_FORCED_DECISION, "which is forced");
    is_int(asked, 2 * PATIENCE + 1, "but not before the other process has looked");
    is_int(tail[1], 2, "after one question");
    procs_receive(&procs[1]);
    tear_down();
}

static void test_led(void)
{
    struct engine_status all = {0};

    set_up();
    asked = 0;
    other = &led;
    run_other();
    is_int(procs[0].peers.settle(&procs[0], &led, &all), 1, "if all wait for others, it gives up");
    ok(all.forced == ENGINE_FORCED_END && all.led == 2, "which ends the run");
    ok(asked >= 2 * PATIENCE * PROCS_LOOK_AFTER, "but not before all have looked again and again");
    procs_receive(&procs[1]);
    tear_down();
}

/* What comes from outside arrives by the same link. */
static void test_woken(void)
{
    struct engine_status all;

    set_up();
    procs[0].wait.spin = procs[0].wait.glance = 0; /* it sleeps after each fruitless look */
    entities[0][0].state = ENGINE_RUNNING;
    engine_block_away(&engines[0], &entities[0][0], 0, VTIME_NEVER, 1);
    looks_until_wake = 3;
    sleeps = 0;
    is_int(procs[0].peers.settle(&procs[0], &away, &all), 0, "an entity is woken from outside");
    is_int(sleeps, 2, "the process does not sleep before the entity runs");
    tear_down();
}

int main(void)
{
    plan_auto();
    ticks_per_ns();
    test_order();
    test_sizes();
    test_ended();
    test_notes();
    test_stopped();
    test_stuck();
    test_led();
    test_woken();
    return done_testing();
}
