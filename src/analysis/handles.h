/*
 * handles.h - what the handles of ranks mean, small enough for all ranks at once: sizes of
 * datatypes, which ranks share if they are the same; communicators, windows and files by number;
 * groups; names of regions.
 */
#ifndef ANALYSIS_HANDLES_H
#define ANALYSIS_HANDLES_H

#include "base/map.h"
#include "trace/local.h"

#define HANDLES_WORLD 0 /* numbers of communicators in struct handles_book */
#define HANDLES_SELF 1
#define HANDLES_NONE UINT32_MAX

/* A communicator, window or file, the same for all its ranks. */
struct handles_comm {
    uint64_t identity;
    char *name;                    /* NULL: a window or file */
    uint64_t size;                 /* of both groups */
    const int64_t *ranks, *others; /* world ranks; NULL: 0, 1, 2, ... */
    uint64_t rank_count, other_count;
};

/* What ranks share. */
struct handles_book {
    struct trace *trace;
    struct handles_comm *comms;
    size_t comm_count, unnamed;  /* windows and files are among them */
    struct map comm_by_identity; /* to number + 1 */
    char **regions;              /* 0: outside of all regions */
    size_t region_count;
    struct map region_by_hash;
    struct map sizes_by_hash;  /* to address */
    struct map groups_by_hash; /* to address */
    void **memory;
    size_t memory_count;
};

/* A communicator as one rank knows it. */
struct handles_mine {
    uint32_t comm;     /* number in the book; HANDLES_NONE: not defined */
    uint32_t rank;     /* of this rank in it */
    uint8_t is_second; /* of an intercommunicator: the rank is in the second group */
    uint8_t is_inter;
    const struct handles_neighbours *neighbours; /* NULL: it has no topology */
};

/* Those of one rank, as ranks of the communicator; -1: nobody. */
struct handles_neighbours {
    uint64_t in, out;
    const int64_t *sources, *destinations;
    int64_t ranks[];
};

/* The members of a group, as ranks of the world; ranks with the same group share it. */
struct handles_group {
    uint64_t count;
    int64_t ranks[];
};

struct handles {
    uint64_t rank;
    struct handles_mine world; /* MPI_COMM_WORLD: ranks that were spawned have another one */
    const uint64_t *sizes;     /* of datatypes; the first is their number */
    struct handles_mine *mine; /* from local number 2 on */
    uint32_t mine_count;
    struct handles_mine *wins; /* windows, by local number */
    uint32_t win_count;
    struct handles_mine *files; /* by local number; a file is known when it has been opened */
    uint32_t file_count;
    const struct handles_group **groups; /* by local number; NULL: not defined */
    uint32_t group_count;
    uint32_t *regions; /* by local number */
    uint32_t region_count;
};

void handles_book_init(struct handles_book *, struct trace *);
void handles_book_fini(struct handles_book *);

void handles_read(struct handles *, struct handles_book *, uint64_t rank);
void handles_fini(struct handles *);

/* Size of a datatype by local number; 0 if it is not defined. */
static inline uint64_t handles_size(const struct handles *h, int64_t type)
{
    return type >= 0 && (uint64_t)type < h->sizes[0] ? h->sizes[1 + type] : 0;
}

/* A communicator by local number. */
static inline struct handles_mine handles_comm(const struct handles *h, int64_t comm)
{
    if (comm == TRACE_LOCAL_WORLD)
        return h->world;
    if (comm == TRACE_LOCAL_SELF)
        return (struct handles_mine){.comm = HANDLES_SELF};
    return comm >= 2 && comm - 2 < (int64_t)h->mine_count
               ? h->mine[comm - 2]
               : (struct handles_mine){.comm = HANDLES_NONE};
}

/* A window by local number: its ranks are those of its communicator. */
static inline struct handles_mine handles_win(const struct handles *h, int64_t win)
{
    return win >= 0 && win < (int64_t)h->win_count ? h->wins[win]
                                                   : (struct handles_mine){.comm = HANDLES_NONE};
}

static inline struct handles_mine handles_file(const struct handles *h, int64_t file)
{
    return file >= 0 && file < (int64_t)h->file_count ? h->files[file]
                                                      : (struct handles_mine){.comm = HANDLES_NONE};
}
/* The rank opens a file on a communicator, after as many others: ranks open the files of a
 * communicator in the same order. */
void handles_open(struct handles *, struct handles_book *, int64_t file, struct handles_mine comm,
                  uint64_t before);

static inline const struct handles_group *handles_group(const struct handles *h, int64_t group)
{
    return group >= 0 && group < (int64_t)h->group_count ? h->groups[group] : NULL;
}

/* The world rank of a peer in the communicator; -1: not known. */
static inline int64_t handles_peer(const struct handles_book *b, const struct handles *h,
                                   struct handles_mine mine, int64_t peer)
{
    if (mine.comm == HANDLES_NONE || peer < 0)
        return -1;
    if (mine.comm == HANDLES_SELF)
        return (int64_t)h->rank;
    const struct handles_comm *c = &b->comms[mine.comm];
    const int64_t *ranks = mine.is_inter && !mine.is_second ? c->others : c->ranks;
    uint64_t count = mine.is_inter && !mine.is_second ? c->other_count : c->rank_count;
    if ((uint64_t)peer >= count)
        return -1;
    return ranks ? ranks[peer] : peer;
}

#endif
