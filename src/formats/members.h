/*
 * members.h - converts ranks of communicators to and from ranks of MPI_COMM_WORLD.
 */
#ifndef FORMATS_MEMBERS_H
#define FORMATS_MEMBERS_H

#include "trace/local.h"

struct members {
    const struct trace *trace;
    struct map
        *inverse; /* by number of the communicator: from world rank to rank + 1; built on demand */
};

void members_init(struct members *, const struct trace *);
void members_fini(struct members *);

/* The world rank of `peer` in calls of rank `self` on this communicator; -1: none, or not known. */
int64_t members_world(const struct members *, const struct trace_local_item *comm, uint64_t self,
                      int64_t peer);
/* The reverse; -1: not known. */
int64_t members_peer(struct members *, const struct trace_local_item *comm, uint64_t self,
                     int64_t world);
/* The number of possible peers; 0: not known. */
uint64_t members_count(const struct members *, const struct trace_local_item *comm);

#endif
