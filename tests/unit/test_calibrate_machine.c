/*
 * Calibration on made-up measurements: the reader and its errors, parameters that are found again
 * under seeded noise, the model as the simulator computes it, disturbed points, the settings, the
 * verdict.
 */
#include "calibrate/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "calibrate/report.h"
#include "net/net.h"
#include "tap.h"

#define SEED 7
#define LIMIT 8192u
#define HEAD "# orrery calibration 1\n# cpu: An <odd> cpu\n# cores: 4\n# ranks: 4\n# nodes: 2\n"

static int near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fabs(b);
}

/* ---- the truth: o_s 100 + 0.01 n, o_r 150 + 0.02 n, L and G by place ---- */

struct truth {
    double latency, per_byte;
};
static const struct truth truths[] = {{400, 0.05}, {1500, 0.1}};

static double half_trip(const struct truth *t, double n)
{
    if (n <= LIMIT)
        return 100 + 0.01 * n + t->latency + n * t->per_byte + 150 + 0.02 * n;
    return 100 + 2 * t->latency + t->latency + n * 0.07 + 150;
}

static void add_record(struct buf *out, struct rng *rng, double noise, const char *kind,
                       const char *where, int ranks, unsigned bytes, double y)
{
    double m = y * (1 + noise * (rng_double(rng) - 0.5)), spread = noise / 2;
    buf_addf(out, "%s,%s,%d,%u,50,0,%.3f,%.3f,%.3f,%.3f,%.3f,0\n", kind, where, ranks, bytes,
             m * (1 - 2 * spread), m * (1 - spread), m, m * (1 + spread), m * (1 + 3 * spread));
}

static void add_pair(struct buf *out, struct rng *rng, double noise, int place)
{
    const char *where = place ? "inter" : "intra";
    buf_addf(out, "eager,%s,2,%u,1,0,0,0,0,0,0,0\n", where, LIMIT);
    for (unsigned i = 0; i < 46; i++) {
        unsigned n = i == 0  ? 0
                     : i % 2 ? 1u << (i - 1) / 2
                             : (1u << (i - 2) / 2) * 3 / 2 + (i == 2);
        add_record(out, rng, noise, "pingpong", where, 2, n, half_trip(&truths[place], n));
        add_record(out, rng, noise, "send", where, 2, n, n <= LIMIT ? 100 + 0.01 * n : 100);
        if (n <= LIMIT)
            add_record(out, rng, noise, "recv", where, 2, n, 150 + 0.02 * n);
    }
    add_record(out, rng, noise, "pingpong", where, 2, LIMIT + 1,
               half_trip(&truths[place], LIMIT + 1));
    add_record(out, rng, noise, "gap", where, 2, 0, place ? 500 : 150);
    add_record(out, rng, noise, "gap", where, 2, 8, place ? 500 : 150);
    add_record(out, rng, noise, "gap", where, 2, 4096, 5000);
}

static void add_collectives(struct buf *out, struct rng *rng, double noise)
{
    for (int p = 2; p <= 16; p *= 2)
        for (unsigned n = 8; n <= 65536; n *= 8)
            add_record(out, rng, noise, "alltoall", "-", p, n,
                       2000 + 900 * log2(p) + 0.25 * n * log2(p));
    add_record(out, rng, noise, "barrier", "-", 2, 0, 1000);
}

static int make(struct calibrate_raw *raw, double noise, int places)
{
    struct rng rng;
    struct buf text;
    struct err err = {0};
    rng_seed(&rng, SEED);
    buf_init(&text);
    buf_adds(&text, HEAD);
    add_record(&text, &rng, 0, "clock", "-", 1, 0, 22);
    add_record(&text, &rng, 0, "test", "-", 1, 0, 80);
    for (int i = 0; i < places; i++)
        add_pair(&text, &rng, noise, i);
    add_collectives(&text, &rng, noise);
    buf_adds(&text, "# end\n");
    int rc = calibrate_raw_read(raw, "made", buf_str(&text), text.len, &err);
    if (rc)
        diag("%s", err.text);
    buf_fini(&text);
    return rc;
}

/* ---- reader ---- */

static void refuse(const char *text, const char *why)
{
    struct calibrate_raw raw;
    struct err err = {0};
    int rc = calibrate_raw_read(&raw, "f", text, strlen(text), &err);
    ok(rc == ERR_INPUT && strstr(err.text, why), "refused: %s (%s)", why, err.text);
}

#define ROW(...) "# orrery calibration 1\n" __VA_ARGS__ "\n# end\n"

static void test_reader(void)
{
    struct calibrate_raw raw;
    struct err err;
    const char *good = ROW("# cpu: a: b\nnew,-,3,5,9,1,1,2,2.5,3,4e1,1\r");
    is_int(calibrate_raw_read(&raw, "f", good, strlen(good), &err), 0, "a text is read");
    const struct calibrate_record *r = calibrate_raw_find(&raw, "new", CALIBRATE_ANYWHERE);
    ok(r && r->ranks == 3 && r->bytes == 5 && r->median == 2.5 && r->most == 40 && r->beyond_cores,
       "with its numbers");
    is_str(calibrate_raw_property(&raw, "cpu"), "a: b", "a property");
    is_str(calibrate_raw_property(&raw, "gpu"), "unknown", "a property that is not there");
    is_int(calibrate_raw_number(&raw, "cpu"), 0, "and that is no number");
    ok(!calibrate_raw_find(&raw, "new", CALIBRATE_INTRA), "a place that is not there");
    calibrate_raw_fini(&raw);
    refuse("", "f:1: not raw data");
    refuse("kind,where\n", "f:1: not raw data");
    refuse("# orrery calibration 1\n", "'# end' is missing");
    refuse(ROW("a,b"), "f:2: 12 fields are expected, but there are 2");
    refuse(ROW("a,-,1,1,1,0,1,1,1,1,1,0,0"), "but there are 13");
    refuse(ROW(",-,1,1,1,0,1,1,1,1,1,0"), "kind: ''");
    refuse(ROW("\na,far,1,1,1,0,1,1,1,1,1,0"), "f:3: where: 'far'");
    refuse(ROW("a,-,0,1,1,0,1,1,1,1,1,0"), "ranks: must not be 0");
    refuse(ROW("a,-,1,1,0,0,1,1,1,1,1,0"), "samples: must not be 0");
    refuse(ROW("a,-,1,-1,1,0,1,1,1,1,1,0"), "bytes: '-1'");
    refuse(ROW("a,-,1,99999999999999999999,1,0,1,1,1,1,1,0"), "bytes:");
    refuse(ROW("a,-,1,1,1,0,1,1,nan,1,1,0"), "median: 'nan'");
    refuse(ROW("a,-,1,1,1,0,1,3,2,4,5,0"), "median: '2' is less");
    refuse(ROW("a,-,1,1,1,0,1,1,1,1,1e99,0"), "most: '1e99'");
    refuse(ROW("a,-,1,1,1,0,1,1,1,1,1,2"), "beyond_cores: '2'");
}

/* ---- fit ---- */

static void check_curve(const struct calibrate_curve *c, const struct truth *t, double tolerance)
{
    const struct calibrate_segment *s = &c->segments[0], *last = &c->segments[c->count - 1];
    ok(c->count == 2, "two pieces (%zu)", c->count);
    is_int(last->from, LIMIT + 1, "the second beyond the eager limit");
    ok(near(s->latency.value, t->latency, tolerance), "L is %g of %g", s->latency.value,
       t->latency);
    ok(near(s->per_byte.value, t->per_byte, 3 * tolerance), "G is %g of %g", s->per_byte.value,
       t->per_byte);
    ok(near(s->send.value, 100, tolerance) && near(s->recv.value, 150, tolerance), "o is %g and %g",
       s->send.value, s->recv.value);
    ok(near(s->send_per_byte.value, 0.01, 5 * tolerance) &&
           near(s->recv_per_byte.value, 0.02, 5 * tolerance),
       "O is %g and %g", s->send_per_byte.value, s->recv_per_byte.value);
    ok(near(last->per_byte.value, 0.07, tolerance), "G of large ones is %g", last->per_byte.value);
    ok(near(calibrate_predict(c, LIMIT + 1), half_trip(t, LIMIT + 1), 3 * tolerance),
       "rendezvous is longer");
    ok(fabs(s->latency.value - t->latency) <= s->latency.range + 1e-6, "L is within its interval");
}

static void test_fit(double noise, double tolerance)
{
    struct calibrate_raw raw;
    struct calibrate_machine m;
    struct err err;
    diag("seed %d, noise %g", SEED, noise);
    make(&raw, noise, 2);
    is_int(calibrate_machine_fit(&m, &raw, &err), 0, "fitted");
    check_curve(&m.curves[0], &truths[0], tolerance);
    check_curve(&m.curves[1], &truths[1], tolerance);
    is_int(m.eager_limit, LIMIT, "the eager limit");
    ok(m.curves[0].gap.value == 0, "a gap as long as the overhead is hidden");
    ok(near(m.gap, 500, 2 * tolerance), "a longer one is found: %g", m.gap);
    is_int(m.collective_count, 2, "two collectives");
    const struct calibrate_collective *c = &m.collectives[1];
    is_str(c->kind, "alltoall", "one is all-to-all");
    ok(near(c->a.value, 2000, 10 * tolerance) && near(c->b.value, 900, 10 * tolerance) &&
           near(c->c.value, 0.25, 10 * tolerance),
       "T = %g + %g log2 p + %g n log2 p", c->a.value, c->b.value, c->c.value);
    ok(c->error <= tolerance, "its error is %g", c->error);
    calibrate_raw_fini(&raw);
}

/* The model of the simulator, with the settings, says the same as the fit. */
static void test_settings(void)
{
    struct calibrate_raw raw;
    struct calibrate_machine m;
    struct platform p;
    struct net net;
    struct err err = {0};
    make(&raw, 0.01, 2);
    calibrate_machine_fit(&m, &raw, &err);
    platform_init(&p);
    calibrate_machine_settings(&m, &raw, "mine", &p);
    is_str(p.config.name, "mine", "its name");
    is_int(p.config.nodes_ranks, 4, "as many ranks on a node as cores");
    is_int(p.config.mpi_clock_cost, 22000, "the cost of the clock in ps");
    is_int(p.config.mpi_eager_limit, LIMIT, "the eager limit");
    ok(platform_check(&p, &err) == 0 && net_init(&net, &p, 8, &err) == 0, "the model accepts it %s",
       err.text);
    int same = 1;
    for (int inter = 0; inter < 2; inter++)
        for (uint64_t n = 0; n < 4000000; n = n * 3 + 1) {
            uint32_t to = inter ? 4 : 1;
            vtime t = net_send_cost(&net, 0, to, n) + net_delay(&net, 0, to, n, 0) +
                      net_recv_cost(&net, 0, to, n);
            if (n > LIMIT)
                t += 2 * net_delay(&net, 0, to, 0, 0);
            if (!near((double)t / 1000, calibrate_predict(&m.curves[inter], n), 1e-4))
                same = 0, diag("%llu B: %g", (unsigned long long)n, (double)t / 1000);
        }
    ok(same, "and takes as long as the fit");
    net_fini(&net);
    platform_fini(&p);
    calibrate_raw_fini(&raw);
}

static void test_one_node(void)
{
    struct calibrate_raw raw;
    struct calibrate_machine m;
    struct platform p;
    struct err err;
    struct buf text;
    make(&raw, 0, 1);
    calibrate_machine_fit(&m, &raw, &err);
    is_int(m.curves[CALIBRATE_INTER].count, 0, "nothing between nodes");
    platform_init(&p);
    calibrate_machine_settings(&m, &raw, "one", &p);
    is_int(p.lists[PLATFORM_SEGMENTS].count, 0, "no pieces between nodes");
    is_int(p.lists[PLATFORM_INTRA_SEGMENTS].count, 2, "two within");
    buf_init(&text);
    calibrate_machine_comments(&m, &raw, "a day", &text);
    ok(strstr(buf_str(&text), "were not measured"), "the file says so");
    ok(!strstr(buf_str(&text), "WARNING"), "and warns of nothing");
    raw.records[0].beyond_cores = 1;
    calibrate_machine_comments(&m, &raw, "a day", &text);
    ok(strstr(buf_str(&text), "WARNING: 1 of "), "unless ranks were beyond the cores");
    ok(strstr(buf_str(&text), "# date         a day\n"), "and the date given");
    buf_fini(&text);
    platform_fini(&p);
    calibrate_raw_fini(&raw);
}

static struct calibrate_record *record_at(struct calibrate_raw *raw, const char *kind,
                                          uint64_t bytes)
{
    for (size_t i = 0; i < raw->count; i++)
        if (raw->records[i].bytes == bytes && strcmp(raw->records[i].kind, kind) == 0)
            return &raw->records[i];
    return NULL;
}

static void test_disturbed(void)
{
    struct calibrate_raw raw;
    struct calibrate_machine m;
    struct err err;
    make(&raw, 0, 1);
    for (uint64_t n = 0; n < 4; n++) {
        struct calibrate_record *r = record_at(&raw, "pingpong", n);
        r->least = r->q1 = r->median = r->q3 = r->most = 6e6;
    }
    ok(calibrate_is_disturbed(&raw, record_at(&raw, "pingpong", 0)),
       "slower than large ones: disturbed");
    ok(!calibrate_is_disturbed(&raw, record_at(&raw, "pingpong", 4)), "others are not");
    is_int(calibrate_machine_fit(&m, &raw, &err), 0, "fitted");
    ok(near(calibrate_predict(&m.curves[0], 0), half_trip(&truths[0], 0), 0.01),
       "without the disturbed");
    for (size_t i = 0; i < raw.count; i++)
        if (strcmp(raw.records[i].kind, "pingpong") == 0 && raw.records[i].bytes <= LIMIT)
            raw.records[i].median = raw.records[i].q3 = 6e6;
    is_int(calibrate_machine_fit(&m, &raw, &err), 0, "if all are disturbed, they are fitted");
    calibrate_raw_fini(&raw);
}

static void test_crowded(void)
{
    struct calibrate_raw raw;
    struct calibrate_machine m;
    struct err err;
    struct buf text;
    make(&raw, 0, 1);
    for (size_t i = 0; i < raw.count; i++)
        if (raw.records[i].ranks > 4) {
            raw.records[i].beyond_cores = 1;
            raw.records[i].median *= 1000;
        }
    calibrate_machine_fit(&m, &raw, &err);
    const struct calibrate_collective *c = &m.collectives[1];
    ok(c->points == 10 && c->left_out == 10, "ranks beyond the cores are left out");
    ok(near(c->b.value, 900, 1e-3), "and do not spoil the rest");
    buf_init(&text);
    calibrate_report_text(&m, &raw, &text);
    ok(strstr(buf_str(&text), "(10 left out)"), "the report says so");
    buf_fini(&text);
    calibrate_raw_fini(&raw);
}

static void test_overlap(void)
{
    struct calibrate_raw raw;
    struct calibrate_machine m;
    struct err err;
    make(&raw, 0, 1);
    for (size_t i = 0; i < raw.count; i++)
        if (strcmp(raw.records[i].kind, "send") == 0)
            raw.records[i].median *= 20;
    calibrate_machine_fit(&m, &raw, &err);
    ok(m.curves[0].segments[0].scaled, "overheads longer than the whole are told");
    ok(m.curves[0].segments[0].latency.value > 0, "some latency remains");
    ok(near(calibrate_predict(&m.curves[0], 1024), half_trip(&truths[0], 1024), 1e-3),
       "the whole is kept");
    calibrate_raw_fini(&raw);
    const char *none = ROW("clock,-,1,0,1,0,1,1,1,1,1,0");
    calibrate_raw_read(&raw, "f", none, strlen(none), &err);
    ok(calibrate_machine_fit(&m, &raw, &err) == ERR_INPUT && strstr(err.text, "nothing to fit"),
       "nothing to fit is told");
    calibrate_raw_fini(&raw);
}

static void test_verdict(void)
{
    struct calibrate_record r = {.q1 = 50, .median = 100, .q3 = 102};
    ok(calibrate_is_good(&r, 110) && calibrate_is_good(&r, 90), "10%% is good");
    ok(!calibrate_is_good(&r, 111), "more is not");
    ok(calibrate_is_good(&r, 51), "but for what is between the quartiles");
    ok(!calibrate_is_good(&r, 49), "and not beyond them");
}

static void test_reports(void)
{
    struct calibrate_raw raw;
    struct calibrate_machine m;
    struct err err;
    struct buf text;
    size_t good = 0, all = 0;
    make(&raw, 0, 2);
    calibrate_machine_fit(&m, &raw, &err);
    buf_init(&text);
    calibrate_report_text(&m, &raw, &text);
    ok(strstr(buf_str(&text), "the fit is within 10% or the quartiles at 47 of 47 sizes"),
       "the text counts");
    ok(strstr(buf_str(&text), "Collectives: T = a + b log2 p + c n log2 p"), "and has collectives");
    buf_clear(&text);
    calibrate_report_svg(&m, &raw, &text);
    ok(strncmp(buf_str(&text), "<svg ", 5) == 0 && strstr(buf_str(&text), "16 ranks"), "a picture");
    ok(!strstr(buf_str(&text), "nan") && !strstr(buf_str(&text), "inf"), "with finite numbers");
    buf_clear(&text);
    is_int(calibrate_verify(&raw, &raw, &good, &all, &text, &err), 0, "compared with itself");
    ok(good == 94 && all == 94, "all are good");
    buf_fini(&text);
    calibrate_raw_fini(&raw);
}

/* ---- neighbours, and messages in real use ---- */

static int make_use(struct calibrate_raw *raw)
{
    struct buf text;
    struct err err;
    struct rng rng;
    buf_init(&text);
    buf_adds(&text, HEAD);
    rng_seed(&rng, SEED);
    add_pair(&text, &rng, 0, 0); /* o_s 100, o_r 150 + 0.02 n; the gap is hidden */
    for (unsigned n = 0; n <= 4096; n = n ? 4 * n : 64)
        add_record(&text, &rng, 0, "unexpected", "intra", 2, n, 150 + 70 + (0.02 + 0.05) * n);
    for (unsigned n = 0; n <= 256; n = n ? 4 * n : 16)
        add_record(&text, &rng, 0, "match", "intra", 2, n, 700 + 2.0 * n);
    add_record(&text, &rng, 0, "window", "intra", 2, 0, 100 + 150 + 2 * 40 + 2);
    add_record(&text, &rng, 0, "peers", "intra", 4, 0, 100 + 33);
    for (int pass = 0; pass < 3; pass++)
        for (int k = 1; k <= 4; k *= 2) {
            double disturbed = pass == 0 && k > 1 ? 2 : 1;
            add_record(&text, &rng, 0, "streaming", "intra", k, 1 << 25,
                       1000 * disturbed * (1 + 0.25 * (k - 1)));
            add_record(&text, &rng, 0, "in_cache", "intra", k, 1 << 14, disturbed * (500 - k));
            add_record(&text, &rng, 0, "random", "intra", k, 1 << 25,
                       800 * disturbed * (1 + 0.1 * (k - 1)));
        }
    buf_adds(&text, "# end\n");
    int rc = calibrate_raw_read(raw, "made", buf_str(&text), text.len, &err);
    buf_fini(&text);
    return rc;
}

static void test_use(void)
{
    struct calibrate_raw raw;
    struct calibrate_machine m;
    struct err err;
    struct platform p;
    struct buf text;
    is_int(make_use(&raw), 0, "messages in real use are read");
    is_int(calibrate_machine_fit(&m, &raw, &err), 0, "and fitted");
    ok(near(m.use.unexpected, 70, 0.01) && near(m.use.unexpected_per_byte, 0.05, 0.01),
       "unexpected: what o_r does not explain (%g, %g)", m.use.unexpected,
       m.use.unexpected_per_byte);
    ok(near(m.use.match, 2, 0.01), "matching: the slope (%g)", m.use.match);
    ok(near(m.use.request, 40, 0.01), "requests: half of what is left (%g)", m.use.request);
    ok(near(m.use.peer, 33, 0.02), "another peer (%g)", m.use.peer);
    is_int(m.sharing_count, 2, "two numbers of neighbours");
    ok(m.sharing[0].busy == 2 && near(m.sharing[0].streaming, 1.25, 1e-6) &&
           near(m.sharing[1].random, 1.3, 1e-6),
       "as factors, in spite of a pass that was disturbed");
    ok(m.sharing[1].in_cache == 1, "nobody gets faster");
    platform_init(&p);
    calibrate_machine_settings(&m, &raw, "m", &p);
    is_int(p.config.mpi_match_cost, 2000, "the platform has the cost of matching");
    const struct platform_sharing *s = p.lists[PLATFORM_SHARING].items;
    ok(p.lists[PLATFORM_SHARING].count == 2 && s[1].busy == 4 && s[1].streaming == 1.75,
       "and the factors");
    is_int(platform_check(&p, &err), 0, "it is a platform");
    platform_fini(&p);
    buf_init(&text);
    calibrate_report_text(&m, &raw, &text);
    ok(strstr(buf_str(&text), "  matching            2.00 ns for each receive that is pending"),
       "the report has it");
    ok(strstr(buf_str(&text), "      4      1.000      1.750      1.300"), "and the factors");
    ok(!strstr(buf_str(&text), "poor fit"), "a good fit is not called poor");
    buf_fini(&text);
    calibrate_raw_fini(&raw);
}

static void test_poor(void)
{
    const char *text = ROW("pingpong,intra,2,0,9,0,100,100,100,100,100,0\n"
                           "pingpong,intra,2,0,9,0,900,900,900,900,900,0");
    struct calibrate_raw raw;
    struct calibrate_machine m;
    struct err err;
    struct buf out;
    size_t good, all;
    is_int(calibrate_raw_read(&raw, "f", text, strlen(text), &err), 0,
           "what cannot be fitted well");
    calibrate_machine_fit(&m, &raw, &err);
    calibrate_fit_count(&m, &raw, CALIBRATE_INTRA, &good, &all);
    ok(all == 2 && calibrate_fit_is_poor(good, all), "is poor");
    ok(!calibrate_fit_is_poor(9, 10) && calibrate_fit_is_poor(8, 10) &&
           !calibrate_fit_is_poor(0, 0),
       "from below 90%% on");
    buf_init(&out);
    calibrate_report_text(&m, &raw, &out);
    ok(strstr(buf_str(&out), "This is a poor fit: do not rely on the platform."), "in words");
    buf_clear(&out);
    calibrate_report_svg(&m, &raw, &out);
    ok(strstr(buf_str(&out), "a poor fit: good at only"), "in the picture, too");
    ok(strstr(buf_str(&out), ">within 10% or the quartiles<") && strstr(buf_str(&out), ">off<"),
       "which says what the colours of the dots are");
    buf_clear(&out);
    calibrate_machine_comments(&m, &raw, NULL, &out);
    ok(strstr(buf_str(&out), "# WARNING: a poor fit"), "and in the platform file");
    buf_fini(&out);
    calibrate_raw_fini(&raw);
}

int main(void)
{
    plan_auto();
    test_reader();
    test_fit(0, 1e-5);
    test_fit(0.02, 0.05);
    test_settings();
    test_one_node();
    test_disturbed();
    test_crowded();
    test_overlap();
    test_verdict();
    test_reports();
    test_use();
    test_poor();
    return done_testing();
}
