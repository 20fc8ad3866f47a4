/*
 * backtrace.h - answers the program's requests for functions, files and lines of addresses, and
 * shows its output if it has died.
 */
#ifndef CLI_BACKTRACE_H
#define CLI_BACKTRACE_H

#include "base/buf.h"
#include "cli/launch.h"

/* Answers the program's request, if there is one. */
void cli_backtrace_answer(struct cli_page *, pid_t program);

/* The program has died without a result: writes the output that it had not written yet. Returns the
 * number of lines. */
uint64_t cli_backtrace_recover(const struct cli_page *);

#endif
