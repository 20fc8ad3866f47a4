/*
 * What a program's imports from libc say about how its ranks are to be run.
 */
#ifndef CLI_CALLS_H
#define CLI_CALLS_H

/* Why ranks that make this call must be processes ("the program starts other programs"), or NULL. */
const char *cli_calls_process(const char *symbol);

/* Does it serve to make stacks, on which the program may then call MPI? */
int cli_calls_stacks(const char *symbol);

#endif
