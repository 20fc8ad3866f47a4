/*
 * log_caught.h - an error that ends the program, caught.
 *
 * One test program is one translation unit that includes this header.
 */
#ifndef LOG_CAUGHT_H
#define LOG_CAUGHT_H

#include <setjmp.h>
#include <string.h>

#include "base/log.h"

static char log_caught[LOG_LINE_MAX]; /* the last line of the log */
static jmp_buf log_after_exit;

static void log_keep(const char *line, size_t length)
{
    memcpy(log_caught, line, length);
    log_caught[length] = '\0';
}

static void log_jump_out(int status)
{
    (void)status;
    longjmp(log_after_exit, 1);
}

/* Evaluates the expression, which may end the program: then `log_caught` says why. */
#define LOG_CATCH(expression)            \
    do {                                 \
        log_set_writer(log_keep);        \
        log_set_exit(log_jump_out);      \
        if (setjmp(log_after_exit) == 0) \
            expression;                  \
        log_set_writer(NULL);            \
        log_set_exit(NULL);              \
    } while (0)

#endif
