/*
 * complete.h - what may stand at the end of a command line, for the completion of shells. Everything comes
 * from the tables of commands, options, settings and presets: a new option needs nothing here.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "base/buf.h"

/*
 * Appends the candidates for the last of `count` words; words[0] is the command ("run"). One per line, each
 * of them a whole word that begins as the last one does, and behind a tab what it means where that is known.
 * The lines "@files", "@directories" and "@programs" stand for what only the shell can list.
 */
void cli_complete(int count, char **words, struct buf *out);

#endif
