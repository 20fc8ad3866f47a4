/*
 * hostile.h - what differs in the build that tries to break Orrery (-Dhostile=true).
 *
 * Code has no other way to know which build it is in. The results of both are the same: virtual
 * times, output, traces.
 */
#ifndef BASE_HOSTILE_H
#define BASE_HOSTILE_H

#include <assert.h>
#include <stdint.h>

/* assert_hot is an assertion in a hot path, which only the hostile build checks. Elsewhere use
 * assert, which all builds check. HOSTILE(tiny, usual) is a size or a limit; HOSTILE(1, 0) is
 * whether this is the hostile build. */
#ifdef ORRERY_HOSTILE
#define assert_hot(condition) assert(condition)
#define HOSTILE(tiny, usual) (tiny)
#else
#define assert_hot(condition) ((void)sizeof(!(condition)))
#define HOSTILE(tiny, usual) (usual)
#endif

/* What the hostile build fills memory with that it hands out, and memory that was freed. */
#define HOSTILE_FRESH 0xcd
#define HOSTILE_FREED 0xdb

/* Is it an address that was read from memory that is not initialised, or was freed? */
static inline int hostile_is_stale(const void *ptr)
{
    return (uintptr_t)ptr == UINT64_C(0x0101010101010101) * HOSTILE_FRESH ||
           (uintptr_t)ptr == UINT64_C(0x0101010101010101) * HOSTILE_FREED;
}

#endif
