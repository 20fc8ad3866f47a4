/*
 * complete.h - candidates for the end of a command line, for completion in shells. Everything comes
 * from the tables of commands, options, settings and presets: a new option needs no change here.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "base/buf.h"

/*
 * Appends the candidates for the last of `count` words; words[0] is the command ("run"). There is
 * one per line: a whole word that begins like the last one, then a tab and a description if there
 * is one. The lines "@files", "@directories" and "@programs" stand for what only the shell can
 * list.
 */
void cli_complete(int count, char **words, struct buf *out);

#endif
