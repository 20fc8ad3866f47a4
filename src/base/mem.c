/*
 * mem.c - allocation. The unchecked functions end the process when they run out of memory, and
 * treat size 0 as 1 so that NULL never means success. Memory comes from libc, or from the arena
 * once that is open.
 */
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/hostile.h"
#include "base/log.h"

/* ---- what the hostile build does ---- */

#define FILL_MOST ((size_t)64 << 10) /* large memory is mostly not touched */

/* Allocations until one fails; 0: none will. Set once, at the start. */
static struct {
    uint64_t checked, all;
} fails_in;

int mem_fail_at(const char *text)
{
    const int is_all = text && strncmp(text, "all:", 4) == 0;
    const char *digits = is_all ? text + 4 : text;
    char *end;
    uint64_t k;

    if (!text || !HOSTILE(1, 0))
        return 0;
    k = strtoull(digits, &end, 10);
    if (*digits < '1' || *digits > '9' || *end)
        return -1;
    *(is_all ? &fails_in.all : &fails_in.checked) = k;
    return 0;
}

static int fails(uint64_t *in)
{
    return *in > 0 && --*in == 0;
}

/* Is this the allocation that is to fail? */
static inline int is_to_fail(int is_checked)
{
    return HOSTILE(1, 0) && (fails(&fails_in.all) || (is_checked && fails(&fails_in.checked)));
}

static inline void *fresh(void *ptr, size_t size)
{
    if (HOSTILE(1, 0) && ptr)
        memset(ptr, HOSTILE_FRESH, size < FILL_MOST ? size : FILL_MOST);
    return ptr;
}

static size_t room_of(void *ptr)
{
    return !ptr ? 0 : arena_has(ptr) ? arena_room(ptr) : malloc_usable_size(ptr);
}

static inline void freed(void *ptr)
{
    if (HOSTILE(1, 0) && ptr) {
        size_t size = room_of(ptr);

        assert(!hostile_is_stale(ptr));
        memset(ptr, HOSTILE_FREED, size < FILL_MOST ? size : FILL_MOST);
    }
}

/* ---- allocation ---- */

static void *checked(void *ptr, size_t size)
{
    if (!ptr)
        log_fatal("out of memory: cannot allocate %zu bytes", size);
    return ptr;
}

void *mem_alloc(size_t size)
{
    if (is_to_fail(0))
        return checked(NULL, size);
    if (arena_is_open())
        return fresh(checked(arena_alloc(size ? size : 1, 16), size), size);
    return fresh(checked(malloc(size ? size : 1), size), size);
}

void *mem_zalloc(size_t size)
{
    if (is_to_fail(0))
        return checked(NULL, size);
    if (arena_is_open())
        return checked(arena_zalloc(size ? size : 1, 16), size);
    return checked(calloc(1, size ? size : 1), size);
}

void *mem_zalloc_private(size_t size)
{
    return checked(calloc(1, size ? size : 1), size);
}

void *mem_zalloc_lines(size_t size)
{
    size_t bytes = (size + 63) / 64 * 64;
    void *ptr = arena_is_open() ? arena_alloc(bytes, 64) : aligned_alloc(64, bytes);

    return memset(checked(ptr, bytes), 0, bytes);
}

/* Moves a block to new memory, which is in the arena if that is open. */
static void *move(void *ptr, size_t size)
{
    size_t had = room_of(ptr);
    void *to;

    if (!HOSTILE(1, 0) && arena_has(ptr) && size <= had)
        return ptr;
    to = mem_alloc(size);
    memcpy(to, ptr ? ptr : "", had < size ? had : size);
    mem_free(ptr);
    return to;
}

void *mem_realloc(void *ptr, size_t size)
{
    if (HOSTILE(1, 0) || arena_is_open())
        return move(ptr, size);
    return checked(realloc(ptr, size ? size : 1), size);
}

char *mem_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(mem_alloc(size), text, size);
}

void mem_free(void *ptr)
{
    freed(ptr);
    if (arena_has(ptr))
        arena_free(ptr);
    else
        free(ptr);
}

void mem_trim(void)
{
    if (!arena_is_open())
        malloc_trim(0);
}

void *mem_try_alloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX)
        return NULL;
    if (is_to_fail(1))
        return NULL;
    if (arena_is_open())
        return fresh(arena_alloc(bytes ? bytes : 1, 16), bytes);
    return fresh(malloc(bytes ? bytes : 1), bytes);
}

static char *map_pages(size_t bytes)
{
    void *ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return ptr == MAP_FAILED ? NULL : ptr;
}

/* Maps one huge page more than needed and unmaps the ends, so that the rest is aligned. */
static char *map_aligned(size_t bytes)
{
    size_t rounded, total;
    if (__builtin_add_overflow(bytes, (size_t)4095, &rounded))
        return map_pages(bytes); /* fails, and sets errno */
    rounded &= ~(size_t)4095;
    if (__builtin_add_overflow(rounded, MEM_HUGE_PAGE, &total))
        return map_pages(bytes);
    char *raw = map_pages(total);
    if (!raw)
        return NULL;
    size_t before = -(uintptr_t)raw % MEM_HUGE_PAGE;
    if (before)
        munmap(raw, before);
    munmap(raw + before + rounded, MEM_HUGE_PAGE - before);
    return raw + before;
}

void *mem_map(size_t bytes, int huge)
{
    if (is_to_fail(1)) {
        errno = ENOMEM;
        return NULL;
    }
    if (arena_is_open())
        return arena_zalloc(bytes, 4096);
    if (!huge)
        return map_pages(bytes);
    char *ptr = bytes >= MEM_HUGE_PAGE ? map_aligned(bytes) : map_pages(bytes);
    if (ptr)
        (void)madvise(ptr, bytes, MADV_HUGEPAGE); /* only advice: kernels may ignore it */
    return ptr;
}

void mem_unmap(void *ptr, size_t bytes)
{
    if (arena_has(ptr))
        arena_free(ptr);
    else if (ptr)
        munmap(ptr, bytes);
}
