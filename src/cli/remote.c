/*
 * remote.c - see remote.h: the side of `orrery run`.
 */
#define _GNU_SOURCE 1
#include "cli/remote.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
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

#define JOIN_S 120.0 /* for all processes to join */
#define HELLO_S 10   /* for a connection to say what it is */
#define TICK_MS 200
/* A computer that does not answer for that long is lost. */
#define SILENT_S 5
#define PROBE_S 1
#define PROBES 5

extern char **environ;

/* ---- connections ---- */

void remote_set_up(int fd)
{
    const struct {
        int level, name, value;
    } options[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
                   {SOL_SOCKET, SO_KEEPALIVE, 1},
                   {IPPROTO_TCP, TCP_KEEPIDLE, SILENT_S},
                   {IPPROTO_TCP, TCP_KEEPINTVL, PROBE_S},
                   {IPPROTO_TCP, TCP_KEEPCNT, PROBES},
                   {IPPROTO_TCP, TCP_USER_TIMEOUT, (SILENT_S + PROBE_S * PROBES) * 1000}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                   sizeof options[i].value);
}

int remote_read(int fd, void *data, size_t bytes)
{
    ssize_t n = TEMP_FAILURE_RETRY(recv(fd, data, bytes, MSG_WAITALL));
    return n == (ssize_t)bytes ? 0 : -1;
}

/* Listens at all addresses, at any port. */
static int listen_anywhere(int *port, struct err *err)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6};
    struct sockaddr_in any4 = {.sin_family = AF_INET};
    struct sockaddr *at = (struct sockaddr *)&any;
    socklen_t size = sizeof any;
    int no = 0, fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (fd < 0 || bind(fd, at, size) != 0) { /* a system without IPv6 */
        if (fd >= 0)
            close(fd);
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        at = (struct sockaddr *)&any4;
        size = sizeof any4;
        if (fd >= 0 && bind(fd, at, size) != 0) {
            close(fd);
            fd = -1;
        }
    }
    if (fd < 0 || listen(fd, SOMAXCONN) != 0 || getsockname(fd, at, &size) != 0) {
        err_set(err, ERR_SYSTEM, "cannot listen for processes on other computers: %s",
                strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *port = ntohs(at->sa_family == AF_INET6 ? any.sin6_port : any4.sin_port);
    return fd;
}

/* Addresses of this computer: its own first, which no other computer answers at. */
static void add_addresses(struct buf *out)
{
    struct ifaddrs *all, *i;
    buf_adds(out, " 127.0.0.1");
    if (getifaddrs(&all) != 0)
        return;
    for (i = all; i; i = i->ifa_next) {
        char text[INET6_ADDRSTRLEN];
        int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;
        const void *address = family == AF_INET
                                  ? (const void *)&((struct sockaddr_in *)i->ifa_addr)->sin_addr
                              : family == AF_INET6
                                  ? (const void *)&((struct sockaddr_in6 *)i->ifa_addr)->sin6_addr
                                  : NULL;
        if (!address || (i->ifa_flags & IFF_LOOPBACK) || !(i->ifa_flags & IFF_UP) ||
            (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)address)))
            continue;
        buf_addf(out, " %s", inet_ntop(family, address, text, sizeof text));
    }
    freeifaddrs(all);
}

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

/* ---- processes that join ---- */

struct joined {
    uint64_t process;
    int32_t number;
    int fd[VP_CHANNELS]; /* -1: not yet */
};

struct gathering {
    struct joined *at;
    uint32_t wanted, count, complete;
    char key[REMOTE_KEY_TEXT];
    int listener;
};

static struct joined *find(struct gathering *g, const struct remote_hello *h)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->at[i].process == h->process)
            return &g->at[i];
    if (g->count == g->wanted)
        return NULL;
    struct joined *j = &g->at[g->count++];
    *j = (struct joined){.process = h->process, .number = h->number};
    for (int i = 0; i < VP_CHANNELS; i++)
        j->fd[i] = -1;
    return j;
}

/* Whoever does not know the key is sent away. */
static void accept_one(struct gathering *g, struct err *err)
{
    const struct timeval limit = {.tv_sec = HELLO_S}, none = {0};
    int fd = accept4(g->listener, NULL, NULL, SOCK_CLOEXEC);
    struct remote_hello h;
    if (fd < 0)
        return;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    remote_set_up(fd);
    if (remote_read(fd, &h, sizeof h) != 0 || h.magic != REMOTE_MAGIC ||
        memcmp(h.key, g->key, sizeof h.key) != 0 || h.channel < 0 || h.channel >= VP_CHANNELS) {
        close(fd);
        return;
    }
    struct joined *j = find(g, &h);
    if (h.page != sizeof(struct run_page) || !j || j->fd[h.channel] >= 0) {
        err_set(err, ERR_SYSTEM,
                j ? "another computer has another version of Orrery: all need the same one"
                  : "the launcher has started more processes than it was to: %u",
                g->wanted);
        close(fd);
        return;
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
    j->fd[h.channel] = fd;
    if (h.channel == VP_CHANNELS - 1)
        g->complete++;
    if (send(fd, &h, sizeof h, MSG_NOSIGNAL) != sizeof h)
        err_set(err, ERR_SYSTEM, "a process on another computer has gone again");
}

static int gather(struct gathering *g, struct cli_guard *guard, int *signal, struct err *err)
{
    struct pollfd fds[3] = {{g->listener, POLLIN, 0},
                            {guard->fd, POLLIN, 0},
                            {cli_watch_signals(), POLLIN, 0}};
    double end = cli_watch_now() + JOIN_S;
    int sig;
    err->code = ERR_OK;
    while (g->complete < g->wanted && err->code == ERR_OK) {
        poll(fds, 3, TICK_MS);
        if (fds[0].revents)
            accept_one(g, err);
        else if (fds[1].revents)
            err_set(err, ERR_SYSTEM,
                    "the launcher has ended, and %u of %u processes have joined; see above",
                    g->complete, g->wanted);
        while (fds[2].revents && (sig = cli_watch_signal(fds[2].fd)) != 0)
            if (sig != SIGCHLD)
                *signal = sig;
        if (*signal)
            err_set(err, ERR_INTERNAL, "ended by signal %d", *signal);
        else if (cli_watch_now() > end && err->code == ERR_OK)
            err_set(err, ERR_SYSTEM,
                    "only %u of %u processes have joined within %d s: does the launcher start "
                    "them, and can they reach this computer?",
                    g->complete, g->wanted, (int)JOIN_S);
    }
    close(fds[2].fd);
    return err->code;
}

static int by_number(const void *a, const void *b)
{
    const struct joined *x = a, *y = b;
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
static int arrange(struct gathering *g, struct run_options *opt, struct err *err)
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

static int send_tasks(const struct gathering *g, const struct buf *task, struct err *err)
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

static void make_key(char *out)
{
    unsigned char random[REMOTE_KEY];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        memset(random, 0, sizeof random);
    for (int i = 0; i < REMOTE_KEY; i++)
        snprintf(out + 2 * i, 3, "%02x", random[i]);
}

static int start(struct cli_remote *r, const struct cli_run *run, struct gathering *g, int *signal,
                 struct err *err)
{
    struct launcher l = {.said = -1};
    int port, rc = make_words(&l, run, err);
    buf_init(&l.join);
    g->listener = rc ? -1 : listen_anywhere(&port, err);
    if (rc == 0 && g->listener < 0)
        rc = ERR_SYSTEM;
    if (rc == 0) {
        make_key(g->key);
        buf_addf(&l.join, "%s %d", g->key, port);
        add_addresses(&l.join);
        r->said = l.said = memfd_create("orrery-launcher", MFD_CLOEXEC);
        rc = cli_guard_start(&r->guard, become, &l, err);
        r->is_started = rc == 0;
    }
    if (rc == 0)
        rc = gather(g, &r->guard, signal, err);
    if (g->listener >= 0)
        close(g->listener);
    cli_argv_fini(&l.words);
    buf_fini(&l.join);
    return rc;
}

int cli_remote_start(struct cli_remote *r, const struct cli_run *run, const struct cli_page *page,
                     const char *libdir, const char *path, char **argv, int *signal,
                     struct err *err)
{
    struct gathering g = {.wanted = run->opt.remote_count};
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
