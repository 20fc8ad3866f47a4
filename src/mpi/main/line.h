/*
 * line.h - the progress line, which the watcher draws on the terminal that the program writes to, too.
 *
 * Whoever writes there first takes the line (run_page.now.line): the watcher to draw it, this side to
 * erase it before the program's output. None of this is needed where no line is drawn.
 */
#ifndef MPI_MAIN_LINE_H
#define MPI_MAIN_LINE_H

#include "engine/output.h"

/* Has output and messages of this process erase the line first, if one is drawn. */
void mpi_line_init(struct output_config *);

/* Erases the line for good: the run ends, and its end is told. */
void mpi_line_end(void);

#endif
