/*
 * Traces of other tools, for commands that read traces by name.
 */
#ifndef CLI_NOTES_H
#define CLI_NOTES_H

#include "formats/formats.h"

/* Says what got lost on the way between formats, one line for each kind, and frees the notes. */
void cli_say_notes(const char *path, struct format_notes *);

/* formats_native with notes that are said; an exit status, after an error that is said. */
int cli_native_trace(const char *path, char **temporary);

#endif
