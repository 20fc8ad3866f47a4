/*
 * The report of a deadlock: who waits for whom, the cycle, limits of its length.
 */
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/stuck.h"
#include "engine/waits.h"
#include "engine_fini.h"
#include "tap.h"

static struct engine_entity *entities;
static int64_t (*waits_on)(uint32_t id);
static struct buf text;
static int numbered; /* waits are about things without a name */
static int64_t more; /* requests of each rank, if it has several */

static int resume(void *owner, uint32_t id)
{
    engine_block((struct engine *)owner, &entities[id], id, VTIME_NEVER, 1);
    return 0;
}

static int resume_odd_ends(void *owner, uint32_t id)
{
    return id % 2 ? 1 : resume(owner, id);
}

static void explain(void *owner, uint32_t id, struct engine_waits *waits)
{
    struct engine_wait *out = engine_waits_add(waits);

    (void)owner;
    snprintf(out->text, sizeof out->text, "waits in call %u", id);
    out->waits_on = waits_on(id);
    engine_waits_edge(waits, out->waits_on);
    for (int64_t i = 1; i < more; i++) {
        out = engine_waits_add(waits);
        if (out)
            snprintf(out->text, sizeof out->text, "and for %lld", (long long)((id + i) % 12));
        engine_waits_edge(waits, (id + i) % 12);
    }
    if (!numbered)
        return;
    snprintf(out->kind, sizeof out->kind, id % 4 == 3 ? "window" : "communicator");
    snprintf(out->made, sizeof out->made, "of %u", 90 + id % 2);
    out->identity = 90 + id % 2;
}

static void collect(const char *line, size_t n)
{
    buf_add(&text, line, n);
}

/* The report as one string. */
static const char *report(uint32_t n, int64_t (*on)(uint32_t), int (*how)(void *, uint32_t))
{
    struct engine engine;
    struct buf parts;
    struct engine_ops ops = {.resume = how, .explain = explain};
    struct engine_config cfg = {.stride = sizeof *entities, .ops = &ops, .owner = &engine};

    entities = mem_zalloc(n * sizeof *entities);
    cfg.base = entities;
    waits_on = on;
    buf_clear(&text);
    rank_map_init(&cfg.map, RANK_MAP_BLOCK, n, 1, 0, NULL);
    engine_init(&engine, &cfg);
    is_int(engine_run(&engine), ENGINE_END_DEADLOCK, "deadlock");
    log_set_writer(collect);
    buf_init(&parts);
    engine_stuck_collect(&engine, &parts);
    engine_stuck_report(ENGINE_END_DEADLOCK, n, &parts, NULL);
    buf_fini(&parts);
    log_set_writer(NULL);
    engine_fini(&engine);
    mem_free(entities);
    return buf_str(&text);
}

static int has(const char *part)
{
    int found = strstr(buf_str(&text), part) != NULL;

    if (!found)
        diag("no '%s' in:\n%s", part, buf_str(&text));
    return found;
}

static int64_t next_of_four(uint32_t id)
{
    return (id + 1) % 4;
}
static int64_t any(uint32_t id)
{
    (void)id;
    return -1;
}
static int64_t chain(uint32_t id)
{
    return id ? (int64_t)id - 1 : -1;
}
static int64_t tail_and_cycle(uint32_t id)
{
    return id < 5 ? (int64_t)id + 1 : id == 5 ? 3 : -1;
}
static int64_t self_wait(uint32_t id)
{
    return id;
}
static int64_t ring(uint32_t id)
{
    return (id + 1) % 100;
}
static int64_t pairs(uint32_t id)
{
    return id ^ 1;
}
static int64_t neighbour(uint32_t id)
{
    return (int64_t)id + 1;
}

int main(void)
{
    plan_auto();
    buf_init(&text);
    report(4, next_of_four, resume);
    ok(has("cycle of 4: rank 0 -> 1 -> 2 -> 3 -> 0\n"), "the cycle");
    ok(has("rank 2 at 0 s: waits in call 2"), "each rank's own words");
    ok(has("4 of 4 ranks blocked, 0 ended"), "the totals");
    report(3, any, resume);
    ok(!strstr(buf_str(&text), "cycle"), "no cycle when all wait for anybody");
    report(6, chain, resume);
    ok(!strstr(buf_str(&text), "cycle"), "no cycle in a chain");
    report(6, tail_and_cycle, resume);
    ok(has("cycle of 3: rank 3 -> 4 -> 5 -> 3\n"), "a cycle with a tail leading to it");
    report(2, self_wait, resume);
    ok(has("cycle of 1: rank 0 -> 0\n"), "a rank that waits for itself");
    ok(has("cycle of 1: rank 1 -> 1\n"), "and another one");
    report(30, pairs, resume);
    ok(has("cycle of 2: rank 0 -> 1 -> 0\n") && has("cycle of 2: rank 18 -> 19 -> 18\n"),
       "every cycle, up to ten");
    ok(has("... and 5 more cycles\n") && !strstr(buf_str(&text), "rank 20 -> 21"),
       "the others are counted");
    numbered = 1;
    report(6, any, resume);
    numbered = 0;
    ok(has("waits in call 0, communicator 1\n") && has("waits in call 1, communicator 2\n") &&
           has("waits in call 2, communicator 1\n"),
       "things are numbered as they appear");
    ok(has("waits in call 3, window 1\n"), "those of another kind by themselves");
    ok(has("  communicator 1: of 90\n") && has("  communicator 2: of 91\n") &&
           has("  window 1: of 91\n"),
       "and described once");
    report(100, ring, resume);
    ok(has("cycle of 100: ") && has("-> ... -> 0\n"), "a long cycle is cut");
    ok(has("... and 80 more blocked ranks"), "and so is the list");
    ok(!strstr(buf_str(&text), "rank 20 at"), "after 20 ranks");
    more = 3;
    report(12, next_of_four, resume);
    ok(has("rank 5 at 0 s: waits in call 5\n") && has("    and for 6\norrery:     and for 7\n"),
       "every request has a line");
    ok(has("cycle of 3: rank 0 -> 1 -> 3 -> 0\n") && has("... and 569 more cycles\n"),
       "and an edge: the shortest cycles come first");
    more = 20;
    report(12, next_of_four, resume);
    ok(has("    and for 7\norrery:     and 12 more requests\n"), "up to eight are described");
    ok(has("cycle of 1: rank 9 -> 9\n") && has("... and at least "),
       "cycles follow from the others, too, and are too many to be counted");
    more = 0;
    report(4, neighbour, resume_odd_ends);
    ok(has("(rank 1 has ended)") && has("(rank 3 has ended)"), "waiting for one that has ended");
    ok(has("2 of 4 ranks blocked, 2 ended"), "ended ranks are counted");
    buf_fini(&text);
    return done_testing();
}
