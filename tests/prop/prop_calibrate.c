/*
 * Property: whatever the measurements are, what is fitted to them is a platform file that can be
 * read again to the last bit and simulated. Sizes repeat, times are wild, properties are any bytes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "calibrate/report.h"
#include "cli/machine.h"
#include "cli/uses.h"
#include "tap.h"

#define ROUNDS 2000
#define RECORDS_MAX 90
#define SEED 11

static struct rng rng;

static const char *pick(const char *const *words, size_t count)
{
    return words[rng_below(&rng, count)];
}
#define PICK(words) pick(words, sizeof(words) / sizeof((words)[0]))

/* From 0 to the largest that the reader takes, all magnitudes alike. */
static double random_time(void)
{
    if (rng_below(&rng, 8) == 0)
        return 0;
    return exp(rng_double(&rng) * log(1e15));
}

static uint64_t random_bytes(unsigned magnitude)
{
    static const uint64_t usual[] = {0, 0, 0, 1, 8, 64, 1024, 1025, 8192, 8193, 65536, 1 << 20};
    if (rng_below(&rng, 3))
        return usual[rng_below(&rng, sizeof usual / sizeof usual[0])];
    return rng_next(&rng) >> (64 - magnitude);
}

static void add_record(struct buf *out, int wild, unsigned magnitude)
{
    static const char *const kinds[] = {"pingpong", "pingpong", "pingpong", "send",
                                        "recv",     "gap",      "eager",    "clock",
                                        "test",     "call",     "alltoall", "barrier"};
    static const char *const places[] = {"intra", "inter", "intra", "inter", "-"};
    uint64_t bytes = random_bytes(magnitude);
    double t = wild ? random_time() : 500 + (double)bytes * 0.1 * (1 + rng_double(&rng));
    double spread = wild ? rng_double(&rng) : 0.05;
    buf_addf(out, "%s,%s,%u,%llu,9,0,%.3f,%.3f,%.3f,%.3f,%.3f,0\n", PICK(kinds), PICK(places),
             (unsigned)(1 + rng_below(&rng, 8)), (unsigned long long)bytes, t * (1 - spread),
             t * (1 - spread / 2), t, fmin(t * (1 + spread), 1e15), fmin(t * (2 + spread), 1e15));
}

/* A few sizes measured several times, on a machine whose speed changed in between. */
static void add_repeats(struct buf *out)
{
    uint64_t bytes = 0;
    for (size_t sizes = 1 + rng_below(&rng, 4); sizes > 0; sizes--) {
        for (size_t levels = 1 + rng_below(&rng, 4); levels > 0; levels--) {
            double t = 100 * exp(5 * rng_double(&rng));
            for (size_t n = 2 + rng_below(&rng, 4); n > 0; n--)
                buf_addf(out, "pingpong,intra,2,%llu,9,0,%f,%f,%f,%f,%f,0\n",
                         (unsigned long long)bytes, t, t, t, t, t);
        }
        bytes += 1 + rng_below(&rng, 100);
    }
}

static void add_comment(struct buf *out, const char *name)
{
    buf_addf(out, "# %s: ", name);
    for (size_t n = rng_below(&rng, 300); n > 0; n--) {
        char c = (char)(1 + rng_below(&rng, 255));
        buf_addc(out, c == '\n' || c == '\r' ? ' ' : c);
    }
    buf_addc(out, '\n');
}

static void make(struct buf *out)
{
    int wild = rng_below(&rng, 2) != 0, repeats = rng_below(&rng, 3) == 0;
    unsigned magnitude = 1 + (unsigned)rng_below(&rng, 40);
    buf_adds(out, "# orrery calibration 1\n");
    if (wild)
        add_comment(out, "cpu");
    buf_addf(out, "# cores: %llu\n", (unsigned long long)rng_below(&rng, 1u << 30));
    if (repeats)
        add_repeats(out);
    for (size_t n = repeats ? 0 : rng_below(&rng, RECORDS_MAX); n > 0; n--)
        add_record(out, wild, magnitude);
    buf_adds(out, "# end\n");
}

/* 1: a platform, 0: refused. */
static int try_one(unsigned round)
{
    static struct calibrate_machine m;
    struct calibrate_raw raw;
    struct platform p;
    struct buf in, out;
    struct err err = {0};
    int good = 1, fitted = 0;
    buf_init(&in);
    buf_init(&out);
    make(&in);
    if (calibrate_raw_read(&raw, "raw.csv", buf_str(&in), in.len, &err)) {
        printf("# round %u: not read: %s\n", round, err.text);
        good = 0;
    } else {
        if (calibrate_machine_fit(&m, &raw, &err) == 0) {
            fitted = 1;
            platform_init(&p);
            calibrate_machine_comments(&m, &raw, NULL, &out);
            calibrate_machine_settings(&m, &raw, "any", &p);
            platform_write(&p, cli_uses_setting, &out);
            if (cli_machine_check_text("m.yaml", &out, &p, &err)) {
                printf("# round %u: %s\n", round, err.text);
                good = 0;
            }
            platform_fini(&p);
        }
        calibrate_raw_fini(&raw);
    }
    buf_fini(&in);
    buf_fini(&out);
    return good ? fitted : -1;
}

int main(void)
{
    int bad = 0, fitted = 0;
    plan_auto();
    rng_seed(&rng, SEED);
    diag("seed %d", SEED);
    for (unsigned i = 0; i < ROUNDS; i++) {
        int rc = try_one(i);
        bad += rc < 0;
        fitted += rc > 0;
    }
    ok(bad == 0, "everything that is fitted is a platform");
    ok(fitted > ROUNDS / 4, "many are fitted");
    return done_testing();
}
