/*
 * conduit.h - messages between processes on the same machine, through shared memory.
 *
 * Each pair of processes has a conduit in each direction, a ring of bytes with one writer and one
 * reader:
 *
 *     | struct conduit: written, read | ... head data head data he|
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
#ifndef ENGINE_CONDUIT_H
#define ENGINE_CONDUIT_H

#include "engine/bell.h"

struct conduit;

/* A message, or the rest of it, that waits for room. */
struct conduit_item {
    struct conduit_item *next;
    void *data; /* from proc_link_alloc */
    uint64_t bytes, sent;
    int tag, has_head; /* whether its head is in the conduit */
};

struct conduit_out {
    struct conduit *conduit;
    uint64_t written, read; /* as last read */
    struct conduit_item *first, **last;
};

struct conduit_in {
    struct conduit *conduit;
    uint64_t read;
    void *data; /* the message being received, or NULL */
    uint64_t bytes, got;
    int tag;
};

/* Use the functions. Processes are identified by the index of their bell. */
struct conduits {
    struct bells bells; /* at NULL: there are none */
    uint32_t capacity;  /* of a conduit, in bytes */
    struct conduit_in *in;
    struct conduit_out *out;
    uint64_t todo[BELL_WORDS]; /* processes that may have written something not yet looked at */
    uint32_t heard;            /* how often its bell had rung at the last look */
    uint32_t waiting;          /* conduits with messages that wait */
};

/* As bells_make and bells_join, for the conduits and their bells. */
void conduits_make(struct conduits *, uint32_t count, struct bell_address *address);
int conduits_join(struct conduits *, uint32_t count, uint32_t mine,
                  const struct bell_address *address);
/* What waits is lost. */
void conduits_leave(struct conduits *);

/* Sends the bytes at data, which is from proc_link_alloc; the conduits take ownership. Not to
 * itself. */
void conduits_send(struct conduits *, uint32_t to, int tag, void *data, size_t bytes);
/* Takes the next message, if there is one: returns 1 with data that the caller must proc_link_free.
 * */
int conduits_recv(struct conduits *, uint32_t *from, int *tag, void **data, size_t *bytes);
/* Continues with messages that wait; returns whether any still does. */
int conduits_push(struct conduits *);
/* Shows a word to the other processes; the word that a process shows, at first 0. */
void conduits_show(struct conduits *, uint64_t word);
uint64_t conduits_shown(const struct conduits *, uint32_t which);
/* After a look that found nothing: sleeps for ns nanoseconds, or until something may have
 * arrived. */
void conduits_sleep(struct conduits *, uint64_t ns);

#endif
