/*
 * limit.c - a timer of the process sends it SIGTERM, which every command handles: it ends what it
 * has started, writes the output so far and removes its files.
 */
#include "launch/limit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"

#define LIMIT_STATUS 124 /* as timeout(1) */
#define SECONDS_MAX 1e9

static struct {
    double seconds; /* 0: there is no limit */
    timer_t timer;
} limit;

static int arm(struct err *err)
{
    struct sigevent end = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM};
    struct itimerspec when = {.it_value.tv_sec = (time_t)limit.seconds};

    when.it_value.tv_nsec = (long)((limit.seconds - (double)when.it_value.tv_sec) * 1e9);
    if (timer_create(CLOCK_MONOTONIC, &end, &limit.timer) ||
        timer_settime(limit.timer, 0, &when, NULL))
        return err_set(err, ERR_SYSTEM, "MPIEXEC_TIMEOUT: cannot make a timer: %s",
                       strerror(errno));
    return 0;
}

int launch_limit_begin(struct err *err)
{
    const char *text = getenv("MPIEXEC_TIMEOUT");
    char *end;

    if (!text || !*text)
        return 0;
    limit.seconds = strtod(text, &end);
    if (*end || !(limit.seconds >= 0 && limit.seconds <= SECONDS_MAX))
        return err_set(err, ERR_INPUT,
                       "MPIEXEC_TIMEOUT: '%s' is not a number of seconds; unset it, or "
                       "set it to 0 for no limit",
                       text);
    unsetenv("MPIEXEC_TIMEOUT");
    return limit.seconds > 0 ? arm(err) : 0;
}

int launch_limit_end(int status)
{
    struct itimerspec left;

    if (limit.seconds <= 0 || status == 0 || timer_gettime(limit.timer, &left) ||
        left.it_value.tv_sec || left.it_value.tv_nsec)
        return status;
    log_error("the time limit of %g s of real time has passed (MPIEXEC_TIMEOUT)", limit.seconds);
    return LIMIT_STATUS;
}
