/*
 * workers_launcher.c - handles the launcher's output: output of the run if the workers are
 * elsewhere, else its own messages, which are kept and shown only if nothing else explains how the
 * run ended. Workers that cannot reach the starter's page report how it ended in a special line, a
 * mark.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "launch/workers_internal.h"

#define KEPT_MAX ((size_t)64 << 10)

void workers_launcher_init(struct workers_launcher *w)
{
    memset(w, 0, sizeof *w);
    buf_init(&w->kept);
    buf_init(&w->pending);
}

void workers_launcher_fini(struct workers_launcher *w)
{
    buf_fini(&w->kept);
    buf_fini(&w->pending);
}

int workers_launcher_fit(int fd)
{
    struct pollfd to = {.fd = fd, .events = POLLOUT};

    return poll(&to, 1, 0) != 0;
}

static void pass(struct workers_launcher *w, int to, int keep, const char *text, size_t n)
{
    if (!keep)
        sys_write_all(to, text, n);
    else if (w->kept.len < KEPT_MAX)
        buf_add(&w->kept, text, n);
}

/* How many bytes at `text` are a mark, which is consumed. 0: it is not one; -1: more input is
 * needed to know. */
static long take_mark(struct workers_launcher *w, const char *text, size_t n)
{
    size_t length = sizeof WORKERS_MARK - 1;
    const char *end;

    if (memcmp(text, WORKERS_MARK, n < length ? n : length) != 0)
        return 0;
    end = memchr(text, '\n', n);
    if (!end)
        return n < length + 16 ? -1 : 0;
    if (!w->told)
        w->status = atoi(text + length);
    w->told = 1;
    return end + 1 - text;
}

/* Passes on the input so far, except marks; `all`: there will be no more. */
static void sift(struct workers_launcher *w, int to, int keep, int all)
{
    const char *text = buf_str(&w->pending), *start = text, *at;
    size_t left;
    long mark = 0;

    while ((at = memchr(start, WORKERS_MARK[0], (size_t)(text + w->pending.len - start)))) {
        pass(w, to, keep, start, (size_t)(at - start));
        start = at;
        mark = take_mark(w, at, (size_t)(text + w->pending.len - at));
        if (mark < 0)
            break;
        if (mark == 0)
            pass(w, to, keep, start, 1);
        start += mark > 0 ? mark : 1;
    }
    left = (size_t)(text + w->pending.len - start);
    if (mark >= 0 || all) {
        pass(w, to, keep, start, left);
        buf_clear(&w->pending);
    } else {
        memmove(w->pending.data, start, left);
        w->pending.len = left;
    }
}

int workers_launcher_take(struct workers_launcher *w, int pipe, int to, int keep)
{
    char text[PIPE_BUF]; /* a pipe that has room at all has room for this much */
    ssize_t n = read(pipe, text, sizeof text);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 1;
    if (to != STDERR_FILENO) {
        pass(w, to, keep, text, n > 0 ? (size_t)n : 0);
        return n > 0;
    }
    buf_add(&w->pending, text, n > 0 ? (size_t)n : 0);
    sift(w, to, keep, n <= 0);
    return n > 0;
}
