/*
 * array.h - arrays and rings that grow by doubling. The owner's struct holds the address, the count
 * and usually the capacity, under its own names and integer types. All zero is an empty array;
 * mem_free releases it.
 *
 * Out of memory ends the process. Nothing here switches.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hostile.h"
#include "base/mem.h"

/* `first` items, doubled until `needed` fits. */
static inline size_t array_doubled(size_t room, size_t needed, size_t first)
{
    room = room ? room : first;
    while (room < needed) {
        assert(room > 0 && room <= SIZE_MAX / 2);
        room *= 2;
    }
    return room;
}

/* The new capacity of an array. In the hostile build small ones have room for what is needed, so
 * that every addition moves them, and larger ones for little more. */
static inline size_t array_room(size_t room, size_t needed, size_t first)
{
    if (HOSTILE(1, 0))
        return room < needed ? needed + needed / 16 : room;
    return array_doubled(room, needed, first);
}

/* Makes room for `needed` items in all. New memory is not initialised. Arguments are evaluated
 * several times. */
#define ARRAY_RESERVE(at, room, needed, first)                                     \
    do {                                                                           \
        if (__builtin_expect((needed) > (room), 0)) {                              \
            size_t array_more = array_room((room), (needed), (first));             \
            (room) = (__typeof__(room))array_more;                                 \
            assert((room) == array_more && array_more <= SIZE_MAX / sizeof *(at)); \
            (at) = mem_realloc((at), array_more * sizeof *(at));                   \
        }                                                                          \
    } while (0)

/* ARRAY_RESERVE that sets all bytes of new items to zero. */
#define ARRAY_RESERVE_ZERO(at, room, needed, first)                                 \
    do {                                                                            \
        if (__builtin_expect((needed) > (room), 0)) {                               \
            size_t array_had = (room);                                              \
            ARRAY_RESERVE(at, room, needed, first);                                 \
            memset((at) + array_had, 0, ((size_t)(room)-array_had) * sizeof *(at)); \
        }                                                                           \
    } while (0)

/* ARRAY_RESERVE for an array that begins in `few`, an array of its owner, so that most need no
 * other memory. The owner frees `at` unless it is `few`. */
#define ARRAY_RESERVE_FEW(at, room, needed, few)                      \
    do {                                                              \
        if (!(room)) {                                                \
            (at) = (few);                                             \
            (room) = (__typeof__(room))(sizeof(few) / sizeof *(few)); \
        }                                                             \
        if (__builtin_expect((needed) > (room), 0)) {                 \
            void *array_few = (at) == (few) ? (at) : NULL;            \
            (at) = array_few ? NULL : (at);                           \
            ARRAY_RESERVE(at, room, needed, 1);                       \
            if (array_few)                                            \
                memcpy((at), array_few, sizeof(few));                 \
        }                                                             \
    } while (0)

/* Makes room for one more item in a ring: item i of `count` is at[(head + i) & (room - 1)]. `first`
 * is a power of two; `head` may grow without limit. */
#define ARRAY_RING_RESERVE(at, room, head, count, first)                                   \
    do {                                                                                   \
        if (__builtin_expect((count) == (room), 0)) {                                      \
            size_t ring_old = (room),                                                      \
                   ring_room = array_doubled(ring_old, ring_old + 1, HOSTILE(1, (first))); \
            __typeof__(at) ring = mem_alloc(ring_room * sizeof *ring);                     \
                                                                                           \
            for (size_t ring_i = (head); ring_i < (head) + ring_old; ring_i++)             \
                ring[ring_i & (ring_room - 1)] = (at)[ring_i & (ring_old - 1)];            \
            mem_free(at);                                                                  \
            (at) = ring;                                                                   \
            (room) = (__typeof__(room))ring_room;                                          \
            assert((room) == ring_room);                                                   \
        }                                                                                  \
    } while (0)

/* Makes room for one more item in an array that only grows one item at a time, so that its capacity
 * is its count rounded up to a power of two. */
#define ARRAY_EXTEND(at, count)                                                           \
    do {                                                                                  \
        if (((count) & ((count)-1)) == 0)                                                 \
            (at) = mem_realloc((at), ((count) ? 2 * (size_t)(count) : 1) * sizeof *(at)); \
    } while (0)

#endif
