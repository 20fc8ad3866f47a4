/*
 * Allocation. The unchecked functions end the process when memory is out, and treat size 0 as 1
 * so that NULL never means success.
 */
#include "base/mem.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"

static void *checked(void *ptr, size_t size)
{
    if (!ptr)
        log_fatal("out of memory: cannot allocate %zu bytes", size);
    return ptr;
}

void *mem_alloc(size_t size)
{
    return checked(malloc(size ? size : 1), size);
}

void *mem_zalloc(size_t size)
{
    return checked(calloc(1, size ? size : 1), size);
}

void *mem_zalloc_lines(size_t size)
{
    size_t bytes = (size + 63) / 64 * 64;

    return memset(checked(aligned_alloc(64, bytes), bytes), 0, bytes);
}

void *mem_realloc(void *ptr, size_t size)
{
    return checked(realloc(ptr, size ? size : 1), size);
}

char *mem_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(mem_alloc(size), text, size);
}

void mem_free(void *ptr)
{
    free(ptr);
}

void mem_trim(void)
{
    malloc_trim(0);
}

void *mem_try_alloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX)
        return NULL;
    return malloc(bytes ? bytes : 1);
}

static char *map_pages(size_t bytes)
{
    void *ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return ptr == MAP_FAILED ? NULL : ptr;
}

/* Maps one huge page too much and gives back the ends, so that the rest is aligned. */
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
    if (!huge)
        return map_pages(bytes);
    char *ptr = bytes >= MEM_HUGE_PAGE ? map_aligned(bytes) : map_pages(bytes);
    if (ptr)
        (void)madvise(ptr, bytes, MADV_HUGEPAGE); /* only advice: kernels without it do */
    return ptr;
}

void mem_unmap(void *ptr, size_t bytes)
{
    if (ptr)
        munmap(ptr, bytes);
}
