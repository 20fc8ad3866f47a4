/*
 * hostile.h - what differs in the build that tries to break Orrery (-Dhostile=true).
 *
 * Code has no other way to know which build it is in. The results of both are the same: virtual
 * times, output, traces.
 */
#ifndef BASE_HOSTILE_H
#define BASE_HOSTILE_H

#include <assert.h>

/* assert_hot is an assertion in a hot path, which only the hostile build checks. Elsewhere use
 * assert, which all builds check. HOSTILE(tiny, usual) is a size or a limit. */
#ifdef ORRERY_HOSTILE
#define assert_hot(condition) assert(condition)
#define HOSTILE(tiny, usual) (tiny)
#else
#define assert_hot(condition) ((void)sizeof(!(condition)))
#define HOSTILE(tiny, usual) (usual)
#endif

#endif
