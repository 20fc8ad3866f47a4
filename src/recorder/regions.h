/*
 * regions.h - regions of a program, from MPI_Pcontrol and from functions that were compiled with
 * -finstrument-functions.
 *
 *     MPI_Pcontrol(1, "solve")   begins the region "solve", MPI_Pcontrol(-1, "solve") ends it
 *     MPI_Pcontrol(7)            begins the region "phase 7", MPI_Pcontrol(-7) ends it; for all
 *                                numbers from 3 on: for Fortran, which passes no text
 *     MPI_Pcontrol(0), (1), (2)  mean what the standard suggests to tools; they are ignored
 */
#ifndef RECORDER_REGIONS_H
#define RECORDER_REGIONS_H

#include <stddef.h>

#define RECORDER_NAME_MOST 256

/* What a call of MPI_Pcontrol means: 1 with the name of a region that begins, -1 if the innermost
 * one ends, 0: nothing. `more` is the second argument, or any value if there is none: it is
 * followed only if it points to readable text. */
int recorder_pcontrol(int level, const void *more, char name[RECORDER_NAME_MOST]);

/* "@/path/of/file+0x1234": the position of an address in a program or library, for which merging
 * parts finds a name (trace/merge.h). 0: it is in none. */
int recorder_address(const void *address, char *out, size_t size);

#endif
