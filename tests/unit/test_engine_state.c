/*
 * engine/state.h: which state may follow which, what is counted, and that the audit, which the
 * hostile build makes at every quiescence, sees what is wrong.
 */
#include "engine/state.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine_fini.h"
#include "tap.h"

enum { COUNT = 3 };

static struct engine engine;
static struct engine_entity entities[COUNT];

static void set_up(void)
{
    struct engine_config cfg = {.base = entities, .stride = sizeof entities[0]};

    memset(entities, 0, sizeof entities);
    rank_map_init(&cfg.map, RANK_MAP_BLOCK, COUNT, 1, 0, NULL);
    engine_init(&engine, &cfg);
}

/* Does the function end this process by an assertion? Tried in a child. */
static int is_fatal(void (*what)(void))
{
    int status = 0;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};

        setrlimit(RLIMIT_CORE, &none);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        what();
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void test_table(void)
{
    int only_ready = 1, none = 1, fits = 1;

    for (int to = 0; to < ENGINE_STATES; to++) {
        for (int from = ENGINE_BLOCKED; from < ENGINE_STATES; from++) {
            only_ready &= engine_may_change((enum engine_state)from, (enum engine_state)to) ==
                          (to == ENGINE_READY);
            fits &= !engine_may_change(ENGINE_READY, (enum engine_state)from);
        }
        none &= !engine_may_change(ENGINE_DONE, (enum engine_state)to);
    }
    ok(only_ready, "a blocked entity can only become ready, whatever else it does");
    ok(fits, "and only one that runs can block");
    ok(none, "nothing follows the end");
    ok(!engine_may_change(ENGINE_NEW, ENGINE_READY) &&
           !engine_may_change(ENGINE_NEW, ENGINE_BLOCKED) &&
           engine_may_change(ENGINE_NEW, ENGINE_RUNNING),
       "what begins is a turn, ...");
    ok(engine_may_change(ENGINE_NEW, ENGINE_SPAWNED) &&
           !engine_may_change(ENGINE_SPAWNED, ENGINE_READY),
       "... also for a spare");
    ok(engine_may_change(ENGINE_OUT, ENGINE_READY) &&
           !engine_may_change(ENGINE_OUT, ENGINE_RUNNING) &&
           !engine_may_change(ENGINE_OUT, ENGINE_BLOCKED),
       "one that is out must get a turn first");
}

static void change(uint32_t id, enum engine_state to)
{
    engine_change(&engine, &entities[id], to);
}

static void test_counts(void)
{
    set_up();
    for (uint32_t i = 0; i < COUNT; i++)
        change(i, ENGINE_RUNNING);
    change(0, ENGINE_SURELY_LED);
    change(1, ENGINE_BUSY);
    change(2, ENGINE_OUT);
    ok(engine.away == 1 && engine.busy == 1 && engine.out == 1, "one of each is counted");
    for (uint32_t i = 0; i < COUNT; i++) {
        change(i, ENGINE_READY);
        change(i, ENGINE_RUNNING);
    }
    ok(engine.away == 0 && engine.busy == 0 && engine.out == 0, "until it is ready");
    change(0, ENGINE_BLOCKED);
    change(1, ENGINE_AWAY);
    change(2, ENGINE_LED);
    ok(engine.away == 2 && engine.busy == 0, "blocked ones are not, unless they wait for others");
    engine_audit(&engine);
}

static void forgets_one(void)
{
    engine.away--;
    engine_audit(&engine);
}

static void runs(void)
{
    entities[0].state = ENGINE_RUNNING;
    engine_audit(&engine);
}

static void decides_nothing(void)
{
    entities[0].heap_pos = 1;
    engine_audit(&engine);
}

static void ended_unseen(void)
{
    entities[0].state = ENGINE_DONE;
    engine_audit(&engine);
}

static void jumps(void)
{
    change(0, ENGINE_RUNNING);
}

static void test_audit(void)
{
    ok(is_fatal(forgets_one), "a count that is wrong");
    ok(is_fatal(runs), "an entity that runs at quiescence");
    ok(is_fatal(decides_nothing), "a decision that is not in the heap");
    ok(is_fatal(ended_unseen), "an end that was not counted");
    is_int(is_fatal(jumps), HOSTILE(1, 0), "the hostile build checks every change");
    engine_fini(&engine);
}

int main(void)
{
    plan_auto();
    test_table();
    test_counts();
    test_audit();
    return done_testing();
}
