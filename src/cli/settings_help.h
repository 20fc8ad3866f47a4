/*
 * settings_help.h - `orrery help` on settings: all names on a page, one setting, or a section.
 */
#ifndef CLI_SETTINGS_HELP_H
#define CLI_SETTINGS_HELP_H

#include "base/buf.h"

/* The names of all settings and lists, by section. */
void cli_settings_names(struct buf *out);

/* All settings and fields of lists, with defaults and meaning: what the manual lists. */
void cli_settings_all(struct buf *out);

/* One setting, list or section. 0: there is none of that name. */
int cli_settings_explain(const char *name, struct buf *out);

#endif
