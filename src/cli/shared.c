/*
 * shared.c - stores and interprets options that several commands have (see shared.h).
 */
#include "cli/shared.h"

#include <unistd.h>

#include "base/log.h"

int cli_shared_quiet(void *into, const char *value, struct err *err)
{
    (void)into, (void)value, (void)err;
    log_set_quiet(1);
    return 0;
}

int cli_shared_progress(int given, int quiet)
{
    return given >= 0 ? given : isatty(STDERR_FILENO) && !quiet;
}
