/*
 * mem.h - memory allocation. Small allocations cannot fail: the process ends with a message. Sizes
 * taken from input use mem_try_alloc or mem_map, which report. Nothing here switches.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

#define MEM_HUGE_PAGE ((size_t)2 << 20)

/* malloc, calloc(1, n), realloc, strdup; never NULL, not even for size 0. Free with mem_free. */
void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_zalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_realloc(void *ptr, size_t size) __attribute__((returns_nonnull));
char *mem_strdup(const char *text) __attribute__((returns_nonnull));

/* Zeroed memory that is private to this process even if other memory is shared (arena.h); never
 * freed. */
void *mem_zalloc_private(size_t size) __attribute__((malloc, returns_nonnull));
/* mem_zalloc at the start of a cache line. */
void *mem_zalloc_lines(size_t size) __attribute__((malloc, returns_nonnull));

/* Frees what any of the above, or mem_try_alloc, returned; NULL is allowed. */
void mem_free(void *ptr);

/* Gives pages that hold only freed memory back to the system; after much was freed. */
void mem_trim(void);

/* n * size uninitialised bytes, or NULL if the product overflows or memory is short. */
void *mem_try_alloc(size_t n, size_t size);

/*
 * The hostile build lets an allocation of this process fail, as `text` says: "K" is the K-th that
 * may fail (mem_try_alloc, mem_map), "all:K" the K-th of all; NULL is none. Other builds do
 * nothing. Returns -1 if the text is not good. The hostile build also fills memory that is
 * allocated or freed (base/hostile.h), and mem_realloc always moves.
 */
int mem_fail_at(const char *text);

/*
 * Anonymous zeroed pages without swap reservation; only touched pages count. With `huge`, huge
 * pages are advised, and a mapping of at least MEM_HUGE_PAGE bytes starts on a multiple of it.
 * NULL with errno on failure. Release with mem_unmap and the same size.
 */
void *mem_map(size_t bytes, int huge);
void mem_unmap(void *ptr, size_t bytes);

/*
 * Bytes this process can still use without swapping: MemAvailable, or less if a cgroup (v1 or
 * v2) of the process leaves less. 0 if the system does not tell. Reads files of /proc and /sys.
 */
uint64_t mem_available(void);

/* What a process uses, in bytes. */
struct mem_use {
    uint64_t mapped;   /* addresses, whether touched or not: what 'ulimit -v' limits */
    uint64_t resident; /* in memory */
    uint64_t shared;   /* the part of it that others may share: files and shared memory */
    uint64_t data;     /* private addresses: what 'ulimit -d' limits */
};
/* Of the process with this number, or of this one (0); -1 if there is none. */
int mem_use_of(int32_t pid, struct mem_use *);

/* What this process may map. */
struct mem_limit {
    const char *name; /* how users know it: "ulimit -v" */
    uint64_t limit, used;
};
/* The limit of which the least is left; 0 if there is none. */
int mem_limit_find(struct mem_limit *);

/* The largest resident set of this process so far in bytes (VmHWM), or 0 if not known. */
uint64_t mem_peak_rss(void);

/* Bytes of memory that only this process uses, plus its share of the memory inherited by fork; 0:
 * unknown. */
uint64_t mem_own(void);

#endif
