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

/* The i-th name that a setting of collectives, or a field of mpi.algorithms, may have; NULL beyond the last,
 * or if it is none of them. Static. */
const char *cli_collectives_choice(const char *key, unsigned i);

/* The i-th value of mpi.collectives, NULL beyond the last, and the settings that not all of them use,
 * NULL ends them. Static. */
const char *cli_collectives_name(unsigned i);
const char *const *cli_collectives_uses(unsigned i);

/* What `orrery help collectives` prints. */
void cli_collectives_help(struct buf *out);

#endif
