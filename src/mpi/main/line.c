/*
 * line.c - lets the progress line and the program's output share one terminal.
 */
#include "mpi/main/line.h"

#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sys.h"
#include "mpi/rank.h"
#include "run/run.h"

#define TRIES 100000 /* the watcher is about to write a line, unless it was stopped */

static struct {
    int on;
    int shown[3]; /* this descriptor is the terminal */
} line;

static int is_terminal(int fd)
{
    struct termios t;

    return syscall(SYS_ioctl, fd, TCGETS, &t) == 0;
}

/* Keeps the watcher from drawing. Returns whether there is a line to erase. */
static int take(void)
{
    uint32_t was = RUN_LINE_NONE;

    for (unsigned i = 0; i < TRIES; i++) {
        was = atomic_load(&mpi_world.page->now.line);
        if (was == RUN_LINE_BUSY)
            syscall(SYS_sched_yield);
        else if (atomic_compare_exchange_weak(&mpi_world.page->now.line, &was, RUN_LINE_HELD))
            break;
    }
    /* process 0 draws the line of all */
    return was == RUN_LINE_DRAWN || was == RUN_LINE_BUSY || mpi_rank_map()->proc != 0;
}

/* Do not draw over an unfinished line of output. */
static void give(const char *text, size_t n)
{
    if (n && text[n - 1] == '\n')
        atomic_store(&mpi_world.page->now.line, RUN_LINE_NONE);
}

static int write_text(void *owner, int fd, const char *text, size_t n)
{
    int rc;

    if (!line.shown[fd])
        return output_write_system(owner, fd, text, n);
    rc = take() ? output_write_system(owner, fd, RUN_LINE_ERASE, strlen(RUN_LINE_ERASE)) : 0;
    if (rc == 0)
        rc = output_write_system(owner, fd, text, n);
    give(text, n);
    return rc;
}

static void write_message(const char *text, size_t n)
{
    if (take())
        sys_write_all(2, RUN_LINE_ERASE, strlen(RUN_LINE_ERASE));
    sys_write_all(2, text, n);
    give(text, n);
}

void mpi_line_init(struct output_config *out)
{
    line.on = mpi_world.opt->progress;
    if (!line.on)
        return;
    line.shown[1] = is_terminal(1);
    line.shown[2] = 1; /* it is drawn there, terminal or not */
    out->writer = write_text;
    log_set_writer(write_message);
}

void mpi_line_end(void)
{
    if (!line.on)
        return;
    if (take())
        sys_write_all(2, RUN_LINE_ERASE, strlen(RUN_LINE_ERASE));
    line.on = line.shown[1] = line.shown[2] = 0; /* and is held */
    log_set_writer(NULL);
}
