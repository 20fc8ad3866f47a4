/*
 * test_tune.c - the search for parameters, on errors whose least is known.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "tune/tune.h"

/* Times of messages of some sizes on a machine with a latency, a bandwidth, and an overhead that
 * cannot be distinguished from the latency; the last parameter has no effect. */
static double message(const double *v, double bytes)
{
    return v[0] + v[2] + bytes / v[1];
}

static const double truth[] = {5e-6, 2e9, 1e-6, 8192};
static atomic_uint calls;

static double mismatch(void *owner, const double *v)
{
    static const double sizes[] = {1, 100, 1e4, 1e5, 1e6};
    double sum = 0;
    (void)owner;
    atomic_fetch_add(&calls, 1);
    for (size_t i = 0; i < 5; i++) {
        double a = message(v, sizes[i]), b = message(truth, sizes[i]);
        sum += fabs(a - b) / ((a + b) / 2);
    }
    return sum / 5;
}

static const struct tune_parameter parameters[] = {
    {.low = 1e-7, .high = 1e-3, .start = 1e-4, .is_log = 1},
    {.low = 1e7, .high = 1e11, .start = 1e8, .is_log = 1},
    {.low = 1e-7, .high = 1e-5, .start = 1e-7, .is_log = 1},
    {.low = 64, .high = 1 << 20, .start = 64, .is_log = 1, .is_whole = 1},
};

static struct tune_result tune(size_t count, unsigned jobs, const char *path,
                               double (*evaluate)(void *, const double *), int *rc)
{
    struct tune_log log;
    struct tune_result result = {0};
    struct err err = {0};
    atomic_int stop = 0;
    struct tune_problem p = {.parameters = parameters,
                             .count = count,
                             .evaluate = evaluate,
                             .jobs = jobs,
                             .evaluations = 1200,
                             .tolerance = 0.005,
                             .stop = &stop,
                             .log = &log};
    *rc = tune_log_open(&log, path, "a test", count, &err);
    if (*rc == 0) {
        *rc = tune_search(&p, &result, &err);
        tune_log_close(&log);
    }
    return result;
}

/* The overhead is known: two parameters. */
static double two(void *owner, const double *v)
{
    return mismatch(owner, (double[]){v[0], v[1], truth[2], 0});
}

static double none(void *owner, const double *v)
{
    (void)owner, (void)v;
    return NAN;
}

static void test_two(void)
{
    int rc;
    struct tune_result a = tune(2, 1, NULL, two, &rc), b = tune(2, 4, NULL, two, &rc);
    ok(rc == 0 && fabs(a.values[0] / truth[0] - 1) < 0.02, "the latency is found: %g", a.values[0]);
    ok(fabs(a.values[1] / truth[1] - 1) < 0.02, "and the bandwidth: %g", a.values[1]);
    ok(a.widths[0].low < a.values[0] && a.widths[0].high > a.values[0] &&
           a.widths[0].high < 1.3 * a.values[0],
       "the latency is determined: %g to %g", a.widths[0].low, a.widths[0].high);
    ok(!a.widths[0].is_open && !a.widths[1].is_open, "neither is open");
    ok(memcmp(a.values, b.values, sizeof a.values) == 0 && a.error == b.error,
       "four at a time find the same as one");
}

static void test_four(void)
{
    int rc;
    struct tune_result r = tune(4, 2, NULL, mismatch, &rc);
    double sum = r.values[0] + r.values[2];
    ok(rc == 0 && fabs(sum / 6e-6 - 1) < 0.03, "latency and overhead together are found: %g", sum);
    ok(r.widths[3].is_open, "what has no effect is not determined");
    ok(r.widths[2].is_open || r.widths[2].high_factor / r.widths[2].low_factor > 3,
       "the overhead is not, either: %g to %g", r.widths[2].low_factor, r.widths[2].high_factor);
    ok(r.widths[2].partner == 0, "the latency makes up for it");
    ok(!r.widths[1].is_open, "the bandwidth is determined");
}

static void test_log(void)
{
    char path[] = "/tmp/orrery-test-tune-XXXXXX";
    int fd = mkstemp(path), rc;
    struct tune_log log;
    struct err err;
    struct tune_result a = tune(2, 2, path, two, &rc);
    unsigned before = calls;
    struct tune_result b = tune(2, 2, path, two, &rc);
    ok(rc == 0 && calls == before && b.evaluations == 0,
       "a search that is in the log is not repeated");
    ok(memcmp(a.values, b.values, sizeof a.values) == 0, "and finds the same");
    ok(write(fd, "", 0) == 0 && lseek(fd, 0, SEEK_END) > 0 && write(fd, "1 2", 3) == 3 &&
           tune_log_open(&log, path, "a test", 2, &err) == 0,
       "a line that is cut off is dropped");
    tune_log_close(&log);
    ok(tune_log_open(&log, path, "another", 2, &err) == ERR_INPUT, "the log of another search: %s",
       err.text);
    ok(tune_log_open(&log, "/nowhere/log", "a test", 2, &err) == ERR_SYSTEM, "no folder: %s",
       err.text);
    close(fd);
    unlink(path);
    tune(2, 2, NULL, none, &rc);
    ok(rc == ERR_INPUT, "nothing works");
}

int main(void)
{
    test_two();
    test_four();
    test_log();
    return done_testing();
}
