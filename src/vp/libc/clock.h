/*
 * clock.h - declarations shared by clock.c and sleep.c.
 */
#ifndef VP_LIBC_CLOCK_H
#define VP_LIBC_CLOCK_H

#include "vp/libc/libc.h"

#include <time.h>

#define LIBC_UPTIME 100000 /* seconds CLOCK_MONOTONIC shows at virtual time 0 */
#define LIBC_CLOCK_BAD INT64_MIN

/* What the clock shows at virtual time 0, in seconds; LIBC_CLOCK_BAD if there is no such clock. */
int64_t libc_clock_base(clockid_t id);

#endif
