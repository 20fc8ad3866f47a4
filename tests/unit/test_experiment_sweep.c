/*
 * Grids of sweeps: lists of values, ranges, units, points and their names.
 */
#include "experiment/sweep_grid.h"
#include "results/summary_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

/* "1us 10us" of the first dimension of an option --set, or the error. */
static void check_values(const char *text, const char *wanted)
{
    struct sweep_grid g;
    struct err err;
    struct buf out;
    buf_init(&out);
    sweep_grid_init(&g);
    if (sweep_grid_add_sets(&g, text, &err))
        buf_addf(&out, "error: %s", err.text);
    else
        for (size_t i = 0; i < g.dims[0].count; i++)
            buf_addf(&out, "%s%s", i ? " " : "", g.dims[0].values[i].text);
    size_t length = strncmp(wanted, "error", 5) == 0 ? strlen(wanted) : strlen(wanted) + 1;
    ok(strncmp(buf_str(&out), wanted, length) == 0, "'%s' is '%s'", text, buf_str(&out));
    sweep_grid_fini(&g);
    buf_fini(&out);
}

static void test_values(void)
{
    check_values("a=1", "1");
    check_values("a=1us,10us,100us", "1us 10us 100us");
    check_values("a=x,../b.yaml,c..d", "x ../b.yaml c..d");
    check_values("a=1us..1ms*10", "1us 10us 100us 1ms");
    check_values("a=500ns..2us*2", "500ns 1us 2us");
    check_values("a=1..64*2", "1 2 4 8 16 32 64");
    check_values("a=1..50*7", "1 7 49");
    check_values("a=0..1+0.25", "0 0.25 0.5 0.75 1");
    check_values("a=0..0.5+0.1", "0 0.1 0.2 0.3 0.4 0.5");
    check_values("a=0..100us+25us", "0 25us 50us 75us 100us");
    check_values("a=100Mbps..100Gbps*10", "100Mbps 1Gbps 10Gbps 100Gbps");
    check_values("a=1GBps..2GBps+500MBps", "8Gbps 12Gbps 16Gbps");
    check_values("a=1KiB..1MiB*32", "1KiB 32KiB 1MiB");
    check_values("a=100B..10000B*10", "100B 1000B 10000B");
    check_values("a=1e+3..3e+3+1e+3", "1000 2000 3000");
    check_values("a=1Ki..4Ki*2,5", "1024 2048 4096 5");
    check_values("a=3..3*2", "3");
}

static void test_refused(void)
{
    check_values("a", "error: bad setting 'a': expected KEY=VALUE");
    check_values("=1", "error: bad setting");
    check_values("a=", "error: a: a value is empty");
    check_values("a=1,,2", "error: a: a value is empty");
    check_values("a=1..4", "error: a: range '1..4' has no step: write 1..4*2 or 1..4+1");
    check_values("a=1..4us*2", "error: a: bad range");
    check_values("a=1us..4us+1", "error: a: bad range");
    check_values("a=1us..4us*2us", "error: a: bad range");
    check_values("a=4..1*2", "error: a: bad range '4..1*2': its first value is above its last");
    check_values("a=0..4*2", "error: a: bad range '0..4*2': it would never end");
    check_values("a=1..4*1", "error: a: bad range '1..4*1': it would never end");
    check_values("a=1..4+0", "error: a: bad range '1..4+0': it would never end");
    check_values("a=1..inf*2", "error: a: bad range");
    check_values("a=1..1e9+1", "error: a: more than 100000 values");
    check_values("a=1..1000+1,b=1..1000+1",
                 "error: b: the grid would have more than 100000 points");
    check_values("a=1,a=2", "error: a: given twice");
    check_values("l[+].a=1,l[+].a=2", "1"); /* of another item */
}

static void test_numbers(void)
{
    const char *unit;
    ok(sweep_number("10us", &unit) == 1e-5 && strcmp(unit, "s") == 0, "seconds");
    ok(sweep_number("10Gbps", &unit) == 1e10 && strcmp(unit, "bit/s") == 0, "bits per second");
    ok(isinf(sweep_number("inf", &unit)) && strcmp(unit, "bit/s") == 0, "infinite bandwidth");
    ok(sweep_number("64KiB", &unit) == 65536 && strcmp(unit, "B") == 0, "bytes");
    ok(sweep_number("1Mi", &unit) == 1048576 && !*unit, "a count");
    ok(sweep_number("0.5", &unit) == 0.5 && !*unit, "a number");
    ok(isnan(sweep_number("torus", &unit)), "a name");
    ok(isnan(sweep_number("4x4", &unit)), "sizes are names");
}

static void test_points(void)
{
    struct sweep_grid g;
    struct err err;
    struct buf out;
    size_t point = 99;
    buf_init(&out);
    sweep_grid_init(&g);
    ok(sweep_grid_points(&g) == 1, "no dimension, one point");
    ok(sweep_grid_add_sets(&g, "lat=0,1us,10us,fixed=7,bw=1Gbps,inf", &err) == 0,
       "three dimensions");
    ok(sweep_grid_add(&g, SWEEP_PLATFORM, "a,b", &err) == 0, "and one of names");
    ok(g.count == 4 && sweep_grid_points(&g) == 12, "12 points");
    ok(strcmp(g.dims[0].unit, "s") == 0 && strcmp(g.dims[1].unit, "") == 0 &&
           strcmp(g.dims[2].unit, "bit/s") == 0 && g.dims[3].unit == NULL,
       "units");
    ok(sweep_grid_index(&g, 0, 3) == 0 && sweep_grid_index(&g, 1, 3) == 1 &&
           sweep_grid_index(&g, 2, 2) == 1 && sweep_grid_index(&g, 11, 0) == 2,
       "the last is fastest");
    sweep_grid_name(&g, 7, NULL, &out);
    ok(strcmp(buf_str(&out), "lat=1us, bw=inf, platform=b") == 0, "a name: %s", buf_str(&out));
    buf_clear(&out);
    sweep_grid_name(&g, 7, &g.dims[2], &out);
    ok(strcmp(buf_str(&out), "lat=1us, platform=b") == 0, "without one: %s", buf_str(&out));
    ok(sweep_grid_locate(&g, "bw=inf,lat=1000ns", &point, &err) == 0 && point == 6,
       "a point by name");
    ok(sweep_grid_locate(&g, "", &point, &err) == 0 && point == 0, "the first");
    ok(sweep_grid_locate(&g, "lat=5us", &point, &err) != 0 &&
           strstr(err.text, "not one of the values"),
       "no such value");
    ok(sweep_grid_locate(&g, "lad=1us", &point, &err) != 0 &&
           strstr(err.text, "did you mean 'lat'?"),
       "no such key");
    ok(sweep_grid_locate(&g, "lat", &point, &err) != 0 && point == 0, "no value");
    sweep_grid_fini(&g);
    buf_fini(&out);
}

static int read_summary(const char *text, size_t size, struct results_summary *s)
{
    char path[40];
    int fd = memfd_create("summary", 0), good;
    if (fd < 0 || write(fd, text, size) != (ssize_t)size)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    good = results_summary_read(path, s);
    close(fd);
    return good;
}

static void test_summaries(void)
{
    static const char good[] =
        "{\"a\": {\"messages\": 3, \"b\": [1, {\"bytes\": 4}]}, \"wall_s\": 0.5,"
        "\"virtual_time_ps\": 9007199254740993, \"messages\": 7, \"bytes\": 8}";
    static const char sent[] =
        "{\"wall_s\": 0.5, \"virtual_time_ps\": 9, \"messages\": 7, \"bytes\": 8,"
        "\"overcommitted\": 1.5, \"overcommitted_ranks\": 3, \"overcommitted_rank\": 2,"
        "\"overcommitted_at_s\": 0.25}";
    struct results_summary s;
    ok(read_summary(good, sizeof good - 1, &s) == 1 && s.wall_s == 0.5 && s.messages == 7 &&
           s.bytes == 8,
       "a summary");
    ok(s.time_ps == 9007199254740993u, "to the last picosecond");
    ok(s.overcommitted_ranks == 0, "no link is overcommitted");
    ok(read_summary(sent, sizeof sent - 1, &s) == 1 && s.overcommitted == 1.5 &&
           s.overcommitted_ranks == 3 && s.overcommitted_rank == 2 && s.overcommitted_at_s == 0.25,
       "links are");
    ok(read_summary(good, sizeof good - 2, &s) == 0, "one that is cut off is none");
    ok(read_summary("{}", 2, &s) == 0, "one without numbers is none");
    ok(!results_summary_read("/nonexistent", &s), "no file");
}

int main(void)
{
    plan_auto();
    test_values();
    test_refused();
    test_numbers();
    test_points();
    test_summaries();
    return done_testing();
}
