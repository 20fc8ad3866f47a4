/*
 * ends.c - see status.h: how this process ends.
 *
 * If MPI aborts a program because of an error, it tells the launcher, and then waits until the
 * launcher kills it. What it tells is a line of text on a socket, "cmd=abort exitcode=N" (the
 * process management interface, PMI), which is where this listens.
 */
#define _GNU_SOURCE 1
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/status.h"
#include "native/wrap.h"

#define PMI_SOCKET "PMI_FD"
#define PMI_ABORT "cmd=abort"
#define PMI_CODE "exitcode="

static const int signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
#define SIGNALS (sizeof signals / sizeof signals[0])

static struct {
    void (*say_end)(int status), (*say_abort)(int status);
    int socket;                      /* to the launcher; 0: there is none */
    struct sigaction after[SIGNALS]; /* what follows our handler */
} ends;

/* ---- crashes ---- */

/* UCX replaces sigaction(), to keep its own handlers. */
int __sigaction(int, const struct sigaction *, struct sigaction *);

/* The process ends as without this handler: a fault happens again. */
static void on_crash(int signal, siginfo_t *info, void *unused)
{
    (void)unused;
    ends.say_end(128 + signal);
    for (size_t i = 0; i < SIGNALS; i++)
        if (signals[i] == signal)
            __sigaction(signal, &ends.after[i], NULL);
    if (info->si_code <= 0) /* sent by a process */
        raise(signal);
}

/* ---- aborts ---- */

ssize_t __write(int, const void *, size_t);

/* A text of a launcher's protocol need not end with a zero. */
static int read_code(const char *text, size_t size)
{
    const char *at = memmem(text, size, PMI_CODE, strlen(PMI_CODE)), *end = text + size;
    int code = 0;
    for (at = at ? at + strlen(PMI_CODE) : end; at < end && *at >= '0' && *at <= '9'; at++)
        code = (code * 10 + (*at - '0')) & 0xffffff;
    return code;
}

ORR_EXPORT ssize_t write(int fd, const void *data, size_t size)
{
    if (__builtin_expect(fd == ends.socket && fd > 0, 0) && size > strlen(PMI_ABORT) &&
        memmem(data, size, PMI_ABORT, strlen(PMI_ABORT)))
        ends.say_abort(read_code(data, size) & 0xff);
    return __write(fd, data, size);
}

/* ---- exits ---- */

static void on_end(int status, void *unused)
{
    (void)unused;
    ends.say_end(status);
}

/* Called before the program, so that a handler is that of a library, and ends the process. The
 * program may replace ours: then the launcher alone knows of a crash. */
void native_ends_watch(void (*say_end)(int status), void (*say_abort)(int status))
{
    struct sigaction ours = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_NODEFER};
    const char *socket = getenv(PMI_SOCKET);
    ends.say_end = say_end;
    ends.say_abort = say_abort;
    ends.socket = socket ? atoi(socket) : 0;
    on_exit(on_end, NULL);
    for (size_t i = 0; i < SIGNALS; i++)
        if (__sigaction(signals[i], NULL, &ends.after[i]) == 0 &&
            ends.after[i].sa_handler != SIG_IGN)
            __sigaction(signals[i], &ours, NULL);
}
