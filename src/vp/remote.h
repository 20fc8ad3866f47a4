/*
 * remote.h - ranks whose processes are on other computers, or are of another program.
 *
 * Such a process was started as the simulator's own was: the same files, arguments and environment,
 * and no address space randomisation. So when it comes to the point at which the simulator forks
 * the zygote, all that is private has the same addresses (remote_check.c), and it can become a rank
 * as a child of the zygote can. It lacks only the memory that processes share. A *proxy*, the child
 * of the zygote in its place, gives it that, and has its turns:
 *
 *     scheduler, other ranks == turns, shared memory == proxy -- TCP -- process of the rank
 *
 * A process of another program, on this computer or another one, has other private data, elsewhere.
 * That is no matter: all that depends on the program is private (VP_OWN), and what processes share,
 * this library and the memory, has addresses that do not depend on it (ARENA_AT).
 *
 * Only who has the turn changes shared memory. So it is enough that the process has the right
 * content while it has the turn. It has some pages; the proxy knows which, and keeps a copy of each
 * as the process has it. With the turn it sends the words that differ from the copies. With the
 * turn back come the words that the process has changed. A page that the process touches and does
 * not have is fetched. Words, not pages, are sent: processes without the turn may change words that
 * concern nobody else.
 *
 *     channel    the process sends                 the proxy sends
 *     MAIN       what it does with its turn        the turn
 *     HELPER     the same for its helper           the same
 *     PAGES      which pages it needs              pages
 *     CLOCK      (for the layer above: vp_hooks)
 *     STATUS     how it has ended (as from wait), by who has started it
 *
 *     remote.c        the process: its host, and what happens when it touches a page
 *     proxy.c         the proxy
 *     remote_pages.c  which pages the process has, and differences
 *     remote_wire.c   messages
 *     remote_check.c  whether both have the same addresses
 */
#ifndef VP_REMOTE_H
#define VP_REMOTE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "vp/process.h"

enum remote_channel { REMOTE_MAIN, REMOTE_HELPER, REMOTE_PAGES, REMOTE_CLOCK, REMOTE_STATUS };
_Static_assert(REMOTE_STATUS == VP_CHANNEL_STATUS, "the last one");

enum remote_op {
    REMOTE_HELLO = 1, /* the process is there; its computer, and what is where follow */
    REMOTE_TURN,      /* the turn, and changes; the argument of the first is the process */
    REMOTE_COME_BACK, /* needs the turn; what it has changed without it follows */
    /* These give the turn back, with changes. */
    REMOTE_GO_OUT,  /* the process continues without it */
    REMOTE_SUSPEND, /* it waits for the next turn */
    REMOTE_CALL,    /* it waits, and lets the scheduler call a function before that */
    REMOTE_END,     /* it has ended */
    REMOTE_LEAVE,   /* it lets the scheduler end the run */
    REMOTE_HELP,    /* from now on it has a helper */
    REMOTE_FETCH,   /* needs pages: the first one, how many */
    REMOTE_GOT,     /* pages: a byte for each, 0 if it is all zero; then the others */
};

struct remote_head {
    uint32_t op;
    uint32_t count; /* pages */
    uint64_t arg;   /* an address, the same in all processes */
    uint64_t bytes; /* that follow */
};

/* Changed words, which follow; none: the process does not have this page any more. */
struct remote_run {
    char *at;
    uint64_t bytes;
};

/* Bytes that grow, in memory that is private to the process. Does not use malloc: signal handlers
 * need it. */
struct remote_bytes {
    char *data;
    size_t len, room;
};

/* ---- remote_wire.c: 0, or -1 if the connection is lost ---- */
int remote_send(int fd, struct remote_head, const struct remote_bytes *);
int remote_receive(int fd, struct remote_head *, struct remote_bytes *);
/* Makes room for more bytes and counts them; returns where they begin. */
char *remote_extend(struct remote_bytes *, size_t bytes);
void *remote_map(size_t bytes);

/* ---- remote_pages.c ---- */
#define REMOTE_PAGE ((size_t)4096)
#define REMOTE_WORD 8
#define REMOTE_REGIONS 8

/* Memory that processes share. */
struct remote_region {
    char *start, *end;
    char *view;      /* where it can be read and written, whatever the process has */
    uint32_t *slots; /* of each page: its number + 1; 0: the process does not have it */
};

/* A page that the process has. */
struct remote_slot {
    char *page;    /* NULL: not in use */
    uint32_t used; /* the turn in which it last changed */
    uint32_t is_writable;
};

struct remote_pages {
    struct remote_region regions[REMOTE_REGIONS];
    unsigned region_count;
    struct remote_slot *slots;
    char *copies;           /* of each slot: what both have agreed on */
    uint32_t top, in_use;   /* slots up to which there are any, and how many */
    uint32_t *free, spares; /* slots below `top` that are not in use */
    uint32_t turn;
};

/* Finds all memory that this process shares with others. */
void remote_pages_open(struct remote_pages *);
struct remote_region *remote_region_of(struct remote_pages *, const char *at);
struct remote_slot *remote_find(struct remote_pages *, const char *page);
struct remote_slot *remote_add(struct remote_pages *, char *page);
void remote_remove(struct remote_pages *, struct remote_slot *);
char *remote_copy(struct remote_pages *, const struct remote_slot *);
char *remote_view(struct remote_pages *, const char *at);
/* Adds what has changed since the copy was made, and changes the copy, too. */
void remote_add_changes(struct remote_pages *, struct remote_slot *, struct remote_bytes *);
void remote_add_drop(struct remote_slot *, struct remote_bytes *);
/* Carries out changes. `drop` is called for pages that are to go. */
void remote_apply(struct remote_pages *, const struct remote_bytes *,
                  void (*drop)(struct remote_pages *, struct remote_slot *));

/* ---- remote_check.c ---- */
/* The name of this computer, a newline, and a line for everything that must be the same. */
void remote_describe(struct remote_bytes *);
/* Compares the description of a process with that of this one; fills `why` if they differ. A
 * process of another program must have the same library and shared memory only. */
int remote_agrees(const struct remote_bytes *theirs, int is_other, char *why, size_t n);

/* ---- remote.c ---- */
/* Becomes a rank: its process, when it has its first turn. */
struct vp_process *vp_remote_attach(int fd, int is_other);
/* Fetches the page, or makes it writable. 0: it is no page of the others. Signal handler. */
int vp_remote_fault(const void *at, int is_write);
/* As sigaction, for the program's handler of SIGSEGV: what it gets are faults of its own. The
 * second calls it, and returns 0 if there is none. */
void vp_remote_action(const struct sigaction *, struct sigaction *old);
int vp_remote_handles(int sig, siginfo_t *, void *context);

/* ---- proxy.c ---- */
_Noreturn void vp_proxy_main(struct vp_process *, int fd);

#endif
