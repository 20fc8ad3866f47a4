/*
 * collectives.h - names of algorithms of collectives, for settings and help.
 */
#ifndef CLI_COLLECTIVES_H
#define CLI_COLLECTIVES_H

#include "base/buf.h"
#include "base/err.h"
#include "platform/lists.h"

/* Are mpi.collectives and the algorithms in settings and rules known? ERR_INPUT, with the valid
 * names. */
int cli_collectives_check(const struct platform *, struct err *);

/* The i-th value that a setting of collectives, or a field of mpi.algorithms, may have; NULL beyond
 * the last, or for other keys. Static. */
const char *cli_collectives_choice(const char *key, unsigned i);

/* The i-th value of mpi.collectives, NULL beyond the last, and the settings that only some of them
 * use, which end with NULL. Static. */
const char *cli_collectives_name(unsigned i);
const char *const *cli_collectives_uses(unsigned i);

/* What `orrery help collectives` prints. */
void cli_collectives_help(struct buf *out);

#endif
