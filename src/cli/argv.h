/*
 * argv.h - command lines of other programs: argument vectors.
 */
#ifndef CLI_ARGV_H
#define CLI_ARGV_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* All zero: empty. `at` ends with a NULL once there is a word. */
struct cli_argv {
    char **at;
    size_t count;
};

void cli_argv_add(struct cli_argv *, const char *text);
/* Several, up to a NULL. */
void cli_argv_add_all(struct cli_argv *, const char *const *words);
/* An option and its value, if it has one (or NULL). */
void cli_argv_pass(struct cli_argv *, const char *option, const char *value);
void cli_argv_fini(struct cli_argv *);

/* Adds the words of a text: they are separated by blanks; quotes of either kind keep blanks in a
 * word. ERR_INPUT, with `option` before it, if a quote is not closed or there is no word. */
int cli_argv_split(struct cli_argv *, const char *option, const char *text, struct err *);

#endif
