/*
 * epoch.h - the start date of a run.
 */
#ifndef CLI_EPOCH_H
#define CLI_EPOCH_H

#include <stdint.h>

#include "base/err.h"

/* A start date: seconds since 1970, or YYYY-MM-DD, or YYYY-MM-DDTHH:MM:SS with an optional Z; UTC.
 * Between years 1970 and 9999. */
int cli_epoch_parse(const char *text, int64_t *out, struct err *);

#endif
