/*
 * use.c - computes factors of sharing from kernels, and the additional costs of messages from
 * messages in real use.
 *
 *     factor(k)       time of a kernel when k ranks run it, over that of one alone: the median
 *                     of passes, since cores of a virtual machine are not always alone
 *     unexpected      MPI_Recv of a message that waits in the queue, less o_r
 *     request         a send and a receive among many in flight take o_s + o_r + 2 request (or the
 *                     gap, if longer), and one more pending receive
 *     match           slope of a round trip over the number of receives that are pending
 *     peer            MPI_Isend to ranks in turn, less o_s
 *
 * Costs below 0 are noise, and so are factors below 1.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "calibrate/machine.h"

/* ---- sharing ---- */

#define PASSES_MAX 16

/* The record of a pass, counted from 0. */
static const struct calibrate_record *kernel_at(const struct calibrate_raw *raw, const char *kind,
                                                uint32_t ranks, size_t pass)
{
    for (size_t i = 0; i < raw->count; i++)
        if (strcmp(raw->records[i].kind, kind) == 0 && raw->records[i].ranks == ranks &&
            !raw->records[i].beyond_cores && raw->records[i].median > 0 && pass-- == 0)
            return &raw->records[i];
    return NULL;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of lower quartiles: disturbances can only make a kernel slower. */
static double factor(const struct calibrate_raw *raw, const char *kind, uint32_t ranks)
{
    double passes[PASSES_MAX];
    size_t count = 0;
    while (count < PASSES_MAX) {
        const struct calibrate_record *one = kernel_at(raw, kind, 1, count),
                                      *some = kernel_at(raw, kind, ranks, count);
        if (!one || !some)
            break;
        passes[count++] = one->q1 > 0 ? some->q1 / one->q1 : 1;
    }
    qsort(passes, count, sizeof *passes, by_value);
    double f = count ? (passes[(count - 1) / 2] + passes[count / 2]) / 2 : 1;
    return f > 1 ? f : 1;
}

static int by_busy(const void *a, const void *b)
{
    const struct calibrate_sharing *p = a, *q = b;
    return (p->busy > q->busy) - (p->busy < q->busy);
}

void calibrate_sharing_fit(struct calibrate_machine *m, const struct calibrate_raw *raw)
{
    m->sharing_count = 0;
    for (size_t i = 0; i < raw->count && m->sharing_count < CALIBRATE_SHARING_MAX; i++) {
        const struct calibrate_record *r = &raw->records[i];
        struct calibrate_sharing *s = &m->sharing[m->sharing_count];
        if (strcmp(r->kind, "streaming") != 0 || r->ranks < 2 ||
            kernel_at(raw, r->kind, r->ranks, 0) != r || !kernel_at(raw, r->kind, 1, 0))
            continue;
        s->busy = r->ranks;
        s->in_cache = factor(raw, "in_cache", r->ranks);
        s->streaming = factor(raw, "streaming", r->ranks);
        s->random = factor(raw, "random", r->ranks);
        m->sharing_count++;
    }
    qsort(m->sharing, m->sharing_count, sizeof m->sharing[0], by_busy);
}

/* ---- messages ---- */

/* A line through the records of a kind; 0 if there is none. */
static int line_of(const struct calibrate_raw *raw, const char *kind, enum calibrate_where where,
                   struct calibrate_line *line)
{
    struct calibrate_point *points = mem_alloc((raw->count + 1) * sizeof *points);
    size_t count = 0;
    for (size_t i = 0; i < raw->count; i++) {
        const struct calibrate_record *r = &raw->records[i];
        if (strcmp(r->kind, kind) == 0 && (where == CALIBRATE_ANYWHERE || r->where == where))
            points[count++] = (struct calibrate_point){(double)r->bytes, r->median,
                                                       calibrate_weight(r->q1, r->median, r->q3)};
    }
    memset(line, 0, sizeof *line);
    if (count)
        calibrate_line_fit(points, count, 0, line);
    mem_free(points);
    return count != 0;
}

static double at_least_0(double x)
{
    return x > 0 ? x : 0;
}

void calibrate_use_fit(struct calibrate_machine *m, const struct calibrate_raw *raw)
{
    enum calibrate_where where = m->curves[CALIBRATE_INTER].count ? CALIBRATE_INTER
                                                                  : CALIBRATE_INTRA;
    const struct calibrate_segment *s = &m->curves[where].segments[0];
    struct calibrate_use *use = &m->use;
    struct calibrate_line line;
    memset(use, 0, sizeof *use);
    if (line_of(raw, "match", where, &line)) {
        use->measured = 1;
        use->match = line.b;
    }
    if (line_of(raw, "unexpected", where, &line)) {
        use->measured = 1;
        use->unexpected = at_least_0(line.a - s->recv.value);
        use->unexpected_per_byte = at_least_0(line.b - s->recv_per_byte.value);
    }
    if (line_of(raw, "window", where, &line)) {
        use->measured = 1;
        double least = fmax(s->send.value + s->recv.value, m->gap);
        use->request = at_least_0(line.a - least - use->match) / 2;
    }
    if (line_of(raw, "peers", CALIBRATE_ANYWHERE, &line)) {
        use->peers_measured = 1;
        use->peer = at_least_0(line.a - m->curves[CALIBRATE_INTRA].segments[0].send.value);
    }
}
