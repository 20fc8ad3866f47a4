/*
 * remote_clock.c - measures the clocks of other computers, and passes on changes of the factor (see
 * remote_clock.h).
 */
#include "emulate/remote_clock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/socket.h>

#include "base/sys.h"

#define FIRST 16       /* questions at the beginning */
#define LATER 8        /* questions of each later measurement */
#define EVERY_SECOND 1 /* seconds between two measurements */

struct line {
    int64_t is_question; /* else the rest is valid */
    int64_t ahead, overhead;
    struct emulate_piece now, before;
};

static int send_all(int fd, const void *data, size_t bytes)
{
    ssize_t n;

    do
        n = (ssize_t)syscall(SYS_sendto, fd, data, bytes, MSG_NOSIGNAL, NULL, 0);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)bytes ? 0 : -1;
}

static int receive_all(int fd, void *data, size_t bytes)
{
    ssize_t n;

    do
        n = (ssize_t)syscall(SYS_recvfrom, fd, data, bytes, MSG_WAITALL, NULL, NULL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)bytes ? 0 : -1;
}

/* ---- the simulator's computer ---- */

static int measure(int fd, int questions, int64_t *ahead)
{
    const struct line question = {.is_question = 1};
    int64_t soonest = INT64_MAX;

    for (int i = 0; i < questions; i++) {
        int64_t start = emulate_wall(), theirs, end;

        if (send_all(fd, &question, sizeof question) != 0 ||
            receive_all(fd, &theirs, sizeof theirs) != 0)
            return -1;
        end = emulate_wall();
        if (end - start < soonest) {
            soonest = end - start;
            *ahead = theirs - (start + end) / 2;
        }
    }
    return 0;
}

/* Returns the number of changes that the other one knows. */
static uint32_t send_line(int fd, const struct emulate_pace *p, int64_t ahead, int *is_lost)
{
    struct line line = {.ahead = ahead, .overhead = p->overhead};
    uint32_t changes = emulate_look(p, &line.now, &line.before);

    if (changes && send_all(fd, &line, sizeof line) != 0)
        *is_lost = 1;
    return changes;
}

void emulate_clock_serve(int fd, const struct emulate_pace *p)
{
    int64_t ahead = 0;
    int is_lost = measure(fd, FIRST, &ahead) != 0;

    while (!is_lost) {
        const struct timespec limit = {.tv_sec = EVERY_SECOND};
        uint32_t changes = send_line(fd, p, ahead, &is_lost);

        if (!is_lost &&
            syscall(SYS_futex, &p->changes, FUTEX_WAIT, changes, &limit, NULL, 0) != 0 &&
            errno == ETIMEDOUT)
            is_lost = measure(fd, LATER, &ahead) != 0;
    }
}

/* ---- the other computer ---- */

void emulate_clock_follow(int fd, struct emulate_pace *mine)
{
    struct line line;

    while (receive_all(fd, &line, sizeof line) == 0) {
        int64_t now = emulate_wall();

        if (!line.is_question)
            emulate_follow(mine, &line.now, &line.before, line.overhead, line.ahead);
        else if (send_all(fd, &now, sizeof now) != 0)
            return;
    }
}
