/*
 * backtrace.h - answers the program's requests for functions, files and lines of addresses, and
 * shows its output if it has died.
 */
#ifndef LAUNCH_BACKTRACE_H
#define LAUNCH_BACKTRACE_H

#include "base/buf.h"
#include "launch/launch.h"

/* Answers the program's request, if there is one. */
void launch_backtrace_answer(struct launch_page *, pid_t program);

/* The program has died without a result: writes the output that it had not written yet. Returns the
 * number of lines. */
uint64_t launch_backtrace_recover(const struct launch_page *);

#endif
