/*
 * log.h - messages to the user on stderr, one line and one raw write(2) each, without stdio: safe
 * to call from inside a virtual rank whose stdio and exit are interposed. Lines longer than
 * LOG_LINE_MAX are cut, and characters that a terminal could take for commands are replaced
 * (printable.h). No function here allocates or switches.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>
#include <stddef.h>

#define LOG_LINE_MAX 1536

/* "orrery: error: ...", "orrery: warning: ..." and "orrery: ...". The format has no newline. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "orrery: PREFIX...", never left out: for log_module.h. */
void log_line(const char *prefix, const char *fmt, va_list) __attribute__((format(printf, 2, 0)));

/*
 * Internal failure: writes "orrery: internal error: ..." and ends the process with status 3
 * through the exit function. If a replaced exit function returns, the process still ends.
 */
_Noreturn void log_fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * The run cannot go on because of the user's input: writes "orrery: error: ..." and ends the
 * process with status 2 in the same way.
 */
_Noreturn void log_fatal_input(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Whether warnings and notes are left out (0 in the beginning); errors never are. */
void log_set_quiet(int is_quiet);

/* Replaces where lines go (each call is one whole line with its newline); NULL restores fd 2. */
void log_set_writer(void (*writer)(const char *line, size_t length));

/* Replaces the function that ends the process; NULL restores the raw exit_group system call. */
void log_set_exit(void (*exit_function)(int status));

#endif
