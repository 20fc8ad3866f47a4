/*
 * lane.h - messages between processes on the same machine, through shared memory.
 *
 * Each pair of processes has a lane in each direction, a ring of bytes with one writer and one
 * reader:
 *
 *     | struct lane: written, read | ... head data head data he|
 *                                      ^ read           ^ written
 *
 * A message is a head (length, tag) and its data. What does not fit waits at the sender, which
 * continues with it every time it looks for messages; the reader reassembles it. So a message may
 * have any length, and messages of a pair keep their order. Sending takes no system call unless the
 * receiver sleeps.
 *
 * A bit in the receiver's bell (bell.h) says who has written, so a look that finds nothing costs
 * one load.
 */
#ifndef ENGINE_LANE_H
#define ENGINE_LANE_H

#include "engine/bell.h"

struct lane;

/* A message, or the rest of it, that waits for room. */
struct lane_item {
    struct lane_item *next;
    void *data; /* from native_alloc */
    uint64_t bytes, sent;
    int tag, has_head; /* whether whether its head is in the lane already already */
};

struct lane_out {
    struct lane *lane;
    uint64_t written, read; /* as last read */
    struct lane_item *first, **last;
};

struct lane_in {
    struct lane *lane;
    uint64_t read;
    void *data; /* the message being received, or NULL */
    uint64_t bytes, got;
    int tag;
};

/* Use the functions. Processes are identified by the index of their bell. */
struct lanes {
    struct bells bells; /* at NULL: there are none */
    uint32_t capacity;  /* of a lane, in bytes */
    struct lane_in *in;
    struct lane_out *out;
    uint64_t todo[BELL_WORDS]; /* processes that may have written something not yet looked at */
    uint32_t heard;            /* rings of this process's bell handled so far */
    uint32_t waiting;          /* lanes with messages that wait */
};

/* As bells_make and bells_join, for the lanes and their bells. */
void lanes_make(struct lanes *, uint32_t count, struct bell_address *address);
int lanes_join(struct lanes *, uint32_t count, uint32_t mine, const struct bell_address *address);
/* What waits is lost. */
void lanes_leave(struct lanes *);

/* Sends the bytes at data, which is from native_alloc; the lanes take ownership. Not to itself. */
void lanes_send(struct lanes *, uint32_t to, int tag, void *data, size_t bytes);
/* Takes the next message, if there is one: returns 1 with data that the caller must native_free. */
int lanes_recv(struct lanes *, uint32_t *from, int *tag, void **data, size_t *bytes);
/* Continues with messages that wait; returns whether any still does. */
int lanes_push(struct lanes *);
/* Shows a word to the other processes; the word that a process shows, at first 0. */
void lanes_show(struct lanes *, uint64_t word);
uint64_t lanes_shown(const struct lanes *, uint32_t which);
/* After a look that found nothing: sleeps for ns nanoseconds, or until something may have
 * arrived. */
void lanes_sleep(struct lanes *, uint64_t ns);

#endif
