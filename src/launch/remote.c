/*
 * remote.c - the side of `orrery run` of processes on other computers (see remote.h).
 */
#define _GNU_SOURCE 1
#include "launch/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "base/mem.h"
#include "base/sys.h"
#include "launch/argv.h"
#include "launch/child.h"
#include "launch/native.h"
#include "launch/remote_internal.h"
#include "launch/watch.h"

#define LOOPBACK "lo" /* the interface */

extern char **environ;

/* ---- the launcher ---- */

struct launcher {
    struct launch_argv words; /* what each process runs, or a launcher with that */
    uint32_t count;           /* of processes to start here; 0: a launcher does */
    struct buf join;          /* the value of ENV_JOIN */
    int said;
};

/* Starts the processes on this computer, and waits for them. When one fails, the others end, too:
 * who has started us kills them. */
_Noreturn static void start_here(const struct launcher *l)
{
    char number[16];
    int status;
    for (uint32_t i = 0; i < l->count; i++) {
        snprintf(number, sizeof number, "%u", i);
        setenv(LAUNCH_NATIVE_NUMBER, number, 1);
        pid_t pid = fork();
        if (pid == 0)
            execv(l->words.at[0], l->words.at);
        if (pid <= 0) {
            dprintf(2, "orrery: error: cannot start a process: %s\n", strerror(errno));
            sys_exit(2);
        }
    }
    while (wait(&status) > 0)
        if (status != 0)
            sys_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
    sys_exit(0);
}

static void become(void *context)
{
    const struct launcher *l = context;
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(l->said, 1);
    dup2(l->said, 2);
    setenv(ENV_JOIN, buf_str(&l->join), 1);
    if (l->count)
        start_here(l);
    execvp(l->words.at[0], l->words.at);
    dprintf(2, "orrery: error: cannot start the launcher '%s': %s\n", l->words.at[0],
            strerror(errno));
    sys_exit(2);
}

static int make_words(struct launcher *l, const struct launch_job *job, struct err *err)
{
    char self[4096], count[32];
    int rc = launch_child_self(self, sizeof self, err);
    if (rc == 0 && job->launcher)
        rc = launch_argv_split(&l->words, "--launcher", job->launcher, err);
    if (rc)
        return rc;
    snprintf(count, sizeof count, "%u", job->opt.remote_count);
    if (job->launcher)
        launch_argv_add_all(&l->words, (const char *const[]){"-n", count, NULL});
    else
        l->count = job->opt.remote_count;
    launch_argv_add_all(&l->words, (const char *const[]){self, "emulate", "--join", NULL});
    return 0;
}

/* Shows what the launcher has said. */
static void show(int said)
{
    char text[4096];
    ssize_t n;
    off_t at = 0;
    while ((n = pread(said, text, sizeof text, at)) > 0) {
        sys_write_all(STDERR_FILENO, text, (size_t)n);
        at += n;
    }
}

static int by_number(const void *a, const void *b)
{
    const struct remote_joined *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* ---- what they are to do ---- */

static void add_text(struct buf *out, const char *text)
{
    buf_add(out, text, strlen(text) + 1);
}

static uint32_t add_all(struct buf *out, char **texts)
{
    uint32_t n = 0;
    for (; texts[n]; n++)
        add_text(out, texts[n]);
    return n;
}

static int make_task(struct buf *out, const struct launch_page *page, const char *libdir,
                     const struct launch_app *app, uint32_t number, struct err *err)
{
    struct remote_task t = {.magic = REMOTE_MAGIC, .page_fd = page->fd};
    struct run_options opt = page->page->opt;
    char *folder = getcwd(NULL, 0);
    struct buf text;
    off_t size = lseek(opt.machine_fd, 0, SEEK_END);
    void *machine = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, opt.machine_fd, 0)
                             : MAP_FAILED;
    if (!folder || machine == MAP_FAILED) {
        free(folder);
        return err_set(err, ERR_SYSTEM, "cannot tell other computers what to run: %s",
                       strerror(errno));
    }
    buf_init(&text);
    add_text(&text, folder);
    add_text(&text, libdir);
    add_text(&text, app->path);
    t.arguments = add_all(&text, app->words.at);
    t.variables = add_all(&text, environ);
    getrlimit(RLIMIT_STACK, &t.stack);
    t.text = text.len;
    t.options = sizeof opt;
    t.machine = (uint64_t)size;
    opt.remote_here = 1;
    opt.app = number;
    snprintf(opt.program, sizeof opt.program, "%s", app->path);
    buf_add(out, &t, sizeof t);
    buf_add(out, text.data, text.len);
    buf_add(out, &opt, sizeof opt);
    buf_add(out, machine, (size_t)size);
    munmap(machine, (size_t)size);
    buf_fini(&text);
    free(folder);
    return 0;
}

/* Puts the connections side by side, above all others. */
static int arrange(struct remote_gathering *g, struct run_options *opt, struct err *err)
{
    int base = 0;
    for (uint32_t i = 0; i < g->wanted; i++)
        for (int c = 0; c < VP_CHANNELS; c++)
            base = g->at[i].fd[c] >= base ? g->at[i].fd[c] + 1 : base;
    opt->remote_fd = base;
    for (uint32_t i = 0; i < g->wanted; i++)
        for (int c = 0; c < VP_CHANNELS; c++) {
            int to = base + (int)i * VP_CHANNELS + c;
            if (dup2(g->at[i].fd[c], to) < 0)
                return err_set(err, ERR_SYSTEM,
                               "too many connections to other computers: %s; see 'ulimit -n'",
                               strerror(errno));
        }
    return 0;
}

/* Those of one program do the same. */
static int send_tasks(const struct remote_gathering *g, const struct launch_job *job,
                      const struct launch_page *page, const char *libdir, struct err *err)
{
    const struct run_options *opt = &page->page->opt;
    uint64_t first = opt->ranks - g->wanted;
    uint32_t app = UINT32_MAX;
    struct buf task;
    int rc = 0;
    buf_init(&task);
    for (uint32_t i = 0; i < g->wanted && rc == 0; i++) {
        if (app != run_app_of(opt, first + i)) {
            app = run_app_of(opt, first + i);
            task.len = 0;
            rc = make_task(&task, page, libdir, &job->apps.at[app], app, err);
        }
        if (rc == 0 && sys_write_all(g->at[i].fd[0], task.data, task.len) != 0)
            rc = err_set(err, ERR_SYSTEM, "a process on another computer has gone again");
    }
    buf_fini(&task);
    return rc;
}

static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* A key that somebody could guess is none: without random numbers the run does not start. */
static int make_key(struct remote_gathering *g, struct buf *text, struct err *err)
{
    if (sys_random(g->key, sizeof g->key) != 0)
        return err_set(err, ERR_SYSTEM,
                       "cannot make a key for processes on other computers: the system has no "
                       "random numbers: %s",
                       strerror(errno));
    for (size_t i = 0; i < sizeof g->key; i++)
        buf_addf(text, "%02x", g->key[i]);
    return 0;
}

static int start(struct launch_remote *r, const struct launch_job *job, struct remote_gathering *g,
                 int *signal, struct err *err)
{
    struct launcher l = {.said = -1};
    int rc = make_words(&l, job, err);
    buf_init(&l.join);
    if (rc == 0)
        rc = make_key(g, &l.join, err);
    if (rc == 0)
        rc = remote_listen(&g->listeners, l.count ? LOOPBACK : job->listen, &l.join, err);
    if (rc == 0) {
        r->said = l.said = memfd_create("orrery-launcher", MFD_CLOEXEC);
        rc = launch_guard_start(&r->guard, become, &l, err);
        r->is_started = rc == 0;
    }
    if (rc == 0)
        rc = remote_gather(g, &r->guard, signal, err);
    remote_listen_end(&g->listeners);
    launch_argv_fini(&l.words);
    buf_fini(&l.join);
    return rc;
}

int launch_remote_start(struct launch_remote *r, const struct launch_job *job,
                        const struct launch_page *page, const char *libdir, int *signal,
                        struct err *err)
{
    struct remote_gathering g = {.wanted = job->opt.remote_count};
    *r = (struct launch_remote){.said = -1};
    *signal = 0;
    allow_descriptors();
    g.at = mem_zalloc(g.wanted * sizeof *g.at);
    int rc = start(r, job, &g, signal, err);
    if (rc == 0) {
        qsort(g.at, g.wanted, sizeof *g.at, by_number);
        rc = arrange(&g, &page->page->opt, err);
    }
    if (rc == 0)
        rc = send_tasks(&g, job, page, libdir, err);
    for (uint32_t i = 0; i < g.count; i++)
        for (int c = 0; c < VP_CHANNELS; c++)
            if (g.at[i].fd[c] >= 0)
                close(g.at[i].fd[c]);
    if (rc && !*signal)
        show(r->said);
    if (rc)
        launch_remote_end(r);
    mem_free(g.at);
    return rc;
}

void launch_remote_close(const struct launch_page *page)
{
    const struct run_options *opt = &page->page->opt;
    if (opt->remote_count)
        close_range((unsigned)opt->remote_fd,
                    (unsigned)opt->remote_fd + opt->remote_count * VP_CHANNELS - 1, 0);
}

void launch_remote_end(struct launch_remote *r)
{
    if (r->is_started)
        launch_guard_end(&r->guard);
    r->is_started = 0;
    if (r->said >= 0)
        close(r->said);
    r->said = -1;
}
