/*
 * remote_internal.h - what `orrery run` and the processes that join it send each other.
 */
#ifndef CLI_REMOTE_INTERNAL_H
#define CLI_REMOTE_INTERNAL_H

#include <stdint.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "base/err.h"
#include "vp/vp.h"

#define REMOTE_MAGIC 0x4f52524au /* "ORRJ" */
#define REMOTE_KEY 16            /* bytes */
#define REMOTE_KEY_TEXT (2 * REMOTE_KEY + 1)

/* On each connection from the process; the answer is the same. */
struct remote_hello {
    uint32_t magic;
    uint32_t page; /* the size of struct run_page: both must be of one version */
    char key[REMOTE_KEY_TEXT];
    uint64_t process; /* a random number: which connections belong together */
    int32_t number;   /* the process's number in the eyes of the launcher, or -1 */
    int32_t channel;
};

/* Then, on the first connection, to the process. Text follows: the parts, one after another, each
 * ended by a zero: folder, libraries, program; arguments; environment. Then the options, then the
 * machine. */
struct remote_task {
    uint32_t magic;
    uint32_t arguments, variables; /* how many */
    int32_t page_fd;
    uint64_t text, options, machine; /* bytes */
    struct rlimit stack;             /* where memory is depends on it */
};

/* Sets the options of a connection that is to notice the death of the other end. */
void remote_set_up(int fd);
/* 0, or -1 if the connection is lost or silent. */
int remote_read(int fd, void *data, size_t bytes);

#endif
