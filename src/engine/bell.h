/*
 * bell.h - lets processes on the same machine wake each other.
 *
 * The native MPI cannot sleep until a message arrives; it can only poll, which on a busy machine
 * takes the processor from the very process that is being waited for. So processes on one machine
 * share memory with a bell for each of them. A process that sends a message (conduit.h) then rings
 * the receiver's bell; a process with nothing to do sleeps until its bell rings.
 */
#ifndef ENGINE_BELL_H
#define ENGINE_BELL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BELL_WORDS 7

/* Fills a cache line. */
struct bell {
    uint32_t rings;            /* counts up */
    uint32_t asleep;           /* its owner sleeps or is about to */
    uint64_t from[BELL_WORDS]; /* a bit for each process that has sent something (conduit.c) */
};

/* Where the other processes find the bells that the first one created. fd < 0: there are none. */
struct bell_address {
    int32_t pid, fd;
};

struct bells {
    struct bell *at;      /* NULL: there are none */
    uint32_t count, mine; /* processes on this machine; index of this one */
    void *room;           /* more shared memory, zeroed at first, aligned to a cache line */
    size_t room_bytes;    /* size of `room` */
};

/* Creates bells for `count` processes, and `room` bytes of shared memory for other uses. The caller
 * closes address->fd when all others have joined. */
void bells_make(struct bells *, uint32_t count, size_t room, struct bell_address *address);
/* Joins the bells that another process created, with the same arguments. Returns 0 if they cannot
 * be reached. */
int bells_join(struct bells *, uint32_t count, uint32_t mine, size_t room,
               const struct bell_address *address);
void bells_leave(struct bells *);

/* How often this process's bell has rung. Call it before looking for messages. */
static inline uint32_t bells_heard(const struct bells *b)
{
    return __atomic_load_n(&b->at[b->mine].rings, __ATOMIC_ACQUIRE);
}

/* Something has been sent to that process: wakes it if it sleeps, and only then makes a system
 * call. */
void bells_ring(struct bells *, uint32_t which);

/* Sleeps until this process's bell has rung more often than `heard`, or for ns nanoseconds. */
void bells_sleep(struct bells *, uint32_t heard, uint64_t ns);

#endif
