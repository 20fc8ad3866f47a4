/*
 * lane.h - messages between processes of one machine, through memory that they share.
 *
 * Each pair of processes has a lane in either direction, a ring of bytes with one writer and one reader:
 *
 *     | struct lane: written, read | ... head data head data he|
 *                                      ^ read           ^ written
 *
 * A message is its head (length, tag) and its data. What does not fit waits at the sender, which goes on
 * with it at every look for messages, and the reader puts it together: so there is no limit on a message's
 * length, and messages of a pair keep their order. To send takes no system call, unless the receiver sleeps.
 *
 * A bit in the receiver's bell (bell.h) says who has written, so that a look in vain costs one load.
 */
#ifndef ENGINE_LANE_H
#define ENGINE_LANE_H

#include "engine/bell.h"

struct lane;

/* A message that waits, or the rest of it. */
struct lane_item {
    struct lane_item *next;
    void *data; /* from native_alloc */
    uint64_t bytes, sent;
    int tag, has_head; /* its head is in the lane */
};

struct lane_out {
    struct lane *lane;
    uint64_t written, read; /* as of the last look */
    struct lane_item *first, **last;
};

struct lane_in {
    struct lane *lane;
    uint64_t read;
    void *data; /* the message that is coming, or NULL */
    uint64_t bytes, got;
    int tag;
};

/* Use the functions. Processes are named by their bells. */
struct lanes {
    struct bells bells; /* at NULL: there are none */
    uint32_t capacity;  /* of a lane, in bytes */
    struct lane_in *in;
    struct lane_out *out;
    uint64_t todo[BELL_WORDS]; /* who may have written something that was not looked at */
    uint32_t heard;            /* rings of the own bell that were */
    uint32_t waiting;          /* lanes with items that wait */
};

/* As bells_make and bells_join. */
void lanes_make(struct lanes *, uint32_t count, struct bell_address *address);
int lanes_join(struct lanes *, uint32_t count, uint32_t mine, const struct bell_address *address);
/* What waits is lost. */
void lanes_leave(struct lanes *);

/* Sends bytes at data, from native_alloc, which becomes the lanes'. Not to itself. */
void lanes_send(struct lanes *, uint32_t to, int tag, void *data, size_t bytes);
/* Takes the next message, if there is one: returns 1 with data of the caller's to native_free. */
int lanes_recv(struct lanes *, uint32_t *from, int *tag, void **data, size_t *bytes);
/* Goes on with what waits; returns whether something still does. */
int lanes_push(struct lanes *);
/* After a look in vain: sleeps for ns nanoseconds, or until something may have come. */
void lanes_sleep(struct lanes *, uint64_t ns);

#endif
