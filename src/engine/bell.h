/*
 * bell.h - processes of one machine wake each other.
 *
 * The native MPI has no way to sleep until a message comes: all it offers is to look again and again,
 * which on a busy machine takes the processor from the very process that is waited for. So processes of
 * one machine share memory with a bell for each. Whoever sends a message to a process (lane.h) rings its
 * bell afterwards; a process that finds nothing to do sleeps until it rings.
 */
#ifndef ENGINE_BELL_H
#define ENGINE_BELL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BELL_WORDS 7

/* A cache line of its own. */
struct bell {
    uint32_t rings;            /* counts up */
    uint32_t asleep;           /* its owner sleeps, or is about to */
    uint64_t from[BELL_WORDS]; /* a bit for each process that has sent something (lane.c) */
};

/* Where the first process has made the bells, for the others to find. fd < 0: nowhere. */
struct bell_address {
    int32_t pid, fd;
};

struct bells {
    struct bell *at;      /* NULL: there are none */
    uint32_t count, mine; /* on this machine; and the index of this process */
    void *room; /* more memory that is shared, all zero at first, aligned to a cache line ... */
    size_t room_bytes; /* ... and how much */
};

/* Makes bells for so many processes, and room for other things. The caller closes address->fd when all
 * others have joined. */
void bells_make(struct bells *, uint32_t count, size_t room, struct bell_address *address);
/* Takes part in what another process has made, with the same numbers. Returns 0 if that cannot be
 * reached. */
int bells_join(struct bells *, uint32_t count, uint32_t mine, size_t room,
               const struct bell_address *address);
void bells_leave(struct bells *);

/* How often the own bell has rung. Ask before looking for messages. */
static inline uint32_t bells_heard(const struct bells *b)
{
    return __atomic_load_n(&b->at[b->mine].rings, __ATOMIC_ACQUIRE);
}

/* Something has been sent to that process: wakes it if it sleeps. A system call only then. */
void bells_ring(struct bells *, uint32_t which);

/* Sleeps until the own bell has rung more often than `heard`, or for ns nanoseconds. */
void bells_sleep(struct bells *, uint32_t heard, uint64_t ns);

#endif
