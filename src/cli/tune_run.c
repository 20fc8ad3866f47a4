/*
 * tune_run.c - see tune_run.h.
 */
#define _GNU_SOURCE 1
#include "cli/tune_run.h"

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
#include "base/mem.h"
#include "cli/child.h"
#include "cli/replay_command.h"
#include "cli/runs.h"
#include "cli/sweep_range.h"

#define LOOK_MS 100
#define GRACE_LOOKS 50 /* until a run that should end is killed */

int tune_run_init(struct tune_run *t, struct err *err)
{
    const char *top = getenv("TMPDIR");
    snprintf(t->folder, sizeof t->folder, "%s/orrery-tune-XXXXXX", top && *top ? top : "/tmp");
    pthread_mutex_init(&t->lock, NULL);
    int rc = cli_child_self(t->self, sizeof t->self, err);
    if (rc == 0 && !mkdtemp(t->folder))
        rc = err_set(err, ERR_SYSTEM, "cannot create folder '%s': %s", t->folder, strerror(errno));
    return rc;
}

void tune_run_fini(struct tune_run *t)
{
    rmdir(t->folder);
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
        if (atomic_load(t->stop) && looks++ % GRACE_LOOKS == 0)
            kill(looks == 1 ? pid : -pid, looks == 1 ? SIGTERM : SIGKILL);
    }
    if (end.fd >= 0)
        close(end.fd);
    return status;
}

static void keep_reason(struct tune_run *t, const char *sets, const char *errors)
{
    char *reason = cli_child_reason(errors);
    pthread_mutex_lock(&t->lock);
    if (!t->why) {
        struct buf text;
        buf_init(&text);
        buf_addf(&text, "%s: %s", sets, reason ? reason : "the run failed");
        t->why = mem_strdup(buf_str(&text));
        buf_fini(&text);
    }
    pthread_mutex_unlock(&t->lock);
    mem_free(reason);
}

/* The words of a run that writes its trace. */
static char **make_words(const struct tune_run *t, char *sets, char *trace)
{
    char *own[] = {"--set", sets, "--trace", trace};
    char **words = cli_runs_words(t->self, t->options, own, t->is_replay ? 2 : 4, t->program);
    if (!t->is_replay)
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

static int run(struct tune_run *t, char *sets, char *trace, const char *errors)
{
    struct err err;
    char **words = make_words(t, sets, trace);
    pid_t pid = cli_child_start(words, NULL, errors, &t->mask, &err);
    int status = pid > 0 ? wait_for(t, pid) : -1;
    mem_free(words);
    if (status == 0 && t->is_replay)
        status = cli_replay_join(trace);
    if (status != 0 && !atomic_load(t->stop))
        keep_reason(t, sets, errors);
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

double tune_run_errors(struct tune_run *t, const double *values, double *groups)
{
    char trace[PATH_MAX], errors[PATH_MAX], *sets = tune_run_text(t, values);
    unsigned number = atomic_fetch_add(&t->next, 1);
    snprintf(trace, sizeof trace, "%s/%u.orr", t->folder, number);
    snprintf(errors, sizeof errors, "%s/%u.err", t->folder, number);
    double error = run(t, sets, trace, errors) == 0 ? compare(t, trace, groups) : NAN;
    unlink(trace);
    unlink(errors);
    mem_free(sets);
    return error;
}

double tune_run_evaluate(void *owner, const double *values)
{
    return tune_run_errors(owner, values, NULL);
}
