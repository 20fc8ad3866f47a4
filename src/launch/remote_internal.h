/*
 * remote_internal.h - what `orrery run` and the processes that join it send each other.
 *
 *     simulator                            process
 *     ------------- greeting, with a random number -------------->
 *     <- hello: who it is, a random number, a proof of the key ---
 *     ------------- answer: a proof of the key ------------------>
 *
 * on each of VP_CHANNELS connections. The key itself is never sent: the launcher hands it to the
 * processes in their environment. A proof is a hash of both random numbers and all that was said,
 * so nobody can use it again, and neither side believes one that does not know the key.
 */
#ifndef LAUNCH_REMOTE_INTERNAL_H
#define LAUNCH_REMOTE_INTERNAL_H

#include <stdint.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/siphash.h"
#include "launch/guard.h"
#include "vp/vp.h"

#define REMOTE_MAGIC 0x4f52524bu /* "ORRK" */
#define REMOTE_NONCE 16
#define REMOTE_KEY_TEXT (2 * SIPHASH_KEY) /* characters */

struct remote_greeting {
    uint32_t magic;
    unsigned char nonce[REMOTE_NONCE];
};

struct remote_hello {
    uint32_t magic;
    uint32_t page;    /* the size of struct run_page: both must be of one version */
    uint64_t process; /* a random number: which connections belong together */
    int32_t number;   /* the process's number in the eyes of the launcher, or -1 */
    int32_t channel;
    unsigned char nonce[REMOTE_NONCE];
    unsigned char proof[SIPHASH_BYTES];
};

struct remote_answer {
    unsigned char proof[SIPHASH_BYTES];
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

/* ---- remote_proof.c: both sides ---- */
/* Sets the options of a connection that is to notice the death of the other end. */
void remote_set_up(int fd);
/* The proof of the key in a hello, and in the answer to it. */
void remote_prove_hello(const unsigned char *key, const struct remote_greeting *,
                        const struct remote_hello *, unsigned char *proof);
void remote_prove_answer(const unsigned char *key, const struct remote_greeting *,
                         const struct remote_hello *, unsigned char *proof);
/* Compares two proofs, in a time that does not tell where they differ. */
int remote_is_proof(const unsigned char *a, const unsigned char *b);

/* ---- remote_listen.c ---- */
#define REMOTE_LISTENERS 32

struct remote_listeners {
    int fd[REMOTE_LISTENERS];
    unsigned count;
};

/*
 * Listens, at any port, at an address or host name, at all addresses of an interface or, if `where`
 * is "all", of this computer. If it is NULL, at what the name of this computer stands for, as
 * launchers do, or at all if that is this computer in its own eyes only. Adds " ADDRESS/PORT" for
 * each to `out`. ERR_SYSTEM if it cannot listen at any of them.
 */
int remote_listen(struct remote_listeners *, const char *where, struct buf *out, struct err *);
void remote_listen_end(struct remote_listeners *);

/* ---- remote_gather.c ---- */
struct remote_joined {
    uint64_t process;
    int32_t number;
    int fd[VP_CHANNELS]; /* -1: not yet */
};

struct remote_gathering {
    struct remote_joined *at;
    uint32_t wanted, count, complete;
    unsigned char key[SIPHASH_KEY];
    struct remote_listeners listeners;
};

/*
 * Waits until all processes have joined. Connections are served side by side; who does not prove
 * the key in time is dropped, and so is the oldest one when there are too many. Returns 0,
 * ERR_SYSTEM, or ERR_INTERNAL with *signal if a signal came meanwhile.
 */
int remote_gather(struct remote_gathering *, struct launch_guard *, int *signal, struct err *);

#endif
