/*
 * notes.h - traces of other tools, for commands that read traces by name.
 */
#ifndef CLI_NOTES_H
#define CLI_NOTES_H

#include "formats/formats.h"

/* Prints what a conversion has lost, one line for each kind, and frees the notes. */
void cli_say_notes(const char *path, struct format_notes *);

/* Calls formats_native and prints its notes and errors. Returns an exit status. */
int cli_trace_as_orr(const char *path, char **temporary);

#endif
