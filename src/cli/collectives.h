/*
 * collectives.h - names of algorithms of collectives, for settings and help.
 */
#ifndef CLI_COLLECTIVES_H
#define CLI_COLLECTIVES_H

#include "base/buf.h"
#include "base/err.h"
#include "platform/lists.h"

/* Are mpi.collectives and the algorithms of settings and rules known? ERR_INPUT, with the names there
 * are. */
int cli_collectives_check(const struct platform *, struct err *);

/* What `orrery help collectives` prints. */
void cli_collectives_help(struct buf *out);

#endif
