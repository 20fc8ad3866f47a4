/*
 * arena.h - memory that stays shared with processes forked later.
 *
 * Once opened, everything that base/mem.h hands out lies in one large mapping, at the same address
 * in every process forked from then on. One process at a time may allocate or free, unless calls
 * lock the arena.
 *
 *     |header: free lists, bump| block | block | ...          |           never touched           |
 *     block: |class, offset|payload ...|
 *
 * Blocks are of fixed classes (multiples of 16 bytes up to 1 KiB, then four per power of two), kept
 * in one free list per class and never split; pages of large blocks go back to the system when
 * freed, except for 512 MiB, which are kept for reuse.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* Where it is, and what else processes share, if nothing else is there: then the addresses are the
 * same in all programs. */
#define ARENA_AT UINT64_C(0x200000000000)

/* Opens the arena; returns 0, or -1 if the system has no address space for it. Once per process. */
int arena_open(void);

/* An address so many bytes below it, for a mapping that processes share; NULL: it is not open. */
void *arena_near(size_t below);

/* Is it open? Is an address in it? */
int arena_is_open(void);
int arena_has(const void *ptr);

/* At least `size` bytes aligned to `align` (a power of two, 16 to 2 MiB), not cleared. NULL: none
 * left. */
void *arena_alloc(size_t size, size_t align);
/* arena_alloc, with the memory cleared. Memory never used before is not touched. */
void *arena_zalloc(size_t size, size_t align);
void arena_free(void *ptr);

/* What a process does around its use of the arena instead of locking it, because it has only a copy
 * of it. */
struct arena_guard {
    void (*enter)(void);
    void (*leave)(void);
};

/* From now on processes allocate and free at the same time / one process at a time does so again,
 * because all others are dead, whatever they were doing. *guard, which each process has for itself,
 * is its guard, or NULL. */
void arena_lock(const struct arena_guard *const *guard);
void arena_unlock(void);

/* Keeps others from allocating and freeing for a while. */
void arena_hold(void);
void arena_release(void);

/* The capacity of the block in bytes. */
size_t arena_room(const void *ptr);

#endif
