/*
 * options.h - how `orrery record` tells the library inside the program what to do: a variable of
 * the environment, with letters and behind a colon the path of the trace.
 */
#ifndef NATIVE_OPTIONS_H
#define NATIVE_OPTIONS_H

#define NATIVE_LIBRARY "liborrery-record.so"
#define NATIVE_VARIABLE "ORRERY_RECORD"
#define NATIVE_SITES 's'   /* keep call sites */
#define NATIVE_PROFILE 'p' /* statistics, no events */
#define NATIVE_STOP 'x'    /* end the program if nothing can be written any more */

/* What is behind the path: parts, by rank, and the file that counts ranks. */
#define NATIVE_PART ".part-"
#define NATIVE_COUNTER ".ranks"

#endif
