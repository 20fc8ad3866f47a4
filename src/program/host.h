/*
 * host.h - which host runs the ranks of a program: fibres of one process, or a process each.
 */
#ifndef PROGRAM_HOST_H
#define PROGRAM_HOST_H

#include "program/program.h"
#include "run/run.h"

/* The host for that many ranks (0: unknown, few), where `asked` is the value of --host; *why is a
 * static string. */
enum run_host program_host_choose(const struct program *, enum run_host asked, uint64_t ranks,
                                  const char **reason);

#endif
