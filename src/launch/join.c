/*
 * join.c - a process that a launcher has started on another computer (remote.h). It connects to
 * `orrery run`, gets the program to run, and executes it with the arguments, the environment and
 * the numbers of descriptors that the simulator has.
 */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "base/mem.h"
#include "base/sys.h"
#include "engine/output_book.h"
#include "launch/native.h"
#include "launch/remote.h"
#include "launch/remote_internal.h"

#define CONNECT_MS 5000
#define ANSWER_S 15
#define ROUNDS 3  /* of tries: too many others may have been there */
#define ASIDE 512 /* descriptors from here on are out of the way */

extern char **environ;

/* ---- connecting ---- */

/* A connection to an address and port, or -1. */
static int connect_to(const char *address, const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *at;
    int error = 0;
    socklen_t size = sizeof error;
    if (getaddrinfo(address, port, &hints, &at) != 0)
        return -1;
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int rc = fd < 0 ? -1 : connect(fd, at->ai_addr, at->ai_addrlen);
    freeaddrinfo(at);
    if (rc != 0 && fd >= 0 && errno == EINPROGRESS) {
        struct pollfd ready = {fd, POLLOUT, 0};
        if (poll(&ready, 1, CONNECT_MS) == 1 &&
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)
            rc = 0;
    }
    if (rc == 0 && fcntl(fd, F_SETFL, 0) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int read_all(int fd, void *data, size_t bytes)
{
    ssize_t n = TEMP_FAILURE_RETRY(recv(fd, data, bytes, MSG_WAITALL));
    return n == (ssize_t)bytes ? 0 : -1;
}

/* Connects, and makes sure that it is the right one that answers. */
static int meet(const char *address, const char *port, const unsigned char *key,
                struct remote_hello *h)
{
    const struct timeval limit = {.tv_sec = ANSWER_S}, none = {0};
    struct remote_greeting greeting;
    struct remote_answer answer;
    unsigned char proof[SIPHASH_BYTES];
    int fd = connect_to(address, port);
    if (fd < 0)
        return -1;
    remote_set_up(fd);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (read_all(fd, &greeting, sizeof greeting) == 0 && greeting.magic == REMOTE_MAGIC) {
        remote_prove_hello(key, &greeting, h, h->proof);
        remote_prove_answer(key, &greeting, h, proof);
        if (send(fd, h, sizeof *h, MSG_NOSIGNAL) == sizeof *h &&
            read_all(fd, &answer, sizeof answer) == 0 && remote_is_proof(proof, answer.proof)) {
            setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none);
            return fd;
        }
    }
    close(fd);
    return -1;
}

/* All connections to one address, given as ADDRESS/PORT. */
static int meet_at(const char *where, const unsigned char *key, struct remote_hello *h, int *fd)
{
    char *address = mem_strdup(where), *port = strrchr(address, '/');
    int met = port != NULL;
    if (port)
        *port++ = 0;
    for (h->channel = 0; met && h->channel < VP_CHANNELS; h->channel++) {
        fd[h->channel] = meet(address, port, key, h);
        met = fd[h->channel] >= 0;
    }
    for (int i = h->channel - 2; !met && i >= 0; i--)
        close(fd[i]);
    mem_free(address);
    return met;
}

/* The key before the addresses; 0 if there is none. */
static int read_key(const char *text, unsigned char *key)
{
    unsigned byte;
    int used;
    for (int i = 0; i < SIPHASH_KEY; i++, text += used) {
        if (sscanf(text, "%2x%n", &byte, &used) != 1 || used != 2)
            return 0;
        key[i] = (unsigned char)byte;
    }
    return *text == ' ';
}

/* Connects by the first address that answers. */
static int connect_all(int *fd, struct err *err)
{
    const char *given = getenv(ENV_JOIN);
    struct remote_hello h = {.magic = REMOTE_MAGIC,
                             .page = sizeof(struct run_page),
                             .number = launch_native_number()};
    unsigned char key[SIPHASH_KEY];
    int met = 0;
    if (!given || !read_key(given, key))
        return err_set(err, ERR_INPUT,
                       "--join is for processes that 'orrery emulate --launcher' starts");
    if (sys_random(&h.process, sizeof h.process) != 0 || sys_random(h.nonce, sizeof h.nonce) != 0)
        return err_set(err, ERR_SYSTEM, "the system has no random numbers: %s", strerror(errno));
    for (int i = 0; i < ROUNDS && !met; i++) {
        char *text = mem_strdup(given + REMOTE_KEY_TEXT + 1), *rest = text;
        for (char *where; !met && (where = strsep(&rest, " "));)
            met = meet_at(where, key, &h, fd);
        mem_free(text);
    }
    return met ? 0
               : err_set(err, ERR_SYSTEM,
                         "cannot connect to the simulator at any of '%s': see --listen",
                         given + REMOTE_KEY_TEXT + 1);
}

/* ---- what to run ---- */

struct task {
    struct remote_task head;
    char *text;
    struct run_options opt;
    char *machine;
    char *folder, *libdir, *path, **argv, **envp; /* in the text */
};

static char *next(char **at)
{
    char *text = *at;
    *at += strlen(text) + 1;
    return text;
}

static char **next_all(char **at, uint32_t count)
{
    char **all = mem_zalloc((count + 1) * sizeof *all);
    for (uint32_t i = 0; i < count; i++)
        all[i] = next(at);
    return all;
}

static int receive(int fd, struct task *t, struct err *err)
{
    int rc = read_all(fd, &t->head, sizeof t->head);
    if (rc == 0 && (t->head.magic != REMOTE_MAGIC || t->head.options != sizeof t->opt))
        rc = -1;
    if (rc == 0) {
        t->text = mem_zalloc(t->head.text + 1);
        t->machine = mem_zalloc(t->head.machine);
        rc = read_all(fd, t->text, t->head.text) || read_all(fd, &t->opt, sizeof t->opt) ||
             read_all(fd, t->machine, t->head.machine);
    }
    if (rc)
        return err_set(err, ERR_SYSTEM, "the simulator has ended before the program began");
    char *at = t->text;
    t->folder = next(&at);
    t->libdir = next(&at);
    t->path = next(&at);
    t->argv = next_all(&at, t->head.arguments);
    t->envp = next_all(&at, t->head.variables);
    return 0;
}

/* ---- becoming it ---- */

static int memory_file(const char *name, const void *data, size_t bytes, struct err *err)
{
    int fd = memfd_create(name, 0), aside = -1;
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 &&
        (!data || sys_write_all(fd, data, bytes) == 0))
        aside = fcntl(fd, F_DUPFD, ASIDE);
    if (aside < 0)
        err_set(err, ERR_SYSTEM, "cannot create a memory file: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return aside;
}

/* Gives a descriptor the number that it has in the simulator. */
static int place(int fd, int number, struct err *err)
{
    if (fd < 0)
        return err->code;
    if (dup2(fd, number) < 0)
        return err_set(err, ERR_SYSTEM, "cannot open descriptor %d: %s; see 'ulimit -n'", number,
                       strerror(errno));
    close(fd);
    return 0;
}

static int make_files(const struct task *t, const int *fd, struct err *err)
{
    static struct run_page page; /* large */
    int aside[VP_CHANNELS], rc = 0;
    page.magic = RUN_MAGIC;
    page.size = sizeof page;
    page.opt = t->opt;
    for (int i = 0; i < VP_CHANNELS; i++) {
        aside[i] = fcntl(fd[i], F_DUPFD, ASIDE);
        close(fd[i]);
    }
    rc = place(memory_file("orrery-run", &page, sizeof page, err), t->head.page_fd, err);
    if (rc == 0)
        rc = place(memory_file("orrery-machine", t->machine, t->head.machine, err),
                   t->opt.machine_fd, err);
    if (rc == 0 && t->opt.book_fd >= 0)
        rc = place(memory_file("orrery-output", NULL, OUTPUT_BOOK_BYTES, err), t->opt.book_fd, err);
    for (int i = 0; rc == 0 && i < VP_CHANNELS; i++)
        rc = place(aside[i], t->opt.remote_fd + i, err);
    return rc;
}

/* Says how the program has ended, and waits until the simulator has ended, too: launchers end all
 * processes when one of them does. */
_Noreturn static void report(pid_t program, int fd)
{
    int status;
    char none;
    while (waitpid(program, &status, 0) < 0 && errno == EINTR)
        ;
    int32_t told = status;
    if (send(fd, &told, sizeof told, MSG_NOSIGNAL) == sizeof told)
        while (recv(fd, &none, 1, 0) < 0 && errno == EINTR)
            ;
    launch_guard_end_all(status == 0 ? LAUNCH_GUARD_GRACE_S
                                     : 0); /* commands that the rank has started */
    exit(0);
}

/* Becomes the program in a child, which dies with this process. */
static int start(const struct task *t, struct err *err)
{
    const struct launch_page page = {.fd = t->head.page_fd};
    int status = t->opt.remote_fd + VP_CHANNEL_STATUS;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t self = getpid(), child = fork();
    if (child < 0)
        return err_set(err, ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
    if (child > 0) {
        close_range((unsigned)t->opt.remote_fd, (unsigned)status - 1, 0);
        report(child, status);
    }
    close(status);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self)
        exit(0);
    launch_become(&page, &t->opt, t->libdir, t->path, t->argv);
    return err_set(err, ERR_SYSTEM, "cannot execute '%s': %s", t->path, strerror(errno));
}

int launch_remote_join(struct err *err)
{
    static struct task task; /* large */
    int fd[VP_CHANNELS];
    int rc = connect_all(fd, err);
    if (rc == 0)
        rc = receive(fd[0], &task, err);
    if (rc == 0 && chdir(task.folder) != 0)
        rc = err_set(err, ERR_SYSTEM, "cannot change to the folder '%s': %s", task.folder,
                     strerror(errno));
    if (rc == 0)
        rc = make_files(&task, fd, err);
    if (rc)
        return rc;
    setrlimit(RLIMIT_STACK, &task.head.stack);
    environ = task.envp;
    return start(&task, err);
}
