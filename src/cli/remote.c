/*
 * remote.c - see remote.h: the side of `orrery run`.
 */
#define _GNU_SOURCE 1
#include "cli/remote.h"

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
#include "cli/argv.h"
#include "cli/child.h"
#include "cli/remote_internal.h"
#include "cli/watch.h"

extern char **environ;

/* ---- the launcher ---- */

struct launcher {
    struct cli_argv words;
    struct buf join; /* the value of ENV_JOIN */
    int said;
    const sigset_t *mask;
};

static void become(void *context)
{
    const struct launcher *l = context;
    int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(l->said, 1);
    dup2(l->said, 2);
    setenv(ENV_JOIN, buf_str(&l->join), 1);
    execvp(l->words.at[0], l->words.at);
    dprintf(2, "orrery: error: cannot start the launcher '%s': %s\n", l->words.at[0],
            strerror(errno));
    sys_exit(2);
}

static int make_words(struct launcher *l, const struct cli_run *run, struct err *err)
{
    char self[4096], count[32];
    int rc = cli_argv_split(&l->words, "--launcher", run->launcher, err);
    if (rc == 0)
        rc = cli_child_self(self, sizeof self, err);
    if (rc)
        return rc;
    snprintf(count, sizeof count, "%u", run->opt.remote_count);
    cli_argv_add_all(&l->words,
                     (const char *const[]){"-n", count, self, "emulate", "--join", NULL});
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

static int make_task(struct buf *out, const struct cli_page *page, const char *libdir,
                     const char *path, char **argv, struct err *err)
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
    add_text(&text, path);
    t.arguments = add_all(&text, argv);
    t.variables = add_all(&text, environ);
    getrlimit(RLIMIT_STACK, &t.stack);
    t.text = text.len;
    t.options = sizeof opt;
    t.machine = (uint64_t)size;
    opt.remote_here = 1;
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

static int send_tasks(const struct remote_gathering *g, const struct buf *task, struct err *err)
{
    for (uint32_t i = 0; i < g->wanted; i++)
        if (sys_write_all(g->at[i].fd[0], task->data, task->len) != 0)
            return err_set(err, ERR_SYSTEM, "a process on another computer has gone again");
    return 0;
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

static int start(struct cli_remote *r, const struct cli_run *run, struct remote_gathering *g,
                 int *signal, struct err *err)
{
    struct launcher l = {.said = -1};
    int rc = make_words(&l, run, err);
    buf_init(&l.join);
    if (rc == 0)
        rc = make_key(g, &l.join, err);
    if (rc == 0)
        rc = remote_listen(&g->listeners, run->listen, &l.join, err);
    if (rc == 0) {
        r->said = l.said = memfd_create("orrery-launcher", MFD_CLOEXEC);
        rc = cli_guard_start(&r->guard, become, &l, err);
        r->is_started = rc == 0;
    }
    if (rc == 0)
        rc = remote_gather(g, &r->guard, signal, err);
    remote_listen_end(&g->listeners);
    cli_argv_fini(&l.words);
    buf_fini(&l.join);
    return rc;
}

int cli_remote_start(struct cli_remote *r, const struct cli_run *run, const struct cli_page *page,
                     const char *libdir, const char *path, char **argv, int *signal,
                     struct err *err)
{
    struct remote_gathering g = {.wanted = run->opt.remote_count};
    struct buf task;
    *r = (struct cli_remote){.said = -1};
    *signal = 0;
    buf_init(&task);
    allow_descriptors();
    g.at = mem_zalloc(g.wanted * sizeof *g.at);
    int rc = start(r, run, &g, signal, err);
    if (rc == 0) {
        qsort(g.at, g.wanted, sizeof *g.at, by_number);
        rc = arrange(&g, &page->page->opt, err);
    }
    if (rc == 0)
        rc = make_task(&task, page, libdir, path, argv, err);
    if (rc == 0)
        rc = send_tasks(&g, &task, err);
    for (uint32_t i = 0; i < g.count; i++)
        for (int c = 0; c < VP_CHANNELS; c++)
            if (g.at[i].fd[c] >= 0)
                close(g.at[i].fd[c]);
    if (rc && !*signal)
        show(r->said);
    if (rc)
        cli_remote_end(r);
    mem_free(g.at);
    buf_fini(&task);
    return rc;
}

void cli_remote_close(const struct cli_page *page)
{
    const struct run_options *opt = &page->page->opt;
    if (opt->remote_count)
        close_range((unsigned)opt->remote_fd,
                    (unsigned)opt->remote_fd + opt->remote_count * VP_CHANNELS - 1, 0);
}

void cli_remote_end(struct cli_remote *r)
{
    if (r->is_started)
        cli_guard_end(&r->guard);
    r->is_started = 0;
    if (r->said >= 0)
        close(r->said);
    r->said = -1;
}
