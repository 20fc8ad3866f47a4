/*
 * report.c - the text report, and the comparison of a measurement with a simulation.
 */
#include "calibrate/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

static const char *const where_texts[] = {"within a node", "between nodes"};

/* ---- numbers ---- */

/* Four significant digits of a time in ns. */
static const char *time_text(char *out, size_t size, double ns)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t i = 0;
    while (i < 3 && fabs(ns) < units[i].unit)
        i++;
    snprintf(out, size, "%.4g %s", ns / units[i].unit, units[i].name);
    return out;
}

static void add_time(struct buf *out, int width, double ns)
{
    char text[40];
    buf_addf(out, " %*s", width, time_text(text, sizeof text, ns));
}

/* "12.3 +-0.4": in the unit of the column, 1 / scale ns. */
static void add_value(struct buf *out, const struct calibrate_value *v, double scale)
{
    char text[60];
    if (isfinite(v->range))
        snprintf(text, sizeof text, "%.4g +-%.2g", v->value * scale, v->range * scale);
    else
        snprintf(text, sizeof text, "%.4g", v->value * scale);
    buf_addf(out, " %19s", text);
}

int calibrate_is_good(const struct calibrate_record *r, double predicted)
{
    return fabs(predicted - r->median) <= CALIBRATE_TOLERANCE * r->median ||
           (predicted >= r->q1 && predicted <= r->q3);
}

/* ---- the fit ---- */

static void add_basics(const struct calibrate_machine *m, struct buf *out)
{
    char limit[UNITS_TEXT_MAX];
    buf_adds(out, "Clock and calls\n");
    buf_addf(out, "  clock               %.1f ns per reading, resolution %.1f ns\n", m->clock,
             m->resolution);
    buf_addf(out, "  MPI_Comm_size       %.1f ns\n  MPI_Iprobe          %.1f ns\n", m->call,
             m->test);
    if (m->eager_limit < CALIBRATE_BYTES_MAX)
        buf_addf(out, "  eager limit         %s (%llu B)\n",
                 units_format_bytes(limit, sizeof limit, m->eager_limit),
                 (unsigned long long)m->eager_limit);
}

static void add_gap(const struct calibrate_curve *c, struct buf *out)
{
    if (!c->gap_measured)
        return;
    if (c->gap.value > 0)
        buf_addf(out, "  gap g               %.1f ns between small messages\n", c->gap.value);
    else
        buf_addf(out, "  gap g               0: the %.1f ns between small messages are overhead\n",
                 c->interval);
}

static void add_segments(const struct calibrate_curve *c, struct buf *out)
{
    int scaled = 0;
    buf_addf(out, "  %8s %4s %19s %19s %19s %19s\n", "from B", "pts", "L ns", "G ps/B", "o_s ns",
             "o_r ns");
    for (size_t i = 0; i < c->count; i++) {
        const struct calibrate_segment *s = &c->segments[i];
        scaled |= s->scaled;
        buf_addf(out, "  %8llu %4zu", (unsigned long long)s->from, s->points);
        add_value(out, &s->latency, 1);
        add_value(out, &s->per_byte, 1000);
        add_value(out, &s->send, 1);
        add_value(out, &s->recv, 1);
        buf_addf(out, "%s\n", s->scaled ? " *" : "");
        if (s->send_per_byte.value > 0 || s->recv_per_byte.value > 0)
            buf_addf(out, "  %13s %54s %.4g ps/B, O_r %.4g ps/B\n", "", "O_s",
                     s->send_per_byte.value * 1000, s->recv_per_byte.value * 1000);
    }
    buf_adds(out, "  +- is 95% confidence\n");
    if (scaled)
        buf_adds(
            out,
            "  * overheads are longer than the whole, so they overlap with it: shortened to fit\n");
}

/* Header of a table of sizes; `what` is the heading of the third column from the end. */
static void add_head(struct buf *out, const char *what)
{
    buf_addf(out, "  %8s %10s %10s %10s %8s %10s %9s\n", "bytes", "median", "q1", "q3", "outliers",
             what, "residual");
}

/* A row; returns whether it is good. */
static int add_row(struct buf *out, const struct calibrate_record *r, double predicted,
                   int disturbed)
{
    int good = calibrate_is_good(r, predicted);
    char outliers[40];
    snprintf(outliers, sizeof outliers, "%u/%u", r->outliers, r->samples);
    buf_addf(out, "  %8llu", (unsigned long long)r->bytes);
    add_time(out, 10, r->median);
    add_time(out, 10, r->q1);
    add_time(out, 10, r->q3);
    buf_addf(out, " %8s", outliers);
    add_time(out, 10, predicted);
    if (r->median > 0)
        buf_addf(out, " %+8.1f%%", 100 * (predicted - r->median) / r->median);
    buf_addf(out, "%s%s\n", good ? "" : "  off", disturbed ? "  disturbed" : "");
    return good;
}

void calibrate_fit_count(const struct calibrate_machine *m, const struct calibrate_raw *raw,
                         enum calibrate_where where, size_t *good, size_t *all)
{
    const struct calibrate_curve *c = &m->curves[where];
    *good = *all = 0;
    for (size_t i = 0; i < raw->count && c->count; i++) {
        const struct calibrate_record *r = &raw->records[i];
        if (strcmp(r->kind, "pingpong") != 0 || r->where != where)
            continue;
        ++*all;
        *good += (size_t)calibrate_is_good(r, calibrate_predict(c, r->bytes));
    }
}

int calibrate_fit_is_poor(size_t good, size_t all)
{
    return (double)good < CALIBRATE_GOOD_PART * (double)all;
}

static void add_sizes(const struct calibrate_machine *m, const struct calibrate_raw *raw,
                      enum calibrate_where where, struct buf *out)
{
    const struct calibrate_curve *c = &m->curves[where];
    size_t good, all;
    add_head(out, "model");
    for (size_t i = 0; i < raw->count; i++) {
        const struct calibrate_record *r = &raw->records[i];
        if (strcmp(r->kind, "pingpong") != 0 || r->where != where)
            continue;
        add_row(out, r, calibrate_predict(c, r->bytes), calibrate_is_disturbed(raw, r));
    }
    calibrate_fit_count(m, raw, where, &good, &all);
    buf_addf(out, "  the fit is within 10%% or the quartiles at %zu of %zu sizes\n", good, all);
    if (calibrate_fit_is_poor(good, all))
        buf_adds(out, "  This is a poor fit: do not rely on the platform. The machine was probably "
                      "busy; "
                      "measure\n"
                      "  again when it is idle, without --quick.\n");
}

/* ---- sharing, and messages in real use ---- */

static void add_sharing(const struct calibrate_machine *m, struct buf *out)
{
    if (!m->sharing_count)
        return;
    buf_adds(out, "\nComputing when several ranks of a node do: times longer than alone\n");
    buf_addf(out, "  %5s %10s %10s %10s\n", "ranks", "in cache", "streaming", "random");
    for (size_t i = 0; i < m->sharing_count; i++)
        buf_addf(out, "  %5u %10.3f %10.3f %10.3f\n", m->sharing[i].busy, m->sharing[i].in_cache,
                 m->sharing[i].streaming, m->sharing[i].random);
}

static void add_use(const struct calibrate_use *use, struct buf *out)
{
    if (!use->measured)
        return;
    buf_adds(out, "\nMessages in real use, beside their overheads\n");
    buf_addf(out, "  unexpected          %.1f ns, %.4g ps/B\n", use->unexpected,
             use->unexpected_per_byte * 1000);
    buf_addf(out, "  per request         %.1f ns\n", use->request);
    buf_addf(out, "  matching            %.2f ns for each receive that is pending\n", use->match);
    if (use->peers_measured)
        buf_addf(out, "  another peer        %.1f ns\n", use->peer);
}

static void add_broken(const struct calibrate_raw *raw, struct buf *out)
{
    unsigned all = calibrate_raw_number(raw, "samples"),
             broken = calibrate_raw_number(raw, "broken");
    if (broken)
        buf_addf(out,
                 "  left out            %u of %u samples, in which a rank lost its processor\n",
                 broken, all);
}

static void add_collectives(const struct calibrate_machine *m, struct buf *out)
{
    int left_out = 0;
    if (!m->collective_count)
        return;
    buf_adds(out, "\nCollectives: T = a + b log2 p + c n log2 p\n");
    buf_addf(out, "  %-14s %4s %19s %19s %19s %8s\n", "", "pts", "a us", "b us", "c ps/B", "error");
    for (size_t i = 0; i < m->collective_count; i++) {
        const struct calibrate_collective *c = &m->collectives[i];
        buf_addf(out, "  %-14s %4zu", c->kind, c->points);
        if (c->has_constant)
            add_value(out, &c->a, 1e-3);
        else
            buf_addf(out, " %19s", "-");
        add_value(out, &c->b, 1e-3);
        if (c->has_bytes)
            add_value(out, &c->c, 1e3);
        else
            buf_addf(out, " %19s", "-");
        buf_addf(out, " %7.1f%%", 100 * c->error);
        left_out |= c->left_out > 0;
        if (c->left_out)
            buf_addf(out, " (%zu left out)", c->left_out);
        buf_addc(out, '\n');
    }
    buf_adds(out, "  error is the median of relative errors; a needs several numbers of ranks\n");
    if (left_out)
        buf_adds(out, "  what had more ranks than cores is left out: it measured the scheduler\n");
}

void calibrate_report_text(const struct calibrate_machine *m, const struct calibrate_raw *raw,
                           struct buf *out)
{
    add_basics(m, out);
    add_broken(raw, out);
    for (int i = 0; i < 2; i++) {
        const struct calibrate_curve *c = &m->curves[i];
        if (!c->count)
            continue;
        buf_addf(out, "\nMessages %s\n", where_texts[i]);
        add_gap(c, out);
        if (c->eager != c->limit)
            buf_addf(out, "  eager limit here    %llu B, but a machine has one: %llu B\n",
                     (unsigned long long)c->eager, (unsigned long long)c->limit);
        add_segments(c, out);
        buf_adds(out, "\n  Half round trip\n");
        add_sizes(m, raw, (enum calibrate_where)i, out);
    }
    add_use(&m->use, out);
    add_sharing(m, out);
    add_collectives(m, out);
}

/* ---- measured and simulated ---- */

static const struct calibrate_record *same_point(const struct calibrate_raw *raw,
                                                 const struct calibrate_record *of)
{
    for (size_t i = 0; i < raw->count; i++) {
        const struct calibrate_record *r = &raw->records[i];
        if (strcmp(r->kind, of->kind) == 0 && r->where == of->where && r->bytes == of->bytes)
            return r;
    }
    return NULL;
}

int calibrate_verify(const struct calibrate_raw *measured, const struct calibrate_raw *simulated,
                     size_t *good, size_t *all, struct buf *out, struct err *err)
{
    size_t good_here = 0, all_here = 0;
    int where = -1;
    for (size_t i = 0; i < measured->count; i++) {
        const struct calibrate_record *r = &measured->records[i], *s;
        if (strcmp(r->kind, "pingpong") != 0 || !(s = same_point(simulated, r)))
            continue;
        if ((int)r->where != where) {
            where = (int)r->where;
            buf_addf(out, "%sHalf round trip %s\n", all_here ? "\n" : "", where_texts[where]);
            add_head(out, "simulated");
        }
        all_here++;
        good_here += (size_t)add_row(out, r, s->median, calibrate_is_disturbed(measured, r));
    }
    if (!all_here)
        return err_set(err, ERR_INPUT,
                       "nothing to compare: no size was both measured and simulated");
    *good += good_here;
    *all += all_here;
    return 0;
}
