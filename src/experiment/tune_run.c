/*
 * tune_run.c - runs a program with some settings and compares its trace with the reference (see
 * tune_run.h).
 */
#define _GNU_SOURCE 1
#include "experiment/tune_run.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/compare.h"
#include "analysis/tables.h"
#include "base/buf.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/mem.h"
#include "experiment/runs.h"
#include "experiment/sweep_range.h"
#include "launch/child.h"

#define LOOK_MS 100
#define GRACE_LOOKS (int)(LAUNCH_CHILD_GRACE_S * 1000 / LOOK_MS)

int tune_run_init(struct tune_run *t, struct err *err)
{
    pthread_mutex_init(&t->lock, NULL);
    int rc = launch_child_self(t->self, sizeof t->self, err);
    return rc ? rc : launch_child_begin("orrery-tune", t->folder, sizeof t->folder, err);
}

void tune_run_fini(struct tune_run *t)
{
    launch_child_end(t->folder);
    pthread_mutex_destroy(&t->lock);
    mem_free(t->why);
}

char *tune_run_text(const struct tune_run *t, const double *values)
{
    struct buf text;
    char number[64];
    buf_init(&text);
    for (size_t i = 0; i < t->count; i++) {
        sweep_number_text(values[i], t->settings[i].unit, number, sizeof number);
        buf_addf(&text, "%s%s=%s", i ? "," : "", t->settings[i].key, number);
    }
    char *copy = mem_strdup(buf_str(&text));
    buf_fini(&text);
    return copy;
}

/* ---- a run ---- */

/* Waits for the end of a run; stops it if the search is to stop. */
static int wait_for(const struct tune_run *t, pid_t pid)
{
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    int status = 0, looks = 0;
    while (waitpid(pid, &status, end.fd >= 0 ? WNOHANG : 0) == 0) {
        poll(&end, 1, LOOK_MS);
        if (!atomic_load(t->stop) || looks++ % GRACE_LOOKS != 0)
            continue;
        if (looks == 1)
            launch_child_ask(pid);
        else
            launch_child_kill(pid);
    }
    if (end.fd >= 0)
        close(end.fd);
    return status;
}

static void keep_reason(struct tune_run *t, const char *sets, const char *reason)
{
    pthread_mutex_lock(&t->lock);
    if (!t->why) {
        struct buf text;
        buf_init(&text);
        buf_addf(&text, "%s: %s", sets, reason ? reason : "the run failed");
        t->why = mem_strdup(buf_str(&text));
        buf_fini(&text);
    }
    pthread_mutex_unlock(&t->lock);
}

/* The words of a run that writes its trace. */
static char **make_words(const struct tune_run *t, char *sets, char *trace)
{
    char *own[] = {"--set", sets, "--trace", trace};
    char **words = experiment_runs_words(t->self, t->options, own, t->join ? 2 : 4, t->program);
    if (!t->join)
        return words;
    size_t n = 0;
    while (words[n])
        n++;
    words = mem_realloc(words, (n + 3) * sizeof *words);
    words[n] = "--output";
    words[n + 1] = trace;
    words[n + 2] = NULL;
    return words;
}

/* Returns 0, or how it ended, as from wait(2). */
static int run(struct tune_run *t, char *sets, char *trace, const char *errors)
{
    struct err err;
    char **words = make_words(t, sets, trace);
    pid_t pid = launch_child_start(words, NULL, errors, &t->mask, &err);
    int status = pid > 0 ? wait_for(t, pid) : EXIT_USAGE << 8;
    mem_free(words);
    if (status == 0 && t->join)
        status = t->join(trace) << 8;
    return status;
}

/* ---- its error ---- */

/* The mean of the groups, which have the same weight however many values they have. What only one
 * side has counts as completely wrong. */
static double compare(const struct tune_run *t, const char *trace, double *groups)
{
    struct tables mine;
    struct comparison c;
    struct err err, warning;
    const struct compare_options options = {.metric = COMPARE_SYMMETRIC};
    double sum = 0, counted = 0;
    if (tables_from_file(&mine, trace, t->groups, &warning, &err) != 0)
        return NAN;
    if (compare_run(&c, t->reference, &mine, &options, &err) == 0) {
        for (size_t i = 0; i < c.group_count; i++) {
            double error = c.groups[i].mean + 2 * c.groups[i].structure;
            for (int g = 0; groups && g < ANALYSIS_GROUPS; g++)
                if (strcmp(analysis_groups[g].name, c.groups[i].name) == 0)
                    groups[g] = error;
            sum += error, counted++;
        }
        compare_fini(&c);
    }
    tables_fini(&mine);
    return counted ? sum / counted : NAN;
}

/* A run that somebody has killed says nothing about its settings. */
static int is_killed(int status)
{
    return WIFSIGNALED(status) || WEXITSTATUS(status) == EXIT_INTERNAL;
}

/* Returns 1 if the run is to be repeated. */
static int evaluate(struct tune_run *t, char *sets, int is_last, double *error, double *groups)
{
    char trace[PATH_MAX], errors[PATH_MAX];
    unsigned number = atomic_fetch_add(&t->next, 1);
    snprintf(trace, sizeof trace, "%s/%u.orr", t->folder, number);
    snprintf(errors, sizeof errors, "%s/%u.err", t->folder, number);
    int status = run(t, sets, trace, errors), again = 0;
    *error = status == 0 ? compare(t, trace, groups) : NAN;
    if (status != 0 && !atomic_load(t->stop)) {
        char *reason = launch_child_reason(status, errors);
        again = is_killed(status) && !is_last;
        if (again)
            log_warn("%s: %s: it is repeated", sets, reason ? reason : "the run was killed");
        else
            keep_reason(t, sets, reason);
        mem_free(reason);
    }
    unlink(trace);
    unlink(errors);
    return again;
}

double tune_run_errors(struct tune_run *t, const double *values, double *groups)
{
    char *sets = tune_run_text(t, values);
    double error;
    if (evaluate(t, sets, 0, &error, groups))
        evaluate(t, sets, 1, &error, groups);
    mem_free(sets);
    return error;
}

double tune_run_evaluate(void *owner, const double *values)
{
    return tune_run_errors(owner, values, NULL);
}
