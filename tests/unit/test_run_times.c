/*
 * Tables of times: what is read, what is refused, and interpolation.
 */
#include "run/times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static struct run_times t;
static struct err err;
static char path[64];

static int read_text(const char *text, enum run_times_kind kind)
{
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    return run_times_read(&t, path, kind, &err);
}

static void test_names(void)
{
    is_int(read_text("# times\nsolve 1.5ms\n\n\"two words\",0.25 # more\r\n\tassemble\t3\n",
                     RUN_TIMES_NAMES),
           0, "names and seconds");
    is_int((int)t.count, 3, "three entries");
    ok(run_times_find(&t, "solve") && run_times_find(&t, "solve")->seconds == 1.5e-3,
       "with a unit");
    ok(run_times_find(&t, "two words") && run_times_find(&t, "two words")->seconds == 0.25,
       "in quotes, with a comma");
    ok(run_times_find(&t, "assemble")->seconds == 3, "with tabs");
    ok(!run_times_find(&t, "zzz") && !run_times_find(&t, ""), "others are not there");
    run_times_fini(&t);
}

static void test_counts(void)
{
    is_int(read_text("1000 1us\n100 200ns\n10000 20us\n", RUN_TIMES_COUNTS), 0, "any order");
    ok(fabs(run_times_at(&t, 0)) < 1e-18, "nothing takes no time");
    ok(fabs(run_times_at(&t, 50) - 100e-9) < 1e-15, "from 0 to the first");
    ok(fabs(run_times_at(&t, 100) - 200e-9) < 1e-15, "at an entry");
    ok(fabs(run_times_at(&t, 550) - 600e-9) < 1e-15, "between two");
    ok(fabs(run_times_at(&t, 20000) - 40e-6) < 1e-12, "beyond the last, in proportion");
    run_times_fini(&t);
}

static const struct {
    const char *text, *says;
    enum run_times_kind kind;
} bad[] = {
    {"", "no entries", RUN_TIMES_NAMES},
    {"# only this\n", "no entries", RUN_TIMES_NAMES},
    {"solve\n", ":1: expected two entries", RUN_TIMES_NAMES},
    {"a 1\nb 2 3\n", ":2: expected two entries", RUN_TIMES_NAMES},
    {"a 1\nb 2x\n", ":2: bad time '2x'", RUN_TIMES_NAMES},
    {"a -1\n", ":1: ", RUN_TIMES_NAMES},
    {"a 1\nb 1\na 2\n", "two entries for a", RUN_TIMES_NAMES},
    {"many 1\n", ":1: ", RUN_TIMES_COUNTS},
    {"5 1\n5 2\n", "two entries for 5", RUN_TIMES_COUNTS},
};

static void test_errors(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int rc = read_text(bad[i].text, bad[i].kind);
        if (!ok(rc == ERR_INPUT && strstr(err.text, bad[i].says), "'%.10s' is refused",
                bad[i].text))
            diag("code %d text '%s'", rc, err.text);
    }
    is_int(run_times_read(&t, "/nonexistent/file", RUN_TIMES_NAMES, &err), ERR_SYSTEM,
           "a missing file");
    ok(strstr(err.text, "/nonexistent/file"), "is named");
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/orrery-times-%d", (int)getpid());
    plan_auto();
    test_names();
    test_counts();
    test_errors();
    unlink(path);
    return done_testing();
}
