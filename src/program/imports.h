/*
 * imports.h - what a program's imports from libc say about how to run its ranks.
 */
#ifndef PROGRAM_IMPORTS_H
#define PROGRAM_IMPORTS_H

/* Why ranks that make this call must be processes ("the program starts other programs"), or
 * NULL. */
const char *program_imports_process(const char *symbol);

/* Does it create stacks on which the program may then call MPI? */
int program_imports_stacks(const char *symbol);

#endif
