/*
 * The random program without MPI_Cancel: in a program that has it, each non-blocking receive is a
 * decision, and other code of the simulator runs.
 */
#define RANDOM_HAS_CANCEL 0
#include "random.c"
