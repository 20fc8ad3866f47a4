/*
 * finish.c - see finish.h. Signals are handled here, and not taken one by one as while a run is
 * watched: the work has no loop that could ask for them everywhere.
 */
#include "launch/finish.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/sys.h"
#include "launch/watch.h"

#define TICK_S 0.25
#define ERASE "\r\033[K"

static struct {
    volatile sig_atomic_t signal; /* the first one */
    volatile sig_atomic_t is_over;
    volatile double since; /* when the last one came that counts */
    char note[1024], last_words[2048];
    int progress, is_drawn;
    double drawn_at;
    sigset_t mask; /* before */
} finish;

/* Says it, unless nobody reads: the work is more important. */
static void say(const char *text)
{
    struct pollfd to = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (*text && poll(&to, 1, 0) > 0)
        sys_write_all(STDERR_FILENO, text, strlen(text));
}

static void take(int number)
{
    double now = launch_watch_now();
    if (!finish.signal) {
        finish.signal = number;
        finish.since = now;
        say(finish.note);
        return;
    }
    if (now - finish.since < LAUNCH_WATCH_AGAIN_S)
        return;
    finish.since = now;
    if (finish.is_over || *finish.last_words) {
        say(finish.last_words);
        sys_exit(128 + finish.signal);
    }
    finish.is_over = 1;
}

void launch_finish_begin(const struct launch_finish *how, const char *what, const char *last_words)
{
    memset(&finish, 0, sizeof finish);
    if (!how->quiet)
        snprintf(finish.note, sizeof finish.note, "orrery: note: %s\n", what);
    if (last_words)
        snprintf(finish.last_words, sizeof finish.last_words, "orrery: error: %s\n", last_words);
    finish.progress = how->progress;
    finish.signal = how->signal;
    finish.since = finish.drawn_at = launch_watch_now();
    if (how->signal) {
        launch_watch_relax();
        say(finish.note);
    }
    launch_watch_handle(take, &finish.mask);
}

static void draw(uint64_t done, uint64_t all)
{
    struct buf line;
    double now = launch_watch_now();
    if (now - finish.drawn_at < TICK_S)
        return;
    finish.drawn_at = now;
    finish.is_drawn = 1;
    buf_init(&line);
    buf_addf(&line, ERASE "merging the trace: %d %%  ", (int)(100.0 * (double)done / (double)all));
    say(buf_str(&line));
    buf_fini(&line);
}

int launch_finish_is_over(uint64_t done, uint64_t all)
{
    if (finish.progress && done < all)
        draw(done, all);
    return finish.is_over;
}

int launch_finish_end(void)
{
    if (finish.is_drawn)
        say(ERASE);
    launch_watch_unhandle(&finish.mask);
    return finish.is_over ? finish.signal : 0;
}
