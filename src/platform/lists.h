/*
 * lists.h - the lists of a platform file: things that a machine has any number of.
 *
 * Each kind of item has a table of its fields (lists.c), like the settings. Items are plain values
 * without pointers, so that a machine can be passed from process to process as bytes.
 */
#ifndef PLATFORM_LISTS_H
#define PLATFORM_LISTS_H

#include "platform/config.h"

/* net.segments, net.intra.segments: a piece of the cost curve, for messages of `from` bytes up to
 * the next piece. Fields that are not given (VTIME_NEVER, NAN) have the value for the whole
 * machine. */
struct platform_segment {
    uint64_t from;
    vtime latency;
    double bandwidth;
    vtime send_overhead, recv_overhead;
    vtime send_per_kib, recv_per_kib;
};

/* nodes.groups: nodes that differ. Later groups take precedence. */
struct platform_group {
    uint32_t first, last;               /* nodes, both included */
    double speed;                       /* NAN: as nodes.speed */
    vtime noise_period, noise_duration; /* VTIME_NEVER: as nodes.noise_* */
};

/* nodes.sharing: how much longer computing takes when `busy` ranks of a node compute. */
struct platform_sharing {
    uint64_t busy;                      /* ranks of the node, at least 1 */
    double in_cache, streaming, random; /* factors, by what the program does most */
};

/* net.links: links that differ from what the topology says, from a time on. */
struct platform_link {
    char from[PLATFORM_NAME_MAX], to[PLATFORM_NAME_MAX]; /* vertices: n12 is a node, s3 a switch */
    double bandwidth;                                    /* NAN: as it was */
    double bandwidth_factor;                             /* 0: the link is down */
    vtime latency;                                       /* VTIME_NEVER: as it was */
    double error_rate;                                   /* NAN: as it was */
    uint64_t mtu;                                        /* UINT64_MAX: as it was */
    vtime at;
    uint8_t both; /* the other direction, too */
};

/* net.packet.connections: connections whose options differ. Later items take precedence. */
struct platform_connection {
    uint32_t from_first, from_last, to_first, to_last;      /* nodes, all included */
    uint64_t send_buffer, receive_buffer, initial_window;   /* UINT64_MAX: as net.packet.* */
    vtime min_rto, first_rto, delayed_ack;                  /* VTIME_NEVER: likewise */
    char congestion[PLATFORM_NAME_MAX];                     /* empty: likewise */
    char sack[PLATFORM_NAME_MAX], nagle[PLATFORM_NAME_MAX]; /* "true", "false" or empty */
    uint8_t both;                                           /* those from `to` to `from`, too */
    vtime at;                                               /* from this time on */
};

/* net.packet.background: packets of others, at a rate. */
struct platform_background {
    uint32_t from, to; /* nodes */
    double rate;       /* bits per second, with framing */
    uint64_t size;     /* of a packet, without framing; more than an MTU is cut to it */
    vtime at, until;
};

/* mpi.algorithms: which algorithm a collective uses. Later rules take precedence. */
struct platform_rule {
    char op[PLATFORM_NAME_MAX], algorithm[PLATFORM_NAME_MAX];
    uint64_t from, to;             /* bytes, both included */
    uint64_t ranks_from, ranks_to; /* size of the communicator, both included */
};

enum platform_list_kind {
    PLATFORM_SEGMENTS = 0,
    PLATFORM_INTRA_SEGMENTS,
    PLATFORM_GROUPS,
    PLATFORM_SHARING,
    PLATFORM_LINKS,
    PLATFORM_CONNECTIONS,
    PLATFORM_BACKGROUND,
    PLATFORM_RULES,
    PLATFORM_MAP,   /* nodes.map: uint32_t, the node of each rank (placement list) */
    PLATFORM_NOISE, /* read from nodes.noise_file: struct platform_noise */
    PLATFORM_EDGES, /* read from net.topology.file: struct platform_edge */
    PLATFORM_LISTS
};

/* One interruption of recorded noise; the record repeats. */
struct platform_noise {
    vtime start, duration;
};

#define PLATFORM_SWITCH 0x80000000u /* set in the number of a vertex: it is a switch, not a node */

/* A link of a graph, in one direction. */
struct platform_edge {
    uint32_t from, to; /* vertices: n12 is 12, s3 is 3 | PLATFORM_SWITCH */
    double bandwidth;  /* NAN: as for links of its kind */
    vtime latency;     /* VTIME_NEVER: as for links of its kind */
    double error_rate; /* NAN: as net.packet.error_rate */
    uint64_t mtu;      /* UINT64_MAX: as net.packet.mtu */
};

struct platform_list {
    void *items; /* of the kind's type; NULL: none */
    size_t count;
};

/* A whole machine. */
struct platform {
    struct platform_config config;
    struct platform_list lists[PLATFORM_LISTS];
    uint64_t later; /* ranks that may be spawned, for which no nodes are reserved */
    int rewinds;    /* a rank may continue at an earlier time than that of decisions it has taken */
};

/* A machine with all defaults and no items. */
void platform_init(struct platform *);
void platform_fini(struct platform *);
/* Initialises `to`, ignoring its old content. */
void platform_copy(struct platform *to, const struct platform *from);
/* Are both equal to the last bit? */
int platform_equal(const struct platform *, const struct platform *);

/*
 * Applies "key=value,key=value", where a key is a setting, or
 *
 *     net.segments=              empties a list
 *     net.segments[2].latency    a field of an item; -1 is the last
 *     net.segments[+].from       a field of a new item after the last
 *     nodes.map="0 0 1 1"        all of a list of plain values; nodes.map[2] is one of them
 *
 * On error nothing from the bad item on is applied; err names the key or value, and what is
 * allowed. Records what was given in `origins` (origins.h), which may be NULL.
 */
struct platform_origins;
int platform_set(struct platform *, const char *assignments, struct platform_origins *origins,
                 struct err *);

/* Checks what involves several values: required fields, the order of pieces, fractions of a
 * whole. */
int platform_check(const struct platform *, struct err *);

/* Appends `more` items with all defaults; returns the first of them, borrowed until the list
 * changes. */
void *platform_list_extend(struct platform *, enum platform_list_kind, size_t more);
/* Removes all items from `count` on. */
void platform_list_cut(struct platform *, enum platform_list_kind, size_t count);

/* The name of a list; NULL if it is read from a file that a setting names. Static. */
const char *platform_list_key(enum platform_list_kind);

/* The description of a list. Static. */
const char *platform_list_text(enum platform_list_kind);

/* Stores the names that a wrong one may have meant, quoted, in `list`; returns 0 if none is
 * near. */
int platform_suggest(const char *name, char *list, size_t size);

/* Help text for the fields of one list, or of all: name as for platform_set, default,
 * description. */
void platform_list_help(enum platform_list_kind, struct buf *out);
void platform_lists_help(struct buf *out);

/*
 * Converts a machine to bytes, for a process of the same Orrery on the same kind of machine, and
 * back. The view's lists are borrowed from the bytes (at a multiple of 8); it must not be changed
 * and needs no fini. ERR_INPUT: the bytes are not a machine.
 */
void platform_pack(const struct platform *, struct buf *out);
int platform_unpack(struct platform *view, const void *bytes, size_t size, struct err *);

static inline const struct platform_segment *platform_segments(const struct platform *p, int intra,
                                                               size_t *count)
{
    const struct platform_list *l = &p->lists[intra ? PLATFORM_INTRA_SEGMENTS : PLATFORM_SEGMENTS];

    *count = l->count;
    return l->items;
}

#endif
