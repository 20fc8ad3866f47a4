/*
 * Traces of random programs (analysis_program.h) against a naive oracle, which has all calls in
 * memory and compares everything with everything.
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "analysis/compare.h"
#include "analysis/tables.h"
#include "analysis_program.h"
#include "tap.h"

#define PS 1e-12

static char path[] = "/tmp/orrery-prop-XXXXXX", other_path[] = "/tmp/orrery-prop-XXXXXX";

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
        const struct analysis_rank *k = &a->rank[i];
        if (!is_same(k->file, (double)w.file[i]) ||
            !is_same(k->communication + k->file, k->mpi / PS) ||
            !is_same(k->compute + k->communication + k->file, k->end / PS))
            diag("classes of rank %u: %.17g of %.17g", i, k->file / PS, k->end / PS), count++;
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
    else if (arg->class == TRACE_HANDLE || arg->class == TRACE_BUFFER)
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
    build_win(&b, 0);
    build_win(&b, 1);
    for (unsigned i = 0; i < 2 * ranks; i++) {
        const uint8_t file = (uint8_t)(i % 2);
        build_group(&b, i / 2, i % 2, (int64_t[]){i % 2, i % 3}, 2);
        trace_other(&b.locals[i / 2], TRACE_DEFINE_FILE, 0, &file, 1);
    }
    for (int i = 0; i < 300; i++) {
        unsigned rank = (unsigned)below(ranks), fn = (unsigned)below(b.header.schema->count);
        static const char *const often[] =
            {"MPI_Isend",        "MPI_Irecv",          "MPI_Waitall",    "MPI_Waitsome",
             "MPI_Recv",         "MPI_Bcast",          "MPI_Scan",       "MPI_Start",
             "MPI_Send_init",    "MPI_Mprobe",         "MPI_Imrecv",     "MPI_Wait",
             "MPI_Request_free", "MPI_Ibarrier",       "MPI_Testany",    "MPI_Win_post",
             "MPI_Win_start",    "MPI_Win_complete",   "MPI_Win_wait",   "MPI_Win_lock",
             "MPI_Win_unlock",   "MPI_Win_lock_all",   "MPI_Put",        "MPI_Win_unlock_all",
             "MPI_File_open",    "MPI_File_write_all", "MPI_Comm_spawn", "MPI_Pready",
             "MPI_Psend_init",   "MPI_Finalize"};
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
