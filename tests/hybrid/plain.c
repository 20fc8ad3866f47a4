/*
 * The same without MPI_Cancel, as in tests/random/plain.c.
 */
#define RANDOM_HAS_CANCEL 0
#include "random.c"
