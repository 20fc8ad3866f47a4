/*
 * heap.h - heaps in arrays, smallest entry first, generated for one type of entry so that comparing
 * and moving are inlined.
 *
 *     HEAP_STRUCT(due_heap, struct due);
 *     static inline int due_before(const struct due *a, const struct due *b);
 *     static inline void due_moved(struct due_heap *h, uint32_t at);
 *     HEAP_FUNCTIONS(due_heap, struct due, 2, 64, due_before, due_moved);
 *
 * All zero is an empty heap; mem_free(h->at) ends it. h->at[0] is the first entry, h->len their
 * number.
 *
 *   degree  children of an entry: 2, or 4 for half the depth, with children in one cache line
 *   first   the capacity that the first push allocates
 *   before  does a come before b? Equal entries come out in an unspecified order, the same in
 *           every run
 *   moved   called when an entry has moved to a position, for owners that remember it; else
 *           HEAP_UNTRACKED
 *
 * The functions, with the name of the heap before each:
 *
 *     push(h, entry)         adds an entry
 *     pop(h)                 removes the first entry and returns it; the heap must not be empty
 *     replace(h, at, entry)  replaces the entry at position `at`; O(1) if it can stay there
 *     remove(h, at)          removes the entry at a position
 *     append(h, entry)       adds an entry at the end, out of order: build() must follow
 *     build(h)               restores the order, in O(len)
 *
 * All others are O(log len). Out of memory ends the process. Nothing here switches.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdint.h>

#include "base/array.h"

#define HEAP_STRUCT(name, entry) \
    struct name {                \
        entry *at;               \
        uint32_t len, cap;       \
    }

#define HEAP_UNTRACKED(h, at) ((void)0)

#define HEAP_FUNCTION static inline __attribute__((unused))

#define HEAP_FUNCTIONS(name, entry, degree, first, before, moved)                 \
    HEAP_FUNCTION void name##_put(struct name *h, uint32_t at, entry e)           \
    {                                                                             \
        h->at[at] = e;                                                            \
        moved(h, at);                                                             \
    }                                                                             \
                                                                                  \
    HEAP_FUNCTION void name##_up(struct name *h, uint32_t at, entry e)            \
    {                                                                             \
        while (at > 0 && before(&e, &h->at[(at - 1) / (degree)])) {               \
            name##_put(h, at, h->at[(at - 1) / (degree)]);                        \
            at = (at - 1) / (degree);                                             \
        }                                                                         \
        name##_put(h, at, e);                                                     \
    }                                                                             \
                                                                                  \
    HEAP_FUNCTION void name##_down(struct name *h, uint32_t at, entry e)          \
    {                                                                             \
        for (;;) {                                                                \
            uint32_t kid = (degree)*at + 1;                                       \
            uint32_t end = kid + (degree) < h->len ? kid + (degree) : h->len;     \
                                                                                  \
            if (kid >= h->len)                                                    \
                break;                                                            \
            for (uint32_t k = kid + 1; k < end; k++)                              \
                kid = before(&h->at[k], &h->at[kid]) ? k : kid;                   \
            if (!before(&h->at[kid], &e))                                         \
                break;                                                            \
            name##_put(h, at, h->at[kid]);                                        \
            at = kid;                                                             \
        }                                                                         \
        name##_put(h, at, e);                                                     \
    }                                                                             \
                                                                                  \
    HEAP_FUNCTION void name##_push(struct name *h, entry e)                       \
    {                                                                             \
        ARRAY_RESERVE(h->at, h->cap, h->len + 1, (first));                        \
        name##_up(h, h->len++, e);                                                \
    }                                                                             \
                                                                                  \
    HEAP_FUNCTION void name##_replace(struct name *h, uint32_t at, entry e)       \
    {                                                                             \
        if (at > 0 && before(&e, &h->at[(at - 1) / (degree)]))                    \
            name##_up(h, at, e);                                                  \
        else                                                                      \
            name##_down(h, at, e);                                                \
    }                                                                             \
                                                                                  \
    HEAP_FUNCTION void name##_remove(struct name *h, uint32_t at)                 \
    {                                                                             \
        if (at < --h->len)                                                        \
            name##_replace(h, at, h->at[h->len]);                                 \
    }                                                                             \
                                                                                  \
    HEAP_FUNCTION entry name##_pop(struct name *h)                                \
    {                                                                             \
        entry least = h->at[0];                                                   \
                                                                                  \
        if (--h->len > 0)                                                         \
            name##_down(h, 0, h->at[h->len]);                                     \
        return least;                                                             \
    }                                                                             \
                                                                                  \
    HEAP_FUNCTION void name##_append(struct name *h, entry e)                     \
    {                                                                             \
        ARRAY_RESERVE(h->at, h->cap, h->len + 1, (first));                        \
        h->len++;                                                                 \
        name##_put(h, h->len - 1, e);                                             \
    }                                                                             \
                                                                                  \
    HEAP_FUNCTION void name##_build(struct name *h)                               \
    {                                                                             \
        for (uint32_t i = h->len > 1 ? (h->len - 2) / (degree) + 1 : 0; i-- > 0;) \
            name##_down(h, i, h->at[i]);                                          \
    }                                                                             \
    struct name

#endif
