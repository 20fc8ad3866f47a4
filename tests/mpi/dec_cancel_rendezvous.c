/* test: n=2,5 native=4 measured=no run="--set mpi.eager_limit=0"
 * The same for messages that wait for their receiver. */
#include "dec_cancel.c"
