/*
 * argv.h - command lines of other programs: argument vectors.
 */
#ifndef LAUNCH_ARGV_H
#define LAUNCH_ARGV_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* All zero: empty. `at` ends with a NULL once there is a word. */
struct launch_argv {
    char **at;
    size_t count;
};

void launch_argv_add(struct launch_argv *, const char *text);
/* Several, up to a NULL. */
void launch_argv_add_all(struct launch_argv *, const char *const *words);
/* An option and its value, if it has one (or NULL). */
void launch_argv_pass(struct launch_argv *, const char *option, const char *value);
void launch_argv_fini(struct launch_argv *);

/* Adds the words of a text: they are separated by blanks; quotes of either kind keep blanks in a
 * word. ERR_INPUT, with `option` before it, if a quote is not closed or there is no word. */
int launch_argv_split(struct launch_argv *, const char *option, const char *text, struct err *);

#endif
