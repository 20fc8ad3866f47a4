/*
 * Command lines of other programs: words and quotes, output and status of what is started.
 */
#include "launch/supervise.h"

#include "tap.h"

static void test_split(void)
{
    struct launch_argv w = {0};
    struct err err;
    is_int(launch_argv_split(&w, "--x", "  a 'b c'\t\"d'e\"f ''", &err), 0, "split");
    is_int(w.count, 4, "four words");
    is_str(w.at[0], "a", "a plain one");
    is_str(w.at[1], "b c", "one in quotes");
    is_str(w.at[2], "d'ef", "a quote in others");
    is_str(w.at[3], "", "an empty one");
    ok(w.at[4] == NULL, "the end");
    launch_argv_fini(&w);
    w = (struct launch_argv){0};
    ok(launch_argv_split(&w, "--x", "a 'b", &err) == ERR_INPUT, "an open quote");
    is_str(err.text, "--x: a quote (') is not closed", "is told");
    launch_argv_fini(&w);
    w = (struct launch_argv){0};
    ok(launch_argv_split(&w, "--x", "  ", &err) == ERR_INPUT, "no word");
    launch_argv_fini(&w);
}

static int run(const char *command, struct buf *out, int *status, struct err *err)
{
    struct launch_argv w = {0};
    struct launch_supervise_end end = {0};
    int rc = launch_argv_split(&w, "--x", command, err);
    if (rc == 0)
        rc = launch_supervise_capture(&w, out, &end, err);
    if (rc == 0)
        *status = end.signal ? 1000 + end.signal : end.status;
    launch_argv_fini(&w);
    return rc;
}

static void test_capture(void)
{
    struct buf out;
    struct err err;
    int status = -1;
    buf_init(&out);
    is_int(run("sh -c 'echo one; cat; echo two; exit 3'", &out, &status, &err), 0, "started");
    is_str(buf_str(&out), "one\ntwo\n", "its output; its input is empty");
    is_int(status, 3, "its status");
    run("sh -c 'kill -TERM $$'", &out, &status, &err);
    is_int(status, 3, "a signal");
    buf_clear(&out);
    run("sh -c 'head -c 300000 /dev/zero'", &out, &status, &err);
    is_int(out.len, 300000, "more than a pipe holds");
    /* it asks for its own end: whoever started it is behind the guard */
    run("sh -c 'sleep 100 & kill -TERM $(sed -n s/PPid:.//p /proc/$PPID/status); wait'", &out,
        &status, &err);
    is_int(status, 1000 + 15, "a signal to us ends it, and what it has started");
    ok(run("/no/such/program", &out, &status, &err) == ERR_SYSTEM, "what cannot be started");
    is_str(err.text, "cannot start '/no/such/program': No such file or directory", "is told");
    buf_fini(&out);
}

int main(void)
{
    plan_auto();
    test_split();
    test_capture();
    return done_testing();
}
