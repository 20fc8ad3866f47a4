/*
 * messages.h - messages for the timeline: all of them, or a fair sample if there are many. Whether
 * a message is in the sample depends on its number alone, so the same trace gives the same report.
 *
 *     block      varint number of messages; then four columns of varints, each after a varint with
 *                its number of bytes: time of sending since that of the message before; zigzag time
 *                until it was received; zigzag source minus that of the message before; zigzag
 *                destination minus source
 */
#ifndef REPORT_MESSAGES_H
#define REPORT_MESSAGES_H

#include <stdint.h>

#include "base/json.h"
#include "report/chunk.h"

#define MESSAGES_MOST ((size_t)1 << 19)
#define MESSAGES_BLOCK 16384

struct message {
    uint32_t source, destination; /* ranks */
    int64_t sent, received;       /* start of the send, end of the receive, in ticks */
};

struct messages {
    struct message *kept;
    size_t count, room, most;
    uint64_t all;
    unsigned halvings; /* one in 2^halvings is kept */
};

/* Keeps at most `most`. */
void messages_init(struct messages *, size_t most);
void messages_fini(struct messages *);
void messages_add(struct messages *, const struct message *);

/* Writes the member "messages" of an open object: an array of blocks in order of time. `unit` is in
 * ticks. Sorts the messages. */
void messages_write(struct messages *, int64_t unit, struct chunks *, struct json *);

#endif
