/*
 * measure.c - runs the measuring program.
 *
 * Natively, the launcher of the real MPI starts it; for a platform, `orrery run` of this very
 * program. It waits actively, so every rank needs its own core: otherwise it measures how the
 * scheduler shares them.
 */
#include "experiment/measure.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/log.h"
#include "launch/launch.h"
#include "launch/native.h"
#include "launch/supervise.h"

#define SAMPLES_QUICK 60
#define SECONDS_QUICK "0.02"
#define SAMPLES_SIMULATED "10" /* all are equal, except for noise */
#define BUSY 0.5               /* load per core */

/* Processors that this process may use. */
static unsigned count_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* The program is in the folder of our library. */
static int find_program(char *out, size_t size, struct err *err)
{
    char directory[PATH_MAX];
    int rc = launch_libdir(directory, sizeof directory, err);
    if (rc)
        return rc;
    int n = snprintf(out, size, "%s/%s", directory, EXPERIMENT_MEASURE_PROGRAM);
    if (n < 0 || (size_t)n >= size || access(out, X_OK) != 0)
        return err_set(err, ERR_SYSTEM, "cannot find '%s' in '%s': run 'make' or install Orrery",
                       EXPERIMENT_MEASURE_PROGRAM, directory);
    return 0;
}

/* Runs it, and checks how it ended. *signal: the one that has ended it, or a rank of it, or 0. */
static int run(const struct launch_argv *w, struct buf *out, int *signal, struct err *err)
{
    static const char left[] = "the measurement is not complete, and nothing was written";
    struct launch_supervise_end end = {0};
    int rc = launch_supervise_capture(w, out, &end, err),
        killed = rc ? 0 : launch_native_killed(&end);
    *signal = end.signal ? end.signal : killed;
    if (rc == 0 && end.signal)
        rc = err_set(err, ERR_SYSTEM, "interrupted by signal %d (%s): %s", end.signal,
                     strsignal(end.signal), left);
    else if (killed)
        rc = err_set(err, ERR_SYSTEM, "a rank was killed by signal %d (%s): %s", killed,
                     strsignal(killed), left);
    else if (rc == 0 && end.is_lost)
        rc = err_set(err, ERR_INTERNAL, "%s", left);
    else if (rc == 0 && end.status)
        rc = err_set(err, end.status == EXIT_INTERNAL ? ERR_INTERNAL : ERR_SYSTEM,
                     "the measurement failed: '%s' ended with status %d", w->at[0], end.status);
    return rc;
}

/* ---- natively ---- */

static double load(void)
{
    double now = 0;
    return getloadavg(&now, 1) == 1 ? now : 0;
}

static void warn(const struct experiment_measure *m, unsigned ranks, double busy)
{
    unsigned cores = count_cores();
    if (m->launcher)
        return; /* the ranks may be anywhere */
    if (ranks > cores)
        log_warn("%u ranks on %u cores: MPI waits actively, so points with more ranks than cores "
                 "measure the "
                 "scheduler, not the machine; they are marked 'beyond_cores'",
                 ranks, cores);
    if (busy > BUSY * cores)
        log_warn(
            "this computer is busy (load %.1f on %u cores): what others do will be in the times; "
            "better measure again when it is idle",
            busy, cores);
}

static int native_command(struct launch_argv *w, const struct experiment_measure *m, unsigned ranks,
                          struct err *err)
{
    char program[PATH_MAX], text[32];
    int rc = find_program(program, sizeof program, err);
    if (rc == 0)
        rc = launch_argv_split(w, "--launcher",
                               m->launcher ? m->launcher : EXPERIMENT_MEASURE_LAUNCHER, err);
    if (rc)
        return rc;
    launch_argv_add(w, "-n");
    snprintf(text, sizeof text, "%u", ranks);
    launch_argv_add(w, text);
    launch_argv_add(w, program);
    if (m->samples || m->quick) {
        snprintf(text, sizeof text, "%u", m->samples ? m->samples : SAMPLES_QUICK);
        launch_argv_add(w, "--samples");
        launch_argv_add(w, text);
    }
    if (m->quick) {
        launch_argv_add(w, "--seconds");
        launch_argv_add(w, SECONDS_QUICK);
    }
    if (!m->launcher) /* other launchers bind as they are configured */
        launch_argv_add(w, "--bind");
    if (m->pingpong_only)
        launch_argv_add(w, "--pingpong");
    if (m->progress)
        launch_argv_add(w, "--progress");
    return 0;
}

int experiment_measure_native(const struct experiment_measure *m, struct buf *out, int *signal,
                              struct err *err)
{
    unsigned cores = count_cores(), ranks = m->ranks ? m->ranks : cores > 2 ? cores : 2;
    struct launch_argv w = {0};
    struct buf text;
    double busy = load();
    warn(m, ranks, busy);
    buf_init(&text);
    int rc = native_command(&w, m, ranks, err);
    if (rc == 0)
        rc = run(&w, &text, signal, err);
    if (rc == 0) { /* the comments follow the first line */
        size_t first = strcspn(buf_str(&text), "\n") + 1;
        if (first > text.len)
            first = text.len;
        buf_add(out, buf_str(&text), first);
        buf_addf(out, "# launcher: %s\n# load: %.1f\n",
                 m->launcher ? m->launcher : EXPERIMENT_MEASURE_LAUNCHER, busy);
        buf_add(out, buf_str(&text) + first, text.len - first);
    }
    buf_fini(&text);
    launch_argv_fini(&w);
    return rc;
}

/* ---- in the simulator ---- */

static void add_sizes(struct launch_argv *w, const struct calibrate_raw *like,
                      enum calibrate_where where)
{
    struct buf sizes;
    buf_init(&sizes);
    for (size_t i = 0; i < like->count; i++)
        if (strcmp(like->records[i].kind, "pingpong") == 0 && like->records[i].where == where)
            buf_addf(&sizes, "%s%llu", sizes.len ? "," : "",
                     (unsigned long long)like->records[i].bytes);
    launch_argv_add(w, "--sizes");
    launch_argv_add(w, buf_str(&sizes));
    buf_fini(&sizes);
}

int experiment_measure_simulated(const char *platform, const struct calibrate_raw *like,
                                 enum calibrate_where where, struct calibrate_raw *out, int *signal,
                                 struct err *err)
{
    char program[PATH_MAX], self[PATH_MAX];
    struct launch_argv w = {0};
    struct buf text;
    int rc = find_program(program, sizeof program, err);
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (rc == 0 && n < 0)
        rc = err_set(err, ERR_SYSTEM, "cannot read '/proc/self/exe': %s", strerror(errno));
    if (rc)
        return rc;
    self[n] = 0;
    const char *const words[] = {self,
                                 "run",
                                 "-q",
                                 "-n",
                                 "2",
                                 "--compute",
                                 "none",
                                 "--platform",
                                 platform,
                                 "--set",
                                 where == CALIBRATE_INTRA ? "nodes.ranks=2" : "nodes.ranks=1",
                                 program,
                                 "--pingpong",
                                 "--samples",
                                 SAMPLES_SIMULATED};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        launch_argv_add(&w, words[i]);
    add_sizes(&w, like, where);
    buf_init(&text);
    rc = run(&w, &text, signal, err);
    if (rc == 0)
        rc = calibrate_raw_read(out, "output of the simulation", buf_str(&text), text.len, err);
    buf_fini(&text);
    launch_argv_fini(&w);
    return rc;
}
