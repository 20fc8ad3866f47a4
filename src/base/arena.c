/*
 * arena.c - the shared arena (see arena.h). Its header is in the arena itself, so that all
 * processes see the same one.
 */
#include "base/arena.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sys.h"

#define SMALL_MAX 1024u
#define SMALL_CLASSES (SMALL_MAX / 16) /* class c: 16 * (c + 1) bytes */
#define LARGE_CLASSES (4 * 36)         /* up to 2^46 */
#define GIVE_BACK ((size_t)1 << 20)    /* free blocks of at least this size may lose their pages */
#define KEEP ((size_t)512 << 20)       /* bytes of such blocks that keep their pages */
#define PAGE ((size_t)4096)

/* Precedes the payload. */
struct head {
    uint32_t class;
    uint32_t pad;
    uint64_t offset; /* from the start of the block to the payload */
};

struct free_block {
    struct free_block *next;
    size_t kept; /* of large blocks: bytes that were not given back */
};

struct arena {
    char *bump, *end;
    size_t kept;             /* bytes of free large blocks that still have their pages */
    int is_locked;           /* callers take turns, by `inside` */
    _Atomic uint32_t inside; /* 1: a caller is inside */
    const struct arena_guard *const *guard;
    struct free_block *free[SMALL_CLASSES + LARGE_CLASSES];
};

static struct arena *arena;

static size_t class_bytes(uint32_t class)
{
    uint32_t large;

    if (class < SMALL_CLASSES)
        return 16u * (class + 1);
    large = class - SMALL_CLASSES;
    return ((size_t)SMALL_MAX << (large / 4)) / 4 * (5 + large % 4);
}

static uint32_t class_of(size_t bytes)
{
    uint32_t class;

    if (bytes <= SMALL_MAX)
        return bytes ? (uint32_t)((bytes - 1) / 16) : 0;
    class = SMALL_CLASSES + 4 * (63 - (uint32_t)__builtin_clzll((bytes - 1) / SMALL_MAX));
    while (class < SMALL_CLASSES + LARGE_CLASSES && class_bytes(class) < bytes)
        class ++;
    return class;
}

int arena_open(void)
{
    for (size_t bytes = (size_t)1 << 40; bytes >= (size_t)1 << 32; bytes /= 4) {
        void *at = mmap((void *)ARENA_AT, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (at == MAP_FAILED)
            continue;
        arena = at;
        arena->bump = (char *)at + (sizeof *arena + PAGE - 1) / PAGE * PAGE;
        arena->end = (char *)at + bytes;
        return 0;
    }
    return -1;
}

void *arena_near(size_t below)
{
    return arena ? (void *)(ARENA_AT - below) : NULL;
}

int arena_is_open(void)
{
    return arena != NULL;
}

int arena_has(const void *ptr)
{
    return arena && (const char *)ptr > (const char *)arena && (const char *)ptr < arena->end;
}

static struct head *head_of(const void *ptr)
{
    return (struct head *)((char *)ptr - sizeof(struct head));
}

/* ---- callers at the same time ---- */

void arena_lock(const struct arena_guard *const *guard)
{
    arena->guard = guard;
    arena->is_locked = 1;
}

void arena_unlock(void)
{
    if (!arena)
        return;
    arena->is_locked = 0;
    atomic_store(&arena->inside, 0);
}

/* Usually a caller is inside for some instructions only. */
void arena_hold(void)
{
    while (atomic_exchange_explicit(&arena->inside, 1, memory_order_acquire))
        syscall(SYS_sched_yield);
}

void arena_release(void)
{
    atomic_store_explicit(&arena->inside, 0, memory_order_release);
}

static void enter(void)
{
    if (__builtin_expect(!arena->is_locked, 1))
        return;
    if (*arena->guard)
        (*arena->guard)->enter();
    else
        arena_hold();
}

static void leave(void)
{
    if (__builtin_expect(!arena->is_locked, 1))
        return;
    if (*arena->guard)
        (*arena->guard)->leave();
    else
        arena_release();
}

/* *used: the block has been used before. */
static char *take(uint32_t class, int *used)
{
    struct free_block *b = arena->free[class];
    size_t bytes = class_bytes(class);
    char *block = arena->bump;

    *used = b != NULL;
    if (b) {
        arena->free[class] = b->next;
        if (bytes >= GIVE_BACK)
            arena->kept -= b->kept;
        return (char *)b;
    }
    if ((size_t)(arena->end - block) < bytes)
        return NULL;
    arena->bump += (bytes + 15) / 16 * 16;
    return block;
}

static char *find(size_t size, size_t align, int *used)
{
    size_t bytes = size + sizeof(struct head) + (align > 16 ? align : 0);
    uint32_t class = class_of(bytes);
    char *block, *payload;

    if (bytes < size || class >= SMALL_CLASSES + LARGE_CLASSES)
        return NULL;
    enter();
    block = take(class, used);
    leave();
    if (!block)
        return NULL;
    payload = block + sizeof(struct head);
    payload += -(uintptr_t)payload & (align - 1);
    *head_of(payload) = (struct head){.class = class, .offset = (uint64_t)(payload - block)};
    return payload;
}

void *arena_alloc(size_t size, size_t align)
{
    int used;

    return find(size, align, &used);
}

void *arena_zalloc(size_t size, size_t align)
{
    int used;
    char *ptr = find(size, align, &used);

    if (ptr && used)
        memset(ptr, 0, size);
    return ptr;
}

size_t arena_room(const void *ptr)
{
    const struct head *h = head_of(ptr);

    return class_bytes(h->class) - h->offset;
}

/* Gives back the pages of a free large block, within limits: faulting them in again takes longer
 * than copying a message. */
static size_t keep_or_give_back(char *block, size_t bytes)
{
    char *from = (char *)(((uintptr_t)block + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
    char *to = (char *)((uintptr_t)(block + bytes) & ~(uintptr_t)(PAGE - 1));

    if (arena->kept + bytes <= KEEP) {
        arena->kept += bytes;
        return bytes;
    }
    (void)madvise(from, (size_t)(to - from), MADV_REMOVE); /* on failure the pages stay */
    return 0;
}

void arena_free(void *ptr)
{
    const struct head h = *head_of(ptr);
    char *block = (char *)ptr - h.offset;
    size_t bytes = class_bytes(h.class);
    struct free_block *b = (struct free_block *)block;

    enter();
    if (bytes >= GIVE_BACK)
        b->kept = keep_or_give_back(block, bytes);
    b->next = arena->free[h.class];
    arena->free[h.class] = b;
    leave();
}
