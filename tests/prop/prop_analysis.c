/*
 * Random traces against a naive oracle. A small MPI is executed in one global order, in which
 * messages arrive as they are sent, so it is known which receive gets which message; times follow
 * from that. The oracle has all calls in memory and compares everything with everything.
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "analysis/compare.h"
#include "analysis/tables.h"
#include "base/rng.h"
#include "tap.h"
#include "trace_build.h"

#define RANKS_MOST 5
#define STEPS 120
#define CALLS_MOST 4000
#define ITEMS_MOST 8
#define PS 1e-12

static char path[] = "/tmp/orrery-prop-XXXXXX", other_path[] = "/tmp/orrery-prop-XXXXXX";

struct message {
    unsigned from, to;
    int tag, receive; /* -1: no receive is posted for it */
    int64_t sent, ideal;
    int done; /* call that completes its receive, or -1 */
};

struct receive {
    unsigned rank;
    int source, tag; /* -2, -1: any */
    int message;
    int64_t posted;
};

struct call {
    unsigned rank;
    int64_t enter, leave;
    int receives[ITEMS_MOST], sends[ITEMS_MOST]; /* messages that it waits for */
    unsigned receive_count, send_count;
    /* a collective: this rank waits for the entry of that one */
    int kind; /* enum analysis_wait, or -1 */
    int64_t until;
    unsigned cause;
};

struct open_request {
    int number, message, receive; /* a send or a receive */
};

static struct world {
    struct rng rng;
    struct build build;
    unsigned ranks;
    int has_wildcards;
    int has_ties; /* calls take no time, and ranks do things at the same time */
    int64_t clock[RANKS_MOST], ideal[RANKS_MOST];
    int next_request[RANKS_MOST];
    struct open_request open[RANKS_MOST][64];
    unsigned open_count[RANKS_MOST];
    struct message messages[CALLS_MOST];
    int message_count;
    struct receive receives[CALLS_MOST];
    int receive_count;
    struct call calls[CALLS_MOST];
    int call_count;
} w;

static uint64_t below(uint64_t n)
{
    return rng_below(&w.rng, n);
}

/* Times of different ranks are never the same, unless requested. */
static int64_t tick(unsigned rank, int64_t least)
{
    return w.has_ties ? least : (least / 16 + 1) * 16 + rank;
}

/* A call of a rank, after it has computed for a while. */
static struct call *begin(unsigned rank)
{
    struct call *c = &w.calls[w.call_count++];
    int64_t enter = tick(rank, w.clock[rank] + (int64_t)below(w.has_ties ? 3 : 3000));
    w.ideal[rank] += enter - w.clock[rank];
    *c = (struct call){.rank = rank, .enter = enter, .leave = enter, .kind = -1};
    return c;
}

static void end(struct call *c, const char *name, const char *args)
{
    c->leave = tick(c->rank, c->leave + (int64_t)below(w.has_ties ? 1 : 50));
    w.clock[c->rank] = c->leave;
    build_call(&w.build, c->rank, name, c->enter, c->leave, args);
}

/* ---- messages ---- */

static int fits(const struct receive *v, const struct message *m)
{
    return v->rank == m->to && (v->source == -2 || v->source == (int)m->from) &&
           (v->tag == -1 || v->tag == m->tag);
}

static int send(unsigned rank, unsigned to, int tag, int64_t enter)
{
    struct message *m = &w.messages[w.message_count];
    *m = (struct message){rank, to, tag, -1, enter, w.ideal[rank], -1};
    for (int i = 0; i < w.receive_count && m->receive < 0; i++)
        if (w.receives[i].message < 0 && fits(&w.receives[i], m)) {
            w.receives[i].message = w.message_count;
            m->receive = i;
        }
    return w.message_count++;
}

static int post(unsigned rank, int source, int tag, int64_t enter)
{
    struct receive *v = &w.receives[w.receive_count];
    *v = (struct receive){rank, source, tag, -1, enter};
    for (int i = 0; i < w.message_count && v->message < 0; i++)
        if (w.messages[i].receive < 0 && fits(v, &w.messages[i])) {
            w.messages[i].receive = w.receive_count;
            v->message = i;
        }
    return w.receive_count++;
}

/* The call waits for the message, or for the receiver of it. */
static void await_message(struct call *c, int message)
{
    struct message *m = &w.messages[message];
    c->receives[c->receive_count++] = message;
    m->done = (int)(c - w.calls);
    if (m->sent > c->leave)
        c->leave = m->sent;
    if (w.ideal[c->rank] < m->ideal)
        w.ideal[c->rank] = m->ideal;
}

static void await_receiver(struct call *c, int message)
{
    c->sends[c->send_count++] = message;
    int receive = w.messages[message].receive;
    if (receive >= 0 && w.receives[receive].posted > c->leave && below(2))
        c->leave = w.receives[receive].posted;
}

static void do_send(unsigned rank)
{
    char args[128];
    unsigned to = (unsigned)below(w.ranks);
    int tag = (int)below(2), is_blocking = (int)below(2);
    if (!is_blocking && w.open_count[rank] == 60)
        return;
    struct call *c = begin(rank);
    int message = send(rank, to, tag, c->enter);
    if (is_blocking) {
        await_receiver(c, message);
        snprintf(args, sizeof args, "count=7 datatype=1 dest=%u tag=%d comm=0", to, tag);
        end(c, "MPI_Send", args);
        return;
    }
    int number = w.next_request[rank]++;
    w.open[rank][w.open_count[rank]++] = (struct open_request){number, message, -1};
    snprintf(args, sizeof args, "count=7 datatype=1 dest=%u tag=%d comm=0 request=%d", to, tag,
             number);
    end(c, "MPI_Isend", args);
}

static void spec(int *source, int *tag)
{
    *source = (int)below(w.ranks);
    *tag = (int)below(2);
    if (w.has_wildcards && below(3) == 0)
        *source = -2;
    if (w.has_wildcards && below(3) == 0)
        *tag = -1;
}

static void do_irecv(unsigned rank)
{
    char args[128];
    int source, tag, number = w.next_request[rank];
    if (w.open_count[rank] == 60)
        return;
    spec(&source, &tag);
    struct call *c = begin(rank);
    w.next_request[rank]++;
    w.open[rank][w.open_count[rank]++] = (struct open_request){number, -1,
                                                               post(rank, source, tag, c->enter)};
    snprintf(args, sizeof args, "count=7 datatype=1 source=%d tag=%d comm=0 request=%d", source,
             tag, number);
    end(c, "MPI_Irecv", args);
}

/* Only if the message has arrived: it is sent before in the global order, but perhaps not in
 * time. */
static void do_recv(unsigned rank)
{
    char args[128];
    int source, tag;
    spec(&source, &tag);
    struct receive probe = {rank, source, tag, -1, 0};
    for (int i = 0; i < w.message_count; i++) {
        if (w.messages[i].receive >= 0 || !fits(&probe, &w.messages[i]))
            continue;
        struct call *c = begin(rank);
        int receive = post(rank, source, tag, c->enter);
        const struct message *m = &w.messages[w.receives[receive].message];
        await_message(c, w.receives[receive].message);
        snprintf(args, sizeof args, "count=7 datatype=1 source=%d tag=%d comm=0 status=%u:%d:56",
                 source, tag, m->from, m->tag);
        end(c, "MPI_Recv", args);
        return;
    }
}

/* Completes some requests: sends, and receives that have a message. */
static void do_wait(unsigned rank)
{
    char args[512], numbers[128] = "", statuses[256] = "";
    struct open_request taken[ITEMS_MOST];
    unsigned count = 0, kept = 0, want = 1 + (unsigned)below(4);
    for (unsigned i = 0; i < w.open_count[rank]; i++) {
        struct open_request *q = &w.open[rank][i];
        int is_ready = q->receive < 0 || w.receives[q->receive].message >= 0;
        if (is_ready && count < want && below(2))
            taken[count++] = *q;
        else
            w.open[rank][kept++] = *q;
    }
    w.open_count[rank] = kept;
    if (!count)
        return;
    struct call *c = begin(rank);
    for (unsigned i = 0; i < count; i++) {
        size_t n = strlen(numbers), s = strlen(statuses);
        snprintf(numbers + n, sizeof numbers - n, "%s%d", i ? "," : "", taken[i].number);
        if (taken[i].receive < 0) {
            await_receiver(c, taken[i].message);
            snprintf(statuses + s, sizeof statuses - s, "%snone", i ? "," : "");
        } else {
            const struct message *m = &w.messages[w.receives[taken[i].receive].message];
            await_message(c, w.receives[taken[i].receive].message);
            snprintf(statuses + s, sizeof statuses - s, "%s%u:%d:56", i ? "," : "", m->from,
                     m->tag);
        }
    }
    snprintf(args, sizeof args, "count=%u array_of_requests=%s array_of_statuses=%s", count,
             numbers, statuses);
    end(c, "MPI_Waitall", args);
}

/* ---- collectives ---- */

static const struct {
    const char *name;
    int kind;
} collectives[] = {
    {"MPI_Barrier", ANALYSIS_WAIT_BARRIER}, {"MPI_Allreduce", ANALYSIS_WAIT_NXN},
    {"MPI_Bcast", ANALYSIS_LATE_BROADCAST}, {"MPI_Reduce", ANALYSIS_EARLY_REDUCE},
    {"MPI_Scan", ANALYSIS_EARLY_SCAN},
};

/* Whether member `rank` needs that `of` has entered. */
static int needs(int kind, unsigned rank, unsigned of, unsigned root)
{
    switch (kind) {
    case ANALYSIS_LATE_BROADCAST:
        return rank != root && of == root;
    case ANALYSIS_EARLY_REDUCE:
        return rank == root;
    case ANALYSIS_EARLY_SCAN:
        return of <= rank;
    default:
        return 1;
    }
}

static void do_collective(void)
{
    unsigned which = (unsigned)below(sizeof collectives / sizeof collectives[0]);
    unsigned root = (unsigned)below(w.ranks);
    int kind = collectives[which].kind;
    struct call *calls = &w.calls[w.call_count];
    int64_t ideal[RANKS_MOST];
    for (unsigned i = 0; i < w.ranks; i++)
        begin(i);
    memcpy(ideal, w.ideal, sizeof ideal);
    for (unsigned i = 0; i < w.ranks; i++) {
        char args[64];
        struct call *c = &calls[i];
        c->kind = kind;
        for (unsigned k = 0; k < w.ranks; k++) {
            if (!needs(kind, i, k, root))
                continue;
            if (calls[k].enter > c->until)
                c->until = calls[k].enter, c->cause = k;
            if (ideal[k] > w.ideal[i])
                w.ideal[i] = ideal[k];
        }
        if (c->leave < c->until)
            c->leave = c->until;
        snprintf(args, sizeof args, "count=3 datatype=1 root=%u comm=0", root);
        end(c, collectives[which].name, args);
    }
}

/* ---- execution ---- */

static int has_ready(unsigned rank)
{
    for (unsigned i = 0; i < w.open_count[rank]; i++)
        if (w.open[rank][i].receive < 0 || w.receives[w.open[rank][i].receive].message >= 0)
            return 1;
    return 0;
}

static void play(uint64_t seed, int has_wildcards, int has_ties)
{
    w = (struct world){.has_wildcards = has_wildcards, .has_ties = has_ties};
    rng_seed(&w.rng, seed);
    w.ranks = 1 + (unsigned)below(RANKS_MOST);
    build_begin(&w.build, w.ranks);
    for (unsigned i = 0; i < w.ranks; i++) {
        struct call *c = &w.calls[w.call_count++];
        int64_t start = has_ties ? 0 : i;
        *c = (struct call){.rank = i, .enter = start, .leave = start, .kind = -1};
        w.clock[i] = w.ideal[i] = start;
        build_call(&w.build, i, "MPI_Init", start, start, "");
    }
    for (int step = 0; step < STEPS; step++) {
        unsigned rank = (unsigned)below(w.ranks), what = (unsigned)below(20);
        if (what < 6)
            do_send(rank);
        else if (what < 11)
            do_irecv(rank);
        else if (what < 14)
            do_recv(rank);
        else if (what < 19)
            do_wait(rank);
        else
            do_collective();
    }
    for (unsigned i = 0; i < w.ranks; i++) /* receives without a message stay open */
        while (has_ready(i))
            do_wait(i);
}

/* ---- the oracle ---- */

struct truth {
    double waits[ANALYSIS_WAIT_KINDS], pair_time, path[RANKS_MOST], runtime;
};

struct hop {
    unsigned rank, cause;
    int64_t until;
};

static struct hop hops[4 * CALLS_MOST];
static int hop_count;

/* Another message to this rank was sent before `time`, and is not received by calls up to this
 * one. */
static int is_wrong_order(const struct call *c, int message, int64_t time)
{
    for (int i = 0; i < w.message_count; i++) {
        const struct message *m = &w.messages[i];
        int is_later = m->done < 0 || w.calls[m->done].enter > c->enter;
        if (i != message && m->to == c->rank && m->sent < time && is_later)
            return 1;
    }
    return 0;
}

static void wait_until(struct truth *t, const struct call *c, int64_t *until, int64_t time,
                       int kind, unsigned cause)
{
    int64_t stop = time < c->leave ? time : c->leave;
    if (stop <= *until)
        return;
    t->waits[kind] += (double)(stop - *until);
    *until = stop;
    hops[hop_count++] = (struct hop){c->rank, cause, time};
}

/* The next time for which the call waits, after `after`. */
static int64_t next_cause(const struct call *c, int64_t after, int *message, int *is_send)
{
    int64_t next = INT64_MAX;
    for (unsigned i = 0; i < c->receive_count; i++) {
        int64_t sent = w.messages[c->receives[i]].sent;
        if (sent > after && sent < next)
            next = sent, *message = c->receives[i], *is_send = 0;
    }
    for (unsigned i = 0; i < c->send_count; i++) {
        int receive = w.messages[c->sends[i]].receive;
        int64_t posted = receive < 0 ? INT64_MAX : w.receives[receive].posted;
        if (posted > after && posted < next)
            next = posted, *message = c->sends[i], *is_send = 1;
    }
    return next;
}

static int waits_for_messages(const struct call *c, int64_t time)
{
    for (unsigned i = 0; i < c->receive_count; i++)
        if (w.messages[c->receives[i]].sent > time)
            return 1;
    return 0;
}

static void judge_call(struct truth *t, const struct call *c)
{
    int64_t until = c->enter, time = c->enter;
    int message = 0, is_send = 0;
    if (c->kind >= 0) {
        if (c->cause != c->rank)
            wait_until(t, c, &until, c->until, c->kind, c->cause);
        return;
    }
    while ((time = next_cause(c, time, &message, &is_send)) != INT64_MAX) {
        const struct message *m = &w.messages[message];
        if (!is_send)
            wait_until(t, c, &until, time,
                       is_wrong_order(c, message, time) ? ANALYSIS_WRONG_ORDER
                                                        : ANALYSIS_LATE_SENDER,
                       m->from);
        else if (!waits_for_messages(c, time) && time <= c->leave)
            wait_until(t, c, &until, time, ANALYSIS_LATE_RECEIVER, m->to);
    }
}

/* Completion: from when the first has left. */
static void judge_completion(struct truth *t, int first)
{
    int64_t left = INT64_MAX;
    int kind = w.calls[first].kind;
    if (kind != ANALYSIS_WAIT_BARRIER && kind != ANALYSIS_WAIT_NXN)
        return;
    for (unsigned i = 0; i < w.ranks; i++)
        left = w.calls[first + (int)i].leave < left ? w.calls[first + (int)i].leave : left;
    for (unsigned i = 0; i < w.ranks; i++)
        t->waits[ANALYSIS_COMPLETION] += (double)(w.calls[first + (int)i].leave - left);
}

/* Backwards from the end, from hop to hop. */
static void judge_path(struct truth *t)
{
    unsigned rank = 0;
    int64_t time;
    for (unsigned i = 1; i < w.ranks; i++)
        if (w.clock[i] > w.clock[rank])
            rank = i;
    time = w.clock[rank];
    t->runtime = (double)time;
    while (time > 0) {
        const struct hop *last = NULL;
        for (int i = 0; i < hop_count; i++)
            if (hops[i].rank == rank && hops[i].until <= time &&
                (!last || hops[i].until > last->until))
                last = &hops[i];
        t->path[rank] += (double)(time - (last ? last->until : 0));
        time = last ? last->until : 0;
        rank = last ? last->cause : rank;
    }
}

static struct truth judge(void)
{
    struct truth t = {0};
    hop_count = 0;
    for (int i = 0; i < w.call_count; i++) {
        judge_call(&t, &w.calls[i]);
        if (w.calls[i].kind >= 0 && w.calls[i].rank == 0)
            judge_completion(&t, i);
        for (unsigned k = 0; k < w.calls[i].receive_count; k++)
            t.pair_time += (double)(w.calls[i].leave - w.messages[w.calls[i].receives[k]].sent);
    }
    judge_path(&t);
    return t;
}

/* ---- both ---- */

static int is_same(double got, double want)
{
    return fabs(got - want * PS) <= 1e-9 * fabs(want * PS) + 1e-18;
}

/* The number of differences. */
static int differences(const struct analysis *a, const struct truth *t)
{
    int count = 0;
    double time = 0, all = 0, ideal = 0,
           late = a->waits[ANALYSIS_LATE_SENDER] + a->waits[ANALYSIS_WRONG_ORDER];
    for (int k = 0; k < ANALYSIS_WAIT_KINDS; k++) {
        if (k != ANALYSIS_COMPLETION)
            all += a->waits[k];
        /* Which of the two depends on when a wildcard is known, or on what comes first. */
        if ((w.has_wildcards || w.has_ties) &&
            (k == ANALYSIS_LATE_SENDER || k == ANALYSIS_WRONG_ORDER))
            continue;
        if (!is_same(a->waits[k], t->waits[k])) {
            diag("%s: %.17g, expected %.17g", analysis_wait_name(k), a->waits[k] / PS, t->waits[k]);
            count++;
        }
    }
    count += !is_same(late, t->waits[ANALYSIS_LATE_SENDER] + t->waits[ANALYSIS_WRONG_ORDER]);
    for (size_t i = 0; i < a->pair_count; i++)
        time += a->pair[i].time;
    if (!is_same(time, t->pair_time))
        diag("time of pairs: %.17g, expected %.17g", time / PS, t->pair_time), count++;
    if (fabs(a->delay_known + a->delay_unknown - all) > 1e-9 * all + 1e-18)
        diag("delays: %.17g of %.17g", (a->delay_known + a->delay_unknown) / PS, all / PS), count++;
    count += !is_same(a->runtime, t->runtime);
    double on_path = 0;
    for (unsigned i = 0; i < w.ranks; i++) {
        on_path += a->rank[i].path;
        ideal = w.ideal[i] > ideal ? (double)w.ideal[i] : ideal;
        if (!w.has_wildcards && !w.has_ties && !is_same(a->rank[i].path, t->path[i]))
            diag("path of rank %u: %.17g, expected %.17g", i, a->rank[i].path / PS, t->path[i]),
                count++;
    }
    if (!is_same(on_path, t->runtime))
        diag("path: %.17g, expected %.17g", on_path / PS, t->runtime), count++;
    if (!w.has_wildcards && !is_same(a->efficiency.ideal, ideal))
        diag("ideal: %.17g, expected %.17g", a->efficiency.ideal / PS, ideal), count++;
    return count;
}

static int check(uint64_t seed, int has_wildcards, int has_ties)
{
    struct analysis a;
    struct err err;
    play(seed, has_wildcards, has_ties);
    struct truth t = judge();
    build_end(&w.build, path);
    if (analysis_run(&a, path, NULL, &err) != 0)
        return 1;
    int count = differences(&a, &t);
    analysis_fini(&a);
    if (count)
        diag("seed %llu%s", (unsigned long long)seed, has_wildcards ? " with wildcards" : "");
    return count;
}

/* ---- nonsense ---- */

static int64_t any_number(void)
{
    switch (below(8)) {
    case 0:
        return (int64_t)rng_next(&w.rng);
    case 1:
        return (int64_t)below(70000) - 35000;
    default:
        return (int64_t)below(8) - 3;
    }
}

static void put_any(struct trace_stream *s, const struct trace_arg *arg)
{
    int64_t items[4] = {any_number(), any_number(), any_number(), (int64_t)below(4)};
    struct trace_status status = {(int32_t)any_number(), (int32_t)any_number(), below(100),
                                  (uint8_t)below(2), below(8) == 0};
    struct trace_status statuses[2] = {status, {0}};
    if (arg->is_array && arg->class == TRACE_STATUS)
        trace_put_statuses(s, statuses, below(3));
    else if (arg->is_array)
        trace_put_array(s, items, below(5));
    else if (arg->class == TRACE_STATUS)
        trace_put_status(s, &status);
    else if (arg->class == TRACE_REQUEST)
        trace_put_request(s, (int64_t)below(6) - 1);
    else if (arg->class == TRACE_HANDLE || arg->class == TRACE_PLACE)
        trace_put_varint(s, below(20) ? below(4) : rng_next(&w.rng) >> 2);
    else if (arg->class == TRACE_TEXT)
        trace_put_text(s, "x", 1);
    else
        trace_put_number(s, any_number());
}

/* Nonsensical calls of all functions: the analysis must only end. */
static int check_nonsense(uint64_t seed)
{
    struct build b;
    struct analysis a;
    struct err err;
    int64_t times[4] = {0};
    rng_seed(&w.rng, seed);
    unsigned ranks = 1 + (unsigned)below(4);
    build_begin(&b, ranks);
    for (int i = 0; i < 300; i++) {
        unsigned rank = (unsigned)below(ranks), fn = (unsigned)below(b.header.schema->count);
        static const char *const often[] = {"MPI_Isend",        "MPI_Irecv",    "MPI_Waitall",
                                            "MPI_Waitsome",     "MPI_Recv",     "MPI_Bcast",
                                            "MPI_Scan",         "MPI_Start",    "MPI_Send_init",
                                            "MPI_Mprobe",       "MPI_Imrecv",   "MPI_Wait",
                                            "MPI_Request_free", "MPI_Ibarrier", "MPI_Testany"};
        if (below(4))
            fn = (unsigned)trace_schema_find(b.header.schema,
                                             often[below(sizeof often / sizeof often[0])]);
        struct trace_stream *s = &b.streams[rank];
        if (below(10) == 0)
            build_region(&b, rank, (int)below(4) - 1, times[rank]);
        int64_t enter = times[rank] + (int64_t)below(100) - 20,
                leave = times[rank] += (int64_t)below(200);
        trace_call_begin(s, fn, enter < leave ? enter : leave, leave);
        for (unsigned k = 0; k < b.header.schema->fns[fn].count; k++)
            put_any(s, &b.header.schema->fns[fn].args[k]);
        trace_record_end(s);
    }
    build_end(&b, path);
    if (analysis_run(&a, path, NULL, &err) != 0)
        return 1;
    analysis_fini(&a);
    return 0;
}

/* ---- comparing ---- */

static int is_equal(const struct comparison *a, const struct comparison *b, int is_swapped)
{
    if (a->group_count != b->group_count || a->difference_count != b->difference_count)
        return 0;
    for (size_t i = 0; i < a->group_count; i++) {
        const struct compare_group *p = &a->groups[i], *q = &b->groups[i];
        if (p->mean != q->mean || p->max != q->max || p->variance != q->variance ||
            p->values != q->values || p->structure != q->structure ||
            p->only_a != (is_swapped ? q->only_b : q->only_a))
            return 0;
    }
    for (size_t i = 0; i < a->difference_count; i++)
        if (a->differences[i].error != b->differences[i].error ||
            strcmp(a->differences[i].row, b->differences[i].row) != 0)
            return 0;
    return 1;
}

static struct tables tables_of(uint64_t seed, const char *file)
{
    struct tables t;
    struct err err, warning;
    play(seed, 0, 0);
    build_end(&w.build, file);
    if (tables_from_file(&t, file, 0, &warning, &err) != 0)
        build_die("cannot analyse", err.text);
    return t;
}

/* Symmetric, 0 for the same, and the same through XML. */
static int check_compare(uint64_t seed, enum compare_metric metric)
{
    struct tables a = tables_of(seed, path), b = tables_of(seed + 1000, other_path), read;
    struct comparison ab, ba, aa, from_xml;
    struct compare_options o = {.metric = metric};
    struct err err;
    struct buf xml;
    int bad = 0;
    compare_run(&ab, &a, &b, &o, &err);
    compare_run(&ba, &b, &a, &o, &err);
    compare_run(&aa, &a, &a, &o, &err);
    bad += !is_equal(&ab, &ba, 1);
    for (size_t i = 0; i < aa.group_count; i++)
        bad += aa.groups[i].mean != 0 || aa.groups[i].max != 0 || aa.groups[i].structure != 0;
    bad += aa.difference_count != 0;
    buf_init(&xml);
    tables_write_xml(&a, &xml);
    buf_write_file(&xml, path, &err);
    buf_fini(&xml);
    if (tables_read_xml(&read, path, &err) != 0) {
        diag("%s", err.text);
        return bad + 1;
    }
    compare_run(&from_xml, &read, &b, &o, &err);
    bad += !is_equal(&ab, &from_xml, 0);
    compare_fini(&ab);
    compare_fini(&ba);
    compare_fini(&aa);
    compare_fini(&from_xml);
    tables_fini(&a);
    tables_fini(&b);
    tables_fini(&read);
    return bad;
}

int main(void)
{
    int bad = 0;
    plan_auto();
    close(mkstemp(path));
    close(mkstemp(other_path));
    for (uint64_t seed = 1; seed <= 100 && bad < 10; seed++)
        bad += check(seed, 0, 0);
    is_int(bad, 0, "named receives, seeds 1 to 100");
    bad = 0;
    for (uint64_t seed = 1; seed <= 100 && bad < 10; seed++)
        bad += check(seed, 1, 0);
    is_int(bad, 0, "receives with wildcards, seeds 1 to 100");
    bad = 0;
    for (uint64_t seed = 1; seed <= 100 && bad < 10; seed++)
        bad += check(seed, 0, 1);
    is_int(bad, 0, "everything takes no time, seeds 1 to 100");
    bad = 0;
    for (uint64_t seed = 1; seed <= 100; seed++)
        bad += check_nonsense(seed);
    is_int(bad, 0, "nonsense, seeds 1 to 100");
    bad = 0;
    for (uint64_t seed = 1; seed <= 8; seed++)
        bad += check_compare(seed, COMPARE_SYMMETRIC) + check_compare(seed, COMPARE_LOG);
    is_int(bad, 0, "comparing is symmetric, seeds 1 to 8");
    unlink(path);
    unlink(other_path);
    return done_testing();
}
