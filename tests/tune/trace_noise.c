/*
 * trace_noise.c - copies a trace, and makes every duration a few percent longer or shorter, as on a
 * real machine.
 *
 * usage: trace_noise IN.orr OUT.orr PERCENT SEED
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "trace/copy.h"
#include "trace/merge.h"
#include "trace/part.h"

static uint64_t state;

static double uniform(void)
{
    return (double)(rng_splitmix(&state) >> 11) / (double)(UINT64_C(1) << 53);
}

/* Normal, by the method of Box and Muller. */
static int64_t stir(int64_t duration, double part)
{
    double normal = sqrt(-2 * log(1 - uniform())) * cos(2 * acos(-1.0) * uniform());
    return (int64_t)((double)duration * fmax(0, 1 + part * normal));
}

static void copy(struct trace *t, struct trace_part *part, uint64_t rank, enum trace_what what,
                 double noise)
{
    struct trace_cursor c;
    struct trace_stream s;
    struct trace_event e;
    struct err err;
    int64_t last = 0, now = 0;
    trace_stream_init(&s, &part->sink, rank, 0,
                      what == TRACE_LOCAL_DEFINITIONS ? TRACE_PIECE_DEFINITIONS : 0);
    trace_cursor_open(&c, t, rank, 0, what);
    while (trace_cursor_next(&c, &e, &err) > 0) {
        int64_t enter = now + stir(e.enter - last, noise),
                leave = enter + stir(e.leave - e.enter, noise);
        last = e.leave;
        now = e.leave = leave;
        e.enter = enter;
        trace_copy_event(&s, &t->header, &e);
    }
    trace_cursor_close(&c);
    trace_stream_fini(&s);
}

int main(int argc, char **argv)
{
    struct trace t;
    struct trace_part part;
    struct err err = {0}, missing;
    char path[4096];
    if (argc != 5) {
        fprintf(stderr, "usage: trace_noise IN.orr OUT.orr PERCENT SEED\n");
        return 2;
    }
    state = strtoull(argv[4], NULL, 10);
    snprintf(path, sizeof path, "%s.part", argv[2]);
    const char *parts[] = {path};
    if (trace_open(&t, argv[1], &err) != 0 || trace_part_open(&part, path, &t.header, &err) != 0) {
        fprintf(stderr, "trace_noise: %s\n", err.text);
        return 1;
    }
    for (uint64_t rank = 0; rank < t.header.ranks; rank++) {
        copy(&t, &part, rank, TRACE_LOCAL_DEFINITIONS, 0);
        copy(&t, &part, rank, TRACE_RECORDS, atof(argv[3]) / 100);
    }
    if (trace_part_close(&part, &err) != 0 || trace_merge(parts, 1, argv[2], &missing, &err) != 0) {
        fprintf(stderr, "trace_noise: %s\n", err.text);
        return 1;
    }
    trace_close(&t);
    remove(path);
    return 0;
}
