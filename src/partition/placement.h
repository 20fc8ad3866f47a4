/*
 * placement.h - assigns ranks to native processes by minimal cut.
 */
#ifndef PARTITION_PLACEMENT_H
#define PARTITION_PLACEMENT_H

#include <stdint.h>

#include "base/err.h"

/*
 * Fills owner[rank] with a process 0..procs-1, from the statistics file of an earlier run of the
 * same program with the same number of ranks (`orrery run --stats FILE`; JSON or CSV): every
 * process gets about the same number of ranks (at most 3 % over the mean, or one rank if that is
 * more; never an empty process unless there are fewer ranks than processes), and as few messages as
 * possible go between processes. What counts is the number of messages between two ranks in both
 * directions, not their bytes: every message between processes costs. Processes are numbered by
 * their smallest rank, so rank 0 is on process 0. If it finds nothing better than blocks of
 * consecutive ranks, the result is these blocks.
 *
 * Aggregated statistics describe only groups of ranks: groups stay whole, except for a few that are
 * split to balance the sizes. If there are fewer groups than processes, the result is blocks.
 *
 * The same file gives the same result with the same METIS library; it uses a fixed seed, and
 * single-precision arithmetic only for its limits of size. procs > 0. Sets the state of rand().
 * Seconds for millions of pairs. Does not switch.
 *
 * ERR_SYSTEM: the file cannot be read. ERR_INPUT: it is not a statistics file, is damaged, or was
 * made with another number of ranks. ERR_MEMORY. `owner` is written only on success.
 */
int partition_mincut(const char *path, uint64_t ranks, uint32_t procs, uint32_t *owner,
                     struct err *err);

#endif
