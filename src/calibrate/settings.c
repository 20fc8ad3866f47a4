/*
 * settings.c - a fitted machine as settings, with comments that say where they come from.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calibrate/machine.h"

static vtime from_ns(double ns)
{
    return vtime_from_ps_double(ns * 1e3);
}

/* Bits per second; at least 1. */
static double bandwidth(double ns_per_byte)
{
    return ns_per_byte > 0 ? fmax(1, 8e9 / ns_per_byte) : INFINITY;
}

static char plain(char c)
{
    return (unsigned char)c < 32 || (unsigned char)c >= 127 ? '?' : c;
}

/* Copies a text for the platform, truncated to the room there is, in characters that any file can
 * hold. */
static void set_text(char *out, size_t size, const char *before, const char *text)
{
    memset(out, 0, size); /* machines are compared byte by byte */
    snprintf(out, size, "%s%s", before, text);
    for (; *out; out++)
        *out = plain(*out);
}

static void add_curve(const struct calibrate_curve *c, struct platform *p,
                      enum platform_list_kind kind)
{
    struct platform_segment *s = c->count ? platform_list_extend(p, kind, c->count) : NULL;
    for (size_t i = 0; i < c->count; i++) {
        const struct calibrate_segment *from = &c->segments[i];
        s[i].from = from->from;
        s[i].latency = from_ns(from->latency.value);
        s[i].bandwidth = bandwidth(from->per_byte.value);
        s[i].send_overhead = from_ns(from->send.value);
        s[i].recv_overhead = from_ns(from->recv.value);
        s[i].send_per_kib = from_ns(from->send_per_byte.value * 1024);
        s[i].recv_per_kib = from_ns(from->recv_per_byte.value * 1024);
    }
}

/* Factors to four digits: measurements have no more. */
static double rounded(double factor)
{
    return round(fmin(factor, 1e6) * 1e4) / 1e4;
}

static void add_sharing(const struct calibrate_machine *m, struct platform *p)
{
    struct platform_sharing *s = m->sharing_count
                                     ? platform_list_extend(p, PLATFORM_SHARING, m->sharing_count)
                                     : NULL;
    for (size_t i = 0; i < m->sharing_count; i++) {
        s[i].busy = m->sharing[i].busy;
        s[i].in_cache = rounded(m->sharing[i].in_cache);
        s[i].streaming = rounded(m->sharing[i].streaming);
        s[i].random = rounded(m->sharing[i].random);
    }
}

static void set_use(const struct calibrate_use *use, struct platform_config *c)
{
    c->mpi_unexpected_cost = from_ns(use->unexpected);
    c->mpi_unexpected_per_kib = from_ns(use->unexpected_per_byte * 1024);
    c->mpi_request_cost = from_ns(use->request);
    c->mpi_match_cost = from_ns(use->match);
    c->mpi_peer_cost = from_ns(use->peer);
}

/* A time as a setting: at least 1 ps where 0 is not allowed. */
static vtime cost(double ns)
{
    vtime t = from_ns(ns);
    return t > 0 ? t : 1;
}

void calibrate_machine_settings(const struct calibrate_machine *m, const struct calibrate_raw *raw,
                                const char *name, struct platform *p)
{
    const struct calibrate_curve *intra = &m->curves[CALIBRATE_INTRA],
                                 *inter = &m->curves[CALIBRATE_INTER];
    const struct calibrate_curve *main = inter->count ? inter : intra;
    struct platform_config *c = &p->config;
    unsigned cores = calibrate_raw_number(raw, "cores");
    set_text(c->name, sizeof c->name, "", name);
    set_text(c->description, sizeof c->description,
             "measured by orrery calibrate: ", calibrate_raw_property(raw, "cpu"));
    c->nodes_ranks = intra->count && cores > 1 ? cores : intra->count ? 2 : 1;
    set_text(c->net_model, sizeof c->net_model, "", "loggops");
    c->net_gap = from_ns(m->gap);
    c->mpi_eager_limit = m->eager_limit;
    c->mpi_send_overhead = from_ns(main->segments[0].send.value);
    c->mpi_recv_overhead = from_ns(main->segments[0].recv.value);
    c->mpi_clock_cost = cost(m->clock);
    c->mpi_test_cost = cost(m->test);
    if (inter->count) {
        c->net_latency = from_ns(inter->segments[0].latency.value);
        c->net_bandwidth = bandwidth(inter->segments[inter->count - 1].per_byte.value);
    }
    if (intra->count) {
        c->intra_latency = from_ns(intra->segments[0].latency.value);
        c->intra_bandwidth = bandwidth(intra->segments[intra->count - 1].per_byte.value);
    }
    set_use(&m->use, c);
    platform_list_cut(p, PLATFORM_SHARING, 0);
    add_sharing(m, p);
    platform_list_cut(p, PLATFORM_SEGMENTS, 0);
    platform_list_cut(p, PLATFORM_INTRA_SEGMENTS, 0);
    add_curve(inter, p, PLATFORM_SEGMENTS);
    add_curve(intra, p, PLATFORM_INTRA_SEGMENTS);
}

static void add_comment(struct buf *out, const char *name, const char *value)
{
    buf_addf(out, "# %-12s ", name);
    for (; *value; value++)
        buf_addc(out, plain(*value));
    buf_addc(out, '\n');
}

static void add_missing(const struct calibrate_machine *m, struct buf *out)
{
    if (!m->curves[CALIBRATE_INTER].count)
        buf_adds(out,
                 "# All ranks were on one node: net.latency and net.bandwidth, between nodes, are "
                 "defaults and\n# were not measured.\n");
    if (!m->curves[CALIBRATE_INTRA].count)
        buf_adds(out, "# Each rank was on a node of its own: net.intra was not measured, and "
                      "nodes.ranks "
                      "is 1.\n");
}

/* Comments on what the file does not show by itself: missing measurements, and a poor fit. */
static void add_warnings(const struct calibrate_machine *m, const struct calibrate_raw *raw,
                         struct buf *out)
{
    if (!m->sharing_count)
        buf_adds(
            out,
            "# nodes.sharing was not measured: that needs a node with several ranks and cores.\n");
    if (!m->use.peers_measured)
        buf_adds(
            out,
            "# mpi.peer_cost was not measured: that needs three ranks with cores of their own.\n");
    for (int i = 0; i < 2; i++) {
        size_t good = 0, all = 0;
        calibrate_fit_count(m, raw, (enum calibrate_where)i, &good, &all);
        if (calibrate_fit_is_poor(good, all))
            buf_addf(out, "# WARNING: a poor fit: the model is right at %zu of %zu sizes %s.\n",
                     good, all, i ? "between nodes" : "within a node");
    }
}

static void add_crowded(const struct calibrate_raw *raw, struct buf *out)
{
    size_t crowded = 0;
    for (size_t i = 0; i < raw->count; i++)
        crowded += raw->records[i].beyond_cores != 0;
    if (crowded)
        buf_addf(
            out,
            "# WARNING: %zu of %zu points had more ranks than cores, and measured the scheduler, "
            "too.\n",
            crowded, raw->count);
}

void calibrate_machine_comments(const struct calibrate_machine *m, const struct calibrate_raw *raw,
                                const char *date, struct buf *out)
{
    static const char *const names[] = {"cpu",   "cores", "memory", "kernel",  "mpi",   "launcher",
                                        "ranks", "nodes", "load",   "samples", "broken"};
    char hash[40];
    buf_adds(out, "# A machine measured by orrery calibrate.\n");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        add_comment(out, names[i], calibrate_raw_property(raw, names[i]));
    add_comment(out, "date", date ? date : calibrate_raw_property(raw, "date"));
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)raw->hash);
    add_comment(out, "raw data", hash);
    add_missing(m, out);
    add_warnings(m, raw, out);
    add_crowded(raw, out);
}
