/*
 * machine.c - computes L, o, g, G, O and S from round trips and overheads.
 *
 * First, half round trips are fitted piecewise, separately up to and beyond the eager limit: this
 * is what the model must reproduce. Then each piece is divided: the overheads are those measured in
 * the calls, and the rest belongs to the network. Copies of a pipelined transfer overlap, so
 * overheads may be longer than the whole; then they are shortened in proportion. At least a tenth
 * of the constant part remains latency, which is the lookahead of a simulation.
 */
#include "calibrate/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define LATENCY_PART 0.1  /* least fraction of a piece's constant */
#define CONSTANT_PART 0.1 /* least fraction of an empty message's time in every piece */
#define SMALL 64          /* the gap is the interval of messages up to this size */
#define DISTURBED 2       /* times slower than a larger message: disturbed */
#define ROUNDING 1e-12
/* Ratio of interval to overhead below which the overhead explains the interval. */
#define HIDDEN 1.05

/* ---- points ---- */

struct points {
    struct calibrate_point *at;
    size_t count;
};

static int by_x(const void *a, const void *b)
{
    const struct calibrate_point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

int calibrate_is_disturbed(const struct calibrate_raw *raw, const struct calibrate_record *r)
{
    for (size_t i = 0; i < raw->count; i++) {
        const struct calibrate_record *other = &raw->records[i];
        if (other->where == r->where && other->bytes > r->bytes && other->ranks == r->ranks &&
            DISTURBED * other->median < r->median && strcmp(other->kind, r->kind) == 0)
            return 1;
    }
    return 0;
}

static struct points collect_all(const struct calibrate_raw *raw, const char *kind,
                                 enum calibrate_where where, uint64_t from, uint64_t to,
                                 int disturbed)
{
    struct points out = {mem_alloc((raw->count + 1) * sizeof *out.at), 0};
    for (size_t i = 0; i < raw->count; i++) {
        const struct calibrate_record *r = &raw->records[i];
        if (strcmp(r->kind, kind) == 0 && r->where == where && r->bytes >= from && r->bytes < to &&
            (disturbed || !calibrate_is_disturbed(raw, r)))
            out.at[out.count++] = (struct calibrate_point){(double)r->bytes, r->median,
                                                           calibrate_weight(r->q1, r->median,
                                                                            r->q3)};
    }
    qsort(out.at, out.count, sizeof *out.at, by_x);
    return out;
}

/* Records of a kind, within or between nodes, with from <= bytes < to, sorted; disturbed ones only
 * if there are no others. */
static struct points collect(const struct calibrate_raw *raw, const char *kind,
                             enum calibrate_where where, uint64_t from, uint64_t to)
{
    struct points out = collect_all(raw, kind, where, from, to, 0);
    if (out.count)
        return out;
    mem_free(out.at);
    return collect_all(raw, kind, where, from, to, 1);
}

/* The time of an empty message, or of the smallest. */
static double least_of(const struct points *p)
{
    double least = p->count ? p->at[0].y : 0;
    for (size_t i = 1; i < p->count; i++)
        least = fmin(least, p->at[i].y);
    return least;
}

static double median_of(const struct calibrate_raw *raw, const char *kind)
{
    const struct calibrate_record *r = calibrate_raw_find(raw, kind, CALIBRATE_ANYWHERE);
    return r ? r->median : 0;
}

/* ---- dividing a piece ---- */

/* The overhead of a call in a piece. */
static void fit_overhead(const struct calibrate_raw *raw, const char *kind,
                         enum calibrate_where where, uint64_t from, uint64_t to,
                         struct calibrate_value *each, struct calibrate_value *per_byte)
{
    struct points p = collect(raw, kind, where, from, to);
    struct calibrate_line line = {0, 0, INFINITY, INFINITY, 0};
    if (p.count)
        calibrate_line_fit(p.at, p.count, 0, &line);
    *each = (struct calibrate_value){line.a, line.a_range};
    *per_byte = (struct calibrate_value){line.b, line.b_range};
    mem_free(p.at);
}

static void shrink(struct calibrate_value *a, struct calibrate_value *b, double most, int *scaled)
{
    double sum = a->value + b->value, factor = most / sum;
    if (!(sum > most))
        return;
    a->value *= factor, a->range *= factor;
    b->value *= factor, b->range *= factor;
    *scaled = 1;
}

/* The rest of the whole without the overheads. */
static struct calibrate_value rest(double whole, double range, const struct calibrate_value *a,
                                   const struct calibrate_value *b)
{
    double left = whole - a->value - b->value;
    return (
        struct calibrate_value){left > ROUNDING * whole ? left : 0,
                                sqrt(range * range + a->range * a->range + b->range * b->range)};
}

/* `steps` is the time of a rendezvous before its data. */
static void divide(struct calibrate_segment *s, const struct calibrate_line *line, double steps)
{
    double constant = line->a - steps;
    shrink(&s->send, &s->recv, (1 - LATENCY_PART) * constant, &s->scaled);
    shrink(&s->send_per_byte, &s->recv_per_byte, line->b, &s->scaled);
    s->latency = rest(constant, line->a_range, &s->send, &s->recv);
    s->per_byte = rest(line->b, line->b_range, &s->send_per_byte, &s->recv_per_byte);
}

/* ---- a curve ---- */

static void add_pieces(struct calibrate_curve *c, const struct calibrate_raw *raw,
                       enum calibrate_where where, int rendezvous)
{
    uint64_t from = rendezvous ? c->limit + 1 : 0, to = rendezvous ? UINT64_MAX : c->limit + 1;
    struct points p = collect(raw, "pingpong", where, from, to);
    struct calibrate_piece pieces[CALIBRATE_PIECES_MAX];
    double empty = c->count ? calibrate_predict(c, 0) : least_of(&p);
    double steps = rendezvous && c->count ? 2 * c->segments[0].latency.value : 0;
    size_t count = calibrate_pieces_fit(p.at, p.count, steps + CONSTANT_PART * empty, pieces);
    if (rendezvous && !c->count)
        count = 0; /* without small messages there is nothing to fit */
    for (size_t i = 0; i < count; i++) {
        struct calibrate_segment *s = &c->segments[c->count];
        uint64_t end = i + 1 < count ? (uint64_t)p.at[pieces[i + 1].first].x : to;
        memset(s, 0, sizeof *s);
        s->from = i ? (uint64_t)p.at[pieces[i].first].x : from;
        s->points = pieces[i].count;
        fit_overhead(raw, "send", where, s->from, end, &s->send, &s->send_per_byte);
        if (!rendezvous)
            fit_overhead(raw, "recv", where, s->from, end, &s->recv, &s->recv_per_byte);
        else
            s->recv = c->segments[0].recv;
        divide(s, &pieces[i].line, steps);
        c->count++;
    }
    mem_free(p.at);
}

static const struct calibrate_segment *segment_at(const struct calibrate_curve *c, uint64_t bytes)
{
    size_t i = c->count;
    while (--i > 0 && c->segments[i].from > bytes)
        ;
    return &c->segments[i];
}

double calibrate_predict(const struct calibrate_curve *c, uint64_t bytes)
{
    const struct calibrate_segment *s = segment_at(c, bytes);
    double n = (double)bytes, steps = bytes > c->limit ? 2 * c->segments[0].latency.value : 0;
    return s->send.value + n * s->send_per_byte.value + steps + s->latency.value +
           n * s->per_byte.value + s->recv.value + n * s->recv_per_byte.value;
}

/* The interval between small messages of a train is the gap, or the longer overhead if that limits
 * them. */
static void fit_gap(struct calibrate_curve *c, const struct calibrate_raw *raw,
                    enum calibrate_where where)
{
    struct points p = collect(raw, "gap", where, 0, SMALL + 1);
    struct calibrate_line line;
    if (p.count && c->count) {
        const struct calibrate_segment *s = &c->segments[0];
        calibrate_line_fit(p.at, p.count, 0, &line);
        c->gap_measured = 1;
        c->interval = line.a;
        if (line.a > HIDDEN * fmax(s->send.value, s->recv.value))
            c->gap = (struct calibrate_value){line.a, line.a_range};
    }
    mem_free(p.at);
}

static uint64_t eager_of(const struct calibrate_raw *raw, enum calibrate_where where,
                         uint64_t otherwise)
{
    const struct calibrate_record *r = calibrate_raw_find(raw, "eager", where);
    return r ? r->bytes : otherwise;
}

int calibrate_machine_fit(struct calibrate_machine *m, const struct calibrate_raw *raw,
                          struct err *err)
{
    memset(m, 0, sizeof *m);
    m->clock = median_of(raw, "clock");
    m->resolution = median_of(raw, "resolution");
    m->call = median_of(raw, "call");
    m->test = median_of(raw, "test");
    /* a machine has one limit: that between nodes takes precedence */
    m->eager_limit = eager_of(raw, CALIBRATE_INTER,
                              eager_of(raw, CALIBRATE_INTRA, CALIBRATE_BYTES_MAX));
    for (int i = 0; i < 2; i++) {
        struct calibrate_curve *c = &m->curves[i];
        c->limit = m->eager_limit;
        c->eager = eager_of(raw, (enum calibrate_where)i, m->eager_limit);
        add_pieces(c, raw, (enum calibrate_where)i, 0);
        add_pieces(c, raw, (enum calibrate_where)i, 1);
        fit_gap(c, raw, (enum calibrate_where)i);
        if (c->gap_measured)
            m->gap = c->gap.value;
    }
    if (!m->curves[0].count && !m->curves[1].count)
        return err_set(
            err, ERR_INPUT,
            "nothing to fit: there is no record of kind 'pingpong' up to the eager limit");
    calibrate_use_fit(m, raw);
    calibrate_sharing_fit(m, raw);
    calibrate_collectives_fit(m, raw);
    return 0;
}
