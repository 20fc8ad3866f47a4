/*
 * printable.h - text from files and names, made harmless for terminals and logs.
 *
 * Names in traces, platforms and statistics, of files and of programs may hold anything, such as
 * sequences by which a terminal changes its title or erases lines. So everything that commands
 * print passes here: results on standard output (cli_print), messages (log.h), summaries. Files
 * that users name get the text as it is, and so does the output of programs.
 */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stddef.h>

/* Replaces control characters, and bytes that are not UTF-8, by '?', in place. Tabs stay, and line
 * ends if `lines` is not 0. */
void printable(char *text, size_t length, int lines);

#endif
