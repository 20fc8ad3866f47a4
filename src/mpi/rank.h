/*
 * rank.h - one virtual MPI rank, and the world of all ranks of this process.
 *
 * struct mpi_rank is 128 bytes: at 10^8 ranks every byte counts. What only some ranks need hangs
 * off `ext`. All of it is touched only in the rank's own context (engine_entity excepted, which
 * the engine also touches).
 *
 * struct mpi_world is the one instance per process: the library *is* the process. Handles
 * (communicators, groups, datatypes, operations, requests) index process-wide tables shared by all
 * ranks, so that a million ranks that create the same thing share one object.
 */
#ifndef MPI_RANK_H
#define MPI_RANK_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/pool.h"
#include "base/ticks.h"
#include "engine/engine.h"
#include "engine/medium.h"
#include "engine/output.h"
#include "mpi_fn.h"
#include "net/net.h"
#include "platform/lists.h"
#include "run/run.h"
#include "vp/vp.h"
#include "mpi_abi.h"

struct mpi_req;
struct mpi_msg;
struct mpi_ext;
struct mpi_stats;
struct mpi_observer;
struct mpi_above;

enum mpi_phase { MPI_PHASE_BEFORE = 0, MPI_PHASE_ACTIVE, MPI_PHASE_FINALIZED };

/* What a rank sent to one peer. The first peer lies in the rank, others in a table (stats.c). */
struct mpi_pair {
    uint32_t dst;
    uint32_t messages; /* 0: unused */
    uint64_t bytes;
};

struct mpi_rank {
    struct engine_entity ent; /* 32 */
    struct vp_rank vp;        /* 32 */
    struct mpi_req *posted;   /* posted receives, oldest first: tail of a circular list */
    struct mpi_msg *early;    /* messages nobody has asked for yet, in arrival order: tail */
    struct mpi_ext *ext;      /* NULL until needed */
    struct mpi_pair pair;     /* the first peer */
    struct mpi_pair *pairs;   /* the others, in the order they were met, or NULL */
    uint32_t pair_count;      /* how many */
    uint32_t pair_next : 31;  /* which of them is likely to be next; pair_count: unknown */
    uint32_t pair_missed : 1; /* the last one was another */
    uint16_t fn;              /* enum mpi_fn of the call it is in */
    uint8_t phase;            /* enum mpi_phase */
    uint8_t thread_level : 7;
    uint8_t sends_apart : 1; /* messages may leave that the program does not send (send.c) */
    uint32_t early_count;
};
_Static_assert(sizeof(struct mpi_rank) == 128, "a rank is 128 bytes");

/* What messages cost in real programs, beyond what a ping-pong shows. All 0 on most machines. */
struct mpi_costs {
    int varies;   /* overheads depend on the message: on its size or its peer */
    int receives; /* it matters how a message is received: expected or not, among how many */
    int requests; /* requests cost time, or are to be counted */
    int charges;  /* receiving costs time */
    vtime unexpected, request, match, peer;
    uint64_t unexpected_per_byte; /* 44.20 */
    uint64_t matched[2]; /* if `receives`: messages that came before their receive, and others */
};

#define MPI_OBSERVERS_MAX 8

struct mpi_world {
    struct engine engine;
    struct platform machine;
    struct net net;
    struct device device;        /* that sends messages */
    struct engine_medium medium; /* the network, if it has contention and is here */
    struct output output;
    struct run_page *page;
    const struct run_options *opt;
    const char *programs;   /* all of them with their arguments, or NULL: there is one */
    struct mpi_rank *ranks; /* of this process */
    void (*prefetch)(const struct mpi_rank *); /* observer.h; NULL: there is nothing to prefetch */
    uint32_t size;     /* ranks that the run starts with, over all processes */
    uint32_t room;     /* world ranks are below this: `size` and those that may be spawned */
    int has_spawned;   /* some ranks here have an MPI_COMM_WORLD of their own (dynamic/spawn.h) */
    uint32_t observed; /* events that observers want (observer.h) */
    /* Calls do more than count: `measured`, `shared`, `observed`, or there may be threads. */
    int attentive;
    int measured; /* slices take time */
    int plain;    /* no call asks the processor model: it is the plain one, without noise */
    uint64_t (*slice_clock)(void); /* what counts ticks; NULL: ticks_now */
    uint64_t slice_start;          /* host ticks when program code last began to run */
    double ps_per_tick;            /* host ticks to virtual picoseconds, speed included */
    vtime send_overhead, recv_overhead, test_cost, clock_cost;
    struct mpi_costs costs; /* further costs of messages (p2p/costs.c) */
    uint64_t eager_limit;
    int hollow;         /* the program's buffers of messages and collectives count as hollow */
    int checking;       /* compare what ranks do with each other (verify.h) */
    int plain_messages; /* messages bear nothing for checks or observers */
    int plain_sends;    /* messages are plain, and small ones go by device_uniform.h */
    int sends_apart;    /* for all ranks: as in struct mpi_rank */
    uint64_t try_below; /* a standard send of fewer bytes is complete at once */
    int own_requests;   /* no two sends share a request */
    uint32_t (*sent_number)(struct mpi_rank *); /* observer.h; NULL: no two handles need differ */
    int may_cancel;                             /* the program calls MPI_Cancel */
    int binds;            /* sources of receives from any are chosen outside (p2p/bind.h) */
    uint64_t handled;     /* messages handled and decisions taken, for threads that wait for any */
    int free_collectives; /* collectives cost what a model says: their messages are free */
    int shared;           /* there are other processes */
    int paced;            /* ranks run at the same time, in real time (main/emulate.h) */
    int parking;          /* the run was aborted: ranks beyond that time need not continue */
    struct pool pool;     /* requests, exts and other small objects */
    const struct mpi_above *above; /* what lower subfolders need from higher ones (above.h) */
    struct mpi_stats *stats;
    unsigned frequent; /* enum mpi_frequent that observers want */
    uint32_t observer_count;
    const struct mpi_observer *observers[MPI_OBSERVERS_MAX];
};
extern struct mpi_world mpi_world;

/* Which of the running rank's strands runs (p2p/strand.h); NULL: its program. */
extern struct mpi_strand *mpi_strand_current;

/* A condition that a thread waits for; it may change when messages are handled and decisions
 * taken. */
typedef int mpi_holds(struct mpi_rank *self, const void *arg);

static inline struct mpi_rank *mpi_rank_of(struct vp_rank *f)
{
    return (struct mpi_rank *)((char *)f - offsetof(struct mpi_rank, vp));
}
/* The running rank, NULL in scheduler context. */
static inline struct mpi_rank *mpi_self(void)
{
    struct vp_rank *f = vp_current();

    return f ? mpi_rank_of(f) : NULL;
}
static inline const struct rank_map *mpi_rank_map(void)
{
    return engine_map(&mpi_world.engine);
}
/* Index among the ranks of this process: how the engine names it. */
static inline uint32_t mpi_rank_index(const struct mpi_rank *r)
{
    return (uint32_t)(r - mpi_world.ranks);
}
/* World rank. */
static inline uint32_t mpi_rank_id(const struct mpi_rank *r)
{
    return rank_map_number(mpi_rank_map(), mpi_rank_index(r));
}

/* Something is about to be sent to the rank: prefetches the memory where its messages are put. */
static inline void mpi_rank_prefetch(uint32_t id)
{
    const struct rank_map *p = mpi_rank_map();

    if (rank_map_is_here(p, id))
        __builtin_prefetch(&mpi_world.ranks[rank_map_index(p, id)].ent, 1);
}

/* Lets the rank's clock advance; ends the run with an error beyond 2^62 ps. */
void mpi_clock_overflow(struct mpi_rank *) __attribute__((noreturn, cold));
static inline void mpi_clock_add(struct mpi_rank *r, vtime dt)
{
    r->ent.clock += dt;
    if (__builtin_expect(r->ent.clock >= VTIME_LIMIT, 0))
        mpi_clock_overflow(r);
}
static inline void mpi_clock_reach(struct mpi_rank *r, vtime t)
{
    if (t > r->ent.clock)
        r->ent.clock = t;
}

/* From the settings; the network is there. */
void mpi_costs_init(const struct platform_config *);

/* Charges the time since slice_start to the rank, by the processor model; a call of fn ends it. */
void mpi_charge(struct mpi_rank *, enum mpi_fn fn);
/* Charges this many ticks. */
void mpi_charge_ticks(struct mpi_rank *, uint64_t ticks, enum mpi_fn fn);

/* Program code begins to run. */
static inline void mpi_slice_begin(void)
{
    if (mpi_world.measured) {
        oncpu_begin(&vp_private.oncpu);
        mpi_world.slice_start = __builtin_expect(mpi_world.slice_clock != NULL, 0)
                                    ? mpi_world.slice_clock()
                                    : ticks_now();
    }
}

#endif
