/* test: n=2,5,300 native=4 run="--set mpi.eager_limit=1KiB"
 * The same with little data and many ranks, so that stacks are shared and locals of a blocked rank
 * are in a saved copy; the limit makes the larger messages wait for their receiver. */
#define LARGE_COUNT 500
#include "lang_buffers.c"
