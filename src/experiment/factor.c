/*
 * factor.c - reads the factor of an emulation, and finds it by running (see factor.h).
 *
 * The factor doubles until two runs in a row agree: the first of them has converged. Then factors
 * between it and the one before are tried, and compared with the last run, which is the best.
 */
#include "experiment/factor.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/units.h"
#include "launch/child.h"
#include "launch/watch.h"
#include "results/summary_read.h"
#include "run/run.h"

#define FACTOR_MOST 1e6
#define TRIED_MOST 4096 /* by `auto` */
#define TIME_PART 0.02  /* run times that differ by a smaller fraction agree */
#define COUNT_PART 0.01 /* counts that differ by a smaller fraction agree */
#define NEAR 1.25       /* factors that are nearer to each other are not told apart */

int experiment_factor_parse(const char *text, double *factor, int *is_dynamic, struct err *err)
{
    char *end;
    *is_dynamic = strcmp(text, EXPERIMENT_FACTOR_DYNAMIC) == 0;
    *factor = *is_dynamic ? 1 : strtod(text, &end);
    if (*is_dynamic)
        return 0;
    if (end == text || *end || !(*factor <= FACTOR_MOST))
        return err_set(err, ERR_INPUT,
                       "bad factor '%s': expected a number of at least 1, auto or dynamic", text);
    if (*factor < 1)
        return err_set(err, ERR_INPUT,
                       "a factor of '%s' would let the program run faster than it can: it must be at "
                       "least 1",
                       text);
    return 0;
}

/* ---- one run ---- */

struct trial {
    const struct launch_argv *words;
    const struct launch_apps *apps;
    int quiet;
    sigset_t mask; /* of signals, for the runs */
    int signal;    /* that has ended the search */
    int status;    /* of a run that failed */
    char folder[PATH_MAX], json[PATH_MAX + 16], errors[PATH_MAX + 16];
};

static int start_and_wait(struct trial *t, double factor, int *status, struct err *err)
{
    struct launch_argv w = {0};
    char text[32];
    for (size_t i = 0; i < t->words->count; i++)
        launch_argv_add(&w, t->words->at[i]);
    snprintf(text, sizeof text, "%g", factor);
    launch_argv_add_all(&w, (const char *const[]){"-q", "--factor", text, "--json", t->json, "--",
                                                  NULL});
    launch_apps_add_words(t->apps, &w);
    pid_t pid = launch_child_start(w.at, NULL, t->errors, &t->mask, err);
    launch_argv_fini(&w);
    if (pid < 0)
        return err->code;
    *status = launch_child_wait(pid, &t->signal);
    return t->signal ? err_set(err, ERR_INTERNAL, RUN_SIGNAL_TEXT, t->signal, strsignal(t->signal))
                     : 0;
}

static void say(double factor, const struct results_summary *s)
{
    char time[UNITS_TEXT_MAX], behind[UNITS_TEXT_MAX];
    log_note("factor %g: %s, max behind %s, %llu expected and %llu unexpected messages, in %.2f s",
             factor, units_format_time(time, sizeof time, (vtime)s->time_ps),
             units_format_time(behind, sizeof behind, vtime_from_seconds(s->max_behind_s)),
             (unsigned long long)s->expected, (unsigned long long)s->unexpected, s->wall_s);
}

static int run(struct trial *t, double factor, struct results_summary *out, struct err *err)
{
    int status, rc = start_and_wait(t, factor, &status, err);
    if (rc)
        return rc;
    if (status != 0 || !results_summary_read(t->json, out)) {
        char *reason = launch_child_reason(status, t->errors);
        t->status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERNAL;
        err_set(err, ERR_INPUT, "--factor auto: the run with factor %g has failed%s%s", factor,
                reason ? ": " : "", reason ? reason : "");
        mem_free(reason);
        return ERR_INPUT;
    }
    if (!t->quiet)
        say(factor, out);
    return 0;
}

/* ---- the search ---- */

static int is_near(double a, double b, double part)
{
    return fabs(a - b) <= part * fmax(a, b);
}

/* Is the run with the smaller factor as good as the other? Its events must be in time for the
 * network, too: runs that are equally late may agree by chance. */
static int agrees(const struct results_summary *s, const struct results_summary *better)
{
    return is_near((double)s->time_ps, (double)better->time_ps, TIME_PART) &&
           is_near((double)s->expected, (double)better->expected, COUNT_PART) &&
           is_near((double)s->unexpected, (double)better->unexpected, COUNT_PART) &&
           s->max_behind_s <= s->tolerance_s;
}

/* Doubles the factor until two runs agree: *high is the first of them, *best the result of the
 * second. */
static int climb(struct trial *t, double *high, struct results_summary *best, struct err *err)
{
    struct results_summary before;
    int rc = run(t, 1, &before, err);
    for (double factor = 2; rc == 0 && factor <= 2 * TRIED_MOST; factor *= 2, before = *best) {
        rc = run(t, factor, best, err);
        if (rc == 0 && agrees(&before, best)) {
            *high = factor / 2;
            return 0;
        }
    }
    return rc ? rc
              : err_set(err, ERR_INPUT,
                        "--factor auto: the results have not converged up to a factor of %d: this "
                        "computer is too busy or the program too different from run to run",
                        TRIED_MOST);
}

static int search(struct trial *t, double *found, struct err *err)
{
    struct results_summary best, s;
    double high = 1, low;
    int rc = climb(t, &high, &best, err);
    for (low = high / 2; rc == 0 && high > 1 && high > NEAR * low;) {
        double middle = sqrt(low * high);
        middle = high - low > 2 ? round(middle) : middle;
        rc = run(t, middle, &s, err);
        if (rc == 0 && agrees(&s, &best))
            high = middle;
        else
            low = middle;
    }
    *found = high;
    return rc;
}

int experiment_factor_find(const struct launch_argv *words, const struct launch_apps *apps,
                           int quiet, char *factor, size_t size, int *status, struct err *err)
{
    struct trial t = {.words = words, .apps = apps, .quiet = quiet};
    double found = 1;
    launch_watch_block(&t.mask);
    int rc = launch_child_begin("orrery-emulate", t.folder, sizeof t.folder, err);
    if (rc == 0) {
        snprintf(t.json, sizeof t.json, "%s/run.json", t.folder);
        snprintf(t.errors, sizeof t.errors, "%s/errors", t.folder);
        rc = search(&t, &found, err);
        launch_child_end(t.folder);
    }
    if (t.signal)
        launch_watch_drop();
    sigprocmask(SIG_SETMASK, &t.mask, NULL);
    *status = t.signal ? 128 + t.signal : t.status;
    snprintf(factor, size, "%.4g", found);
    if (rc == 0 && !quiet)
        log_note("converged with factor %s", factor);
    return rc;
}
