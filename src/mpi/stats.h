/*
 * stats.h - what is always counted: calls, messages, bytes, sizes, pairs.
 *
 * Counting is a few increments per call in memory that the call touches anyway. Per-rank,
 * per-function detail is kept only if a statistics file is requested.
 */
#ifndef MPI_STATS_H
#define MPI_STATS_H

#include "base/buf.h"
#include "base/err.h"
#include "mpi/observer.h"

#define MPI_STATS_BUCKETS 24         /* <= 16 B, <= 64 B, ... times 4; the last: larger */
#define MPI_STATS_PAIRS_MAX 4000000u /* exact up to here */

struct mpi_stats {
    uint64_t calls[MPI_FN_COUNT];
    vtime time[MPI_FN_COUNT];       /* virtual time inside, over all ranks; saturates */
    uint64_t messages[2], bytes[2]; /* 0: point-to-point calls, 1: inside collectives */
    uint64_t buckets[MPI_STATS_BUCKETS];
    struct run_access access; /* io_time: see mpi_stats_accesses */
    uint64_t pairs;           /* distinct (source, destination) seen */
    int detail;               /* per rank and function too */
    int aggregated;           /* there were too many pairs: they are counted by groups of ranks */
    uint32_t group, groups;   /* aggregated: ranks per group, number of groups */
    struct mpi_cell *matrix;  /* groups x groups */
    vtime *rank_end;          /* per rank of this process, its last clock; with detail */
};

void mpi_stats_init(int detail);

/* Slow paths. */
void mpi_stats_pair_slow(struct mpi_rank *self, uint32_t dst, uint64_t bytes);
void mpi_stats_detail(struct mpi_rank *self, enum mpi_fn fn, vtime dt);

/* A call of fn took dt of virtual time. */
static inline void mpi_stats_call(struct mpi_rank *self, enum mpi_fn fn, vtime dt)
{
    struct mpi_stats *s = mpi_world.stats;

    s->calls[fn]++;
    if (__builtin_add_overflow(s->time[fn], dt, &s->time[fn]))
        s->time[fn] = VTIME_NEVER;
    if (__builtin_expect(s->detail, 0))
        mpi_stats_detail(self, fn, dt);
}

/* Smallest i with bytes <= 16 * 4^i. */
static inline unsigned mpi_stats_bucket(uint64_t bytes)
{
    unsigned bits = bytes <= 16 ? 4 : 64 - (unsigned)__builtin_clzll(bytes - 1);
    unsigned i = (bits - 3) / 2;

    return i < MPI_STATS_BUCKETS ? i : MPI_STATS_BUCKETS - 1;
}

/* The rank sends a message of `bytes` to dst. */
static inline void mpi_stats_send(struct mpi_rank *self, uint32_t dst, uint64_t bytes, int coll)
{
    struct mpi_stats *s = mpi_world.stats;

    s->messages[coll]++;
    s->bytes[coll] += bytes;
    s->buckets[mpi_stats_bucket(bytes)]++;
    if (self->pair.dst == dst && self->pair.messages != 0 && self->pair.messages != UINT32_MAX) {
        self->pair.messages++;
        self->pair.bytes += bytes;
        return;
    }
    if (self->pair_next < self->pair_count) {
        uint32_t next = self->pair_next;
        struct mpi_pair *p = &self->pairs[next++];

        if (p->dst == dst && p->messages != UINT32_MAX) {
            p->messages++;
            p->bytes += bytes;
            self->pair_next = (next < self->pair_count ? next : 0) & INT32_MAX;
            self->pair_missed = 0;
            return;
        }
    }
    mpi_stats_pair_slow(self, dst, bytes);
}

/* The rank moves data of a file or a window; data of a window is moved by messages. */
static inline void mpi_stats_access(struct mpi_rank *self, enum mpi_access what, uint32_t peer,
                                    uint64_t bytes)
{
    struct run_access *done = &mpi_world.stats->access;

    if (what == MPI_ACCESS_RMA) {
        mpi_stats_send(self, peer, bytes, 0);
        done->rma_ops++;
        done->rma_bytes += bytes;
    } else {
        done->io_ops[what]++;
        done->io_bytes[what] += bytes;
    }
}

/* The accesses to files and windows. */
struct run_access mpi_stats_accesses(const struct mpi_stats *);

/* The rank has ended: keeps what the report needs. */
void mpi_stats_rank_end(struct mpi_rank *self);

/* Appends the counters of this process, for mpi_stats_write. Once, at the end. */
void mpi_stats_collect(struct buf *out);

/* Merges the parts of all processes, which follow each other in the buffer, and writes them as
 * JSON, or as CSV if the name ends in .csv. */
struct json;
struct mpi_stats_more {
    void (*json)(struct json *, vtime virtual_time); /* adds members to the object */
    void (*csv)(struct buf *);                       /* adds rows */
};
int mpi_stats_write(const char *path, vtime virtual_time, const struct buf *parts,
                    const struct mpi_stats_more *, struct err *);

#endif
