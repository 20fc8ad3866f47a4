/*
 * replay_stuck.h - notices that a replay on the real MPI does not go on (replay/stuck.c).
 */
#ifndef CLI_REPLAY_STUCK_H
#define CLI_REPLAY_STUCK_H

#include <stdint.h>

#include "base/buf.h"

struct cli_replay_stuck {
    const char *trace;  /* the new one, whose parts are written */
    uint64_t ranks;     /* of the trace */
    int64_t limit;      /* how long a rank waits until it says so, in picoseconds */
    struct buf last;    /* what ranks said at the last look */
    uint64_t reordered; /* out: requests and messages that came in another order */
    int is_found;       /* out: all ranks wait, and none continues */
};

/* Whether all ranks that have not ended wait in the same calls as at the last look; *context is a
 * struct cli_replay_stuck. */
int cli_replay_stuck_look(void *context);
/* Says which rank waits in which call, and counts what came in another order. */
void cli_replay_stuck_report(struct cli_replay_stuck *);
/* Removes what ranks that were killed have left, and frees the memory. */
void cli_replay_stuck_fini(struct cli_replay_stuck *);

#endif
