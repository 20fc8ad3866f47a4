/*
 * sites.h - where in the program a call was made: the functions that are active, the innermost
 * first.
 */
#ifndef RECORDER_SITES_H
#define RECORDER_SITES_H

#include <stdint.h>

/* Once at the beginning, in a context where anything may be done. */
void recorder_sites_init(void);

/* The site of the call that is being made, which is defined when it is first met; 0: not known. It
 * is the same for all ranks that call from there. */
uint64_t recorder_site(void);

#endif
