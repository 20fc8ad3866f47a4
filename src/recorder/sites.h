/*
 * sites.h - call sites: the active functions of the program at a call, the innermost first.
 */
#ifndef RECORDER_SITES_H
#define RECORDER_SITES_H

#include <stdint.h>

/* Call it once at the beginning, in a context where any function may be called. */
void recorder_sites_init(void);

/* The site of the current call, which is defined at its first use; 0: not known. It is the same for
 * all ranks that call from there. */
uint64_t recorder_site(void);

#endif
