/*
 * groups.h - groups of statistics by name, for command lines.
 */
#ifndef CLI_GROUPS_H
#define CLI_GROUPS_H

#include "base/err.h"

/* The bit of a group (1 << enum analysis_group), or 0 with an error that names the nearest. `also`
 * is another word that the command takes, or NULL. */
unsigned cli_group_find(const char *name, const char *also, struct err *);

#endif
