/*
 * words.h - command lines of other programs: words, and what a program prints.
 */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* All zero: none. `at` ends with a NULL once there is a word. */
struct cli_words {
    char **at;
    size_t count;
};

void cli_words_add(struct cli_words *, const char *text);
void cli_words_fini(struct cli_words *);

/* Adds the words of a text: they are separated by blanks; quotes of either kind keep blanks in a
 * word. ERR_INPUT, with `option` before it, if a quote is not closed or there is no word. */
int cli_words_split(struct cli_words *, const char *option, const char *text, struct err *);

/*
 * Starts the command under a guard (guard.h) and appends what it writes to standard output. Input is empty, the
 * standard error ours. Returns 0 with its exit status (128 and the signal if one ended it), or ERR_SYSTEM if
 * it cannot be started. *signal: an interrupt, SIGTERM or SIGHUP to this process came meanwhile; the command and
 * all it had started have been ended then.
 */
int cli_words_capture(const struct cli_words *, struct buf *out, int *status, int *signal,
                      struct err *);

#endif
