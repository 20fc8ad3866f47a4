/*
 * procs.c - batches between processes, and quiescence of all of them.
 *
 * Invariants
 *  1. A batch counts as sent when it is given to the link, and as received when all its messages
 *     are with their entities. A report is made with all boxes empty.
 *  2. The coordinator discards the reports of processes that get a verdict, and ignores reports of
 *     an older epoch that are still in flight. Other reports stay valid.
 *  3. When a message of a round reaches a process, that process knows of the round: from the
 *     coordinator, or from the head of the batch. So no decision waits for a later round than it
 *     would in one process. With a medium, it has taken part in the round (procs_early.c).
 */
#include "engine/procs.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/mem.h"
#include "base/ticks.h"
#include "engine/medium.h"
#include "engine/procs_internal.h"

/* bytes of a batch that is being filled, and of all of them, at most */
#define BOX_MAX HOSTILE((size_t)256, (size_t)64 << 10)
#define BOX_ALL ((size_t)4 << 20)
/* With more processes, look this often without result before reporting. */
#define REPORT_AT_ONCE 16u
#define POLL_NS 40000.0     /* how often to poll the link while entities run */
#define POLL_PROC_NS 1000.0 /* less often with many processes: this for each of them */
#define IDLE_NS 20000000.0  /* how often to call the engine's idle hook while waiting */

/* The `next` field is not sent. For the medium, the call follows its message. */
#define WIRE_SKIP offsetof(struct engine_msg, arrival)

static size_t wire_size(uint64_t size)
{
    return (size - WIRE_SKIP + 7) / 8 * 8;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* A hash of the k-th batch from one process to another. */
static uint64_t batch_hash(uint64_t from, uint64_t to, uint64_t k)
{
    return mix(mix(from << 32 | to) + k * 0x9e3779b97f4a7c15u);
}

/* ---- sending ---- */

/* Writes the head of a batch: how far this process has come. */
static void tell(struct procs *p, uint32_t to, char *data)
{
    const struct engine *e = p->cfg.engine;

    p->told[to] = (struct procs_head){e->safe_until, e->reached, p->epoch};
    memcpy(data, &p->told[to], sizeof p->told[to]);
}

static void batch_send(struct procs *p, uint32_t to, int tag, char *data, size_t len)
{
    const struct proc_link *link = &p->cfg.link;

    assert(to < link->procs && to != link->proc);
    if (tag == PROCS_BATCH) {
        assert(len >= sizeof(struct procs_head));
        tell(p, to, data);
    }
    p->sent += batch_hash(link->proc, to, p->sent_to[to]++);
    p->batches++;
    link->send(link->owner, to, tag, data, len);
}

/* Queues the batch for sending at the next opportunity: this may be a rank's context. */
static void queue(struct procs *p, uint32_t to, int tag, char *data, size_t len)
{
    struct procs_batch *b = mem_alloc(sizeof *b);

    *b = (struct procs_batch){NULL, to, tag, data, len};
    *p->full_last = b;
    p->full_last = &b->next;
    p->cfg.engine->unsent = 2;
}

static void box_close(struct procs *p, uint32_t to)
{
    struct procs_box *box = &p->boxes[to];

    assert(box->data && box->listed && box->len > sizeof(struct procs_head));
    queue(p, to, PROCS_BATCH, box->data, box->len);
    box->data = NULL;
    box->len = 0;
}

static char *box_room(struct procs *p, uint32_t to, size_t bytes)
{
    struct procs_box *box = &p->boxes[to];
    char *at;

    if (box->data && box->len + bytes > p->box_size)
        box_close(p, to);
    if (!box->listed) {
        assert(p->open_count < p->cfg.link.procs);
        box->listed = 1;
        p->open[p->open_count++] = to;
    }
    if (!box->data) { /* a message larger than a box gets its own */
        box->len = sizeof(struct procs_head);
        box->data = proc_link_alloc(box->len + bytes > p->box_size ? box->len + bytes
                                                                   : p->box_size);
    }
    at = box->data + box->len;
    box->len += bytes;
    return at;
}

static void peers_send(void *owner, struct engine_msg *m, const struct engine_call *call,
                       uint32_t proc)
{
    struct procs *p = owner;
    struct engine *e = p->cfg.engine;
    size_t bytes = wire_size(m->size);
    char *at = box_room(p, proc, bytes + (call ? sizeof *call : 0));

    assert_hot(proc != p->cfg.link.proc && m->size >= sizeof *m);
    assert_hot(!call == !(m->flags & ENGINE_MSG_MEDIUM));
    memcpy(at, (char *)m + WIRE_SKIP, m->size - WIRE_SKIP);
    if (call)
        memcpy(at + bytes, call, sizeof *call);
    engine_msg_free(e, m);
    if (e->unsent < 2)
        e->unsent = ticks_now() >= e->next_poll ? 2 : 1;
}

/* Does this process know more about the steps than it has told that one? */
static int is_ahead(const struct procs *p, uint32_t to)
{
    const struct engine *e = p->cfg.engine;

    return p->told[to].safe_until < e->safe_until || p->told[to].reached < e->reached ||
           (p->cfg.in_step && p->told[to].step < p->epoch);
}

void procs_flush(struct procs *p)
{
    struct procs_batch *b;

    while ((b = p->full)) {
        p->full = b->next;
        if (b->tag != PROCS_BATCH && is_ahead(p, b->to)) /* an item has no head */
            batch_send(p, b->to, PROCS_BATCH, proc_link_alloc(sizeof(struct procs_head)),
                       sizeof(struct procs_head));
        batch_send(p, b->to, b->tag, b->data, b->len);
        mem_free(b);
    }
    p->full_last = &p->full;
    for (uint32_t i = 0; i < p->open_count; i++) {
        struct procs_box *box = &p->boxes[p->open[i]];

        if (box->data)
            batch_send(p, p->open[i], PROCS_BATCH, box->data, box->len);
        *box = (struct procs_box){0};
    }
    p->open_count = 0;
    p->cfg.engine->unsent = 0;
}

void procs_note(struct procs *p, uint32_t to, int tag, void *data, size_t bytes)
{
    assert(tag >= PROCS_NOTE && tag < PROCS_ITEM);
    p->cfg.link.send(p->cfg.link.owner, to, tag, data, bytes);
}

void procs_item(struct procs *p, uint32_t to, int tag, void *data, size_t bytes)
{
    assert(tag >= PROCS_ITEM);
    if (p->boxes[to].data)
        box_close(p, to);
    queue(p, to, tag, data, bytes);
}

/* ---- receiving ---- */

static void batch_deliver(struct procs *p, const char *data, size_t len)
{
    struct engine *e = p->cfg.engine;
    struct procs_head sender;
    struct engine_msg head;
    struct engine_call call;

    assert(len >= sizeof sender);
    memcpy(&sender, data, sizeof sender);
    /* with a medium all take part in all steps, and early batches wait (procs_early.c) */
    assert(!p->cfg.in_step || sender.step <= p->epoch);
    engine_learn(e, sender.safe_until, sender.reached);
    for (size_t at = sizeof sender; at < len;) {
        struct engine_msg *m;
        size_t size;

        memcpy((char *)&head + WIRE_SKIP, data + at, sizeof head - WIRE_SKIP);
        size = head.size;
        assert(size >= sizeof *m && wire_size(size) <= len - at);
        m = engine_msg_alloc(e, size);
        memcpy((char *)m + WIRE_SKIP, data + at, size - WIRE_SKIP);
        at += wire_size(size);
        if (!(m->flags & ENGINE_MSG_MEDIUM)) {
            engine_deliver(e, m, NULL);
            continue;
        }
        assert(sizeof call <= len - at);
        memcpy(&call, data + at, sizeof call);
        at += sizeof call;
        engine_deliver(e, m, &call);
    }
}

static void count_received(struct procs *p, uint32_t from)
{
    p->received += batch_hash(from, p->cfg.link.proc, p->got_from[from]++);
    p->delivered++;
}

static void take_report(struct procs *p, uint32_t from, const struct procs_report *r);

static void take(struct procs *p, uint32_t from, int tag, const void *data, size_t bytes)
{
    struct procs_report report;

    assert(from < p->cfg.link.procs);
    switch (tag) {
    case PROCS_BATCH:
        if (!procs_is_dropped(p, data))
            batch_deliver(p, data, bytes);
        count_received(p, from);
        break;
    case PROCS_REPORT:
        assert(p->cfg.link.proc == 0 && bytes == sizeof report);
        memcpy(&report, data, sizeof report);
        take_report(p, from, &report);
        break;
    case PROCS_VERDICT:
        /* only who has reported in this epoch gets one, which ends the epoch */
        assert(from == 0 && bytes == sizeof p->verdict && !p->has_verdict);
        assert(p->last.serial > 0 && p->last.epoch == p->epoch);
        memcpy(&p->verdict, data, sizeof p->verdict);
        p->has_verdict = 1;
        break;
    case PROCS_LOOK:
        assert(from == 0 && bytes == sizeof p->look);
        memcpy(&p->look, data, sizeof p->look);
        break;
    case PROCS_LOOKED:
        assert(p->cfg.link.proc == 0 && bytes == sizeof p->look);
        p->looked += memcmp(&p->look, data, sizeof p->look) == 0;
        break;
    default:
        p->cfg.note(p->cfg.owner, from, tag, data, bytes);
        if (tag >= PROCS_ITEM)
            count_received(p, from);
    }
}

static unsigned take_held(struct procs *p)
{
    struct procs_held *held = procs_release(p);
    unsigned count = 0;

    for (struct procs_held *h; (h = held); count++) {
        held = h->next;
        take(p, h->from, h->tag, h->data, h->bytes);
        proc_link_free(h->data);
        mem_free(h);
    }
    return count;
}

unsigned procs_receive(struct procs *p)
{
    const struct proc_link *link = &p->cfg.link;
    unsigned count = p->held ? take_held(p) : 0;
    uint32_t from;
    size_t bytes;
    void *data;
    int tag;

    while (link->recv(link->owner, &from, &tag, &data, &bytes)) {
        count++;
        if (procs_hold_early(p, from, tag, data, bytes))
            continue;
        take(p, from, tag, data, bytes);
        proc_link_free(data);
    }
    return count;
}

static void peers_poll(void *owner)
{
    struct procs *p = owner;

    procs_flush(p);
    procs_receive(p);
    p->cfg.engine->next_poll = ticks_now() + p->poll_ticks;
}

/* ---- the coordinator ---- */

/* Sends the verdict to the process, which will report again. */
static void send_verdict(struct procs *p, uint32_t to, const struct engine_status *all)
{
    const struct proc_link *link = &p->cfg.link;
    struct procs_verdict v = {p->epochs[to]++, *all};

    assert(p->has_report[to] && p->report_count > 0);
    p->has_report[to] = 0;
    p->report_count--;
    p->sum_sent -= p->reports[to].sent;
    p->sum_received -= p->reports[to].received;
    if (to != link->proc) {
        link->send(link->owner, to, PROCS_VERDICT, proc_link_copy(&v, sizeof v), sizeof v);
        return;
    }
    p->verdict = v;
    p->has_verdict = 1;
}

static void give_verdict(struct procs *p, enum engine_forced forced)
{
    const struct engine *e = p->cfg.engine;
    struct engine_status all = p->reports[0].status;

    /* all have reported, and nothing is in flight */
    assert(p->report_count == p->cfg.link.procs && p->sum_sent == p->sum_received);
    for (uint32_t i = 1; i < p->cfg.link.procs; i++)
        engine_status_merge(&all, &p->reports[i].status);
    engine_status_complete(e, &all);
    all.forced = forced;
    p->waits = engine_status_waits(e, &all);
    if (p->waits)
        return;
    for (uint32_t i = 0; i < p->cfg.link.procs; i++) {
        struct procs_report *r = &p->reports[i];

        p->settled[i] = r->serial;
        if (i == p->cfg.link.proc || !engine_status_skips(e, &all, &r->status))
            send_verdict(p, i, &all);
        else
            r->status.progressed = 0;
    }
}

static void take_report(struct procs *p, uint32_t from, const struct procs_report *r)
{
    struct procs_report *old = &p->reports[from];

    assert(r->epoch <= p->epochs[from]);
    if (r->epoch != p->epochs[from])
        return;
    if (p->has_report[from]) {
        assert(r->serial > old->serial && r->progress >= old->progress);
        p->sum_sent -= old->sent;
        p->sum_received -= old->received;
    } else {
        p->has_report[from] = 1;
        p->report_count++;
    }
    *old = *r;
    /* more may have happened there before the last verdict than the verdict took into account */
    old->status.progressed = r->progress > p->settled[from];
    p->sum_sent += r->sent;
    p->sum_received += r->received;
    p->waits = 0;
    p->futile = 0;
    p->report_serial++;
    if (p->report_count == p->cfg.link.procs && p->sum_sent == p->sum_received)
        give_verdict(p, ENGINE_FORCED_NOTHING);
}

/* ---- entities outside that wait for each other ---- */

/*
 * Nothing follows from the status of all, and the owner says that those outside wait for each other
 * in state `state`. But what they have sent may not have reached all processes: a process that is
 * kept from running has not even looked. So all are asked to look, and only if all have, and
 * nothing has changed, is something forced: a decision, or if that does not help for long, a look
 * of busy entities, or the end.
 */
static void unlock(struct procs *p)
{
    const struct proc_link *link = &p->cfg.link;
    uint64_t state = p->cfg.is_stuck(p->cfg.owner, p->report_serial + p->forced);

    if (!state)
        return;
    if (state == p->look && p->looked == link->procs - 1) {
        p->look = 0;
        p->forced++;
        give_verdict(p, ENGINE_FORCED_OFFERS);
        if (p->waits && p->cfg.asks(p->cfg.owner))
            give_verdict(p, ENGINE_FORCED_DECISION);
        p->futile = p->waits ? p->futile + 1 : 0;
        if (p->futile < PROCS_LOOK_AFTER)
            return;
        p->futile = 0;
        give_verdict(p, ENGINE_FORCED_LOOK);
        if (p->waits)
            give_verdict(p, ENGINE_FORCED_END);
    } else if (state != p->look) {
        p->look = state;
        p->looked = 0;
        for (uint32_t i = 1; i < link->procs; i++)
            link->send(link->owner, i, PROCS_LOOK, proc_link_copy(&state, sizeof state),
                       sizeof state);
    }
}

/* Tells the coordinator that this process has handled what had arrived, and has nothing to do. */
static void say_looked(struct procs *p)
{
    const struct proc_link *link = &p->cfg.link;

    link->send(link->owner, 0, PROCS_LOOKED, proc_link_copy(&p->look, sizeof p->look),
               sizeof p->look);
    p->look = 0;
}

/* ---- quiescence ---- */

static void report(struct procs *p, const struct engine_status *mine)
{
    const struct proc_link *link = &p->cfg.link;

    assert(!p->open_count && !p->full); /* a report is made with all boxes empty */
    assert(p->epoch >= p->last.epoch);
    if (mine->progressed)
        p->progress = p->last.serial + 1;
    p->last = (struct procs_report){.epoch = p->epoch,
                                    .serial = p->last.serial + 1,
                                    .progress = p->progress,
                                    .sent = p->sent,
                                    .received = p->received,
                                    .status = *mine};
    p->cfg.engine->progressed = 0;
    p->delivered_before = p->delivered;
    p->reported = 1;
    if (link->proc == 0)
        take_report(p, 0, &p->last);
    else
        link->send(link->owner, 0, PROCS_REPORT, proc_link_copy(&p->last, sizeof p->last),
                   sizeof p->last);
}

static void accept_verdict(struct procs *p, struct engine_status *all)
{
    assert(p->verdict.epoch == p->epoch);
    *all = p->verdict.all;
    p->has_verdict = 0;
    p->reported = 0;
    p->epoch++;
}

/* Entities that are away may have gone on without a message to others. */
static int is_same(const struct engine_status *mine, const struct engine_status *last)
{
    if (mine->offers != last->offers)
        return 0;
    if (!mine->away && !last->away)
        return 1;
    return !mine->progressed && mine->away == last->away && mine->led == last->led &&
           mine->away_clock == last->away_clock && mine->busy == last->busy &&
           mine->first.due == last->first.due && mine->first.id == last->first.id &&
           mine->medium == last->medium && mine->done == last->done;
}

static int peers_settle(void *owner, const struct engine_status *mine, struct engine_status *all)
{
    struct procs *p = owner;
    struct engine *e = p->cfg.engine;
    uint64_t before = p->delivered, next_idle = ticks_now();
    unsigned tries = 0;

    procs_flush(p);
    p->reported = p->reported && p->delivered == p->delivered_before && p->sent == p->last.sent &&
                  is_same(mine, &p->last.status);
    for (;;) {
        if (!p->reported && tries >= p->report_after)
            report(p, mine);
        if (p->has_verdict) {
            accept_verdict(p, all);
            return 1;
        }
        if (p->delivered != before || e->stop || engine_ready(e))
            return 0;
        if (p->look && p->reported && p->cfg.link.proc != 0)
            say_looked(p);
        if (p->waits && p->cfg.is_stuck)
            unlock(p);
        if (ticks_now() >= next_idle && e->idle) {
            e->idle(e->cfg.owner);
            next_idle = ticks_now() + (uint64_t)(IDLE_NS * ticks_per_ns());
        }
        if (procs_receive(p))
            tries = 0;
        else if (!engine_ready(e)) /* the look may have woken one from outside */
            procs_pause(p, &tries);
    }
}

/* ---- start and end ---- */

void procs_init(struct procs *p, const struct procs_config *cfg)
{
    uint32_t n = cfg->link.procs;
    double poll_ns = POLL_PROC_NS * n > POLL_NS ? POLL_PROC_NS * n : POLL_NS;

    memset(p, 0, sizeof *p);
    p->cfg = *cfg;
    p->peers = (struct engine_peers){p, peers_send, peers_poll, peers_settle};
    p->boxes = mem_zalloc(n * sizeof *p->boxes);
    p->open = mem_zalloc(n * sizeof *p->open);
    p->full_last = &p->full;
    p->told = mem_zalloc(n * sizeof *p->told);
    p->sent_to = mem_zalloc(n * sizeof *p->sent_to);
    p->got_from = mem_zalloc(n * sizeof *p->got_from);
    p->poll_ticks = (uint64_t)(poll_ns * ticks_per_ns());
    procs_wait_init(&p->wait, cfg->link.wakes);
    p->box_size = BOX_ALL / n < BOX_MAX ? BOX_ALL / n : BOX_MAX;
    p->report_after = n > REPORT_AT_ONCE ? n : 0;
    if (cfg->link.proc == 0) {
        p->reports = mem_zalloc(n * sizeof *p->reports);
        p->has_report = mem_zalloc(n);
        p->epochs = mem_zalloc(n * sizeof *p->epochs);
        p->settled = mem_zalloc(n * sizeof *p->settled);
    }
}
