/*
 * curve.c - makes the pieces of the cost curve from the settings and the lists net.segments and
 * net.intra.segments. What a piece does not give has the value for the whole machine.
 */
#include "net/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Picoseconds to send 8 bits at 1 bit/s, in 2^-20 ps. */
#define SCALE (8e12 * 1048576.0)

int net_inverse(double bandwidth, const char *setting, uint64_t *out, struct err *err)
{
    double inverse = isinf(bandwidth) ? 0 : SCALE / bandwidth;

    if (!(inverse < 0x1p63))
        return err_set(err, ERR_INPUT, "%s: bandwidth times its factor is below 1 bit/s", setting);
    *out = (uint64_t)llround(inverse);
    return 0;
}

static int by_from(const void *a, const void *b)
{
    const struct platform_segment *x = a, *y = b;

    return (x->from > y->from) - (x->from < y->from);
}

static vtime or_else(vtime given, vtime otherwise)
{
    return given == VTIME_NEVER ? otherwise : given;
}

static int make_piece(struct net_piece *out, const struct platform_segment *s,
                      const struct platform_config *c, int intra, struct err *err)
{
    const char *setting = intra ? "net.intra.bandwidth" : "net.bandwidth";
    vtime latency = or_else(s->latency, intra ? c->intra_latency : c->net_latency);

    out->from = s->from;
    out->bandwidth = isnan(s->bandwidth) ? intra ? c->intra_bandwidth : c->net_bandwidth
                                         : s->bandwidth;
    out->bandwidth *= intra ? 1 : c->net_bandwidth_factor;
    out->latency = intra ? latency : vtime_scale(latency, c->net_latency_factor);
    if (out->latency >= VTIME_LIMIT)
        return err_set(err, ERR_INPUT,
                       "net.latency: latency times net.latency_factor is beyond 53 "
                       "days");
    out->send = or_else(s->send_overhead, c->mpi_send_overhead);
    out->recv = or_else(s->recv_overhead, c->mpi_recv_overhead);
    out->send_per_byte = net_per_byte(or_else(s->send_per_kib, c->mpi_send_per_kib));
    out->recv_per_byte = net_per_byte(or_else(s->recv_per_kib, c->mpi_recv_per_kib));
    return net_inverse(out->bandwidth, setting, &out->ps_per_byte, err);
}

/* A piece without values of its own. */
static const struct platform_segment plain = {0,           VTIME_NEVER, NAN,        VTIME_NEVER,
                                              VTIME_NEVER, VTIME_NEVER, VTIME_NEVER};

/* The given pieces in order of size, after a plain one for smaller sizes. */
static struct platform_segment *collect(const struct platform *p, int intra, uint32_t *count)
{
    size_t n;
    const struct platform_segment *given = platform_segments(p, intra, &n);
    struct platform_segment *all = mem_alloc((n + 1) * sizeof *all);

    all[0] = plain;
    if (n)
        memcpy(all + 1, given, n * sizeof *all);
    if (n)
        qsort(all + 1, n, sizeof *all, by_from);
    *count = (uint32_t)n + 1;
    if (n && all[1].from == 0) {
        memmove(all, all + 1, n * sizeof *all);
        *count = (uint32_t)n;
    }
    return all;
}

int net_curve_init(struct net_curve *curve, const struct platform *p, int intra, struct err *err)
{
    uint32_t count;
    struct platform_segment *given = collect(p, intra, &count);
    int rc = 0;

    curve->pieces = mem_alloc(count * sizeof *curve->pieces);
    curve->count = count;
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        rc = make_piece(&curve->pieces[i], &given[i], &p->config, intra, err);
        if (rc == 0 && i && given[i].from == given[i - 1].from)
            rc = err_set(err, ERR_INPUT, "net.%ssegments: two begin at %llu bytes",
                         intra ? "intra." : "", (unsigned long long)given[i].from);
    }
    mem_free(given);
    if (rc)
        net_curve_fini(curve);
    return rc;
}

void net_curve_fini(struct net_curve *curve)
{
    mem_free(curve->pieces);
    curve->pieces = NULL;
    curve->count = 0;
}

vtime net_curve_least_latency(const struct net_curve *curve)
{
    vtime least = VTIME_NEVER;

    for (uint32_t i = 0; i < curve->count; i++)
        if (curve->pieces[i].latency < least)
            least = curve->pieces[i].latency;
    return least;
}
