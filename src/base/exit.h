/*
 * exit.h - exit statuses of commands. `orrery run` otherwise ends with the program's own.
 */
#ifndef BASE_EXIT_H
#define BASE_EXIT_H

/* A finding is what a command looks for: a deadlock, a difference. */
enum exit_status { EXIT_DONE = 0, EXIT_FINDING = 1, EXIT_USAGE = 2, EXIT_INTERNAL = 3 };

#endif
