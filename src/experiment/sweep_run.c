/*
 * Runs points as child processes (child.h). An interrupt ends them: SIGTERM first, which `orrery
 * run` passes on, and SIGKILL to the whole group at a second interrupt or after some seconds.
 *
 * The files of a point are in the folder of --keep or a temporary one: NAME.json is the summary,
 * NAME.err standard error, NAME.out standard output (only with --keep). The name consists of the
 * point's number and its settings.
 */
#define _GNU_SOURCE 1
#include "experiment/sweep_run.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/sys.h"
#include "experiment/runs.h"
#include "launch/child.h"
#include "launch/supervise_tree.h"
#include "launch/watch.h"
#include "library/library.h"

#define TICK_MS 200
#define NAME_LENGTH 150

struct job {
    pid_t pid;
    size_t point;
};

struct state {
    const struct sweep_plan *plan;
    struct sweep_result *results;
    struct job *running;
    unsigned count; /* of them */
    size_t points, started, done;
    char folder[PATH_MAX - 256], self[PATH_MAX];
    int drawn;
    int signal;    /* the first interrupt */
    double since;  /* when it came */
    sigset_t mask; /* of signals, for children */
    struct supervise_tree tree;
};

/* ---- files ---- */

/* "0002-net.latency=10us,ranks=4.json", truncated, since file systems limit names. */
static void file_name(const struct state *s, size_t point, const char *kind, char *out, size_t size)
{
    struct buf name;
    char text[NAME_LENGTH + 1] = "";
    size_t used = 0;
    buf_init(&name);
    sweep_grid_name(s->plan->grid, point, NULL, &name);
    for (const char *at = name.len ? buf_str(&name) : ""; *at && used < NAME_LENGTH; at++)
        if (*at != ' ')
            text[used++] = *at == '/' ? '_' : *at;
    text[used] = 0;
    buf_fini(&name);
    snprintf(out, size, "%s/%04zu%s%s.%s", s->folder, point + 1, used ? "-" : "", text, kind);
}

/* Does not overwrite existing results. */
static int check_empty(const char *folder, struct err *err)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;
    int rc = directory ? 0
                       : err_set(err, ERR_SYSTEM, "--keep: cannot open folder '%s': %s", folder,
                                 strerror(errno));
    while (rc == 0 && (entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = err_set(err, ERR_INPUT,
                         "--keep: folder '%s' is not empty, and what is in it is not "
                         "overwritten: give another, or remove it",
                         folder);
    if (directory)
        closedir(directory);
    return rc;
}

static int make_folder(struct state *s, struct err *err)
{
    const char *keep = s->plan->keep;
    if (keep) {
        if (strlen(keep) >= sizeof s->folder)
            return err_set(err, ERR_INPUT, "--keep: the name is too long");
        snprintf(s->folder, sizeof s->folder, "%s", keep);
        int rc = path_make_folder(keep, err);
        return rc ? err_prefix(err, "--keep") : check_empty(keep, err);
    }
    return launch_child_begin("orrery-sweep", s->folder, sizeof s->folder, err);
}

static void remove_files(const struct state *s, size_t point)
{
    char path[PATH_MAX];
    if (s->plan->keep)
        return;
    file_name(s, point, "json", path, sizeof path);
    unlink(path);
    file_name(s, point, "err", path, sizeof path);
    unlink(path);
}

/* ---- starting ---- */

/* The last words are those of the program. */
static char **add_what_if(char **words, const char *what)
{
    size_t n = 0;
    while (words[n])
        n++;
    words = mem_realloc(words, (n + 3) * sizeof *words);
    words[n] = "--what-if";
    words[n + 1] = (char *)what;
    words[n + 2] = NULL;
    return words;
}

/* `texts` gets a buffer for each dimension, whose contents the words refer to. */
static char **make_words(const struct state *s, size_t point, struct buf *texts, char *json)
{
    const struct sweep_grid *g = s->plan->grid;
    char **own = mem_alloc((2 * g->count + 2) * sizeof *own);
    size_t n = 0;
    const char *what = NULL;
    for (size_t i = 0; i < g->count; i++) {
        const char *key = g->dims[i].key;
        if (strcmp(key, SWEEP_WHAT_IF) == 0) {
            buf_init(&texts[i]);
            what = sweep_grid_value(g, point, i)->text;
            continue;
        }
        int is_setting = strcmp(key, SWEEP_RANKS) != 0 && strcmp(key, SWEEP_PLATFORM) != 0;
        buf_init(&texts[i]);
        buf_addf(&texts[i], "%s%s%s", is_setting ? key : "", is_setting ? "=" : "",
                 sweep_grid_value(g, point, i)->text);
        own[n++] = is_setting ? "--set" : strcmp(key, SWEEP_RANKS) == 0 ? "--ranks" : "--platform";
        own[n++] = (char *)buf_str(&texts[i]);
    }
    own[n++] = "--json";
    own[n++] = json;
    char **words = experiment_runs_words(s->self, s->plan->options, own, n, s->plan->program);
    mem_free(own);
    return what && strcmp(what, SWEEP_NO_CHANGE) != 0 ? add_what_if(words, what) : words;
}

static int start(struct state *s, size_t point, struct err *err)
{
    char json[PATH_MAX];
    char out[PATH_MAX], errors[PATH_MAX];
    struct buf *texts = mem_alloc((s->plan->grid->count + 1) * sizeof *texts);
    file_name(s, point, "json", json, sizeof json);
    file_name(s, point, "out", out, sizeof out);
    file_name(s, point, "err", errors, sizeof errors);
    unlink(json); /* an old file must not be mistaken for the point's */
    char **words = make_words(s, point, texts, json);
    pid_t pid = launch_child_start(words, s->plan->keep ? out : NULL, errors, &s->mask, err);
    if (pid > 0) {
        s->running[s->count++] = (struct job){pid, point};
        s->started++;
    }
    for (size_t i = 0; i < s->plan->grid->count; i++)
        buf_fini(&texts[i]);
    mem_free(texts);
    mem_free(words);
    return pid > 0 ? 0 : err->code;
}

/* The baseline first, then all others in order. */
static size_t point_at(const struct state *s, size_t turn)
{
    size_t baseline = s->plan->baseline;
    return turn == 0 ? baseline : turn <= baseline ? turn - 1 : turn;
}

/* ---- results ---- */

static void erase_line(struct state *s)
{
    if (s->drawn)
        sys_write_all(STDERR_FILENO, "\r\033[K", 4);
    s->drawn = 0;
}

/* A run that ends after an interrupt was interrupted. */
static void finish(struct state *s, size_t point, int status)
{
    struct sweep_result *r = &s->results[point];
    char path[PATH_MAX];
    if (!s->signal) {
        r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        file_name(s, point, "json", path, sizeof path);
        r->has_summary = results_summary_read(path, &r->summary);
        file_name(s, point, "err", path, sizeof path);
        r->why = r->status ? launch_child_reason(status, path) : NULL;
        r->done = 1;
        s->done++;
        erase_line(s);
        s->plan->on_done(s->plan->context, point);
    }
    remove_files(s, point);
}

static void reap(struct state *s)
{
    for (unsigned i = 0; i < s->count;) {
        struct job job = s->running[i];
        int status;
        if (waitpid(job.pid, &status, WNOHANG) == job.pid) {
            s->running[i] = s->running[--s->count];
            finish(s, job.point, status);
        } else {
            i++;
        }
    }
}

/* ---- the loop ---- */

static void interrupt(struct state *s, int number)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (s->signal)
            launch_child_kill(s->running[i].pid);
        else
            launch_child_ask(s->running[i].pid);
    }
    if (!s->signal) {
        s->signal = number;
        s->since = launch_watch_now();
    }
}

static void draw_line(struct state *s)
{
    struct buf line;
    buf_init(&line);
    buf_addf(&line, "\r%zu of %zu points done, %u running", s->done, s->points, s->count);
    buf_adds(&line, s->signal ? ", ending\033[K  " : "\033[K  ");
    sys_write_all(STDERR_FILENO, buf_str(&line), line.len);
    buf_fini(&line);
    s->drawn = 1;
}

static int loop(struct state *s, int signals, struct err *err)
{
    int rc = 0;
    for (;;) {
        while (rc == 0 && !s->signal && s->count < s->plan->jobs && s->started < s->points)
            rc = start(s, point_at(s, s->started), err);
        if (rc && !s->signal)
            interrupt(s, SIGTERM);
        if (s->count == 0)
            return rc;
        if (s->plan->progress)
            draw_line(s);
        struct pollfd poll_signals = {.fd = signals, .events = POLLIN};
        poll(&poll_signals, 1, TICK_MS);
        for (int number; (number = launch_watch_signal(signals)) != 0;)
            if (number != SIGCHLD)
                interrupt(s, number);
        if (s->signal && launch_watch_now() - s->since > LAUNCH_CHILD_GRACE_S)
            interrupt(s, s->signal);
        supervise_tree_look(&s->tree, launch_watch_now());
        reap(s);
    }
}

int sweep_run(const struct sweep_plan *plan, struct sweep_result *results, int *signal,
              struct err *err)
{
    struct state *s = mem_zalloc(sizeof *s);
    int rc, signals;
    s->plan = plan;
    s->results = results;
    s->points = sweep_grid_points(plan->grid);
    rc = launch_child_self(s->self, sizeof s->self, err);
    if (rc == 0)
        rc = library_load(LIBRARY_yajl, err); /* summaries are read by it */
    launch_watch_block(&s->mask);
    if (rc == 0)
        rc = make_folder(s, err);
    if (rc) {
        sigprocmask(SIG_SETMASK, &s->mask, NULL);
        mem_free(s);
        return rc;
    }
    s->running = mem_alloc(plan->jobs * sizeof *s->running);
    supervise_tree_init(&s->tree, 0, 0);
    signals = launch_watch_signals();
    rc = loop(s, signals, err);
    erase_line(s);
    close(signals);
    supervise_tree_fini(&s->tree);
    launch_child_end(plan->keep ? NULL : s->folder);
    if (s->signal)
        launch_watch_drop();
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
    *signal = s->signal;
    mem_free(s->running);
    mem_free(s);
    return rc;
}

void sweep_results_fini(struct sweep_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mem_free(results[i].why);
    mem_free(results);
}
