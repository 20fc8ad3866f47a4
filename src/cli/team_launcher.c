/*
 * What the launcher prints: output of the run if the workers are elsewhere, else its own words, which are
 * kept and shown only if nobody else explains how the run ended. Workers that cannot reach the page of the
 * starter say in a line of their own, a mark, how it did.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "cli/team_internal.h"

#define KEPT_MAX ((size_t)64 << 10)

void team_launcher_init(struct team_launcher *w)
{
    memset(w, 0, sizeof *w);
    buf_init(&w->kept);
    buf_init(&w->pending);
}

void team_launcher_fini(struct team_launcher *w)
{
    buf_fini(&w->kept);
    buf_fini(&w->pending);
}

int team_launcher_fit(int fd)
{
    struct pollfd to = {.fd = fd, .events = POLLOUT};

    return poll(&to, 1, 0) != 0;
}

static void pass(struct team_launcher *w, int to, int joined, const char *text, size_t n)
{
    if (!joined)
        sys_write_all(to, text, n);
    else if (w->kept.len < KEPT_MAX)
        buf_add(&w->kept, text, n);
}

/* How many bytes at `text` are a mark, which is taken. 0: none; -1: more has to come to know. */
static long take_mark(struct team_launcher *w, const char *text, size_t n)
{
    size_t length = sizeof TEAM_MARK - 1;
    const char *end;

    if (memcmp(text, TEAM_MARK, n < length ? n : length) != 0)
        return 0;
    end = memchr(text, '\n', n);
    if (!end)
        return n < length + 16 ? -1 : 0;
    if (!w->told)
        w->status = atoi(text + length);
    w->told = 1;
    return end + 1 - text;
}

/* Passes on what has come, but for marks; `all`: nothing more will. */
static void sift(struct team_launcher *w, int to, int joined, int all)
{
    const char *text = buf_str(&w->pending), *start = text, *at;
    size_t left;
    long mark = 0;

    while ((at = memchr(start, TEAM_MARK[0], (size_t)(text + w->pending.len - start)))) {
        pass(w, to, joined, start, (size_t)(at - start));
        start = at;
        mark = take_mark(w, at, (size_t)(text + w->pending.len - at));
        if (mark < 0)
            break;
        if (mark == 0)
            pass(w, to, joined, start, 1);
        start += mark > 0 ? mark : 1;
    }
    left = (size_t)(text + w->pending.len - start);
    if (mark >= 0 || all) {
        pass(w, to, joined, start, left);
        buf_clear(&w->pending);
    } else {
        memmove(w->pending.data, start, left);
        w->pending.len = left;
    }
}

int team_launcher_take(struct team_launcher *w, int pipe, int to, int joined)
{
    char text[PIPE_BUF]; /* there is room for so much if there is any */
    ssize_t n = read(pipe, text, sizeof text);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 1;
    if (to != STDERR_FILENO) {
        pass(w, to, joined, text, n > 0 ? (size_t)n : 0);
        return n > 0;
    }
    buf_add(&w->pending, text, n > 0 ? (size_t)n : 0);
    sift(w, to, joined, n <= 0);
    return n > 0;
}
