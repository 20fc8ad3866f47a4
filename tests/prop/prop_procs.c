/*
 * One simulation on one or several processes: what comes out must be the same.
 *
 * Random scenarios (procs_program.h) are run by one engine without peers, and by 1 to 6 engines
 * that are connected by an adversarial link (procs_link.h), with every kind of placement, with and
 * without a random schedule. Equal must be: what every entity observed, how the run ended, the
 * status of all at the end, the number of rounds, safe_until, and, between runs with peers, the
 * status at every quiescence, as process 0 sees them: others stay out of rounds in which they have
 * nothing to do. Also checked: safe_until never decreases, no message comes to a process with an
 * arrival before its safe_until or that of its sender, nobody knows of later rounds than process 0,
 * nothing is in flight at the end, nobody waits for an item at quiescence. In some scenarios all
 * messages pass a medium (procs_medium.h), and every process takes part in every round.
 *
 *     prop_procs [first seed [number of seeds [0 contexts | 1 threads | 2 both]]]
 */
#include <stdlib.h>

#include "base/ticks.h"
#include "engine_fini.h"
#include "pool_live.h"
#include "procs_medium.h"
#include "procs_program.h"

struct result {
    enum engine_end end;
    struct engine_status all;
    uint64_t rounds, hash, injected, trace;
    vtime safe_until;
};

static struct {
    uint64_t runs, twos, rounds, seen, items, big, batches, reports, ends[ENGINE_END_GOES_ON];
    int faults, differ;
} sum;

static void scenario_make(struct scenario *s, uint64_t seed)
{
    static const vtime lookaheads[] = {0, 0, 1, 7, 100, 1000}, jitters[] = {1, 3, 20, 200};
    static const vtime limits[] = {0, 15, 100, 1000, VTIME_S};
    struct rng r;

    rng_seed(&r, seed);
    *s = (struct scenario){.seed = seed,
                           .entities = 1 + (uint32_t)rng_below(&r, ENTITIES),
                           .steps = 3 + (int)rng_below(&r, 25),
                           .lookahead = lookaheads[rng_below(&r, 6)],
                           .jitter = jitters[rng_below(&r, 4)],
                           .idle_limit = limits[rng_below(&r, 5)]};
    if (s->idle_limit == VTIME_S)
        s->idle_limit = 3 * s->lookahead + 50;
    s->abort_in = rng_below(&r, 5) ? 0 : 100;
    s->hang_in = rng_below(&r, 3) ? 0 : 8;
    s->poll_in = rng_below(&r, 3) ? 0 : 8;
    s->item_in = rng_below(&r, 2) ? 0 : 5;
    s->big_in = rng_below(&r, 4) ? 0 : 60;
    s->note_in = rng_below(&r, 2) ? 0 : 6;
    s->has_medium = rng_below(&r, 6) == 0;
    s->notice_in = rng_below(&r, 3) ? 4 : 0;
}

/* ---- looking at what goes between the engine and its peers ---- */

static int look_settle(void *owner, const struct engine_status *mine, struct engine_status *all)
{
    struct node *n = owner;
    int settled = n->procs.peers.settle(&n->procs, mine, all);
    uint64_t h = n->trace;

    if (!settled)
        return 0;
    FAULT(n, settled == 1 && n->waiting, "quiescence with an item in flight");
    h = mixed(mixed(h, (uint64_t)all->first.due), all->first.id);
    h = mixed(mixed(h, (uint64_t)all->abort.due), all->abort.id);
    h = mixed(mixed(h, (uint64_t)all->last_progress), all->done);
    n->trace = mixed(h, all->progressed);
    n->settled++;
    n->twos += settled == 2;
    return settled;
}

static void look_send(void *owner, struct engine_msg *m, const struct engine_call *call,
                      uint32_t proc)
{
    struct node *n = owner;

    n->procs.peers.send(&n->procs, m, call, proc);
}

static void look_poll(void *owner)
{
    struct node *n = owner;

    n->procs.peers.poll(&n->procs);
}

/* A batch holds messages without their links, each padded to 8 bytes, behind its head. */
static void look_batch(struct node *n, const char *data, size_t bytes)
{
    const size_t skip = offsetof(struct engine_msg, arrival);
    struct procs_head head;
    struct engine_msg m;

    memcpy(&head, data, sizeof head);
    for (size_t at = sizeof head; at < bytes; at += (m.size - skip + 7) / 8 * 8) {
        memcpy((char *)&m + skip, data + at, sizeof m - skip);
        if (m.flags & ENGINE_MSG_MEDIUM) {
            at += sizeof(struct engine_call);
            continue;
        }
        if (m.flags & ENGINE_MSG_URGENT && n->s->has_medium)
            continue; /* a notice comes without the lookahead */
        FAULT(n, m.arrival < head.safe_until, "a message comes before its sender's safe_until");
        FAULT(n, m.arrival < n->engine.safe_until, "a message comes before safe_until");
        FAULT(n, !rank_map_is_here(&n->engine.cfg.map, m.dst), "a message went astray");
    }
}

static int look_recv(void *owner, uint32_t *from, int *tag, void **data, size_t *bytes)
{
    struct node *n = owner;

    if (!link_recv(&n->port, from, tag, data, bytes))
        return 0;
    if (*tag == LINK_BATCH)
        look_batch(n, *data, *bytes);
    return 1;
}

static void look_link_send(void *owner, uint32_t to, int tag, void *data, size_t bytes)
{
    struct node *n = owner;

    link_send(&n->port, to, tag, data, bytes);
}

static void look_wait(void *owner, uint64_t ns)
{
    struct node *n = owner;

    link_wait(&n->port, ns);
}

/* ---- one run ---- */

static const struct engine_ops ops = {.resume = resume, .notice = server_notice};
static struct server server; /* of process 0 */
static struct engine_medium medium;

static void node_init(struct node *n, const struct scenario *s, struct net *net, uint32_t proc,
                      struct rank_map map, uint64_t schedule)
{
    struct engine_config cfg = {.map = map,
                                .lookahead = s->lookahead,
                                .idle_limit = s->idle_limit,
                                .random = schedule != 0,
                                .seed = schedule + proc,
                                .ops = &ops,
                                .owner = n,
                                .stride = sizeof(struct actor)};
    struct procs_config pc = {.engine = &n->engine,
                              .note = note,
                              .owner = n,
                              .in_step = s->has_medium};

    memset(n, 0, sizeof *n);
    if (s->has_medium && proc == 0) {
        medium = server_start(&server, n);
        cfg.medium = &medium;
    }
    n->s = s;
    n->alone = net == NULL;
    n->actors = mem_zalloc(map.count * sizeof *n->actors + 1);
    cfg.base = n->actors;
    for (uint32_t i = 0; i < map.count; i++) {
        rng_seed(&n->actors[i].rng, mixed(s->seed, rank_map_number(&map, i)));
        n->actors[i].posted = -1;
    }
    if (net) {
        n->port = (struct port){.net = net, .proc = proc};
        rng_seed(&n->port.rng, net->seed * 8 + proc);
        pc.link = net_link(&n->port, !net->stepped && rng_below(&n->port.rng, 4));
        pc.link.owner = n;
        pc.link.recv = look_recv;
        pc.link.send = look_link_send;
        pc.link.wait = look_wait;
        procs_init(&n->procs, &pc);
        n->peers = (struct engine_peers){n, look_send, look_poll, look_settle};
        cfg.peers = &n->peers;
    }
    engine_init(&n->engine, &cfg);
}

static void node_run(void *arg)
{
    struct node *n = arg;

    n->end = engine_run(&n->engine);
}

static void node_check(struct node *n)
{
    if (server.node == n)
        server_end(&server);
    FAULT(n, n->end == ENGINE_END_DONE && pool_live(&n->engine.msgs),
          "messages are left at the end");
    FAULT(n, !n->alone && n->settled != n->engine.rounds + 1, "not every verdict was a round");
    sum.seen += n->engine.rounds;
    if (n->faults && sum.faults++ < 10)
        diag("seed %llu, %s: %s", (unsigned long long)n->s->seed,
             n->alone ? "alone" : "with others", n->fault);
    sum.twos += n->twos;
    sum.items += n->items_got;
    sum.big += n->big_got;
}

static void node_fini(struct node *n)
{
    for (uint32_t i = 0; i < n->engine.cfg.map.count; i++) {
        for (struct engine_msg *m; (m = engine_poll(&n->actors[i].ent));)
            engine_msg_free(&n->engine, m); /* large ones are not the pool's */
        mem_free(n->actors[i].known);
    }
    mem_free(n->actors);
    engine_fini(&n->engine);
    if (!n->alone)
        procs_fini(&n->procs);
    rank_map_fini(&n->engine.cfg.map);
}

static int same_status(const struct engine_status *a, const struct engine_status *b)
{
    return a->first.due == b->first.due && a->first.id == b->first.id &&
           a->abort.due == b->abort.due && a->abort.id == b->abort.id &&
           a->last_progress == b->last_progress && a->done == b->done &&
           a->progressed == b->progressed;
}

/* All engines have to agree; entities are asked in the order of their numbers. */
static void collect(struct node *nodes, uint32_t procs, struct result *r)
{
    const struct node *zero = &nodes[0];

    *r = (struct result){.end = zero->end,
                         .all = zero->engine.all,
                         .rounds = zero->engine.rounds,
                         .trace = zero->trace,
                         .safe_until = zero->engine.safe_until};
    for (uint32_t p = 0; p < procs; p++) {
        struct node *n = &nodes[p];

        FAULT(n, n->end != r->end, "engines end differently");
        FAULT(n, !same_status(&n->engine.all, &r->all), "the status of all differs");
        FAULT(n, n->engine.rounds > r->rounds, "more rounds than process 0 has seen");
        FAULT(n, n->engine.rounds == r->rounds && n->trace != r->trace, "verdicts differ");
        FAULT(n, n->engine.safe_until > r->safe_until, "safe_until is ahead");
        r->injected += n->engine.injected;
    }
    for (uint32_t i = 0; i < zero->s->entities; i++) {
        const struct node *n = &nodes[rank_map_proc(&zero->engine.cfg.map, i)];
        const struct actor *a = &n->actors[rank_map_index(&n->engine.cfg.map, i)];

        r->hash = mixed(r->hash, mixed(a->hash, (uint64_t)a->ent.clock));
        r->hash = mixed(r->hash, a->ent.state);
    }
}

/* procs 0: one engine without peers. */
static void run(const struct scenario *s, uint32_t procs, enum rank_map_kind kind, int stepped,
                uint64_t luck, uint64_t schedule, struct result *r)
{
    static struct node nodes[LINK_PROCS];
    uint32_t count = procs ? procs : 1, owner[ENTITIES];
    void *args[LINK_PROCS];
    static struct net net;
    struct rank_map map;
    struct rng rng;

    rng_seed(&rng, luck);
    for (uint32_t i = 0; i < s->entities; i++) {
        uint32_t at = (uint32_t)rng_below(&rng, i + 1u); /* the first `count` are shuffled in */

        owner[i] = owner[at];
        owner[at] = i < count ? i : (uint32_t)rng_below(&rng, count);
    }
    net_start(&net, count, stepped, luck);
    for (uint32_t p = 0; p < count; p++) {
        rank_map_init(&map, kind, s->entities, count, p, owner);
        node_init(&nodes[p], s, procs ? &net : NULL, p, map, schedule);
        args[p] = &nodes[p];
    }
    if (procs)
        net_run(&net, node_run, args);
    else
        node_run(&nodes[0]);
    collect(nodes, count, r);
    FAULT(&nodes[0], net_finish(&net), "batches or items are in flight at the end");
    for (uint32_t p = 0; p < count; p++) {
        node_check(&nodes[p]);
        node_fini(&nodes[p]);
    }
    sum.runs++;
    sum.batches += net.delivered[LINK_BATCH];
    sum.reports += net.delivered[LINK_REPORT];
    sum.rounds += r->rounds * count;
}

static const char *difference(const struct result *a, const struct result *b)
{
    return a->end != b->end                               ? "end"
           : !same_status(&a->all, &b->all)               ? "status of all"
           : a->rounds != b->rounds                       ? "rounds"
           : a->safe_until != b->safe_until               ? "safe_until"
           : a->injected != b->injected                   ? "messages"
           : a->hash != b->hash                           ? "observations"
           : a->trace && b->trace && a->trace != b->trace ? "verdicts"
                                                          : NULL;
}

static void check_seed(uint64_t seed, int stepped)
{
    struct result want, got;
    struct scenario s;

    scenario_make(&s, seed);
    run(&s, 0, RANK_MAP_BLOCK, 0, seed, 0, &want);
    sum.ends[want.end]++;
    for (uint32_t procs = 0; procs <= LINK_PROCS && procs <= s.entities; procs++) {
        for (int k = RANK_MAP_BLOCK; k <= (procs > 1 ? RANK_MAP_LIST : RANK_MAP_BLOCK); k++) {
            uint64_t luck = seed * 64 + procs * 4 + (uint64_t)k;
            uint64_t schedule = luck % 2 || procs == 0 ? luck * 8 + 8 : 0;
            const char *what;

            run(&s, procs, (enum rank_map_kind)k, stepped, luck, schedule, &got);
            what = difference(&want, &got);
            if (what && sum.differ++ < 10)
                diag("seed %llu: %s differ: %u processes, placement %d, schedule %llu, %s",
                     (unsigned long long)seed, what, procs, k, (unsigned long long)schedule,
                     stepped ? "contexts" : "threads");
            if (procs == 1)
                want.trace = got.trace;
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : 60;
    int modes = argc > 3 ? atoi(argv[3]) : 2;

    plan_auto();
    ticks_per_ns(); /* before there are threads */
#ifdef __SANITIZE_THREAD__
    modes = 1; /* it does not know of contexts */
#endif
    diag("seeds %llu to %llu", (unsigned long long)first, (unsigned long long)(first + count - 1));
    for (uint64_t seed = first; seed < first + count; seed++) {
        if (modes != 1)
            check_seed(seed, 1);
        if (modes == 1 || (modes == 2 && seed % 8 == 0))
            check_seed(seed, 0);
    }
    diag("%llu runs, %llu rounds, %llu verdicts overtaken, %llu items, %llu large messages",
         (unsigned long long)sum.runs, (unsigned long long)sum.rounds, (unsigned long long)sum.twos,
         (unsigned long long)sum.items, (unsigned long long)sum.big);
    diag("processes stayed out of rounds %llu times", (unsigned long long)(sum.rounds - sum.seen));
    diag("contexts: %llu batches and %llu reports came", (unsigned long long)sum.batches,
         (unsigned long long)sum.reports);
    diag("ends: %llu done, %llu deadlocks, %llu livelocks, %llu aborts",
         (unsigned long long)sum.ends[ENGINE_END_DONE],
         (unsigned long long)sum.ends[ENGINE_END_DEADLOCK],
         (unsigned long long)sum.ends[ENGINE_END_LIVELOCK],
         (unsigned long long)sum.ends[ENGINE_END_ABORTED]);
    is_int(sum.faults, 0, "every engine keeps the rules");
    is_int(sum.differ, 0, "neither processes nor placement nor schedule change anything");
    return done_testing();
}
