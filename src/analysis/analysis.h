/*
 * analysis.h - what a trace says about a program. The result is `struct analysis`, plain values
 * that `orrery analyze`, `compare` and `report` share.
 *
 *     struct analysis a;
 *     if (analysis_run(&a, path, NULL, &err) != 0) ...
 *     if (a.warning.code) ...                         what is missing from the trace
 *     analysis_fini(&a);
 *
 * Five groups are those of Zhang, Hendry and Dechev (Tools for Enabling Automatic Validation of
 * Large-scale Parallel Application Simulations): overall, ranks and nodes, functions, phases of
 * collectives, pairs of ranks. The others go beyond: wait states, critical path, delays,
 * efficiencies, requests, overlap, links.
 *
 * Two passes read the trace. The first reads one rank after the other (profile.h), the second all
 * of them concurrently in order of time, and matches messages and collectives (causes.h). The
 * passes run concurrently. Neither keeps events: memory grows with the ranks, the pairs and the
 * phases up to the limits below, and with the messages and collectives in flight.
 *
 * All times are in seconds. Values of a group that was not requested are 0.
 */
#ifndef ANALYSIS_ANALYSIS_H
#define ANALYSIS_ANALYSIS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum analysis_group {
    ANALYSIS_OVERALL,
    ANALYSIS_RANKS,
    ANALYSIS_FUNCTIONS,
    ANALYSIS_PHASES,
    ANALYSIS_PAIRS,
    ANALYSIS_WAITS,
    ANALYSIS_PATH,
    ANALYSIS_DELAYS,
    ANALYSIS_EFFICIENCY,
    ANALYSIS_REQUESTS,
    ANALYSIS_OVERLAP,
    ANALYSIS_LINKS,
    ANALYSIS_GROUPS,
};
#define ANALYSIS_ALL ((1u << ANALYSIS_GROUPS) - 1)

/* "overall", "ranks", ..., with a description. */
struct analysis_group_name {
    const char *name, *about;
};
extern const struct analysis_group_name analysis_groups[ANALYSIS_GROUPS];

/* Wait states: why a rank waited in a call. */
enum analysis_wait {
    ANALYSIS_LATE_SENDER, /* a receive, or the wait for one: the send had not begun */
    /* as a late sender, while a message that was sent earlier was waiting for this rank */
    ANALYSIS_WRONG_ORDER,
    ANALYSIS_LATE_RECEIVER,   /* a send: the receive had not begun */
    ANALYSIS_WAIT_BARRIER,    /* a barrier: others had not entered it */
    ANALYSIS_WAIT_NXN,        /* others had not entered a collective in which all wait for all */
    ANALYSIS_LATE_BROADCAST,  /* the root had not entered a collective that sends from it */
    ANALYSIS_EARLY_REDUCE,    /* the root waits for others in a collective that sends to it */
    ANALYSIS_EARLY_SCAN,      /* ranks before this one had not entered a scan */
    ANALYSIS_LATE_NEIGHBOUR,  /* neighbours had not entered a neighbourhood collective */
    ANALYSIS_WAIT_FENCE,      /* others had not entered a fence of a window */
    ANALYSIS_LATE_POST,       /* a target had not posted its window for the access of this rank */
    ANALYSIS_EARLY_WAIT,      /* MPI_Win_wait: an origin was still accessing the window */
    ANALYSIS_LATE_COMPLETE,   /* MPI_Win_wait: an origin had made its last access */
    ANALYSIS_LOCK_CONTENTION, /* others had locked the window */
    ANALYSIS_WAIT_CREATE,   /* others had not entered a call that makes a communicator or window */
    ANALYSIS_WAIT_FREE,     /* others had not entered a call that frees one */
    ANALYSIS_WAIT_FILE,     /* others had not entered a collective access to a file */
    ANALYSIS_WAIT_FINALIZE, /* others had not entered MPI_Finalize */
    ANALYSIS_COMPLETION,    /* in a barrier or NxN collective after the first rank had left it */
    ANALYSIS_WAIT_KINDS,
};
const char *analysis_wait_name(enum analysis_wait); /* "late-sender" */

struct analysis_rank {
    int64_t node;            /* -1: not known */
    double start;            /* of a rank that was spawned: its first call, else 0 */
    double end;              /* when its last call ended, since the start of the trace */
    double compute;          /* outside MPI */
    double mpi;              /* in MPI calls: communication and file accesses */
    double file;             /* of this, in file accesses, and waiting for them alone */
    double communication;    /* the rest of it: compute + communication + file = end - start */
    double wait;             /* in blocking communication calls */
    double sent, received;   /* bytes of point-to-point messages */
    double messages;         /* sent */
    double collective_bytes; /* that it passed to collectives */
    double rma_bytes;        /* that it put, got or accumulated */
    double file_bytes;       /* that it wrote or read */
    double calls;
    double waits[ANALYSIS_WAIT_KINDS];
    double path;       /* time on the critical path */
    double delay_cost; /* waiting of other ranks that it caused directly */
    double overlapped; /* computing while non-blocking operations were in flight */
    double exposed;    /* in calls that complete such operations */
};

struct analysis_node {
    int64_t node;
    const char *name; /* "" if it has none */
    uint64_t ranks;
    double compute, mpi, communication, file, wait, sent, received, messages;
    double collective_bytes, rma_bytes, file_bytes;
};

struct analysis_function {
    const char *name;
    unsigned kind;     /* what it does: enum mpi_kind */
    const char *class; /* "communication" or "file" */
    double calls, time;
    double mean; /* time of a call */
    /* Time of a rank: mean, standard deviation, least and most across all ranks. */
    double rank_mean;
    double rank_deviation, rank_min, rank_max;
    double bytes; /* that it sent, or passed to a collective, or a file got or gave */
    double waits; /* time in wait states */
};

/* Phases of a communicator: the intervals between two of its collectives, from the end of one to
 * the start of the next. MPI_Init and MPI_Finalize count as collectives on MPI_COMM_WORLD. At most
 * ANALYSIS_PHASE_CELLS times are kept: if there are more, `merged` consecutive phases become one,
 * and their times are added up. */
struct analysis_phases {
    const char *comm; /* its name */
    uint64_t ranks;   /* that took part */
    uint64_t count;   /* phases; merged ones count as one */
    uint64_t merged;
    const uint32_t *rank; /* [ranks]: world rank of row i */
    const double *times;  /* [ranks][count]; NAN: the rank had no such phase */
    struct analysis_phase {
        double mean, deviation, min, max; /* across ranks */
        uint64_t ranks;                   /* that had it */
        const char *function;             /* that ends it, on the first of the ranks */
    } * phases;
};

/* Traffic from rank to rank. If there are more than ANALYSIS_PAIRS_MOST pairs, `width` ranks are
 * merged into one. */
struct analysis_pair {
    uint64_t from, to; /* the first of `width` ranks */
    double messages, bytes;
    double time; /* of all messages, from the start of the send until the receive is complete */
};
struct analysis_node_pair {
    int64_t from, to;
    double messages, bytes, time;
};

/* A part of the program: computing or a function, in a region or at a call site. */
struct analysis_place {
    const char *region;    /* innermost user region; "" if there is none */
    const char *function;  /* "MPI_Send" */
    const char *site;      /* call site; "" if the trace has none */
    int is_compute;        /* the computing before that call, not the call itself */
    int is_file;           /* that call accesses a file */
    double path;           /* time on the critical path */
    double delay_direct;   /* the waiting of ranks for one that this made late */
    double delay_indirect; /* the waiting that followed from that waiting, and so on */
    double waits[ANALYSIS_WAIT_KINDS];
};

/* The efficiencies of the POP project, with a factor for file accesses. Each is between 0 and 1;
 * products are exact. */
struct analysis_efficiency {
    double parallel;      /* mean compute / run time = load_balance x communication x file */
    double load_balance;  /* mean / maximum compute time */
    double communication; /* serialisation x transfer */
    double serialisation; /* maximum compute time / ideal run time without files */
    double transfer;      /* ideal run time / run time */
    double file;          /* ideal run time without files / ideal run time */
    /* run time with no latency, infinite bandwidth, and calls that cost nothing but file accesses,
     * and with file accesses that cost nothing either */
    double ideal, ideal_without_files;
};

/* The links of the machine that was simulated, and what they carried over time. */
struct analysis_link {
    const char *name; /* "n0-s3"; of parallel cables "n0-s3#1", ... */
    size_t from, to;  /* numbers in `vertex` */
    double rate;      /* bytes per second; may be infinite */
    double bytes;
    const double *bins; /* bytes in each bin; NULL: it carried nothing */
};
struct analysis_links {
    const char *kind;              /* of the topology; NULL: not known */
    uint64_t nodes, vertices, all; /* nodes, nodes and switches, links; also those not listed */
    double interval;               /* seconds of a bin */
    double begin;                  /* of the first bin, in seconds of the trace's clock */
    size_t bins;
    struct analysis_link *link; /* most bytes first, then by name */
    size_t count, used;         /* used: those that carried something */
    struct analysis_vertex {
        uint64_t number; /* nodes come before switches */
        double x, y;
    } * vertex;
    size_t vertex_count;
    struct analysis_vector { /* values over time */
        const char *name;    /* "queue.s0-n3" */
        int is_time;         /* values are seconds, else bytes */
        size_t count;
        const double *rows; /* time in seconds of the trace's clock, least and greatest value */
        double most;        /* of all */
    } * vector;             /* by kind (the name up to a dot), of each the greatest first */
    size_t vector_count;
};

#define ANALYSIS_TESTS_BINS 24

struct analysis {
    /* the trace */
    char *source;             /* its path */
    char *program, *recorder; /* "" if not known */
    uint64_t ranks, nodes;    /* nodes: 0 if not known */
    uint64_t events;          /* records that were read */
    double lost;              /* records that the recorder could not write */
    unsigned groups;          /* bits by enum analysis_group */
    struct err warning;       /* code 0: the trace is whole */

    /* overall: sums of all ranks */
    double begin;   /* when the first call began, in seconds of the trace's clock */
    double runtime; /* from the start of the first call to the end of the last */
    double compute, mpi, communication, file, wait, sent, received, messages, calls;
    double collective_bytes, rma_bytes, file_bytes;
    double bandwidth; /* bytes sent, by any call, per second in MPI calls */
    double waits[ANALYSIS_WAIT_KINDS];
    uint64_t wait_counts[ANALYSIS_WAIT_KINDS];
    double unmatched_sends, unmatched_receives; /* messages of which the trace has only one side */

    struct analysis_rank *rank; /* [ranks] */
    struct analysis_node *node; /* [nodes] */
    struct analysis_function *function;
    size_t function_count;
    struct analysis_phases *phases; /* by communicator */
    size_t phases_count;
    uint64_t phases_left_out;   /* communicators beyond ANALYSIS_PHASE_COMMS */
    struct analysis_pair *pair; /* in order of from, to */
    size_t pair_count;
    uint64_t pair_width;
    struct analysis_node_pair *node_pair;
    size_t node_pair_count;
    struct analysis_place *place;
    size_t place_count;
    struct analysis_efficiency efficiency;
    struct analysis_links links;

    /* the critical path, whose length is the run time */
    double path_compute, path_mpi;
    double path_file;   /* of path_mpi */
    uint64_t path_hops; /* from rank to rank */
    /* delays: waiting with a known cause, and without */
    double delay_known, delay_unknown;

    /* requests, and how many tests they needed */
    double requests;                     /* that were completed */
    double tested;                       /* of these, by a test */
    double tests_failed;                 /* tests that found nothing complete */
    uint64_t tests[ANALYSIS_TESTS_BINS]; /* requests by tests needed: 1, 2-3, 4-7, ... */
    /* overlap: sums of all ranks */
    double overlapped, exposed;

    struct analysis_memory *memory; /* of names */
};

#define ANALYSIS_PHASE_CELLS ((size_t)8 << 20) /* of one communicator: 64 MiB */
#define ANALYSIS_PHASE_COMMS 1024
#define ANALYSIS_PAIRS_MOST ((size_t)4 << 20) /* 200 MiB */

/* Called for single messages and waits when they are found, by one thread, in order of time. Times
 * are ticks of the trace. */
struct analysis_watch {
    void *context; /* functions may be NULL */
    /* A message: when its send began, and when the call that received it ended. */
    void (*message)(void *context, uint32_t from, uint32_t to, int64_t sent, int64_t received);
    /* A rank has waited for another until `time`: its critical path continues from that one. */
    void (*hop)(void *context, uint32_t rank, uint32_t other, int64_t time);
    /* `message` with its bytes. */
    void (*transfer)(void *context, uint32_t from, uint32_t to, uint64_t bytes, int64_t sent,
                     int64_t received);
};

struct analysis_options {
    const char *name;   /* of the trace in the result; NULL: its path */
    unsigned groups;    /* 0: all */
    unsigned threads;   /* 0: as many as are useful, which is two; 1: one pass after the other */
    size_t phase_cells; /* 0: ANALYSIS_PHASE_CELLS */
    size_t pairs_most;  /* 0: ANALYSIS_PAIRS_MOST */
    const struct analysis_watch *watch; /* or NULL */
};

/*
 * Analyses a trace. Options may be NULL. If a trace is cut off or damaged, its undamaged part is
 * analysed, and a->warning says so. ERR_INPUT if it is not a trace; `a` is not initialised then.
 */
int analysis_run(struct analysis *a, const char *path, const struct analysis_options *,
                 struct err *);
void analysis_fini(struct analysis *a);

#endif
