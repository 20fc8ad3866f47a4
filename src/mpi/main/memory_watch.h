/*
 * memory_watch.h - watches the memory that the ranks use: foresees that it will not suffice, and
 * ends the run before the system has to.
 */
#ifndef MPI_MAIN_MEMORY_WATCH_H
#define MPI_MAIN_MEMORY_WATCH_H

#include <stddef.h>
#include <stdint.h>

/* Before the first rank starts. */
void mpi_memory_init(void);
/* Now and then, between two turns: measures, and warns or ends the run. Scheduler context. */
void mpi_memory_check(void);
/* Have so few ranks started that it should be called after the first turn of each? */
int mpi_memory_is_early(void);
/* Ends the run, because only so much is left. Any context. */
_Noreturn void mpi_memory_end(uint64_t left);
/* If `error`, the errno of whoever fails now, says that an allocation failed: adds a line to the
 * text that explains that. Signal stack. */
void mpi_memory_explain(int error, char *text, size_t size);

#endif
