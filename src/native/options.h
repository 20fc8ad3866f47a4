/*
 * options.h - the options that `orrery record` passes to the library in the program: an environment
 * variable with letters, a colon and the path of the trace.
 */
#ifndef NATIVE_OPTIONS_H
#define NATIVE_OPTIONS_H

#define NATIVE_LIBRARY "liborrery-record.so"
#define NATIVE_VARIABLE "ORRERY_RECORD"
#define NATIVE_SITES 's'   /* keep call sites */
#define NATIVE_PROFILE 'p' /* statistics, no events */
#define NATIVE_STOP 'x'    /* end the program when nothing can be written any more */

/* Suffix of the path of the file that counts ranks. */
#define NATIVE_COUNTER ".ranks"

#endif
