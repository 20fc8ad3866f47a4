/*
 * log.c - messages on stderr. Each is formatted on the stack and leaves in one raw write, so lines
 * of several processes do not mix and nothing is buffered when the process dies.
 *
 * The writer, the exit function and what is left out are the module's only state: they describe the
 * process, not a run, and are set once at start (or by tests).
 */
#include "base/log.h"

#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "base/sys.h"

static void write_stderr(const char *line, size_t length)
{
    (void)sys_write_all(2, line, length);
}

static void exit_process(int status)
{
    sys_exit(status);
}

static void (*current_writer)(const char *line, size_t length) = write_stderr;
static void (*current_exit)(int status) = exit_process;
static int current_quiet;

void log_set_writer(void (*writer)(const char *line, size_t length))
{
    current_writer = writer ? writer : write_stderr;
}

void log_set_quiet(int is_quiet)
{
    current_quiet = is_quiet;
}

void log_set_exit(void (*exit_function)(int status))
{
    current_exit = exit_function ? exit_function : exit_process;
}

void log_line(const char *prefix, const char *fmt, va_list args)
{
    char line[LOG_LINE_MAX];
    size_t room = sizeof line - 1; /* one byte is kept for the newline */
    int head = snprintf(line, room, "orrery: %s", prefix);
    int body = vsnprintf(line + head, room - (size_t)head, fmt, args);
    size_t length = strlen(line);
    if (body >= 0 && (size_t)head + (size_t)body >= room)
        memcpy(line + length - 3, "...", 3);
    printable(line, length, 0);
    line[length] = '\n';
    current_writer(line, length + 1);
}

void log_error(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_line("error: ", fmt, args);
    va_end(args);
}

void log_warn(const char *fmt, ...)
{
    va_list args;
    if (current_quiet)
        return;
    va_start(args, fmt);
    log_line("warning: ", fmt, args);
    va_end(args);
}

void log_note(const char *fmt, ...)
{
    va_list args;
    if (current_quiet)
        return;
    va_start(args, fmt);
    log_line("", fmt, args);
    va_end(args);
}

void log_fatal(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_line("internal error: ", fmt, args);
    va_end(args);
    current_exit(3);
    sys_exit(3);
}

void log_fatal_input(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_line("error: ", fmt, args);
    va_end(args);
    current_exit(2);
    sys_exit(2);
}
