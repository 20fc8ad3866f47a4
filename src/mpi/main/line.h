/*
 * line.h - the progress line, which the watcher draws on the terminal to which the program also
 * writes.
 *
 * Each side takes the line before writing (run_page.now.line): the watcher to draw it, this side to
 * erase it before the program's output. None of this is needed if no line is drawn.
 */
#ifndef MPI_MAIN_LINE_H
#define MPI_MAIN_LINE_H

#include "engine/output.h"

/* Makes output and messages of this process erase the line first, if one is drawn. */
void mpi_line_init(struct output_config *);

/* Erases the line for good: the run ends and is about to be reported. */
void mpi_line_end(void);

#endif
